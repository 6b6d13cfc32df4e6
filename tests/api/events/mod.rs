//! `/v1/events`: the event log by example, page by page and one event at a time.

mod positions;
pub mod stream;

use std::time::Duration;

use base::tenant::Tenant;
use harness::receiver::Receiver;
use harness::{Actor, TestServer};
use serde_json::{Value, json};
use service::app::App;
use service::app::event_log::{NewLogEntry, Origin, append};
use service::retention;
use storage::api_keys::{self, ApiKey};

const DAY_MS: i64 = 86_400_000;

/// A server whose streams poll the log and send keep-alives without long waits.
async fn server() -> TestServer {
    TestServer::builder()
        .config(|config| {
            config.event_streams.look_every = Duration::from_millis(50);
            config.event_streams.beat_every = Duration::from_millis(50);
        })
        .start()
        .await
}

/// Returns the stored key of a client.
async fn key_of(server: &TestServer, api: &Actor) -> ApiKey {
    let hash = server.app.keyring.api_key_hash(api.key.as_deref().expect("a key"));
    api_keys::by_hash(server.app.db.reader(), &hash).await.expect("a query").expect("the key is stored")
}

/// An event of a task.
fn task(id: &str) -> NewLogEntry {
    NewLogEntry {
        connection_id: Some("conn_a".to_owned()),
        account_ids: None,
        entry_type: "task.created".to_owned(),
        change_type: "created",
        resource_type: "task",
        resource_id: id.to_owned(),
        parent_id: "lst_1".to_owned(),
        changed_fields: None,
        etag: None,
        origin: Origin::Api,
        resource: Some(json!({ "id": id, "title": "Überblick" }).to_string()),
    }
}

/// Returns an entry of this type, of a connection or of none.
fn of_type(entry_type: &str, connection_id: Option<&str>) -> NewLogEntry {
    NewLogEntry {
        connection_id: connection_id.map(str::to_owned),
        entry_type: entry_type.to_owned(),
        ..task(&format!("of {entry_type}"))
    }
}

/// Writes events in one transaction; the sequence of the first.
async fn write(app: &App, tenant: &Tenant, notes: Vec<NewLogEntry>) -> i64 {
    let (held, tenant) = (app.clone(), tenant.clone());
    let written: base::error::Result<i64> =
        app.db.write(move |tx| Box::pin(async move { append(tx, &held, &tenant, notes).await })).await;
    written.expect("the events are written")
}

fn resources(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["data"]["resourceId"].as_str().expect("an id")).collect()
}

fn types(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().expect("a type")).collect()
}

/// An event of the log is byte for byte what a webhook receives, under the same id.
#[tokio::test]
async fn an_event_is_what_a_webhook_receives() {
    let loopback = "127.0.0.0/8".parse().expect("a network");
    let server = TestServer::builder().config(|config| config.webhook_allow = vec![loopback]).start().await;
    let (api, mut receiver) = (server.client().await, Receiver::start().await);
    let connection = api.connect_sandbox().await;
    let calendar = api.calendar(&connection, "Work").await;
    let webhook = json!({ "url": receiver.url(), "eventTypes": ["calendar.event.*"] });
    api.post("/v1/webhooks", webhook).send().await.expect(201);
    let event =
        json!({ "title": "Planning", "start": "2026-03-02T09:00:00Z", "end": "2026-03-02T10:00:00Z" });
    api.post(format!("/v1/calendars/{calendar}/events"), event).send().await.expect(201);
    server.deliver().await;
    let received = receiver.next().await;

    assert_eq!(api.all("/v1/events?type=calendar.event.*").await, [received.json()]);
    let one = api.get(format!("/v1/events/{}", received.header("webhook-id"))).send().await;
    assert_eq!((one.status, one.text.as_bytes()), (200, &*received.body));
}

#[tokio::test]
async fn the_log_is_read_in_pages_and_read_on_later() {
    let server = server().await;
    let api = server.client().await;
    let tenant = key_of(&server, &api).await.tenant;
    write(&server.app, &tenant, ["a", "b", "c", "d", "e"].map(task).to_vec()).await;
    let page = api.get("/v1/events?limit=2").send().await.expect(200);
    assert_eq!(resources(page["data"].as_array().expect("a list")), ["a", "b"]);
    assert_eq!(page["last_sequence"], page["data"][1]["sequence"]);
    let cursor = page["next_cursor"].as_str().expect("there is more").to_owned();
    assert_eq!(resources(&api.all("/v1/events?limit=2").await), ["a", "b", "c", "d", "e"]);
    api.get(format!("/v1/events?type=task.*&cursor={cursor}")).send().await.refused(400, "invalid_cursor");

    let all = api.get("/v1/events").send().await.expect(200);
    assert_eq!((all["data"].as_array().map(Vec::len), &all["next_cursor"]), (Some(5), &Value::Null));
    let position = all["last_sequence"].as_i64().expect("a position");
    write(&server.app, &tenant, vec![of_type("email.message.created", None), task("f")]).await;
    let later = api.get(format!("/v1/events?type=task.*&after_sequence={position}")).send().await.expect(200);
    assert_eq!(resources(later["data"].as_array().expect("a list")), ["f"]);
    assert_eq!(later["last_sequence"], position + 2);
}

