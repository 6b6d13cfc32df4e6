//! The time of a meeting in a readable form: day, times, and the name of the zone, which can stand below each other.

use model::Instant;
use scheduling::hours::Zone;

use crate::locale::dates::{self, Hours};
use crate::locale::{Language, zones};

/// The time of a meeting in three parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeetingTime {
    /// The day on which the meeting begins.
    pub day: String,
    /// Start and end. On a day on which the clocks change a time of the day can occur twice: then both have their offsets.
    pub times: String,
    /// The zone's name, such as `Eastern Time, New York`.
    pub zone: String,
}

/// The time of a meeting by this clock.
pub fn meeting_time(
    start: Instant,
    end: Instant,
    zone: &Zone,
    language: Language,
    hours: Hours,
) -> MeetingTime {
    let parts = dates::span_parts(start, end, zone, language, hours);
    let times = match parts.offset.filter(|_| changes_clocks(start, zone) || changes_clocks(end, zone)) {
        Some(offset) => format!("{} (UTC{offset})", parts.times),
        None => parts.times,
    };
    MeetingTime { day: parts.day, times, zone: zones::zone_name(&zone.name, language) }
}

/// Returns a moment by this clock, such as the expiry of a permission. It has its offset on a day on which the clocks change.
pub fn moment(at: Instant, zone: &Zone, language: Language, hours: Hours) -> String {
    let local = dates::local(at, zone);
    let comma = if language == Language::Arabic { "،" } else { "," };
    let time =
        format!("{}{comma} {}", dates::day(local.date, language), dates::clock(&local, language, hours));
    if changes_clocks(at, zone) { format!("{time} (UTC{})", local.offset) } else { time }
}

/// Whether the zone's offset changes on the local day of an instant.
fn changes_clocks(at: Instant, zone: &Zone) -> bool {
    let date = dates::local(at, zone).date;
    let offset = |date| {
        let midnight = zone.instant_ms(date, 0)?;
        Some(dates::local(Instant::from_millis(midnight), zone).offset)
    };
    offset(date) != date.tomorrow().ok().and_then(offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Instant {
        text.parse().expect("an instant")
    }

    #[test]
    fn a_time_has_its_offset_on_a_day_on_which_the_clocks_change() {
        let zone = Zone::named("Europe/Berlin").expect("a zone");
        let of = |start: &str, end: &str| {
            meeting_time(at(start), at(end), &zone, Language::English, Hours::TwentyFour)
        };
        let usual = of("2026-03-10T09:00:00Z", "2026-03-10T09:30:00Z");
        assert_eq!(usual.day, "Tuesday, 10 March 2026");
        assert_eq!(usual.times, "10:00–10:30");
        assert_eq!(usual.zone, "Central European Time, Berlin");
        // The hour from two to three occurs twice.
        assert_eq!(of("2026-10-25T00:00:00Z", "2026-10-25T00:30:00Z").times, "02:00–02:30 (UTC+02:00)");
        assert_eq!(of("2026-10-25T01:00:00Z", "2026-10-25T01:30:00Z").times, "02:00–02:30 (UTC+01:00)");
        let across = of("2026-10-25T00:45:00Z", "2026-10-25T01:15:00Z");
        assert_eq!(across.times, "02:45 (UTC+02:00)–02:15 (UTC+01:00)");
    }

    #[test]
    fn a_moment_has_its_day() {
        let zone = Zone::named("America/New_York").expect("a zone");
        let of = |text: &str| moment(at(text), &zone, Language::AmericanEnglish, Hours::Twelve);
        assert_eq!(of("2026-12-03T14:30:00Z"), "Thursday, December 3, 2026, 9:30 AM");
        assert_eq!(of("2026-11-01T05:30:00Z"), "Sunday, November 1, 2026, 1:30 AM (UTC-04:00)");
        assert_eq!(of("2026-11-01T06:30:00Z"), "Sunday, November 1, 2026, 1:30 AM (UTC-05:00)");
    }
}
