//! DTSTART, DTEND, RECURRENCE-ID and their kin: DATE and DATE-TIME values with their zone.

use std::rc::Rc;

use ical::tree::cst::IcalCst;
use ical::tree::line::IcalLine;
use ical::value::duration::IcalDuration;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use model::Instant;
use recurrence::days_and_seconds;

use crate::ical::lines::{self, param, raw_line};
use crate::ical::zones::{Definitions, Zone, ZoneCache};

/// A time as it is written.
#[derive(Clone, Debug)]
pub enum Moment {
    /// VALUE=DATE.
    Day(Date),
    /// With TZID, in UTC, or floating in the calendar's zone.
    Time { local: DateTime, zone: Rc<Zone> },
}

/// The context by which times are read: the object they stand in and the calendar's own zone.
pub struct Clock<'c> {
    pub calendar: &'c IcalCst<'c>,
    pub zones: &'c ZoneCache,
    /// The VTIMEZONEs of the object that were asked for.
    pub defined: Definitions<'c>,
    /// The zone of floating times and of all-day events.
    pub home: Rc<Zone>,
}

impl Moment {
    /// The instant; a day begins at its midnight in the calendar's zone.
    pub fn instant(&self, clock: &Clock) -> Option<Instant> {
        let at = match self {
            Moment::Day(day) => clock.home.instant(day.to_datetime(jiff::civil::Time::midnight())),
            Moment::Time { local, zone } => zone.instant(*local),
        };
        at.map(Instant::from)
    }

    pub fn day(&self) -> Option<Date> {
        match self {
            Moment::Day(day) => Some(*day),
            Moment::Time { .. } => None,
        }
    }
}

impl Clock<'_> {
    /// The zone of a TZID as the object uses it.
    pub fn zone(&self, tzid: &str, year: i16) -> Rc<Zone> {
        self.zones.zone(self.calendar, &self.defined, tzid, year)
    }

    /// Reads the first property of this name; none where it is missing or no date.
    pub fn moment(&self, component: &IcalCst, name: &str) -> Option<Moment> {
        lines::line(component, name).and_then(|line| self.read(line))
    }

    /// Reads a line's value.
    pub fn read(&self, line: &IcalLine) -> Option<Moment> {
        let raw = line.raw_value_str();
        let value = raw.trim();
        match parse(value)? {
            (date, None) => Some(Moment::Day(date)),
            (date, Some(_)) if param(line, "VALUE").is_some_and(|kind| kind.eq_ignore_ascii_case("DATE")) => {
                Some(Moment::Day(date))
            }
            (date, Some(time)) => {
                let local = date.to_datetime(time);
                let zone = if value.ends_with(['Z', 'z']) {
                    self.zone("UTC", date.year())
                } else {
                    match param(line, "TZID") {
                        Some(tzid) => self.zone(&tzid, date.year()),
                        None => self.home.clone(),
                    }
                };
                Some(Moment::Time { local, zone })
            }
        }
    }
}

/// Whether it is a DATE-TIME without a zone (RFC 5545 section 3.3.5, form 1).
pub fn is_floating(line: &IcalLine) -> bool {
    line.raw_value_str().trim().len() == 15 && param(line, "TZID").is_none()
}

/// `20260301`, `20260301T090000`, `20260301T090000Z`.
fn parse(value: &str) -> Option<(Date, Option<jiff::civil::Time>)> {
    let digits = |range: std::ops::Range<usize>| -> Option<i16> {
        let part = value.get(range)?;
        part.bytes().all(|b| b.is_ascii_digit()).then(|| part.parse().ok())?
    };
    let small = |range| digits(range).and_then(|n| i8::try_from(n).ok());
    let date = Date::new(digits(0..4)?, small(4..6)?, small(6..8)?).ok()?;
    match value.as_bytes().get(8) {
        None => Some((date, None)),
        Some(b'T' | b't') if matches!(value.len(), 15 | 16) => {
            // A leap second (RFC 5545 section 3.3.12) is the second before it.
            let second = small(13..15)?.min(59);
            Some((date, Some(jiff::civil::Time::new(small(9..11)?, small(11..13)?, second, 0).ok()?)))
        }
        _ => None,
    }
}

