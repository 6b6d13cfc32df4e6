//! Statements of work on many records: deletions, resets, clean-ups, webhooks, pools of hosts, bookings and the outbox. Each is measured
//! with few records and with many, so that no figure has to be known in advance: the difference is the cost per record.

use base::tenant::Tenant;
use harness::receiver::Receiver;
use harness::{Actor, Ask, TestServer};
use http::Method;
use serde_json::{Value, json};
use service::app::event_log::{NewLogEntry, Origin, append};
use service::bookings::event_write::BOOKING_EVENT;
use service::bookings::host_changes::BOOKING_RECHECK;
use service::job_runner::kind::JobKind;
use service::job_runner::runner;
use service::jobs::pull::PULL;
use service::jobs::upkeep::{self, CLEAN, PURGE};
use service::sending::dispatch::SEND;
use service::webhooks::delivery::DELIVER;
use service::webhooks::fanout::FANOUT;
use storage::api_keys;

use super::statements::{HOUR_MS, event};
use crate::email::mailbox::{Mailbox, Provider, text};

const FEW_ROWS: usize = 5;
const MANY_ROWS: usize = 20;
const DAY_MS: i64 = 24 * HOUR_MS;

/// Statements of a delivery that it shares with no other: the webhook's state and the event are read before each attempt. If no other
/// attempt ends at the same moment, these are also written for it only: usage, webhook, delivery, waiting deliveries (a read and a
/// write), and the job's fence.
const OF_A_DELIVERY: u64 = 8;
/// Statements of the busy times of a host whose calendars were just read. Where hosts share the database: how old the list of calendars is,
/// how old the calendar is, and the number of its last entry in the log.
const OF_A_BUSY_HOST: u64 = 3;
/// Statements of the busy times of a host in days of which they were not worked out before: besides, single events, series and exceptions.
const OF_A_READ_HOST: u64 = OF_A_BUSY_HOST + 4;
/// Statements of the deletion of a message's rows, about twenty of them: a step of 500 rows reads and writes its progress.
const OF_A_REMOVED_MESSAGE: u64 = 1;

/// Measures with few and with many records; fails where the many need more statements than `for_each` for each one more.
async fn assert_bounded(what: &str, for_each: u64, measure: impl AsyncFn(usize) -> u64) {
    let (few, many) = (measure(FEW_ROWS).await, measure(MANY_ROWS).await);
    eprintln!("{what}: {few} statements for {FEW_ROWS}, {many} for {MANY_ROWS}");
    assert!(few > 0, "{what}: no statement was counted");
    let most = few + for_each * (MANY_ROWS - FEW_ROWS) as u64;
    assert!(
        many <= most,
        "{what}: {few} statements for {FEW_ROWS}, {many} for {MANY_ROWS}, which may need {most}"
    );
}

/// Measures work that handles each record separately, by a job or a call: the cost per record must not grow with their number.
async fn assert_linear(what: &str, measure: impl AsyncFn(usize) -> u64) {
    let (few, many) = (measure(FEW_ROWS).await, measure(MANY_ROWS).await);
    eprintln!("{what}: {few} statements for {FEW_ROWS}, {many} for {MANY_ROWS}");
    assert!(few > 0, "{what}: no statement was counted");
    let most = few.div_ceil(FEW_ROWS as u64) * MANY_ROWS as u64;
    assert!(
        many <= most,
        "{what}: {few} statements for {FEW_ROWS}, {many} for {MANY_ROWS}, which may need {most}"
    );
}

/// Statements of jobs of these kinds so far.
fn of_jobs(server: &TestServer, kinds: &[JobKind]) -> u64 {
    kinds.iter().map(|kind| server.app.metrics.job_statements(kind.name).statements).sum()
}

/// Runs the due jobs of these kinds; returns the number of statements.
async fn run(server: &TestServer, kinds: &[JobKind]) -> u64 {
    let before = of_jobs(server, kinds);
    runner::drain(&server.app, kinds).await.expect("the jobs are run");
    of_jobs(server, kinds) - before
}

