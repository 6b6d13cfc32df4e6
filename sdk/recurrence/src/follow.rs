//! An exception that is meant for all later instances, too (RANGE=THISANDFUTURE, RFC 5545 §3.8.4.4): where those are.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use model::Instant;
use model::calendar::{Event, EventType};

use crate::date::{DAY, local_date, local_seconds, parse_recurrence_id};
use crate::key::key_of_occurrence;
use crate::occurrence::Occurrence;
use crate::own_zone::zone_of;
use crate::series::Series;
use crate::zones::{Clock, zone};

/// Exceptions for all later instances that one series may have; more are exceptions for themselves.
const MAX_FOLLOWED: usize = 50;

/// The changes that later instances take from an exception that applies to them.
#[derive(Clone, Debug)]
pub(crate) struct Follow {
    /// The exception's index in the list that was given.
    pub(crate) index: usize,
    /// Its original start: the later ones have greater ones.
    pub(crate) key: i64,
    /// The zone in which its times are given.
    zone: TimeZone,
    all_day: bool,
    /// From an original start to the start, seconds of local time there.
    shift: i64,
    /// Milliseconds, of an all-day exception seconds of whole days.
    length: i64,
    /// From an original start to the start in real time, milliseconds, but for changes of clocks.
    pub(crate) about_ms: i64,
    /// How long an instance takes at most, milliseconds.
    pub(crate) reach_ms: i64,
}

impl Follow {
    /// Returns those of a series, in order of original starts. `keys` are the keys of the exceptions.
    pub(crate) fn all(rules: &Series, exceptions: &[Event], keys: &[Option<i64>]) -> Vec<Follow> {
        let ranged = exceptions.iter().zip(keys).enumerate().filter(|(_, (one, _))| one.applies_to_following);
        let read = |(index, (exception, key)): (usize, (&Event, &Option<i64>))| {
            Follow::from_exception(rules, exception, index, (*key)?)
        };
        let mut all: Vec<Follow> = ranged.filter_map(read).collect();
        all.sort_by_key(|follow| (follow.key, follow.index));
        all.truncate(MAX_FOLLOWED);
        all
    }

    fn from_exception(rules: &Series, exception: &Event, index: usize, key: i64) -> Option<Follow> {
        let zone = zone_of(exception).unwrap_or_else(|_| rules.zone.clone());
        let original = if rules.all_day { rules.epoch_of(key)? } else { key };
        let (start, end) = (exception.start.as_millis(), exception.end.as_millis());
        let clock = Clock::new(&zone);
        let days = |text: &Option<String>| text.as_deref().and_then(|text| parse_recurrence_id(text, true));
        let (all_day, shift, length) = match (exception.all_day, days(&exception.start_date)) {
            (true, Some(first)) => {
                let after = days(&exception.end_date).unwrap_or(first + DAY);
                (true, first - base(rules, &zone, original, key, true), (after - first).max(DAY))
            }
            _ => {
                let base = base(rules, &zone, original, key, false);
                (false, clock.local(start) - base, end.saturating_sub(start).max(0))
            }
        };
        let reach_ms = if all_day { length.saturating_mul(1000).saturating_add(DAY * 1000) } else { length };
        let about_ms = start.saturating_sub(original.saturating_mul(1000));
        Some(Follow { index, key, zone, all_day, shift, length, about_ms, reach_ms })
    }

    /// Start and end of an occurrence behind the exception. None outside of the years that jiff can represent.
    pub(crate) fn times(&self, rules: &Series, occurrence: &Occurrence) -> Option<(Instant, Instant)> {
        let key = key_of_occurrence(rules, occurrence)?;
        let epoch = occurrence.start.as_millis().div_euclid(1000);
        let local = base(rules, &self.zone, epoch, key, self.all_day).checked_add(self.shift)?;
        let mut clock = Clock::new(&self.zone);
        let start = clock.resolve(local)?.epoch.checked_mul(1000)?;
        let end = match self.all_day {
            true => clock.resolve(local.checked_add(self.length)?)?.epoch.checked_mul(1000)?,
            false => start.checked_add(self.length)?,
        };
        Some((Instant::from_millis(start), Instant::from_millis(end)))
    }
}

/// The original start from which an exception in this zone is measured: its local time there, or its day.
fn base(rules: &Series, zone: &TimeZone, original: i64, key: i64, by_day: bool) -> i64 {
    let local = match (rules.all_day, by_day) {
        (true, _) => key,
        (false, true) => rules.local_at(original),
        (false, false) => Clock::new(zone).local(original.saturating_mul(1000)),
    };
    if by_day { local.div_euclid(DAY) * DAY } else { local }
}

/// The event of an occurrence that takes the changes of an exception.
pub(crate) fn following(
    exception: &Event,
    occurrence: Occurrence,
    (start, end): (Instant, Instant),
) -> Event {
    let zone = zone(&exception.time_zone).unwrap_or(TimeZone::UTC);
    let day = |at: Instant| {
        let at: Timestamp = at.timestamp();
        let local = local_seconds(zone.to_datetime(at));
        local_date(local).map(|day| day.to_string()).filter(|_| exception.all_day)
    };
    Event {
        event_type: EventType::Occurrence,
        recurrence_id: Some(occurrence.recurrence_id),
        original_start: Some(occurrence.start),
        start,
        end,
        start_date: day(start),
        end_date: day(end),
        recurrence: Vec::new(),
        applies_to_following: false,
        time_zone_rules: None,
        ..exception.clone()
    }
}

/// The original start of the exception that an occurrence of this original start takes its changes from.
pub(crate) fn find_follow(all: &[Follow], key: i64) -> Option<&Follow> {
    all.iter().rev().find(|follow| follow.key < key)
}
