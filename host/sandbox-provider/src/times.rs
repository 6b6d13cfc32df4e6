//! Times and zones, as they are sent, stored and compared.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use crate::problem::Problem;

/// A zone by its IANA name.
pub fn zone(name: &str, field: &str) -> Result<TimeZone, Problem> {
    recurrence::zone(name).map_err(|_| {
        Problem::field(field, format!("{name:?} is no time zone: use an IANA name such as Europe/Berlin"))
    })
}

/// A stored zone; UTC where the time zone database has dropped it.
pub fn stored_zone(name: &str) -> TimeZone {
    recurrence::zone(name).unwrap_or(TimeZone::UTC)
}

/// `2026-03-01T09:00:00.000Z`.
pub fn instant(ms: i64) -> String {
    timestamp(ms).strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// A moment in the header of a message (RFC 5322, section 3.3).
pub fn header_date(ms: i64) -> String {
    timestamp(ms).strftime("%a, %d %b %Y %H:%M:%S +0000").to_string()
}

/// The local time of a moment, as instances are named.
pub fn local(ms: i64, zone: &TimeZone) -> DateTime {
    timestamp(ms).to_zoned(zone.clone()).datetime()
}

/// Milliseconds of a local time; in a gap or overlap as RFC 5545 section 3.3.5 says.
pub fn local_ms(at: DateTime, zone: &TimeZone) -> i64 {
    zone.to_ambiguous_zoned(at).compatible().map_or(0, |z| z.timestamp().as_millisecond())
}

/// Midnight of a day; the first moment of it where there is no midnight.
pub fn midnight_ms(day: Date, zone: &TimeZone) -> i64 {
    local_ms(day.at(0, 0, 0, 0), zone)
}

/// An instant in a query or a body.
pub fn parse_instant(text: &str, field: &str) -> Result<i64, Problem> {
    text.parse::<Timestamp>().map(Timestamp::as_millisecond).map_err(|_| {
        Problem::field(field, format!("{field} must be a time with an offset, such as 2026-03-01T09:00:00Z"))
    })
}

/// A stored day. The write checked it.
pub fn day(text: &str) -> Date {
    text.parse().unwrap_or(Date::ZERO)
}

/// The day so many days later; the same day where that is out of the calendar's range.
pub fn shift(date: Date, days: i64) -> Date {
    date.checked_add(Span::new().days(days)).unwrap_or(date)
}

fn timestamp(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH)
}
