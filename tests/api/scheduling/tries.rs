//! Very many bookings of hosts whom several event types share, by clients who all want the same days, while the service is killed with -9
//! and started again: no host is ever in two places at a time, no meeting has more bookings than seats, and every booking answered with
//! 201 exists once. The service runs as a process of its own, or as two on one PostgreSQL.
//!
//! `BOOKING_TRIES=100000 cargo xtask test -- -p switchboard-tests --test api scheduling::tries::` tries more often, and kills more often.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant as Moment};

use base::clock::Clock;
use harness::TestServer;
use model::Instant;
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};

use super::configurations::Dice;
use super::{BOOKINGS, EVENT_TYPES, checker, text};
use crate::crash::Stubborn;
use crate::kills::{self, Process, answered};

/// How many bookings are tried, where `BOOKING_TRIES` does not say another number.
const DEFAULT_BOOKINGS: u64 = 500;
/// Attempts per kill, beside the one kill of every run.
const TRIES_A_KILL: u64 = 5_000;
const CLIENTS: usize = 32;
/// The number of attempts that begin on a day and on the one after it: more than there is room for, and few enough that many find room.
/// Then the next day begins, so that clients want the same times however many attempts there are.
const TRIES_A_DAY: u64 = 300;
const DAY_MS: i64 = 24 * 60 * 60_000;
const MINUTE_MS: i64 = 60_000;
/// A client moves or cancels one of this number of its last bookings.
const RECENT: usize = 4;
/// The time limit until any request gets a response.
const LIMIT: Duration = Duration::from_secs(120);
/// The time limit of one response.
const PATIENCE: Duration = Duration::from_secs(60);
const WAIT: Duration = Duration::from_millis(10);
const SEED: u64 = 20_261_016;

/// Calendars are read when they are as old as in production; the log is reduced to errors, because its lines cost time.
const SETTINGS: [&str; 4] = ["--freshness-ms", "10000", "--log-level", "error"];

/// How often something has happened.
#[derive(Default)]
struct Counters {
    /// Bookings that were tried and answered for good.
    tries: AtomicU64,
    /// Answers that the time is taken, to bookings and to moves.
    conflicts: AtomicU64,
    moves: AtomicU64,
    cancels: AtomicU64,
    kills: AtomicU64,
    /// Requests that were lost with a process, or that found none.
    lost: AtomicU64,
    /// Responses that ask for a retry.
    put_off: AtomicU64,
}

/// The state that the clients share.
struct World {
    hosts: Vec<Stubborn>,
    /// The ids of event types, each with the time from one of its starts to the next, ms.
    event_types: Vec<(String, i64)>,
    first_ms: i64,
    tries: u64,
    /// The number of the try that comes next.
    next: AtomicU64,
    /// A host was killed and is not ready yet.
    is_down: AtomicBool,
    counted: Counters,
}

/// A booking of a client, as the service has acknowledged it.
struct Booked {
    id: String,
    status: &'static str,
    start_ms: i64,
    /// From one start of its event type to the next, ms.
    step_ms: i64,
}

fn add(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::SeqCst);
}

fn read(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::SeqCst)
}

fn instant(ms: i64) -> Value {
    json!(Instant::from_millis(ms).to_string())
}

impl World {
    /// A start at which the try with this number may want to begin.
    fn start(&self, number: u64, step_ms: i64, dice: &mut Dice) -> i64 {
        let day = i64::try_from(number / TRIES_A_DAY).expect("a day");
        self.first_ms + day * DAY_MS + dice.between(0, 2 * DAY_MS / step_ms - 1) * step_ms
    }

