//! Notifications after a `kill -9`: each acknowledged change is delivered, and repeated notifications are identical and few. The service
//! runs as a process of its own, or as two on one PostgreSQL; the provider and the endpoint run in this one and live on.
//!
//! `WEBHOOK_KILLS=50 cargo xtask test -- -p switchboard-tests --test api webhooks::kills:: --nocapture` kills more often, and prints how
//! many notifications came again for each kill.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use harness::receiver::Receiver;
use harness::{TestServer, database_delay};
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use storage::sql::query;
use storage::{Db, Options};
use tokio::time::MissedTickBehavior;

use crate::crash::{Stubborn, key_with};
use crate::dav::peer;
use crate::kills::{Process, answered, made, naming};

/// How often a service is killed, where `WEBHOOK_KILLS` does not say another number.
const KILLS: u64 = 3;
/// Changes that are acknowledged before each kill, and after the last one.
const CHANGES: u64 = 150;
const WRITERS: usize = 4;
/// How often each writer begins a change: together 100 a second at the most.
const PACE: Duration = Duration::from_millis(40);
/// Maximum simultaneous attempts of the webhook.
const MAX_CONCURRENT: usize = 8;
/// Attempts that may end while the outcome of others is committed. A commit takes a few milliseconds, and far longer on a busy machine.
const WITHIN_A_COMMIT: usize = 32;
/// The time limit of a test: a job of a dead host is taken over after nine seconds.
const LIMIT: Duration = Duration::from_secs(120);
/// How long answers are held back for attempts to begin.
const HELD: Duration = Duration::from_secs(2);
const POLL_INTERVAL: Duration = Duration::from_millis(5);
const CREATED: &str = "calendar.event.created";
const UPDATED: &str = "calendar.event.updated";
/// The events that the webhook wants, with their numbers in the log.
const LINES: &str = "select id, sequence from log where origin <> 'backfill' and type like 'calendar.event.%' order by sequence";

fn kills() -> u64 {
    std::env::var("WEBHOOK_KILLS").map_or(KILLS, |n| n.parse().expect("WEBHOOK_KILLS is a number"))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

/// The state that the writers share.
struct World {
    hosts: Vec<Stubborn>,
    /// The path of the calendar's events.
    events: String,
    stop: AtomicBool,
    changes: AtomicU64,
}

impl World {
    fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::SeqCst)
    }

    /// Sends a change until it is acknowledged.
    async fn change(&self, first: usize, of: (&str, &str), body: &Value, key: &str) -> Value {
        let (status, answer) = answered(&self.hosts, first, of, body, key).await;
        let wanted = if of.0 == "POST" { StatusCode::CREATED } else { StatusCode::OK };
        assert_eq!(status, wanted, "{key}: {answer}");
        self.changes.fetch_add(1, Ordering::SeqCst);
        answer
    }

    /// Waits until this number of changes was acknowledged.
    async fn reaches(&self, changes: u64) {
        let end = Instant::now() + LIMIT;
        while self.changes.load(Ordering::SeqCst) < changes {
            assert!(Instant::now() < end, "fewer than {changes} changes were acknowledged");
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }
}

/// Makes events at its pace, and changes each. Returns the acknowledged changes: the event types, and the resource ids.
async fn write(world: Arc<World>, writer: usize) -> Vec<(&'static str, String)> {
    let mut pace = tokio::time::interval(PACE);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut acknowledged, mut n) = (Vec::new(), 0);
    while world.goes_on() {
        pace.tick().await;
        let title = format!("event {writer}-{n}");
        let body = json!({ "title": title, "start": "2026-03-02T11:00:00Z", "end": "2026-03-02T12:00:00Z" });
        let of = ("POST", world.events.as_str());
        let event = world.change(writer, of, &body, &format!("make {title}")).await;
        acknowledged.push((CREATED, text(&event["id"])));
        pace.tick().await;
        let change = json!({ "location": "Room 1", "etag": event["etag"] });
        let path = format!("{}/{}", world.events, text(&event["id"]));
        let of = ("PATCH", path.as_str());
        world.change(writer + 1, of, &change, &format!("change {title}")).await;
        acknowledged.push((UPDATED, text(&event["id"])));
        n += 1;
    }
    acknowledged
}

