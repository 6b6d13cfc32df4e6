//! Walks along a rule: yields local seconds in ascending order, from any point of the series, at a bounded cost.
//!
//! ical-rs walks from DTSTART and cannot be stopped inside a step. So it gets one window of periods at a time, and the budget is charged
//! for a window before it is walked. Every period yields the same candidates wherever the walk begins, because the rule was completed
//! before. So the year 2090 of a series from 1990 costs no more than 1991, and a rule that never matches costs no more than the window.

use ical::recur::expand::IcalRecurExpand;
use ical::recur::{IcalRecurDateTime, IcalRecurFreq, IcalRecurRule};

use crate::Error;
use crate::date::{DAY, HOUR};
use crate::rule::is_sub_daily;

/// 9999-12-31T23:59:59, the last time that RFC 5545 can write.
const LAST: i64 = 253_402_300_799;
/// The maximum number of candidates of a period before BYSETPOS: ical-rs has them all in memory.
const MAX_PERIOD_CANDIDATES: u64 = 60_000;
/// The maximum number of days that are checked in one step.
const MAX_DAYS_AHEAD: i64 = 512;

/// The steps that a query may still take: one per checked day and one per candidate.
#[derive(Debug)]
pub(crate) struct Budget {
    left: u64,
    max: u32,
}

impl Budget {
    pub(crate) fn new(max: u32) -> Self {
        Budget { left: u64::from(max), max }
    }

    pub(crate) fn left(&self) -> u32 {
        u32::try_from(self.left).unwrap_or(u32::MAX)
    }

    pub(crate) fn spend(&mut self, steps: u64) -> Result<(), Error> {
        match self.left.checked_sub(steps) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(Error::TooExpensive(self.max)),
        }
    }
}

/// An iterator over the candidates in `[from, to]`, ascending, none before the start's period. Yields DTSTART only if the rule generates
/// it.
pub(crate) struct Walk<'r> {
    rule: &'r IcalRecurRule,
    from: i64,
    to: i64,
    source: CandidateSource,
    window: Option<IcalRecurExpand>,
    /// The last local second of the window.
    end: i64,
}

enum CandidateSource {
    /// Periods of a day or longer: the next period, and the number of periods in the next window.
    Periods { origin: i64, next: i64, take: i64 },
    /// Shorter periods: the days that match the day parts, and the rest of the current day.
    Days { days: Box<PassingDays>, origin: i64, open: Option<(i64, i64)> },
    /// BYSETPOS selects a position that no period has.
    Never,
}

impl<'r> Walk<'r> {
    /// `rule` must be completed from `start`; all times are local seconds.
    pub(crate) fn new(rule: &'r IcalRecurRule, start: i64, from: i64, to: i64) -> Self {
        let to = to.min(LAST);
        let source = if !can_match(rule) || from > to {
            CandidateSource::Never
        } else if is_sub_daily(rule.freq) {
            CandidateSource::Days {
                days: Box::new(PassingDays::new(rule, from, to)),
                origin: start,
                open: None,
            }
        } else {
            let at = index_at(rule, start, from);
            CandidateSource::Periods { origin: start, next: at, take: first_take(rule.freq) }
        };
        Walk { rule, from, to, source, window: None, end: to }
    }

    pub(crate) fn next(&mut self, budget: &mut Budget) -> Result<Option<i64>, Error> {
        loop {
            if let Some(window) = &mut self.window {
                for at in window.by_ref() {
                    budget.spend(1)?;
                    let at = at.seconds();
                    if at > self.end {
                        break;
                    }
                    if at >= self.from {
                        return Ok(Some(at));
                    }
                }
                self.window = None;
            }
            if !self.refill(budget)? {
                return Ok(None);
            }
        }
    }

