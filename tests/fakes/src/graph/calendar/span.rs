//! Start and end of an event: how they are taken, kept and answered.

use chrono::{DateTime, Duration, NaiveDateTime, NaiveTime};
use chrono_tz::Tz;
use serde_json::{Value, json};

use crate::graph::calendar::zones;
use crate::graph::errors::GraphError;

/// Start and end, each with the name of its zone as it was given. The times are in UTC; those of an event of whole days are its midnights,
/// which are the same in whatever zone they are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventSpan {
    pub is_all_day: bool,
    pub start: NaiveDateTime,
    pub end: NaiveDateTime,
    pub start_zone: String,
    pub end_zone: String,
}

/// The zone in which times are answered, by the name that the request gave it.
#[derive(Clone, Debug)]
pub struct AskedZone {
    pub name: String,
    pub zone: Tz,
}

impl AskedZone {
    pub fn utc() -> AskedZone {
        AskedZone { name: "UTC".to_owned(), zone: chrono_tz::UTC }
    }

    /// The zone of the preference `outlook.timezone`; UTC without it.
    ///
    /// # Errors
    /// Exchange does not know the zone: 400.
    pub fn read(name: Option<&str>) -> Result<AskedZone, GraphError> {
        let Some(name) = name else { return Ok(AskedZone::utc()) };
        let unknown = || {
            let message = format!("A valid TimeZone value must be specified: '{name}' is not supported.");
            GraphError::new(400, "TimeZoneNotSupportedException", &message)
        };
        Ok(AskedZone { name: name.to_owned(), zone: zones::find_zone(name).ok_or_else(unknown)? })
    }
}

impl EventSpan {
    /// Reads `start`, `end` and `isAllDay` of a body.
    ///
    /// # Errors
    /// A time or a zone is unknown, the end precedes the start, or an event of whole days does not go from midnight to midnight.
    pub fn parse(start: &Value, end: &Value, is_all_day: bool) -> Result<EventSpan, GraphError> {
        let (start, start_zone) = read_time(start, "start", is_all_day)?;
        let (end, end_zone) = read_time(end, "end", is_all_day)?;
        let span = EventSpan { is_all_day, start, end, start_zone, end_zone };
        span.check()?;
        Ok(span)
    }

    fn check(&self) -> Result<(), GraphError> {
        let refused = |code: &str, message: &str| Err(GraphError::new(400, code, message));
        if self.is_all_day {
            let is_midnight = |at: NaiveDateTime| at.time() == NaiveTime::MIN;
            if !is_midnight(self.start) || !is_midnight(self.end) || self.end - self.start < Duration::days(1)
            {
                let message = "The Event.Start property for an all-day event needs to be set to midnight, and it has to last a day.";
                return refused("ErrorPropertyValidationFailure", message);
            }
            if self.start_zone != self.end_zone {
                let message = "The start and end of an all-day event have to be in the same time zone.";
                return refused("ErrorPropertyValidationFailure", message);
            }
        }
        match self.end < self.start {
            true => refused(
                "ErrorCalendarEndDateIsEarlierThanStartDate",
                "The end date is earlier than the start date.",
            ),
            false => Ok(()),
        }
    }

    /// The zone of the start; UTC where it has a custom one.
    pub fn zone(&self) -> Tz {
        zones::find_zone(&self.start_zone).unwrap_or(chrono_tz::UTC)
    }

    /// The start in the event's own zone.
    pub fn local_start(&self) -> NaiveDateTime {
        if self.is_all_day { self.start } else { zones::to_local(self.start, self.zone()) }
    }

    /// Start and end in UTC, those of whole days by the midnights of the event's own zone.
    pub fn instants(&self) -> (NaiveDateTime, NaiveDateTime) {
        match self.is_all_day {
            true => (zones::to_utc(self.start, self.zone()), zones::to_utc(self.end, self.zone())),
            false => (self.start, self.end),
        }
    }

    /// The same length and zones at another start, which is in UTC, or a midnight.
    pub fn at(&self, start: NaiveDateTime) -> EventSpan {
        EventSpan { start, end: start + (self.end - self.start), ..self.clone() }
    }