/// The notifications that the endpoint has received.
#[derive(Default)]
struct Arrived {
    /// The bodies by the ids of the notifications.
    bodies: BTreeMap<String, Bytes>,
    /// How many came again after each kill; the first number is of the time before the first.
    repeats: Vec<usize>,
}

impl Arrived {
    /// Takes the notifications since the last call, and returns their number. Each is signed, and a repeated one has the same body.
    fn take(&mut self, receiver: &mut Receiver, secret: &str) -> usize {
        let received = receiver.taken();
        let count = received.len();
        for one in received {
            let id = one.header("webhook-id").to_owned();
            assert!(one.is_signed(secret), "{id} is not signed: {one:?}");
            let Some(first) = self.bodies.get(&id) else {
                self.bodies.insert(id, one.body);
                continue;
            };
            assert_eq!(*first, one.body, "{id} has another body");
            *self.repeats.last_mut().expect("it begins with a number") += 1;
        }
        count
    }

    /// Returns the notifications' types and resource ids.
    fn told(&self) -> BTreeSet<(String, String)> {
        let told = self.bodies.values().map(|body| {
            let body: Value = serde_json::from_slice(body).expect("JSON");
            (text(&body["type"]), text(&body["data"]["resourceId"]))
        });
        told.collect()
    }
}

/// A service with a calendar, its provider, and the endpoint of its webhook.
struct Scene {
    world: Arc<World>,
    processes: Vec<Process>,
    db: Db,
    /// It serves the provider.
    _provider: TestServer,
    receiver: Receiver,
    secret: String,
    arrived: Arrived,
}

impl Scene {
    /// One process, or two on this database.
    async fn open(database: Option<&str>) -> Scene {
        let (provider, receiver) = (TestServer::start().await, Receiver::start().await);
        let http = Client::builder().no_proxy().timeout(Duration::from_secs(20)).build().expect("a client");
        let (mut processes, mut hosts) = (Vec::new(), Vec::new());
        for _ in 0..database.map_or(1, |_| 2) {
            let (process, api) = Process::start(database, &http).await;
            processes.push(process);
            hosts.push(api);
        }
        let data = processes[0].data.path();
        let key = key_with(data, &naming(database));
        hosts.iter_mut().for_each(|host| host.key.clone_from(&key));
        let file = format!("sqlite://{}", data.join("switchboard.db").display());
        let options = Options::for_url(database.map_or(file, str::to_owned));
        let db = Db::connect(&options).await.expect("the database");
        let account = json!({
            "provider": "sandbox", "settings": { "serverUrl": format!("http://{}/sandbox", provider.address) },
            "credentials": { "username": "carol@sandbox.test", "password": "sandbox" },
            "scopes": ["calendar.read", "calendar.write"],
        });
        let connection = made(&hosts, "/v1/connections", &account).await;
        let calendar = json!({ "connectionId": connection["id"], "name": "Kills", "timeZone": "UTC" });
        let calendar = made(&hosts, "/v1/calendars", &calendar).await;
        let webhook = json!({
            "url": receiver.url(), "eventTypes": ["calendar.event.*"], "maxConcurrent": MAX_CONCURRENT,
        });
        let webhook = made(&hosts, "/v1/webhooks", &webhook).await;
        let world = World {
            hosts,
            events: format!("/v1/calendars/{}/events", text(&calendar["id"])),
            stop: AtomicBool::new(false),
            changes: AtomicU64::new(0),
        };
        let arrived = Arrived { repeats: vec![0], ..Arrived::default() };
        let secret = text(&webhook["secret"]);
        Scene { world: Arc::new(world), processes, db, _provider: provider, receiver, secret, arrived }
    }

    /// Kills the processes alternately, in the middle of the writes. Every other time responses are held back before, so that as many
    /// attempts as possible are running.
    async fn kill(&mut self, kills: u64) {
        for kill in 0..kills {
            self.world.reaches((kill + 1) * CHANGES).await;
            let held = if kill % 2 == 1 { Some(self.receiver.hold().await) } else { None };
            let (end, mut under_way) = (Instant::now() + HELD, self.take());
            while held.is_some() && under_way < MAX_CONCURRENT && Instant::now() < end {
                tokio::time::sleep(POLL_INTERVAL).await;
                under_way += self.take();
            }
            let count = self.processes.len();
            self.processes[usize::try_from(kill).expect("a small number") % count].kill_and_start();
            self.take();
            self.arrived.repeats.push(0);
        }
        self.world.reaches((kills + 1) * CHANGES).await;
    }