    fn refill(&mut self, budget: &mut Budget) -> Result<bool, Error> {
        match &mut self.source {
            CandidateSource::Never => Ok(false),
            CandidateSource::Periods { origin, next, take } => {
                let first = period_start(self.rule, *origin, *next);
                if first > self.to {
                    return Ok(false);
                }
                let count = (*take).min(index_at(self.rule, *origin, self.to) + 1 - *next).max(1);
                let times = times_of_day(self.rule);
                let per_period = period_days(self.rule.freq) * times;
                if per_period > MAX_PERIOD_CANDIDATES {
                    return Err(Error::TooExpensive(budget.max));
                }
                let each =
                    if self.rule.by_set_pos.is_empty() { period_days(self.rule.freq) } else { per_period };
                // Weeks of a year take ical-rs three times as long as dates.
                let weight = if self.rule.by_week_no.is_empty() { 1 } else { 3 };
                budget.spend(each * count.unsigned_abs() * weight)?;
                let end = period_start(self.rule, *origin, *next + count) - 1;
                // Week 1 may begin in December, the last week end in January: the period before belongs to this window too.
                let anchor = if self.rule.by_week_no.is_empty() { *next } else { *next - 1 };
                let anchor = period_start(self.rule, *origin, anchor) + week_overlap(self.rule);
                self.from = self.from.max(first);
                self.end = end.min(self.to);
                // ical-rs stops at a period that begins after the end, though its first week may begin before.
                self.window = Some(window(self.rule, anchor, self.end + week_overlap(self.rule)));
                *next += count;
                *take = (*take * 2).min(first_take(self.rule.freq) * 16);
                Ok(true)
            }
            CandidateSource::Days { days, origin, open } => {
                let (at, day_end) = match open.take() {
                    Some(rest) => rest,
                    None => match days.next(budget)? {
                        Some(day) => (day.max(self.from), (day + DAY - 1).min(self.to)),
                        None => return Ok(false),
                    },
                };
                let step = step_seconds(self.rule);
                let unit = unit_seconds(self.rule.freq);
                let lattice = origin.div_euclid(unit) * unit;
                let begun = at.div_euclid(unit) * unit;
                let first = lattice + ceil_div(begun - lattice, step).max(0) * step;
                if first > day_end {
                    return Ok(true);
                }
                // A day with many periods is walked hour by hour, because most queries end after a few.
                let of_day = periods_of_day(self.rule, step);
                let end = if of_day > HOUR.unsigned_abs() { day_end.min(first + HOUR - 1) } else { day_end };
                budget.spend(of_day.min(((end - first) / step + 1).unsigned_abs()))?;
                let inner = IcalRecurRule {
                    by_month: Vec::new(),
                    by_month_day: Vec::new(),
                    by_year_day: Vec::new(),
                    by_day: Vec::new(),
                    ..self.rule.clone()
                };
                *open = (end < day_end).then_some((end + 1, day_end));
                self.end = end;
                self.window = Some(window(&inner, first, end));
                Ok(true)
            }
        }
    }
}

/// Returns the expansion by ical-rs from the period at `anchor` to the local second `end`.
fn window(rule: &IcalRecurRule, anchor: i64, end: i64) -> IcalRecurExpand {
    let mut rule = rule.clone();
    rule.until = Some(IcalRecurDateTime::from_seconds(end));
    IcalRecurExpand::new(rule, IcalRecurDateTime::from_seconds(anchor))
}

/// An iterator over the midnights of the days that match the day parts of a rule whose period is shorter than a day.
struct PassingDays {
    rule: IcalRecurRule,
    /// The first midnight that has not been checked.
    next: i64,
    to: i64,
    /// The number of days to check next.
    take: i64,
    seen: Option<IcalRecurExpand>,
}

impl PassingDays {
    fn new(rule: &IcalRecurRule, from: i64, to: i64) -> Self {
        let rule = IcalRecurRule {
            // BYYEARDAY is a filter only for periods shorter than a day.
            freq: IcalRecurFreq::Hourly,
            interval: 24,
            by_hour: Vec::new(),
            by_minute: vec![0],
            by_second: vec![0],
            by_set_pos: Vec::new(),
            ..rule.clone()
        };
        PassingDays { rule, next: from.div_euclid(DAY) * DAY, to, take: 1, seen: None }
    }

    fn next(&mut self, budget: &mut Budget) -> Result<Option<i64>, Error> {
        loop {
            if let Some(day) = self.seen.as_mut().and_then(Iterator::next) {
                return Ok(Some(day.seconds()));
            }
            if self.next > self.to {
                return Ok(None);
            }
            budget.spend(self.take.unsigned_abs())?;
            let after = self.next + self.take * DAY;
            self.seen = Some(window(&self.rule, self.next, (after - 1).min(self.to)));
            self.next = after;
            self.take = (self.take * 2).min(MAX_DAYS_AHEAD);
        }
    }
}

/// Whether a period can have as many candidates as the smallest position of BYSETPOS.
fn can_match(rule: &IcalRecurRule) -> bool {
    let times = match rule.freq {
        IcalRecurFreq::Secondly => 1,
        IcalRecurFreq::Minutely => rule.by_second.len() as u64,
        IcalRecurFreq::Hourly => (rule.by_minute.len() * rule.by_second.len()) as u64,
        _ => times_of_day(rule) * period_days(rule.freq),
    };
    let smallest = rule.by_set_pos.iter().map(|pos| u64::from(pos.unsigned_abs())).min();
    smallest.is_none_or(|pos| pos <= times)
}

