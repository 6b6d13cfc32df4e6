//! A booking in the calendar of its host.

use harness::{Actor, TestServer};
use serde_json::{Value, json};
use service::bookings::event_write;
use service::job_runner::runner;

/// A Tuesday within working hours, days after a test's beginning.
const START: &str = "2026-03-10T10:00:00Z";
const INVITEE: &str = "ada@example.org";

/// Opens an hour of alice's calendar "Work" to be booked; the calendar.
async fn bookable(api: &Actor) -> (String, Value) {
    let connection = api.connect_sandbox().await;
    let calendar = api.calendar(&connection, "Work").await;
    let event_type = json!({
        "slug": "intro",
        "title": "Intro call",
        "durationMinutes": 30,
        "hosts": [{
            "connectionId": connection["id"], "calendarId": calendar, "conflictCalendarIds": [calendar]
        }],
        "schedule": {
            "timeZone": "UTC", "weekly": [{ "days": [1, 2, 3, 4, 5], "start": "09:00", "end": "17:00" }]
        },
    });
    let made = api.post("/v1/scheduling/event-types", event_type).send().await.expect(201);
    (calendar, made["id"].clone())
}

async fn book(api: &Actor, event_type_id: &Value) -> Value {
    let booking = json!({
        "eventTypeId": event_type_id, "start": START, "inviteeEmail": INVITEE, "inviteeName": "Ada",
    });
    api.post("/v1/scheduling/bookings", booking).send().await.expect(201)
}

/// Writes due events, as the service does by itself when a booking is made or a write is due again.
async fn write_events(server: &TestServer) {
    runner::drain(&server.app, &[event_write::BOOKING_EVENT]).await.expect("the jobs are run");
}

/// The events that invite who booked, as the provider has them now.
async fn events_there(api: &Actor, calendar: &str) -> Vec<Value> {
    let path = format!("/v1/calendars/{calendar}/events?start={START}&end=2026-03-10T10:30:00Z");
    let page = api.get(path).header("cache-control", "no-cache").send().await.expect(200);
    let all = page["data"].as_array().expect("a list").iter();
    all.filter(|event| event["attendees"][0]["email"] == INVITEE).cloned().collect()
}

/// The host's calendar shows who booked, under the UID of the booking.
#[tokio::test]
async fn a_booking_appears_in_the_providers_calendar() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let (calendar, event_type) = bookable(&api).await;
    let booking = book(&api, &event_type).await;

    write_events(&server).await;
    let events = events_there(&api, &calendar).await;
    let [event] = &events[..] else { panic!("one event: {events:#?}") };
    assert_eq!(event["title"], booking["title"]);
    assert_eq!(event["iCalUid"], booking["iCalUid"]);
    assert_eq!(event["start"], booking["start"]);
}

/// A provider that does not answer delays the event. The booking stays valid, and the event is written once.
#[tokio::test]
async fn a_failed_write_heals() {
    let server = TestServer::start().await;
    let (api, provider) = (server.client().await, server.provider("alice"));
    let (calendar, event_type) = bookable(&api).await;
    book(&api, &event_type).await;

    let fault = json!({ "status": 503, "times": 1000, "pathPrefix": "/sandbox/v1" });
    provider.post("/sandbox/faults", fault).send().await.expect(201);
    write_events(&server).await;
    provider.delete("/sandbox/faults").send().await.expect(204);
    assert_eq!(events_there(&api, &calendar).await.len(), 0);

    server.app.clock.advance_ms(10_000);
    write_events(&server).await;
    assert_eq!(events_there(&api, &calendar).await.len(), 1);
}
