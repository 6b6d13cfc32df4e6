//! How much and how far ahead can be booked.

use harness::TestServer;
use serde_json::{Value, json};

use super::{BOOKINGS, DAY, Desk, booking, on, starts};

/// Books a time of a day for a new address.
async fn book(desk: &Desk, event_type: &str, day: &str, time: &str) {
    let mut body = booking(event_type, time);
    body["start"] = json!(format!("{day}T{time}:00Z"));
    desk.api.post(BOOKINGS, body).send().await.expect(201);
}

async fn number(desk: &Desk, event_type: &str, day: &str) -> usize {
    starts(&desk.api, &on(event_type, day)).await.len()
}

/// When a week has as many meetings as it may, none of its days offers anything; the next week does.
#[tokio::test]
async fn a_full_week_vanishes() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({ "limits": { "perWeek": 2 } })).await;
    book(&desk, &id, "2026-03-09", "09:00").await;
    assert_eq!(number(&desk, &id, DAY).await, 6);
    book(&desk, &id, DAY, "09:00").await;
    for day in ["2026-03-09", DAY, "2026-03-11", "2026-03-13"] {
        assert_eq!(number(&desk, &id, day).await, 0, "{day}");
    }
    assert_eq!(number(&desk, &id, "2026-03-16").await, 6);
    let refused = desk.api.post(BOOKINGS, booking(&id, "11:00")).send().await;
    refused.refused(409, "slot_unavailable");
}

/// Each limit counts its own period in the schedule's zone.
#[tokio::test]
async fn each_period_has_its_limit() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let cases = [
        ("day", json!({ "perDay": 1 }), "2026-03-11"),
        ("minutes", json!({ "minutesPerDay": 30 }), "2026-03-11"),
        ("month", json!({ "perMonth": 1 }), "2026-04-01"),
        ("year", json!({ "perYear": 1 }), "2027-01-04"),
    ];
    for (n, (slug, limits, free)) in cases.into_iter().enumerate() {
        let id = desk.open(slug, json!({ "limits": limits })).await;
        // They share the host.
        book(&desk, &id, DAY, ["09:00", "09:30", "10:00", "10:30"][n]).await;
        assert_eq!(number(&desk, &id, DAY).await, 0, "{slug}");
        assert_eq!(number(&desk, &id, free).await, 6, "{slug}");
    }
}

/// The last day that can be booked is counted from today, or named.
#[tokio::test]
async fn a_booking_window_ends() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    // It is Sunday, 1 March.
    let cases: [(&str, Value, [usize; 2]); 5] = [
        ("rolling", json!({ "kind": "rolling", "days": 9 }), [6, 0]),
        ("short", json!({ "kind": "rolling", "days": 8 }), [0, 0]),
        ("business", json!({ "kind": "rolling", "days": 7, "businessDays": true }), [6, 0]),
        ("range", json!({ "kind": "range", "startDate": "2026-03-11" }), [0, 6]),
        ("unlimited", json!({ "kind": "unlimited" }), [6, 6]),
    ];
    for (slug, window, expected) in cases {
        let id = desk.open(slug, json!({ "bookingWindow": window })).await;
        let found = [number(&desk, &id, DAY).await, number(&desk, &id, "2026-03-11").await];
        assert_eq!(found, expected, "{slug}");
    }
}

/// One of several lengths is chosen; it is the step of the grid and the time that must be free.
#[tokio::test]
async fn a_length_is_chosen() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({ "durationOptions": [60] })).await;
    desk.event("2026-03-10T10:30:00Z", "2026-03-10T10:45:00Z").await;
    let mut query = on(&id, DAY);
    query["durationMinutes"] = json!(60);
    assert_eq!(starts(&desk.api, &query).await, ["09:00", "11:00"]);
    let mut body = booking(&id, "10:00");
    body["durationMinutes"] = json!(60);
    desk.api.post(BOOKINGS, body.clone()).send().await.refused(409, "slot_unavailable");
    body["durationMinutes"] = json!(30);
    let booked = desk.api.post(BOOKINGS, body).send().await.expect(201);
    assert_eq!(booked["end"], json!("2026-03-10T10:30:00.000Z"));
}