fn times_of_day(rule: &IcalRecurRule) -> u64 {
    (rule.by_hour.len() * rule.by_minute.len() * rule.by_second.len()) as u64
}

/// The maximum number of days of a period, all of which ical-rs checks.
fn period_days(freq: IcalRecurFreq) -> u64 {
    match freq {
        IcalRecurFreq::Weekly => 7,
        IcalRecurFreq::Monthly => 31,
        IcalRecurFreq::Yearly => 380,
        _ => 1,
    }
}

/// The number of periods in the first window: few, because most queries end there. Later windows double it, up to 16 times as many.
fn first_take(freq: IcalRecurFreq) -> i64 {
    match freq {
        IcalRecurFreq::Weekly => 12,
        IcalRecurFreq::Monthly => 3,
        IcalRecurFreq::Yearly => 1,
        _ => 64,
    }
}

/// The seconds by which the weeks of a year can reach into the previous one; windows are cut there instead of at New Year.
fn week_overlap(rule: &IcalRecurRule) -> i64 {
    if rule.by_week_no.is_empty() { 0 } else { 7 * DAY }
}

/// The local second at which the period of this index begins; index 0 holds the start. Never past 10000-01-01.
fn period_start(rule: &IcalRecurRule, origin: i64, index: i64) -> i64 {
    let steps = index.saturating_mul(i64::from(rule.interval));
    let day = origin.div_euclid(DAY);
    let at = IcalRecurDateTime::from_seconds(origin);
    let first_of = |year: i64, month: u8| {
        let year = year.clamp(-1, 10_000) as i32;
        IcalRecurDateTime::date(year, month, 1).seconds()
    };
    let start = match rule.freq {
        IcalRecurFreq::Weekly => {
            let back = (day + 4 - rule.week_start as i64).rem_euclid(7);
            (day - back).saturating_add(steps.saturating_mul(7)).saturating_mul(DAY)
        }
        IcalRecurFreq::Monthly => {
            let month = (i64::from(at.year) * 12 + i64::from(at.month) - 1).saturating_add(steps);
            first_of(month.div_euclid(12), month.rem_euclid(12) as u8 + 1)
        }
        IcalRecurFreq::Yearly => first_of(i64::from(at.year).saturating_add(steps), 1),
        _ => day.saturating_add(steps).saturating_mul(DAY),
    };
    start.min(LAST + 1) - week_overlap(rule)
}

/// The index of the period that contains a local second at or after the start, or of the period before it if it is in a gap between
/// periods.
fn index_at(rule: &IcalRecurRule, origin: i64, at: i64) -> i64 {
    let interval = i64::from(rule.interval);
    let first = period_start(rule, origin, 0) + week_overlap(rule);
    let (then, now) = (
        IcalRecurDateTime::from_seconds(origin),
        IcalRecurDateTime::from_seconds(at.saturating_add(week_overlap(rule))),
    );
    let units = match rule.freq {
        IcalRecurFreq::Weekly => (at - first).div_euclid(7 * DAY),
        IcalRecurFreq::Monthly => {
            i64::from(now.year - then.year) * 12 + i64::from(now.month) - i64::from(then.month)
        }
        IcalRecurFreq::Yearly => i64::from(now.year - then.year),
        _ => (at - first).div_euclid(DAY),
    };
    units.div_euclid(interval).max(0)
}

pub(crate) fn unit_seconds(freq: IcalRecurFreq) -> i64 {
    match freq {
        IcalRecurFreq::Secondly => 1,
        IcalRecurFreq::Minutely => 60,
        _ => 3600,
    }
}

pub(crate) fn step_seconds(rule: &IcalRecurRule) -> i64 {
    unit_seconds(rule.freq) * i64::from(rule.interval)
}

/// The maximum number of periods of a day that ical-rs visits: those on the rule's interval, less what the hour and minute parts exclude.
fn periods_of_day(rule: &IcalRecurRule, step: i64) -> u64 {
    let lattice = (DAY / step + 1).unsigned_abs();
    let or_all = |len: usize, all: u64| if len == 0 { all } else { len as u64 };
    let hours = or_all(rule.by_hour.len(), 24);
    let minutes = or_all(rule.by_minute.len(), 60);
    let gated = match rule.freq {
        IcalRecurFreq::Secondly => 24 + hours * 60 + hours * minutes * 60,
        IcalRecurFreq::Minutely => 24 + hours * 60,
        _ => 24,
    };
    lattice.min(gated)
}

pub(crate) fn ceil_div(a: i64, b: i64) -> i64 {
    -(-a).div_euclid(b)
}
