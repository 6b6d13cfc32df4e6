//! The second half of an instance's id: `<seriesId>_<suffix>`.

use model::Instant;

use crate::date::{Basic, basic};

/// The original start that an instance id names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suffix {
    /// `20260301T090000Z`: the instant of the original start.
    Instant(Instant),
    /// `20260301`: the day of an all-day instance, as seconds of its midnight on no zone's clock.
    Date(jiff::civil::Date),
}

/// The original start as instance ids carry it: `20260301T090000Z`, cut to seconds.
pub fn instance_suffix(original_start: Instant) -> String {
    format!("{}Z", basic(original_start.as_millis().div_euclid(1000)))
}

/// Reads `20260301T090000Z` and, for all-day instances, `20260301`; None for anything else.
pub fn parse_suffix(text: &str) -> Option<Suffix> {
    match Basic::parse(text)? {
        Basic::Utc(seconds) if text.ends_with('Z') && text.contains('T') => {
            Some(Suffix::Instant(Instant::from_millis(seconds * 1000)))
        }
        Basic::Date(seconds) => crate::date::local_date(seconds).map(Suffix::Date),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Suffix, instance_suffix, parse_suffix};

    #[test]
    fn a_suffix_reads_back() {
        let start = "2026-03-01T09:00:00Z".parse().unwrap();
        assert_eq!(instance_suffix(start), "20260301T090000Z");
        assert_eq!(parse_suffix("20260301T090000Z"), Some(Suffix::Instant(start)));
        assert_eq!(parse_suffix("20260301"), Some(Suffix::Date("2026-03-01".parse().unwrap())));
    }

    #[test]
    fn anything_else_is_no_suffix() {
        for text in [
            "",
            "20260301T090000",
            "2026-03-01",
            "20260230",
            "20260301T250000Z",
            "20260301t090000z",
            "éé260301",
        ] {
            assert_eq!(parse_suffix(text), None, "{text}");
        }
    }
}
