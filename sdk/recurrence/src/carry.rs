//! Carries dates and changed instances over to the new form of a series whose start or rule changes.
//!
//! An excluded, added or changed instance is identified by its original start, so a change of the series' start would lose it:
//!
//! - If the old starts are still starts of the series (the series only begins later), they stay.
//! - If the series was moved as a whole (each new start is an old one plus the same local time), they move along. So do UNTIL, if it would
//!   cut off the last instance, and the weekdays, day and time of day in the rule.
//! - Otherwise those whose original starts still exist stay, and the others are reported as dropped.

use jiff::tz::TimeZone;

use crate::Error;
use crate::date::{Basic, DAY, basic, basic_date, recurrence_id};
use crate::line::{Line, ListedDate, Moment};
use crate::query::{Caps, occurs_at};
use crate::retold::{new_clock, retold};
use crate::rule::Repeat;
use crate::series::{FoundInstance, Series};
use crate::set::RecurrenceSet;
use crate::zones::{Clock, zone};

/// The maximum number of instances of an excluded day that are excluded one by one; if there are more, the day is kept as written.
const MAX_DAILY: usize = 24;
/// The number of starts that are compared to find out whether one series is the other one moved.
const COMPARED: usize = 60;
/// The range in which starts are compared, in milliseconds: 100 years.
const HORIZON: i64 = 100 * 366 * DAY * 1000;

/// The mapping of the old instances to the new ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Original starts are unchanged.
    Stay,
    /// Each original start is this many seconds of local time later.
    Shift(i64),
    /// Old instances cannot be matched with new ones.
    Unknown,
}

/// A changed series with the dates and instances that were carried over.
#[derive(Clone, Debug)]
pub struct CarriedSeries {
    /// The lines of the changed series.
    pub lines: Vec<String>,
    /// Excluded and added instances that the new series does not have, by their original starts in the old series.
    pub dropped: Vec<String>,
    before: Series,
    after: Series,
    way: Way,
    caps: Caps,
}

impl CarriedSeries {
    /// Seconds of local time by which each instance starts later: changed instances move by the same time.
    pub fn shift(&self) -> i64 {
        match self.way {
            Way::Shift(seconds) => seconds,
            Way::Stay | Way::Unknown => 0,
        }
    }

    /// Whether original starts must be rewritten, because they differ or are given in another zone.
    pub fn renames(&self) -> bool {
        self.shift() != 0 || self.before.zone != self.after.zone
    }

    /// Returns the `recurrenceId` of a changed instance in the new series; None if the new series has no instance for it.
    pub fn new_id(&self, old_id: &str) -> Option<String> {
        if self.before.all_day != self.after.all_day {
            return None;
        }
        let local = self.before.local_of(old_id).ok()?;
        let id = recurrence_id(local.checked_add(self.shift())?, self.after.all_day);
        // If the check is too expensive, the instance is kept, and so is one that the old rule did not have.
        let has = occurs_at(&self.after, &id, self.caps).unwrap_or(true);
        let is_extra =
            || self.way != Way::Unknown && !occurs_at(&self.before, old_id, self.caps).unwrap_or(true);
        (has || is_extra()).then_some(id)
    }
}

/// Carries the dates of a series over to its changed form. `after` has the new start and the requested lines, or those of `before` if the
/// caller does not change the lines (`is_kept`). Fails with `Invalid` if a date is then out of range.
pub fn carried(before: &Series, after: &Series, is_kept: bool, caps: Caps) -> Result<CarriedSeries, Error> {
    let mut after = after.clone();
    let mut way = way_of(before, &after, caps)?;
    if way == Way::Unknown && is_kept {
        let along = moved_along(before, &after)?;
        let found = way_of(before, &along, caps)?;
        if matches!(found, Way::Shift(_)) {
            (after, way) = (along, found);
        }
    }
    let grids = (grid(before)?, grid(&after)?);
    let mut carrier = Carrier {
        before,
        after: &after,
        old_grid: &grids.0,
        new_grid: &grids.1,
        way,
        is_kept,
        steps: caps.max_steps,
        dropped: Vec::new(),
    };
    let lines = carrier.lines();
    let dropped = carrier.dropped;
    let after = after.with_lines(&lines)?;
    Ok(CarriedSeries { lines, dropped, before: before.clone(), after, way, caps })
}