#[tokio::test]
async fn types_and_connections_are_filters() {
    let server = server().await;
    let api = server.client().await;
    let tenant = key_of(&server, &api).await.tenant;
    let connection = api.connect_account("alice").await;
    let begin = api.get("/v1/events").send().await.expect(200)["last_sequence"].as_i64().expect("a position");
    let backfill =
        NewLogEntry { origin: Origin::Backfill, ..of_type("email.draft.created", Some(&connection)) };
    let notes = vec![
        of_type("calendar.event.updated", Some(&connection)),
        of_type("calendar.updated", Some("conn_a")),
        of_type("email.message.sent", Some(&connection)),
        of_type("webhook.disabled", None),
        of_type("connection.token_refreshed", Some(&connection)),
        of_type("webhook.test", None),
        backfill,
    ];
    write(&server.app, &tenant, notes).await;
    let of_one = format!("connection_id={connection}");
    for (query, expected) in [
        ("", vec!["calendar.event.updated", "calendar.updated", "email.message.sent", "webhook.disabled"]),
        ("type=calendar.*", vec!["calendar.event.updated", "calendar.updated"]),
        ("type=calendar.event.*,webhook.disabled", vec!["calendar.event.updated", "webhook.disabled"]),
        ("type=connection.token_refreshed", vec!["connection.token_refreshed"]),
        ("type=email.draft.*", vec![]),
        ("type=email.draft.*&include_backfill=true", vec!["email.draft.created"]),
        (of_one.as_str(), vec!["calendar.event.updated", "email.message.sent"]),
    ] {
        let found = api.all(&format!("/v1/events?after_sequence={begin}&{query}")).await;
        assert_eq!(types(&found), expected, "{query}");
    }
}

/// The scope `events.read` opens the log, and the scopes of the surfaces its content.
#[tokio::test]
async fn a_key_is_shown_what_its_scopes_read() {
    let server = server().await;
    let (api, weak) = (server.client().await, server.client_with(&["events.read", "tasks.read"]).await);
    let tenant = key_of(&server, &api).await.tenant;
    write(&server.app, &tenant, vec![of_type("email.message.created", None), task("a")]).await;
    let all = api.all("/v1/events").await;
    assert_eq!(types(&all), ["email.message.created", "task.created"]);
    assert_eq!(types(&weak.all("/v1/events").await), ["task.created"]);
    let path = |n: usize| format!("/v1/events/{}", all[n]["id"].as_str().expect("an id"));
    assert_eq!(weak.get(path(1)).send().await.expect(200), all[1]);
    weak.get(path(0)).send().await.refused(404, "not_found");
    let error = weak.get("/v1/events?type=task.*,email.*").send().await.refused(403, "insufficient_scope");
    assert!(error["message"].as_str().is_some_and(|text| text.contains("email.read")), "{error:#}");
    let without = server.client_with(&["webhooks.read", "tasks.read"]).await;
    without.get("/v1/events").send().await.refused(403, "insufficient_scope");
    without.get(path(1)).send().await.refused(403, "insufficient_scope");
}

#[tokio::test]
async fn a_bound_key_sees_its_connections_only() {
    let server = server().await;
    let api = server.client().await;
    let tenant = key_of(&server, &api).await.tenant;
    let bound = server.key("test", |key| key.connection_ids = vec!["conn_a".to_owned()]).await;
    let others = [of_type("task.created", Some("conn_b")), of_type("webhook.disabled", None)];
    let notes = others.into_iter().chain([task("its own")]).collect();
    write(&server.app, &tenant, notes).await;
    let all = api.all("/v1/events").await;
    assert_eq!(all.len(), 3);
    assert_eq!(resources(&bound.all("/v1/events").await), ["its own"]);
    for event in &all {
        let read = bound.get(format!("/v1/events/{}", event["id"].as_str().expect("an id"))).send().await;
        match event["connection_id"] == "conn_a" {
            true => assert_eq!(read.expect(200), *event),
            false => drop(read.refused(404, "not_found")),
        }
    }
    let mut stream = stream::Events::open(&server, &bound, "?after_sequence=0", None).await;
    assert_eq!(stream.event().await["data"]["resourceId"], "its own");
    bound.get("/v1/events?connection_id=conn_b").send().await.refused(404, "not_found");
}

