//! A host moves the event of a booking to another calendar: the booking follows it, and no cancellation is sent.

use harness::{Actor, TestServer};
use serde_json::{Value, json};

use super::lifecycle::{book, entries, logged, path, read, run_jobs};
use super::provider_side::{events, the_event};
use super::{BOOKINGS, DAY, Desk, booking, on, starts, text};

const MINUTE_MS: i64 = 60_000;

fn at(time: &str) -> Value {
    json!(format!("{DAY}T{time}:00.000Z"))
}

fn between(from: &str, to: &str) -> Value {
    let at = |time: &str| json!(format!("{DAY}T{time}:00Z"));
    json!({ "start": at(from), "end": at(to), "timeZone": "UTC" })
}

/// Another calendar of the host's.
struct Shelf {
    id: String,
    /// The path of its events at the provider.
    theirs: String,
}

impl Shelf {
    async fn of(desk: &Desk, name: &str) -> Shelf {
        let body = json!({ "connectionId": desk.connection, "name": name, "timeZone": "UTC" });
        let made = desk.api.post("/v1/calendars", body).send().await.expect(201);
        let theirs = format!("/sandbox/v1/calendars/{}/events", text(&made["externalId"]));
        Shelf { id: text(&made["id"]), theirs }
    }

    /// The events that it has now at the provider.
    async fn events(&self, provider: &Actor) -> Vec<Value> {
        let page = provider.get(&self.theirs).send().await.expect(200);
        page["events"].as_array().expect("a list").clone()
    }
}

/// The order in which another program files an event.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Filing {
    CopiesFirst,
    DeletesFirst,
}

/// The host's event as another program puts it elsewhere.
fn copy_of(event: &Value) -> Value {
    json!({
        "iCalUid": event["iCalUid"], "title": event["title"],
        "start": event["start"], "end": event["end"], "timeZone": "UTC",
    })
}

/// Another program files the event of the desk's calendar in another one. The service reads the desk's calendar after that.
async fn file(server: &TestServer, desk: &Desk, to: &str, filing: Filing) -> Value {
    let provider = server.provider("alice");
    let (event, theirs) = the_event(server, desk).await;
    if filing == Filing::CopiesFirst {
        provider.post(to, copy_of(&event)).send().await.expect(201);
    }
    provider.delete(theirs).send().await.expect(204);
    if filing == Filing::DeletesFirst {
        provider.post(to, copy_of(&event)).send().await.expect(201);
    }
    assert_eq!(events(server, desk).await, Vec::<Value>::new());
    event
}

/// A booking's event as the booking shows it: calendar, event and status.
async fn place(desk: &Desk, booked: &Value) -> (String, String, String) {
    let shown = read(&desk.api, booked).await;
    let event = &shown["calendarEvents"][0];
    (text(&event["calendarId"]), text(&event["eventId"]), text(&event["status"]))
}

/// Asserts that the booking has its event in this calendar, and that no cancellation was sent.
async fn assert_follows(server: &TestServer, desk: &Desk, booked: &Value, shelf: &Shelf) {
    let (calendar, _, status) = place(desk, booked).await;
    assert_eq!((calendar, status), (shelf.id.clone(), "written".to_owned()));
    let told = logged(server, &text(&booked["id"])).await;
    assert!(!told.iter().any(|(kind, _)| kind == "booking.cancelled"), "{told:?}");
    assert_eq!(told.last(), entries(&[("booking.updated", "provider")]).last());
}

#[tokio::test]
async fn a_booking_follows_its_event_into_another_calendar() {
    for filing in [Filing::CopiesFirst, Filing::DeletesFirst] {
        let server = TestServer::start().await;
        let (desk, provider) = (Desk::of(&server, "alice").await, server.provider("alice"));
        let shelf = Shelf::of(&desk, "Private").await;
        let id = desk.open("intro", json!({})).await;
        let booked = book(&desk, &id, "09:00").await;
        run_jobs(&server).await;
        let before = file(&server, &desk, &shelf.theirs, filing).await;
        run_jobs(&server).await;
        assert_follows(&server, &desk, &booked, &shelf).await;
        // At the end of the minute as before it.
        server.clock.advance_ms(MINUTE_MS);
        run_jobs(&server).await;
        assert_follows(&server, &desk, &booked, &shelf).await;
        let shown = read(&desk.api, &booked).await;
        assert_eq!(
            (&shown["status"], &shown["iCalUid"]),
            (&json!("confirmed"), &before["iCalUid"]),
            "{filing:?}"
        );
        assert!(!starts(&desk.api, &on(&id, DAY)).await.contains(&"09:00".to_owned()), "its time is taken");

        // The host's change there is noticed, and the calendar is read without any request.
        let (_, event, _) = place(&desk, &booked).await;
        let own = format!("/v1/calendars/{}/events/{event}", shelf.id);
        let sync = desk.api.get(format!("/v1/calendars/{}/sync/status", shelf.id)).send().await.expect(200);
        assert_ne!(sync["startedAt"], Value::Null);
        let theirs = desk.api.get(&own).send().await.expect(200);
        let theirs = format!("{}/{}", shelf.theirs, text(&theirs["externalId"]));
        provider.patch(&theirs, between("10:00", "10:30")).send().await.expect(200);
        server.clock.advance_ms(1_000);
        desk.api.get(&own).header("cache-control", "no-cache").send().await.expect(200);
        run_jobs(&server).await;
        assert_eq!(read(&desk.api, &booked).await["start"], at("10:00"), "{filing:?}");

        provider.delete(theirs).send().await.expect(204);
        server.clock.advance_ms(1_000);
        desk.api.get(own).header("cache-control", "no-cache").send().await.refused(404, "not_found");
        server.clock.advance_ms(MINUTE_MS);
        run_jobs(&server).await;
        let shown = read(&desk.api, &booked).await;
        assert_eq!((&shown["status"], &shown["cancelledBy"]), (&json!("cancelled"), &json!("host")));
        assert_eq!(shown["calendarEvents"][0]["status"], "deleted");
    }
}