/// Returns the mapping of the instances of one series to those of the other.
fn way_of(before: &Series, after: &Series, caps: Caps) -> Result<Way, Error> {
    let by = after.start - before.start;
    let is_one_kind = before.all_day == after.all_day;
    if by == 0 && is_one_kind {
        return Ok(Way::Stay);
    }
    let mut pairs = before.repeats.iter().zip(&after.repeats);
    let are_alike = before.repeats.len() == after.repeats.len()
        && pairs.all(|(old, new)| old.excludes == new.excludes && old.rule.is_like(&new.rule));
    if !are_alike {
        return Ok(Way::Unknown);
    }
    let (old, new) = (grid(before)?, grid(after)?);
    if is_one_kind {
        let from = before.start.max(after.start);
        let starts = walk_grid(&old, from, caps);
        if starts.first() == Some(&from) && starts == walk_grid(&new, from, caps) {
            return Ok(Way::Stay);
        }
    }
    let moved = |start: i64| if after.all_day { (start + by).div_euclid(DAY) * DAY } else { start + by };
    let moved: Vec<i64> = walk_grid(&old, before.start, caps).into_iter().map(moved).collect();
    Ok(if moved == walk_grid(&new, after.start, caps) { Way::Shift(by) } else { Way::Unknown })
}

/// The rules of a series without ends and dates, in a zone without transitions.
fn grid(series: &Series) -> Result<Series, Error> {
    let rules = series.lines.iter().filter(|line| is_rule(line));
    let unbounded = |(repeat, line): (&Repeat, &Line)| repeat.rule.with_bound(line, None).text();
    let lines: Vec<String> = series.repeats.iter().zip(rules).map(unbounded).collect();
    let mut calm = series.clone();
    (calm.zone, calm.millis) = (TimeZone::UTC, 0);
    Ok(calm.with_lines(&lines)?)
}

fn is_rule(line: &Line) -> bool {
    matches!(line.name.as_str(), "RRULE" | "EXRULE")
}

/// The first starts at or after `from`.
fn walk_grid(grid: &Series, from: i64, caps: Caps) -> Vec<i64> {
    let from = from.saturating_mul(1000);
    let set = RecurrenceSet::new(grid, from, from.saturating_add(HORIZON), caps.max_steps);
    set.map_while(Result::ok).map(|found| found.local).take(COMPARED).collect()
}

/// The series with its rules shifted along with its start.
fn moved_along(before: &Series, after: &Series) -> Result<Series, Error> {
    let mut repeats = after.repeats.iter();
    let mut moved = |line: &Line| match repeats.as_slice().first().filter(|_| is_rule(line)) {
        Some(repeat) => {
            repeats.next();
            repeat.rule.shift(line, before.start, after.start).text()
        }
        None => line.text(),
    };
    let lines: Vec<String> = after.lines.iter().map(&mut moved).collect();
    Ok(after.with_lines(&lines)?)
}

/// A date as it is written in the new series.
enum LineDate {
    /// In the same form as the other dates of the line.
    Alike(String),
    /// Instants in a separate line, in seconds since the Unix epoch.
    Instants(Vec<i64>),
    /// A day, in a separate line.
    Day(i64),
}

struct Carrier<'s> {
    before: &'s Series,
    after: &'s Series,
    old_grid: &'s Series,
    new_grid: &'s Series,
    way: Way,
    is_kept: bool,
    /// The steps left for the search for instances.
    steps: u32,
    dropped: Vec<String>,
}

