//! Bookings in a calendar of Alice's at a fake provider.

use serde_json::{Value, json};
use service::bookings::event_write::BOOKING_EVENT;
use service::bookings::host_changes::BOOKING_RECHECK;
use service::job_runner::runner;

use crate::email::mailbox::text;
use crate::fake_provider::{FakeProvider, FollowedCalendar, World};

const EVENT_TYPES: &str = "/v1/scheduling/event-types";
const SLOTS: &str = "/v1/scheduling/availability/query";
pub const BOOKINGS: &str = "/v1/scheduling/bookings";
/// A Tuesday, days after a test's beginning.
pub const DAY: &str = "2026-03-10";
pub const GUEST: &str = "ada@example.org";

/// Alice's default calendar, which bookings are written to and whose events are in the way.
pub struct Desk<P: FakeProvider> {
    pub world: World<P>,
    pub calendar: FollowedCalendar,
    event_type: String,
}

impl<P: FakeProvider> Desk<P> {
    /// Opens a desk whose bookings take place in conferences of this type; none where the provider's document is not installed.
    pub async fn open(conference: &str) -> Option<Desk<P>> {
        let world = World::<P>::start().await?;
        let connection = world.connect().await;
        let calendar = world.default_calendar(&connection).await;
        let body = json!({
            "slug": "intro", "title": "Intro call", "durationMinutes": 30, "locations": [{ "type": conference }],
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

    /// The body of a booking.
    pub fn booking(&self, time: &str) -> Value {
        json!({
            "eventTypeId": self.event_type, "start": format!("{DAY}T{time}:00Z"), "inviteeEmail": GUEST,
            "inviteeName": "Ada",
        })
    }

    /// Books a slot, and has the event written.
    pub async fn book(&self, time: &str) -> Value {
        let booked = self.world.api.post(BOOKINGS, self.booking(time)).send().await.expect(201);
        self.run_jobs().await;
        booked
    }

    pub async fn read(&self, booked: &Value) -> Value {
        self.world.api.get(format!("{BOOKINGS}/{}", text(&booked["id"]))).send().await.expect(200)
    }

    pub async fn change(&self, booked: &Value, verb: &str, body: Value) {
        let path = format!("{BOOKINGS}/{}/{verb}", text(&booked["id"]));
        self.world.api.post(path, body).send().await.expect(200);
        self.run_jobs().await;
    }

    /// Runs the due jobs of bookings, as the service does by itself.
    pub async fn run_jobs(&self) {
        let kinds = [BOOKING_EVENT, BOOKING_RECHECK];
        runner::drain(&self.world.server.app, &kinds).await.expect("the jobs are run");
    }

    /// The starts of the slots that are offered on the day, as `09:00`.
    pub async fn starts(&self) -> Vec<String> {
        self.world.server.clock.advance_ms(1_000);
        let query = json!({
            "eventTypeId": self.event_type, "start": format!("{DAY}T00:00:00Z"), "end": format!("{DAY}T23:59:59Z"),
        });
        let answer = self.world.api.post(SLOTS, query).send().await.expect(200);
        let slots = answer["data"].as_array().expect("a list").iter();
        slots.map(|slot| text(&slot["start"]).chars().skip(11).take(5).collect()).collect()
    }
}