    fn take(&mut self) -> usize {
        self.arrived.take(&mut self.receiver, &self.secret)
    }

    /// Has writers change the calendar while the service is killed, and checks the endpoint's notifications.
    async fn loses_no_event(mut self, kills: u64) {
        let writers: Vec<_> =
            (0..WRITERS).map(|writer| tokio::spawn(write(self.world.clone(), writer))).collect();
        self.kill(kills).await;
        self.world.stop.store(true, Ordering::SeqCst);
        let mut acknowledged = Vec::new();
        for writer in writers {
            acknowledged.extend(writer.await.expect("a writer ends well"));
        }
        let lines = self.everything_arrives().await;
        let told = self.arrived.told();
        for (kind, id) in &acknowledged {
            assert!(told.contains(&((*kind).to_owned(), id.clone())), "{kind} of {id} is lost");
        }
        assert!(acknowledged.len() as u64 >= (kills + 1) * CHANGES, "the writers got somewhere");
        self.db.close().await;

        let repeats = &self.arrived.repeats;
        let all: usize = repeats.iter().sum();
        println!(
            "{kills} kills: {} changes acknowledged, {lines} notifications, none lost; came again after each kill: {:?}, {:.2} % of all",
            acknowledged.len(),
            &repeats[1..],
            100.0 * all as f64 / lines as f64
        );
        assert_eq!(repeats[0], 0, "a notification came twice before the first kill");
        for (kill, count) in repeats[1..].iter().enumerate() {
            assert!(*count <= MAX_CONCURRENT + WITHIN_A_COMMIT, "{count} came again after kill {}", kill + 1);
        }
    }

    /// Every line of the log that the webhook wants arrives, with its number. How many these are.
    async fn everything_arrives(&mut self) -> usize {
        let end = Instant::now() + LIMIT;
        let lines = loop {
            let lines = log_lines(&self.db).await;
            self.take();
            let missing: Vec<_> =
                lines.iter().filter(|(id, _)| !self.arrived.bodies.contains_key(id)).collect();
            if missing.is_empty() {
                break lines;
            }
            assert!(Instant::now() < end, "these never arrived: {missing:?}");
            tokio::time::sleep(POLL_INTERVAL).await;
        };
        for (id, sequence) in &lines {
            let body: Value = serde_json::from_slice(&self.arrived.bodies[id]).expect("JSON");
            assert_eq!((&body["id"], &body["sequence"]), (&json!(id), &json!(sequence)));
        }
        let known: BTreeSet<String> = log_lines(&self.db).await.into_iter().map(|(id, _)| id).collect();
        let unknown: Vec<_> = self.arrived.bodies.keys().filter(|id| !known.contains(*id)).collect();
        assert!(unknown.is_empty(), "these are not in the log: {unknown:?}");
        lines.len()
    }
}

async fn log_lines(db: &Db) -> Vec<(String, i64)> {
    let line = query(LINES).fetch_all(db.reader(), |row| Ok((row.get("id")?, row.get("sequence")?)));
    line.await.expect("the log")
}

/// Whether the tests run once more on PostgreSQL: these here have their own databases, and have run before.
fn have_run() -> bool {
    std::env::var_os("SWITCHBOARD_TEST_DATABASE_URL").is_some()
}

/// Whether PostgreSQL is as far away as it was when they ran.
fn have_run_on_postgres() -> bool {
    have_run() && !database_delay::is_wanted()
}

/// The one process of a SQLite database.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_event_is_lost_over_kills() {
    if have_run() {
        return;
    }
    Scene::open(None).await.loses_no_event(kills()).await;
}

/// Two processes on one PostgreSQL: the surviving one repeats the running deliveries of the killed one, with the same ids and bytes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_event_is_lost_over_kills_of_two_hosts() {
    let Some(url) = peer("POSTGRES_URL").filter(|_| !have_run_on_postgres()) else { return };
    let url = harness::own_schema(&url).await.expect("a schema of its own");
    Scene::open(Some(&url)).await.loses_no_event(kills().div_ceil(2)).await;
}
