//! Bookings in a Google calendar: the event there, the guest's answer, and the host's changes in Google Calendar.

use fakes::google::GoogleService;
use fakes::{Fault, What};
use serde_json::{Value, json};

use crate::email::mailbox::text;
use crate::fake_provider::bookings::{self, BOOKINGS, DAY, GUEST};
use crate::google::{ALICE, event};

/// Time after which the service believes that an event is deleted, ms.
const GONE_MS: i64 = 60_000;

/// The type of the conferences of Google Meet.
const MEET: &str = "googleMeet";

type Desk = bookings::Desk<GoogleService>;

impl Desk {
    /// Reads the calendar, as a due pull does, and then does the same.
    async fn follow(&self) {
        self.world.server.clock.advance_ms(1_000);
        self.world.march(&self.calendar).await;
        self.run_jobs().await;
    }

    /// The one event that Google has, and its id.
    fn the_event(&self) -> (String, Value) {
        let ids = self.world.ids();
        let [id] = &ids[..] else { panic!("one event: {ids:?}") };
        (id.clone(), self.world.theirs(id))
    }

    /// Changes the event by another program.
    fn change_there(&self, id: &str, change: Value) {
        self.world.fake.with(|state| state.change_event(ALICE, id, change));
    }
}

fn at(time: &str) -> Value {
    json!({ "dateTime": format!("{DAY}T{time}:00Z"), "timeZone": "UTC" })
}

/// An hour at Google, as an instant.
fn instant(value: &Value) -> jiff::Timestamp {
    text(&value["dateTime"]).parse().expect("an instant")
}

/// The event invites the guest under the booking's UID, has a link to Google Meet, moves with the booking and goes with it.
#[tokio::test]
async fn a_booking_is_one_event_with_its_guest() {
    let Some(desk) = Desk::open(MEET).await else { return };
    desk.world.fake.clear_requests();
    let booked = desk.book("09:00").await;
    let (id, made) = desk.the_event();
    assert_eq!((&made["summary"], &made["iCalUID"]), (&booked["title"], &booked["iCalUid"]));
    assert_eq!(made["attendees"][0]["email"], GUEST);
    assert_eq!(instant(&made["start"]), instant(&at("09:00")));
    let shown = desk.read(&booked).await;
    assert_eq!(shown["calendarEvents"][0]["status"], "written", "{shown:#}");
    let link = text(&shown["location"]["joinUrl"]);
    assert!(link.starts_with("https://meet.google.com/"), "{shown:#}");
    assert_eq!(made["hangoutLink"], link.as_str());

    desk.change(&booked, "reschedule", json!({ "start": format!("{DAY}T10:30:00Z") })).await;
    let (same, moved) = desk.the_event();
    assert_eq!(
        (&same, instant(&moved["start"]), instant(&moved["end"])),
        (&id, instant(&at("10:30")), instant(&at("11:00")))
    );
    assert_eq!((&moved["attendees"], &moved["hangoutLink"]), (&made["attendees"], &made["hangoutLink"]));

    desk.change(&booked, "cancel", json!({})).await;
    assert_eq!(desk.world.ids(), Vec::<String>::new());
    let writes = desk.world.writes();
    assert!(writes.iter().all(|write| write.parameter("sendUpdates").is_some()), "{writes:#?}");
    assert_eq!(writes.iter().filter(|write| write.method == "POST").count(), 1, "{writes:#?}");
    desk.world.assert_allowed();
}

/// Google's answer to the insert is lost: the next attempt finds the event by its UID.
#[tokio::test]
async fn a_lost_answer_makes_no_second_event() {
    let Some(desk) = Desk::open(MEET).await else { return };
    desk.world.fake.fault(Fault::new("/events", What::Kill).method("POST").after());
    let booked = desk.book("09:00").await;
    let (id, _) = desk.the_event();
    assert_eq!(desk.read(&booked).await["calendarEvents"][0]["status"], "pending");
    desk.world.server.clock.advance_ms(10_000);
    desk.run_jobs().await;
    assert_eq!(desk.the_event().0, id);
    let shown = desk.read(&booked).await;
    assert_eq!(shown["calendarEvents"][0]["status"], "written", "{shown:#}");
    assert_eq!(desk.world.march(&desk.calendar).await.len(), 1);
    desk.world.assert_allowed();
}

