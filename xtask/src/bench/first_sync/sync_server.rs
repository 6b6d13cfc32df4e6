//! A server with the account connected: its first syncs, and changes of an event of the account during them.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::{Value, json};

use crate::bench::first_sync::provider::{CONTACTS, EVENTS, JOURNAL, MESSAGES};
use crate::bench::load::LoadMeasurement;
use crate::bench::rig::Rig;
use crate::http::Client;
use crate::server::Server;

/// The longest that a first sync may take.
const MAX_SYNC: Duration = Duration::from_secs(900);
/// The interval between the beginnings of two changes, unless an answer takes longer.
const CHANGE_EVERY: Duration = Duration::from_millis(50);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Surface {
    Mail,
    Calendar,
    Contacts,
}

/// First syncs of one surface on one database.
#[derive(Default)]
pub struct SurfaceSyncs {
    /// The duration of all syncs together.
    seconds: f64,
    syncs: u32,
    /// Changes of the event.
    pub meanwhile: LoadMeasurement,
    /// Changes that were answered 503.
    pub unavailable: u64,
}

/// A server with the account connected.
pub struct SyncServer {
    server: Server,
    client: Client,
    key: String,
    connection: String,
    /// The calendar that is synced.
    calendar: String,
    /// The path of an event in another calendar.
    event: String,
}

impl Surface {
    pub const ALL: [Surface; 3] = [Surface::Mail, Surface::Calendar, Surface::Contacts];

    fn count(self) -> usize {
        match self {
            Surface::Mail => MESSAGES,
            Surface::Calendar => EVENTS,
            Surface::Contacts => CONTACTS,
        }
    }

    pub fn render(self) -> String {
        let noun = match self {
            Surface::Mail => "messages",
            Surface::Calendar => "events",
            Surface::Contacts => "contacts",
        };
        format!("{} {noun}", self.count())
    }
}

impl SurfaceSyncs {
    pub fn add(&mut self, other: SurfaceSyncs) {
        self.seconds += other.seconds;
        self.syncs += other.syncs;
        self.meanwhile.add(other.meanwhile);
        self.unavailable += other.unavailable;
    }

    /// Seconds of a sync.
    pub fn mean_s(&self) -> f64 {
        self.seconds / f64::from(self.syncs)
    }

    /// Returns the latency in milliseconds below which this share (0 to 1) of changes stays.
    pub fn quantile_ms(&self, share: f64) -> f64 {
        f64::from(self.meanwhile.quantile(share)) / 1000.0
    }

    /// `p50 8 ms, p99 21 ms, longest 30 ms of 400`.
    pub fn render(&self) -> String {
        let [p50, p99, longest] = [0.5, 0.99, 1.0].map(|share| self.quantile_ms(share));
        let count = self.meanwhile.requests;
        format!("p50 {p50:.0} ms, p99 {p99:.0} ms, longest {longest:.0} ms of {count}")
    }
}

impl SyncServer {
    /// Starts a server whose sandbox provider has this file, and connects the account. Only a new event has been read by then.
    pub fn start(rig: &Rig, journal: &Path, environment: &[(&str, &str)]) -> Result<SyncServer> {
        let folder = rig.folder("first-sync")?;
        let copy = folder.join(JOURNAL);
        fs::create_dir_all(copy.parent().context("the provider's file lies in a folder")?)?;
        fs::copy(journal, &copy).context("cannot copy the provider's file")?;
        let server = rig.server(&folder, environment)?;
        let scopes = ["email.read", "calendar.read", "calendar.write", "contacts.read"];
        let of_key = format!("connections.write,{}", scopes.join(","));
        let (_, key) = server.create_key(&of_key, &["--rate-limit-per-minute", "100000000"])?;
        let key = key["key"].as_str().context("`keys create --json` printed no key")?.to_owned();
        let client = Client::new(&server.url, &key);
        let body = json!({
            "provider": "sandbox",
            "credentials": { "username": "bench@sandbox.test", "password": "sandbox" },
            "scopes": scopes,
        });
        let connection = create_resource(&client, "/v1/connections", &body)?;
        let calendars = client.get(&format!("/v1/calendars?connection_id={connection}"))?;
        let calendar = id(&calendars["data"][0])?;
        let body = json!({ "connectionId": connection, "name": "Bench" });
        let other = create_resource(&client, "/v1/calendars", &body)?;
        let body =
            json!({ "title": "Event", "start": "2030-01-01T09:00:00Z", "end": "2030-01-01T10:00:00Z" });
        let events = format!("/v1/calendars/{other}/events");
        let event = format!("{events}/{}", create_resource(&client, &events, &body)?);
        Ok(SyncServer { server, client, key, connection, calendar, event })
    }