/// Sends a request of this route; how many statements it took, and its answer.
async fn request(server: &TestServer, method: Method, route: &str, ask: Ask) -> (u64, Value) {
    server.clock.advance_ms(1);
    let before = server.app.metrics.request_statements(route, &method).statements;
    let answer = ask.send().await;
    assert!((200..300).contains(&answer.status), "{route}: {answer}");
    let statements = server.app.metrics.request_statements(route, &method).statements - before;
    (statements, answer.answer)
}

/// Starts a server with a followed calendar that has this many events; returns the path of the calendar.
async fn with_events(count: usize) -> (TestServer, Actor, String) {
    let server = TestServer::builder().without_pulls().start().await;
    let (api, provider) = (server.client().await, server.provider("zoe"));
    let connection = api.connect_account("zoe").await;
    let body = json!({ "connectionId": connection, "name": "Full", "timeZone": "UTC" });
    let calendar = api.post("/v1/calendars", body).send().await.expect(201);
    let path = format!("/v1/calendars/{}", text(&calendar["id"]));
    api.post(format!("{path}/sync/start"), json!({})).send().await.expect(202);
    server.pull().await;
    let theirs = format!("/sandbox/v1/calendars/{}/events", text(&calendar["externalId"]));
    for n in 0..count {
        provider.post(&theirs, event(n)).send().await.expect(201);
    }
    server.clock.advance_ms(HOUR_MS);
    server.pull().await;
    assert_eq!(api.all(&format!("{path}/events")).await.len(), count);
    (server, api, path)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_deletion_of_a_calendar() {
    assert_bounded("delete a calendar with its events", 0, async |count| {
        let (server, api, path) = with_events(count).await;
        let ask = api.delete(&path);
        request(&server, Method::DELETE, "/v1/calendars/{calendarId}", ask).await.0
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reset_and_the_pull_after_it() {
    assert_bounded("read a calendar again after a reset", 0, async |count| {
        let (server, api, path) = with_events(count).await;
        let route = "/v1/calendars/{calendarId}/sync/reset";
        let ask = api.post(format!("{path}/sync/reset"), json!({ "mode": "hard" }));
        let (reset, _) = request(&server, Method::POST, route, ask).await;
        let before = of_jobs(&server, &[PULL]);
        assert!(server.pull().await > 0, "nothing was due");
        let pulled = of_jobs(&server, &[PULL]) - before;
        assert_eq!(api.all(&format!("{path}/events")).await.len(), count);
        reset + pulled
    })
    .await;
}

/// Runs all sweeps; how many statements they took.
async fn clean(server: &TestServer) -> u64 {
    let now = server.app.now();
    let made: anyhow::Result<u64> =
        server.app.db.write(move |tx| Box::pin(async move { upkeep::ensure(tx, now).await })).await;
    made.expect("the jobs are made");
    run(server, &[CLEAN]).await
}

/// Makes tasks and deletes them, which leaves tombstones, entries of the log and stored answers.
async fn delete_tasks(api: &Actor, count: usize) {
    let connection = api.connect_account("zoe").await;
    let list = api.named(&format!("/v1/task-lists?connection_id={connection}"), "Tasks").await;
    for n in 0..count {
        let task = json!({ "title": format!("Task {n}"), "checklist": [{ "title": "One" }] });
        let ask = api.post(format!("/v1/task-lists/{list}/tasks"), task).keyed(&format!("task-{n}"));
        let made = ask.send().await.expect(201);
        let path = format!("/v1/task-lists/{list}/tasks/{}", text(&made["id"]));
        api.delete(path).send().await.expect(204);
    }
}

/// Sends this number of tracked messages.
async fn send_letters(mailbox: &Mailbox, count: usize) {
    for n in 0..count {
        let (subject, body) = (format!("Letter {n}"), json!({ "text": "Hi", "html": "<p>Hi</p>" }));
        mailbox.submit(json!({ "subject": subject, "body": body, "tracking": { "opens": true } })).await;
    }
    mailbox.server.hand_over().await;
}

/// Starts a server with this number of deleted tasks, sent messages and bookings.
async fn with_old_records(count: usize) -> TestServer {
    let server = TestServer::builder().config(|c| c.public_url = Some("https://us.test".to_owned()));
    let mailbox = Mailbox::open_with(Provider::Sandbox, server).await.expect("a sandbox");
    send_letters(&mailbox, count).await;
    let Mailbox { server, api, .. } = mailbox;
    delete_tasks(&api, count).await;
    let event_type = pool(&api, 1, json!({})).await;
    for n in 0..count {
        api.post(BOOKINGS, booking(&event_type, n)).send().await.expect(201);
    }
    run(&server, &[BOOKING_EVENT]).await;
    server
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_clean_up_of_what_is_old() {
    assert_bounded("forget tasks, messages and bookings", 0, async |count| {
        let server = with_old_records(count).await;
        let mut statements = 0;
        // Entries of the log and tombstones go after a month, people of bookings after a year, bookings and usage after two.
        for days in [31, 400, 400] {
            server.clock.advance_ms(days * DAY_MS);
            statements += clean(&server).await;
        }
        let sql = "select (select count(*) from bookings) + (select count(*) from outbox) \
                   + (select count(*) from items where deleted_at is not null) as n";
        let left =
            storage::sql::query(sql).fetch_one(server.app.db.reader(), |row| row.get::<i64>("n")).await;
        assert_eq!(left.expect("a number"), 0, "all of it is gone");
        statements
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_removal_of_an_account() {
    assert_bounded("remove an account with its messages", OF_A_REMOVED_MESSAGE, async |count| {
        let server = TestServer::builder().config(|c| c.public_url = Some("https://us.test".to_owned()));
        let mailbox = Mailbox::open_with(Provider::Sandbox, server).await.expect("a sandbox");
        send_letters(&mailbox, count).await;
        let ask = mailbox.api.delete(format!("/v1/connections/{}", mailbox.connection));
        let route = "/v1/connections/{connectionId}";
        let (deleted, _) = request(&mailbox.server, Method::DELETE, route, ask).await;
        deleted + run(&mailbox.server, &[PURGE]).await
    })
    .await;
}

/// Logs this number of events of an account, each about another calendar event.
async fn log_events(server: &TestServer, connection: &str, count: usize) {
    let note = |n: usize| NewLogEntry {
        connection_id: Some(connection.to_owned()),
        account_ids: None,
        entry_type: "calendar.event.created".to_owned(),
        change_type: "created",
        resource_type: "calendar.event",
        resource_id: format!("evt_{n}"),
        parent_id: String::new(),
        changed_fields: None,
        etag: None,
        origin: Origin::Api,
        resource: Some(json!({ "title": format!("event {n}") }).to_string()),
    };
    let notes: Vec<NewLogEntry> = (0..count).map(note).collect();
    let tenant: Tenant = api_keys::tenants(server.app.db.reader()).await.expect("a query").remove(0);
    let (app, db) = (server.app.clone(), server.app.db.clone());
    let written: base::error::Result<i64> =
        db.write(move |tx| Box::pin(async move { append(tx, &app, &tenant, notes).await })).await;
    written.expect("the events are logged");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_delivery_of_events() {
    assert_bounded("deliver events to a webhook", OF_A_DELIVERY, async |count| {
        let loopback = "127.0.0.0/8".parse().expect("a network");
        let server = TestServer::builder().config(|config| config.webhook_allow = vec![loopback]);
        let server = server.start().await;
        let (api, mut receiver) = (server.client().await, Receiver::start().await);
        let connection = api.connect_account("zoe").await;
        let hook = json!({ "url": receiver.url(), "eventTypes": ["calendar.event.created"] });
        api.post("/v1/webhooks", hook).send().await.expect(201);
        server.deliver().await;
        let before = of_jobs(&server, &[FANOUT, DELIVER]);
        log_events(&server, &connection, count).await;
        server.deliver().await;
        assert_eq!(receiver.taken().len(), count, "each event came once");
        of_jobs(&server, &[FANOUT, DELIVER]) - before
    })
    .await;
}

const BOOKINGS: &str = "/v1/scheduling/bookings";
const SLOTS: &str = "/v1/scheduling/availability/query";
const FREE_BUSY: &str = "/v1/calendars/freebusy/query";

/// Makes the hosts of a pool: new accounts, each with a calendar that was just read.
async fn hosts(api: &Actor, count: usize) -> Vec<Value> {
    let mut hosts = Vec::new();
    for n in 0..count {
        let connection = api.connect_account(&format!("host{n}")).await;
        let body = json!({ "connectionId": connection, "name": "Bookings", "timeZone": "UTC" });
        let calendar = api.post("/v1/calendars", body).send().await.expect(201)["id"].clone();
        api.get(format!("/v1/calendars?connection_id={connection}")).send().await.expect(200);
        api.get(format!("/v1/calendars/{}/events", text(&calendar))).send().await.expect(200);
        let conflicts = [calendar.clone()];
        hosts.push(
            json!({ "connectionId": connection, "calendarId": calendar, "conflictCalendarIds": conflicts }),
        );
    }
    hosts
}

/// An event type of half an hour with these hosts; its id.
async fn open(api: &Actor, hosts: &[Value], fields: Value) -> String {
    let mut body = json!({
        "slug": "pool", "title": "Intro call", "durationMinutes": 30, "hosts": hosts,
        "schedule": {
            "timeZone": "UTC",
            "weekly": [{ "days": [1, 2, 3, 4, 5, 6, 7], "start": "08:00", "end": "20:00" }],
        },
    });
    for (name, value) in fields.as_object().expect("an object") {
        body[name] = value.clone();
    }
    text(&api.post("/v1/scheduling/event-types", body).send().await.expect(201)["id"])
}

/// Makes an event type with this number of new hosts, and returns its id.
async fn pool(api: &Actor, count: usize, fields: Value) -> String {
    open(api, &hosts(api, count).await, fields).await
}

/// A booking of the slot with this number, of which a day has twenty.
fn booking(event_type: &str, n: usize) -> Value {
    let (day, minutes) = (10 + n / 20, 8 * 60 + n % 20 * 30);
    json!({
        "eventTypeId": event_type, "inviteeEmail": format!("ada{n}@example.org"), "inviteeName": "Ada",
        "start": format!("2026-03-{day:02}T{:02}:{:02}:00Z", minutes / 60, minutes % 60),
    })
}

/// A server that caches what it has read of accounts for a minute.
async fn patient() -> (TestServer, Actor) {
    let server = TestServer::builder().config(|config| config.freshness_ms = 60_000).start().await;
    let api = server.client().await;
    (server, api)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_busy_times_of_many_hosts() {
    assert_bounded("free/busy of calendars", OF_A_READ_HOST, async |count| {
        let (server, api) = patient().await;
        let targets: Vec<Value> = hosts(&api, count)
            .await
            .iter()
            .map(|host| json!({ "connectionId": host["connectionId"], "calendarIds": [host["calendarId"]] }))
            .collect();
        let day =
            json!({ "start": "2026-03-10T00:00:00Z", "end": "2026-03-11T00:00:00Z", "targets": targets });
        let (statements, answer) = request(&server, Method::POST, FREE_BUSY, api.post(FREE_BUSY, day)).await;
        assert_eq!(
            (answer["data"].as_array().map(Vec::len), &answer["complete"]),
            (Some(count), &json!(true))
        );
        statements
    })
    .await;
}

/// Returns the statements of a search for slots, a booking, its confirmation by a host, and the write into calendars, for an event type
/// with this number of hosts in a rotation or together.
async fn booked(count: usize, role: &str, assignment: &str) -> [u64; 4] {
    let (server, api) = patient().await;
    let mut hosts = hosts(&api, count).await;
    for host in &mut hosts {
        host["role"] = json!(role);
    }
    let fields = json!({ "assignment": assignment, "requiresConfirmation": true });
    let event_type = open(&api, &hosts, fields).await;
    let day = json!({
        "eventTypeId": event_type, "start": "2026-03-10T00:00:00Z", "end": "2026-03-11T00:00:00Z",
    });
    api.post(SLOTS, day.clone()).send().await.expect(200);
    let (slots, found) = request(&server, Method::POST, SLOTS, api.post(SLOTS, day)).await;
    assert_eq!((found["data"].as_array().map(Vec::len), &found["complete"]), (Some(24), &json!(true)));
    let ask = api.post(BOOKINGS, booking(&event_type, 0)).keyed("book-1");
    let (created, booking) = request(&server, Method::POST, BOOKINGS, ask).await;
    let route = "/v1/scheduling/bookings/{bookingId}/confirm";
    let ask = api.post(format!("{BOOKINGS}/{}/confirm", text(&booking["id"])), json!({}));
    let (confirmed, answer) = request(&server, Method::POST, route, ask).await;
    let invited = if assignment == "collective" { count } else { 1 };
    assert_eq!(answer["hostIds"].as_array().map(Vec::len), Some(invited), "{answer:#}");
    [slots, created, confirmed, run(&server, &[BOOKING_EVENT]).await]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_booking_of_one_of_many_hosts() {
    let (few, many) =
        (booked(FEW_ROWS, "rotation", "roundRobin").await, booked(MANY_ROWS, "rotation", "roundRobin").await);
    // The booking is of one host: nothing else than the busy times of the others grows with them.
    let of_each = [OF_A_BUSY_HOST, OF_A_BUSY_HOST, 0, 0];
    assert_each("one of many hosts", few, many, of_each);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_booking_of_many_hosts_together() {
    let (few, many) =
        (booked(FEW_ROWS, "required", "collective").await, booked(MANY_ROWS, "required", "collective").await);
    // A booking reads the days around its slot for each host. The event of each host is written by a separate job.
    let of_a_write = few[3].div_ceil(FEW_ROWS as u64);
    assert_each("many hosts together", few, many, [OF_A_BUSY_HOST, OF_A_READ_HOST, 0, of_a_write]);
}

fn assert_each(what: &str, few: [u64; 4], many: [u64; 4], of_each: [u64; 4]) {
    eprintln!(
        "{what}: slots, booking, confirmation, events: {few:?} for {FEW_ROWS}, {many:?} for {MANY_ROWS}"
    );
    for ((few, many), of_each) in few.into_iter().zip(many).zip(of_each) {
        let most = few + of_each * (MANY_ROWS - FEW_ROWS) as u64;
        assert!(
            few > 0 && many <= most,
            "{what}: {few} for {FEW_ROWS}, {many} for {MANY_ROWS}, at most {most}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_meeting_of_many_that_its_host_moves() {
    /// 2026-03-10, 14:00 UTC.
    const MOVED_TO_MS: i64 = 1_773_151_200_000;
    assert_bounded("move a meeting with many seats", 0, async |count| {
        let (server, api) = patient().await;
        let hosts = hosts(&api, 1).await;
        let event_type = open(&api, &hosts, json!({ "seatsPerSlot": 60 })).await;
        for n in 0..count {
            let mut body = booking(&event_type, 0);
            body["inviteeEmail"] = json!(format!("ada{n}@example.org"));
            api.post(BOOKINGS, body).send().await.expect(201);
        }
        run(&server, &[BOOKING_EVENT, BOOKING_RECHECK]).await;
        server.clock.advance_ms(1);
        let events = format!("/v1/calendars/{}/events", text(&hosts[0]["calendarId"]));
        let all = api.all(&events).await;
        assert_eq!(all.len(), 1, "{all:#?}");
        let times = json!({ "start": "2026-03-10T14:00:00Z", "end": "2026-03-10T14:30:00Z" });
        api.patch(format!("{events}/{}", text(&all[0]["id"])), times).send().await.expect(200);
        let statements = run(&server, &[BOOKING_RECHECK]).await;
        let moved = storage::sql::query("select count(*) as n from bookings where start_at = $1");
        let moved =
            moved.bind(MOVED_TO_MS).fetch_one(server.app.db.reader(), |row| row.get::<i64>("n")).await;
        assert_eq!(moved.expect("a number"), count as i64);
        statements
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_messages_of_the_outbox() {
    assert_linear("hand messages over", async |count| {
        let mailbox = Mailbox::open(Provider::Sandbox).await.expect("a sandbox");
        for n in 0..count {
            mailbox.submit(json!({ "subject": format!("Letter {n}") })).await;
        }
        let before = of_jobs(&mailbox.server, &[SEND]);
        mailbox.server.hand_over().await;
        of_jobs(&mailbox.server, &[SEND]) - before
    })
    .await;
}