/// The calendar may be one that the host has just made, of which the service knows nothing.
#[tokio::test]
async fn a_booking_follows_its_event_into_a_calendar_that_nobody_has_read() {
    let server = TestServer::start().await;
    let (desk, provider) = (Desk::of(&server, "alice").await, server.provider("alice"));
    let id = desk.open("intro", json!({})).await;
    let booked = book(&desk, &id, "09:00").await;
    run_jobs(&server).await;
    let made = provider.post("/sandbox/v1/calendars", json!({ "name": "Clients", "timeZone": "UTC" }));
    let made = text(&made.send().await.expect(201)["id"]);
    file(&server, &desk, &format!("/sandbox/v1/calendars/{made}/events"), Filing::DeletesFirst).await;
    run_jobs(&server).await;
    let (calendar, _, status) = place(&desk, &booked).await;
    let calendar = desk.api.get(format!("/v1/calendars/{calendar}")).send().await.expect(200);
    assert_eq!((&calendar["externalId"], status.as_str()), (&json!(made), "written"));
    assert_eq!(read(&desk.api, &booked).await["status"], "confirmed");
}

/// A program that deletes first may take its time for the rest: until the minute is over.
#[tokio::test]
async fn an_event_is_searched_for_until_the_minute_is_over() {
    let server = TestServer::start().await;
    let (desk, provider) = (Desk::of(&server, "alice").await, server.provider("alice"));
    let shelf = Shelf::of(&desk, "Private").await;
    let id = desk.open("intro", json!({})).await;
    let (early, late) = (book(&desk, &id, "09:00").await, book(&desk, &id, "10:00").await);
    run_jobs(&server).await;
    let all = events(&server, &desk).await;
    let folder = desk.api.get(format!("/v1/calendars/{}", desk.calendar)).send().await.expect(200);
    for event in &all {
        let theirs = format!(
            "/sandbox/v1/calendars/{}/events/{}",
            text(&folder["externalId"]),
            text(&event["externalId"])
        );
        provider.delete(theirs).send().await.expect(204);
    }
    assert_eq!(events(&server, &desk).await, Vec::<Value>::new());
    for (event, wait_ms) in all.iter().zip([20_000, 30_000]) {
        run_jobs(&server).await;
        server.clock.advance_ms(wait_ms);
        provider.post(&shelf.theirs, copy_of(event)).send().await.expect(201);
    }
    server.clock.advance_ms(MINUTE_MS);
    run_jobs(&server).await;
    for booked in [&early, &late] {
        assert_follows(&server, &desk, booked, &shelf).await;
        assert_eq!(read(&desk.api, booked).await["status"], "confirmed");
    }
}

/// All bookings of a meeting have its event, and so have those that wait for the host.
#[tokio::test]
async fn every_seat_follows_also_pending_ones() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let shelf = Shelf::of(&desk, "Private").await;
    let id = desk.open("class", json!({ "seatsPerSlot": 3, "requiresConfirmation": true })).await;
    let mut booked = Vec::new();
    for invitee in ["ada@example.org", "bob@example.org"] {
        let mut body = booking(&id, "09:00");
        body["inviteeEmail"] = json!(invitee);
        booked.push(desk.api.post(BOOKINGS, body).send().await.expect(201));
    }
    run_jobs(&server).await;
    file(&server, &desk, &shelf.theirs, Filing::DeletesFirst).await;
    run_jobs(&server).await;
    server.clock.advance_ms(MINUTE_MS);
    run_jobs(&server).await;
    for one in &booked {
        assert_follows(&server, &desk, one, &shelf).await;
        assert_eq!(read(&desk.api, one).await["status"], "pending");
    }
    // The confirmation is written where the event is.
    desk.api.post(path(&booked[0], "/confirm"), json!({})).send().await.expect(200);
    run_jobs(&server).await;
    let (calendar, event, status) = place(&desk, &booked[0]).await;
    assert_eq!((&calendar, status.as_str()), (&shelf.id, "written"));
    let event = desk.api.get(format!("/v1/calendars/{calendar}/events/{event}")).send().await.expect(200);
    assert_eq!(event["status"], "confirmed");
    assert_eq!(events(&server, &desk).await, Vec::<Value>::new());
}

