//! Events as a reader gets them: times at the offset of one zone, the reader's own entries marked, and the parts that were asked for.

use chrono_tz::Tz;
use serde_json::{Map, Value, json};

use crate::google::call::Call;
use crate::google::state::{Calendar, EventRecord};
use crate::google::times;

/// How events are shown.
pub struct EventView<'c> {
    pub calendar: &'c Calendar,
    /// The zone at whose offset times are written, whatever zone an event has.
    zone: Tz,
    max_attendees: Option<usize>,
    /// Cancelled events have their ids alone.
    is_bare: bool,
}

impl<'c> EventView<'c> {
    pub fn new(calendar: &'c Calendar, call: &Call, is_bare: bool) -> EventView<'c> {
        let zone = call.parameter("timeZone").and_then(times::find_zone).unwrap_or_else(|| calendar.zone());
        let max_attendees = call.parameter("maxAttendees").and_then(|text| text.parse().ok());
        EventView { calendar, zone, max_attendees, is_bare }
    }

    /// An event as it is answered.
    pub fn show(&self, record: &EventRecord) -> Value {
        let mut members = Map::new();
        members.insert("kind".to_owned(), "calendar#event".into());
        members.insert("etag".to_owned(), record.etag().into());
        let is_exception = record.text("recurringEventId").is_some();
        // A cancelled instance has only ids and the original start; a deleted event keeps its fields.
        let is_short = record.is_cancelled() && (is_exception || self.is_bare);
        let kept = ["id", "status", "recurringEventId", "originalStartTime"];
        for (name, value) in &record.members {
            if !is_short || kept.contains(&name.as_str()) {
                members.insert(name.clone(), value.clone());
            }
        }
        for name in ["start", "end", "originalStartTime"] {
            if let Some(value) = members.get_mut(name) {
                self.write_time(value);
            }
        }
        for name in ["organizer", "creator"] {
            if let Some(person) = members.get_mut(name) {
                self.mark_self(person);
            }
        }
        if let Some(Value::Array(attendees)) = members.get_mut("attendees") {
            attendees.iter_mut().for_each(|attendee| self.mark_self(attendee));
        }
        self.limit_attendees(&mut members);
        if !is_short {
            members.entry("htmlLink".to_owned()).or_insert_with(|| {
                json!(format!(
                    "https://www.google.com/calendar/event?eid={}",
                    record.text("id").unwrap_or_default()
                ))
            });
            members.entry("reminders".to_owned()).or_insert_with(|| json!({ "useDefault": true }));
        }
        Value::Object(members)
    }

    fn write_time(&self, value: &mut Value) {
        let own = value["timeZone"].as_str().and_then(times::find_zone);
        let at = value["dateTime"].as_str().and_then(|text| times::parse_instant(text, own));
        if let Some(at) = at {
            value["dateTime"] = times::written(at, self.zone).into();
        }
    }

    fn mark_self(&self, person: &mut Value) {
        let email = person["email"].as_str().unwrap_or_default();
        let is_calendar = email == self.calendar.id;
        let is_owner = email == self.calendar.owner;
        if is_calendar || is_owner {
            person["self"] = true.into();
        }
        if is_calendar && !is_owner {
            person["displayName"] = self.calendar.summary.clone().into();
        }
    }

    /// With more attendees than the reader takes, the reader's own entry alone.
    fn limit_attendees(&self, members: &mut Map<String, Value>) {
        let Some(most) = self.max_attendees else { return };
        let Some(Value::Array(attendees)) = members.get_mut("attendees") else { return };
        if attendees.len() > most {
            attendees.retain(|attendee| attendee["self"] == true);
            members.insert("attendeesOmitted".to_owned(), true.into());
        }
    }
}
