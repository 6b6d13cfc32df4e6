//! Changes that hosts make to the events of their meetings in their own calendars, and providers that are late.

use harness::{Actor, TestServer};
use serde_json::{Value, json};
use service::bookings::host_changes::BOOKING_RECHECK;
use service::bookings::host_removed::HOST_GONE;
use service::job_runner::runner;

use super::lifecycle::{book, entries, logged, path, read, run_jobs};
use super::{BOOKINGS, DAY, Desk, EVENT_TYPES, booking, on, starts, text};

const MINUTE_MS: i64 = 60_000;
/// Time after which the service believes that an event is deleted, ms.
const GONE_MS: i64 = MINUTE_MS;
const DAY_MS: i64 = 24 * 60 * MINUTE_MS;

/// The events of the host's calendar on the day, as the provider has them now.
pub async fn events(server: &TestServer, desk: &Desk) -> Vec<Value> {
    server.clock.advance_ms(1_000);
    let path = format!("/v1/calendars/{}/events?start={DAY}T00:00:00Z&end={DAY}T23:59:59Z", desk.calendar);
    let page = desk.api.get(path).header("cache-control", "no-cache").send().await.expect(200);
    page["data"].as_array().expect("a list").clone()
}

/// The one event of the day, and where the provider has it.
pub async fn the_event(server: &TestServer, desk: &Desk) -> (Value, String) {
    let all = events(server, desk).await;
    let [event] = &all[..] else { panic!("one event: {all:#?}") };
    let calendar = desk.api.get(format!("/v1/calendars/{}", desk.calendar)).send().await.expect(200);
    let (calendar, external) = (text(&calendar["externalId"]), text(&event["externalId"]));
    (event.clone(), format!("/sandbox/v1/calendars/{calendar}/events/{external}"))
}

/// The host moves it by another program.
async fn move_there(provider: &Actor, theirs: &str, from: &str, to: &str) {
    let at = |time: &str| json!(format!("{DAY}T{time}:00Z"));
    let when = json!({ "start": at(from), "end": at(to), "timeZone": "UTC" });
    provider.patch(theirs, when).send().await.expect(200);
}

/// How far the booking is in the host's calendar.
async fn status(desk: &Desk, booked: &Value) -> String {
    text(&read(&desk.api, booked).await["calendarEvents"][0]["status"])
}

async fn times(desk: &Desk, booked: &Value) -> (Value, Value) {
    let booking = read(&desk.api, booked).await;
    (booking["start"].clone(), booking["end"].clone())
}

fn at(time: &str) -> Value {
    json!(format!("{DAY}T{time}:00.000Z"))
}

/// Busy times that were worked out for an earlier question are not used any more once a calendar has changed, here or at the provider.
#[tokio::test]
async fn each_search_knows_the_last_change_of_a_calendar() {
    let server = TestServer::start().await;
    let (desk, provider) = (Desk::of(&server, "alice").await, server.provider("alice"));
    let id = desk.open("intro", json!({})).await;
    let all = ["09:00", "09:30", "10:00", "10:30", "11:00", "11:30"];
    let free_but = |taken: &str| all.iter().filter(|time| **time != taken).copied().collect::<Vec<_>>();
    // The second query of each pair finds the result cached for the first one.
    let check = async |taken: &str| {
        for _ in 0..2 {
            assert_eq!(starts(&desk.api, &on(&id, DAY)).await, free_but(taken));
        }
    };
    check("").await;
    let event = desk.event("2026-03-10T10:00:00Z", "2026-03-10T10:30:00Z").await;
    check("10:00").await;
    let event = format!("/v1/calendars/{}/events/{event}", desk.calendar);
    let later = json!({ "start": at("11:00"), "end": at("11:30") });
    desk.api.patch(event.as_str(), later).send().await.expect(200);
    check("11:00").await;
    let (_, theirs) = the_event(&server, &desk).await;
    move_there(&provider, &theirs, "09:30", "10:00").await;
    server.clock.advance_ms(1_000);
    check("09:30").await;
    desk.api.patch(event.as_str(), json!({ "showAs": "free" })).send().await.expect(200);
    check("").await;
}

