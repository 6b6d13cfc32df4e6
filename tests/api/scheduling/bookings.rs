//! `/v1/scheduling/bookings`

use harness::TestServer;
use serde_json::{Value, json};

use super::{BOOKINGS, DAY, Desk, EVENT_TYPES, SLOTS, booking, on, starts, text, time_of};

/// A booking is returned whole, and is in the log.
#[tokio::test]
async fn a_slot_is_booked() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let fields = json!({
        "locations": [{ "type": "link", "value": "https://meet.example.org/alice" }],
        "questions": [{ "key": "topic_of_call", "label": "Topic", "type": "select", "options": ["a", "b"], "required": true }],
    });
    let id = desk.open("intro", fields).await;
    let mut body = booking(&id, "09:30");
    body["answers"] = json!({ "topic_of_call": "b" });
    body["inviteeTimeZone"] = json!("Europe/Berlin");
    body["metadata"] = json!({ "lead": "1" });
    let booked = desk.api.post(BOOKINGS, body).send().await.expect(201);
    assert!(text(&booked["id"]).starts_with("bk_"));
    assert_eq!((&booked["status"], &booked["slug"]), (&json!("confirmed"), &json!("intro")));
    assert_eq!(
        (&booked["start"], &booked["end"]),
        (&json!("2026-03-10T09:30:00.000Z"), &json!("2026-03-10T10:00:00.000Z"))
    );
    assert_eq!(
        (&booked["title"], &booked["timeZone"]),
        (&json!("Intro call with Ada"), &json!("Europe/Berlin"))
    );
    assert_eq!(booked["location"]["joinUrl"], "https://meet.example.org/alice");
    assert_eq!(
        (&booked["hostIds"], &booked["answers"]),
        (&json!([desk.connection]), &json!({ "topic_of_call": "b" }))
    );
    let event = &booked["calendarEvents"][0];
    assert_eq!((&event["status"], &event["calendarId"]), (&json!("pending"), &json!(desk.calendar)));
    assert!(text(&booked["iCalUid"]).starts_with(&text(&booked["id"])));
    assert_eq!((&booked["metadata"], &booked["source"]), (&json!({ "lead": "1" }), &json!("api")));
    assert!(booked["manageToken"].is_string(), "only here");
    assert_eq!(booked["warnings"][0]["code"], "notification_unavailable");
    assert!(!starts(&desk.api, &on(&id, DAY)).await.contains(&"09:30".to_owned()));
}

/// A repeated request is answered as the first one, and so is one that was refused.
#[tokio::test]
async fn the_same_key_books_once() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let first = desk.api.post(BOOKINGS, booking(&id, "09:00")).keyed("a").send().await.expect(201);
    let again = desk.api.post(BOOKINGS, booking(&id, "09:00")).keyed("a").send().await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.expect(201), first);
    for _ in 0..2 {
        let other = desk.api.post(BOOKINGS, booking(&id, "09:00")).keyed("b").send().await;
        other.refused(409, "slot_unavailable");
    }
    assert_eq!(starts(&desk.api, &on(&id, DAY)).await.len(), 5);
}

/// Every slot that is offered can be booked, with the token that it came with.
#[tokio::test]
async fn every_offered_slot_books() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let shapes = [
        json!({}),
        json!({ "slotIntervalMinutes": 10, "bufferBeforeMinutes": 10 }),
        json!({ "durationMinutes": 45, "bufferAfterMinutes": 5 }),
        json!({ "slotOffsetMinutes": 15, "limits": { "perDay": 2 } }),
    ];
    desk.event("2026-03-10T10:10:00Z", "2026-03-10T10:20:00Z").await;
    for (n, shape) in shapes.into_iter().enumerate() {
        // A day each: they share the host.
        let day = format!("2026-03-1{n}");
        let id = desk.open(&format!("shape-{n}"), shape.clone()).await;
        loop {
            let answer = desk.api.post(SLOTS, on(&id, &day)).send().await.expect(200);
            let Some(slot) = answer["data"].as_array().and_then(|slots| slots.last()) else { break };
            let mut body = booking(&id, "00:00");
            body["start"] = slot["start"].clone();
            body["slotToken"] = slot["slotToken"].clone();
            desk.api.post(BOOKINGS, body).send().await.expect(201);
        }
    }
}

