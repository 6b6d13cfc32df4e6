//! Statements that requests and jobs send to the database: each operation has a bound, which may only shrink. With a database two
//! milliseconds away, a request with fifty statements takes a tenth of a second.

use harness::{Actor, Ask, TestServer};
use http::Method;
use serde_json::{Value, json};
use service::app::metrics::StatementTotals;
use service::jobs::pull::PULL;

use crate::email::mailbox::{Mailbox, Provider, letter, text};

/// Records that a pull reads.
const PAGE: usize = 200;

/// Time after which everything that is followed is pulled again.
pub(super) const HOUR_MS: i64 = 60 * 60 * 1_000;

/// Statements at most, on the engine that needs more: operation or work, and the bound.
const BOUNDS: [(&str, u64); 17] = [
    ("read an event", 19),
    ("list 50 events", 8),
    ("list 50 events, another filter", 8),
    ("read 50 changes of a calendar", 9),
    ("create an event", 12),
    ("change an event", 20),
    ("delete an event", 29),
    ("create a task", 12),
    ("create a contact", 31),
    ("read a message", 4),
    ("change a message", 17),
    ("accept a message to send", 20),
    ("pull 200 events", 66),
    ("pull 200 contacts", 70),
    ("pull 200 tasks", 65),
    ("pull 200 messages", 28),
    ("pull what has no changes", 58),
];

/// A server with an account, and the measurements.
struct Measured {
    server: TestServer,
    api: Actor,
    provider: Actor,
    found: Vec<(&'static str, StatementTotals)>,
}

impl Measured {
    fn new(server: TestServer, api: Actor, provider: Actor) -> Measured {
        Measured { server, api, provider, found: Vec::new() }
    }

    /// Sends a request of this route and counts its statements.
    async fn request(&mut self, name: &'static str, method: Method, route: &str, ask: Ask) -> Value {
        // Cached answers are those of the same millisecond.
        self.server.clock.advance_ms(1);
        let metrics = self.server.app.metrics.clone();
        let before = metrics.request_statements(route, &method);
        let answer = ask.send().await;
        assert!((200..300).contains(&answer.status), "{name}: {answer}");
        let after = metrics.request_statements(route, &method);
        self.found.push((name, difference(before, after)));
        answer.answer
    }

    /// Runs due pulls and counts the statements.
    async fn pull(&mut self, name: &'static str) {
        self.server.clock.advance_ms(1);
        let metrics = self.server.app.metrics.clone();
        let before = metrics.job_statements(PULL.name);
        assert!(self.server.pull().await > 0, "{name}: nothing was due");
        self.found.push((name, difference(before, metrics.job_statements(PULL.name))));
    }

    /// Makes a page of records at the provider.
    async fn fill(&self, theirs: &str, item: impl Fn(usize) -> Value) {
        for n in 0..PAGE {
            self.provider.post(theirs, item(n)).send().await.expect(201);
        }
    }