/// The provider's event stays the same one in a move.
#[tokio::test]
async fn a_move_keeps_id_uid_and_event() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let booked = book(&desk, &id, "09:00").await;
    run_jobs(&server).await;
    let (before, _) = the_event(&server, &desk).await;
    let body = json!({ "start": at("10:30") });
    desk.api.post(path(&booked, "/reschedule"), body).send().await.expect(200);
    run_jobs(&server).await;
    let (after, _) = the_event(&server, &desk).await;
    assert_eq!((&after["start"], &after["end"]), (&at("10:30"), &at("11:00")));
    for same in ["id", "externalId", "iCalUid", "title"] {
        assert_eq!(after[same], before[same], "{same}");
    }
    let shown = read(&desk.api, &booked).await;
    let event = &shown["calendarEvents"][0];
    assert_eq!((&event["status"], &event["eventId"]), (&json!("written"), &after["id"]));
    assert_eq!(shown["iCalUid"], after["iCalUid"]);
}

/// A pending booking is tentative in the calendar, until it is confirmed.
#[tokio::test]
async fn a_confirmed_one_is_confirmed_in_the_calendar() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({ "requiresConfirmation": true })).await;
    let booked = book(&desk, &id, "09:00").await;
    run_jobs(&server).await;
    let (before, _) = the_event(&server, &desk).await;
    assert_eq!(before["status"], "tentative");
    desk.api.post(path(&booked, "/confirm"), json!({})).send().await.expect(200);
    run_jobs(&server).await;
    let (after, _) = the_event(&server, &desk).await;
    assert_eq!((&after["status"], &after["id"]), (&json!("confirmed"), &before["id"]));
}

/// The invitee's calendar gets an event only after the host has confirmed; an invitee who has one is sent later changes.
#[tokio::test]
async fn nobody_is_invited_before_the_host_has_confirmed() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({ "requiresConfirmation": true })).await;
    let ask = |time: &str| {
        let mut body = booking(&id, time);
        body["inviteeEmail"] = json!("carol@sandbox.test");
        desk.api.post(BOOKINGS, body).send()
    };
    let booked = ask("09:00").await.expect(201);
    run_jobs(&server).await;
    let (before, _) = the_event(&server, &desk).await;
    assert_eq!((&before["status"], &before["attendees"]), (&json!("tentative"), &json!([])));
    desk.api.post(path(&booked, "/confirm"), json!({})).send().await.expect(200);
    run_jobs(&server).await;
    let (after, theirs) = the_event(&server, &desk).await;
    assert_eq!(
        (&after["id"], &after["attendees"][0]["email"]),
        (&before["id"], &json!("carol@sandbox.test"))
    );

    // A move of an event that already invites people leaves the invitation unchanged, also if the host has added guests.
    let guests = json!({ "attendees": [{ "email": "carol@sandbox.test" }, { "email": "bob@sandbox.test" }] });
    server.provider("alice").patch(theirs, guests).send().await.expect(200);
    let moved = desk.api.post(path(&booked, "/reschedule"), json!({ "start": at("10:30") }));
    moved.send().await.expect(200);
    run_jobs(&server).await;
    let (moved, _) = the_event(&server, &desk).await;
    assert_eq!(moved["start"], at("10:30"));
    assert_eq!(moved["attendees"].as_array().map(Vec::len), Some(2), "{moved:#}");

    let other = ask("11:30").await.expect(201);
    run_jobs(&server).await;
    desk.api.post(path(&other, "/reject"), json!({})).send().await.expect(200);
    run_jobs(&server).await;
    assert_eq!(events(&server, &desk).await.len(), 1);
}

