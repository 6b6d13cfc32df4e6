//! Times as Graph writes them: with 0 to 9 decimals, with and without an offset, and year 1 for none.

use connector_sdk::{Failure, Outcome};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use model::Instant;

/// Returns the instant of a time stamp; none for one of year 1, by which Graph says that there is none. One without an offset is in UTC.
/// Fails with `unavailable` for what is no time.
pub fn stamp(text: &str) -> Outcome<Option<Instant>> {
    let instant = match text.parse::<Timestamp>() {
        Ok(instant) => instant,
        Err(_) => {
            let in_utc = civil(text)?.to_zoned(TimeZone::UTC);
            in_utc.map_err(|_| unreadable())?.timestamp()
        }
    };
    let year = instant.to_zoned(TimeZone::UTC).year();
    Ok((year > 1).then(|| Instant::from(instant)))
}

/// Returns a date and time without a zone, such as `2026-03-01T09:00:00.0000000`. Fails with `unavailable` for what is none.
pub fn civil(text: &str) -> Outcome<DateTime> {
    text.trim_end_matches(['Z', 'z']).parse().map_err(|_| unreadable())
}

fn unreadable() -> Failure {
    Failure::unavailable("the provider's answer has a time that cannot be read")
}

#[cfg(test)]
mod tests {
    use super::{civil, stamp};

    #[test]
    fn decimals_and_offsets_may_be_missing() {
        let rows = [
            ("2026-03-01T09:21:38Z", "2026-03-01T09:21:38.000Z"),
            ("2026-03-01T09:21:38.9Z", "2026-03-01T09:21:38.900Z"),
            ("2026-03-01T09:21:38.909612Z", "2026-03-01T09:21:38.909Z"),
            ("2026-03-01T09:21:38.1234567Z", "2026-03-01T09:21:38.123Z"),
            ("2026-03-01T09:21:38.123456789Z", "2026-03-01T09:21:38.123Z"),
            ("2026-03-01T10:21:38+01:00", "2026-03-01T09:21:38.000Z"),
            ("2026-03-01T09:21:38.0000000", "2026-03-01T09:21:38.000Z"),
            ("2026-03-01", "2026-03-01T00:00:00.000Z"),
        ];
        for (text, expected) in rows {
            assert_eq!(stamp(text).unwrap().unwrap().to_string(), expected, "{text}");
        }
    }

    #[test]
    fn year_one_is_no_time() {
        for text in ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.0000000", "0001-01-01T00:00:00"] {
            assert_eq!(stamp(text).unwrap(), None, "{text}");
        }
        for text in ["", "soon", "2026-13-01T00:00:00Z"] {
            assert!(stamp(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_local_time_has_no_zone() {
        let read = civil("2026-03-29T02:30:00.0000000").unwrap();
        assert_eq!(read.to_string(), "2026-03-29T02:30:00");
    }
}
