//! `/v1/scheduling` by example: event types, slots and bookings.

mod absence;
mod addresses;
mod bookings;
mod bound_keys;
mod browser_keys;
mod checker;
mod clock_change;
mod conference;
mod configurations;
mod confirmation;
mod event_types;
mod following;
mod host_decisions;
mod host_moves;
mod invitee_words;
mod kills;
mod lifecycle;
mod limits;
mod links;
mod mail;
mod mail_kills;
mod mail_lost;
mod mail_peers;
mod moves;
mod page;
mod page_access;
mod page_clock;
mod page_hosts;
mod page_manage;
mod page_outcomes;
mod page_script;
mod pools;
mod provider;
mod provider_peers;
mod provider_side;
mod questions;
mod races;
mod relocated;
mod rights;
mod schedules;
mod seats;
mod slots;
mod slow_forms;
mod spam;
mod tries;
mod wrong_input;

use harness::{Actor, TestServer};
use serde_json::{Value, json};

const EVENT_TYPES: &str = "/v1/scheduling/event-types";
const SLOTS: &str = "/v1/scheduling/availability/query";
const BOOKINGS: &str = "/v1/scheduling/bookings";
/// A Tuesday, days after a test's beginning.
const DAY: &str = "2026-03-10";

/// A host: a connection, and an empty calendar that bookings are written to.
struct Desk {
    api: Actor,
    connection: String,
    calendar: String,
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

impl Desk {
    async fn of(server: &TestServer, account: &str) -> Desk {
        let api = server.client().await;
        let connection = api.connect_account(account).await;
        let body = json!({ "connectionId": connection, "name": "Bookings", "timeZone": "UTC" });
        let calendar = text(&api.post("/v1/calendars", body).send().await.expect(201)["id"]);
        Desk { api, connection, calendar }
    }

    /// An event type of half an hour, on weekdays from 09:00 to 12:00 UTC.
    fn event_type(&self, slug: &str) -> Value {
        json!({
            "slug": slug, "title": "Intro call", "durationMinutes": 30,
            "hosts": [{
                "connectionId": self.connection, "calendarId": self.calendar,
                "conflictCalendarIds": [self.calendar], "displayName": "Alice",
            }],
            "schedule": {
                "timeZone": "UTC", "weekly": [{ "days": [1, 2, 3, 4, 5], "start": "09:00", "end": "12:00" }]
            },
        })
    }

    /// Makes an event type with these fields, and returns its id.
    async fn open(&self, slug: &str, fields: Value) -> String {
        let mut body = self.event_type(slug);
        for (name, value) in fields.as_object().expect("an object") {
            body[name] = value.clone();
        }
        text(&self.api.post(EVENT_TYPES, body).send().await.expect(201)["id"])
    }

    async fn event(&self, start: &str, end: &str) -> String {
        let event = json!({ "title": "Busy", "start": start, "end": end });
        let path = format!("/v1/calendars/{}/events", self.calendar);
        text(&self.api.post(path, event).send().await.expect(201)["id"])
    }
}

/// A query for the slots of a day.
fn on(event_type: &str, day: &str) -> Value {
    json!({
        "eventTypeId": event_type, "start": format!("{day}T00:00:00Z"), "end": format!("{day}T23:59:59Z")
    })
}

/// The starts of the slots that are offered, as `09:00`, in UTC.
async fn starts(api: &Actor, query: &Value) -> Vec<String> {
    let answer = api.post(SLOTS, query.clone()).send().await.expect(200);
    let each = answer["data"].as_array().expect("a list").iter();
    each.map(|slot| time_of(&slot["start"])).collect()
}

/// `09:00` of `2026-03-10T09:00:00.000Z`.
fn time_of(instant: &Value) -> String {
    text(instant).chars().skip(11).take(5).collect()
}

fn booking(event_type: &str, time: &str) -> Value {
    json!({
        "eventTypeId": event_type, "start": format!("{DAY}T{time}:00Z"),
        "inviteeEmail": "ada@example.org", "inviteeName": "Ada",
    })
}
