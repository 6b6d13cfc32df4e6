//! Validation of fields that clients write, for any resource: limits and formats. Each error names its field.

use std::collections::HashSet;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use model::Instant;
use model::bounds::{MAX_RECURRENCE, MAX_URL, MAX_YEAR, MIN_YEAR};
use serde::Serialize;
use serde_json::{Map, Value};
use url::Url;

use crate::error::{Code, Result, invalid};

pub use model::bounds::{MAX_LINE, MAX_TEXT};

/// Characters of the input that an error shows.
const MAX_SHOWN: usize = 100;
/// Years that calendars support.
const YEARS: std::ops::RangeInclusive<i16> = MIN_YEAR..=MAX_YEAR;

/// Returns the error for one field: `message` continues the sentence after the field's name.
pub fn fault(field: &str, message: &str) -> crate::error::Error {
    invalid(Code::InvalidParameter, field, format!("{field} {message}"))
}

/// Validates a text of at most `max` characters.
pub fn text(field: &str, value: Option<&str>, max: usize) -> Result<()> {
    match value {
        // Bytes first: their number is known without counting.
        Some(text) if text.len() > max && text.chars().count() > max => {
            Err(fault(field, &format!("may have at most {max} characters")))
        }
        _ => Ok(()),
    }
}

/// Validates a list of at most `max` entries.
pub fn length(field: &str, entries: usize, max: usize) -> Result<()> {
    if entries > max { Err(fault(field, &format!("may have at most {max} entries"))) } else { Ok(()) }
}

/// Returns the entries that `list` has beyond `had`, with their positions: only these are validated, because entries of other programs are
/// kept as they are. Entries are equal if their JSON is, which keeps the comparison linear in the lists' length.
pub fn added<'a, T: Serialize>(list: &'a [T], had: &'a [T]) -> impl Iterator<Item = (usize, &'a T)> {
    let known: HashSet<String> = had.iter().filter_map(json_text).collect();
    let is_known = move |text: String| known.contains(&text);
    list.iter().enumerate().filter(move |(_, entry)| !json_text(entry).is_some_and(&is_known))
}

fn json_text<T: Serialize>(entry: &T) -> Option<String> {
    serde_json::to_string(entry).ok()
}

/// Validates an email address: mail can be sent to it, and it fits a mailto URI and a parameter of an invitation, in which a quote would
/// end the value.
pub fn address(field: &str, email: &str) -> Result<()> {
    let wrong = match mail::address::check(email) {
        Ok(()) if email.contains('"') => "an address here has no quotes",
        Ok(()) => return Ok(()),
        Err(wrong) => wrong,
    };
    let sent: String = email.chars().take(MAX_SHOWN).collect();
    Err(fault(field, &format!("must be one email address such as ada@example.com; got {sent:?}: {wrong}")))
}

/// Validates a color of the form `#rrggbb`.
pub fn color(color: &str) -> Result<()> {
    let digits = color.strip_prefix('#').filter(|digits| digits.len() == 6);
    let fits = digits.is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
    if fits { Ok(()) } else { Err(fault("color", "must look like #1a2b3c")) }
}

/// Validates a URL: one of these schemes, at most 2,048 bytes. `kinds` completes "must be ...".
pub fn url(field: &str, value: &str, schemes: &[&str], kinds: &str) -> Result<()> {
    let fits = value.len() <= MAX_URL && Url::parse(value).is_ok_and(|u| schemes.contains(&u.scheme()));
    match fits {
        true => Ok(()),
        false => Err(invalid(Code::InvalidUrl, field, format!("{field} must be {kinds}"))),
    }
}

/// Parses the name of an IANA time zone.
pub fn zone(field: &str, name: &str) -> Result<TimeZone> {
    recurrence::iana_zone(name).map_err(|_| {
        let message = format!("{field}: {name:?} is not an IANA time zone, such as Europe/Berlin");
        invalid(Code::InvalidTimeZone, field, message)
    })
}

/// Returns the name of an IANA time zone in the tz database's spelling: `Asia/Kolkata` for `asia/kolkata`.
pub fn zone_name(field: &str, name: &str) -> Result<String> {
    let zone = zone(field, name)?;
    Ok(zone.iana_name().unwrap_or(name).to_owned())
}

