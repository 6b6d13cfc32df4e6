//! Bookings that clients make, move and cancel after a `kill -9`: no host is in two places at a time, acknowledged bookings are
//! unchanged, and each request takes effect once. The service runs as a process of its own, or as two on one PostgreSQL.
//!
//! `CRASH_KILLS=50 cargo xtask test -- -p switchboard-tests --test api scheduling::kills::` kills more often.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use base::clock::Clock;
use harness::TestServer;
use model::Instant;
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use storage::Db;

use super::configurations::Dice;
use super::{BOOKINGS, EVENT_TYPES, checker, text};
use crate::crash::Stubborn;
use crate::kills::{self, Process, answered, made};

/// How often a service is killed, where `CRASH_KILLS` does not say another number.
const KILLS: u64 = 2;
const CLIENTS: usize = 4;
/// Answers that all clients together get between two kills.
const ANSWERS: u64 = 12;
/// From one start that is asked for to the next, ms; and how many there are.
const STEP_MS: i64 = 15 * 60_000;
const STARTS: i64 = 2 * 24 * 4;
const DAY_MS: i64 = 24 * 60 * 60_000;
const WAIT: Duration = Duration::from_millis(5);

/// The state that the clients share.
struct World {
    hosts: Vec<Stubborn>,
    /// Event types of the same host, with different durations and buffers.
    event_types: Vec<String>,
    first_ms: i64,
    stop: AtomicBool,
    answers: AtomicU64,
}

/// A booking of a client, as the service has acknowledged it.
struct Booked {
    id: String,
    status: &'static str,
    start_ms: i64,
    /// The request that made it, with its key and its answer.
    body: Value,
    key: String,
    answer: Value,
}

impl World {
    fn start(&self, dice: &mut Dice) -> i64 {
        self.first_ms + dice.between(0, STARTS - 1) * STEP_MS
    }

    fn acknowledged(&self) -> u64 {
        self.answers.load(Ordering::SeqCst)
    }

    /// Sends a request until it is answered for good. None: the time is taken.
    async fn send(&self, client: usize, path: &str, body: &Value, key: &str) -> Option<Value> {
        let (status, answer) = answered(&self.hosts, client, ("POST", path), body, key).await;
        self.answers.fetch_add(1, Ordering::SeqCst);
        if status == StatusCode::CONFLICT {
            assert_eq!(answer["error"]["code"], "slot_unavailable", "{key}: {answer}");
            return None;
        }
        assert!(status.is_success(), "{key}: {status} {answer}");
        Some(answer)
    }
}

fn instant(ms: i64) -> Value {
    json!(Instant::from_millis(ms).to_string())
}

/// Books at random, and moves and cancels some of its bookings, until the end; returns all of them.
async fn work(world: Arc<World>, client: usize) -> Vec<Booked> {
    let mut dice = Dice(20_261_015 + client as u64);
    let (mut all, mut n): (Vec<Booked>, u64) = (Vec::new(), 0);
    while !world.stop.load(Ordering::SeqCst) {
        n += 1;
        let start_ms = world.start(&mut dice);
        let mine: Vec<usize> = (0..all.len()).filter(|at| all[*at].status == "confirmed").collect();
        let what = if mine.is_empty() { 100 } else { dice.between(1, 100) };
        if what > 50 {
            let (key, event_type) = (format!("book {client}-{n}"), dice.pick(&world.event_types));
            let invitee = format!("client{client}@example.org");
            let body =
                json!({ "eventTypeId": event_type, "start": instant(start_ms), "inviteeEmail": invitee });
            let booked = world.send(client, BOOKINGS, &body, &key).await;
            if let Some(answer) = booked {
                let (id, status) = (text(&answer["id"]), "confirmed");
                all.push(Booked { id, status, start_ms, body, key, answer });
            }
            continue;
        }
        let one = &mut all[dice.pick(&mine)];
        if what > 20 && start_ms != one.start_ms {
            let (path, key) = (format!("{BOOKINGS}/{}/reschedule", one.id), format!("move {client}-{n}"));
            let body = json!({ "start": instant(start_ms) });
            let moved = world.send(client, &path, &body, &key).await;
            if let Some(moved) = moved {
                assert_eq!((&moved["id"], &moved["start"]), (&json!(one.id), &instant(start_ms)));
                one.start_ms = start_ms;
            }
        } else {
            let (path, key) = (format!("{BOOKINGS}/{}/cancel", one.id), format!("cancel {client}-{n}"));
            let cancelled = world.send(client, &path, &json!({}), &key).await.expect("it is cancelled");
            assert_eq!(cancelled["status"], "cancelled");
            one.status = "cancelled";
        }
    }
    all
}

