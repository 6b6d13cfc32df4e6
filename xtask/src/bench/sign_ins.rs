//! Requests of the API while a thousand people sign in at the panel: a few threads hash passwords, and sign-ins beyond their queue are
//! asked to retry.

use std::fs;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::io::AsyncWriteExt;
use tokio::task::JoinSet;

use crate::bench::load::{LoadMeasurement, connect, measure, read_answer};
use crate::bench::rig::{Rig, Subject};
use crate::bench::table::{FigureTarget, Row};
use crate::http::Client;

const CLIENTS: usize = 16;
/// Sign-ins at once, and the time from one such wave to the next.
const SIGN_INS: u32 = 1_000;
const PAUSE: Duration = Duration::from_secs(1);
/// The most by which the 99th percentile of the API may grow, ms.
const MAX_EXTRA_MS: f64 = 20.0;
/// Answers to a sign-in: the password was hashed and is wrong; there was no room to hash it.
const WRONG: u16 = 403;
const BUSY: u16 = 503;
const PATH: &str = "/admin/sign-in";
const PASSWORD: &str = "a staple for 7 horses";

/// One row: the 99th percentile of a read with waves of sign-ins, less that without them.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    allow_connections()?;
    let secret = rig.folder("sign-ins-password")?.join("password");
    fs::write(&secret, PASSWORD)?;
    let secret = secret.to_string_lossy();
    // Sign-ins come from many addresses: each has a budget.
    let environment = [
        ("SWITCHBOARD_TRUSTED_PROXY", "127.0.0.1"),
        ("SWITCHBOARD_ADMIN_EMAIL", "bench@example.com"),
        ("SWITCHBOARD_ADMIN_PASSWORD_FILE", &*secret),
    ];
    let subject = rig.subject("sign-ins", &environment)?;
    let event = subject.create_event(0)?;
    let path = format!("/v1/calendars/{}/events/{event}", subject.calendar);
    let load = subject.load("GET", path, 200, CLIENTS);
    let form = SignInForm::open(&subject)?;
    let (mut busy, mut calm) = (LoadMeasurement::default(), LoadMeasurement::default());
    for is_busy in [true, false, false, true] {
        match is_busy {
            true => busy.add(form.while_signing_in(|| measure(&load, rig.seconds))?),
            false => calm.add(measure(&load, rig.seconds)?),
        }
    }
    subject.server.stop()?;
    let p99_ms = |measured: &LoadMeasurement| f64::from(measured.quantile(0.99)) / 1_000.0;
    Ok(vec![Row {
        what: format!("authenticated GET, {SIGN_INS} sign-ins at once every second ({CLIENTS} clients)"),
        ours: busy.render(),
        baseline: format!("without sign-ins: {}", calm.render()),
        figure: p99_ms(&busy) - p99_ms(&calm),
        unit: " ms more at p99".to_owned(),
        target: FigureTarget::AtMost(MAX_EXTRA_MS),
    }])
}

/// Lets this process and the servers that it starts have a connection for each sign-in.
fn allow_connections() -> Result<()> {
    let limit = getrlimit(Resource::Nofile);
    let most = Rlimit { current: limit.maximum, maximum: limit.maximum };
    setrlimit(Resource::Nofile, most).context("cannot raise the limit of open files")
}

/// The form of the page, with the cookie that it is bound to.
struct SignInForm {
    address: SocketAddr,
    cookie: String,
    token: String,
}

impl SignInForm {
    fn open(subject: &Subject) -> Result<SignInForm> {
        let page = Client::new(&subject.server.url, "").send("GET", PATH, &[], None)?;
        let cookie = page.header("set-cookie").split(';').next().unwrap_or_default().to_owned();
        let page = page.expect(&[200])?;
        let html = page.as_str().context("the page of the sign-in is no text")?;
        let (_, rest) = html.split_once("name=\"token\" value=\"").context("the page has no form")?;
        let token = rest.split('"').next().unwrap_or_default().to_owned();
        Ok(SignInForm { address: subject.server.options.listen, cookie, token })
    }

    /// A request to sign in: each has its own account and address.
    fn request(&self, number: u32) -> String {
        let [_, a, b, c] = number.to_be_bytes();
        let body = format!("token={}&email=nobody{number}@example.com&password=wrong+{number}", self.token);
        format!(
            "POST {PATH} HTTP/1.1\r\nhost: {}\r\ncookie: {}\r\nx-forwarded-for: 10.{a}.{b}.{c}\r\n\
             content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{body}",
            self.address,
            self.cookie,
            body.len()
        )
    }

    /// Runs `work` while waves of people sign in.
    fn while_signing_in<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let waves = scope.spawn(|| self.send_waves(&stop));
            let outcome = work();
            stop.store(true, Ordering::Relaxed);
            waves.join().map_err(|_| anyhow!("the sign-ins panicked"))??;
            outcome
        })
    }

    fn send_waves(&self, stop: &AtomicBool) -> Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut first = 1;
        while !stop.load(Ordering::Relaxed) {
            let requests = (first..first + SIGN_INS).map(|number| self.request(number)).collect();
            let statuses = runtime.block_on(send_at_once(self.address, requests))?;
            let count = |wanted: u16| statuses.iter().filter(|status| **status == wanted).count();
            let (wrong, busy) = (count(WRONG), count(BUSY));
            ensure!(wrong > 0, "no password was hashed: {statuses:?}");
            ensure!(wrong + busy == statuses.len(), "a sign-in was answered otherwise: {statuses:?}");
            first += SIGN_INS;
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }
}

/// Sends requests over connections of their own at one moment; returns the statuses of the answers.
async fn send_at_once(address: SocketAddr, requests: Vec<String>) -> Result<Vec<u16>> {
    let mut clients = JoinSet::new();
    for (mut stream, request) in connect(address, requests.len()).await?.into_iter().zip(requests) {
        clients.spawn(async move {
            stream.write_all(request.as_bytes()).await?;
            let (status, _) = read_answer(&mut stream, &mut Vec::new()).await?;
            Ok::<_, anyhow::Error>(status)
        });
    }
    let mut statuses = Vec::new();
    while let Some(status) = clients.join_next().await {
        statuses.push(status??);
    }
    Ok(statuses)
}