/// Replaces the zone name in a field of a body by the tz database's spelling. An unknown name stays, so that the later check can name its
/// field.
pub fn canonical_zone(body: &mut Map<String, Value>, field: &str) {
    if let Some(Value::String(name)) = body.get_mut(field)
        && let Ok(known) = zone_name(field, name)
    {
        *name = known;
    }
}

/// Parses `YYYY-MM-DD`, a date that exists.
pub fn date(field: &str, text: &str) -> Result<Date> {
    let bad = || fault(field, "must be a date such as 2026-03-01 that exists");
    // Strict: jiff would also read a date out of a longer text.
    if text.len() != 10 {
        return Err(bad());
    }
    let date: Date = text.parse().map_err(|_| bad())?;
    if YEARS.contains(&date.year()) { Ok(date) } else { Err(bad()) }
}

/// Validates an instant: it must be within the years that calendars support.
pub fn year_of(field: &str, instant: Instant) -> Result<()> {
    let year = instant.timestamp().to_zoned(TimeZone::UTC).year();
    if YEARS.contains(&year) {
        return Ok(());
    }
    Err(fault(field, &format!("must lie between the years {} and {}", YEARS.start(), YEARS.end())))
}

/// Validates RFC 5545 lines without DTSTART. `dates`: the series has all-day events, whose starts are dates.
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
    use serde_json::json;

    use super::{added, address, canonical_zone, zone_name};
    use crate::error::{Code, Error};

    fn refusal(error: Error) -> (Code, Option<String>, String) {
        match error {
            Error::Refused(refusal) => (refusal.code, refusal.param, refusal.message),
            Error::Internal(e) => panic!("{e}"),
        }
    }

    #[test]
    fn an_address_is_one_that_mail_can_be_sent_to() {
        for email in ["ada@example.org", "o'neil+x@b-c.example", "root@localhost", "jörg@münchen.example"] {
            assert!(address("email", email).is_ok(), "{email}");
        }
        for email in [
            "",
            "ada",
            "@example.org",
            "ada@",
            "a@b@c.org",
            "a@@b.org",
            "a@b..org",
            "a@-b.org",
            "\"a@b\"@c.org",
            "Ada <ada@example.org>",
            "ada@example.org,bob@example.org",
            "ada@example.org\r\nBcc: x@y.org",
        ] {
            let (code, param, message) = refusal(address("guests[1].email", email).unwrap_err());
            assert_eq!(
                (code, param.as_deref()),
                (Code::InvalidParameter, Some("guests[1].email")),
                "{email:?}"
            );
            let begin =
                format!("guests[1].email must be one email address such as ada@example.com; got {email:?}: ");
            assert!(message.starts_with(&begin), "{message}");
        }
        let (.., message) = refusal(address("email", &"x".repeat(5_000)).unwrap_err());
        assert!(message.len() < 300, "{message}");
    }

    #[test]
    fn a_zone_is_named_as_the_database_names_it() {
        assert_eq!(zone_name("timeZone", "asia/kolkata").unwrap(), "Asia/Kolkata");
        let mut body =
            json!({ "timeZone": "AMERICA/NEW_YORK", "endTimeZone": "mars/olympus", "title": "utc", "x": 1 });
        let fields = body.as_object_mut().unwrap();
        for field in ["timeZone", "endTimeZone", "x", "none"] {
            canonical_zone(fields, field);
        }
        let expected =
            json!({ "timeZone": "America/New_York", "endTimeZone": "mars/olympus", "title": "utc", "x": 1 });
        assert_eq!(body, expected);
        for name in ["Etc/Unknown", "Factory", "Mars/Olympus", ""] {
            let (code, param, message) = refusal(zone_name("timeZone", name).unwrap_err());
            assert_eq!((code, param.as_deref()), (Code::InvalidTimeZone, Some("timeZone")), "{name}");
            assert!(message.contains(&format!("{name:?} is not an IANA time zone")), "{message}");
        }
    }

    #[test]
    fn entries_that_were_there_are_not_added() {
        let places = |list: &[&str], had: &[&str]| added(list, had).map(|(at, _)| at).collect::<Vec<_>>();
        assert_eq!(places(&["a", "b", "a", "c"], &["b", "a"]), [3]);
        assert_eq!(places(&["a", "a"], &[]), [0, 1]);
        assert!(places(&[], &["a"]).is_empty());
    }
}