/// Events at Google are in the way, series too, unless they leave the time free.
#[tokio::test]
async fn busy_times_of_google_block_slots() {
    let Some(desk) = Desk::open(MEET).await else { return };
    let all = ["09:00", "09:30", "10:00", "10:30", "11:00", "11:30"];
    assert_eq!(desk.starts().await, all);
    desk.world.put(event("review", "Review", "2026-03-10T10:00:00Z", json!({})));
    assert_eq!(desk.starts().await, ["09:00", "09:30", "11:00", "11:30"]);
    let rule = json!({ "recurrence": ["RRULE:FREQ=WEEKLY;COUNT=2"] });
    desk.world.put(event("standup", "Standup", "2026-03-03T09:00:00Z", rule));
    assert_eq!(desk.starts().await, ["11:00", "11:30"]);
    desk.change_there("review", json!({ "transparency": "transparent" }));
    desk.change_there("standup", json!({ "status": "cancelled" }));
    assert_eq!(desk.starts().await, all);

    // Another program was faster, at Google.
    desk.world.put(event("faster", "Faster", "2026-03-10T09:00:00Z", json!({})));
    desk.world.server.clock.advance_ms(1_000);
    let late = desk.world.api.post(BOOKINGS, desk.booking("09:30")).send().await;
    late.refused(409, "slot_unavailable");
    desk.world.assert_allowed();
}

/// The guest answers in a mail program, and Google knows: every reader of the event sees it, and a move keeps it.
#[tokio::test]
async fn a_guest_who_declines_is_seen() {
    let Some(desk) = Desk::open(MEET).await else { return };
    let booked = desk.book("09:00").await;
    let (id, made) = desk.the_event();
    let mut guests = made["attendees"].clone();
    guests[0]["responseStatus"] = json!("declined");
    guests[0]["comment"] = json!("I am ill");
    desk.change_there(&id, json!({ "attendees": guests }));
    desk.follow().await;
    let event = text(&desk.read(&booked).await["calendarEvents"][0]["eventId"]);
    let event = desk.world.get(&format!("{}/{event}", desk.calendar.events)).await;
    let guest = &event["attendees"][0];
    assert_eq!(
        (&guest["email"], &guest["responseStatus"], &guest["comment"]),
        (&json!(GUEST), &json!("declined"), &json!("I am ill"))
    );
    assert_eq!(desk.read(&booked).await["status"], "confirmed", "the booking is the host's to cancel");

    desk.change(&booked, "reschedule", json!({ "start": format!("{DAY}T10:30:00Z") })).await;
    assert_eq!(desk.the_event().1["attendees"], guests);
    desk.world.assert_allowed();
}

/// The host moves the meeting in Google Calendar, and deletes it there.
#[tokio::test]
async fn changes_of_the_host_are_followed() {
    let Some(desk) = Desk::open(MEET).await else { return };
    let booked = desk.book("09:00").await;
    let (id, _) = desk.the_event();
    desk.change_there(&id, json!({ "start": at("11:00"), "end": at("11:30") }));
    desk.follow().await;
    let moved = desk.read(&booked).await;
    assert_eq!(
        (&moved["start"], &moved["rescheduledBy"]),
        (&json!(format!("{DAY}T11:00:00.000Z")), &json!("host")),
        "{moved:#}"
    );

    desk.change_there(&id, json!({ "status": "cancelled" }));
    desk.follow().await;
    desk.world.server.clock.advance_ms(GONE_MS);
    desk.run_jobs().await;
    let cancelled = desk.read(&booked).await;
    assert_eq!((&cancelled["status"], &cancelled["cancelledBy"]), (&json!("cancelled"), &json!("host")));
    assert!(desk.starts().await.contains(&"11:00".to_owned()));
    desk.world.assert_allowed();
}
