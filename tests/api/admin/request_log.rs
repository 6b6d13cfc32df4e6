//! The request log: what it has of an application's requests, what it never has, and what it costs.

use std::sync::Arc;
use std::time::Duration;

use base::tenant::Tenant;
use harness::{Actor, Exchange, TestServer};
use reqwest::Method;
use serde_json::{Value, json};
use service::app::request_log::{LoggedRequest, writing};
use service::app::stored_response::IdempotentAttempt;
use service::manage;
use service::manage::actor::Role;
use service::manage::request_log::{self, RequestBodies};
use service::retention;
use storage::Db;
use storage::audit_log;
use storage::request_log::{RequestEntry, RequestFilter, RequestLogMode, SealedBodies, StatusClass};
use storage::sql::query;
use tokio::sync::Semaphore;

use crate::admin::client::other_application;

const DAY_MS: i64 = 86_400_000;

/// A text that stands for a secret or a message: no log may have it.
const MARK: &str = "m4rk3d-and-never-kept";

/// A text that full bodies have.
const KEPT: &str = "kept-7f3a";

/// Longest time that a test waits.
const LIMIT: Duration = Duration::from_secs(60);

fn attempt() -> IdempotentAttempt {
    IdempotentAttempt::new("test".to_owned(), false, None)
}

async fn flush(server: &TestServer) {
    writing::flush(&server.app).await.expect("the log is written");
}

/// The logged requests of an application, in the order in which they were sent.
async fn logged(server: &TestServer, tenant: &Tenant, status: Option<StatusClass>) -> Vec<RequestEntry> {
    flush(server).await;
    let filter = RequestFilter { status, key_id: None };
    let mut found =
        request_log::list(&server.app, tenant, &filter, None, 1_000).await.expect("the log is read");
    found.reverse();
    found
}

async fn set_mode(server: &TestServer, tenant: &Tenant, mode: RequestLogMode) {
    let set = request_log::set_mode(&server.app, tenant, mode, &attempt()).await.expect("it is set");
    assert_eq!(set.status, 200);
}

/// Sends a request a second after the one before.
async fn later(
    server: &TestServer,
    api: &Actor,
    method: Method,
    path: &str,
    body: Option<Value>,
) -> Exchange {
    server.clock.advance_ms(1_000);
    api.ask(method, path.to_owned(), body).send().await
}

/// The code and the field of an error.
fn fault(exchange: &Exchange) -> (Option<String>, Option<String>) {
    let error = &exchange.answer["error"];
    let text = |value: &Value| value.as_str().map(str::to_owned);
    (text(&error["code"]), text(&error["param"]).or_else(|| text(&error["details"][0]["field"])))
}

