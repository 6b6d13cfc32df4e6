//! Bookings and webhooks after a `kill -9`: no acknowledged write is lost, no slot is given twice, and a request that is repeated under
//! its Idempotency-Key books once. The service runs as a process of its own, or as two on one PostgreSQL; the provider and the endpoint
//! of the webhook run in this one and live on.
//!
//! `CRASH_KILLS=50 cargo xtask test -- -p switchboard-tests --test api kills::` kills more often.

use std::collections::{BTreeMap, BTreeSet};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use axum::body::Bytes;
use base::clock::Clock;
use harness::receiver::Receiver;
use harness::{Actor, TestServer};
use model::Instant;
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use storage::sql::query;
use storage::{Db, Options};
use tempfile::TempDir;

use crate::crash::{Stubborn, key_with, serve_with};
use crate::dav::peer;

/// How often a service is killed, where `CRASH_KILLS` does not say another number.
const KILLS: u64 = 8;
/// Pairs of clients that compete for the same slots.
const PAIRS: i64 = 2;
const WRITERS: usize = 2;
const BOOKINGS: &str = "/v1/scheduling/bookings";
/// A slot, ms; how many of a day are booked; and a day, ms.
const SLOT_MS: i64 = 15 * 60_000;
const SLOTS_A_DAY: i64 = 90;
const DAY_MS: i64 = 86_400_000;
/// A job that has lost its host again and again waits for up to five minutes.
const LIMIT: Duration = Duration::from_secs(360);
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// The events that the webhook wants.
const LINES: &str = "select id, sequence from log where origin <> 'backfill' \
                     and (type like 'calendar.event.%' or type like 'booking.%') order by sequence";

