//! `/v1/scheduling/availability/query`

use harness::TestServer;
use serde_json::{Value, json};

use super::{BOOKINGS, DAY, Desk, EVENT_TYPES, SLOTS, booking, on, starts};

/// Slots lie in the hours of the schedule, on its grid, and not where a calendar or a booking has something.
#[tokio::test]
async fn slots_follow_the_schedule_and_the_calendar() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let all = ["09:00", "09:30", "10:00", "10:30", "11:00", "11:30"];
    assert_eq!(starts(&desk.api, &on(&id, DAY)).await, all);
    assert!(starts(&desk.api, &on(&id, "2026-03-08")).await.is_empty(), "a Sunday");

    desk.event("2026-03-10T09:40:00Z", "2026-03-10T10:00:00Z").await;
    desk.api.post(BOOKINGS, booking(&id, "11:00")).send().await.expect(201);
    assert_eq!(starts(&desk.api, &on(&id, DAY)).await, ["09:00", "10:00", "10:30", "11:30"]);

    let path = format!("{EVENT_TYPES}/{id}");
    let buffers = json!({ "bufferAfterMinutes": 15, "slotIntervalMinutes": 15 });
    desk.api.patch(path, buffers).send().await.expect(200);
    // 09:00 ends at 09:30, and its buffer at 09:45; 10:15 touches 11:00 with its buffer.
    let expected = ["10:00", "10:15", "11:30"];
    assert_eq!(starts(&desk.api, &on(&id, DAY)).await, expected);
}

/// A slot has its local time, its host, and a token; pages follow each other without gap or repetition.
#[tokio::test]
async fn slots_come_in_pages_and_in_the_callers_zone() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let mut query = on(&id, DAY);
    query["timeZone"] = json!("Asia/Kathmandu");
    query["limit"] = json!(4);
    let first = desk.api.post(SLOTS, query.clone()).send().await.expect(200);
    let slot = &first["data"][0];
    assert_eq!(
        (&slot["start"], &slot["localStart"]),
        (&json!("2026-03-10T09:00:00.000Z"), &json!("2026-03-10T14:45:00+05:45"))
    );
    assert_eq!((&slot["hostIds"], &slot["hostCount"]), (&json!([desk.connection]), &json!(1)));
    assert_eq!((&first["complete"], &first["time_zone"]), (&json!(true), &json!("Asia/Kathmandu")));
    query["cursor"] = first["next_cursor"].clone();
    let second = desk.api.post(SLOTS, query.clone()).send().await.expect(200);
    assert_eq!(second["data"].as_array().map(Vec::len), Some(2));
    assert_eq!(
        (&second["data"][0]["start"], &second["next_cursor"]),
        (&json!("2026-03-10T11:00:00.000Z"), &Value::Null)
    );
    query["timeZone"] = json!("UTC");
    desk.api.post(SLOTS, query).send().await.refused(400, "invalid_cursor");
}

/// The event type can be named by its public name.
#[tokio::test]
async fn slots_by_slug_and_duration() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    desk.open("intro", json!({ "durationOptions": [60] })).await;
    let query = json!({
        "slug": "intro", "start": "2026-03-10T00:00:00Z", "end": "2026-03-11T00:00:00Z", "durationMinutes": 60
    });
    assert_eq!(starts(&desk.api, &query).await, ["09:00", "10:00", "11:00"]);
}

/// A key that may only book does not see the hosts.
#[tokio::test]
async fn a_browser_key_sees_no_host() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let browser = server.client_with(&["scheduling.book"]).await;
    let answer = browser.post(SLOTS, on(&id, DAY)).send().await.expect(200);
    let slot = &answer["data"][0];
    assert_eq!((&slot["hostIds"], &slot["hostCount"]), (&Value::Null, &json!(1)));
    let booked = browser.post(BOOKINGS, booking(&id, "09:00")).send().await.expect(201);
    assert_eq!((&booked["hostIds"], &booked["calendarEvents"]), (&json!([]), &json!([])));
    assert_eq!(booked["organizerConnectionId"], Value::Null);
    for answer in [&answer, &booked] {
        let text = answer.to_string();
        assert!(!text.contains(&desk.connection) && !text.contains(&desk.calendar), "{answer:#}");
    }
    browser.get(EVENT_TYPES).send().await.refused(403, "insufficient_scope");
}

/// A calendar that cannot be read is not an empty one: nothing is offered and nothing is booked, unless the event type says so.
#[tokio::test]
async fn a_dead_calendar_is_never_free() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let provider = server.provider("alice");
    let fault = json!({ "status": 503, "times": 1_000, "pathPrefix": "/sandbox/v1" });
    provider.post("/sandbox/faults", fault).send().await.expect(201);
    server.clock.advance_ms(1);
    let asked = desk.api.post(SLOTS, on(&id, DAY)).send().await;
    assert_eq!(asked.header("retry-after"), Some("5"));
    asked.refused(503, "availability_unknown");
    desk.api.post(BOOKINGS, booking(&id, "09:00")).send().await.refused(503, "availability_unknown");
    desk.api.post(BOOKINGS, booking(&id, "08:00")).send().await.refused(409, "slot_unavailable");

    let path = format!("{EVENT_TYPES}/{id}");
    desk.api.patch(path, json!({ "freeBusyFailure": "open" })).send().await.expect(200);
    let answer = desk.api.post(SLOTS, on(&id, DAY)).send().await.expect(200);
    assert_eq!(answer["complete"], false);
    assert_eq!(answer["unavailable_hosts"][0]["hostId"], json!(desk.connection));
    assert_eq!(answer["data"].as_array().map(Vec::len), Some(6));
    provider.delete("/sandbox/faults").send().await.expect(204);
}

/// Outlook publishes a day at home as free.
#[tokio::test]
async fn a_host_who_works_elsewhere_can_be_booked() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let path = format!("/v1/calendars/{}/events", desk.calendar);
    let at_home = json!({
        "title": "Home office", "start": format!("{DAY}T08:00:00Z"), "end": format!("{DAY}T17:00:00Z"),
        "showAs": "workingElsewhere",
    });
    let event = desk.api.post(&path, at_home).send().await.expect(201);
    assert_eq!((&event["showAs"], &event["busy"]), (&json!("workingElsewhere"), &json!(false)));
    let all = ["09:00", "09:30", "10:00", "10:30", "11:00", "11:30"];
    assert_eq!(starts(&desk.api, &on(&id, DAY)).await, all);
    desk.api.post(BOOKINGS, booking(&id, "10:00")).send().await.expect(201);
}