    /// Fails where something needed more statements than its bound.
    fn check(&self) {
        let mut wrong = Vec::new();
        for (name, totals) in &self.found {
            let bound = BOUNDS.iter().find(|(of, _)| of == name).map(|(_, bound)| *bound);
            let bound = bound.unwrap_or_else(|| panic!("no bound of {name:?}"));
            let line =
                format!("{name}: {} statements (at most {bound}), {} rows", totals.statements, totals.rows);
            eprintln!("{line}");
            if totals.statements > bound {
                wrong.push(line);
            }
            assert!(totals.statements > 0 || bound == 0, "{name}: no statement was counted");
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}

fn difference(before: StatementTotals, after: StatementTotals) -> StatementTotals {
    StatementTotals { statements: after.statements - before.statements, rows: after.rows - before.rows }
}

pub(super) fn event(n: usize) -> Value {
    let at = |hour: u8| json!(format!("2026-03-{:02}T{hour:02}:00:00Z", 2 + n % 20));
    json!({ "id": format!("event-{n}"), "title": format!("Event {n}"), "start": at(11), "end": at(12), "timeZone": "UTC" })
}

/// A new server with zoe's account, which is followed and was read.
async fn followed() -> (Measured, Paths) {
    let server = TestServer::builder().without_pulls().start().await;
    let (api, provider) = (server.client().await, server.provider("zoe"));
    let connection = api.connect_account("zoe").await;
    let calendar = api.named(&format!("/v1/calendars?connection_id={connection}"), "Work").await;
    let work = api.get(format!("/v1/calendars/{calendar}")).send().await.expect(200);
    let list = api.named("/v1/task-lists", "Tasks").await;
    for (path, body) in [
        (format!("/v1/calendars/{calendar}/sync/start"), json!({})),
        ("/v1/contacts/sync/start".to_owned(), json!({ "connectionId": connection })),
        (format!("/v1/task-lists/{list}/sync/start"), json!({})),
    ] {
        api.post(path, body).send().await.expect(202);
    }
    server.pull().await;
    let theirs = format!("/sandbox/v1/calendars/{}/events", text(&work["externalId"]));
    (Measured::new(server, api, provider), Paths { connection, calendar, list, theirs })
}

/// Ids of the account, and the path of its calendar at the provider.
struct Paths {
    connection: String,
    calendar: String,
    list: String,
    theirs: String,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_and_reads_have_bounds() {
    let (mut m, Paths { connection, calendar, list, theirs }) = followed().await;
    m.fill(&theirs, event).await;
    let hook = json!({ "url": "https://hooks.example.com/in", "eventTypes": ["calendar.event.created"] });
    m.api.post("/v1/webhooks", hook).send().await.expect(201);
    m.server.clock.advance_ms(HOUR_MS);
    m.server.pull().await;
    let (events, one) = (format!("/v1/calendars/{calendar}/events"), "/v1/calendars/{calendarId}/events");
    let body = json!({ "title": "Standup", "start": "2026-03-02T10:00:00Z", "end": "2026-03-02T10:15:00Z" });
    let ask = m.api.post(&events, body).keyed("create-1");
    let made = m.request("create an event", Method::POST, one, ask).await;
    let path = format!("{events}/{}", text(&made["id"]));
    let of_one = "/v1/calendars/{calendarId}/events/{eventId}";
    let ask = m.api.get(&path);
    m.request("read an event", Method::GET, of_one, ask).await;
    let ask = m.api.get(format!("{events}?limit=50"));
    m.request("list 50 events", Method::GET, one, ask).await;
    let ask = m.api.get(format!("{events}?limit=50&title=Event"));
    m.request("list 50 events, another filter", Method::GET, one, ask).await;
    let ask = m.api.get(format!("/v1/calendars/{calendar}/sync/changes?limit=50"));
    m.request("read 50 changes of a calendar", Method::GET, "/v1/calendars/{calendarId}/sync/changes", ask)
        .await;
    let ask = m.api.patch(&path, json!({ "title": "Weekly" })).keyed("change-1");
    m.request("change an event", Method::PATCH, of_one, ask).await;
    let ask = m.api.delete(&path).keyed("delete-1");
    m.request("delete an event", Method::DELETE, of_one, ask).await;
    let ask =
        m.api.post(format!("/v1/task-lists/{list}/tasks"), json!({ "title": "Buy milk" })).keyed("task-1");
    m.request("create a task", Method::POST, "/v1/task-lists/{taskListId}/tasks", ask).await;
    let body = json!({ "connectionId": connection, "givenName": "Ada", "familyName": "Lovelace" });
    let ask = m.api.post("/v1/contacts", body).keyed("contact-1");
    m.request("create a contact", Method::POST, "/v1/contacts", ask).await;
    m.check();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pulls_have_bounds() {
    let (mut m, Paths { theirs, .. }) = followed().await;
    m.server.clock.advance_ms(HOUR_MS);
    m.pull("pull what has no changes").await;
    m.fill(&theirs, event).await;
    m.server.clock.advance_ms(HOUR_MS);
    m.pull("pull 200 events").await;
    m.fill(
        "/sandbox/v1/books/contacts/cards",
        |n| json!({ "id": format!("card-{n}"), "displayName": format!("Ada {n}") }),
    )
    .await;
    m.server.clock.advance_ms(HOUR_MS);
    m.pull("pull 200 contacts").await;
    m.fill(
        "/sandbox/v1/lists/tasks/todos",
        |n| json!({ "id": format!("task-{n}"), "title": format!("Task {n}") }),
    )
    .await;
    m.server.clock.advance_ms(HOUR_MS);
    m.pull("pull 200 tasks").await;
    m.check();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mail_has_bounds() {
    let server = TestServer::builder().without_pulls();
    let mailbox = Mailbox::open_with(Provider::Sandbox, server).await.expect("a sandbox");
    let start = json!({ "connectionId": mailbox.connection });
    mailbox.api.post("/v1/email/sync/start", start).send().await.expect(202);
    mailbox.server.pull().await;
    for n in 0..PAGE {
        mailbox.there.deliver(&letter(&format!("Letter {n}"), &format!("letter-{n}@x.test"), "")).await;
    }
    let before = mailbox.server.app.metrics.job_statements(PULL.name);
    mailbox.server.clock.advance_ms(HOUR_MS);
    assert!(mailbox.server.pull().await > 0, "nothing was due");
    let pulled = difference(before, mailbox.server.app.metrics.job_statements(PULL.name));
    let id = mailbox.titled("Letter 7").await["id"].clone();
    let (path, to) = (format!("/v1/email/messages/{}", text(&id)), mailbox.message(json!({})));
    let Mailbox { server, api, .. } = mailbox;
    let provider = server.provider("alice");
    let mut m = Measured::new(server, api, provider);
    m.found.push(("pull 200 messages", pulled));
    let of_one = "/v1/email/messages/{messageId}";
    let ask = m.api.get(&path);
    m.request("read a message", Method::GET, of_one, ask).await;
    let ask = m.api.patch(&path, json!({ "isRead": true })).keyed("change-1");
    m.request("change a message", Method::PATCH, of_one, ask).await;
    let ask = m.api.post("/v1/email/send", to).keyed("send-1");
    m.request("accept a message to send", Method::POST, "/v1/email/send", ask).await;
    m.check();
}
