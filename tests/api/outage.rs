//! PostgreSQL that is away, as clients, probes and operators see it: 503 `database_unavailable` at once and never 500, a reason in
//! `/readyz` within a second, one line in the log when it goes and one when it is back.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

use crate::cli::{refused, run, switchboard};
use crate::dav::peer;

/// No test waits for longer.
const LIMIT: Duration = Duration::from_secs(60);

/// Rounds of two requests of each of eight clients: together less than the 1,000 requests a minute that a key may make.
const MAX_ROUNDS: usize = 50;

/// A way to a server that can be cut: then connections end, and new ones are refused.
struct CuttableRelay {
    address: SocketAddr,
    behind: String,
    running: JoinHandle<()>,
}

impl CuttableRelay {
    async fn open(behind: String) -> CuttableRelay {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let running = tokio::spawn(relay(listener, behind.clone()));
        CuttableRelay { address, behind, running }
    }

    async fn cut(&mut self) {
        self.running.abort();
        // It ends as cancelled; its connections end with it.
        let _ = (&mut self.running).await;
    }

    async fn mend(&mut self) {
        let listener = TcpListener::bind(self.address).await.expect("the port is still free");
        self.running = tokio::spawn(relay(listener, self.behind.clone()));
    }
}

async fn relay(listener: TcpListener, behind: String) {
    let mut connections = JoinSet::new();
    loop {
        let (mut client, _) = listener.accept().await.expect("a client");
        let behind = behind.clone();
        connections.spawn(async move {
            let Ok(mut server) = TcpStream::connect(behind).await else { return };
            // One that is cut off is no fault here.
            let _ = copy_bidirectional(&mut client, &mut server).await;
        });
    }
}

/// A host whose log is kept.
struct Host {
    child: Child,
    base: String,
    log: Arc<Mutex<Vec<String>>>,
    data: tempfile::TempDir,
}

