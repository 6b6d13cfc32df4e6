//! Instants in the form that Graph gives them.

use chrono::{DateTime, SecondsFormat, Utc};

/// An instant in Unix milliseconds, as in `2026-03-01T08:00:00Z`.
pub fn stamp(ms: i64) -> String {
    from_ms(ms).to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// The same with milliseconds.
pub fn stamp_with_millis(ms: i64) -> String {
    from_ms(ms).to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// The Unix milliseconds of an instant with an offset, with any number of digits of the second.
pub fn parse(text: &str) -> Option<i64> {
    DateTime::parse_from_rfc3339(text).ok().map(|time| time.timestamp_millis())
}

fn from_ms(ms: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(ms).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{parse, stamp};
    use crate::clock::START_MS;

    #[test]
    fn instants_are_read_with_any_offset_and_fraction() {
        assert_eq!(stamp(START_MS), "2026-03-01T08:00:00Z");
        for text in
            ["2026-03-01T08:00:00Z", "2026-03-01T09:00:00.0000000+01:00", "2026-03-01T08:00:00.0000000Z"]
        {
            assert_eq!(parse(text), Some(START_MS), "{text}");
        }
        assert_eq!(parse("2026-03-01"), None);
    }
}