    /// Sends a request once. None: its connection was lost, as happens when a process is killed, and at no other time.
    async fn try_once(
        &self,
        host: usize,
        path: &str,
        body: &Value,
        key: &str,
    ) -> Option<(StatusCode, Value)> {
        let Stubborn { http, base, key: api_key } = &self.hosts[host % self.hosts.len()];
        let (kills, was_down) = (read(&self.counted.kills), self.is_down.load(Ordering::SeqCst));
        let request = http.post(format!("{base}{path}")).bearer_auth(api_key).header("idempotency-key", key);
        let request = request.header("content-type", "application/json").body(body.to_string());
        let sent = async {
            let response = request.send().await?;
            let status = response.status();
            Ok::<_, reqwest::Error>((status, response.text().await?))
        };
        match sent.await {
            Ok((status, answer)) => {
                let answer = serde_json::from_str(&answer);
                Some((status, answer.unwrap_or_else(|e| panic!("{key}: {status}: {e}"))))
            }
            Err(e) => {
                assert!(!e.is_timeout(), "{key}: no answer within {PATIENCE:?}");
                let is_down = self.is_down.load(Ordering::SeqCst);
                let was_killed = was_down || is_down || read(&self.counted.kills) != kills;
                assert!(was_killed, "{key}: the connection was lost though nobody was killed: {e:?}");
                None
            }
        }
    }

    /// Sends a request until it has a final response, under the same key, to one host after the other. None: the time is taken. Any other
    /// response must be the expected one.
    async fn send(&self, client: usize, path: &str, body: &Value, key: &str) -> Option<Value> {
        let wanted = if path == BOOKINGS { 201 } else { 200 };
        let mut host = client;
        loop {
            if let Some((status, answer)) = self.try_once(host, path, body, key).await {
                let code = answer["error"]["code"].as_str().unwrap_or_default();
                match (status.as_u16(), code) {
                    (status, _) if status == wanted => return Some(answer),
                    (409, "slot_unavailable") => {
                        add(&self.counted.conflicts);
                        return None;
                    }
                    // The first request with this key was lost and may still run; or calendars cannot be read just now; or too many
                    // requests change the same data.
                    (409, "idempotency_in_progress") | (503, "availability_unknown" | "overloaded") => {
                        add(&self.counted.put_off);
                    }
                    _ => panic!("{key}: {status} {answer}"),
                }
            } else {
                add(&self.counted.lost);
            }
            host += 1;
            tokio::time::sleep(WAIT).await;
        }
    }

    /// Waits until this number of bookings was tried.
    async fn until(&self, wanted: u64) {
        let (mut before, mut since) = (read(&self.counted.tries), Moment::now());
        while before < wanted {
            tokio::time::sleep(WAIT).await;
            let now = read(&self.counted.tries);
            if now != before {
                (before, since) = (now, Moment::now());
            }
            assert!(since.elapsed() < LIMIT, "nothing is answered any more, after {before} tries");
        }
    }

    /// Kills a process and starts another one in its place.
    async fn kill(&self, process: &mut Process) {
        self.is_down.store(true, Ordering::SeqCst);
        add(&self.counted.kills);
        process.kill_and_start();
        for host in &self.hosts {
            host.ready().await;
        }
        self.is_down.store(false, Ordering::SeqCst);
    }
}

/// Books one time after the other, and moves and cancels some of its bookings, until there were enough attempts; returns all of them.
async fn work(world: Arc<World>, client: usize) -> Vec<Booked> {
    let mut dice = Dice(SEED + client as u64);
    let mut all: Vec<Booked> = Vec::new();
    loop {
        let number = world.next.fetch_add(1, Ordering::SeqCst);
        if number >= world.tries {
            return all;
        }
        let (event_type, step_ms) = dice.pick(&world.event_types);
        let start_ms = world.start(number, step_ms, &mut dice);
        let invitee = format!("try{number}@example.org");
        let body = json!({ "eventTypeId": event_type, "start": instant(start_ms), "inviteeEmail": invitee });
        let booked = world.send(client, BOOKINGS, &body, &format!("book {number}")).await;
        if let Some(answer) = booked {
            assert_eq!((&answer["status"], &answer["start"]), (&json!("confirmed"), &instant(start_ms)));
            all.push(Booked { id: text(&answer["id"]), status: "confirmed", start_ms, step_ms });
        }
        let confirmed = (0..all.len()).rev().filter(|at| all[*at].status == "confirmed");
        let recent: Vec<usize> = confirmed.take(RECENT).collect();
        if !recent.is_empty() && dice.chance(40) {
            change(&world, client, number, &mut all[dice.pick(&recent)], &mut dice).await;
        }
        // Last, so that no host is killed when all clients have ended.
        add(&world.counted.tries);
    }
}