/// Errors and writes of a known key are logged, and of successful reads the first in each 200 ms.
#[tokio::test]
async fn errors_writes_and_some_reads_are_logged() {
    let server = TestServer::start().await;
    let (api, tenant) = (server.client().await, server.test_application().await);
    let usage = "/v1/usage?start=2026-03-01&end=2026-03-01";
    later(&server, &api, Method::GET, usage, None).await.expect(200);
    for passed in [0, 199, 1] {
        server.clock.advance_ms(passed);
        api.get(usage).send().await.expect(200);
    }
    let missing = later(&server, &api, Method::GET, "/v1/connections/conn_none", None).await;
    let again = api.get("/v1/connections/conn_none").send().await;
    let wrong = later(&server, &api, Method::POST, "/v1/webhooks", Some(json!({}))).await;
    server.clock.advance_ms(1_000);
    api.connect_sandbox().await;
    let key = api.key.clone().expect("a key");
    later(&server, &api, Method::GET, &format!("/v1/nothing/{key}"), None).await.refused(404, "not_found");
    assert_eq!((missing.status, again.status, wrong.status), (404, 404, 400));
    // Without a known key there is no application that a request could be of.
    later(&server, &server.anonymous(), Method::GET, "/v1/usage", None).await.refused(401, "missing_api_key");
    let mut stranger = server.anonymous();
    stranger.key = Some("uc_live_nobody".to_owned());
    later(&server, &stranger, Method::POST, "/v1/webhooks", Some(json!({})))
        .await
        .refused(401, "invalid_api_key");

    let found = logged(&server, &tenant, None).await;
    let lines: Vec<String> = found
        .iter()
        .map(|entry| format!("{} {} {} {}", entry.method, entry.route, entry.path, entry.status))
        .collect();
    let one = "GET /v1/connections/{connectionId} /v1/connections/conn_none 404";
    let expected = [
        "GET /v1/usage /v1/usage 200",
        "GET /v1/usage /v1/usage 200",
        one,
        one,
        "POST /v1/webhooks /v1/webhooks 400",
        "POST /v1/connections /v1/connections 201",
        "GET  /v1/nothing/‹key› 404",
    ];
    assert_eq!(lines, expected);
    assert_eq!((found[0].at + 200, found[0].ip.as_str()), (found[1].at, "127.0.0.1"));
    let ids = [missing.header("x-request-id"), again.header("x-request-id")];
    for entry in &found[2..4] {
        assert!(ids.contains(&Some(entry.id.as_str())), "{entry:?}");
        assert_eq!(entry.error_code.as_deref(), Some("not_found"));
    }
    let refused = &found[4];
    assert_eq!((refused.error_code.clone(), refused.error_param.clone()), fault(&wrong));
    assert!(refused.error_param.is_some() && refused.bytes_in == 2 && !refused.has_bodies, "{refused:?}");
    assert_eq!(refused.bytes_out, i64::try_from(wrong.text.len()).expect("a number"));
    let errors = logged(&server, &tenant, Some(StatusClass::Error)).await;
    assert_eq!(errors.len(), 4);
    assert_eq!(server.app.metrics.request_log_dropped.get(), 0);

    // Off is off at once, also for what waits.
    api.get("/v1/connections/conn_none").send().await.refused(404, "not_found");
    set_mode(&server, &tenant, RequestLogMode::Off).await;
    api.get("/v1/connections/conn_none").send().await.refused(404, "not_found");
    assert_eq!(logged(&server, &tenant, None).await.len(), found.len());
    set_mode(&server, &tenant, RequestLogMode::On).await;
    api.get("/v1/connections/conn_none").send().await.refused(404, "not_found");
    assert_eq!(logged(&server, &tenant, None).await.len(), found.len() + 1);
}

/// Holds the writer until it is told to end.
async fn hold(db: Db, begun: Arc<Semaphore>, end: Arc<Semaphore>) -> anyhow::Result<()> {
    let write = db.write(move |_| {
        Box::pin(async move {
            begun.add_permits(1);
            end.acquire().await?.forget();
            Ok(())
        })
    });
    write.await
}

/// While nothing can be written, requests are answered, the log takes no more than its room, and drops and counts the rest.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_held_writer_holds_up_no_request() {
    let server = TestServer::start().await;
    let (api, tenant) = (server.client().await, server.test_application().await);
    api.get("/v1/connections/conn_none").send().await.refused(404, "not_found");
    let (begun, end) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let held = tokio::spawn(hold(server.app.db.clone(), begun.clone(), end.clone()));
    tokio::time::timeout(LIMIT, begun.acquire())
        .await
        .expect("it begins")
        .expect("nobody closes it")
        .forget();
    let app = server.app.clone();
    let writing = tokio::spawn(async move { writing::flush(&app).await });
    for _ in 0..20 {
        api.get("/v1/connections/conn_none").send().await.refused(404, "not_found");
    }
    assert_eq!(server.app.request_log.taken().entries, 21, "the one that is being written has its room too");
    let found = RequestEntry {
        application_id: tenant.application_id.clone(),
        id: String::new(),
        key_id: "key_1".to_owned(),
        at: server.app.now(),
        method: "GET".to_owned(),
        route: "/v1/usage".to_owned(),
        path: "/v1/usage".to_owned(),
        status: 429,
        ms: 1,
        ip: "::1".to_owned(),
        error_code: None,
        error_param: None,
        bytes_in: 0,
        bytes_out: 0,
        has_bodies: false,
    };
    for number in 0..5_000 {
        let entry = RequestEntry { id: format!("req_{number}"), ..found.clone() };
        server.app.request_log.add(&server.app.metrics, LoggedRequest { entry, bodies: None });
    }
    let taken = server.app.request_log.taken();
    assert!((1_000..=4_096).contains(&taken.entries) && taken.bytes <= 4 << 20, "{taken:?}");
    let dropped = server.app.metrics.request_log_dropped.get();
    assert_eq!(dropped, 5_021 - u64::try_from(taken.entries).expect("a number"));
    assert!(!writing.is_finished() && !held.is_finished());
    end.add_permits(1);
    held.await.expect("no panic").expect("it is committed");
    writing.await.expect("no panic").expect("it is written");
    assert_eq!(logged(&server, &tenant, None).await.len(), 1_000, "a page of all that had room");
    assert_eq!(server.app.request_log.taken().entries, 0);
}