/// A change that is made here before the service has noticed reaches the event where it is: it is neither made twice nor left behind.
#[tokio::test]
async fn a_change_reaches_an_event_that_was_filed_elsewhere() {
    let server = TestServer::start().await;
    let (desk, provider) = (Desk::of(&server, "alice").await, server.provider("alice"));
    let shelf = Shelf::of(&desk, "Private").await;
    let id = desk.open("intro", json!({})).await;
    let booked = book(&desk, &id, "09:00").await;
    run_jobs(&server).await;
    let (event, theirs) = the_event(&server, &desk).await;
    provider.post(&shelf.theirs, copy_of(&event)).send().await.expect(201);
    provider.delete(theirs).send().await.expect(204);
    server.clock.advance_ms(1_000);
    let moved = json!({ "start": at("11:00") });
    desk.api.post(path(&booked, "/reschedule"), moved).send().await.expect(200);
    run_jobs(&server).await;
    assert_eq!(events(&server, &desk).await, Vec::<Value>::new(), "it was made twice");
    let (calendar, event, status) = place(&desk, &booked).await;
    assert_eq!((&calendar, status.as_str()), (&shelf.id, "written"));
    let there = desk.api.get(format!("/v1/calendars/{calendar}/events/{event}")).send().await.expect(200);
    assert_eq!(there["start"], at("11:00"));

    // Back to the desk in the same way, and cancelled before the next check.
    let own = desk.api.get(format!("/v1/calendars/{}", desk.calendar)).send().await.expect(200);
    let own = format!("/sandbox/v1/calendars/{}/events", text(&own["externalId"]));
    provider.post(own, copy_of(&there)).send().await.expect(201);
    let theirs = format!("{}/{}", shelf.theirs, text(&there["externalId"]));
    provider.delete(theirs).send().await.expect(204);
    server.clock.advance_ms(1_000);
    desk.api.post(path(&booked, "/cancel"), json!({})).send().await.expect(200);
    run_jobs(&server).await;
    assert_eq!(events(&server, &desk).await, Vec::<Value>::new(), "it was left behind");
    assert_eq!(shelf.events(&provider).await, Vec::<Value>::new());
    assert_eq!(read(&desk.api, &booked).await["calendarEvents"][0]["status"], "deleted");
}

/// While the provider does not answer for a calendar the event may be in it: no cancellation is sent, for an hour.
#[tokio::test]
async fn a_calendar_that_cannot_be_read_may_have_the_event() {
    let server = TestServer::start().await;
    let (desk, provider) = (Desk::of(&server, "alice").await, server.provider("alice"));
    let shelf = Shelf::of(&desk, "Private").await;
    let id = desk.open("intro", json!({})).await;
    let (filed, gone) = (book(&desk, &id, "09:00").await, book(&desk, &id, "10:00").await);
    run_jobs(&server).await;
    let all = events(&server, &desk).await;
    let folder = desk.api.get(format!("/v1/calendars/{}", desk.calendar)).send().await.expect(200);
    for event in &all {
        let folder = text(&folder["externalId"]);
        let theirs = format!("/sandbox/v1/calendars/{folder}/events/{}", text(&event["externalId"]));
        provider.delete(theirs).send().await.expect(204);
    }
    provider.post(&shelf.theirs, copy_of(&all[0])).send().await.expect(201);
    let (closed, _) = shelf.theirs.rsplit_once("/events").expect("a path");
    let fault = json!({ "status": 503, "times": 1_000, "pathPrefix": closed });
    provider.post("/sandbox/faults", fault).send().await.expect(201);
    assert_eq!(events(&server, &desk).await, Vec::<Value>::new());
    for _ in 0..4 {
        run_jobs(&server).await;
        server.clock.advance_ms(5 * MINUTE_MS);
    }
    for booked in [&filed, &gone] {
        assert_eq!(read(&desk.api, booked).await["status"], "confirmed");
    }
    provider.delete("/sandbox/faults").send().await.expect(204);
    server.clock.advance_ms(60 * MINUTE_MS);
    run_jobs(&server).await;
    assert_follows(&server, &desk, &filed, &shelf).await;
    let shown = read(&desk.api, &gone).await;
    assert_eq!((&shown["status"], &shown["cancelledBy"]), (&json!("cancelled"), &json!("host")));
}
