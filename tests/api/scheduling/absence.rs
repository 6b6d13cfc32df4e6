//! The host's calendar is away for a while, as when it is unshared and shared again: that is no cancellation.

use harness::TestServer;
use serde_json::{Value, json};

use super::lifecycle::{book, read, run_jobs};
use super::provider_side::{events, the_event};
use super::{Desk, text};

const MINUTE_MS: i64 = 60_000;

/// The late check of a missing event cancels nothing if its calendar came back and was not read yet.
#[tokio::test]
async fn a_calendar_that_was_away_cancels_no_booking() {
    let server = TestServer::builder().without_pulls().start().await;
    let (desk, provider) = (Desk::of(&server, "alice").await, server.provider("alice"));
    let id = desk.open("intro", json!({})).await;
    let booked = book(&desk, &id, "09:00").await;
    run_jobs(&server).await;
    server.pull().await;
    let (before, _) = the_event(&server, &desk).await;
    let calendar = desk.api.get(format!("/v1/calendars/{}", desk.calendar)).send().await.expect(200);
    let fault = json!({ "missing": calendar["externalId"] });
    provider.post("/sandbox/faults", fault).send().await.expect(201);
    let list = format!("/v1/calendars?connection_id={}", desk.connection);
    for is_there in [false, true] {
        // A minute after an event disappeared it counts as deleted.
        server.clock.advance_ms(2 * MINUTE_MS);
        let listed = desk.api.get(&list).header("cache-control", "no-cache").send().await.expect(200);
        let all = listed["data"].as_array().expect("a list");
        assert_eq!(all.iter().any(|one| text(&one["id"]) == desk.calendar), is_there);
    }
    run_jobs(&server).await;
    assert_eq!(read(&desk.api, &booked).await["status"], "confirmed", "the calendar was not read yet");
    assert!(server.pull().await > 0, "it is read");
    server.clock.advance_ms(2 * MINUTE_MS);
    run_jobs(&server).await;
    assert_eq!(read(&desk.api, &booked).await["status"], "confirmed");
    let (after, _) = the_event(&server, &desk).await;
    assert_eq!(after["id"], before["id"]);
}

/// A provider may list a calendar again before it has everything in it again: events that are not there yet have a minute.
#[tokio::test]
async fn an_event_that_is_not_back_with_its_calendar_has_a_minute() {
    let server = TestServer::builder().without_pulls().start().await;
    let (desk, provider) = (Desk::of(&server, "alice").await, server.provider("alice"));
    let id = desk.open("intro", json!({})).await;
    let booked = book(&desk, &id, "09:00").await;
    run_jobs(&server).await;
    server.pull().await;
    let (_, theirs) = the_event(&server, &desk).await;
    let calendar = desk.api.get(format!("/v1/calendars/{}", desk.calendar)).send().await.expect(200);
    let fault = json!({ "missing": calendar["externalId"] });
    provider.post("/sandbox/faults", fault).send().await.expect(201);
    let list = format!("/v1/calendars?connection_id={}", desk.connection);
    for _ in 0..2 {
        server.clock.advance_ms(2 * MINUTE_MS);
        desk.api.get(&list).header("cache-control", "no-cache").send().await.expect(200);
    }
    provider.delete(theirs).send().await.expect(204);
    assert!(server.pull().await > 0, "the calendar is read");
    run_jobs(&server).await;
    assert_eq!(read(&desk.api, &booked).await["status"], "confirmed", "its calendar has just come back");
    server.clock.advance_ms(2 * MINUTE_MS);
    run_jobs(&server).await;
    let shown = read(&desk.api, &booked).await;
    assert_eq!((&shown["status"], &shown["cancelledBy"]), (&json!("cancelled"), &json!("host")));
}

/// While its calendar is away a deletion of an event cannot be seen; it is after the calendar's return, even if the check of the event
/// has long ended.
#[tokio::test]
async fn an_event_that_was_deleted_while_its_calendar_was_away_cancels_its_booking() {
    let server = TestServer::builder().without_pulls().start().await;
    let (desk, provider) = (Desk::of(&server, "alice").await, server.provider("alice"));
    let id = desk.open("intro", json!({})).await;
    let (deleted, kept) = (book(&desk, &id, "09:00").await, book(&desk, &id, "11:00").await);
    run_jobs(&server).await;
    server.pull().await;
    let calendar = desk.api.get(format!("/v1/calendars/{}", desk.calendar)).send().await.expect(200);
    let external = text(&calendar["externalId"]);
    let theirs = events(&server, &desk).await;
    let is_at_nine = |event: &&Value| text(&event["start"]).contains("T09:00");
    let event = theirs.iter().find(is_at_nine).expect("the event of the booking");
    let event = text(&event["externalId"]);
    // The search for its events reads the list as well.
    let fault = json!({ "missing": external, "times": 1000 });
    provider.post("/sandbox/faults", fault).send().await.expect(201);
    let list = format!("/v1/calendars?connection_id={}", desk.connection);
    server.clock.advance_ms(2 * MINUTE_MS);
    desk.api.get(&list).header("cache-control", "no-cache").send().await.expect(200);
    run_jobs(&server).await;
    let path = format!("/sandbox/v1/calendars/{external}/events/{event}");
    provider.delete(path).send().await.expect(204);
    server.clock.advance_ms(2 * MINUTE_MS);
    run_jobs(&server).await;
    for booked in [&deleted, &kept] {
        assert_eq!(read(&desk.api, booked).await["status"], "confirmed", "the calendar is away");
    }
    provider.delete("/sandbox/faults").send().await.expect(204);
    desk.api.get(&list).header("cache-control", "no-cache").send().await.expect(200);
    assert!(server.pull().await > 0, "the calendar is read");
    run_jobs(&server).await;
    assert_eq!(read(&desk.api, &deleted).await["status"], "confirmed", "the calendar has just come back");
    server.clock.advance_ms(2 * MINUTE_MS);
    run_jobs(&server).await;
    let shown = read(&desk.api, &deleted).await;
    assert_eq!((&shown["status"], &shown["cancelledBy"]), (&json!("cancelled"), &json!("host")));
    assert_eq!(read(&desk.api, &kept).await["status"], "confirmed", "its event is back");
}