/// The log is kept for seven days, and bodies no longer than it.
#[tokio::test]
async fn the_log_is_swept() {
    let server = TestServer::start().await;
    let (api, tenant) = (server.client().await, server.test_application().await);
    api.get("/v1/connections/conn_none").send().await.refused(404, "not_found");
    let old = logged(&server, &tenant, None).await.remove(0);
    let bodies = SealedBodies {
        application_id: tenant.application_id.clone(),
        id: old.id.clone(),
        at: old.at,
        sealed: "sealed".to_owned(),
    };
    let stored: anyhow::Result<()> = server
        .app
        .db
        .write(move |tx| Box::pin(async move { storage::request_log::insert_bodies(tx, &[bodies]).await }))
        .await;
    stored.expect("bodies are stored");
    for (days, left) in [(6, 2), (1, 1)] {
        server.clock.advance_ms(days * DAY_MS + 1);
        if days == 6 {
            api.get("/v1/connections/conn_none").send().await.refused(404, "not_found");
            flush(&server).await;
        }
        retention::clean(&server.app).await.expect("a clean-up");
        assert_eq!(logged(&server, &tenant, None).await.len(), left, "{days}");
    }
    let left = query("select count(*) as n from request_bodies");
    let left: i64 = left.fetch_one(server.app.db.reader(), |row| row.get("n")).await.expect("a number");
    assert_eq!(left, 0);
}

/// A body with a mark under each name that is never kept.
fn marked() -> Value {
    json!({
        "title": KEPT,
        "password": MARK, "client_secret": MARK, "accessToken": [MARK], "credentials": { "any": [MARK] },
        "Authorization": MARK, "apiKey": MARK,
        "body": { "title": MARK }, "html": MARK, "text": MARK, "snippet": MARK, "raw": MARK, "content": MARK,
        "notes": MARK, "description": MARK, "answers": [{ "title": MARK }],
        "settings": [{ "name": "imap_password", "value": MARK }],
        "url": format!("https://example.com/{MARK}?sig={MARK}"),
    })
}

/// Sends the marked body to each operation that may have one.
async fn send_to_all(api: &Actor) -> usize {
    let operations = switchboard::api::operations();
    let writes = operations.iter().filter(|operation| !operation.method.is_safe());
    let mut sent = 0;
    for operation in writes {
        let segments =
            operation.path.split('/').map(|segment| if segment.starts_with('{') { "x" } else { segment });
        let path = format!("{}?token={MARK}", segments.collect::<Vec<_>>().join("/"));
        api.ask(operation.method.clone(), path, Some(marked())).send().await;
        sent += 1;
    }
    sent
}

/// All bodies that the log has of an application, as an owner of its organization sees them.
async fn bodies_of(server: &TestServer, tenant: &Tenant) -> Vec<RequestBodies> {
    let actor = manage::actor::Actor::command("test");
    let mut found = Vec::new();
    for entry in logged(server, tenant, None).await {
        if entry.has_bodies {
            let seen = request_log::see_bodies(&server.app, &actor, tenant, &entry.id).await;
            found.extend(seen.expect("the log is read"));
        }
    }
    found
}