/// Moves a booking to near where tries begin by now, or cancels it.
async fn change(world: &World, client: usize, number: u64, one: &mut Booked, dice: &mut Dice) {
    let path = |verb: &str| format!("{BOOKINGS}/{}/{verb}", one.id);
    let start_ms = world.start(number, one.step_ms, dice);
    if start_ms != one.start_ms && dice.chance(65) {
        let body = json!({ "start": instant(start_ms) });
        let moved = world.send(client, &path("reschedule"), &body, &format!("move {number}")).await;
        if let Some(moved) = moved {
            assert_eq!((&moved["id"], &moved["start"]), (&json!(one.id), &instant(start_ms)));
            one.start_ms = start_ms;
            add(&world.counted.moves);
        }
    } else {
        let cancelled = world.send(client, &path("cancel"), &json!({}), &format!("cancel {number}")).await;
        assert_eq!(cancelled.expect("it is cancelled")["status"], "cancelled");
        one.status = "cancelled";
        add(&world.counted.cancels);
    }
}

async fn made(hosts: &[Stubborn], path: &str, body: &Value, key: &str) -> Value {
    let (status, answer) = answered(hosts, 0, ("POST", path), body, key).await;
    assert!(status.is_success(), "{key}: {status} {answer}");
    answer
}

/// Connects an account of the provider and makes a calendar there; who it is as a host of event types.
async fn host(hosts: &[Stubborn], provider: &TestServer, account: &str) -> Value {
    let body = json!({
        "provider": "sandbox", "settings": { "serverUrl": format!("http://{}/sandbox", provider.address) },
        "credentials": { "username": format!("{account}@sandbox.test"), "password": "sandbox" },
        "scopes": ["calendar.read", "calendar.write"],
    });
    let connection = made(hosts, "/v1/connections", &body, &format!("connect {account}")).await;
    let body = json!({ "connectionId": connection["id"], "name": "Tries", "timeZone": "UTC" });
    let calendar = made(hosts, "/v1/calendars", &body, &format!("calendar of {account}")).await;
    json!({
        "connectionId": connection["id"], "calendarId": calendar["id"],
        "conflictCalendarIds": [calendar["id"]],
    })
}

/// Makes event types that share three hosts: of different lengths, with buffers, of two hosts together, with seats, and of any free host.
async fn event_types(hosts: &[Stubborn], provider: &TestServer) -> Vec<(String, i64)> {
    let alice = host(hosts, provider, "alice").await;
    let bob = host(hosts, provider, "bob").await;
    let carol = host(hosts, provider, "carol").await;
    let mut pool = [alice.clone(), bob.clone(), carol];
    pool.iter_mut().for_each(|one| one["role"] = json!("rotation"));
    let weekly = json!([{ "days": [1, 2, 3, 4, 5, 6, 7], "start": "00:00", "end": "24:00" }]);
    let each = [
        ("short", "fixed", json!([alice]), (30, 15), (10, 5), None),
        ("long", "fixed", json!([alice]), (60, 15), (0, 15), None),
        ("both", "collective", json!([alice, bob]), (45, 15), (5, 0), None),
        ("class", "fixed", json!([bob]), (30, 30), (0, 10), Some(3)),
        ("pool", "roundRobin", json!(pool), (30, 15), (5, 5), None),
    ];
    let mut ids = Vec::new();
    for (slug, assignment, of, (minutes, step), (before, after), seats) in each {
        let body = json!({
            "slug": slug, "title": "Call", "durationMinutes": minutes, "slotIntervalMinutes": step,
            "bufferBeforeMinutes": before, "bufferAfterMinutes": after, "seatsPerSlot": seats,
            "hosts": of, "assignment": assignment,
            "schedule": { "timeZone": "UTC", "weekly": weekly },
            "notifications": { "invitee": false, "hosts": false },
        });
        let event_type = made(hosts, EVENT_TYPES, &body, slug).await;
        ids.push((text(&event_type["id"]), step * MINUTE_MS));
    }
    ids
}

