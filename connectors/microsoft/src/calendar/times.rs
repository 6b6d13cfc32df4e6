//! The times of events: instants, days, and the zones that they are anchored in. Graph writes a local time and the name of its zone; the
//! zone that the author chose stands beside them.

use connector_sdk::{Failure, Outcome};
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use model::Instant;
use model::calendar::Event;
use serde_json::{Value, json};

use crate::calendar::native;
use crate::calendar::zones::{zone_from, zone_to};
use crate::odata::stamp::{civil, stamp};

/// The zone where nothing else is known.
pub const UTC: &str = "UTC";
/// Half a day, milliseconds.
const HALF_DAY_MS: i64 = 43_200_000;
/// The form of `Event.recurrenceId` of a series with times.
const LOCAL_FORM: &str = "%Y-%m-%dT%H:%M:%S";

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
}

/// Returns the times of an event, anchored in the zone that its author chose, else in the mailbox's. Days are midnights in whatever zone:
/// their dates count. Fails where there is no start, or a text is no time.
pub fn times_of(theirs: &native::Event, mailbox_zone: &str) -> Outcome<EventTimes> {
    let start = theirs.start.as_ref().ok_or_else(|| unreadable("start"))?;
    let end = theirs.end.as_ref().unwrap_or(start);
    if theirs.is_all_day == Some(true) {
        return days_of(start, end, mailbox_zone);
    }
    let anchor = |name: &Option<String>| {
        let name = name.as_deref().filter(|name| !name.is_empty())?;
        Some(zone_from(name, mailbox_zone))
    };
    let own = |at: &native::DateTimeTimeZone| anchor(&at.time_zone).filter(|zone| zone != UTC);
    let time_zone = anchor(&theirs.original_start_time_zone)
        .or_else(|| own(start))
        .unwrap_or_else(|| mailbox_zone.to_owned());
    let end_zone = anchor(&theirs.original_end_time_zone).filter(|zone| *zone != time_zone);
    let (start, end) = (instant_of(start, mailbox_zone)?, instant_of(end, mailbox_zone)?);
    Ok(EventTimes { start, end: end.max(start), time_zone, end_time_zone: end_zone, ..EventTimes::default() })
}

fn days_of(
    start: &native::DateTimeTimeZone,
    end: &native::DateTimeTimeZone,
    mailbox_zone: &str,
) -> Outcome<EventTimes> {
    let first = civil(&start.date_time)?.date();
    let after = civil(&end.date_time)?.date();
    let after = match after > first {
        true => after,
        false => first.tomorrow().map_err(|_| unreadable("end"))?,
    };
    let zone = zone(mailbox_zone);
    Ok(EventTimes {
        start: midnight(first, &zone)?,
        end: midnight(after, &zone)?,
        time_zone: mailbox_zone.to_owned(),
        all_day: true,
        start_date: Some(first.to_string()),
        end_date: Some(after.to_string()),
        ..EventTimes::default()
    })
}

/// Returns the instant of a local time in its zone; without one it is in UTC.
pub fn instant_of(at: &native::DateTimeTimeZone, mailbox_zone: &str) -> Outcome<Instant> {
    let name = at.time_zone.as_deref().filter(|name| !name.is_empty()).unwrap_or(UTC);
    let in_zone = zone(&zone_from(name, mailbox_zone));
    // A text with an offset is an instant already.
    if at.date_time.ends_with(['Z', 'z']) {
        return stamp(&at.date_time)?.ok_or_else(|| unreadable("start or end"));
    }
    let zoned = in_zone.to_zoned(civil(&at.date_time)?).map_err(|_| unreadable("start or end"))?;
    Ok(zoned.timestamp().into())
}

/// The original start of an instance.
#[derive(Clone, Debug, PartialEq)]
pub struct OriginalTime {
    /// As `Event.recurrenceId`: local in the series' zone, or a day.
    pub recurrence_id: String,
    pub at: Instant,
}

/// Returns the original start of an instance of a series with these times. None where Graph has left it out.
pub fn original_of(original_start: Option<&str>, series: &EventTimes) -> Outcome<Option<OriginalTime>> {
    let Some(at) = original_start.filter(|text| !text.is_empty()).map(stamp).transpose()?.flatten() else {
        return Ok(None);
    };
    let zone = zone(&series.time_zone);
    if series.all_day {
        let day = day_near(at, &zone)?;
        return Ok(Some(OriginalTime { recurrence_id: day.to_string(), at: midnight(day, &zone)? }));
    }
    let recurrence_id = zone.to_datetime(at.timestamp()).strftime(LOCAL_FORM).to_string();
    Ok(Some(OriginalTime { recurrence_id, at }))
}

