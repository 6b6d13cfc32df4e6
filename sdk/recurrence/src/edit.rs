//! Edits of a series: end it, continue it, exclude an instance. Each returns lines for `Event.recurrence`, and leaves the other parts as
//! written.

use crate::Error;
use crate::date::{Basic, DAY, basic, basic_date};
use crate::generated::RuleInstances;
use crate::line::{Line, ListedDate, Moment};
use crate::query::{Caps, first, instance_at};
use crate::rule::Repeat;
use crate::series::{FoundInstance, Series};
use crate::walk::Budget;
use ical::recur::IcalRecurDateTime;

/// The point at which a series is cut: this instant and all later ones belong to the second part.
#[derive(Clone, Copy)]
struct Cut {
    epoch: i64,
    local: i64,
}

impl Cut {
    /// Whether a date of a line belongs to the part before the cut.
    fn has_before(self, at: Moment) -> bool {
        match at {
            // A day excluded from a timed series belongs to both parts if it is the day of the cut.
            Moment::Day(day) => day < self.local,
            Moment::Time { epoch, .. } => epoch < self.epoch,
        }
    }

    /// Whether a date of a line belongs to the part from the cut on.
    fn has_after(self, at: Moment) -> bool {
        match at {
            Moment::Day(day) => day >= self.local.div_euclid(DAY) * DAY,
            Moment::Time { epoch, .. } => epoch >= self.epoch,
        }
    }
}

/// The lines of the series that ends before this instance: with UNTIL just before it instead of COUNT or a later UNTIL, and with RDATE and
/// EXDATE filtered. None if no instance remains. The id need not name an instance. Fails with `NoSuchInstance` if the id is not of the
/// series' kind (date or time), or with `TooExpensive`.
pub fn capped_before(series: &Series, recurrence_id: &str, caps: Caps) -> Result<Option<Vec<String>>, Error> {
    let local = series.local_of(recurrence_id)?;
    let found = instance_at(series, recurrence_id, caps)?;
    let epoch = found.map(|f| f.epoch).or_else(|| series.epoch_of(local));
    let cut = Cut { epoch: epoch.ok_or_else(|| Error::NoSuchInstance(recurrence_id.to_owned()))?, local };
    let starts_after = if series.all_day {
        series.start >= cut.local
    } else {
        series.epoch_of(series.start) >= Some(cut.epoch)
    };
    if starts_after {
        return Ok(None);
    }
    let mut lines = Vec::new();
    let mut repeats = series.repeats.iter();
    for line in &series.lines {
        match line.name.as_str() {
            "RRULE" | "EXRULE" => {
                let Some(repeat) = repeats.next() else { continue };
                // An EXRULE stays as it is: there are no later instances to exclude.
                let capped =
                    if repeat.excludes { line.text() } else { capped_rule(series, repeat, line, cut, caps)? };
                lines.push(capped);
            }
            _ => lines.extend(filter_dates(series, line, true, &|at| cut.has_before(at))?),
        }
    }
    let capped = series.with_lines(&lines)?;
    Ok(first(&capped, caps)?.map(|_| lines))
}

/// The lines of the series that continues from this instance, for an event that starts there: COUNT less the earlier instances, UNTIL kept,
/// RDATE and EXDATE filtered. Values that the old start implied and the new one does not are written out. Fails with `NoSuchInstance`, with
/// `Unsplittable` for an RDATE beside a rule with an INTERVAL, or with `TooExpensive`.
pub fn remainder_from(series: &Series, recurrence_id: &str, caps: Caps) -> Result<Vec<String>, Error> {
    let missing = || Error::NoSuchInstance(recurrence_id.chars().take(40).collect());
    let local = series.local_of(recurrence_id)?;
    let found = instance_at(series, recurrence_id, caps)?.ok_or_else(missing)?;
    let cut = Cut { epoch: found.epoch, local };
    let mut lines = Vec::new();
    let mut repeats = series.repeats.iter();
    for line in &series.lines {
        match line.name.as_str() {
            "RRULE" | "EXRULE" => {
                let Some(repeat) = repeats.next() else { continue };
                lines.extend(remaining_rule(series, repeat, line, cut, caps)?);
            }
            "RDATE" => {
                let keep = |at| cut.has_after(at) && !is_cut(series, cut, at);
                lines.extend(filter_dates(series, line, false, &keep)?);
            }
            _ => lines.extend(filter_dates(series, line, false, &|at| cut.has_after(at))?),
        }
    }
    Ok(lines)
}