/// Half an hour and an hour of one host, at any quarter of an hour, with buffers around.
async fn event_types(hosts: &[Stubborn], connection: &Value, calendar: &Value) -> Vec<String> {
    let host = json!({
        "connectionId": connection["id"], "calendarId": calendar["id"],
        "conflictCalendarIds": [calendar["id"]],
    });
    let weekly = json!([{ "days": [1, 2, 3, 4, 5, 6, 7], "start": "00:00", "end": "24:00" }]);
    let mut ids = Vec::new();
    for (slug, minutes, before, after) in [("short", 30, 10, 5), ("long", 60, 0, 15)] {
        let body = json!({
            "slug": slug, "title": "Call", "durationMinutes": minutes, "slotIntervalMinutes": 15,
            "bufferBeforeMinutes": before, "bufferAfterMinutes": after, "hosts": [host],
            "schedule": { "timeZone": "UTC", "weekly": weekly },
        });
        let (status, made) = answered(hosts, 0, ("POST", EVENT_TYPES), &body, slug).await;
        assert!(status.is_success(), "{status} {made}");
        ids.push(text(&made["id"]));
    }
    ids
}

/// A service, its clients' world and its database.
async fn open(database: Option<&str>, provider: &TestServer) -> (Vec<Process>, World, Db) {
    let http = Client::builder().no_proxy().timeout(Duration::from_secs(20)).build().expect("a client");
    let (processes, hosts, db) = kills::open(database, &[], &http).await;
    let account = json!({
        "provider": "sandbox", "settings": { "serverUrl": format!("http://{}/sandbox", provider.address) },
        "credentials": { "username": "carol@sandbox.test", "password": "sandbox" },
        "scopes": ["calendar.read", "calendar.write"],
    });
    let connection = made(&hosts, "/v1/connections", &account).await;
    let calendar = json!({ "connectionId": connection["id"], "name": "Kills", "timeZone": "UTC" });
    let calendar = made(&hosts, "/v1/calendars", &calendar).await;
    let event_types = event_types(&hosts, &connection, &calendar).await;
    let now = Clock::system().now_ms();
    let first_ms = now - now.rem_euclid(DAY_MS) + 2 * DAY_MS;
    let (stop, answers) = (AtomicBool::new(false), AtomicU64::new(0));
    (processes, World { hosts, event_types, first_ms, stop, answers }, db)
}

async fn ready(world: &World) {
    for host in &world.hosts {
        host.ready().await;
    }
}

/// Two event types of one host, and clients who book, move and cancel while the service is killed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_in_the_middle_nothing_overlaps_and_nothing_is_lost() {
    let kills = std::env::var("CRASH_KILLS").map_or(KILLS, |n| n.parse().expect("CRASH_KILLS is a number"));
    let database = match std::env::var("SWITCHBOARD_TEST_DATABASE_URL") {
        Ok(url) => Some(harness::own_schema(&url).await.expect("a schema of its own")),
        Err(_) => None,
    };
    let provider = TestServer::start().await;
    let (mut processes, world, db) = open(database.as_deref(), &provider).await;
    let world = Arc::new(world);
    let clients: Vec<_> = (0..CLIENTS).map(|client| tokio::spawn(work(world.clone(), client))).collect();
    for kill in 0..kills {
        ready(&world).await;
        let wanted = world.acknowledged() + ANSWERS + kill % 4;
        let mut waited = 0;
        while world.acknowledged() < wanted && waited < 4_000 {
            tokio::time::sleep(WAIT).await;
            waited += 1;
        }
        // A little later every time, so that it meets another place.
        tokio::time::sleep(Duration::from_millis(kill * 7 % 60)).await;
        let count = processes.len();
        processes[kill as usize % count].kill_and_start();
    }
    ready(&world).await;
    world.stop.store(true, Ordering::SeqCst);
    let mut all = Vec::new();
    for client in clients {
        all.extend(client.await.expect("a client ends well"));
    }
    for one in &all {
        // After any changes of the booking: the same request has the same response, and makes nothing.
        let (status, again) = answered(&world.hosts, 0, ("POST", BOOKINGS), &one.body, &one.key).await;
        assert_eq!((status, &again), (StatusCode::CREATED, &one.answer), "{}", one.key);
    }
    let acknowledged: BTreeMap<String, (String, i64)> =
        all.iter().map(|one| (one.id.clone(), (one.status.to_owned(), one.start_ms))).collect();
    assert_eq!(acknowledged.len(), all.len(), "two requests have the same booking");
    assert_eq!(checker::bookings(&db).await, acknowledged);
    let checked = checker::check(&db).await;
    println!("{kills} kills, {} answers: {checked}", world.acknowledged());
    assert!(checked.bookings > 0 && checked.pairs > 0, "the clients got somewhere");
    db.close().await;
}
