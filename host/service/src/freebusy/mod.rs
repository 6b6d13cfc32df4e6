//! Free/busy and availability. `calendars` opens connections and their calendars, `gather` reads those and the providers' free/busy,
//! `events` computes the busy times of a calendar's events, `busy` holds the pure rules of which event blocks time, `query` and
//! `availability` are the two operations. The search for free times itself is in `scheduling`.

pub mod availability;
pub mod busy;
pub mod calendars;
pub mod events;
pub mod gather;
pub mod query;
pub mod question;

use base::error::{Code, Error, Result, invalid};
use jiff::tz::TimeZone;
use model::bounds::free_busy::MAX_CALENDARS;
use model::bounds::{MAX_YEAR, MIN_YEAR};
use model::wire::Warning;
use scheduling::hours::Zone;
use scheduling::interval::{Interval, Intervals};
use serde_json::{Map, Value};

use crate::freebusy::busy::BusyStretch;

const DAY_MS: i64 = 24 * 60 * 60_000;

/// Years that calendars support.
const YEARS: std::ops::RangeInclusive<i16> = MIN_YEAR..=MAX_YEAR;

/// Fails if an object lacks one of these fields. `path` is its position with a trailing dot, or empty.
fn require(map: &Map<String, Value>, path: &str, fields: &[&str]) -> Result<()> {
    match fields.iter().find(|f| matches!(map.get(**f), None | Some(Value::Null))) {
        None => Ok(()),
        Some(field) => Err(missing(format!("{path}{field}"))),
    }
}

fn missing(field: String) -> Error {
    let message = format!("{field} is required");
    invalid(Code::MissingField, field, message)
}

/// Parses the zone in `field` of a query.
fn zone(field: &str, name: Option<&str>) -> Result<Option<Zone>> {
    let Some(name) = name else { return Ok(None) };
    Zone::named(name).map(Some).ok_or_else(|| {
        let message = format!("{field}: {name:?} is not an IANA time zone, such as Europe/Berlin");
        invalid(Code::InvalidTimeZone, field, message)
    })
}

/// Checks a range: not empty, and within the supported years. `fields` are the names of its start and its end.
fn range(fields: [&str; 2], start: model::Instant, end: model::Instant) -> Result<Interval> {
    for (field, instant) in fields.into_iter().zip([start, end]) {
        if !YEARS.contains(&instant.timestamp().to_zoned(TimeZone::UTC).year()) {
            let message = format!("{field} must lie between the years {} and {}", YEARS.start(), YEARS.end());
            return Err(invalid(Code::InvalidTimeRange, field, message));
        }
    }
    if end <= start {
        let [first, last] = fields;
        return Err(invalid(Code::InvalidTimeRange, last, format!("{last} must be after {first}")));
    }
    Ok(Interval::new(start.as_millis(), end.as_millis()))
}

/// Warnings about series whose times in these ranges are unknown and count as busy, each once. `target` replaces the event where the caller
/// may not see events.
fn unexpanded(found: &[BusyStretch], ranges: &Intervals, target: &str) -> Vec<Warning> {
    const MAX: usize = 20;
    let mut out: Vec<Warning> = Vec::new();
    for busy in found {
        let Some(reason) = &busy.unexpanded else { continue };
        // More was read than was asked for.
        if ranges.intersect(&Intervals::from(busy.at)).is_empty() {
            continue;
        }
        let because = busy.event_id.as_ref().map(|_| format!(": {reason}")).unwrap_or_default();
        let warning = Warning {
            code: "recurrence_not_expanded".to_owned(),
            message: format!("a series cannot be expanded, so that all of its time counts{because}"),
            target: Some(busy.event_id.clone().unwrap_or_else(|| target.to_owned())),
        };
        if out.len() < MAX && !out.contains(&warning) {
            out.push(warning);
        }
    }
    out
}

/// Checks a list of calendar ids, if there is one.
fn check_calendar_ids(field: &str, ids: Option<&[String]>) -> Result<()> {
    match ids {
        Some(ids) if ids.is_empty() || ids.len() > MAX_CALENDARS => {
            let message = format!(
                "{field} names 1 to {MAX_CALENDARS} calendars; leave it out for all that count as busy"
            );
            Err(invalid(Code::InvalidParameter, field, message))
        }
        _ => Ok(()),
    }
}
