//! What clients may write into fields of any resource: bounds and formats. Each fault is told with its field.

use std::collections::HashSet;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use model::Instant;
use serde::Serialize;
use url::Url;

use crate::error::{Code, Result, invalid};

/// Longest one-line text in characters.
pub const MAX_LINE: usize = 1_024;
/// Longest text in characters.
pub const MAX_TEXT: usize = 65_536;
/// Most lines of a recurrence.
const MAX_RECURRENCE: usize = 50;
/// Longest URL in bytes.
const MAX_URL: usize = 2_048;
/// Years that calendars deal with.
const YEARS: std::ops::RangeInclusive<i16> = 1900..=2200;

/// A fault of one field: `message` goes on after the field's name.
pub fn fault(field: &str, message: &str) -> crate::error::Error {
    invalid(Code::InvalidParameter, field, format!("{field} {message}"))
}

/// Text of at most so many characters.
pub fn text(field: &str, value: Option<&str>, max: usize) -> Result<()> {
    match value {
        // Bytes first: they are counted for nothing.
        Some(text) if text.len() > max && text.chars().count() > max => {
            Err(fault(field, &format!("may have at most {max} characters")))
        }
        _ => Ok(()),
    }
}

/// A list of at most so many entries.
pub fn length(field: &str, entries: usize, max: usize) -> Result<()> {
    if entries > max { Err(fault(field, &format!("may have at most {max} entries"))) } else { Ok(()) }
}

/// The entries of a list that it did not have before, with their places: what other programs wrote is carried as it stands. Entries are
/// the same where their JSON is, so that long lists are compared in a time that grows with their length alone.
pub fn added<'a, T: Serialize>(list: &'a [T], had: &'a [T]) -> impl Iterator<Item = (usize, &'a T)> {
    let known: HashSet<String> = had.iter().filter_map(written).collect();
    let is_known = move |text: String| known.contains(&text);
    list.iter().enumerate().filter(move |(_, entry)| !written(entry).is_some_and(&is_known))
}

fn written<T: Serialize>(entry: &T) -> Option<String> {
    serde_json::to_string(entry).ok()
}

/// An address that can stand in a mailto URI: something, an @, something, and nothing that would break out of a line.
pub fn address(field: &str, email: &str) -> Result<()> {
    let fits = email.len() <= 320
        && email.split_once('@').is_some_and(|(local, domain)| !local.is_empty() && !domain.is_empty())
        && !email
            .chars()
            .any(|c| c.is_control() || c.is_whitespace() || matches!(c, '<' | '>' | '"' | ',' | ';'));
    if fits { Ok(()) } else { Err(fault(field, "must be an e-mail address")) }
}

/// `#rrggbb`.
pub fn color(color: &str) -> Result<()> {
    let digits = color.strip_prefix('#').filter(|digits| digits.len() == 6);
    let fits = digits.is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
    if fits { Ok(()) } else { Err(fault("color", "must look like #1a2b3c")) }
}

/// A URL with one of these schemes, at most 2,048 bytes. `kinds` completes "must be ...".
pub fn url(field: &str, value: &str, schemes: &[&str], kinds: &str) -> Result<()> {
    let fits = value.len() <= MAX_URL && Url::parse(value).is_ok_and(|u| schemes.contains(&u.scheme()));
    match fits {
        true => Ok(()),
        false => Err(invalid(Code::InvalidUrl, field, format!("{field} must be {kinds}"))),
    }
}

/// An IANA zone.
pub fn zone(field: &str, name: &str) -> Result<TimeZone> {
    recurrence::iana_zone(name).map_err(|_| {
        let message = format!("{field}: {name:?} is not an IANA time zone, such as Europe/Berlin");
        invalid(Code::InvalidTimeZone, field, message)
    })
}

/// `YYYY-MM-DD`, a day that exists.
pub fn date(field: &str, text: &str) -> Result<Date> {
    let bad = || fault(field, "must be a date such as 2026-03-01 that exists");
    // Strict: jiff would also read a date out of a longer text.
    if text.len() != 10 {
        return Err(bad());
    }
    let date: Date = text.parse().map_err(|_| bad())?;
    if YEARS.contains(&date.year()) { Ok(date) } else { Err(bad()) }
}

/// An instant within the years that calendars deal with.
pub fn year_of(field: &str, instant: Instant) -> Result<()> {
    let year = instant.timestamp().to_zoned(TimeZone::UTC).year();
    if YEARS.contains(&year) {
        return Ok(());
    }
    Err(fault(field, &format!("must lie between the years {} and {}", YEARS.start(), YEARS.end())))
}

/// RFC 5545 lines without DTSTART. `dates`: they are days, not times.
pub fn recurrence(lines: &[String], dates: bool) -> Result<()> {
    if lines.len() > MAX_RECURRENCE {
        let message = format!("recurrence may have at most {MAX_RECURRENCE} lines");
        return Err(invalid(Code::InvalidRecurrence, "recurrence", message));
    }
    recurrence::validate(lines, dates).map_err(|e| {
        let at = lines.iter().position(|l| l.starts_with(&e.line));
        let field = at.map_or("recurrence".to_owned(), |i| format!("recurrence[{i}]"));
        invalid(Code::InvalidRecurrence, field, e.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::added;

    #[test]
    fn entries_that_were_there_are_not_added() {
        let places = |list: &[&str], had: &[&str]| added(list, had).map(|(at, _)| at).collect::<Vec<_>>();
        assert_eq!(places(&["a", "b", "a", "c"], &["b", "a"]), [3]);
        assert_eq!(places(&["a", "a"], &[]), [0, 1]);
        assert!(places(&[], &["a"]).is_empty());
    }
}
