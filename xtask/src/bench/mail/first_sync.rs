//! The first reading of a mailbox: how fast, and in how much memory.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::json;

use crate::bench::mail::provider::{Account, Subject};
use crate::bench::memory;
use crate::bench::rig::Rig;
use crate::bench::table::{Row, Target};
use crate::project;

/// A reading that takes longer has failed.
const PATIENCE: Duration = Duration::from_secs(900);

/// One side's turns.
#[derive(Default)]
struct Turns {
    messages: f64,
    seconds: f64,
}

impl Turns {
    fn rate(&self) -> f64 {
        self.messages / self.seconds
    }

    fn shown(&self) -> String {
        format!("{:.0} messages/s", self.rate())
    }
}

/// Two rows, messages per second and memory; and the server that has read the mailbox last, which is reached by `port`. Both
/// sides reach the provider by it.
pub fn run(rig: &Rig, account: &Account, port: u16, count: usize) -> Result<(Vec<Row>, Subject)> {
    let (program, arguments) = account.native_client(port)?;
    let (mut ours, mut native) = (Turns::default(), Turns::default());
    let (mut growths, mut last) = (Vec::new(), None);
    for is_ours in [true, false, false, true] {
        if !is_ours {
            let seconds = natively(&program, &arguments, count)?;
            (native.messages, native.seconds) = (native.messages + count as f64, native.seconds + seconds);
            continue;
        }
        // Two servers at once would share the machine.
        if let Some(Subject { server, .. }) = last.take() {
            server.stop()?;
        }
        let subject = Subject::start(rig, account, port)?;
        let before = memory::resident_mib(subject.server.pid())?;
        memory::forget_peak(subject.server.pid())?;
        let seconds = through_the_api(&subject, count)?;
        growths.push(memory::peak_mib(subject.server.pid())? - before);
        (ours.messages, ours.seconds) = (ours.messages + count as f64, ours.seconds + seconds);
        last = Some(subject);
    }
    let what = format!("first sync of {count} messages from {}", account.shown);
    let growth = growths.iter().copied().fold(0.0, f64::max);
    let rate = Row {
        what: what.clone(),
        ours: ours.shown(),
        baseline: format!(
            "a native client that fetches and parses the same, and keeps nothing: {}",
            native.shown()
        ),
        figure: ours.rate() / native.rate(),
        unit: "×".to_owned(),
        target: Target::AtLeast(0.7),
    };
    let memory = Row {
        what: format!("{what}: growth of resident memory"),
        ours: format!("{growth:.1} MiB at most, over the idle server with the account connected"),
        baseline: "–".to_owned(),
        figure: growth,
        unit: " MiB".to_owned(),
        target: Target::None,
    };
    Ok((vec![rate, memory], last.context("there was a turn of ours")?))
}

/// From the start of the sync to its end, seconds.
fn through_the_api(subject: &Subject, count: usize) -> Result<f64> {
    let body = json!({ "connectionId": subject.connection });
    let start = Instant::now();
    subject.client.send("POST", "/v1/email/sync/start", &[], Some(&body))?.expect(&[200, 202])?;
    let path = format!("/v1/email/sync/status/{}", subject.connection);
    loop {
        let state = subject.client.get(&path)?;
        if state["status"] == "caught_up" {
            let took = start.elapsed().as_secs_f64();
            let items = state["itemCount"].as_u64();
            ensure!(items.is_none_or(|items| items >= count as u64), "{items:?} items of {count} were read");
            return Ok(took);
        }
        if start.elapsed() > PATIENCE {
            bail!("the mailbox was not read in {} s: {state}", PATIENCE.as_secs());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The same by a client that keeps nothing, seconds.
fn natively(program: &Path, arguments: &[String], count: usize) -> Result<f64> {
    let mut command = project::command(&program.to_string_lossy());
    let printed = project::output(command.args(arguments), "reading the mailbox natively")?;
    let (read, seconds) = printed.trim().split_once(' ').context("two figures are printed")?;
    ensure!(read.parse::<usize>()? == count, "the native client read {read} messages of {count}");
    Ok(seconds.parse()?)
}