/// A host who deletes the event does not want the meeting.
#[tokio::test]
async fn deleted_at_the_provider_cancels_the_booking() {
    let server = TestServer::start().await;
    let (desk, provider) = (Desk::of(&server, "alice").await, server.provider("alice"));
    let id = desk.open("intro", json!({})).await;
    let booked = book(&desk, &id, "09:00").await;
    run_jobs(&server).await;
    let (_, theirs) = the_event(&server, &desk).await;
    provider.delete(theirs).send().await.expect(204);
    assert_eq!(events(&server, &desk).await, Vec::<Value>::new());
    run_jobs(&server).await;
    assert_eq!(read(&desk.api, &booked).await["status"], "confirmed", "it may come back");
    server.clock.advance_ms(GONE_MS);
    run_jobs(&server).await;
    let booking = read(&desk.api, &booked).await;
    assert_eq!((&booking["status"], &booking["cancelledBy"]), (&json!("cancelled"), &json!("host")));
    assert!(starts(&desk.api, &on(&id, DAY)).await.contains(&"09:00".to_owned()));
    let last = logged(&server, &text(&booked["id"])).await.pop();
    assert_eq!(last, entries(&[("booking.cancelled", "provider")]).pop());
}

/// Some providers tell that an object has another name as a deletion and, a moment later, as a new object.
#[tokio::test]
async fn an_event_that_comes_back_under_another_name_cancels_nothing() {
    let server = TestServer::start().await;
    let (desk, provider) = (Desk::of(&server, "alice").await, server.provider("alice"));
    let id = desk.open("intro", json!({})).await;
    let booked = book(&desk, &id, "09:00").await;
    run_jobs(&server).await;
    let (before, theirs) = the_event(&server, &desk).await;
    provider.delete(&theirs).send().await.expect(204);
    assert_eq!(events(&server, &desk).await, Vec::<Value>::new());
    run_jobs(&server).await;
    let at = |time: &str| json!(format!("{DAY}T{time}:00Z"));
    let renamed = json!({
        "id": "renamed", "iCalUid": before["iCalUid"], "title": before["title"],
        "start": at("09:00"), "end": at("09:30"), "timeZone": "UTC",
    });
    let (folder, _) = theirs.rsplit_once('/').expect("a path");
    provider.post(folder, renamed).send().await.expect(201);
    let (after, _) = the_event(&server, &desk).await;
    assert_eq!(after["id"], before["id"]);
    assert_ne!(after["externalId"], before["externalId"]);
    server.clock.advance_ms(GONE_MS);
    run_jobs(&server).await;
    assert_eq!(read(&desk.api, &booked).await["status"], "confirmed");
    assert_eq!(events(&server, &desk).await.len(), 1);
}

/// A booking whose event is deleted after its end has taken place, also while the job that completes it is late.
#[tokio::test]
async fn deleted_after_its_end_it_has_taken_place() {
    let server = TestServer::start().await;
    let (desk, provider) = (Desk::of(&server, "alice").await, server.provider("alice"));
    let id = desk.open("intro", json!({})).await;
    let booked = book(&desk, &id, "09:00").await;
    run_jobs(&server).await;
    let (_, theirs) = the_event(&server, &desk).await;
    // At 09:31.
    server.clock.advance_ms(9 * DAY_MS + 91 * MINUTE_MS);
    provider.delete(theirs).send().await.expect(204);
    assert_eq!(events(&server, &desk).await, Vec::<Value>::new());
    server.clock.advance_ms(GONE_MS);
    runner::drain(&server.app, &[BOOKING_RECHECK]).await.expect("the job is run");
    assert_eq!(read(&desk.api, &booked).await["status"], "confirmed");
    run_jobs(&server).await;
    assert_eq!(read(&desk.api, &booked).await["status"], "completed");
}

