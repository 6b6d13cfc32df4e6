//! `after_sequence` of change feeds: the sequence of any event is a position in every feed of its application.

use harness::{Actor, TestServer};
use serde_json::{Value, json};
use service::retention;

use crate::events::DAY_MS;

/// A calendar whose changes are followed, with its connection.
async fn followed(api: &Actor) -> (String, String) {
    let connection = api.connect_sandbox().await;
    let calendar = api.calendar(&connection, "Work").await;
    api.post(format!("/v1/calendars/{calendar}/sync/start"), json!({})).send().await.expect(202);
    // The first reading.
    api.get(format!("/v1/calendars/{calendar}/sync/changes?limit=500")).send().await.expect(200);
    (connection["id"].as_str().expect("an id").to_owned(), calendar)
}

async fn create(api: &Actor, calendar: &str, title: &str) -> Value {
    let event = json!({ "title": title, "start": "2026-03-02T11:00:00Z", "end": "2026-03-02T12:00:00Z" });
    api.post(format!("/v1/calendars/{calendar}/events"), event).send().await.expect(201)["id"].clone()
}

#[tokio::test]
async fn every_sequence_is_a_sync_position() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let (connection, calendar) = followed(&api).await;
    let mut created = Vec::new();
    for title in ["One", "Two", "Three", "Four"] {
        created.push(create(&api, &calendar, title).await);
    }
    let path = format!("/v1/events?type=calendar.event.created&connection_id={connection}");
    let events = api.all(&path).await;
    assert_eq!(events.iter().map(|e| e["data"]["resourceId"].clone()).collect::<Vec<_>>(), created);
    for (n, event) in events.iter().enumerate() {
        let sequence = &event["sequence"];
        let path = format!("/v1/calendars/{calendar}/sync/changes?after_sequence={sequence}");
        let page = api.get(path).send().await.expect(200);
        let changes = page["data"].as_array().expect("a list");
        let told: Vec<&Value> = changes.iter().map(|change| &change["resourceId"]).collect();
        assert_eq!(told, created[n + 1..].iter().collect::<Vec<_>>(), "after {sequence}");
        // It continues by cursor.
        let cursor = page["sync_cursor"].as_str().expect("a cursor");
        let path = format!("/v1/calendars/{calendar}/sync/changes?cursor={cursor}");
        assert_eq!(api.get(path).send().await.expect(200)["data"], json!([]));
    }
    // Also after an event that is not in the feed.
    let connected = api.all("/v1/events?type=connection.created").await.remove(0);
    let path = format!("/v1/calendars/{calendar}/sync/changes?after_sequence={}", connected["sequence"]);
    api.get(path).send().await.expect(200);
}

/// The feed of a whole surface has positions too.
#[tokio::test]
async fn contacts_have_positions_too() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let connection = api.connect_account("zoe").await;
    api.post("/v1/contacts/sync/start", json!({ "connectionId": connection })).send().await.expect(202);
    let feed = format!("/v1/contacts/sync/changes?connection_id={connection}");
    api.get(format!("{feed}&limit=500")).send().await.expect(200);
    let contact = json!({ "connectionId": connection, "displayName": "One" });
    let first = api.post("/v1/contacts", contact.clone()).send().await.expect(201);
    let second = api.post("/v1/contacts", contact).send().await.expect(201);
    let of_first = |event: &&Value| event["data"]["resourceId"] == first["id"];
    let events = api.all("/v1/events?type=contact.created").await;
    let event = events.iter().find(of_first).expect("it is in the log");
    let page = api.get(format!("{feed}&after_sequence={}", event["sequence"])).send().await.expect(200);
    let told: Vec<&Value> =
        page["data"].as_array().expect("a list").iter().map(|change| &change["resourceId"]).collect();
    assert_eq!(told, [&second["id"]]);
}

#[tokio::test]
async fn a_position_that_the_log_does_not_have_is_refused() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let (_, calendar) = followed(&api).await;
    create(&api, &calendar, "One").await;
    let event = api.all("/v1/events?type=calendar.event.created").await.remove(0);
    let feed = format!("/v1/calendars/{calendar}/sync/changes");
    for wrong in ["x", "-1", "1.5"] {
        let asked = api.get(format!("{feed}?after_sequence={wrong}")).send().await;
        assert_eq!(asked.refused(400, "invalid_parameter")["param"], "after_sequence");
    }
    let page = api.get(format!("{feed}?after_sequence={}", event["sequence"])).send().await.expect(200);
    let cursor = page["sync_cursor"].as_str().expect("a cursor");
    let both = api.get(format!("{feed}?after_sequence=1&cursor={cursor}")).send().await;
    assert_eq!(both.refused(400, "conflicting_fields")["param"], "after_sequence");
    api.get(format!("{feed}?after_sequence=1000000")).send().await.refused(409, "sync_reset_required");
    server.clock.advance_ms(31 * DAY_MS);
    create(&api, &calendar, "Two").await;
    retention::clean(&server.app).await.expect("a clean-up");
    api.get(format!("{feed}?after_sequence=1")).send().await.refused(409, "sync_reset_required");
}
