//! Event types whose bookings wait for their host.

use harness::TestServer;
use serde_json::{Value, json};

use super::{BOOKINGS, DAY, Desk, booking, on, starts};

/// It holds its time like a confirmed one, until the host has decided or its time is over.
#[tokio::test]
async fn a_pending_booking_blocks_its_slot() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({ "requiresConfirmation": true })).await;
    let other = desk.open("other", json!({})).await;
    let booked = desk.api.post(BOOKINGS, booking(&id, "09:00")).send().await.expect(201);
    assert_eq!((&booked["status"], &booked["confirmBy"]), (&json!("pending"), &booked["start"]));
    for event_type in [&id, &other] {
        assert!(!starts(&desk.api, &on(event_type, DAY)).await.contains(&"09:00".to_owned()));
        let again = desk.api.post(BOOKINGS, booking(event_type, "09:00")).send().await;
        again.refused(409, "slot_unavailable");
    }
}

/// With `pendingBlocksSlot: false` a pending booking leaves its time to others, fills no day's limit, and is not written to the calendar.
#[tokio::test]
async fn a_pending_booking_can_hold_nothing() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let fields = json!({
        "requiresConfirmation": true, "pendingBlocksSlot": false, "limits": { "perDay": 1 },
    });
    let id = desk.open("intro", fields).await;
    for _ in 0..2 {
        let booked = desk.api.post(BOOKINGS, booking(&id, "09:00")).send().await.expect(201);
        assert_eq!((&booked["status"], &booked["calendarEvents"]), (&json!("pending"), &json!([])));
        assert_eq!(booked["hostIds"], json!([desk.connection]));
    }
    assert_eq!(starts(&desk.api, &on(&id, DAY)).await.len(), 6);
}

/// How long the host has to decide is counted from the booking on, and ends with its start.
#[tokio::test]
async fn the_time_to_confirm_is_limited() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let hour = json!({ "requiresConfirmation": true, "confirmationExpiresMinutes": 60 });
    let hour = desk.open("hour", hour).await;
    let year = json!({ "requiresConfirmation": true, "confirmationExpiresMinutes": 500_000 });
    let year = desk.open("year", year).await;
    let cases: [(&str, &str, Value); 2] = [
        (&hour, "09:00", json!("2026-03-01T09:00:00.000Z")),
        (&year, "09:30", json!("2026-03-10T09:30:00.000Z")),
    ];
    for (event_type, time, expected) in cases {
        let booked = desk.api.post(BOOKINGS, booking(event_type, time)).send().await.expect(201);
        assert_eq!(booked["confirmBy"], expected);
    }
}
