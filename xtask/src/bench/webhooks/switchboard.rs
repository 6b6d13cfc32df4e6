//! Our side: a server with an account of the sandbox, whose events go to subscriptions on this machine.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use serde_json::{Value, json};

use crate::bench::rig::Rig;
use crate::http::Client;
use crate::server::Server;

const SCOPES: &str = "connections.read,connections.write,calendar.read,calendar.write,contacts.read,webhooks.read,webhooks.write";
/// Lets the server deliver to this machine.
const ENVIRONMENT: [(&str, &str); 1] = [("SWITCHBOARD_WEBHOOK_ALLOW", "127.0.0.0/8")];
/// Clients that prepare a measurement in parallel.
const CLIENTS: usize = 16;

/// A server with a calendar to write to.
pub struct Host {
    pub server: Server,
    client: Client,
    key: String,
    /// The path of the calendar's events.
    events: String,
    /// The paths of the subscriptions.
    pub webhooks: Vec<String>,
}

impl Host {
    /// Starts a server with an empty database, makes a key and connects an account.
    pub fn start(rig: &Rig, name: &str) -> Result<Host> {
        let server = rig.server(&rig.folder(name)?, &ENVIRONMENT)?;
        let (_, key) = server.create_key(SCOPES, &["--rate-limit-per-minute", "100000000"])?;
        let key = key["key"].as_str().context("`keys create --json` printed no key")?.to_owned();
        let client = Client::new(&server.url, &key);
        let body = json!({
            "provider": "sandbox",
            "credentials": { "username": "bench@sandbox.test", "password": "sandbox" },
            "scopes": ["calendar.read", "calendar.write"],
        });
        let connection = client.send("POST", "/v1/connections", &[], Some(&body))?.expect(&[201])?;
        let body = json!({ "connectionId": connection["id"], "name": "Bench" });
        let calendar = client.send("POST", "/v1/calendars", &[], Some(&body))?.expect(&[201])?;
        let events = format!("/v1/calendars/{}/events", id(&calendar)?);
        Ok(Host { server, client, key, events, webhooks: Vec::new() })
    }

    /// Subscribes each of these URLs to events of a type.
    pub fn subscribe(&mut self, urls: &[String], event_type: &str) -> Result<()> {
        let made = self.together(urls.len(), |client, number| {
            let body = json!({ "url": urls.get(number), "eventTypes": [event_type] });
            id(&client.send("POST", "/v1/webhooks", &[], Some(&body))?.expect(&[201])?)
        })?;
        self.webhooks.extend(made.into_iter().map(|id| format!("/v1/webhooks/{id}")));
        Ok(())
    }

    /// Changes all subscriptions.
    pub fn set(&self, fields: &Value) -> Result<()> {
        let changed = self.together(self.webhooks.len(), |client, number| {
            let path = self.webhooks.get(number).map_or("", String::as_str);
            client.send("PATCH", path, &[], Some(fields))?.expect(&[200]).map(|_| ())
        });
        changed.map(|_| ())
    }

    /// Creates this number of events.
    pub fn create_events(&self, count: usize) -> Result<()> {
        let created = self.together(count, |client, number| {
            client.send("POST", &self.events, &[], Some(&event(number)))?.expect(&[201]).map(|_| ())
        });
        created.map(|_| ())
    }

    /// Creates an event, and returns the time of the answer.
    pub fn create_event(&self, number: usize) -> Result<Duration> {
        let answer = self.client.send("POST", &self.events, &[], Some(&event(number)))?;
        let took = answer.took;
        answer.expect(&[201])?;
        Ok(took)
    }

    /// Creates events at a rate, whether the earlier ones were answered or not, up to a maximum of simultaneous requests. Returns their
    /// number.
    pub fn create_at_rate(&self, per_second: usize, length: Duration) -> Result<usize> {
        let (period, start) = (Duration::from_secs(1) / u32::try_from(per_second)?, Instant::now());
        let count = usize::try_from(length.as_millis())? * per_second / 1_000;
        self.together(count, |client, number| {
            let due = start + period * u32::try_from(number)?;
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            client.send("POST", &self.events, &[], Some(&event(number)))?.expect(&[201]).map(|_| ())
        })?;
        Ok(count)
    }

    /// Calls `work` for each number below `count` on several clients in parallel, and returns the results.
    fn together<T: Send>(
        &self,
        count: usize,
        work: impl Fn(&Client, usize) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            let run = || -> Result<Vec<T>> {
                let (client, mut done) = (Client::new(&self.server.url, &self.key), Vec::new());
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return Ok(done);
                    }
                    done.push(work(&client, number)?);
                }
            };
            let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(run)).collect();
            let mut done = Vec::with_capacity(count);
            for client in clients {
                done.extend(client.join().map_err(|_| anyhow!("a client panicked"))??);
            }
            Ok(done)
        })
    }
}

/// A typical event of a small application: its notification has about 1.7 KiB.
fn event(number: usize) -> Value {
    let day = 1 + number % 28;
    json!({
        "title": format!("Event {number}"),
        "start": format!("2030-01-{day:02}T09:00:00Z"),
        "end": format!("2030-01-{day:02}T10:00:00Z"),
    })
}

fn id(made: &Value) -> Result<String> {
    Ok(made["id"].as_str().context("there is no id in the answer")?.to_owned())
}
