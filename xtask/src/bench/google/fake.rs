//! The fake of Google (`tests/fakes`) as a process, with the network delay of a provider.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

use crate::check;
use crate::http::Client;
use crate::project;

/// The user whose account is connected.
pub const USER: &str = "alice@example.com";

/// The fake's time at its start, in seconds since 1970: 2026-03-01T08:00:00Z.
const START_S: i64 = 1_772_352_000;
/// Scopes of the bare client.
const SCOPES: [&str; 5] = [
    "https://www.googleapis.com/auth/calendar",
    "https://www.googleapis.com/auth/gmail.modify",
    "https://www.googleapis.com/auth/contacts",
    "https://www.googleapis.com/auth/contacts.other.readonly",
    "https://www.googleapis.com/auth/tasks",
];

/// A running fake with the user's account; killed when dropped.
pub struct FakeGoogle {
    child: Child,
    pub address: SocketAddr,
    control: Client,
}

/// The requests of the user's account since the last `clear`.
#[derive(Clone, Copy, Debug, Default)]
pub struct RequestCount {
    pub requests: u64,
    pub round_trips: u64,
}

impl FakeGoogle {
    /// Builds and starts the fake, whose clock runs from now. It has no delay until `move_away`.
    pub fn start() -> Result<FakeGoogle> {
        let python = check::oracle()?;
        let mut cargo = project::cargo();
        cargo.args(["build", "--release", "-p", "fakes", "--bin", "fake-google"]);
        project::run(&mut cargo, "building the fake of Google")?;
        let program = project::target().join("release/fake-google");
        let mut command = project::command(&program.to_string_lossy());
        command.env("ORACLE_PYTHON", python).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().context("cannot start the fake of Google")?;
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        let url = line.trim();
        let address = url.strip_prefix("http://").and_then(|address| address.parse().ok());
        let Some(address) = address else {
            // Best effort: its error is on the terminal.
            let _ = child.kill();
            let _ = child.wait();
            anyhow::bail!("the fake of Google did not start");
        };
        let google = FakeGoogle { child, address, control: Client::new(url, "") };
        let behind = clock_gettime(ClockId::Realtime).tv_sec - START_S;
        google.post("advance", &json!({ "seconds": behind.max(0) }))?;
        google.post("run-clock", &json!({}))?;
        google.post("users", &json!({ "email": USER, "name": "Alice Example", "timeZone": "UTC" }))?;
        Ok(google)
    }

    /// The origin, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Delays each request and its answer by this time in total, from now on.
    pub fn move_away(&self, distance: Duration) -> Result<()> {
        let ms = u64::try_from(distance.as_millis())?;
        self.post("distance", &json!({ "ms": ms })).map(|_| ())
    }

    /// Posts to a route of `/__control`, and returns the answer.
    pub fn post(&self, route: &str, body: &Value) -> Result<Value> {
        self.control.send("POST", &format!("/__control/{route}"), &[], Some(body))?.expect(&[200])
    }

    /// Reads a route of `/__control`.
    pub fn get(&self, route: &str) -> Result<Value> {
        self.control.get(&format!("/__control/{route}"))
    }

    /// A token of the user's for a client without a consent page.
    pub fn token(&self) -> Result<String> {
        let answer = self.post("tokens", &json!({ "user": USER, "scopes": SCOPES }))?;
        Ok(answer["accessToken"].as_str().context("the fake gives no token")?.to_owned())
    }

    /// Limits the user's mailbox to this many units a minute.
    pub fn limit_mail(&self, units: u32) -> Result<()> {
        self.post(&format!("mail/{USER}/units"), &json!({ "limit": units })).map(|_| ())
    }

    /// Forgets the requests so far.
    pub fn clear(&self) -> Result<()> {
        for route in ["requests", "traffic"] {
            self.control.send("DELETE", &format!("/__control/{route}"), &[], None)?.expect(&[200])?;
        }
        Ok(())
    }

    /// The user's requests since `clear`.
    pub fn count(&self) -> Result<RequestCount> {
        let traffic = self.get("traffic")?;
        let account = &traffic["accounts"][USER];
        let number = |name: &str| account[name].as_u64().unwrap_or_default();
        Ok(RequestCount { requests: number("requests"), round_trips: number("roundTrips") })
    }

    /// Returns the maximum of the user's simultaneous calls since the start.
    pub fn most_at_once(&self) -> Result<u64> {
        let most = self.get(&format!("flights/{USER}"))?["most"].as_u64();
        most.context("the fake has not counted the calls under way")
    }

    /// Fails if a request or an answer was one that Google's documents forbid.
    pub fn ensure_allowed(&self) -> Result<()> {
        let answer = self.get("violations")?;
        let is_empty = answer["violations"].as_array().is_some_and(Vec::is_empty);
        ensure!(is_empty, "Google's documents forbid: {}", answer["violations"]);
        Ok(())
    }
}

impl Drop for FakeGoogle {
    fn drop(&mut self) {
        // Best effort: the process has no state.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
