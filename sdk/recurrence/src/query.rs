//! Queries on a series: the instances in a range, whether an instance exists, and the next one.

use model::Instant;

use crate::Error;
use crate::date::{DAY, parse_recurrence_id};
use crate::occurrence::Occurrence;
use crate::series::{FoundInstance, Series};
use crate::set::RecurrenceSet;

/// How far ahead `next_after` looks, milliseconds: the Gregorian calendar repeats after 400 years.
const HORIZON: i64 = 400 * 366 * DAY * 1000;

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

/// The instances of a series in a range, one by one: none is computed before it is taken. An error is the last item.
pub struct Occurrences<'s> {
    series: &'s Series,
    set: RecurrenceSet<'s>,
    from: Instant,
    /// Also instances that began before `from`.
    running: bool,
}

impl<'s> Occurrences<'s> {
    /// Returns the occurrences that overlap `[from, to)`, in order of start: also those that began before and still run, and those
    /// without a length at `from`. Looking for each costs steps, of which there are `max_steps` for all together: `TooExpensive`.
    pub fn overlapping(series: &'s Series, from: Instant, to: Instant, max_steps: u32) -> Self {
        let earliest = from.as_millis().saturating_sub(series.reach_ms());
        // An empty range has nothing, though a moment may lie at its start.
        let to = if to <= from { i64::MIN } else { to.as_millis() };
        Occurrences { series, set: RecurrenceSet::new(series, earliest, to, max_steps), from, running: true }
    }

    /// Returns the occurrences that start in `[from, to)`.
    pub fn starting(series: &'s Series, from: Instant, to: Instant, max_steps: u32) -> Self {
        let set = RecurrenceSet::new(series, from.as_millis(), to.as_millis(), max_steps);
        Occurrences { series, set, from, running: false }
    }

    /// Steps that are left of `max_steps`.
    pub fn steps_left(&self) -> u32 {
        self.set.steps_left()
    }
}

impl Iterator for Occurrences<'_> {
    type Item = Result<Occurrence, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.set.next()? {
                Err(error) => return Some(Err(error)),
                Ok(found) => {
                    let occurrence = self.series.occurrence(&found);
                    if occurrence.start >= self.from || (self.running && occurrence.end > self.from) {
                        return Some(Ok(occurrence));
                    }
                }
            }
        }
    }
}

/// The instances that overlap `[from, to)`, as [`Occurrences::overlapping`] has them. Errors: `TooManyInstances`, `TooExpensive`.
pub fn expand(series: &Series, from: Instant, to: Instant, caps: Caps) -> Result<Vec<Occurrence>, Error> {
    let mut all = Vec::new();
    for occurrence in Occurrences::overlapping(series, from, to, caps.max_steps) {
        if all.len() == caps.max_instances {
            return Err(Error::TooManyInstances(caps.max_instances));
        }
        all.push(occurrence?);
    }
    Ok(all)
}

/// Whether the series has this instance (not excluded); exceptions do not matter. Error: `TooExpensive`.
pub fn occurs_at(series: &Series, recurrence_id: &str, caps: Caps) -> Result<bool, Error> {
    Ok(instance_at(series, recurrence_id, caps)?.is_some())
}

/// The instance of this name, if the series has it.
pub(crate) fn instance_at(
    series: &Series,
    recurrence_id: &str,
    caps: Caps,
) -> Result<Option<FoundInstance>, Error> {
    let Some(local) = parse_recurrence_id(recurrence_id, series.all_day) else { return Ok(None) };
    let Some(epoch) = series.epoch_of(local) else { return Ok(None) };
    let at = epoch * 1000 + series.millis;
    for found in RecurrenceSet::new(series, at, at + 1, caps.max_steps) {
        let found = found?;
        // An RDATE that still runs is not this one.
        if found.epoch == epoch && (!series.all_day || found.local == local) {
            return Ok(Some(found));
        }
    }
    // The second of a doubled local time (an RDATE in UTC) has the same name.
    let named = |f: &&FoundInstance| f.local == local && !series.is_excluded(f);
    Ok(series.added.iter().find(named).copied())
}

/// The first instance that starts after `after`; None when there is none in the next 400 years. Error: `TooExpensive`.
pub fn next_after(series: &Series, after: Instant, caps: Caps) -> Result<Option<Occurrence>, Error> {
    let from = after.as_millis().saturating_add(1);
    let begin = series.first().map_or(from, |first| from.max(series.start_ms(&first)));
    let mut later = RecurrenceSet::new(series, from, begin.saturating_add(HORIZON), caps.max_steps);
    // A period of RDATE that still runs is not after.
    let next = later.find(|next| !next.as_ref().is_ok_and(|found| series.start_ms(found) < from));
    Ok(next.transpose()?.map(|found| series.occurrence(&found)))
}

/// The first instance of all; None when every one is excluded. Error: `TooExpensive`.
pub fn first(series: &Series, caps: Caps) -> Result<Option<Occurrence>, Error> {
    next_after(series, Instant::from_millis(i64::MIN), caps)
}