/// The day of an instant that names a day: midnight in UTC, else the nearest midnight of the zone.
fn day_near(at: Instant, zone: &TimeZone) -> Outcome<Date> {
    let in_utc = TimeZone::UTC.to_datetime(at.timestamp());
    if in_utc.time() == jiff::civil::Time::midnight() {
        return Ok(in_utc.date());
    }
    let near = Instant::from_millis(at.as_millis().saturating_add(HALF_DAY_MS));
    Ok(zone.to_datetime(near.timestamp()).date())
}

/// Returns the lines of the instances that a series does not have, of the days on which they would start.
pub fn excluded_lines(days: &[Date], series: &EventTimes) -> Vec<String> {
    if days.is_empty() {
        return Vec::new();
    }
    let mut days = days.to_vec();
    days.sort_unstable();
    days.dedup();
    if series.all_day {
        let dates: Vec<String> = days.iter().map(|day| day.strftime("%Y%m%d").to_string()).collect();
        return vec![format!("EXDATE;VALUE=DATE:{}", dates.join(","))];
    }
    let time = zone(&series.time_zone).to_datetime(series.start.timestamp()).time();
    let starts = days.iter().map(|day| day.to_datetime(time).strftime("%Y%m%dT%H%M%S").to_string());
    vec![format!("EXDATE;TZID={}:{}", series.time_zone, starts.collect::<Vec<_>>().join(","))]
}

/// Returns Graph's start and end of an event: local times in the zones of the event, so that a series keeps its time of day when the
/// clocks change. Days are midnights, at least one.
pub fn times_to(event: &Event, mailbox_zone: &str) -> Outcome<(Value, Value)> {
    let own = Some(event.time_zone.as_str()).filter(|zone| !zone.is_empty()).unwrap_or(mailbox_zone);
    if event.all_day {
        let first = day(event.start_date.as_deref())?;
        let after = day(event.end_date.as_deref())?;
        let after = match after > first {
            true => after,
            false => first.tomorrow().map_err(|_| Failure::invalid("endDate is out of range"))?,
        };
        let midnight =
            |day: Date| json!({ "dateTime": format!("{day}T00:00:00"), "timeZone": zone_to(mailbox_zone) });
        return Ok((midnight(first), midnight(after)));
    }
    let end_zone = event.end_time_zone.as_deref().unwrap_or(own);
    let keeps_clock = !event.recurrence.is_empty();
    Ok((local_in(event.start, own, keeps_clock), local_in(event.end, end_zone, keeps_clock)))
}

/// A local time of a zone. Where its clock shows the time twice and the second one is meant, the time is in UTC instead, unless it is that
/// of a series, which keeps its time of day.
fn local_in(at: Instant, zone_name: &str, keeps_clock: bool) -> Value {
    let in_zone = zone(zone_name);
    let local = in_zone.to_datetime(at.timestamp());
    let is_exact = in_zone.to_zoned(local).is_ok_and(|zoned| Instant::from(zoned.timestamp()) == at);
    let (local, name) = match is_exact || keeps_clock {
        true => (local, zone_to(zone_name)),
        false => (TimeZone::UTC.to_datetime(at.timestamp()), UTC.to_owned()),
    };
    json!({ "dateTime": local.strftime("%Y-%m-%dT%H:%M:%S%.f").to_string(), "timeZone": name })
}

/// Returns the local start of an event in its zone.
pub fn local_start(event: &Event) -> DateTime {
    zone(&event.time_zone).to_datetime(event.start.timestamp())
}

/// The IANA name of a zone; also of a Windows name, which CLDR maps to one.
pub fn known_zone(name: &str) -> Option<String> {
    recurrence::zone(name).ok()?.iana_name().map(str::to_owned)
}

/// Returns the zone of this name; UTC for one that is not known.
pub fn zone(name: &str) -> TimeZone {
    recurrence::zone(name).unwrap_or(TimeZone::UTC)
}

fn day(text: Option<&str>) -> Outcome<Date> {
    let read = text.and_then(|text| text.parse().ok());
    read.ok_or_else(|| Failure::invalid("startDate and endDate must be dates such as 2026-03-01"))
}

/// Returns the midnight with which a day begins in a zone.
pub fn midnight(day: Date, zone: &TimeZone) -> Outcome<Instant> {
    let zoned = day.to_zoned(zone.clone()).map_err(|_| unreadable("day"))?;
    Ok(zoned.timestamp().into())
}

fn unreadable(member: &str) -> Failure {
    Failure::unavailable(format!("the {member} of the provider's event is no date or time"))
}