/// The rule with UNTIL before the cut, if it has instances from the cut on.
fn capped_rule(series: &Series, repeat: &Repeat, line: &Line, cut: Cut, caps: Caps) -> Result<String, Error> {
    let rule = &repeat.rule;
    let ends_before = rule.until.is_some_and(|until| match until {
        Basic::Utc(last) if !series.all_day => last < cut.epoch,
        Basic::Local(last) if !series.all_day => series.epoch_of(last) < Some(cut.epoch),
        _ => until.seconds().div_euclid(DAY) < cut.local.div_euclid(DAY),
    });
    let until = utc_or_date(series, cut.epoch - 1, cut.local - DAY);
    let passed = counted_before(series, repeat, cut, caps)?;
    let spent = rule.count.is_some_and(|count| passed >= count);
    let bounded = rule.with_bound(line, Some(("UNTIL", until)));
    Ok(if ends_before || spent { line.text() } else { bounded.text() })
}

/// The number of instances before the cut that COUNT counts; 0 without a COUNT.
fn counted_before(series: &Series, repeat: &Repeat, cut: Cut, caps: Caps) -> Result<u32, Error> {
    let is_before = |found: &FoundInstance| {
        if series.all_day { found.local < cut.local } else { found.epoch < cut.epoch }
    };
    if repeat.rule.count.is_none() || !series.first().is_some_and(|first| is_before(&first)) {
        return Ok(0);
    }
    let mut budget = Budget::new(caps.max_steps);
    let near = |days: i64| (cut.epoch + days * DAY) * 1000;
    let mut source = RuleInstances::new(series, repeat, (near(-2), near(2)), &mut budget)?;
    let mut passed = source.number();
    while let Some((_, number)) = source.next(&mut budget)?.filter(|(found, _)| is_before(found)) {
        passed = number;
    }
    Ok(passed)
}

/// Whether the rule itself has an instance at the cut.
fn is_generated(series: &Series, repeat: &Repeat, cut: Cut, caps: Caps) -> Result<bool, Error> {
    let at = FoundInstance { epoch: cut.epoch, local: cut.local, by_rule: true, end: None };
    if series.first().is_some_and(|first| series.is_same(&first, &at)) {
        return Ok(true);
    }
    let mut budget = Budget::new(caps.max_steps);
    let range = (cut.epoch * 1000, (cut.epoch + 1) * 1000);
    let mut source = RuleInstances::new(series, repeat, range, &mut budget)?;
    while let Some((found, _)) = source.next(&mut budget)? {
        if series.is_same(&found, &at) {
            return Ok(true);
        }
        if series.key(&found) > series.key(&at) {
            break;
        }
    }
    Ok(false)
}

fn is_cut(series: &Series, cut: Cut, at: Moment) -> bool {
    match at {
        Moment::Day(day) => series.all_day && day == cut.local,
        Moment::Time { epoch, .. } => epoch == cut.epoch,
    }
}

