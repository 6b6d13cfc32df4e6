//! Questions to a series: what falls into a range, whether an instance exists, which one is next.

use model::Instant;

use crate::Error;
use crate::date::{DAY, parse_recurrence_id};
use crate::instance_suffix;
use crate::series::{Found, Series};
use crate::walk::Budget;
use crate::zones::Clock;

/// How far ahead `next_after` looks: the Gregorian calendar repeats after 400 years.
const HORIZON: i64 = 400 * 366 * DAY;

/// Bounds of one question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// Instances in the answer.
    pub max_instances: usize,
    /// Days looked at and candidates made, together: about 0.1 to 0.2 µs each.
    pub max_steps: u32,
}

impl Default for Caps {
    /// 2,500 instances, 250,000 steps (50 ms at worst).
    fn default() -> Self {
        Caps { max_instances: 2_500, max_steps: 250_000 }
    }
}

/// One instance of a series, before any exception.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// Original local start, as `Event.recurrenceId`: `2026-03-01T09:00:00`, or `2026-03-01` for all-day series.
    pub recurrence_id: String,
    /// The instant at which it starts; also its original start.
    pub start: Instant,
    /// Exclusive.
    pub end: Instant,
    /// All-day: first day, `YYYY-MM-DD`.
    pub start_date: Option<String>,
    /// All-day: the day after the last.
    pub end_date: Option<String>,
}

impl Occurrence {
    /// The second half of the instance's id: `20260301T090000Z`, or `20260301` for all-day series.
    pub fn suffix(&self) -> String {
        match &self.start_date {
            Some(date) => date.replace('-', ""),
            None => instance_suffix(self.start),
        }
    }
}

/// The instances that overlap `[from, to)`, in order of start: also those that began before and still run, and moments (start
/// equal to end) at `from`. Errors: `TooManyInstances`, `TooExpensive`.
pub fn expand(series: &Series, from: Instant, to: Instant, caps: Caps) -> Result<Vec<Occurrence>, Error> {
    if to <= from {
        return Ok(Vec::new());
    }
    let mut budget = Budget::new(caps.max_steps);
    let earliest = from.as_millis().saturating_sub(series.reach_ms());
    let found = series.found(earliest, to.as_millis(), from.as_millis(), caps.max_instances, &mut budget)?;
    let reaches = |o: &Occurrence| o.end > from || o.start >= from;
    let all: Vec<Occurrence> = found.iter().map(|f| series.occurrence(f)).filter(reaches).collect();
    if all.len() > caps.max_instances {
        return Err(Error::TooManyInstances(caps.max_instances));
    }
    Ok(all)
}

/// Whether the series has this instance (not excluded); exceptions do not matter. Error: `TooExpensive`.
pub fn occurs_at(series: &Series, recurrence_id: &str, caps: Caps) -> Result<bool, Error> {
    Ok(instance_at(series, recurrence_id, caps)?.is_some())
}

/// The instance of this name, if the series has it.
pub(crate) fn instance_at(series: &Series, recurrence_id: &str, caps: Caps) -> Result<Option<Found>, Error> {
    let Some(local) = parse_recurrence_id(recurrence_id, series.all_day) else { return Ok(None) };
    let Some(epoch) = series.epoch_of(local) else { return Ok(None) };
    let mut budget = Budget::new(caps.max_steps);
    let at = epoch * 1000 + series.millis;
    let found = series.found(at, at + 1, at, usize::MAX, &mut budget)?;
    let named = |f: &Found| f.local == local && !series.is_excluded(f);
    // The second of a doubled local time (an RDATE in UTC) has the same name.
    Ok(found.into_iter().find(|f| !series.all_day || f.local == local).or_else(|| series.added().find(named)))
}

/// The first instance that starts after `after`; None when there is none in the next 400 years. Error: `TooExpensive`.
pub fn next_after(series: &Series, after: Instant, caps: Caps) -> Result<Option<Occurrence>, Error> {
    let mut budget = Budget::new(caps.max_steps);
    let mut clock = Clock::new(&series.zone);
    let from = clock.local(after.as_millis()).max(series.start);
    let from = from - clock.margin(from);
    let mut best: Option<Found> = None;
    let consider = |found: Found, best: &mut Option<Found>| {
        let later = series.start_ms(&found) > after.as_millis() && !series.is_excluded(&found);
        let nearer = |b: Found| (found.epoch, -found.local) < (b.epoch, -b.local);
        if later && best.is_none_or(nearer) {
            *best = Some(found);
        }
    };
    series.generated(from, from.saturating_add(HORIZON), &mut budget, &mut |found, _| {
        consider(found, &mut best);
        // Around a gap the local order is not the order of instants; a day later it is again.
        best.is_none_or(|b| found.local < b.local.saturating_add(clock.margin(b.local)))
    })?;
    for found in series.added() {
        consider(found, &mut best);
    }
    Ok(best.map(|found| series.occurrence(&found)))
}

/// The first instance of all; None when every one is excluded. Error: `TooExpensive`.
pub fn first(series: &Series, caps: Caps) -> Result<Option<Occurrence>, Error> {
    next_after(series, Instant::from_millis(i64::MIN), caps)
}