impl Host {
    async fn start(database: &str, http: &Client) -> Host {
        let data = tempfile::tempdir().expect("a data directory");
        let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a port");
        let mut command = switchboard(&["serve", "--log-format", "json", "--listen", &free.to_string()]);
        command.arg("--data-dir").arg(data.path()).arg("--connectors").arg(data.path());
        let mut child =
            command.args(["--database-url", database]).stderr(Stdio::piped()).spawn().expect("it starts");
        let (stderr, log) = (child.stderr.take().expect("its log"), Arc::<Mutex<Vec<String>>>::default());
        let lines = Arc::clone(&log);
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                lines.lock().expect("no panic").push(line);
            }
        });
        let host = Host { child, base: format!("http://{free}"), log, data };
        host.until_ready(http).await;
        host
    }

    /// Asks `/readyz`: whether it is ready, the reason, and how long the answer took.
    async fn ready(&self, http: &Client) -> Option<(bool, Value, Duration)> {
        let asked = Instant::now();
        let answer = http.get(format!("{}/readyz", self.base)).send().await.ok()?;
        let (is_ready, text) = (answer.status().is_success(), answer.text().await.ok()?);
        Some((is_ready, serde_json::from_str(&text).expect("JSON"), asked.elapsed()))
    }

    async fn until_ready(&self, http: &Client) {
        let until = Instant::now() + LIMIT;
        while !self.ready(http).await.is_some_and(|(is_ready, ..)| is_ready) {
            assert!(Instant::now() < until, "it is never ready: {:#?}", self.log.lock());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Asks `/readyz`, which believes the last answer of the database for a second, until it says no: that answer. None takes a second.
    async fn until_unready(&self, http: &Client) -> Value {
        let until = Instant::now() + LIMIT;
        loop {
            let (is_ready, answer, took) = self.ready(http).await.expect("an answer");
            assert!(took < Duration::from_secs(1), "/readyz took {took:?}");
            if !is_ready {
                return answer;
            }
            assert!(Instant::now() < until, "it is always ready: {:#?}", self.log.lock());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Lines of the log with this text.
    fn lines(&self, text: &str) -> Vec<String> {
        let log = self.log.lock().expect("no panic");
        log.iter().filter(|line| line.contains(text)).cloned().collect()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the database's URL through the relay, with a password that must not be shown.
fn through(relay: &CuttableRelay, url: &str) -> String {
    let (scheme, rest) = url.split_once("://").expect("a URL");
    let (user, rest) = rest.split_once('@').expect("a user");
    let (_, path) = rest.split_once('/').expect("a database");
    let user = user.split(':').next().expect("a name");
    format!("{scheme}://{user}:hunter2@{}/{path}", relay.address)
}

fn joined<'a>(command: &[&'a str], rest: &[&'a str]) -> Vec<&'a str> {
    [command, rest].concat()
}

fn authority(url: &str) -> String {
    let rest = url.split_once('@').map_or(url, |(_, rest)| rest);
    rest.split('/').next().expect("host and port").to_owned()
}

/// Sends a read and a write; their status, code and `Retry-After`.
async fn asked(http: &Client, base: &str, key: &str) -> Vec<(StatusCode, Value, bool)> {
    let body = json!({ "name": "a key", "scopes": ["usage.read"] }).to_string();
    let url = |path: &str| format!("{base}{path}");
    let write = http.post(url("/v1/api-keys")).header("content-type", "application/json").body(body);
    let mut answers = Vec::new();
    for request in [http.get(url("/v1/connections")), write] {
        let answer = request.bearer_auth(key).send().await.expect("the host answers");
        let (status, waits) = (answer.status(), answer.headers().contains_key("retry-after"));
        let body: Value = serde_json::from_str(&answer.text().await.expect("text")).expect("JSON");
        answers.push((status, body, waits));
    }
    answers
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_away_is_503_with_a_reason_and_one_line() {
    let Some(url) = peer("POSTGRES_URL") else { return };
    let url = harness::own_schema(&url).await.expect("a schema of its own");
    let mut relay = CuttableRelay::open(authority(&url)).await;
    let database = through(&relay, &url);
    let http = Client::builder().no_proxy().timeout(Duration::from_secs(20)).build().expect("a client");
    let host = Host::start(&database, &http).await;
    let data_dir = host.data.path().to_str().expect("a plain path");
    let of_database = ["--data-dir", data_dir, "--database-url", &database];
    let create = joined(&["keys", "create", "--scopes", "all", "--json"], &of_database);
    let made: Value = serde_json::from_slice(&run(&create).stdout).expect("JSON");
    let key = made["key"].as_str().expect("a key").to_owned();
    for (status, answer, _) in asked(&http, &host.base, &key).await {
        assert!(status.is_success(), "{status} {answer}");
    }

    relay.cut().await;
    let mut clients = JoinSet::new();
    for _ in 0..8 {
        let (http, base, key) = (http.clone(), host.base.clone(), key.clone());
        clients.spawn(async move {
            let (mut answers, until) = (Vec::new(), Instant::now() + Duration::from_secs(2));
            for _ in 0..MAX_ROUNDS {
                answers.extend(asked(&http, &base, &key).await);
                if Instant::now() > until {
                    break;
                }
            }
            answers
        });
    }
    let answer = host.until_unready(&http).await;
    assert_eq!(answer["status"].as_str(), Some("unavailable"));
    assert!(answer["reason"].as_str().is_some_and(|reason| reason.contains("the database")), "{answer}");
    let mut refusals = 0;
    while let Some(answers) = clients.join_next().await {
        for (status, answer, waits) in answers.expect("no panic") {
            let error = &answer["error"];
            let found = (status, error["code"].as_str(), error["retryable"].as_bool(), waits);
            let wanted = (StatusCode::SERVICE_UNAVAILABLE, Some("database_unavailable"), Some(true), true);
            assert_eq!(found, wanted, "{answer}");
            refusals += 1;
        }
    }
    assert!(refusals > 100, "they are refused at once, and not after seconds: {refusals}");

    // What commands of the operator say.
    let (code, said) = refused(&mut switchboard(&joined(&["keys", "list"], &of_database)));
    let named = format!("PostgreSQL at {} cannot be reached: connection refused", relay.address);
    assert!(code == Some(1) && said.contains(&named) && !said.contains("hunter2"), "{said}");

    relay.mend().await;
    host.until_ready(&http).await;
    for (status, answer, _) in asked(&http, &host.base, &key).await {
        assert!(status.is_success(), "{status} {answer}");
    }
    let (gone, back) = (host.lines(&named), host.lines("can be reached again"));
    assert!(gone.len() == 1 && gone[0].contains("ERROR"), "{gone:#?}");
    assert_eq!(back.len(), 1, "{back:#?}");
    assert!(host.lines("hunter2").is_empty() && host.lines("internal error").is_empty());
    assert!(host.lines("request failed").is_empty(), "no line for each request");
}

/// Without a server: the errors of commands and `doctor` name the host that cannot be reached.
#[test]
fn commands_name_the_server_that_they_cannot_reach() {
    let dir = tempfile::tempdir().expect("a directory");
    let data_dir = dir.path().to_str().expect("a plain path");
    // A port without a listener.
    let database = ["--data-dir", data_dir, "--database-url", "postgres://sb:hunter2@127.0.0.1:1/sb"];
    let named = "PostgreSQL at 127.0.0.1:1 cannot be reached: connection refused";
    for command in [["keys", "list"], ["migrate", "--check"], ["jobs", "list"]] {
        let (code, said) = refused(&mut switchboard(&joined(&command, &database)));
        assert_eq!(code, Some(1), "{command:?}: {said}");
        assert!(said.contains(named) && !said.contains("hunter2"), "{command:?}: {said}");
    }
    // No resolver is asked for a name with an empty label.
    let unknown = ["--data-dir", data_dir, "--database-url", "postgres://sb:hunter2@a..b:5432/sb"];
    let (code, said) = refused(&mut switchboard(&joined(&["keys", "list"], &unknown)));
    let cause = "PostgreSQL at a..b:5432 cannot be reached: the host name cannot be resolved";
    assert!(code == Some(1) && said.contains(cause) && !said.contains("hunter2"), "{said}");
    assert!(said.contains("\nhelp: check the address of the database"), "{said}");
    let doctor = joined(&["doctor", "--json", "--connectors", data_dir], &database);
    let output = switchboard(&doctor).output().expect("it can be started");
    assert_eq!(output.status.code(), Some(1));
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let checks = found["checks"].as_array().expect("an array");
    let check = checks.iter().find(|check| check["name"] == "database").expect("the database was looked at");
    assert_eq!(check["status"], "fail");
    assert!(check["message"].as_str().is_some_and(|message| message.contains(named)), "{check}");
    assert!(!String::from_utf8_lossy(&output.stdout).contains("hunter2"));
}

/// A URL that cannot be parsed because of its password is named without the password.
#[test]
fn a_url_that_cannot_be_read_is_named_without_its_password() {
    let dir = tempfile::tempdir().expect("a directory");
    let data_dir = dir.path().to_str().expect("a plain path");
    for url in ["postgresql://sb:wron#hunter2@127.0.0.1:1/sb", "postgres://sb:hunter2@127.0.0.1:port/sb"] {
        for command in [["keys", "list"], ["migrate", "--check"]] {
            let asked = joined(&command, &["--data-dir", data_dir, "--database-url", url]);
            let (code, said) = refused(&mut switchboard(&asked));
            assert!(code == Some(1) && !said.contains("hunter2"), "{command:?}: {said}");
            assert!(said.contains("***@127.0.0.1") && said.contains("percent-encode"), "{command:?}: {said}");
        }
    }
}