fn kills() -> u64 {
    std::env::var("CRASH_KILLS").map_or(KILLS, |n| n.parse().expect("CRASH_KILLS is a number"))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

/// A process of the service. Its database is in its data directory, or its settings name it.
pub struct Process {
    child: Child,
    pub data: TempDir,
    port: u16,
    settings: Vec<String>,
}

/// The setting that names the database, for each command of the service.
pub fn naming(database: Option<&str>) -> Vec<&str> {
    database.into_iter().flat_map(|url| ["--database-url", url]).collect()
}

fn begin(data: &Path, port: u16, settings: &[String]) -> Child {
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    serve_with(data, port, &settings)
}

impl Process {
    /// Starts a process, and waits until it is ready; its client has no key yet.
    pub async fn start(database: Option<&str>, http: &Client) -> (Process, Stubborn) {
        Process::start_with(database, &[], http).await
    }

    /// Starts a process with more settings.
    pub async fn start_with(database: Option<&str>, settings: &[&str], http: &Client) -> (Process, Stubborn) {
        let all = naming(database).into_iter().chain(["--webhook-allow", "127.0.0.0/8"]);
        let settings: Vec<String> = all.chain(settings.iter().copied()).map(str::to_owned).collect();
        let data = tempfile::tempdir().expect("a data directory");
        harness::share_compiled_code(data.path());
        let port = TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a port").port();
        let child = begin(data.path(), port, &settings);
        let process = Process { child, data, port, settings };
        let api =
            Stubborn { http: http.clone(), base: format!("http://127.0.0.1:{port}"), key: String::new() };
        api.ready().await;
        (process, api)
    }

    /// Kills it without warning.
    pub fn kill(&mut self) {
        self.child.kill().expect("the service is killed");
        self.child.wait().expect("it ended");
    }

    /// Asks it to end, as a supervisor does.
    pub fn terminate(&self) {
        let asked = Command::new("kill").arg(self.child.id().to_string()).status().expect("kill exists");
        assert!(asked.success());
    }

    /// Waits until the process has ended by itself, and starts another one on the same data, which is not ready yet.
    pub fn end_and_start(&mut self) -> ExitStatus {
        let ended = self.child.wait().expect("it ends");
        self.child = begin(self.data.path(), self.port, &self.settings);
        ended
    }

    /// Kills the process without warning, and starts another one on the same data, which is not ready yet.
    pub fn kill_and_start(&mut self) {
        self.kill();
        self.child = begin(self.data.path(), self.port, &self.settings);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // A test that failed leaves nothing behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts one process, or two on this database, with a key for both of them; and their database.
pub async fn open(
    database: Option<&str>,
    settings: &[&str],
    http: &Client,
) -> (Vec<Process>, Vec<Stubborn>, Db) {
    let (mut processes, mut hosts) = (Vec::new(), Vec::new());
    for _ in 0..database.map_or(1, |_| 2) {
        let (process, api) = Process::start_with(database, settings, http).await;
        processes.push(process);
        hosts.push(api);
    }
    let data = processes[0].data.path();
    let key = key_with(data, &naming(database));
    hosts.iter_mut().for_each(|host| host.key.clone_from(&key));
    let file = format!("sqlite://{}", data.join("switchboard.db").display());
    let options = Options::for_url(database.map_or(file, str::to_owned));
    let db = Db::connect(&options).await.expect("the database");
    (processes, hosts, db)
}

/// Sends a request until a host gives a final answer, as a client should: the same request under the same key, to one host after the
/// other.
pub async fn answered(
    hosts: &[Stubborn],
    first: usize,
    (method, path): (&str, &str),
    body: &Value,
    key: &str,
) -> (StatusCode, Value) {
    let mut next = first;
    loop {
        let host = &hosts[next % hosts.len()];
        if let Some((status, answer)) = host.try_once(method, path, body, key).await {
            let is_running = answer["error"]["code"] == "idempotency_in_progress";
            if !status.is_server_error() && !is_running {
                return (status, answer);
            }
        }
        next += 1;
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Sends a POST request that must succeed, and returns its response.
pub async fn made(hosts: &[Stubborn], path: &str, body: &Value) -> Value {
    let (status, answer) = answered(hosts, 0, ("POST", path), body, path).await;
    assert!(status.is_success(), "{path}: {status} {answer}");
    answer
}

/// The state that the clients share.
struct World {
    hosts: Vec<Stubborn>,
    event_type: String,
    /// The path of the calendar's events.
    events: String,
    /// When the first slot begins, in milliseconds since 1970.
    first_ms: i64,
    stop: AtomicBool,
    answers: AtomicU64,
}

/// A booking that was acknowledged.
struct Booked {
    slot: i64,
    body: Value,
    key: String,
    answer: Value,
}

impl World {
    fn booking(&self, slot: i64, client: usize) -> Value {
        let start_ms = self.first_ms + slot / SLOTS_A_DAY * DAY_MS + slot % SLOTS_A_DAY * SLOT_MS;
        json!({
            "eventTypeId": self.event_type, "start": Instant::from_millis(start_ms).to_string(),
            "inviteeEmail": format!("client{client}@example.org"),
        })
    }

    fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::SeqCst)
    }

    fn acknowledged(&self) -> u64 {
        self.answers.load(Ordering::SeqCst)
    }
}

/// Books one slot after the other, each in competition with another client. Returns its bookings, and the number of slots that it tried.
async fn book(world: Arc<World>, pair: i64, client: usize) -> (Vec<Booked>, i64) {
    let (mut booked, mut n) = (Vec::new(), 0);
    while world.goes_on() {
        let slot = n * PAIRS + pair;
        let (key, body) = (format!("book {pair}-{client}-{n}"), world.booking(slot, client));
        let (status, answer) = answered(&world.hosts, client, ("POST", BOOKINGS), &body, &key).await;
        match status {
            StatusCode::CREATED => booked.push(Booked { slot, body, key, answer }),
            _ => assert_eq!(
                (status, &answer["error"]["code"]),
                (StatusCode::CONFLICT, &json!("slot_unavailable")),
                "{key}: {answer}"
            ),
        }
        world.answers.fetch_add(1, Ordering::SeqCst);
        n += 1;
    }
    (booked, n)
}

/// Makes events and changes each. The ids of those of which both were acknowledged.
async fn write(world: Arc<World>, writer: usize) -> Vec<String> {
    let (mut ids, mut n) = (Vec::new(), 0);
    while world.goes_on() {
        let title = format!("event {writer}-{n}");
        let body = json!({ "title": title, "start": "2026-03-02T11:00:00Z", "end": "2026-03-02T12:00:00Z" });
        let of = ("POST", world.events.as_str());
        let (status, event) = answered(&world.hosts, writer, of, &body, &format!("make {title}")).await;
        assert_eq!(status, StatusCode::CREATED, "{event}");
        let change = json!({ "location": "Room 1", "etag": event["etag"] });
        let path = format!("{}/{}", world.events, text(&event["id"]));
        let of = ("PATCH", path.as_str());
        let key = format!("change {title}");
        let (status, changed) = answered(&world.hosts, writer + 1, of, &change, &key).await;
        assert_eq!(status, StatusCode::OK, "{changed}");
        ids.push(text(&event["id"]));
        world.answers.fetch_add(1, Ordering::SeqCst);
        n += 1;
    }
    ids
}

/// The notifications that the endpoint has received.
#[derive(Default)]
struct Arrived {
    /// The bodies by the ids of the notifications.
    bodies: BTreeMap<String, Bytes>,
    repeats: usize,
}

impl Arrived {
    /// Takes the received requests. Each is signed, and a repeated one has the same body.
    fn take(&mut self, receiver: &mut Receiver, secret: &str) {
        for received in receiver.taken() {
            let id = received.header("webhook-id").to_owned();
            assert!(received.is_signed(secret), "{id} is not signed: {received:?}");
            match self.bodies.get(&id) {
                None => {
                    self.bodies.insert(id, received.body);
                }
                Some(first) => {
                    assert_eq!(*first, received.body, "{id} has another body");
                    self.repeats += 1;
                }
            }
        }
    }

    /// Returns the resource ids of the notifications of each type.
    fn told(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut told: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for body in self.bodies.values() {
            let body: Value = serde_json::from_slice(body).expect("JSON");
            told.entry(text(&body["type"])).or_default().insert(text(&body["data"]["resourceId"]));
        }
        told
    }
}

/// A service with a calendar that can be booked, its provider, and the endpoint of its webhook.
struct Scene {
    world: Arc<World>,
    processes: Vec<Process>,
    db: Db,
    provider: TestServer,
    /// The provider's id of the calendar.
    calendar: String,
    receiver: Receiver,
    secret: String,
}

impl Scene {
    /// One process, or two on this database.
    async fn open(database: Option<&str>) -> Scene {
        let (provider, receiver) = (TestServer::start().await, Receiver::start().await);
        let http = Client::builder().no_proxy().timeout(Duration::from_secs(20)).build().expect("a client");
        let (processes, hosts, db) = open(database, &[], &http).await;
        let account = json!({
            "provider": "sandbox", "settings": { "serverUrl": format!("http://{}/sandbox", provider.address) },
            "credentials": { "username": "carol@sandbox.test", "password": "sandbox" },
            "scopes": ["calendar.read", "calendar.write"],
        });
        let connection = made(&hosts, "/v1/connections", &account).await;
        let calendar = json!({ "connectionId": connection["id"], "name": "Crashes", "timeZone": "UTC" });
        let calendar = made(&hosts, "/v1/calendars", &calendar).await;
        let event_type = json!({
            "slug": "intro", "title": "Intro call", "durationMinutes": SLOT_MS / 60_000,
            "hosts": [{
                "connectionId": connection["id"], "calendarId": calendar["id"],
                "conflictCalendarIds": [calendar["id"]],
            }],
            "schedule": {
                "timeZone": "UTC",
                "weekly": [{ "days": [1, 2, 3, 4, 5, 6, 7], "start": "00:00", "end": "23:00" }],
            },
        });
        let event_type = made(&hosts, "/v1/scheduling/event-types", &event_type).await;
        let webhook = json!({ "url": receiver.url(), "eventTypes": ["calendar.event.*", "booking.*"] });
        let webhook = made(&hosts, "/v1/webhooks", &webhook).await;
        let now = Clock::system().now_ms();
        let world = World {
            hosts,
            event_type: text(&event_type["id"]),
            events: format!("/v1/calendars/{}/events", text(&calendar["id"])),
            first_ms: now - now.rem_euclid(DAY_MS) + 2 * DAY_MS,
            stop: AtomicBool::new(false),
            answers: AtomicU64::new(0),
        };
        let (calendar, secret) = (text(&calendar["externalId"]), text(&webhook["secret"]));
        Scene { world: Arc::new(world), processes, db, provider, calendar, receiver, secret }
    }

    async fn ready(&self) {
        for host in &self.world.hosts {
            host.ready().await;
        }
    }

    /// Kills the processes alternately, each time during the first answers after the start.
    async fn kill(&mut self, kills: u64) {
        for kill in 0..kills {
            self.ready().await;
            // With another host beside it, not before that one has made progress.
            let others = self.processes.len() as u64 - 1;
            let wanted = self.world.acknowledged() + kill % 4 + others;
            let mut waited = 0;
            while self.world.acknowledged() < wanted && waited < 400 {
                tokio::time::sleep(POLL_INTERVAL).await;
                waited += 1;
            }
            tokio::time::sleep(Duration::from_millis(kill * 7 % 60)).await;
            let count = self.processes.len();
            self.processes[kill as usize % count].kill_and_start();
        }
        self.ready().await;
    }

    /// Has clients book and write while the service is killed, and checks the result.
    async fn survives(mut self, kills: u64) {
        let world = self.world.clone();
        let bookers: Vec<_> = (0..PAIRS)
            .flat_map(|pair| [0, 1].map(|client| (pair, client)))
            .map(|(pair, client)| tokio::spawn(book(world.clone(), pair, client)))
            .collect();
        let writers: Vec<_> = (0..WRITERS).map(|writer| tokio::spawn(write(world.clone(), writer))).collect();
        self.kill(kills).await;
        world.stop.store(true, Ordering::SeqCst);
        let (mut booked, mut asked, mut written) = (Vec::new(), Vec::new(), Vec::new());
        for booker in bookers {
            let (got, n) = booker.await.expect("a client ends well");
            booked.extend(got);
            asked.push(n);
        }
        for writer in writers {
            written.extend(writer.await.expect("a client ends well"));
        }
        self.no_slot_is_given_twice(&booked, &asked);
        self.requests_that_are_repeated_book_nothing(&booked).await;
        self.each_booking_is_in_the_calendar_once(&booked).await;
        let repeats = self.everything_arrives(&booked, &written).await;
        println!(
            "{kills} kills: {} bookings and {} events acknowledged, {repeats} notifications came again",
            booked.len(),
            written.len()
        );
        self.db.close().await;
    }

    /// Exactly one of two clients that want the same slot gets it.
    fn no_slot_is_given_twice(&self, booked: &[Booked], asked: &[i64]) {
        let mut slots = BTreeSet::new();
        for one in booked {
            assert!(slots.insert(one.slot), "slot {} was given twice", one.slot);
        }
        for (pair, both) in asked.chunks(2).enumerate() {
            let most = both.iter().min().copied().unwrap_or_default();
            for n in 0..most {
                assert!(slots.contains(&(n * PAIRS + pair as i64)), "nobody has slot {n} of pair {pair}");
            }
        }
    }

    async fn requests_that_are_repeated_book_nothing(&self, booked: &[Booked]) {
        for one in booked {
            let of = ("POST", BOOKINGS);
            let (status, answer) = answered(&self.world.hosts, 0, of, &one.body, &one.key).await;
            assert_eq!((status, &answer), (StatusCode::CREATED, &one.answer), "{}", one.key);
        }
        let sql = "select count(*) as n from bookings";
        let count: i64 = query(sql).fetch_one(self.db.reader(), |row| row.get("n")).await.expect("a number");
        assert_eq!(count, booked.len() as i64, "there are bookings that nobody knows of");
    }

    async fn each_booking_is_in_the_calendar_once(&self, booked: &[Booked]) {
        let wanted: BTreeSet<String> = booked.iter().map(|one| text(&one.answer["iCalUid"])).collect();
        let carol = self.provider.provider("carol");
        let end = std::time::Instant::now() + LIMIT;
        loop {
            let events = at_provider(&carol, &self.calendar).await;
            let uids = events.iter().map(|event| text(&event["iCalUid"]));
            let there: BTreeSet<String> = uids.collect();
            assert_eq!(there.len(), events.len(), "an event is in the calendar twice");
            let mut of_writers = BTreeSet::new();
            let subjects = events.iter().filter_map(|event| event["title"].as_str());
            for subject in subjects.filter(|subject| subject.starts_with("event ")) {
                assert!(of_writers.insert(subject), "{subject} was made twice");
            }
            if wanted.is_subset(&there) {
                assert_eq!(events.len(), wanted.len() + of_writers.len(), "there are events of no booking");
                return;
            }
            let missing: Vec<_> = wanted.difference(&there).collect();
            assert!(std::time::Instant::now() < end, "not in the calendar: {missing:?}");
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Every line of the log that the webhook wants arrives, with its number. How many came more than once.
    async fn everything_arrives(&mut self, booked: &[Booked], written: &[String]) -> usize {
        let mut arrived = Arrived::default();
        let end = std::time::Instant::now() + LIMIT;
        let lines = loop {
            let lines = log_lines(&self.db).await;
            arrived.take(&mut self.receiver, &self.secret);
            let missing: Vec<_> = lines.iter().filter(|(id, _)| !arrived.bodies.contains_key(id)).collect();
            if missing.is_empty() {
                break lines;
            }
            assert!(std::time::Instant::now() < end, "these never arrived: {missing:?}");
            tokio::time::sleep(POLL_INTERVAL).await;
        };
        for (id, sequence) in lines {
            let body: Value = serde_json::from_slice(&arrived.bodies[&id]).expect("JSON");
            assert_eq!((&body["id"], &body["sequence"]), (&json!(id), &json!(sequence)));
        }
        let told = arrived.told();
        let is_told = |kind: &str, id: &str| told.get(kind).is_some_and(|ids| ids.contains(id));
        for one in booked {
            let id = text(&one.answer["id"]);
            assert!(is_told("booking.created", &id) && is_told("booking.confirmed", &id), "{}", one.key);
        }
        for id in written {
            assert!(is_told("calendar.event.created", id) && is_told("calendar.event.updated", id), "{id}");
        }
        arrived.repeats
    }
}

/// The events of a calendar as the provider has them.
async fn at_provider(provider: &Actor, calendar: &str) -> Vec<Value> {
    let (mut events, mut query) = (Vec::new(), "limit=100".to_owned());
    loop {
        let path = format!("/sandbox/v1/calendars/{calendar}/events?{query}");
        let page = provider.get(path).send().await.expect(200);
        events.extend(page["events"].as_array().expect("a list").iter().cloned());
        match page["nextPageToken"].as_str() {
            Some(token) => query = format!("pageToken={token}"),
            None => return events,
        }
    }
}

/// The lines of the log that the webhook wants: ids and numbers.
async fn log_lines(db: &Db) -> Vec<(String, i64)> {
    let line = query(LINES).fetch_all(db.reader(), |row| Ok((row.get("id")?, row.get("sequence")?)));
    line.await.expect("the log")
}

/// The one process of a SQLite database.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kills_lose_no_notification_and_give_no_slot_twice() {
    Scene::open(None).await.survives(kills()).await;
}

/// Two processes on one PostgreSQL: while one is killed the other continues, and takes over its jobs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_hosts_the_other_goes_on() {
    let Some(url) = peer("POSTGRES_URL") else { return };
    let url = harness::own_schema(&url).await.expect("a schema of its own");
    Scene::open(Some(&url)).await.survives(kills().div_ceil(2)).await;
}

/// Killed while the provider is asked whether the slot is free, and killed when it has the event and this service does not know yet.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_before_and_after_a_booking_is_written() {
    let mut scene = Scene::open(None).await;
    let carol = scene.provider.provider("carol");
    let path = format!("/sandbox/v1/calendars/{}/events", scene.calendar);
    let mut booked = Vec::new();
    for (slot, method) in [(0, "GET"), (1, "POST")] {
        let fault = json!({ "method": method, "pathPrefix": path, "heldAnswer": true });
        carol.post("/sandbox/faults", fault).send().await.expect(201);
        let (world, body) = (scene.world.clone(), scene.world.booking(slot, 0));
        let sent = body.clone();
        let first =
            tokio::spawn(async move { world.hosts[0].try_once("POST", BOOKINGS, &sent, method).await });
        while carol.get("/sandbox/faults").send().await.expect(200)["held"] != 1 {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        scene.processes[0].kill_and_start();
        carol.delete("/sandbox/faults").send().await.expect(204);
        scene.ready().await;
        let first = first.await.expect("the request is sent");
        assert!(method == "POST" || first.is_none(), "it was answered before the calendar was read");
        let (status, answer) = answered(&scene.world.hosts, 0, ("POST", BOOKINGS), &body, method).await;
        assert_eq!(status, StatusCode::CREATED, "{answer}");
        assert!(first.is_none_or(|(_, first)| first == answer), "another booking");
        booked.push(Booked { slot, body, key: method.to_owned(), answer });
    }
    scene.requests_that_are_repeated_book_nothing(&booked).await;
    scene.each_booking_is_in_the_calendar_once(&booked).await;
    scene.db.close().await;
}

/// Killed while the endpoint has a notification and has not answered: it is delivered again, unchanged.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_before_the_endpoint_answers() {
    let mut scene = Scene::open(None).await;
    let held = scene.receiver.hold().await;
    let body = json!({ "title": "Event", "start": "2026-03-02T11:00:00Z", "end": "2026-03-02T12:00:00Z" });
    made(&scene.world.hosts, &scene.world.events, &body).await;
    let first = scene.receiver.next().await;
    scene.processes[0].kill_and_start();
    drop(held);
    let again = scene.receiver.next().await;
    assert_eq!(again.header("webhook-id"), first.header("webhook-id"));
    assert_eq!(again.body, first.body);
    assert!(first.is_signed(&scene.secret) && again.is_signed(&scene.secret));
    scene.db.close().await;
}
