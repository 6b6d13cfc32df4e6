//! The times of events: instants, days, and the zones that they are anchored in.

use connector_sdk::{Failure, Outcome};
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use model::Instant;

use crate::calendar::native::EventDateTime;

/// The zone where nothing else is known.
const UTC: &str = "UTC";

/// Start and end of an event in the model's terms.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventTimes {
    pub start: Instant,
    /// Never before the start.
    pub end: Instant,
    /// IANA name.
    pub time_zone: String,
    /// IANA name, where the end is in another zone.
    pub end_time_zone: Option<String>,
    pub all_day: bool,
    pub start_date: Option<String>,
    pub end_date: Option<String>,
    /// The provider's name of a zone that is none of IANA's; the calendar's zone stands for it.
    pub unknown_zone: Option<String>,
}

/// Returns the times of an event. A time is the instant that its offset says, anchored in its own zone, else in the calendar's: Google
/// writes all times with the offset of the calendar's zone. Without an end a time is a moment, and a day is one day. Fails where there is
/// no start, or a text is no time.
pub fn times_of(start: &EventDateTime, end: &EventDateTime, calendar_zone: &str) -> Outcome<EventTimes> {
    let home = known_zone(calendar_zone).unwrap_or_else(|| UTC.to_owned());
    if let Some(first) = &start.date {
        return days_of(first, end, home);
    }
    let named = |at: &EventDateTime| at.time_zone.clone().filter(|name| !name.is_empty());
    let (own, own_end) = (named(start), named(end));
    let zone = own.as_deref().and_then(known_zone);
    let end_zone = own_end.as_deref().and_then(known_zone);
    let unknown_zone = own.filter(|_| zone.is_none()).or(own_end.filter(|_| end_zone.is_none()));
    let time_zone = zone.unwrap_or_else(|| home.clone());
    let start = instant_of(start, &time_zone)?;
    let end = match end.is_empty() {
        true => start,
        false => instant_of(end, end_zone.as_deref().unwrap_or(&time_zone))?,
    };
    Ok(EventTimes {
        start,
        end: end.max(start),
        end_time_zone: end_zone.filter(|end| *end != time_zone),
        time_zone,
        unknown_zone,
        ..EventTimes::default()
    })
}

fn days_of(first: &str, end: &EventDateTime, home: String) -> Outcome<EventTimes> {
    let first = day(first)?;
    let after = end.date.as_deref().map(day).transpose()?.filter(|after| *after > first);
    let after = after.map_or_else(|| first.tomorrow().map_err(|_| unreadable("an end")), Ok)?;
    let zone = zone(&home);
    Ok(EventTimes {
        start: midnight(first, &zone)?,
        end: midnight(after, &zone)?,
        time_zone: home,
        all_day: true,
        start_date: Some(first.to_string()),
        end_date: Some(after.to_string()),
        ..EventTimes::default()
    })
}

/// The original start of an instance.
#[derive(Clone, Debug, PartialEq)]
pub struct OriginalTime {
    /// As `Event.recurrenceId`: local in the series' zone, or a day.
    pub recurrence_id: String,
    pub at: Instant,
}

/// Returns the original start of an instance, in its own zone, else in that of the instance's start, else in the calendar's.
pub fn original_of(
    original: &EventDateTime,
    start: &EventDateTime,
    calendar_zone: &str,
) -> Outcome<OriginalTime> {
    let home = known_zone(calendar_zone).unwrap_or_else(|| UTC.to_owned());
    if let Some(date) = &original.date {
        let day = day(date)?;
        return Ok(OriginalTime { recurrence_id: day.to_string(), at: midnight(day, &zone(&home))? });
    }
    let own = [&original.time_zone, &start.time_zone].into_iter().flatten().find_map(|name| known_zone(name));
    let zone_name = own.unwrap_or(home);
    let at = instant_of(original, &zone_name)?;
    let local = zone(&zone_name).to_datetime(at.timestamp());
    Ok(OriginalTime { recurrence_id: local.strftime("%Y-%m-%dT%H:%M:%S").to_string(), at })
}

/// The IANA name of a zone; also of a Windows name, which CLDR maps to one.
pub fn known_zone(name: &str) -> Option<String> {
    recurrence::zone(name).ok()?.iana_name().map(str::to_owned)
}

fn zone(name: &str) -> TimeZone {
    recurrence::zone(name).unwrap_or(TimeZone::UTC)
}

fn instant_of(at: &EventDateTime, zone_name: &str) -> Outcome<Instant> {
    let text = at.date_time.as_deref().ok_or_else(|| unreadable("a start or end"))?;
    if let Ok(instant) = text.parse() {
        return Ok(instant);
    }
    let local: DateTime = text.parse().map_err(|_| unreadable("a start or end"))?;
    let zoned = zone(zone_name).to_zoned(local).map_err(|_| unreadable("a start or end"))?;
    Ok(zoned.timestamp().into())
}

fn day(text: &str) -> Outcome<Date> {
    text.parse().map_err(|_| unreadable("a day"))
}

fn midnight(day: Date, zone: &TimeZone) -> Outcome<Instant> {
    let zoned = day.to_zoned(zone.clone()).map_err(|_| unreadable("a day"))?;
    Ok(zoned.timestamp().into())
}

fn unreadable(what: &str) -> Failure {
    Failure::unavailable(format!("{what} of the provider's event is not a date or time"))
}