    /// Whether the event overlaps the range; one without a length does where it begins in it.
    pub fn overlaps(&self, from: NaiveDateTime, to: NaiveDateTime) -> bool {
        let (start, end) = self.instants();
        start < to && (end > from || (start == end && start >= from))
    }

    /// `start` and `end` as they are answered.
    pub fn shown(&self, asked: &AskedZone) -> (Value, Value) {
        let shown = |at: NaiveDateTime| {
            let at = if self.is_all_day { at } else { zones::to_local(at, asked.zone) };
            json!({ "dateTime": seven_decimals(at), "timeZone": asked.name })
        };
        (shown(self.start), shown(self.end))
    }
}

/// A time with seven decimals and no offset.
pub fn seven_decimals(at: NaiveDateTime) -> String {
    at.format("%Y-%m-%dT%H:%M:%S.0000000").to_string()
}

/// A `dateTimeTimeZone` in UTC, or its local time where the event lasts whole days; with the name of its zone.
fn read_time(value: &Value, name: &str, is_all_day: bool) -> Result<(NaiveDateTime, String), GraphError> {
    let refused = |message: String| GraphError::new(400, "ErrorPropertyValidationFailure", &message);
    let text = value["dateTime"]
        .as_str()
        .ok_or_else(|| refused(format!("The required property '{name}' has no dateTime.")))?;
    let zone_name = value["timeZone"].as_str().unwrap_or("UTC");
    let zone = zones::find_zone(zone_name).ok_or_else(|| {
        GraphError::new(400, "TimeZoneNotSupportedException", "A valid TimeZone value must be specified.")
    })?;
    if let Ok(at) = DateTime::parse_from_rfc3339(text) {
        let utc = at.naive_utc();
        let at = if is_all_day { zones::to_local(utc, zone) } else { utc };
        return Ok((at, zone_name.to_owned()));
    }
    let local =
        zones::parse_bound(text).ok_or_else(|| refused(format!("'{text}' is no DateTime of '{name}'.")))?;
    let at = if is_all_day { local } else { zones::to_utc(local, zone) };
    Ok((at, zone_name.to_owned()))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{AskedZone, EventSpan};

    fn time(text: &str, zone: &str) -> Value {
        json!({ "dateTime": text, "timeZone": zone })
    }

    fn asked(name: &str) -> AskedZone {
        AskedZone { name: name.to_owned(), zone: super::zones::find_zone(name).expect("a zone") }
    }

    #[test]
    fn times_are_answered_in_the_zone_that_is_asked_for() {
        let (start, end) = (time("2026-07-01T09:00:00", "Europe/Berlin"), time("2026-07-01T10:00:00", "UTC"));
        let span = EventSpan::parse(&start, &end, false).expect("a span");
        assert_eq!(span.shown(&AskedZone::utc()).0, time("2026-07-01T07:00:00.0000000", "UTC"));
        let shown = span.shown(&asked("Pacific Standard Time")).0;
        assert_eq!(shown, time("2026-07-01T00:00:00.0000000", "Pacific Standard Time"));
        assert_eq!(span.start_zone, "Europe/Berlin");
    }

    #[test]
    fn whole_days_are_midnights_in_whatever_zone() {
        let (start, end) =
            (time("2026-07-01T00:00:00", "Europe/Berlin"), time("2026-07-02", "Europe/Berlin"));
        let span = EventSpan::parse(&start, &end, true).expect("a span");
        let shown = span.shown(&asked("Tokyo Standard Time")).0;
        assert_eq!(shown, time("2026-07-01T00:00:00.0000000", "Tokyo Standard Time"));
    }

    #[test]
    fn whole_days_from_noon_or_without_a_length_or_in_two_zones_are_refused() {
        let midnight = |zone: &str| time("2026-07-01T00:00:00", zone);
        let noon = time("2026-07-02T12:00:00", "UTC");
        let next = time("2026-07-02T00:00:00", "Europe/Berlin");
        for (start, end) in
            [(midnight("UTC"), noon), (midnight("UTC"), midnight("UTC")), (midnight("UTC"), next)]
        {
            let error = EventSpan::parse(&start, &end, true).expect_err("refused");
            assert_eq!(error.code, "ErrorPropertyValidationFailure");
        }
    }
}
