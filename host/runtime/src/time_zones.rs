//! The import `time-zones`: conversions between local times and instants, by the time zone database that is compiled in.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};

use crate::bindings::time_zones::{Err as ZoneError, Host, LocalTime};
use crate::log::harmless;
use crate::state::State;

/// The longest form of a local time. A shorter one ends before a separator, or in the fraction.
const LOCAL_FORM: &[u8] = b"9999-99-99T99:99:99.999999999";
/// Bytes of a name or a text that an error repeats.
const MAX_SHOWN: usize = 80;

impl Host for State {
    fn instant(&mut self, local: String, zone: String) -> wasmtime::Result<Result<i64, ZoneError>> {
        self.host_calls.count()?;
        Ok(instant_ms(&local, &zone))
    }

    fn local(&mut self, instant_ms: i64, zone: String) -> wasmtime::Result<Result<LocalTime, ZoneError>> {
        self.host_calls.count()?;
        Ok(local_time(instant_ms, &zone))
    }
}

/// The instant at which the clocks of `zone` show `local`: in a gap later by its length, in an overlap the first (RFC 5545
/// section 3.3.5).
fn instant_ms(local: &str, zone: &str) -> Result<i64, ZoneError> {
    let zone = find_zone(zone)?;
    let parsed = parse_local(local).ok_or_else(|| {
        let shown = harmless(local, MAX_SHOWN);
        zone_error("invalid-time", format!("\"{shown}\" is not a local time, write \"2026-05-01T09:00\""))
    })?;
    zone.to_timestamp(parsed).map(Timestamp::as_millisecond).map_err(|_| out_of_range())
}

fn local_time(instant_ms: i64, zone: &str) -> Result<LocalTime, ZoneError> {
    let zone = find_zone(zone)?;
    let instant = Timestamp::from_millisecond(instant_ms).map_err(|_| out_of_range())?;
    let offset = zone.to_offset(instant);
    let shown = offset.to_datetime(instant);
    let date_time =
        if shown.subsec_nanosecond() == 0 { format!("{shown:.0}") } else { format!("{shown:.3}") };
    Ok(LocalTime { date_time, offset: offset_text(offset) })
}

/// The zone of an IANA name, or of a Windows name that CLDR maps to one.
fn find_zone(name: &str) -> Result<TimeZone, ZoneError> {
    recurrence::zone(name).map_err(|_| {
        let shown = harmless(name, MAX_SHOWN);
        let message =
            format!("\"{shown}\" is not a known time zone, use an IANA name such as \"Europe/Berlin\"");
        zone_error("unknown-zone", message)
    })
}

/// A date, with or without a time of day, seconds and a fraction. None: any other text, also one with an offset.
fn parse_local(text: &str) -> Option<DateTime> {
    let is_whole = matches!(text.len(), 10 | 16 | 19 | 21..=29);
    let fits = |(byte, form): (u8, &u8)| if *form == b'9' { byte.is_ascii_digit() } else { byte == *form };
    let has_form = is_whole && text.bytes().zip(LOCAL_FORM).all(fits);
    text.parse().ok().filter(|_| has_form)
}

/// The offset as `+02:00`, with seconds for local mean times.
fn offset_text(offset: Offset) -> String {
    let sign = if offset.seconds() < 0 { '-' } else { '+' };
    let seconds = offset.seconds().unsigned_abs();
    let minutes = format!("{sign}{:02}:{:02}", seconds / 3_600, seconds / 60 % 60);
    if seconds.is_multiple_of(60) { minutes } else { format!("{minutes}:{:02}", seconds % 60) }
}

fn zone_error(code: &str, message: String) -> ZoneError {
    ZoneError { code: code.to_owned(), message }
}

fn out_of_range() -> ZoneError {
    zone_error("out-of-range", "a time lies between the years -9999 and 9999".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instant(local: &str, zone: &str) -> String {
        match instant_ms(local, zone) {
            Ok(ms) => Timestamp::from_millisecond(ms).unwrap().to_string(),
            Err(error) => error.code,
        }
    }

    fn local(instant: &str, zone: &str) -> (String, String) {
        let ms = instant.parse::<Timestamp>().unwrap().as_millisecond();
        let shown = local_time(ms, zone).unwrap();
        (shown.date_time, shown.offset)
    }

    #[test]
    fn a_local_time_is_the_instant_that_its_zone_says() {
        for (given, zone, expected) in [
            ("2026-05-01T09:00", "Europe/Berlin", "2026-05-01T07:00:00Z"),
            ("2026-05-01T09:00:30.25", "W. Europe Standard Time", "2026-05-01T07:00:30.25Z"),
            ("2026-05-01", "Asia/Tokyo", "2026-04-30T15:00:00Z"),
            // The clocks skip the time: later by the gap. The clocks show it twice: the first.
            ("2026-03-29T02:30", "Europe/Berlin", "2026-03-29T01:30:00Z"),
            ("2026-10-25T02:30", "Europe/Berlin", "2026-10-25T00:30:00Z"),
            ("2011-12-30T09:00", "Pacific/Apia", "2011-12-30T19:00:00Z"),
        ] {
            assert_eq!(instant(given, zone), expected, "{given} {zone}");
        }
    }

    #[test]
    fn a_zone_shows_local_time_and_offset() {
        for (given, zone, date_time, offset) in [
            ("2026-05-01T07:00:00Z", "Europe/Berlin", "2026-05-01T09:00:00", "+02:00"),
            ("2026-05-01T07:00:00.25Z", "Asia/Kolkata", "2026-05-01T12:30:00.250", "+05:30"),
            ("2026-05-01T07:00:00Z", "America/St_Johns", "2026-05-01T04:30:00", "-02:30"),
            ("1850-01-01T12:00:00Z", "Europe/Berlin", "1850-01-01T12:53:28", "+00:53:28"),
        ] {
            assert_eq!(local(given, zone), (date_time.to_owned(), offset.to_owned()), "{given} {zone}");
        }
    }

    #[test]
    fn an_error_names_the_zone_or_the_time() {
        let unknown = instant_ms("2026-05-01T09:00", "Mars/Olympus\u{1b}").unwrap_err();
        assert_eq!(unknown.code, "unknown-zone");
        assert!(unknown.message.starts_with("\"Mars/Olympus\\u{1b}\" is not"), "{}", unknown.message);
        assert_eq!(local_time(0, "").unwrap_err().code, "unknown-zone");
        for text in [
            "2026-05-01T09:00Z",
            "2026-05-01T09:00+02:00",
            "2026-05-01T09",
            "20260501T0900",
            "2026-02-30",
            "2026-05-01T24:00",
            "2026-05-01T09:00:00.",
            "",
        ] {
            assert_eq!(instant(text, "UTC"), "invalid-time", "{text}");
        }
        assert_eq!(local_time(i64::MAX, "UTC").unwrap_err().code, "out-of-range");
        let long = instant_ms(&"9".repeat(1 << 20), "UTC").unwrap_err();
        assert!(long.message.len() < 200, "{}", long.message);
    }
}
