//! The instances that one rule generates: the local times of its walk on the zone's clock, in order of instants, within COUNT and
//! UNTIL.

use std::collections::VecDeque;

use ical::recur::{IcalRecurFreq, IcalRecurRule};

use crate::Error;
use crate::date::DAY;
use crate::rule::{Repeat, is_sub_daily};
use crate::series::{FoundInstance, Series};
use crate::walk::{Budget, Walk, ceil_div, step_seconds, unit_seconds};
use crate::zones::Clock;

/// Longest way from one local time to an instant of the same zone's clock, both as local seconds: the longest gap, UTC's distance.
const SKEW: i64 = 2 * DAY;

/// The position of an instance among those that its rule generates: 1 for the first. For an RRULE that is DTSTART.
pub(crate) type Number = u32;

/// The instances of one rule, lazily. DTSTART is the first of an RRULE, whether the rule matches it or not, and is not among them;
/// of an EXRULE it is one where the rule matches it.
pub(crate) struct RuleInstances<'s> {
    series: &'s Series,
    repeat: &'s Repeat,
    walk: Walk<'s>,
    clock: Clock,
    /// The instant of DTSTART, seconds since the Unix epoch.
    first: i64,
    number: Number,
    /// Found, in order, each with its gap: one that a gap moves forward waits for what comes before it then.
    held: VecDeque<(FoundInstance, Number, i64)>,
    /// The last local second of the walk.
    walked: i64,
    ended: bool,
}

impl<'s> RuleInstances<'s> {
    /// Creates the walk over original starts from about `from_ms` to about `to_ms`, a margin included (milliseconds since the Unix
    /// epoch).
    pub(crate) fn new(
        series: &'s Series,
        repeat: &'s Repeat,
        (from_ms, to_ms): (i64, i64),
        budget: &mut Budget,
    ) -> Result<Self, Error> {
        let mut clock = Clock::new(&series.zone);
        let completed = &repeat.completed;
        // Where the local times of a gap are left out, local order is the order of instants.
        let is_exact = is_sub_daily(completed.freq) && !series.all_day;
        let (from, to) = (clock.local(from_ms), clock.local(to_ms));
        let to = to + clock.margin(to);
        let mut before = |at: i64| if is_exact { at } else { at - clock.margin(at) };
        let floor = before(series.start);
        let from = before(from).max(floor);
        let to = repeat.rule.until.map_or(to, |until| to.min(until.seconds().saturating_add(SKEW)));
        let start = clock.resolve(series.start);
        let mut number = Number::from(!repeat.excludes);
        let from = match (repeat.rule.count, start) {
            (Some(_), Some(at)) if is_exact && at.gap == 0 && is_even(completed) && from > series.start => {
                number = number.saturating_add(count_passed(series, repeat, at.epoch, from, budget)?);
                from
            }
            (Some(_), _) => floor,
            (None, _) => from,
        };
        let from = if series.all_day { from.div_euclid(DAY) * DAY } else { from };
        Ok(RuleInstances {
            series,
            repeat,
            walk: Walk::new(completed, series.start, from, to),
            clock,
            first: start.map_or(0, |at| at.epoch),
            number,
            held: VecDeque::new(),
            walked: i64::MIN,
            ended: start.is_none(),
        })
    }

    /// How many came before the next one.
    pub(crate) fn number(&self) -> Number {
        self.number
    }

    /// The next one, in the order of [`Series::key`].
    pub(crate) fn next(&mut self, budget: &mut Budget) -> Result<Option<(FoundInstance, Number)>, Error> {
        loop {
            if let Some((found, _, gap)) = self.held.front() {
                let is_next = self.ended || *gap == 0 || self.walked > found.local + gap;
                if is_next {
                    return Ok(self.held.pop_front().map(|(found, number, _)| (found, number)));
                }
            } else if self.ended {
                return Ok(None);
            }
            self.step(budget)?;
        }
    }

