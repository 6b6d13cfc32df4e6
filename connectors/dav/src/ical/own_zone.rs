//! Zones that a VTIMEZONE defines and IANA does not have: their clock and their rules as the model has them.

use ical::tree::cst::IcalCst;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use model::Instant;
use model::calendar::{TimeZoneRules, TimeZoneTransition};

use crate::ical::observances::{History, history};
use crate::ical::posix;

/// Years after an event up to which its zone is known where no POSIX TZ string says it for all of them.
const LATER_YEARS: i16 = 100;

/// A zone without an IANA name.
#[derive(Debug)]
pub struct OwnZone {
    /// Right from the year before the event on; UTC where the definition says nothing that a clock can be made of.
    pub clock: TimeZone,
    /// The rules by which a series in this zone is expanded; None: only the years around the event are known.
    pub rules: Option<TimeZoneRules>,
}

impl OwnZone {
    /// A zone of which nothing is known.
    pub fn unreadable() -> OwnZone {
        OwnZone { clock: TimeZone::UTC, rules: None }
    }

    /// The zone of a definition with this history around `year`, of which `later` years are known. `is_thorough`: a series may ask for
    /// any year, so all that come are looked at.
    pub fn from_history(
        definition: &IcalCst,
        nearby: &History,
        (year, later): (i16, i16),
        is_thorough: bool,
    ) -> OwnZone {
        let Some(since) = new_year(year - 1) else { return OwnZone::unreadable() };
        if is_thorough && let Some(found) = all_years(definition, since, year) {
            return found;
        }
        let changes = Changes::from_history(nearby, since, new_year(year + later + 1));
        match recurrence::zone_by_rules(&changes.rules()) {
            Ok(clock) => OwnZone { clock, rules: None },
            Err(_) => OwnZone::unreadable(),
        }
    }
}

/// The zone for all years that come.
fn all_years(definition: &IcalCst, since: i64, year: i16) -> Option<OwnZone> {
    let until = new_year(year + LATER_YEARS + 1);
    let changes = Changes::from_history(&history(definition, year, i32::from(LATER_YEARS))?, since, until);
    let short = posix::tz_string(definition)
        .map(|posix| TimeZoneRules { posix: Some(posix), ..TimeZoneRules::default() })
        .and_then(|rules| Some((recurrence::zone_by_rules(&rules).ok()?, rules)))
        .filter(|(clock, _)| changes.are_of(clock));
    let (clock, rules) = match short {
        Some(short) => short,
        None => {
            let rules = changes.rules();
            (recurrence::zone_by_rules(&rules).ok()?, rules)
        }
    };
    Some(OwnZone { clock, rules: Some(rules) })
}

/// The changes of a clock between two instants (seconds since the Unix epoch).
struct Changes {
    since: i64,
    until: i64,
    /// The offset at `since`.
    offset: i64,
    /// Changes after it: instant, offset from then on.
    all: Vec<(i64, i64)>,
}

impl Changes {
    /// `until`: none for the end of time.
    fn from_history(history: &History, since: i64, until: Option<i64>) -> Changes {
        let until = until.unwrap_or(i64::MAX);
        let first = history.offset_at(since);
        let mut offset = first;
        let mut all = Vec::new();
        for (at, next) in history.transitions.iter().filter(|(at, _)| (since + 1..until).contains(at)) {
            if *next != offset {
                all.push((*at, *next));
                offset = *next;
            }
        }
        Changes { since, until, offset: first, all }
    }

    /// Whether these are the changes of this clock.
    fn are_of(&self, clock: &TimeZone) -> bool {
        let Ok(since) = Timestamp::from_second(self.since) else { return false };
        let theirs = clock
            .following(since)
            .map(|change| (change.timestamp().as_second(), i64::from(change.offset().seconds())))
            .take_while(|(at, _)| *at < self.until);
        i64::from(clock.to_offset(since).seconds()) == self.offset && theirs.eq(self.all.iter().copied())
    }

    /// The changes one by one.
    fn rules(&self) -> TimeZoneRules {
        let one = |(at, offset): &(i64, i64)| TimeZoneTransition {
            at: Instant::from_millis(at.saturating_mul(1000)),
            offset: *offset,
        };
        TimeZoneRules { posix: None, offset: self.offset, transitions: self.all.iter().map(one).collect() }
    }
}

/// The beginning of a year in UTC, seconds since the Unix epoch. None behind the year 9999.
fn new_year(year: i16) -> Option<i64> {
    let start = DateTime::new(year, 1, 1, 0, 0, 0, 0).ok()?;
    Some(TimeZone::UTC.to_timestamp(start).ok()?.as_second())
}
