//! A host moves a booking in the own calendar: the invitee is asked whether the new time suits. An event that loses its time moves nothing:
//! the host is asked for one.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use harness::TestServer;
use serde_json::{Value, json};

use super::lifecycle::{entries, logged, path, read, run_jobs};
use super::mail::{book, deliver, host, mailbox, subjects};
use super::provider_side::{events, the_event};
use super::{DAY, Desk, on, starts, text};
use crate::email::mailbox::{Mailbox, escaped};

const MINUTE_MS: i64 = 60_000;
/// The title as the invitee and as the host read it.
const INVITED: &str = "Intro call with Alice";
const TITLE: &str = "Intro call with Ada";

fn at(time: &str) -> Value {
    json!(format!("{DAY}T{time}:00.000Z"))
}

/// The host gives the event these times by another program, and the service notices.
async fn set_times(server: &TestServer, desk: &Desk, when: Value) {
    server.clock.advance_ms(MINUTE_MS);
    let (_, theirs) = the_event(server, desk).await;
    server.provider("alice").patch(theirs, when).send().await.expect(200);
    events(server, desk).await;
    run_jobs(server).await;
}

fn between(from: &str, to: &str) -> Value {
    let at = |time: &str| json!(format!("{DAY}T{time}:00Z"));
    json!({ "allDay": false, "start": at(from), "end": at(to), "timeZone": "UTC" })
}

fn all_day() -> Value {
    json!({ "allDay": true, "startDate": DAY, "endDate": "2026-03-11" })
}

/// The newest invitation that Ada has, without folded lines.
async fn newest_invitation(mailbox: &Mailbox) -> String {
    let all = mailbox.list("").await;
    let newest = all.iter().find(|message| message["subject"] == INVITED).expect("an invitation");
    let message = mailbox.read(&newest["id"]).await;
    let mut files = message["attachments"].as_array().expect("a list").iter();
    let file = files.find(|file| file["filename"] == "invite.ics").expect("the invitation as a file");
    let file = format!("/v1/email/messages/{}/attachments/{}", text(&message["id"]), text(&file["id"]));
    let file = mailbox.get(file).send().await.expect(200);
    let bytes = BASE64_STANDARD.decode(text(&file["contentBase64"])).expect("base64");
    String::from_utf8(bytes).expect("a text").replace("\r\n ", "")
}

/// Ada's answer, as the newest invitation has it.
async fn answer(mailbox: &Mailbox) -> &'static str {
    let invitation = newest_invitation(mailbox).await;
    let end = format!(":mailto:{}", mailbox.address);
    let mut lines = invitation.lines();
    let line = lines.find(|line| line.starts_with("ATTENDEE") && line.ends_with(&end)).expect("an attendee");
    ["PARTSTAT=ACCEPTED;RSVP=FALSE", "PARTSTAT=NEEDS-ACTION;RSVP=TRUE"]
        .into_iter()
        .find(|answer| line.contains(answer))
        .unwrap_or_else(|| panic!("{invitation}"))
}

/// The sandbox sends invitations for events with one seat; for several seats the service invites by mail.
#[tokio::test]
async fn an_invitee_is_asked_unless_the_time_is_their_choice() {
    let mailbox = mailbox().await;
    let (server, desk) = (&mailbox.server, host(&mailbox.server).await);
    let id = desk.open("class", json!({ "seatsPerSlot": 3 })).await;
    let booked = book(&desk, &mailbox, &id, json!({})).await;
    deliver(server).await;
    assert_eq!(answer(&mailbox).await, "PARTSTAT=ACCEPTED;RSVP=FALSE", "Ada has booked this time");

    set_times(server, &desk, between("09:30", "10:00")).await;
    deliver(server).await;
    assert_eq!(read(&desk.api, &booked).await["rescheduledBy"], "host");
    assert_eq!(answer(&mailbox).await, "PARTSTAT=NEEDS-ACTION;RSVP=TRUE", "the host has moved it");

    server.clock.advance_ms(MINUTE_MS);
    let browser = server.client_with(&["scheduling.book"]).await;
    let choice = json!({ "start": at("11:00"), "manageToken": booked["manageToken"] });
    browser.post(path(&booked, "/reschedule"), choice).send().await.expect(200);
    deliver(server).await;
    assert_eq!(answer(&mailbox).await, "PARTSTAT=ACCEPTED;RSVP=FALSE", "Ada has moved it");

    server.clock.advance_ms(MINUTE_MS);
    let moved = json!({ "start": at("10:00") });
    desk.api.post(path(&booked, "/reschedule"), moved).send().await.expect(200);
    deliver(server).await;
    assert_eq!(answer(&mailbox).await, "PARTSTAT=NEEDS-ACTION;RSVP=TRUE", "somebody has moved it for her");
}

/// The number of messages by which the host was asked for a time.
async fn questions(server: &TestServer, desk: &Desk) -> usize {
    server.clock.advance_ms(1);
    let subject = escaped(&format!("Time needed: {TITLE}"));
    let query = format!("/v1/email/messages?connection_id={}&subject={subject}", desk.connection);
    let page = desk.api.get(query).header("cache-control", "no-cache").send().await.expect(200);
    let all = page["data"].as_array().expect("a list");
    all.iter().filter(|message| message["to"][0]["email"] == "alice@sandbox.test").count()
}

/// Returns the times of a booking, and the fault of its event.
async fn times(desk: &Desk, booked: &Value) -> (Value, Value, bool) {
    let shown = read(&desk.api, booked).await;
    assert_eq!(shown["calendarEvents"][0]["status"], "written", "{shown:#}");
    let error = &shown["calendarEvents"][0]["error"];
    let is_marked = error.as_str().is_some_and(|error| error.contains("all-day event"));
    assert!(is_marked || error.is_null(), "{shown:#}");
    (shown["start"].clone(), shown["end"].clone(), is_marked)
}