    /// The first sync of a surface, with changes of the event until it has ended.
    pub fn sync(&self, surface: Surface) -> Result<SurfaceSyncs> {
        let is_done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let changes = scope.spawn(|| self.change_until(&is_done));
            let seconds = self.catch_up(surface);
            is_done.store(true, Ordering::Relaxed);
            let changes = changes.join().map_err(|_| anyhow!("the client panicked"))?;
            Ok(SurfaceSyncs { seconds: seconds?, syncs: 1, ..changes? })
        })
    }

    pub fn stop(self) -> Result<()> {
        self.server.stop()
    }

    /// Starts the sync, and returns the seconds until its end.
    fn catch_up(&self, surface: Surface) -> Result<f64> {
        let whole = json!({ "connectionId": self.connection });
        let (sync, body, scope) = match surface {
            Surface::Mail => ("/v1/email/sync".to_owned(), whole, format!("/{}", self.connection)),
            Surface::Calendar => (format!("/v1/calendars/{}/sync", self.calendar), json!({}), String::new()),
            Surface::Contacts => ("/v1/contacts/sync".to_owned(), whole, format!("/{}", self.connection)),
        };
        let start = Instant::now();
        self.client.send("POST", &format!("{sync}/start"), &[], Some(&body))?.expect(&[202])?;
        loop {
            let state = self.client.get(&format!("{sync}/status{scope}"))?;
            if state["status"] == "caught_up" {
                let took = start.elapsed().as_secs_f64();
                let seen = state["progress"]["seen"].as_u64().unwrap_or_default();
                ensure!(seen >= surface.count() as u64, "not all {} were read: {state}", surface.render());
                return Ok(took);
            }
            ensure!(start.elapsed() < MAX_SYNC, "{} are not synced: {state}", surface.render());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Changes the event repeatedly.
    fn change_until(&self, is_done: &AtomicBool) -> Result<SurfaceSyncs> {
        let client = Client::new(&self.server.url, &self.key);
        let (mut changes, start) = (SurfaceSyncs::default(), Instant::now());
        for number in 0.. {
            let body = json!({ "title": format!("Change {number}") });
            let answer = client.send("PATCH", &self.event, &[], Some(&body))?;
            let took = answer.took;
            changes.meanwhile.requests += 1;
            changes.meanwhile.micros.push(u32::try_from(took.as_micros()).unwrap_or(u32::MAX));
            match answer.status {
                503 => changes.unavailable += 1,
                _ => {
                    answer.expect(&[200])?;
                }
            }
            if is_done.load(Ordering::Relaxed) {
                break;
            }
            std::thread::sleep(CHANGE_EVERY.saturating_sub(took));
        }
        changes.meanwhile.seconds = start.elapsed().as_secs_f64();
        changes.meanwhile.micros.sort_unstable();
        Ok(changes)
    }
}

fn create_resource(client: &Client, path: &str, body: &Value) -> Result<String> {
    id(&client.send("POST", path, &[], Some(body))?.expect(&[201])?)
}

fn id(resource: &Value) -> Result<String> {
    Ok(resource["id"].as_str().context("there is no id in the answer")?.to_owned())
}
