//! Paper's events, and what they are for Switchboard.

use connector_sdk::model::Instant;
use connector_sdk::model::calendar::{AccessRole, Calendar, Event};
use connector_sdk::model::wire::Source;
use connector_sdk::model::wire::calendar::EventWrite;
use connector_sdk::{Failure, Outcome};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::paper::{self, Collection, Names, Record};

#[derive(Deserialize)]
pub struct PaperEvent {
    id: String,
    etag: String,
    title: String,
    note: Option<String>,
    place: Option<String>,
    /// An instant, or the first day, `YYYY-MM-DD`.
    start: String,
    /// An instant, or the day after the last.
    end: String,
    /// The IANA name of the zone of an event with times.
    zone: Option<String>,
}

pub fn calendar(calendar: &Collection) -> Calendar {
    Calendar { name: calendar.title.clone(), is_owned: true, access_role: AccessRole::Owner, ..Calendar::default() }
}

impl Record for PaperEvent {
    const NAMES: Names = Names { collections: "calendars", records: "events" };

    /// A day is no time: it stays the day that it is, whatever the zone. Paper's days have no zone, so their instants are those of UTC.
    fn source(&self) -> Outcome<Source> {
        let all_day = !self.start.contains('T');
        let day = |day: &str| all_day.then(|| day.to_owned());
        let event = Event {
            title: Some(self.title.clone()),
            description: self.note.clone(),
            location: self.place.clone(),
            all_day,
            start_date: day(&self.start),
            end_date: day(&self.end),
            start: instant(&self.start)?,
            end: instant(&self.end)?,
            time_zone: self.zone.clone().unwrap_or_else(|| "UTC".into()),
            ..Event::default()
        };
        paper::source(&self.id, &self.etag, &event)
    }
}

fn instant(time: &str) -> Outcome<Instant> {
    let time = if time.contains('T') { time.to_owned() } else { format!("{time}T00:00:00Z") };
    time.parse().map_err(|_| Failure::unavailable("the event has a time that cannot be read"))
}

/// The fields of the model that Paper keeps, and those of Paper for each: the times of an event are written together.
fn kept(field: &str) -> Option<&'static [&'static str]> {
    match field {
        "title" => Some(&["title"]),
        "description" => Some(&["note"]),
        "location" => Some(&["place"]),
        "start" | "end" | "timeZone" | "allDay" | "startDate" | "endDate" => Some(&["start", "end", "zone"]),
        _ => None,
    }
}

/// Returns the fields to write to Paper: all fields, or the changed ones alone, so that the others stay as they are.
pub fn fields(event: &Event, changed: Option<&[String]>) -> Map<String, Value> {
    let (start, end, zone) = match (&event.start_date, &event.end_date) {
        (Some(first), Some(end)) if event.all_day => (first.clone(), end.clone(), None),
        _ => (event.start.to_string(), event.end.to_string(), Some(&event.time_zone)),
    };
    let values = [
        ("title", json!(event.title.as_deref().unwrap_or_default())),
        ("note", json!(event.description)),
        ("place", json!(event.location)),
        ("start", json!(start)),
        ("end", json!(end)),
        ("zone", json!(zone)),
    ];
    let is_changed = |theirs: &str| {
        changed.is_none_or(|names| names.iter().filter_map(|name| kept(name)).any(|kept| kept.contains(&theirs)))
    };
    let written = values.into_iter().filter(|(theirs, _)| is_changed(theirs));
    written.map(|(theirs, value)| (theirs.to_owned(), value)).collect()
}

/// Fields that the caller changed and that Paper does not keep.
pub fn unkept(write: &EventWrite) -> impl Iterator<Item = &String> {
    write.changed.iter().filter(|field| kept(field).is_none())
}

/// A rule that is lost would make one event out of many: it is refused, and not left out with a warning.
pub fn refuse_series(write: &EventWrite) -> Outcome<()> {
    let refused = |what: &str, field: &str| Err(Failure::unsupported(what).with_detail(json!({ "field": field })));
    if !write.event.recurrence.is_empty() && write.changed.iter().any(|field| field == "recurrence") {
        return refused("series", "recurrence");
    }
    if write.target.recurrence_id.is_some() {
        return refused("changes of one instance", "recurrenceId");
    }
    Ok(())
}
