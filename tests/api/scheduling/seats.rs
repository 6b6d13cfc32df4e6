//! Event types whose meetings have several seats.

use harness::TestServer;
use harness::browser::Browser;
use serde_json::{Value, json};
use service::bookings::event_write::BOOKING_EVENT;
use service::job_runner::runner;

use super::page::address;
use super::{BOOKINGS, DAY, Desk, SLOTS, booking, on, starts, text};

/// Returns the booking of a guest with a separate address.
fn of_guest(event_type: &str, time: &str, guest: usize) -> Value {
    let mut body = booking(event_type, time);
    body["inviteeEmail"] = json!(format!("guest{guest}@example.org"));
    body
}

async fn seats_left(desk: &Desk, event_type: &str) -> Value {
    let answer = desk.api.post(SLOTS, on(event_type, DAY)).send().await.expect(200);
    answer["data"][0]["seatsRemaining"].clone()
}

/// One meeting has all seats, and one event without attendees; then the slot is taken.
#[tokio::test]
async fn seats_fill_one_meeting_then_end() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("class", json!({ "seatsPerSlot": 3 })).await;
    let mut booked = Vec::new();
    for guest in 0..3 {
        assert_eq!(seats_left(&desk, &id).await, json!(3 - guest));
        let body = of_guest(&id, "09:00", guest);
        booked.push(desk.api.post(BOOKINGS, body).send().await.expect(201));
        runner::drain(&server.app, &[BOOKING_EVENT]).await.expect("the jobs are run");
    }
    desk.api.post(BOOKINGS, of_guest(&id, "09:00", 3)).send().await.refused(409, "slot_unavailable");
    assert_eq!(starts(&desk.api, &on(&id, DAY)).await, ["09:30", "10:00", "10:30", "11:00", "11:30"]);
    let uids: std::collections::BTreeSet<String> = booked.iter().map(|b| text(&b["iCalUid"])).collect();
    assert_eq!(uids.len(), 3, "each has an invitation of their own");

    let path = format!("/v1/calendars/{}/events?start={DAY}T00:00:00Z&end={DAY}T23:00:00Z", desk.calendar);
    let page = desk.api.get(path).header("cache-control", "no-cache").send().await.expect(200);
    let events = page["data"].as_array().expect("a list");
    assert_eq!(events.len(), 1, "{events:#?}");
    assert_eq!((&events[0]["title"], &events[0]["attendees"]), (&json!("Intro call"), &json!([])));
}

/// Two seats and ten who want one.
#[tokio::test]
async fn the_last_seat_goes_once() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("class", json!({ "seatsPerSlot": 2 })).await;
    let asked: Vec<_> = (0..10)
        .map(|guest| {
            let ask = desk.api.post(BOOKINGS, of_guest(&id, "09:00", guest));
            tokio::spawn(async move { ask.send().await })
        })
        .collect();
    let mut made = 0;
    for answer in asked {
        let answer = answer.await.expect("the request is sent");
        if answer.status == 201 {
            made += 1;
        } else {
            answer.refused(409, "slot_unavailable");
        }
    }
    assert_eq!(made, 2);
}

/// A meeting is one for the limits, however many are in it.
#[tokio::test]
async fn a_full_day_still_has_the_seats_of_its_meetings() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("class", json!({ "seatsPerSlot": 2, "limits": { "perDay": 1 } })).await;
    desk.api.post(BOOKINGS, of_guest(&id, "10:00", 0)).send().await.expect(201);
    assert_eq!(starts(&desk.api, &on(&id, DAY)).await, ["10:00"]);
    desk.api.post(BOOKINGS, of_guest(&id, "10:00", 1)).send().await.expect(201);
    assert!(starts(&desk.api, &on(&id, DAY)).await.is_empty());
}

/// The number of free seats is shown to invitees only if the event type allows it.
#[tokio::test]
async fn the_number_of_seats_is_told_where_it_may_be() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let hidden = desk.open("hidden", json!({ "seatsPerSlot": 2 })).await;
    let shown = desk.open("shown", json!({ "seatsPerSlot": 2, "showSeatCount": true })).await;
    let browser = server.client_with(&["scheduling.book"]).await;
    for (id, expected) in [(hidden, Value::Null), (shown, json!(2))] {
        let answer = browser.post(SLOTS, on(&id, DAY)).send().await.expect(200);
        assert_eq!(answer["data"][0]["seatsRemaining"], expected);
        assert_eq!(seats_left(&desk, &id).await, json!(2));
    }
    // On the page as in the API.
    let page = async |slug: &str| {
        Browser::default().open(&format!("{}?day={DAY}", address(&desk.api, slug).await)).await
    };
    let told = page("shown").await;
    assert!(told.text.contains(">09:00 <small>Seats left: 2</small></a>"), "{told:#?}");
    let hidden = page("hidden").await;
    assert!(hidden.text.contains(">09:00</a>") && !hidden.text.contains("Seats left"), "{hidden:#?}");
}
