//! Bookings in an Outlook calendar: the event there, its meeting of Teams, and the times that are busy.

use fakes::{Fault, What};
use serde_json::{Value, json};
use service::bookings::jobs::event::BOOKING_EVENT;
use service::bookings::jobs::recheck::BOOKING_RECHECK;
use service::job_runner::runner;

use crate::email::mailbox::text;
use crate::microsoft::calendar::{daily, event};
use crate::microsoft::{ALICE, FollowedCalendar, World};

const EVENT_TYPES: &str = "/v1/scheduling/event-types";
const SLOTS: &str = "/v1/scheduling/availability/query";
const BOOKINGS: &str = "/v1/scheduling/bookings";
/// A Tuesday, days after a test's beginning.
const DAY: &str = "2026-03-10";
const GUEST: &str = "ada@example.org";

/// Alice's default calendar, which bookings are written to and whose events are in the way.
struct Desk {
    world: World,
    calendar: FollowedCalendar,
    event_type: String,
}

impl Desk {
    /// None where the extract of Microsoft's SDK is not installed.
    async fn open() -> Option<Desk> {
        let world = World::start().await?;
        let connection = world.connect().await;
        let calendar = world.default_calendar(&connection).await;
        let body = json!({
            "slug": "intro", "title": "Intro call", "durationMinutes": 30, "locations": [{ "type": "teams" }],
            "hosts": [{
                "connectionId": connection["id"], "calendarId": calendar.id,
                "conflictCalendarIds": [calendar.id], "displayName": "Alice",
            }],
            "schedule": {
                "timeZone": "UTC", "weekly": [{ "days": [1, 2, 3, 4, 5], "start": "09:00", "end": "12:00" }],
            },
        });
        let event_type = text(&world.api.post(EVENT_TYPES, body).send().await.expect(201)["id"]);
        Some(Desk { world, calendar, event_type })
    }

    /// Books a slot, and has the event written.
    async fn book(&self, time: &str) -> Value {
        let booking = json!({
            "eventTypeId": self.event_type, "start": format!("{DAY}T{time}:00Z"), "inviteeEmail": GUEST,
            "inviteeName": "Ada",
        });
        let booked = self.world.api.post(BOOKINGS, booking).send().await.expect(201);
        self.run_jobs().await;
        booked
    }

    async fn read(&self, booked: &Value) -> Value {
        self.world.api.get(format!("{BOOKINGS}/{}", text(&booked["id"]))).send().await.expect(200)
    }

    async fn change(&self, booked: &Value, verb: &str, body: Value) {
        let path = format!("{BOOKINGS}/{}/{verb}", text(&booked["id"]));
        self.world.api.post(path, body).send().await.expect(200);
        self.run_jobs().await;
    }

    /// Runs the due jobs of bookings, as the service does by itself.
    async fn run_jobs(&self) {
        let kinds = [BOOKING_EVENT, BOOKING_RECHECK];
        runner::drain(&self.world.server.app, &kinds).await.expect("the jobs are run");
    }

    /// The one event that Graph has, and its id.
    fn the_event(&self) -> (String, Value) {
        self.world.graph.with(|state| {
            let ids = state.event_ids(ALICE);
            let [id] = &ids[..] else { panic!("one event: {ids:?}") };
            (id.clone(), state.stored_event(ALICE, id).expect("the event"))
        })
    }

    /// The starts of the slots that are offered on the day, as `09:00`.
    async fn starts(&self) -> Vec<String> {
        self.world.server.clock.advance_ms(1_000);
        let query = json!({
            "eventTypeId": self.event_type, "start": format!("{DAY}T00:00:00Z"), "end": format!("{DAY}T23:59:59Z"),
        });
        let answer = self.world.api.post(SLOTS, query).send().await.expect(200);
        let slots = answer["data"].as_array().expect("a list").iter();
        slots.map(|slot| text(&slot["start"]).chars().skip(11).take(5).collect()).collect()
    }
}

/// The event invites the guest, has a meeting of Teams, moves with the booking and goes with it. A lost answer makes no second one.
#[tokio::test]
async fn a_slot_is_booked_on_an_outlook_calendar() {
    let Some(desk) = Desk::open().await else { return };
    desk.world.graph.fault(Fault::new("/events", What::Kill).method("POST").after());
    let booked = desk.book("09:00").await;
    let (id, _) = desk.the_event();
    assert_eq!(desk.read(&booked).await["calendarEvents"][0]["status"], "pending");
    desk.world.server.clock.advance_ms(10_000);
    desk.run_jobs().await;
    let (same, made) = desk.the_event();
    assert_eq!(
        (&same, &made["subject"], &made["start"]),
        (&id, &booked["title"], &json!(format!("{DAY}T09:00:00")))
    );
    assert_eq!(
        (&made["attendees"][0]["emailAddress"]["address"], &made["isReminderOn"]),
        (&json!(GUEST), &json!(false))
    );
    let shown = desk.read(&booked).await;
    assert_eq!(shown["calendarEvents"][0]["status"], "written", "{shown:#}");
    let link = text(&shown["location"]["joinUrl"]);
    assert!(link.starts_with("https://teams.microsoft.com/"), "{shown:#}");

    desk.change(&booked, "reschedule", json!({ "start": format!("{DAY}T10:30:00Z") })).await;
    let (same, moved) = desk.the_event();
    assert_eq!(
        (&same, &moved["start"], &moved["end"]),
        (&id, &json!(format!("{DAY}T10:30:00")), &json!(format!("{DAY}T11:00:00")))
    );
    assert_eq!((&moved["attendees"], &moved["isOnlineMeeting"]), (&made["attendees"], &json!(true)));
    assert_eq!(desk.world.march(&desk.calendar).await.len(), 1);

    desk.change(&booked, "cancel", json!({})).await;
    assert_eq!(desk.world.graph.with(|state| state.event_ids(ALICE)), Vec::<String>::new());
    desk.world.assert_allowed();
}

/// Events in Outlook are in the way, series too, unless they leave the time free.
#[tokio::test]
async fn busy_times_of_outlook_block_slots() {
    let Some(desk) = Desk::open().await else { return };
    let all = ["09:00", "09:30", "10:00", "10:30", "11:00", "11:30"];
    assert_eq!(desk.starts().await, all);
    let (review, standup) = desk.world.graph.with(|state| {
        (
            state.put_event(ALICE, "", event("Review", 10, 10, json!({}))),
            state.put_event(ALICE, "", daily("Standup", 9, 9, 3)),
        )
    });
    assert_eq!(desk.starts().await, ["11:00", "11:30"]);
    desk.world.graph.with(|state| {
        state.edit_event(ALICE, &review, json!({ "showAs": "workingElsewhere" }));
        state.delete_event(ALICE, &standup);
    });
    assert_eq!(desk.starts().await, all);
    desk.world.assert_allowed();
}