#[tokio::test]
async fn the_events_of_other_applications_do_not_exist() {
    let server = server().await;
    let (owner, stranger) = (server.key("owner", |_| ()).await, server.key("stranger", |_| ()).await);
    write(&server.app, &key_of(&server, &owner).await.tenant, vec![task("a")]).await;
    let event = owner.all("/v1/events").await.remove(0);
    assert_eq!(stranger.all("/v1/events").await, [] as [Value; 0]);
    let path = format!("/v1/events/{}", event["id"].as_str().expect("an id"));
    let theirs = stranger.get(path).send().await.refused(404, "not_found");
    let nothing = stranger.get("/v1/events/ev_none").send().await.refused(404, "not_found");
    assert_eq!(theirs["message"], nothing["message"]);
}

/// A page reads at most 5,000 entries of the log, and says that there are more.
#[tokio::test]
async fn a_page_of_rare_events_may_be_empty() {
    let server = server().await;
    let api = server.client().await;
    let tenant = key_of(&server, &api).await.tenant;
    for n in 0..5 {
        let notes = (0..1_000).map(|m| task(&format!("{n}-{m}"))).collect();
        write(&server.app, &tenant, notes).await;
    }
    write(&server.app, &tenant, vec![of_type("calendar.created", None)]).await;
    let page = api.get("/v1/events?type=calendar.*").send().await.expect(200);
    assert_eq!((&page["data"], &page["last_sequence"]), (&json!([]), &json!(5_000)));
    assert!(page["next_cursor"].is_string());
    assert_eq!(types(&api.all("/v1/events?type=calendar.*").await), ["calendar.created"]);
}

/// A client that was away for longer than events are kept gets an error instead of a log with a gap.
#[tokio::test]
async fn events_older_than_kept_are_told() {
    let server = server().await;
    let api = server.client().await;
    let tenant = key_of(&server, &api).await.tenant;
    let old = write(&server.app, &tenant, vec![task("old"), task("older than kept")]).await;
    let gone = api.all("/v1/events").await.remove(0);
    server.clock.advance_ms(31 * DAY_MS);
    write(&server.app, &tenant, vec![task("new")]).await;
    retention::clean(&server.app).await.expect("a clean-up");

    assert_eq!(resources(&api.all("/v1/events").await), ["new"]);
    for position in [0, old] {
        let path = format!("/v1/events?after_sequence={position}");
        api.get(path).send().await.refused(409, "sync_reset_required");
        let answer = stream::answer(&server, &api, "", Some(position)).await;
        assert_eq!(answer.status(), 409);
    }
    assert_eq!(resources(&api.all(&format!("/v1/events?after_sequence={}", old + 1)).await), ["new"]);
    let path = format!("/v1/events/{}", gone["id"].as_str().expect("an id"));
    api.get(path).send().await.refused(404, "not_found");
}

#[tokio::test]
async fn events_are_kept_as_long_as_the_operator_says() {
    let server = TestServer::builder().config(|config| config.events_days = 60).start().await;
    let api = server.client().await;
    let tenant = key_of(&server, &api).await.tenant;
    write(&server.app, &tenant, vec![task("a")]).await;
    server.clock.advance_ms(59 * DAY_MS);
    retention::clean(&server.app).await.expect("a clean-up");
    assert_eq!(resources(&api.all("/v1/events?after_sequence=0").await), ["a"]);
    server.clock.advance_ms(2 * DAY_MS);
    retention::clean(&server.app).await.expect("a clean-up");
    assert_eq!(api.all("/v1/events").await, [] as [Value; 0]);
}

#[tokio::test]
async fn wrong_input_is_told_with_its_parameter() {
    let server = server().await;
    let api = server.client().await;
    for (query, param) in [
        ("limit=0", "limit"),
        ("type=calendar", "type"),
        ("type=calendar.*,nothing.*", "type"),
        ("after_sequence=x", "after_sequence"),
        ("after_sequence=-1", "after_sequence"),
        ("include_backfill=yes", "include_backfill"),
    ] {
        let error = api.get(format!("/v1/events?{query}")).send().await.refused(400, "invalid_parameter");
        assert_eq!(error["param"], param, "{query}");
    }
    api.get("/v1/events?cursor=x").send().await.refused(400, "invalid_cursor");
    api.get("/v1/events?connection_id=conn_none").send().await.refused(404, "not_found");
    // A number that was never given out: of a database that was put back.
    api.get("/v1/events?after_sequence=1000000").send().await.refused(409, "sync_reset_required");
}
