//! Time zones by the names that Exchange gives and takes: Windows names, IANA names and `tzone://Microsoft/…`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use chrono::{DateTime, Duration, NaiveDateTime, TimeZone, Utc};
use chrono_tz::Tz;

static WINDOWS_ZONES: LazyLock<BTreeMap<String, Tz>> = LazyLock::new(|| {
    let facts: toml::Table =
        include_str!("../../../facts/graph_zones.toml").parse().expect("the zones are TOML");
    let names = facts.get("windows_zones").and_then(|group| group.get("names"));
    let names = names.and_then(toml::Value::as_table).expect("a table of names");
    let zones = names
        .iter()
        .filter_map(|(windows, iana)| Some((windows.to_ascii_lowercase(), iana.as_str()?.parse().ok()?)));
    zones.collect()
});

/// The zone with this name; none where Exchange refuses it, and for a custom zone.
pub fn find_zone(name: &str) -> Option<Tz> {
    match name {
        "tzone://Microsoft/Utc" => Some(chrono_tz::UTC),
        name => WINDOWS_ZONES.get(&name.to_ascii_lowercase()).copied().or_else(|| name.parse().ok()),
    }
}

/// The first instant at this local time; one that a clock change leaves out counts from before the change.
pub fn to_utc(local: NaiveDateTime, zone: Tz) -> NaiveDateTime {
    let hour = Duration::hours(1);
    let found = zone.from_local_datetime(&local).earliest().map(|at| at.naive_utc());
    found.unwrap_or_else(|| {
        let before = zone.from_local_datetime(&(local - hour)).earliest();
        before.map_or(local, |before| before.naive_utc() + hour)
    })
}

/// The local time of a zone at this time in UTC.
pub fn to_local(utc: NaiveDateTime, zone: Tz) -> NaiveDateTime {
    zone.from_utc_datetime(&utc).naive_local()
}

/// Parses a time that has an offset, or is one in UTC, as `startDateTime` and `endDateTime` of a query are.
pub fn parse_bound(text: &str) -> Option<NaiveDateTime> {
    // A plus sign that was not encoded arrives as a space.
    let text = text.replace(' ', "+");
    if let Ok(at) = DateTime::parse_from_rfc3339(&text) {
        return Some(at.naive_utc());
    }
    let with_time = NaiveDateTime::parse_from_str(&text, "%Y-%m-%dT%H:%M:%S%.f");
    let with_time = with_time.or_else(|_| NaiveDateTime::parse_from_str(&text, "%Y-%m-%dT%H:%M"));
    let day = || NaiveDateTime::parse_from_str(&format!("{text}T00:00:00"), "%Y-%m-%dT%H:%M:%S").ok();
    with_time.ok().or_else(day)
}

/// The time in UTC of Unix milliseconds.
pub fn from_ms(ms: i64) -> NaiveDateTime {
    DateTime::<Utc>::from_timestamp_millis(ms).unwrap_or_default().naive_utc()
}

/// A stamp with as many decimals as the last digit of its change says, 0 to 7: Graph writes all of them.
pub fn stamp(ms: i64, change: u64) -> String {
    let at = from_ms(ms);
    let whole = at.format("%Y-%m-%dT%H:%M:%S").to_string();
    let decimals = usize::try_from(change % 8).unwrap_or_default();
    let fraction = format!("{:03}{:04}", at.and_utc().timestamp_subsec_millis(), change % 10_000);
    match fraction.get(..decimals) {
        None | Some("") => format!("{whole}Z"),
        Some(fraction) => format!("{whole}.{fraction}Z"),
    }
}

#[cfg(test)]
mod tests {
    use chrono::NaiveDate;

    use super::{find_zone, parse_bound, stamp, to_local, to_utc};

    fn at(hour: u32) -> chrono::NaiveDateTime {
        NaiveDate::from_ymd_opt(2026, 3, 29).and_then(|day| day.and_hms_opt(hour, 30, 0)).expect("a time")
    }

    #[test]
    fn windows_and_iana_names_are_zones() {
        assert_eq!(find_zone("W. Europe Standard Time"), Some(chrono_tz::Europe::Berlin));
        assert_eq!(find_zone("Africa/Nairobi"), Some(chrono_tz::Africa::Nairobi));
        assert_eq!(find_zone("tzone://Microsoft/Utc"), Some(chrono_tz::UTC));
        assert_eq!(find_zone("tzone://Microsoft/Custom"), None);
        assert_eq!(find_zone("Mars Standard Time"), None);
    }

    #[test]
    fn local_time_that_a_clock_change_leaves_out_counts_from_before_it() {
        let berlin = chrono_tz::Europe::Berlin;
        assert_eq!(to_utc(at(2), berlin), at(1));
        assert_eq!(to_local(at(1), berlin), at(3));
    }

    #[test]
    fn bounds_without_an_offset_are_utc() {
        assert_eq!(parse_bound("2026-03-29T03:30:00+02:00"), Some(at(1)));
        assert_eq!(parse_bound("2026-03-29T03:30:00 02:00"), Some(at(1)));
        assert_eq!(parse_bound("2026-03-29T01:30:00.0000000"), Some(at(1)));
        assert_eq!(parse_bound("tomorrow"), None);
    }

    #[test]
    fn stamps_have_none_to_seven_decimals() {
        assert_eq!(stamp(1_000, 8), "1970-01-01T00:00:01Z");
        assert_eq!(stamp(1_250, 3), "1970-01-01T00:00:01.250Z");
        assert_eq!(stamp(1_250, 7), "1970-01-01T00:00:01.2500007Z");
    }
}