    /// Takes one more local time from the walk.
    fn step(&mut self, budget: &mut Budget) -> Result<(), Error> {
        let rule = &self.repeat.rule;
        let is_spent = rule.count.is_some_and(|count| self.number >= count);
        let walked = if is_spent { None } else { self.walk.next(budget)? };
        let all_day = self.series.all_day;
        // Days have no time: what a rule says of hours names the same day again.
        let local = walked.map(|local| if all_day { local.div_euclid(DAY) * DAY } else { local });
        let Some((local, at)) = local.and_then(|local| Some((local, self.clock.resolve(local)?))) else {
            self.ended = true;
            return Ok(());
        };
        let is_new = local != self.walked;
        self.walked = local;
        let is_later = if all_day { local > self.series.start } else { at.epoch > self.first };
        let is_start = if all_day { local == self.series.start } else { at.epoch == self.first };
        let counts = is_later || (is_start && self.repeat.excludes);
        let freq = self.repeat.completed.freq;
        let is_missing = at.gap > 0 && !all_day && (is_sub_daily(freq) || at.gap >= DAY);
        let is_over = rule.until.is_some_and(|until| !self.series.is_within(until, local, at.epoch));
        if is_new && counts && !is_missing && !is_over {
            self.number = self.number.saturating_add(1);
            let found = FoundInstance { epoch: at.epoch, local, by_rule: true, end: None };
            let key = self.series.key(&found);
            let place = self.held.iter().rposition(|(held, _, _)| self.series.key(held) <= key);
            self.held.insert(place.map_or(0, |at| at + 1), (found, self.number, at.gap));
        }
        Ok(())
    }
}

/// Whether the instances of a rule with a period below a day stand at even distances, so that they can be counted without a walk.
fn is_even(rule: &IcalRecurRule) -> bool {
    let has_days = !rule.by_month.is_empty()
        || !rule.by_month_day.is_empty()
        || !rule.by_year_day.is_empty()
        || !rule.by_day.is_empty();
    let has_times = match rule.freq {
        IcalRecurFreq::Hourly => {
            !rule.by_hour.is_empty() || rule.by_minute.len() != 1 || rule.by_second.len() != 1
        }
        IcalRecurFreq::Minutely => {
            !rule.by_hour.is_empty() || !rule.by_minute.is_empty() || rule.by_second.len() != 1
        }
        IcalRecurFreq::Secondly => {
            !rule.by_hour.is_empty() || !rule.by_minute.is_empty() || !rule.by_second.is_empty()
        }
        _ => true,
    };
    !has_days && !has_times && rule.by_set_pos.is_empty()
}

/// How many instances of an even rule lie between the start (which counts for an EXRULE) and the local second `from`, less those
/// that gaps swallow. Costs a step for each change of clocks.
fn count_passed(
    series: &Series,
    repeat: &Repeat,
    first: i64,
    from: i64,
    budget: &mut Budget,
) -> Result<Number, Error> {
    let rule = &repeat.completed;
    let (unit, step) = (unit_seconds(rule.freq), step_seconds(rule));
    let minute = rule.by_minute.first().map_or(0, |minute| i64::from(*minute) * 60);
    let second = rule.by_second.first().map_or(0, |second| i64::from(*second));
    let origin = series.start.div_euclid(unit) * unit + minute + second;
    let after = series.start + i64::from(!repeat.excludes);
    // Instances in `[a, b)`.
    let between = |a: i64, b: i64| {
        let (a, b) = (a.max(after), b.min(from));
        let before = |end: i64| ceil_div(end - origin, step).max(0);
        if b > a { before(b) - before(a) } else { 0 }
    };
    let mut count = between(after, from);
    for (gap_from, gap_to) in crate::zones::gaps(&series.zone, first, from + SKEW) {
        budget.spend(1)?;
        count -= between(gap_from, gap_to);
    }
    Ok(Number::try_from(count.max(0)).unwrap_or(Number::MAX))
}