/// A deletion through this API has the same effect: the event of a booking is an ordinary event.
#[tokio::test]
async fn deleted_as_an_event_cancels_the_booking() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let booked = book(&desk, &id, "09:00").await;
    run_jobs(&server).await;
    let (event, _) = the_event(&server, &desk).await;
    let own = format!("/v1/calendars/{}/events/{}", desk.calendar, text(&event["id"]));
    let deleted = desk.api.delete(own).send().await;
    assert!(deleted.status < 300, "{deleted}");
    server.clock.advance_ms(GONE_MS);
    run_jobs(&server).await;
    assert_eq!(read(&desk.api, &booked).await["status"], "cancelled");
}

/// A host who moves the event moves the meeting, and neither hours nor the grid bind a host.
#[tokio::test]
async fn moved_at_the_provider_moves_the_booking() {
    let server = TestServer::start().await;
    let (desk, provider) = (Desk::of(&server, "alice").await, server.provider("alice"));
    let id = desk.open("intro", json!({})).await;
    let booked = book(&desk, &id, "09:00").await;
    run_jobs(&server).await;
    let (before, theirs) = the_event(&server, &desk).await;
    move_there(&provider, &theirs, "10:10", "10:55").await;
    let (after, _) = the_event(&server, &desk).await;
    run_jobs(&server).await;
    let booking = read(&desk.api, &booked).await;
    assert_eq!((&booking["start"], &booking["end"]), (&at("10:10"), &at("10:55")));
    assert_eq!(
        (&booking["previousStart"], &booking["rescheduledBy"], &booking["sequence"], &booking["status"]),
        (&at("09:00"), &json!("host"), &json!(1), &json!("confirmed"))
    );
    assert_eq!(after["id"], before["id"]);
    assert_eq!(booking["calendarEvents"][0]["status"], "written", "nothing is left to be written");
    assert_eq!(starts(&desk.api, &on(&id, DAY)).await, ["09:00", "09:30", "11:00", "11:30"]);
    let last = logged(&server, &text(&booked["id"])).await.pop();
    assert_eq!(last, entries(&[("booking.rescheduled", "provider")]).pop());
}

/// A host may be in two places at a time if the host's own calendar says so; no other booking is made at either time.
#[tokio::test]
async fn moved_onto_another_meeting_it_follows_without_a_reservation() {
    let server = TestServer::start().await;
    let (desk, provider) = (Desk::of(&server, "alice").await, server.provider("alice"));
    let id = desk.open("intro", json!({})).await;
    let booked = book(&desk, &id, "09:00").await;
    run_jobs(&server).await;
    let (_, theirs) = the_event(&server, &desk).await;
    let other = book(&desk, &id, "10:00").await;
    run_jobs(&server).await;
    move_there(&provider, &theirs, "10:00", "10:30").await;
    assert_eq!(events(&server, &desk).await.len(), 2);
    run_jobs(&server).await;
    for booking in [&booked, &other] {
        assert_eq!(times(&desk, booking).await, (at("10:00"), at("10:30")));
    }
    assert!(!starts(&desk.api, &on(&id, DAY)).await.contains(&"10:00".to_owned()));
}

/// The calendar that bookings are written to counts too if it is not named among those that make the host busy.
#[tokio::test]
async fn the_calendar_that_bookings_are_written_to_makes_busy() {
    let server = TestServer::start().await;
    let (desk, provider) = (Desk::of(&server, "alice").await, server.provider("alice"));
    let body = json!({ "connectionId": desk.connection, "name": "Private", "timeZone": "UTC" });
    let private = desk.api.post("/v1/calendars", body).send().await.expect(201);
    let host = json!({
        "connectionId": desk.connection, "calendarId": desk.calendar, "conflictCalendarIds": [private["id"]],
    });
    let id = desk.open("intro", json!({ "hosts": [host] })).await;
    book(&desk, &id, "09:00").await;
    run_jobs(&server).await;
    let (_, theirs) = the_event(&server, &desk).await;
    book(&desk, &id, "10:00").await;
    run_jobs(&server).await;
    // Onto the second half of the other one, and the quarter of an hour after it.
    move_there(&provider, &theirs, "10:15", "10:45").await;
    assert_eq!(events(&server, &desk).await.len(), 2);
    run_jobs(&server).await;
    assert_eq!(starts(&desk.api, &on(&id, DAY)).await, ["09:00", "09:30", "11:00", "11:30"]);
}

