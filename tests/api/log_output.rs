//! A log that cannot be written, or has no reader: the service continues and reports how many lines are missing.

use std::fs::File;
use std::io::{BufRead, BufReader, PipeReader};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use futures::future::join_all;
use reqwest::{Client, Method, StatusCode};
use serde_json::Value;
use tempfile::TempDir;

use crate::cli::switchboard;

/// Longest time that anything here may take.
const PATIENCE: Duration = Duration::from_secs(90);

/// A server process with this log.
struct LoggingServer {
    child: Child,
    api: String,
    metrics: String,
    http: Client,
    _data: TempDir,
}

impl Drop for LoggingServer {
    fn drop(&mut self) {
        // A test that failed leaves no server behind; one that passed has ended it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl LoggingServer {
    async fn start(log: Stdio) -> LoggingServer {
        let data = tempfile::tempdir().expect("a data directory");
        let free = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").expect("a free port"));
        let [api, metrics] = free.map(|port| port.local_addr().expect("its address").to_string());
        let mut command = switchboard(&["serve", "--log-format", "json", "--log-level", "debug"]);
        command.args(["--anonymous-rate-limit", "1000000"]);
        command.args(["--listen", api.as_str(), "--metrics-listen", &metrics, "--data-dir"]).arg(data.path());
        command.arg("--connectors").arg(data.path()).stdout(Stdio::null()).stderr(log);
        let child = command.spawn().expect("the server can be started");
        let http = Client::builder().no_proxy().timeout(PATIENCE).build().expect("a client");
        let mut server = LoggingServer { child, api, metrics, http, _data: data };
        let begun = Instant::now();
        while server.status("/readyz").await != Some(StatusCode::OK) {
            assert!(begun.elapsed() < PATIENCE, "the server is not ready");
            server.assert_running();
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        server
    }

    fn assert_running(&mut self) {
        assert_eq!(self.child.try_wait().expect("a child"), None, "the server has ended");
    }

    async fn status(&self, path: &str) -> Option<StatusCode> {
        let answer = self.http.get(format!("http://{}{path}", self.api)).send().await;
        answer.ok().map(|answer| answer.status())
    }

    /// Lines that were dropped, as the metrics tell it.
    async fn dropped(&self) -> u64 {
        let answer = self.http.get(format!("http://{}/metrics", self.metrics)).send().await;
        let page = answer.expect("an answer").text().await.expect("text");
        let mut lines = page.lines();
        let line = lines.find_map(|line| line.strip_prefix("switchboard_log_lines_dropped_total "));
        line.expect("the metric").parse().expect("a number")
    }

    /// Ends the server as a supervisor does.
    async fn end(mut self) {
        self.assert_running();
        let killed = Command::new("kill").arg(self.child.id().to_string()).status().expect("kill exists");
        assert!(killed.success());
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                assert_eq!(status.code(), Some(0));
                return;
            }
            assert!(begun.elapsed() < Duration::from_secs(20), "the server does not end");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// Each request is answered, and its line is counted.
async fn assert_served_without_a_log(log: Stdio) {
    let mut server = LoggingServer::start(log).await;
    for _ in 0..50 {
        assert_eq!(server.status("/v1/calendars").await, Some(StatusCode::UNAUTHORIZED));
    }
    let begun = Instant::now();
    while server.dropped().await < 50 {
        assert!(begun.elapsed() < PATIENCE, "lines that cannot be written are counted");
        server.assert_running();
    }
    assert_eq!(server.status("/readyz").await, Some(StatusCode::OK));
    server.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_on_a_closed_pipe_ends_nothing() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    assert_served_without_a_log(writer.into()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_on_a_full_disk_ends_nothing() {
    let full = File::options().write(true).open("/dev/full").expect("Linux has it");
    assert_served_without_a_log(full.into()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_nobody_reads_holds_up_nothing_and_says_what_is_missing() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let mut server = LoggingServer::start(writer.into()).await;
    // The line of a request has its method.
    let long = Method::from_bytes(&[b'A'; 4_000]).expect("a method");
    let begun = Instant::now();
    while server.dropped().await == 0 {
        assert!(begun.elapsed() < PATIENCE, "lines that nobody reads are dropped");
        let url = format!("http://{}/v1/calendars", server.api);
        let answers = join_all((0..32).map(|_| server.http.request(long.clone(), &url).send())).await;
        assert!(answers.iter().all(Result::is_ok), "each request is answered: {answers:?}");
        server.assert_running();
    }
    assert_eq!(server.status("/readyz").await, Some(StatusCode::OK));
    let dropped = server.dropped().await;
    let reported = tokio::task::spawn_blocking(move || reported(reader));
    let reported = tokio::time::timeout(PATIENCE, reported).await.expect("a line says it").expect("a number");
    assert!((1..=dropped).contains(&reported), "{reported} of {dropped}");
    server.end().await;
}

/// Returns the number of dropped lines that a line of the log reports.
fn reported(log: PipeReader) -> u64 {
    for line in BufReader::new(log).lines() {
        let line = line.expect("text");
        let line: Value = serde_json::from_str(&line).expect("every log line is a JSON object");
        if line["message"].as_str().is_some_and(|message| message.starts_with("log lines were dropped")) {
            return line["lines"].as_u64().expect("their number");
        }
    }
    panic!("the log has ended");
}