/// The instant a DURATION after a time. Days are nominal and come first, hours are exact (RFC 5545 section 3.3.6): a day later the
/// clock shows the same time, also across a change of the clocks.
pub fn time_after(local: DateTime, zone: &Zone, at: Timestamp, duration: &str) -> Result<Timestamp, String> {
    let (days, seconds) = days_and_seconds(duration).ok_or("DURATION cannot be read")?;
    let mut until = Some(at);
    if days != 0 {
        let days = jiff::Span::new().try_days(days).map_err(|_| "DURATION is too long")?;
        until = local.checked_add(days).ok().and_then(|local| zone.instant(local));
    }
    let until = until.and_then(|at| at.checked_add(SignedDuration::from_secs(seconds)).ok());
    until.ok_or_else(|| "DURATION is too long".into())
}

/// The day a DURATION after a day; parts of days count for nothing.
pub fn day_after(first: Date, duration: &str) -> Result<Date, String> {
    let seconds = IcalDuration(duration.into()).seconds().ok_or("DURATION cannot be read")?;
    let days = jiff::Span::new().try_days(seconds / 86_400).map_err(|_| "DURATION is too long")?;
    first.checked_add(days).map_err(|_| "DURATION is too long".into())
}

/// A DATE as it is written.
pub fn date(date: Date) -> String {
    date.strftime("%Y%m%d").to_string()
}

/// A local DATE-TIME as it is written.
pub fn local(at: DateTime) -> String {
    at.strftime("%Y%m%dT%H%M%S").to_string()
}

/// An instant as it is written, in UTC.
pub fn utc(at: Instant) -> String {
    format!("{}Z", local(TimeZone::UTC.to_datetime(at.timestamp())))
}

/// A property with an instant, in UTC.
pub fn utc_line(name: &str, at: Instant) -> IcalLine<'static> {
    raw_line(name, &[], &utc(at))
}

/// A property with a day.
pub fn date_line(name: &str, day: Date) -> IcalLine<'static> {
    raw_line(name, &[("VALUE", "DATE")], &date(day))
}

/// A property with an instant in a zone. `tzid` is the name under which the object has (or will have) the zone.
pub fn zoned_line(name: &str, at: Instant, zone: &Zone, tzid: &str) -> IcalLine<'static> {
    raw_line(name, &[("TZID", tzid)], &local(zone.local(at.timestamp())))
}

/// `2026-03-01T09:00:00`: a local time as `Event.recurrenceId` has it.
pub fn recurrence_id(at: DateTime) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S").to_string()
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use jiff::civil::DateTime;

    use super::{parse, time_after};
    use crate::ical::zones::Zone;

    /// Clocks in Berlin went forward on 29 March 2026 at 2 and back on 25 October at 3.
    #[test]
    fn days_are_nominal_and_hours_exact_over_a_change_of_clocks() {
        let zone = Zone::from_name("Europe/Berlin");
        for (start, duration, end) in [
            ("2026-03-28T18:00:00", "P1D", "2026-03-29T16:00:00Z"),
            ("2026-03-28T18:00:00", "PT24H", "2026-03-29T17:00:00Z"),
            ("2026-03-28T18:00:00", "P1DT2H", "2026-03-29T18:00:00Z"),
            ("2026-03-28T01:30:00", "P1DT2H", "2026-03-29T02:30:00Z"),
            // A day later the clock skips 2:30: the time moves on by the gap.
            ("2026-03-28T02:30:00", "P1D", "2026-03-29T01:30:00Z"),
            ("2026-10-24T18:00:00", "P1W", "2026-10-31T17:00:00Z"),
            ("2026-10-24T18:00:00", "P1DT2H", "2026-10-25T19:00:00Z"),
            ("2026-10-24T18:00:00", "PT26H", "2026-10-25T18:00:00Z"),
        ] {
            let local: DateTime = start.parse().unwrap();
            let after = time_after(local, &zone, zone.instant(local).unwrap(), duration).unwrap();
            assert_eq!(after, end.parse::<Timestamp>().unwrap(), "{start} {duration}");
        }
    }

    #[test]
    fn dates_and_times_are_read_and_nothing_else() {
        assert_eq!(parse("20260301").unwrap().0.to_string(), "2026-03-01");
        assert_eq!(parse("20260301T090000").unwrap().1.unwrap().to_string(), "09:00:00");
        assert_eq!(parse("20161231T235960Z").unwrap().1.unwrap().to_string(), "23:59:59");
        for odd in [
            "",
            "2026",
            "20260230",
            "20260301T",
            "20260301T0900",
            "20260301 090000",
            "2026030éT090000",
            "+2260301",
        ] {
            assert!(parse(odd).is_none(), "{odd}");
        }
    }
}
