//! Instances of series. Graph gives each an id of its own, which is looked up by the original start: the first instance of a day may be
//! another one.

use connector_sdk::http::Request;
use connector_sdk::{Context, Failure, Outcome};
use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use model::Instant;

use crate::api::ask;
use crate::calendar::native::{Event, EventName, EventPage};
use crate::calendar::read::read_event;
use crate::calendar::roots::{INSTANCE_NAMES, events};
use crate::calendar::times::{UTC, instant_of};
use crate::odata::stamp::{civil, stamp};

/// The time before and after the original start in which the instance is looked for, milliseconds.
const NEAR_MS: i64 = 2 * 86_400_000;
/// Half a day, milliseconds.
const HALF_DAY_MS: i64 = 43_200_000;
/// Instances that are looked at.
const PAGE_SIZE: &str = "100";

/// An instance of a series by its original start.
#[derive(Clone, Debug, PartialEq)]
pub struct InstanceName {
    /// As `Event.recurrenceId`.
    pub recurrence_id: Option<String>,
    /// The same as an instant.
    pub at: Option<Instant>,
}

impl InstanceName {
    /// The local day of the original start, in the zone of the series.
    pub fn local_day(&self) -> Option<Date> {
        self.recurrence_id.as_deref()?.get(..10)?.parse().ok()
    }

    /// The day, of an all-day series.
    pub fn day(&self) -> Option<Date> {
        let id = self.recurrence_id.as_deref().filter(|id| id.len() == 10)?;
        id.parse().ok()
    }
}

/// Returns the id of an instance. One that was moved far away from its original start is found among the changed ones of its series. Fails
/// with `not-found` where the series has no such instance.
pub fn find_instance(
    context: &Context,
    calendar: &str,
    series: &str,
    instance: &InstanceName,
) -> Outcome<String> {
    let around = match (instance.day(), instance.at) {
        (Some(day), _) => midnight_in_utc(day)?,
        (None, Some(at)) => at,
        (None, None) => {
            return Err(Failure::invalid("the instance is not named: give recurrenceId and originalStart"));
        }
    };
    let bound = |by: i64| utc_text(Instant::from_millis(around.as_millis().saturating_add(by)));
    let (from, to) = (bound(-NEAR_MS), bound(NEAR_MS));
    let query = [
        ("startDateTime", from.as_str()),
        ("endDateTime", to.as_str()),
        ("$select", INSTANCE_NAMES),
        ("$top", PAGE_SIZE),
    ];
    let url = events(calendar, &[series, "instances"], &query)?;
    let page: EventPage = ask(context, Request::get(url), "looking for the instance")?;
    for record in &page.value {
        let Ok(name) = serde_json::from_str::<EventName>(record.get()) else { continue };
        if is_meant(&name, instance) && !name.id.is_empty() {
            return Ok(name.id);
        }
    }
    let changed = read_event(context, calendar, series)?.exception_occurrences.unwrap_or_default();
    let found = changed.into_iter().find(|one| is_original(one.original_start.as_deref(), instance));
    found.map(|Event { id, .. }| id).ok_or_else(|| Failure::not_found("the series has no such instance"))
}

/// Whether this is the instance. An unchanged one without an original start begins at it.
fn is_meant(name: &EventName, instance: &InstanceName) -> bool {
    if name.original_start.as_ref().is_some_and(|text| !text.is_empty()) {
        return is_original(name.original_start.as_deref(), instance);
    }
    let Some(start) = name.start.as_ref().filter(|_| name.kind.as_deref() == Some("occurrence")) else {
        return false;
    };
    match instance.day() {
        Some(day) => civil(&start.date_time).is_ok_and(|start| start.date() == day),
        None => instant_of(start, UTC).is_ok_and(|start| Some(start) == instance.at),
    }
}

/// Whether an original start is the one of the instance: the same instant; or, of a day, its midnight in UTC, else a midnight in a zone
/// that is nearer to this day's than to another one's.
fn is_original(original_start: Option<&str>, instance: &InstanceName) -> bool {
    let Some(Ok(Some(at))) = original_start.map(stamp) else { return false };
    let Some(day) = instance.day() else { return Some(at) == instance.at };
    let in_utc = TimeZone::UTC.to_datetime(at.timestamp());
    if in_utc.time() == Time::midnight() {
        return in_utc.date() == day;
    }
    let is_near =
        |own: Instant| (-HALF_DAY_MS..HALF_DAY_MS).contains(&at.as_millis().saturating_sub(own.as_millis()));
    instance.at.is_some_and(is_near)
}

fn midnight_in_utc(day: Date) -> Outcome<Instant> {
    let zoned = day.to_zoned(TimeZone::UTC);
    zoned
        .map(|zoned| zoned.timestamp().into())
        .map_err(|_| Failure::invalid("the instance's day is out of range"))
}

/// An instant as the bounds of lists of instances are written, in UTC.
pub fn utc_text(at: Instant) -> String {
    let at: Timestamp = at.timestamp();
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::{InstanceName, is_original};

    fn name(recurrence_id: &str, at: &str) -> InstanceName {
        InstanceName { recurrence_id: Some(recurrence_id.to_owned()), at: at.parse().ok() }
    }

    #[test]
    fn a_day_is_named_by_a_midnight_of_any_zone() {
        let in_berlin = name("2026-03-05", "2026-03-04T23:00:00Z");
        let in_auckland = name("2026-03-06", "2026-03-05T11:00:00Z");
        for (original, is_fifth, is_sixth) in [
            ("2026-03-05T00:00:00Z", true, false),
            ("2026-03-04T15:00:00Z", true, false),
            ("2026-03-05T11:00:00Z", false, true),
            ("2026-03-06T00:00:00Z", false, true),
            ("2026-03-06T05:00:00Z", false, false),
        ] {
            let found = [&in_berlin, &in_auckland].map(|one| is_original(Some(original), one));
            assert_eq!(found, [is_fifth, is_sixth], "{original}");
        }
    }

    #[test]
    fn a_time_is_the_same_instant() {
        let name = name("2026-03-05T10:00:00", "2026-03-05T09:00:00Z");
        assert!(is_original(Some("2026-03-05T10:00:00+01:00"), &name));
        assert!(!is_original(Some("2026-03-05T10:00:00Z"), &name) && !is_original(None, &name));
    }
}