impl Carrier<'_> {
    fn lines(&mut self) -> Vec<String> {
        let (before, after) = (self.before, self.after);
        let stays = self.way == Way::Stay && before.zone == after.zone;
        let mut repeats = after.repeats.iter();
        let mut lines = Vec::with_capacity(after.lines.len());
        for line in &after.lines {
            match repeats.as_slice().first().filter(|_| is_rule(line)) {
                Some(repeat) => {
                    repeats.next();
                    lines.push(self.rule(repeat, line));
                }
                None if stays => lines.push(line.text()),
                None => self.dates(line, &mut lines),
            }
        }
        lines
    }

    /// Whether a grid has a start in `[from, to)`; true if the check is too expensive.
    fn has_start(&mut self, grid: &Series, from: i64, to: i64) -> bool {
        let mut set =
            RecurrenceSet::new(grid, from.saturating_mul(1000), to.saturating_mul(1000), self.steps);
        let found = set.next();
        self.steps = set.steps_left();
        found.is_some()
    }

    /// A rule of a moved series, with a new UNTIL if the old one would remove or add an instance.
    fn rule(&mut self, repeat: &Repeat, line: &Line) -> String {
        let (before, after) = (self.before, self.after);
        let is_one_kind = before.all_day == after.all_day;
        let by = match self.way {
            Way::Shift(by) => by,
            Way::Stay => 0,
            Way::Unknown => return line.text(),
        };
        let Some(until) = repeat.rule.until.filter(|_| self.is_kept && is_one_kind) else {
            return line.text();
        };
        let last = |series: &Series| match until {
            Basic::Utc(epoch) if !series.all_day => series.local_at(epoch),
            Basic::Local(local) if !series.all_day => local,
            day => day.seconds().div_euclid(DAY) * DAY + DAY - 1,
        };
        let (wanted, said) = (last(before).saturating_add(by), last(after));
        let (from, to) = (wanted.min(said), wanted.max(said));
        let new_grid = self.new_grid;
        if from == to || !self.has_start(new_grid, from + 1, to + 1) {
            return line.text();
        }
        let text = match (until, after.epoch_of(wanted)) {
            _ if after.all_day => basic_date(wanted),
            (Basic::Local(_), _) => basic(wanted),
            (_, Some(epoch)) => format!("{}Z", basic(epoch)),
            (_, None) => return line.text(),
        };
        repeat.rule.with_bound(line, Some(("UNTIL", text))).text()
    }

    /// Adds a line with those of its dates that the new series has.
    fn dates(&mut self, line: &Line, lines: &mut Vec<String>) {
        let own = line.param("TZID").map(|name| zone(&name)).transpose();
        let (Ok(dates), Ok(own)) = (self.before.date_reader().read_each(line), own) else {
            lines.push(line.text());
            return;
        };
        let mut alike: Vec<String> = Vec::with_capacity(dates.len());
        let (mut instants, mut days) = (Vec::new(), Vec::new());
        for (text, date) in dates {
            let clock = new_clock(text, own.as_ref(), (self.before, self.after));
            let Some(date) = date.filter(|date| self.concerns(line, date.at, clock.is_some())) else {
                alike.push(text.to_owned());
                continue;
            };
            let spelt = match self.way {
                Way::Unknown => self.keeps(line, date.at).then(|| LineDate::Alike(retold(text, date, clock))),
                Way::Stay => self.spelt((text, date), line, own.as_ref(), 0),
                Way::Shift(by) => self.spelt((text, date), line, own.as_ref(), by),
            };
            match spelt {
                Some(LineDate::Alike(text)) => alike.push(text),
                Some(LineDate::Instants(found)) => instants.extend(found),
                Some(LineDate::Day(day)) => days.push(day),
                None => {
                    let local = local_of(date.at, self.before);
                    self.dropped.push(recurrence_id(local, self.before.all_day));
                }
            }
        }
        if !alike.is_empty() {
            lines.push(Line { value: alike.join(","), ..line.clone() }.text());
        }
        if !instants.is_empty() {
            let texts: Vec<String> = instants.into_iter().map(|at: i64| format!("{}Z", basic(at))).collect();
            lines.push(format!("{}:{}", line.name, texts.join(",")));
        }
        if !days.is_empty() {
            let texts: Vec<String> = days.into_iter().map(basic_date).collect();
            lines.push(format!("{};VALUE=DATE:{}", line.name, texts.join(",")));
        }
    }

    /// Whether a date is carried over as one of the old series. Of lines that the caller wrote, only an EXDATE is that the old series had
    /// and that excludes nothing in the new one. `is_bare`: the date has no zone.
    fn concerns(&mut self, line: &Line, at: Moment, is_bare: bool) -> bool {
        if self.is_kept {
            return true;
        }
        if line.name != "EXDATE" {
            return false;
        }
        let (epoch, local) = match at {
            Moment::Day(day) => (i64::MIN, day),
            Moment::Time { epoch, local } => (epoch, local),
        };
        let was_there = self.before.is_excluded(&FoundInstance { epoch, local, by_rule: true, end: None });
        let new_grid = self.new_grid;
        let (from, to) = self.reach(at, if is_bare { self.before } else { self.after });
        was_there && !self.has_start(new_grid, from, to)
    }

    /// The half-open range of local times that a date covers.
    fn reach(&self, at: Moment, series: &Series) -> (i64, i64) {
        match at {
            Moment::Day(day) if !series.all_day => (day, day + DAY),
            Moment::Day(day) => (day, day + 1),
            Moment::Time { local, .. } if series.zone == self.before.zone => (local, local + 1),
            Moment::Time { epoch, .. } => (series.local_at(epoch), series.local_at(epoch) + 1),
        }
    }

    /// Whether a date keeps its meaning if old instances cannot be mapped to new ones. An added date does, unless it is of the other kind
    /// (day or time); so does an exclusion that excluded nothing before, or excludes something now.
    fn keeps(&mut self, line: &Line, at: Moment) -> bool {
        if line.name == "RDATE" {
            return self.before.all_day == self.after.all_day;
        }
        let (old_grid, new_grid) = (self.old_grid, self.new_grid);
        let (from, to) = self.reach(at, self.before);
        if !self.has_start(old_grid, from, to) {
            return true;
        }
        let (from, to) = self.reach(at, self.after);
        self.has_start(new_grid, from, to)
    }

    /// A date shifted by `by` seconds of local time; none outside the years that can be written.
    fn spelt(
        &mut self,
        (text, date): (&str, ListedDate),
        line: &Line,
        own: Option<&TimeZone>,
        by: i64,
    ) -> Option<LineDate> {
        let (before, after) = (self.before, self.after);
        if after.all_day {
            let day = (local_of(date.at, before) + by).div_euclid(DAY) * DAY;
            return Some(if text.len() == 8 { LineDate::Alike(basic_date(day)) } else { LineDate::Day(day) });
        }
        let (epoch, local) = match date.at {
            Moment::Day(day) if before.all_day => {
                return Some(LineDate::Instants(vec![after.epoch_of(day + by)?]));
            }
            Moment::Day(day) if line.name == "RDATE" || by % DAY == 0 => {
                let time = before.start.rem_euclid(DAY);
                let new = if by % DAY == 0 { day + by } else { (day + time + by).div_euclid(DAY) * DAY };
                return Some(LineDate::Alike(basic_date(new)));
            }
            Moment::Day(day) => return Some(self.spelt_day(text, day, by)),
            Moment::Time { epoch, local } => (epoch, local + by),
        };
        let new_epoch = after.epoch_of(local)?;
        let is_utc = text.split('/').next().is_some_and(|start| start.ends_with(['Z', 'z']));
        let start = match own {
            _ if is_utc => format!("{}Z", basic(new_epoch)),
            Some(own) if *own != after.zone => basic(Clock::new(own).local(new_epoch.saturating_mul(1000))),
            _ => basic(local),
        };
        Some(LineDate::Alike(match date.end {
            Some(end) => format!("{start}/PT{}S", end.saturating_sub(epoch)),
            None => start,
        }))
    }

    /// A whole day excluded from a timed series, as separate exclusions of its instances.
    fn spelt_day(&mut self, text: &str, day: i64, by: i64) -> LineDate {
        let mut set = RecurrenceSet::new(self.old_grid, day * 1000, (day + DAY) * 1000, self.steps);
        let starts: Vec<i64> = set.by_ref().map_while(Result::ok).map(|found| found.local).collect();
        self.steps = set.steps_left();
        let moved: Vec<i64> = starts.iter().filter_map(|start| self.after.epoch_of(start + by)).collect();
        if moved.is_empty() || moved.len() > MAX_DAILY {
            LineDate::Alike(text.to_owned())
        } else {
            LineDate::Instants(moved)
        }
    }
}

/// The local second of a date. For a day in a timed series: the second at which the instance of that day starts.
fn local_of(at: Moment, series: &Series) -> i64 {
    match at {
        Moment::Day(day) if !series.all_day => day + series.start.rem_euclid(DAY),
        Moment::Day(local) | Moment::Time { local, .. } => local,
    }
}