/// A change of ours that is not in the calendar yet is newer than the calendar's state.
#[tokio::test]
async fn what_is_still_to_be_written_wins() {
    let server = TestServer::start().await;
    let (desk, provider) = (Desk::of(&server, "alice").await, server.provider("alice"));
    let id = desk.open("intro", json!({})).await;
    let booked = book(&desk, &id, "09:00").await;
    run_jobs(&server).await;
    let (_, theirs) = the_event(&server, &desk).await;
    let body = json!({ "start": at("11:00") });
    desk.api.post(path(&booked, "/reschedule"), body).send().await.expect(200);
    provider.delete(theirs).send().await.expect(204);
    assert_eq!(events(&server, &desk).await, Vec::<Value>::new());
    run_jobs(&server).await;
    let booking = read(&desk.api, &booked).await;
    assert_eq!((&booking["status"], &booking["start"]), (&json!("confirmed"), &at("11:00")));
    let (event, _) = the_event(&server, &desk).await;
    assert_eq!((&event["start"], &event["id"]), (&at("11:00"), &booking["calendarEvents"][0]["eventId"]));
}

/// A provider that does not answer delays a decision's write, and nothing more.
#[tokio::test]
async fn a_failed_write_heals() {
    let server = TestServer::start().await;
    let (desk, provider) = (Desk::of(&server, "alice").await, server.provider("alice"));
    let id = desk.open("intro", json!({})).await;
    let (moved, gone) = (book(&desk, &id, "09:00").await, book(&desk, &id, "10:00").await);
    run_jobs(&server).await;
    assert_eq!(events(&server, &desk).await.len(), 2);
    let fault = json!({ "status": 503, "times": 1000, "pathPrefix": "/sandbox/v1" });
    provider.post("/sandbox/faults", fault).send().await.expect(201);
    desk.api.post(path(&gone, "/cancel"), json!({})).send().await.expect(200);
    run_jobs(&server).await;
    provider.delete("/sandbox/faults").send().await.expect(204);
    let shown = read(&desk.api, &gone).await;
    let event = &shown["calendarEvents"][0];
    assert_eq!((&shown["status"], &event["status"]), (&json!("cancelled"), &json!("pending")));
    assert!(!event["error"].is_null());
    let body = json!({ "start": at("11:00") });
    desk.api.post(path(&moved, "/reschedule"), body).send().await.expect(200);

    server.clock.advance_ms(10_000);
    run_jobs(&server).await;
    let (event, _) = the_event(&server, &desk).await;
    assert_eq!(event["start"], at("11:00"));
    let shown = read(&desk.api, &gone).await;
    assert_eq!(shown["calendarEvents"][0]["status"], "deleted");
}