/// A start that the search does not offer cannot be booked, for whatever reason.
#[tokio::test]
async fn a_start_that_was_not_offered_is_409() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let window =
        json!({ "bookingWindow": { "kind": "range", "endDate": "2026-03-10" }, "bufferAfterMinutes": 15 });
    let id = desk.open("intro", window).await;
    desk.event("2026-03-10T09:30:00Z", "2026-03-10T09:45:00Z").await;
    let limited = desk.open("limited", json!({ "limits": { "perDay": 1 } })).await;
    desk.api.post(BOOKINGS, booking(&limited, "11:30")).send().await.expect(201);
    let reasons = [
        ("off the grid", &id, "2026-03-10T10:10:00Z"),
        ("past", &id, "2026-02-27T09:00:00Z"),
        ("too soon", &id, "2026-03-01T09:30:00Z"),
        ("after the window", &id, "2026-03-11T09:00:00Z"),
        ("closed", &id, "2026-03-10T13:00:00Z"),
        ("busy in a calendar", &id, "2026-03-10T09:30:00Z"),
        ("its buffer is busy", &id, "2026-03-10T09:00:00Z"),
        ("another event type has the host", &id, "2026-03-10T11:30:00Z"),
        ("its buffer meets another meeting", &id, "2026-03-10T11:00:00Z"),
        ("the day is full", &limited, "2026-03-10T10:00:00Z"),
    ];
    for (reason, event_type, start) in reasons {
        let mut body = booking(event_type, "00:00");
        body["start"] = json!(start);
        let answer = desk.api.post(BOOKINGS, body).send().await;
        assert_eq!(answer.status, 409, "{reason}: {answer}");
        answer.refused(409, "slot_unavailable");
    }
    assert_eq!(starts(&desk.api, &on(&id, DAY)).await, ["10:00", "10:30"]);
}

/// A change in the calendar after slots were listed decides.
#[tokio::test]
async fn an_edit_at_the_provider_wins_over_the_list() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let listed = desk.api.post(SLOTS, on(&id, DAY)).send().await.expect(200);
    assert_eq!(time_of(&listed["data"][0]["start"]), "09:00");
    let calendar = desk.api.get(format!("/v1/calendars/{}", desk.calendar)).send().await.expect(200);
    let theirs = format!("/sandbox/v1/calendars/{}/events", text(&calendar["externalId"]));
    let at = |time: &str| json!(format!("{DAY}T{time}:00Z"));
    let event =
        json!({ "id": "edit", "title": "Busy", "start": at("09:00"), "end": at("09:15"), "timeZone": "UTC" });
    server.provider("alice").post(theirs, event).send().await.expect(201);
    server.clock.advance_ms(1);
    let mut body = booking(&id, "09:00");
    body["slotToken"] = listed["data"][0]["slotToken"].clone();
    desk.api.post(BOOKINGS, body).send().await.refused(409, "slot_unavailable");
}

/// A token of an event type as it was before is refused at once, one of another slot is a mistake.
#[tokio::test]
async fn a_slot_token_is_checked() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let listed = desk.api.post(SLOTS, on(&id, DAY)).send().await.expect(200);
    let token = listed["data"][0]["slotToken"].clone();
    let with_token = |time: &str, token: &Value| {
        let mut body = booking(&id, time);
        body["slotToken"] = token.clone();
        body
    };
    for (time, token) in [("09:30", &token), ("09:00", &json!("nonsense"))] {
        let refused = desk.api.post(BOOKINGS, with_token(time, token)).send().await;
        assert_eq!(refused.refused(400, "invalid_parameter")["param"], "slotToken");
    }
    desk.api.patch(format!("{EVENT_TYPES}/{id}"), json!({ "title": "Other" })).send().await.expect(200);
    desk.api.post(BOOKINGS, with_token("09:00", &token)).send().await.refused(409, "slot_unavailable");
}

/// An address has no more bookings ahead than the event type allows, however it is spelled.
#[tokio::test]
async fn an_invitee_has_a_limit() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({ "limits": { "activePerInvitee": 1 } })).await;
    desk.api.post(BOOKINGS, booking(&id, "09:00")).send().await.expect(201);
    let mut again = booking(&id, "10:00");
    again["inviteeEmail"] = json!("ADA@Example.org");
    desk.api.post(BOOKINGS, again.clone()).send().await.refused(409, "booking_limit_reached");
    again["inviteeEmail"] = json!("bob@example.org");
    desk.api.post(BOOKINGS, again).send().await.expect(201);
}

/// Bookings and cancellations are counted, whoever makes them; a repeated request counts once.
#[tokio::test]
async fn bookings_are_counted() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({ "requiresConfirmation": true })).await;
    let browser = server.client_with(&["scheduling.book"]).await;
    let book = |time: &str| browser.post(BOOKINGS, booking(&id, time)).keyed(&format!("book {time}")).send();
    let (first, second) = (book("09:00").await.expect(201), book("10:00").await.expect(201));
    book("10:00").await.expect(201);
    book("11:00").await.expect(201);
    let path = |booked: &Value, verb: &str| format!("{BOOKINGS}/{}/{verb}", text(&booked["id"]));
    desk.api.post(path(&first, "cancel"), json!({})).send().await.expect(200);
    desk.api.post(path(&second, "reject"), json!({})).send().await.expect(200);
    let usage = desk.api.get("/v1/usage").send().await.expect(200);
    assert_eq!(usage["bookings"], json!({ "created": 3, "cancelled": 1 }));
}