#[tokio::test]
async fn an_event_dragged_to_the_all_day_row_is_no_booking_of_a_day() {
    let mailbox = mailbox().await;
    let (server, desk) = (&mailbox.server, host(&mailbox.server).await);
    let id = desk.open("intro", json!({})).await;
    let booked = book(&desk, &mailbox, &id, json!({})).await;
    deliver(server).await;
    let told = subjects(&mailbox).await;

    set_times(server, &desk, all_day()).await;
    deliver(server).await;
    assert_eq!(times(&desk, &booked).await, (at("09:00"), at("09:30"), true));
    let shown = read(&desk.api, &booked).await;
    assert_eq!((&shown["status"], &shown["rescheduleCount"]), (&json!("confirmed"), &json!(0)));
    let last = logged(server, &text(&booked["id"])).await.pop();
    assert_eq!(last, entries(&[("booking.updated", "provider")]).pop());
    let asked = questions(server, &desk).await;
    assert!(asked > 0, "the host was not asked");
    assert_eq!(subjects(&mailbox).await, told, "nothing has changed for the invitee");

    // Another change of the event is read, and no second question is sent.
    let (_, theirs) = the_event(server, &desk).await;
    server.provider("alice").patch(theirs, json!({ "title": "Ada" })).send().await.expect(200);
    events(server, &desk).await;
    run_jobs(server).await;
    deliver(server).await;
    assert_eq!(questions(server, &desk).await, asked);
    let entries_then = logged(server, &text(&booked["id"])).await.len();

    // Back where it was, and then away and to another time.
    set_times(server, &desk, between("09:00", "09:30")).await;
    assert_eq!(times(&desk, &booked).await, (at("09:00"), at("09:30"), false));
    assert_eq!(logged(server, &text(&booked["id"])).await.len(), entries_then + 1);
    set_times(server, &desk, all_day()).await;
    assert_eq!(times(&desk, &booked).await, (at("09:00"), at("09:30"), true));
    set_times(server, &desk, between("10:30", "11:00")).await;
    assert_eq!(times(&desk, &booked).await, (at("10:30"), at("11:00"), false));
    assert_eq!(starts(&desk.api, &on(&id, DAY)).await, ["09:00", "09:30", "10:00", "11:00", "11:30"]);
}

/// All seats, confirmed or pending, are in the same meeting, and its host is asked once.
#[tokio::test]
async fn an_event_without_a_time_marks_every_seat_also_pending_ones() {
    let mailbox = mailbox().await;
    let (server, desk) = (&mailbox.server, host(&mailbox.server).await);
    let id = desk.open("class", json!({ "seatsPerSlot": 2, "requiresConfirmation": true })).await;
    let first = book(&desk, &mailbox, &id, json!({})).await;
    let second = book(&desk, &mailbox, &id, json!({ "inviteeEmail": "carol@sandbox.test" })).await;
    deliver(server).await;
    set_times(server, &desk, all_day()).await;
    deliver(server).await;
    for booking in [&first, &second] {
        assert_eq!(times(&desk, booking).await, (at("09:00"), at("09:30"), true));
        assert_eq!(read(&desk.api, booking).await["status"], "pending");
    }
    let asked = questions(server, &desk).await;
    let told = logged(server, &text(&first["id"])).await.len();
    let longer = json!({ "allDay": true, "startDate": "2026-03-12", "endDate": "2026-03-14" });
    set_times(server, &desk, longer).await;
    deliver(server).await;
    assert_eq!(questions(server, &desk).await, asked, "the host was asked already");
    assert_eq!(logged(server, &text(&first["id"])).await.len(), told);
}

/// A new time of the booking's is one of the event's.
#[tokio::test]
async fn a_booking_that_is_moved_gives_its_event_a_time_again() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let booked = super::lifecycle::book(&desk, &id, "09:00").await;
    run_jobs(&server).await;
    set_times(&server, &desk, all_day()).await;
    assert_eq!(times(&desk, &booked).await, (at("09:00"), at("09:30"), true));
    // The all-day event is in the way of all times of the day but those of the booking's own meeting.
    let moved = json!({ "start": at("11:00") });
    desk.api.post(path(&booked, "/reschedule"), moved).send().await.expect(200);
    run_jobs(&server).await;
    assert_eq!(times(&desk, &booked).await, (at("11:00"), at("11:30"), false));
    let (event, _) = the_event(&server, &desk).await;
    assert_eq!(
        (&event["allDay"], &event["start"], &event["end"]),
        (&json!(false), &at("11:00"), &at("11:30"))
    );
}

/// An event type of a whole day may be an all-day event.
#[tokio::test]
async fn a_meeting_that_lasts_a_day_may_be_an_all_day_event() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let weekly = json!([{ "days": [1, 2, 3, 4, 5, 6, 7], "start": "00:00", "end": "24:00" }]);
    let schedule = json!({ "timeZone": "UTC", "weekly": weekly });
    let id = desk.open("day", json!({ "durationMinutes": 1_440, "schedule": schedule })).await;
    let booked = super::lifecycle::book(&desk, &id, "00:00").await;
    run_jobs(&server).await;
    let before = logged(&server, &text(&booked["id"])).await;
    set_times(&server, &desk, all_day()).await;
    let shown = read(&desk.api, &booked).await;
    assert_eq!((&shown["start"], &shown["calendarEvents"][0]["error"]), (&at("00:00"), &Value::Null));
    assert_eq!(logged(&server, &text(&booked["id"])).await, before);
}
