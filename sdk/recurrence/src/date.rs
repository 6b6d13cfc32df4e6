//! Local times as seconds on the wall clock, and their spellings: `2026-03-01T09:00:00` (recurrence ids), `20260301T090000`
//! (RFC 5545). A local second is a plain number without a zone, which keeps the expansion's arithmetic to integers.

use ical::recur::IcalRecurDateTime;
use jiff::civil::{Date, DateTime};
use jiff::{SignedDuration, Timestamp};

/// Seconds of an hour.
pub(crate) const HOUR: i64 = 3_600;
/// Seconds of a day.
pub(crate) const DAY: i64 = 86_400;

/// The wall clock as a number: seconds from 1970-01-01T00:00:00 local.
pub(crate) fn local_seconds(at: DateTime) -> i64 {
    IcalRecurDateTime {
        year: i32::from(at.year()),
        month: at.month().unsigned_abs(),
        day: at.day().unsigned_abs(),
        hour: at.hour().unsigned_abs(),
        minute: at.minute().unsigned_abs(),
        second: at.second().unsigned_abs(),
    }
    .seconds()
}

/// The local time of a number of seconds; None outside of jiff's years.
pub(crate) fn local_time(seconds: i64) -> Option<DateTime> {
    let at = IcalRecurDateTime::from_seconds(seconds);
    let two = |n: u8| i8::try_from(n).ok();
    DateTime::new(
        i16::try_from(at.year).ok()?,
        two(at.month)?,
        two(at.day)?,
        two(at.hour)?,
        two(at.minute)?,
        two(at.second)?,
        0,
    )
    .ok()
}

/// The date of a local second; None outside of jiff's years.
pub(crate) fn local_date(seconds: i64) -> Option<Date> {
    local_time(seconds).map(DateTime::date)
}

/// Seconds that make an instant's UTC day the day that begins somewhere then: zones that are more than 12 hours ahead have more people
/// than those that are more than 10 behind.
const AHEAD: i64 = 13 * HOUR;

/// The day that an instant names in an all-day series; `home` is the time on the calendar's clock then. Programs write the midnight of
/// the calendar's zone, of UTC, or of the writer's own zone, which is not known: so the nearest midnight.
pub fn named_day(at: Timestamp, home: DateTime) -> Date {
    let is_midnight_somewhere = at.as_second() % 900 == 0 && at.subsec_nanosecond() == 0;
    if home.time() == jiff::civil::Time::midnight() || !is_midnight_somewhere {
        return home.date();
    }
    let day = at.checked_add(SignedDuration::from_secs(AHEAD)).unwrap_or(at);
    jiff::tz::TimeZone::UTC.to_datetime(day).date()
}

/// Writes a local second: the date, and the time behind a `T`, with these separators. By hand, because every instance of every
/// expansion has such a name and `format!` takes longer than all the rest.
fn format_seconds(seconds: i64, date_sep: &str, time: Option<&str>) -> String {
    fn push(out: &mut String, number: u32, width: u32) {
        for place in (0..width).rev() {
            out.push(char::from_digit(number / 10_u32.pow(place) % 10, 10).unwrap_or('0'));
        }
    }
    let at = IcalRecurDateTime::from_seconds(seconds);
    let mut out = String::with_capacity(20);
    push(&mut out, at.year.unsigned_abs(), 4);
    for part in [at.month, at.day] {
        out.push_str(date_sep);
        push(&mut out, u32::from(part), 2);
    }
    if let Some(time_sep) = time {
        for (sep, part) in [("T", at.hour), (time_sep, at.minute), (time_sep, at.second)] {
            out.push_str(sep);
            push(&mut out, u32::from(part), 2);
        }
    }
    out
}

/// `2026-03-01T09:00:00`, or `2026-03-01` for all-day series.
pub(crate) fn recurrence_id(seconds: i64, all_day: bool) -> String {
    format_seconds(seconds, "-", (!all_day).then_some(":"))
}

/// Reads `2026-03-01T09:00:00` or `2026-03-01`.
pub(crate) fn parse_recurrence_id(text: &str, all_day: bool) -> Option<i64> {
    let shape: &[u8] = if all_day { b"9999-99-99" } else { b"9999-99-99T99:99:99" };
    let fits = text.len() == shape.len()
        && text.bytes().zip(shape).all(|(b, s)| if *s == b'9' { b.is_ascii_digit() } else { b == *s });
    if !fits {
        return None;
    }
    let basic: String = text.chars().filter(|c| !matches!(c, '-' | ':')).collect();
    Basic::parse(&basic).map(Basic::seconds)
}

/// RFC 5545's DATE and DATE-TIME.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Basic {
    /// `20260301`, at its midnight.
    Date(i64),
    /// `20260301T090000`.
    Local(i64),
    /// `20260301T090000Z`: seconds since the Unix epoch.
    Utc(i64),
}

impl Basic {
    /// None where the text is not one of the three forms or names a date that does not exist.
    pub(crate) fn parse(text: &str) -> Option<Basic> {
        let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        let (date, time) = (text.get(..8)?, text.get(8..)?);
        if !digits(date) {
            return None;
        }
        let form = match time {
            "" => Basic::Date,
            _ if time.len() == 7 => Basic::Local,
            _ if time.len() == 8 && time.ends_with(['Z', 'z']) => Basic::Utc,
            _ => return None,
        };
        let clock = time.get(1..7).is_none_or(|clock| time.starts_with(['T', 't']) && digits(clock));
        if !clock {
            return None;
        }
        let at = IcalRecurDateTime::parse(text).ok()?;
        let written = (1..=9999).contains(&at.year);
        written.then(|| form(at.seconds()))
    }

    /// The seconds, of a local clock or of UTC.
    pub(crate) fn seconds(self) -> i64 {
        match self {
            Basic::Date(s) | Basic::Local(s) | Basic::Utc(s) => s,
        }
    }
}

/// `20260301T090000`.
pub(crate) fn basic(seconds: i64) -> String {
    format_seconds(seconds, "", Some(""))
}

/// `20260301`.
pub(crate) fn basic_date(seconds: i64) -> String {
    format_seconds(seconds, "", None)
}