/// Writes and deletions that failed while an account could not be used are made up for as soon as it can be, also after they were given
/// up.
#[tokio::test]
async fn an_account_that_can_be_used_again_is_brought_up_to_date() {
    let server = TestServer::start().await;
    let (desk, provider) = (Desk::of(&server, "alice").await, server.provider("alice"));
    let id = desk.open("intro", json!({})).await;
    let (booked, waits) = (book(&desk, &id, "09:00").await, book(&desk, &id, "10:00").await);
    run_jobs(&server).await;
    let fault = json!({ "status": 401, "times": 1_000, "pathPrefix": "/sandbox/v1" });
    provider.post("/sandbox/faults", fault).send().await.expect(201);
    let refresh = format!("/v1/connections/{}/refresh", desk.connection);
    desk.api.post(&refresh, json!({})).send().await.refused(409, "reauth_required");
    desk.api.post(path(&booked, "/cancel"), json!({})).send().await.expect(200);
    // Four days of attempts.
    for _ in 0..17 {
        run_jobs(&server).await;
        server.clock.advance_ms(6 * 60 * MINUTE_MS);
    }
    desk.api.post(path(&waits, "/cancel"), json!({})).send().await.expect(200);
    run_jobs(&server).await;
    assert_eq!(
        (status(&desk, &booked).await, status(&desk, &waits).await),
        ("failed".to_owned(), "pending".to_owned())
    );

    provider.delete("/sandbox/faults").send().await.expect(204);
    desk.api.post(&refresh, json!({})).send().await.expect(200);
    run_jobs(&server).await;
    assert_eq!(
        (status(&desk, &booked).await, status(&desk, &waits).await),
        ("deleted".to_owned(), "deleted".to_owned())
    );
    assert_eq!(events(&server, &desk).await, Vec::<Value>::new());
}

/// A failed write is reported for hosts who are in the meeting, and not for those who left it long ago.
#[tokio::test]
async fn a_failed_write_is_told_of_those_who_are_in_the_meeting() {
    let server = TestServer::start().await;
    let (desk, provider) = (Desk::of(&server, "alice").await, server.provider("alice"));
    let id = desk.open("class", json!({ "seatsPerSlot": 2 })).await;
    let (stays, left) = (book(&desk, &id, "09:00").await, book(&desk, &id, "09:00").await);
    run_jobs(&server).await;
    desk.api.post(path(&left, "/cancel"), json!({})).send().await.expect(200);
    desk.api.post(path(&stays, "/reschedule"), json!({ "start": at("10:00") })).send().await.expect(200);
    let fault = json!({ "status": 503, "times": 1_000, "pathPrefix": "/sandbox/v1" });
    provider.post("/sandbox/faults", fault).send().await.expect(201);
    for _ in 0..6 {
        run_jobs(&server).await;
        server.clock.advance_ms(120 * MINUTE_MS);
    }
    let told = entries(&[("booking.calendar_write_failed", "system")]).pop();
    assert_eq!(logged(&server, &text(&stays["id"])).await.pop(), told);
    let of_left = logged(&server, &text(&left["id"])).await.pop();
    assert_eq!(of_left, entries(&[("booking.cancelled", "api")]).pop());
}

/// An event type whose last host was disconnected cannot be booked; its bookings stay.
#[tokio::test]
async fn a_host_who_is_gone_leaves_the_event_type() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let booked = book(&desk, &id, "09:00").await;
    desk.api.delete(format!("/v1/connections/{}", desk.connection)).send().await.expect(204);
    runner::drain(&server.app, &[HOST_GONE]).await.expect("the job is run");
    let bobs = desk.api.connect_account("bob").await;
    let bound = server.key("test", |key| key.connection_ids = vec![bobs.clone()]).await;
    let path_of_it = format!("{EVENT_TYPES}/{id}");
    bound.get(&path_of_it).send().await.refused(404, "not_found");
    let taken_over = json!({ "active": true, "hosts": [{ "connectionId": bobs }] });
    bound.patch(&path_of_it, taken_over).send().await.refused(404, "not_found");
    assert_eq!(bound.all(EVENT_TYPES).await, Vec::<Value>::new());
    let event_type = desk.api.get(path_of_it).send().await.expect(200);
    assert_eq!((&event_type["hosts"], &event_type["active"]), (&json!([]), &json!(false)));
    let last = logged(&server, &id).await.pop();
    assert_eq!(last, entries(&[("event_type.updated", "system")]).pop());
    assert_eq!(read(&desk.api, &booked).await["status"], "confirmed");
    let cancelled = desk.api.post(path(&booked, "/cancel"), json!({})).send().await.expect(200);
    assert_eq!(cancelled["status"], "cancelled");
    run_jobs(&server).await;
}