/// Walks all operations with secrets and message texts: in no mode does the log store any of them.
#[tokio::test]
async fn the_log_keeps_no_secret() {
    let server = TestServer::start().await;
    let (api, tenant) = (server.client().await, server.test_application().await);
    let key = api.key.clone().expect("a key");
    send_to_all(&api).await;
    assert!(bodies_of(&server, &tenant).await.is_empty(), "no bodies by default");

    let full = request_log::set_full_bodies(&server.app, &tenant, 15, &attempt()).await;
    assert_eq!(full.expect("it is set").status, 200);
    let sent = send_to_all(&api).await;
    api.post("/v1/api-keys", json!({ "name": "another", "scopes": ["calendar.read"] })).send().await;
    let all = bodies_of(&server, &tenant).await;
    let text = format!("{all:?}");
    assert!(text.contains(KEPT) && all.iter().all(|bodies| bodies.is_full), "{text}");
    assert!(all.len() > 20, "{} bodies of {sent} requests", all.len());
    assert!(!text.contains(MARK) && !text.contains(&key) && !text.contains("uc_live_"), "{text}");

    // After its time only shapes are kept, and these have no texts at all.
    server.clock.advance_ms(15 * 60_000);
    set_mode(&server, &tenant, RequestLogMode::Shapes).await;
    send_to_all(&api).await;
    let all = bodies_of(&server, &tenant).await;
    let shapes: Vec<_> = all.iter().filter(|bodies| !bodies.is_full).collect();
    let text = format!("{shapes:?}");
    assert!(shapes.len() > 20 && text.contains("‹9 characters›"), "{text}");
    assert!(!text.contains(MARK) && !text.contains(KEPT) && !text.contains(&key), "{text}");
    for entry in logged(&server, &tenant, None).await {
        let line = format!("{entry:?}");
        assert!(!line.contains(MARK) && !line.contains(&key), "{line}");
    }
    // What is stored is sealed.
    let stored = query("select sealed from request_bodies");
    let stored: Vec<String> =
        stored.fetch_all(server.app.db.reader(), |row| row.get("sealed")).await.expect("the rows");
    assert!(stored.iter().all(|sealed| sealed.starts_with("v1.") && !sealed.contains(KEPT)));
}

/// Requests are of one application; bodies are for those who may see content, and that they were seen is in the audit log.
#[tokio::test]
async fn other_tenants_see_no_request() {
    let server = TestServer::start().await;
    let (api, tenant) = (server.client().await, server.test_application().await);
    let other = other_application(&server).await;
    request_log::set_full_bodies(&server.app, &tenant, 60, &attempt()).await.expect("it is set");
    let refused = api.post("/v1/webhooks", json!({ "url": "nonsense" })).send().await.expect(400);
    let entry = logged(&server, &tenant, None).await.remove(0);
    assert!(entry.has_bodies, "{entry:?}");
    assert!(request_log::find(&server.app, &tenant, &entry.id).await.expect("it is read").is_some());
    assert!(request_log::find(&server.app, &other, &entry.id).await.expect("it is read").is_none());
    assert!(logged(&server, &other, None).await.is_empty());
    let of_key = request_log::recent_of_key(&server.app, &other, &entry.key_id, 10).await;
    assert!(of_key.expect("it is read").is_empty());

    let actor = |of: &Tenant, role| manage::actor::Actor {
        is_admin: false,
        roles: [(of.organization_id.clone(), role)].into(),
        ..manage::actor::Actor::command("test")
    };
    let (app, id) = (&server.app, &entry.id);
    for stranger in [actor(&other, Role::Owner), actor(&tenant, Role::Viewer)] {
        let seen = request_log::see_bodies(app, &stranger, &tenant, id).await;
        assert!(seen.is_err(), "{stranger:?}");
    }
    let owner = actor(&other, Role::Owner);
    assert_eq!(request_log::see_bodies(app, &owner, &other, id).await.expect("it is read"), None);
    let developer = actor(&tenant, Role::Developer);
    let seen = request_log::see_bodies(app, &developer, &tenant, id).await.expect("it is read");
    let seen = seen.expect("there are bodies");
    assert_eq!(seen.request, Some(json!({ "url": "nonsense" })));
    assert_eq!(seen.response.expect("an answer")["error"]["code"], refused["error"]["code"]);
    let log = audit_log::list(app.db.reader(), &tenant.organization_id, audit_log::NEWEST, 10).await;
    let log = log.expect("the log");
    let noted: Vec<_> = log.iter().filter(|entry| entry.act == "request_bodies_seen").collect();
    assert_eq!(noted.len(), 1, "{log:?}");
    assert_eq!(noted[0].target, *id);
}
