//! A calendar that was away: receivers get the deletion of its events, and their return.

use serde_json::json;

use crate::webhooks::desk::Desk;

/// The return is reported too, because it is no initial sync: receivers that deleted the events get them again.
#[tokio::test]
async fn the_events_of_a_calendar_that_was_away_are_told_as_deleted_and_created() {
    let mut desk = Desk::start().await;
    let provider = desk.server.provider("alice");
    let new = json!({ "connectionId": desk.connection, "name": "Away", "timeZone": "UTC" });
    let calendar = desk.api.post("/v1/calendars", new).send().await.expect(201);
    let events = format!("/v1/calendars/{}/events", calendar["id"].as_str().expect("an id"));
    for hour in [9, 10] {
        let at = |minute: u8| format!("2026-03-02T{hour:02}:{minute:02}:00Z");
        let event = json!({ "title": "Planning", "start": at(0), "end": at(30) });
        desk.api.post(&events, event).send().await.expect(201);
    }
    assert_eq!(desk.api.all(&events).await.len(), 2);
    desk.subscribe(&["calendar.event.deleted", "calendar.event.created"]).await;

    provider.post("/sandbox/faults", json!({ "missing": calendar["externalId"] })).send().await.expect(201);
    let list = format!("/v1/calendars?connection_id={}", desk.connection);
    for is_there in [false, true] {
        desk.server.clock.advance_ms(1);
        let listed = desk.api.get(&list).header("cache-control", "no-cache").send().await.expect(200);
        let all = listed["data"].as_array().expect("a list");
        assert_eq!(all.iter().any(|one| one["id"] == calendar["id"]), is_there);
    }
    let ids: Vec<String> = desk
        .api
        .all(&events)
        .await
        .iter()
        .map(|event| event["id"].as_str().expect("an id").to_owned())
        .collect();
    assert_eq!(ids.len(), 2);

    desk.server.deliver().await;
    let mut received: Vec<_> = desk.receiver.taken().iter().map(|one| one.json()).collect();
    received.sort_by_key(|event| event["sequence"].as_i64());
    let types: Vec<&str> = received.iter().filter_map(|event| event["type"].as_str()).collect();
    let (deleted, created) = ("calendar.event.deleted", "calendar.event.created");
    assert_eq!(types, [deleted, deleted, created, created]);
    for half in received.chunks(2) {
        let mut told: Vec<&str> =
            half.iter().filter_map(|event| event["data"]["resourceId"].as_str()).collect();
        told.sort_unstable();
        let mut expected: Vec<&str> = ids.iter().map(String::as_str).collect();
        expected.sort_unstable();
        assert_eq!(told, expected);
        assert!(half.iter().all(|event| event["data"]["origin"] == "provider"), "{half:#?}");
    }
}
