//! Google's records as sources: one for each event, also for a changed or cancelled instance of a series.

use connector_sdk::{Failure, Outcome};
use model::wire::{Item, ItemError, JsonText, Source, Warning};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::calendar::info::CalendarInfo;
use crate::calendar::mapping::{calendar_data, calendar_from, event_data, event_from, event_times};
use crate::calendar::native::{CalendarEntry, Event, EventName};

/// Characters of a zone's name that a warning shows.
const MAX_ZONE_NAME: usize = 80;

/// Returns a source that is gone.
pub fn deleted_source(id: &str) -> Source {
    Source { external_id: id.to_owned(), deleted: true, ..Source::default() }
}

/// Returns the source of an event. Fails where the event cannot be read, or has no id.
pub fn event_source(theirs: &Event, calendar: &CalendarInfo) -> Outcome<Source> {
    if theirs.id.is_empty() {
        return Err(Failure::unavailable("the provider's event has no id"));
    }
    if theirs.is_deleted() {
        return Ok(Source { etag: theirs.etag.clone(), ..deleted_source(&theirs.id) });
    }
    let item = Item {
        external_id: theirs.id.clone(),
        series_external_id: theirs.recurring_event_id.clone(),
        body: body(&event_from(theirs, calendar)?)?,
        provider_data: event_data(theirs),
        warnings: warnings(theirs, calendar)?,
        ..Item::default()
    };
    Ok(Source {
        external_id: theirs.id.clone(),
        etag: theirs.etag.clone(),
        items: vec![item],
        ..Source::default()
    })
}

/// Returns the source of a record of a page. One that cannot be read has an error, and its neighbours are read all the same.
pub fn listed_event(record: &RawValue, calendar: &CalendarInfo) -> Source {
    // serde_json's own text quotes the unexpected value, which may be personal.
    let read = serde_json::from_str::<Event>(record.get())
        .map_err(|error| format!("the provider's event cannot be read at column {}", error.column()));
    let source = read.and_then(|event| event_source(&event, calendar).map_err(|failure| failure.message));
    source.unwrap_or_else(|message| {
        let error = Some(ItemError { code: "unreadable".to_owned(), message });
        Source { error, ..named_event(record) }
    })
}

/// Returns the name and version of a record of a page, without its content.
pub fn named_event(record: &RawValue) -> Source {
    let name: EventName = serde_json::from_str(record.get()).unwrap_or_default();
    let is_cancelled = name.status.as_deref() == Some("cancelled");
    Source {
        deleted: is_cancelled && name.recurring_event_id.is_none(),
        external_id: name.id,
        etag: name.etag,
        ..Source::default()
    }
}

/// Returns the source of a calendar.
pub fn calendar_source(theirs: &CalendarEntry) -> Outcome<Source> {
    if theirs.id.is_empty() {
        return Err(Failure::unavailable("the provider's calendar has no id"));
    }
    let item = Item {
        external_id: theirs.id.clone(),
        body: body(&calendar_from(theirs))?,
        provider_data: Some(calendar_data(theirs)),
        ..Item::default()
    };
    Ok(Source {
        external_id: theirs.id.clone(),
        etag: theirs.etag.clone(),
        items: vec![item],
        ..Source::default()
    })
}

fn body(resource: &impl Serialize) -> Outcome<JsonText> {
    JsonText::of(resource)
        .map_err(|e| Failure::unavailable(format!("the item cannot be written as JSON: {e}")))
}

fn warnings(theirs: &Event, calendar: &CalendarInfo) -> Outcome<Vec<Warning>> {
    let unknown = event_times(theirs, calendar)?.unknown_zone;
    let warning = |name: String| {
        let shown: String = name.chars().filter(|c| !c.is_control()).take(MAX_ZONE_NAME).collect();
        Warning {
            code: "unknown_time_zone".to_owned(),
            message: format!(
                "the provider's time zone {shown:?} is not known: the calendar's time zone stands for it"
            ),
            target: Some("timeZone".to_owned()),
        }
    };
    Ok(unknown.map(warning).into_iter().collect())
}
