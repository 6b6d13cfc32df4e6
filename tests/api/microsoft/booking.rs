//! Bookings in an Outlook calendar: the event there, its meeting of Teams, and the times that are busy.

use fakes::graph::GraphService;
use fakes::{Fault, What};
use serde_json::{Value, json};

use crate::email::mailbox::text;
use crate::fake_provider::bookings::{self, DAY, GUEST};
use crate::microsoft::ALICE;
use crate::microsoft::calendar::{daily, event};

/// The type of the conferences of Teams.
const TEAMS: &str = "teams";

type Desk = bookings::Desk<GraphService>;

impl Desk {
    /// The one event that Graph has, and its id.
    fn the_event(&self) -> (String, Value) {
        self.world.fake.with(|state| {
            let ids = state.event_ids(ALICE);
            let [id] = &ids[..] else { panic!("one event: {ids:?}") };
            (id.clone(), state.stored_event(ALICE, id).expect("the event"))
        })
    }
}

/// The event invites the guest, has a meeting of Teams, moves with the booking and goes with it. A lost answer makes no second one.
#[tokio::test]
async fn a_slot_is_booked_on_an_outlook_calendar() {
    let Some(desk) = Desk::open(TEAMS).await else { return };
    desk.world.fake.fault(Fault::new("/events", What::Kill).method("POST").after());
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
    assert_eq!(desk.world.fake.with(|state| state.event_ids(ALICE)), Vec::<String>::new());
    desk.world.assert_allowed();
}

/// Events in Outlook are in the way, series too, unless they leave the time free.
#[tokio::test]
async fn busy_times_of_outlook_block_slots() {
    let Some(desk) = Desk::open(TEAMS).await else { return };
    let all = ["09:00", "09:30", "10:00", "10:30", "11:00", "11:30"];
    assert_eq!(desk.starts().await, all);
    let (review, standup) = desk.world.fake.with(|state| {
        (
            state.put_event(ALICE, "", event("Review", 10, 10, json!({}))),
            state.put_event(ALICE, "", daily("Standup", 9, 9, 3)),
        )
    });
    assert_eq!(desk.starts().await, ["11:00", "11:30"]);
    desk.world.fake.with(|state| {
        state.edit_event(ALICE, &review, json!({ "showAs": "workingElsewhere" }));
        state.delete_event(ALICE, &standup);
    });
    assert_eq!(desk.starts().await, all);
    desk.world.assert_allowed();
}
