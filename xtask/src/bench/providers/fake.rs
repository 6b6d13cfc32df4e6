//! A fake of `tests/fakes` as a process, with the network delay of a provider.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

use crate::bench::providers::ProviderProfile;
use crate::check;
use crate::http::Client;
use crate::project;

/// The user whose account is connected.
pub const USER: &str = "alice@example.com";

/// The fake's time at its start, in seconds since 1970: 2026-03-01T08:00:00Z.
const START_S: i64 = 1_772_352_000;

/// A running fake with the user's account; killed when dropped.
pub struct ProviderFake {
    pub profile: &'static ProviderProfile,
    child: Child,
    pub address: SocketAddr,
    /// The origins that it serves; the API is at the first one.
    pub urls: Vec<String>,
    control: Client,
}

/// The requests of the user's account since the last `clear`.
#[derive(Clone, Copy, Debug, Default)]
pub struct RequestCount {
    pub requests: u64,
    pub round_trips: u64,
}

impl ProviderFake {
    /// Builds and starts the fake of a provider, whose clock runs from now. It has no delay until `move_away`.
    pub fn start(profile: &'static ProviderProfile) -> Result<ProviderFake> {
        let python = check::oracle()?;
        let mut cargo = project::cargo();
        cargo.args(["build", "--release", "-p", "fakes", "--bin", profile.program]);
        project::run(&mut cargo, &format!("building the fake of {}", profile.title))?;
        let program = project::target().join("release").join(profile.program);
        let mut command = project::command(&program.to_string_lossy());
        command.env("ORACLE_PYTHON", python).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child =
            command.spawn().with_context(|| format!("cannot start the fake of {}", profile.title))?;
        let urls = read_urls(&mut child, profile.origins.len())?;
        let address: Option<SocketAddr> =
            urls.first().and_then(|url| url.strip_prefix("http://")?.parse().ok());
        let Some(address) = address else {
            // Best effort: its error is on the terminal.
            let _ = child.kill();
            let _ = child.wait();
            anyhow::bail!("the fake of {} did not start", profile.title);
        };
        let control = Client::new(&format!("http://{address}"), "");
        let fake = ProviderFake { profile, child, address, urls, control };
        let behind = clock_gettime(ClockId::Realtime).tv_sec - START_S;
        fake.post("advance", &json!({ "seconds": behind.max(0) }))?;
        fake.post("run-clock", &json!({}))?;
        fake.add_user(USER, "Alice Example")?;
        Ok(fake)
    }

    /// Adds an account.
    pub fn add_user(&self, email: &str, name: &str) -> Result<()> {
        let user = json!({ "email": email, "name": name, "timeZone": "UTC" });
        self.post(self.profile.accounts, &user).map(|_| ())
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
        let answer = self.post("tokens", &json!({ "user": USER, "scopes": self.profile.scopes }))?;
        Ok(answer["accessToken"].as_str().context("the fake gives no token")?.to_owned())
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

    /// Fails if a request or an answer was one that the provider's own documents forbid.
    pub fn ensure_allowed(&self) -> Result<()> {
        let answer = self.get("violations")?;
        let is_empty = answer["violations"].as_array().is_some_and(Vec::is_empty);
        ensure!(is_empty, "documents of {} forbid: {}", self.profile.title, answer["violations"]);
        Ok(())
    }
}

/// Reads the origins that a fake prints, a line each.
fn read_urls(child: &mut Child, count: usize) -> Result<Vec<String>> {
    let mut urls = Vec::with_capacity(count);
    if let Some(output) = child.stdout.take() {
        let mut lines = BufReader::new(output);
        for _ in 0..count {
            let mut line = String::new();
            lines.read_line(&mut line)?;
            urls.push(line.trim().to_owned());
        }
    }
    Ok(urls)
}

impl Drop for ProviderFake {
    fn drop(&mut self) {
        // Best effort: the process has no state.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