/// Compares the database with what was acknowledged: each booking once, in its last acknowledged state, and no other.
fn each_is_there_once(stored: &BTreeMap<String, (String, i64)>, all: &[Booked]) {
    let of = |one: &Booked| (one.id.clone(), (one.status.to_owned(), one.start_ms));
    let acknowledged: BTreeMap<String, (String, i64)> = all.iter().map(of).collect();
    assert_eq!(acknowledged.len(), all.len(), "two tries have the same booking");
    let other: Vec<_> =
        stored.iter().filter(|(id, is)| acknowledged.get(*id) != Some(*is)).take(10).collect();
    assert!(other.is_empty(), "these were not acknowledged so: {other:?}");
    let lost: Vec<_> = acknowledged.keys().filter(|id| !stored.contains_key(*id)).take(10).collect();
    assert!(lost.is_empty(), "these were acknowledged and are not there: {lost:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn however_many_book_no_host_is_in_two_places() {
    let tries = std::env::var("BOOKING_TRIES")
        .map_or(DEFAULT_BOOKINGS, |n| n.parse().expect("BOOKING_TRIES is a number"));
    let database = match std::env::var("SWITCHBOARD_TEST_DATABASE_URL") {
        Ok(url) => Some(harness::own_schema(&url).await.expect("a schema of its own")),
        Err(_) => None,
    };
    let provider = TestServer::start().await;
    let http = Client::builder().no_proxy().timeout(PATIENCE).build().expect("a client");
    let (mut processes, hosts, db) = kills::open(database.as_deref(), &SETTINGS, &http).await;
    let event_types = event_types(&hosts, &provider).await;
    let now = Clock::system().now_ms();
    let world = Arc::new(World {
        hosts,
        event_types,
        first_ms: now - now.rem_euclid(DAY_MS) + 2 * DAY_MS,
        tries,
        next: AtomicU64::new(0),
        is_down: AtomicBool::new(false),
        counted: Counters::default(),
    });

    let began = Moment::now();
    let clients: Vec<_> = (0..CLIENTS).map(|client| tokio::spawn(work(world.clone(), client))).collect();
    let kills = 1 + tries / TRIES_A_KILL;
    for kill in 0..kills {
        // A little earlier than all have ended, and each time at another place.
        world.until(tries * (kill + 1) / (kills + 1) + kill % 7).await;
        let count = processes.len();
        world.kill(&mut processes[kill as usize % count]).await;
    }
    let mut all = Vec::new();
    for client in clients {
        all.extend(client.await.expect("a client ends well"));
    }
    let seconds = began.elapsed().as_secs();
    // Nothing is written any more.
    processes.iter_mut().for_each(Process::kill);

    each_is_there_once(&checker::bookings(&db).await, &all);
    let checked = checker::check(&db).await;
    let Counters { conflicts, moves, cancels, kills, lost, put_off, .. } = &world.counted;
    let [conflicts, moves, cancels, kills, lost, put_off] =
        [conflicts, moves, cancels, kills, lost, put_off].map(read);
    println!(
        "{tries} tries: {} bookings, {conflicts} conflicts, {moves} moves, {cancels} cancelled, {kills} kills, {lost} connections lost, \
         {put_off} put off, {seconds} s; {checked}",
        all.len()
    );
    assert_eq!(read(&world.counted.tries), tries);
    for (what, count) in [("conflict", conflicts), ("move", moves), ("cancel", cancels), ("loss", lost)] {
        assert!(count > 0, "there was no {what}: this proves nothing");
    }
    assert!(checked.bookings > 0 && checked.pairs > 0, "the clients got somewhere");
    db.close().await;
}
