//! The times of an event: from a client's input to the stored form, and to milliseconds for comparisons.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use crate::calendar::types::{Moment, When};
use crate::problem::Problem;
use crate::times::{day, local, local_ms, midnight_ms, offset_time, stored_zone, zone};

impl When {
    /// Start and end in milliseconds; days begin at the midnight of the calendar's zone.
    pub fn span_ms(&self, calendar_zone: &TimeZone) -> (i64, i64) {
        (self.from.ms(calendar_zone), self.to.ms(calendar_zone))
    }

    /// The zone that the start is anchored in.
    pub fn zone(&self, calendar_zone: &TimeZone) -> TimeZone {
        match (&self.from.day, &self.from.zone) {
            (None, Some(name)) => stored_zone(name),
            _ => calendar_zone.clone(),
        }
    }

    /// As it is stored: days alone, or times with offset and zone. Checks that both are of one kind and in order.
    pub fn normalised(&self, calendar_zone: &str) -> Result<When, Problem> {
        let from = self.from.normalised(calendar_zone, "when.from")?;
        let to_default = from.zone.as_deref().unwrap_or(calendar_zone).to_owned();
        let to = self.to.normalised(&to_default, "when.to")?;
        if from.day.is_some() != to.day.is_some() {
            return Err(Problem::field(
                "when.to",
                "when.from and when.to must both have a day, or both a time",
            ));
        }
        let when = When { from, to };
        let (start, end) = when.span_ms(&TimeZone::UTC);
        if end < start || (when.from.day.is_some() && end == start) {
            return Err(Problem::field(
                "when.to",
                "when.to must be after when.from; the last day is exclusive",
            ));
        }
        Ok(when)
    }

    /// The same event with its start at another local time: the length stays, in days or in real time.
    pub fn moved_to(&self, start: DateTime, calendar_zone: &TimeZone) -> When {
        let (from_ms, to_ms) = self.span_ms(calendar_zone);
        if let (Some(first), Some(end)) = (&self.from.day, &self.to.day) {
            let days = day(first).until(day(end)).map_or(1, |s| s.get_days());
            let last = start.date().checked_add(days.days()).unwrap_or(start.date());
            return When { from: Moment::of_day(start.date()), to: Moment::of_day(last) };
        }
        let zone = self.zone(calendar_zone);
        let new_from = local_ms(start, &zone);
        When { from: self.from.at(new_from), to: self.to.at(new_from + (to_ms - from_ms)) }
    }

    /// The local start, as instances are named: a date for days.
    pub fn local_start(&self, calendar_zone: &TimeZone) -> String {
        match &self.from.day {
            Some(day) => day.clone(),
            None => {
                let zone = self.zone(calendar_zone);
                local(self.from.ms(calendar_zone), &zone).strftime("%Y-%m-%dT%H:%M:%S").to_string()
            }
        }
    }
}

impl Moment {
    fn of_day(date: Date) -> Moment {
        Moment { day: Some(date.to_string()), ..Moment::default() }
    }

    fn at(&self, ms: i64) -> Moment {
        let name = self.zone.clone().unwrap_or_else(|| "UTC".to_owned());
        Moment { day: None, time: Some(offset_time(ms, &stored_zone(&name))), zone: Some(name) }
    }

    fn ms(&self, calendar_zone: &TimeZone) -> i64 {
        match (&self.day, &self.time) {
            (Some(text), _) => midnight_ms(day(text), calendar_zone),
            (None, Some(text)) => text.parse::<Timestamp>().map_or(0, Timestamp::as_millisecond),
            (None, None) => 0,
        }
    }

    fn normalised(&self, default_zone: &str, field: &str) -> Result<Moment, Problem> {
        if let Some(text) = &self.day {
            let date: Date = text.parse().map_err(|_| {
                Problem::field(field, format!("{field}.day must be a date such as 2026-03-01"))
            })?;
            return Ok(Moment::of_day(date));
        }
        let Some(text) = &self.time else {
            return Err(Problem::field(field, format!("{field} needs a day or a time")));
        };
        let name = self.zone.as_deref().unwrap_or(default_zone);
        let zone = zone(name, &format!("{field}.zone"))?;
        let ms = match text.parse::<Timestamp>() {
            Ok(at) => at.as_millisecond(),
            Err(_) => {
                let at: DateTime = text.parse().map_err(|_| {
                    Problem::field(
                        field,
                        format!("{field}.time must be RFC 3339, such as 2026-03-01T09:00:00Z"),
                    )
                })?;
                local_ms(at, &zone)
            }
        };
        Ok(Moment { day: None, time: Some(offset_time(ms, &zone)), zone: Some(name.to_owned()) })
    }
}