fn remaining_rule(
    series: &Series,
    repeat: &Repeat,
    line: &Line,
    cut: Cut,
    caps: Caps,
) -> Result<Option<String>, Error> {
    let rule = &repeat.rule;
    let by_rule = !repeat.excludes && is_generated(series, repeat, cut, caps)?;
    if !by_rule && rule.ical.interval > 1 {
        return Err(Error::Unsplittable(crate::date::recurrence_id(cut.local, series.all_day)));
    }
    let at = IcalRecurDateTime::from_seconds(cut.local);
    let new_year = (at.month == 1 && at.day <= 7) || (at.month == 12 && at.day >= 25);
    if rule.ical.interval > 1 && !rule.ical.by_week_no.is_empty() && new_year {
        // The week belongs to another year than its days, so an interval of years counted from here would be wrong.
        return Err(Error::Unsplittable(crate::date::recurrence_id(cut.local, series.all_day)));
    }
    let mut line = line.clone();
    if let Some(count) = rule.count {
        let passed = counted_before(series, repeat, cut, caps)?;
        // COUNT includes a start that the rule does not generate, except in an EXRULE.
        let extra = u32::from(!by_rule && !repeat.excludes);
        let left = count.saturating_sub(passed).saturating_add(extra);
        if left == extra {
            return Ok(None);
        }
        line = rule.with_bound(&line, Some(("COUNT", left.to_string())));
    }
    let moved = !series.all_day && series.local_at(cut.epoch) != cut.local;
    if !by_rule || moved {
        line = rule.pinned(&line, series.start);
    }
    Ok(Some(line.text()))
}

/// The lines of the series with one instance excluded by an EXDATE in the series' zone; unchanged if it is excluded already. The id need
/// not name an instance of the rule, because an exception may lie outside it. Fails with `NoSuchInstance` if the id is not of the series'
/// kind (date or time).
pub fn excluded(series: &Series, recurrence_id: &str, caps: Caps) -> Result<Vec<String>, Error> {
    let mut lines: Vec<String> = series.lines.iter().map(Line::text).collect();
    let local = series.local_of(recurrence_id)?;
    let found = instance_at(series, recurrence_id, caps)?;
    let epoch = found.map(|f| f.epoch).or_else(|| series.epoch_of(local));
    let epoch = epoch.ok_or_else(|| Error::NoSuchInstance(recurrence_id.to_owned()))?;
    if found.is_none() && series.excludes(epoch, local) {
        return Ok(lines);
    }
    // A zone that is defined by rules has no IANA name.
    let name = series.zone.iana_name().filter(|name| !name.is_empty()).unwrap_or(&series.zone_name);
    let line = if series.all_day {
        format!("EXDATE;VALUE=DATE:{}", basic_date(local))
    } else if name == "UTC" || name == "Etc/UTC" || series.epoch_of(local) != Some(epoch) {
        // The second occurrence of a repeated local time can only be written in UTC.
        format!("EXDATE:{}Z", basic(epoch))
    } else {
        format!("EXDATE;TZID={name}:{}", basic(local))
    };
    let (head, date) = line.rsplit_once(':').unwrap_or((&line, ""));
    match lines.iter_mut().rev().find(|old| old.rsplit_once(':').is_some_and(|(same, _)| same == head)) {
        Some(old) => *old = format!("{old},{date}"),
        None => lines.push(line),
    }
    Ok(lines)
}

/// The line with the dates that pass the filter; none if none does. `unread`: whether dates that cannot be parsed are kept.
fn filter_dates(
    series: &Series,
    line: &Line,
    unread: bool,
    keep: &dyn Fn(Moment) -> bool,
) -> Result<Option<String>, Error> {
    let Ok(dates) = series.date_reader().read_each(line) else {
        return Ok(unread.then(|| line.text()));
    };
    let moment = |at: Moment| match at {
        // An added day without a time has the time of day of the start.
        Moment::Day(day) if !series.all_day && line.name == "RDATE" => {
            let local = day + series.start.rem_euclid(DAY);
            series.epoch_of(local).map_or(at, |epoch| Moment::Time { epoch, local })
        }
        _ => at,
    };
    let passes = |date: &Option<ListedDate>| date.as_ref().map_or(unread, |date| keep(moment(date.at)));
    let kept: Vec<&str> = dates.iter().filter(|(_, date)| passes(date)).map(|(text, _)| *text).collect();
    if kept.len() == dates.len() {
        return Ok((!kept.is_empty()).then(|| line.text()));
    }
    Ok((!kept.is_empty()).then(|| line.with_values(&kept).text()))
}

/// A date value of the series' kind for an UNTIL or EXDATE: `20260301` or `20260301T080000Z`.
fn utc_or_date(series: &Series, found_epoch: i64, local: i64) -> String {
    if series.all_day { basic_date(local) } else { format!("{}Z", basic(found_epoch)) }
}
