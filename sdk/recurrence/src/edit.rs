//! Edits of a series: cut it, continue it, take an instance out. They return lines for `Event.recurrence`; what an edit does not
//! concern stays as written.

use crate::Error;
use crate::date::{Basic, DAY, basic, basic_date};
use crate::line::{Line, Moment};
use crate::query::{Caps, first, instance_at};
use crate::series::Series;
use crate::walk::Budget;
use ical::recur::IcalRecurDateTime;

/// Where a series is cut: everything from this instant on is on the far side.
#[derive(Clone, Copy)]
struct Cut {
    epoch: i64,
    local: i64,
}

impl Cut {
    /// Whether a date of a line concerns what lies before the cut.
    fn has_before(self, at: Moment) -> bool {
        match at {
            // A day without a time, excluded from a timed series, concerns both sides where it is the day of the cut.
            Moment::Day(day) => day < self.local,
            Moment::Time { epoch, .. } => epoch < self.epoch,
        }
    }

    /// Whether it concerns what lies at the cut or after.
    fn has_after(self, at: Moment) -> bool {
        match at {
            Moment::Day(day) => day >= self.local.div_euclid(DAY) * DAY,
            Moment::Time { epoch, .. } => epoch >= self.epoch,
        }
    }
}

/// The lines of the series with only what starts before this instance: UNTIL just before it instead of COUNT or a later UNTIL,
/// RDATE and EXDATE filtered. None when nothing remains. The id need not name an instance. Errors: `NoSuchInstance` where the id
/// is not of the series' kind, `TooExpensive`.
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
    let passed = counted_before(series, cut, caps)?;
    let mut lines = Vec::new();
    for line in &series.lines {
        match (&series.rule, line.name.as_str()) {
            (Some(rule), "RRULE") => {
                let ends_before = rule.until.is_some_and(|until| match until {
                    Basic::Utc(last) if !series.all_day => last < cut.epoch,
                    Basic::Local(last) if !series.all_day => series.epoch_of(last) < Some(cut.epoch),
                    _ => until.seconds().div_euclid(DAY) < cut.local.div_euclid(DAY),
                });
                let until = utc_or_date(series, cut.epoch - 1, cut.local - DAY);
                let spent = rule.count.is_some_and(|count| passed >= count);
                let bounded = rule.with_bound(line, Some(("UNTIL", until)));
                lines.push(if ends_before || spent { line.text() } else { bounded.text() });
            }
            _ => lines.extend(filtered(series, line, &|at| cut.has_before(at))?),
        }
    }
    let capped = series.with_lines(&lines)?;
    Ok(first(&capped, caps)?.map(|_| lines))
}

/// The lines of the series that goes on from this instance, for an event that starts there: COUNT less what came before, UNTIL
/// kept, RDATE and EXDATE filtered. Where the rule took a field from the old start that the new one does not repeat, the field is
/// written out. Errors: `NoSuchInstance`; `Unsplittable` for an RDATE beside a rule with an INTERVAL; `TooExpensive`.
pub fn remainder_from(series: &Series, recurrence_id: &str, caps: Caps) -> Result<Vec<String>, Error> {
    let missing = || Error::NoSuchInstance(recurrence_id.chars().take(40).collect());
    let local = series.local_of(recurrence_id)?;
    let found = instance_at(series, recurrence_id, caps)?.ok_or_else(missing)?;
    let cut = Cut { epoch: found.epoch, local };
    let mut lines = Vec::new();
    for line in &series.lines {
        match line.name.as_str() {
            "RRULE" => lines.extend(remaining_rule(series, line, cut, found.by_rule, caps)?),
            "RDATE" => {
                lines.extend(filtered(series, line, &|at| cut.has_after(at) && !is_cut(series, cut, at))?)
            }
            _ => lines.extend(filtered(series, line, &|at| cut.has_after(at))?),
        }
    }
    Ok(lines)
}

/// Instances before the cut that a COUNT counts; 0 without a COUNT.
fn counted_before(series: &Series, cut: Cut, caps: Caps) -> Result<u32, Error> {
    let mut passed = 0;
    if series.rule.as_ref().is_none_or(|rule| rule.count.is_none()) {
        return Ok(passed);
    }
    let mut budget = Budget::new(caps.max_steps);
    series.generated(series.start, cut.local + 2 * DAY, &mut budget, &mut |found, _| {
        passed += u32::from(if series.all_day { found.local < cut.local } else { found.epoch < cut.epoch });
        true
    })?;
    Ok(passed)
}

fn is_cut(series: &Series, cut: Cut, at: Moment) -> bool {
    match at {
        Moment::Day(day) => series.all_day && day == cut.local,
        Moment::Time { epoch, .. } => epoch == cut.epoch,
    }
}

fn remaining_rule(
    series: &Series,
    line: &Line,
    cut: Cut,
    by_rule: bool,
    caps: Caps,
) -> Result<Option<String>, Error> {
    let Some(rule) = &series.rule else { return Ok(None) };
    if !by_rule && rule.ical.interval > 1 {
        return Err(Error::Unsplittable(crate::date::recurrence_id(cut.local, series.all_day)));
    }
    let at = IcalRecurDateTime::from_seconds(cut.local);
    let new_year = (at.month == 1 && at.day <= 7) || (at.month == 12 && at.day >= 25);
    if rule.ical.interval > 1 && !rule.ical.by_week_no.is_empty() && new_year {
        // A week of another year than its days': years counted from here would be the wrong ones.
        return Err(Error::Unsplittable(crate::date::recurrence_id(cut.local, series.all_day)));
    }
    let mut line = line.clone();
    if let Some(count) = rule.count {
        let passed = counted_before(series, cut, caps)?;
        // A start that the rule does not generate counts as well.
        let left = count.saturating_sub(passed) + u32::from(!by_rule);
        if left == u32::from(!by_rule) {
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

/// The lines of the series with one instance taken out: an EXDATE in the series' zone. Unchanged where it is out already. The id
/// need not name an instance (an exception may stand outside of the rule). Error: `NoSuchInstance` where it is not of the series'
/// kind.
pub fn excluded(series: &Series, recurrence_id: &str, caps: Caps) -> Result<Vec<String>, Error> {
    let mut lines: Vec<String> = series.lines.iter().map(Line::text).collect();
    let local = series.local_of(recurrence_id)?;
    let found = instance_at(series, recurrence_id, caps)?;
    let epoch = found.map(|f| f.epoch).or_else(|| series.epoch_of(local));
    let epoch = epoch.ok_or_else(|| Error::NoSuchInstance(recurrence_id.to_owned()))?;
    if found.is_none() && series.excludes(epoch, local) {
        return Ok(lines);
    }
    let name = series.zone.iana_name().unwrap_or(&series.zone_name);
    let line = if series.all_day {
        format!("EXDATE;VALUE=DATE:{}", basic_date(local))
    } else if name == "UTC" || name == "Etc/UTC" || series.epoch_of(local) != Some(epoch) {
        // The second of a doubled local time can only be said in UTC.
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

/// The line with the dates that pass; None when none does.
fn filtered(series: &Series, line: &Line, keep: &dyn Fn(Moment) -> bool) -> Result<Option<String>, Error> {
    let dates = series.date_reader().read(line)?;
    let moment = |at: Moment| match at {
        // An added day without a time has the start's time of day.
        Moment::Day(day) if !series.all_day && line.name == "RDATE" => {
            let local = day + series.start.rem_euclid(DAY);
            series.epoch_of(local).map_or(at, |epoch| Moment::Time { epoch, local })
        }
        _ => at,
    };
    let kept: Vec<&str> =
        dates.iter().filter(|(_, date)| keep(moment(date.at))).map(|(text, _)| *text).collect();
    if kept.len() == dates.len() {
        return Ok((!kept.is_empty()).then(|| line.text()));
    }
    Ok((!kept.is_empty()).then(|| line.with_values(&kept).text()))
}

/// A date value of the series' kind for an UNTIL or EXDATE: `20260301` or `20260301T080000Z`.
fn utc_or_date(series: &Series, found_epoch: i64, local: i64) -> String {
    if series.all_day { basic_date(local) } else { format!("{}Z", basic(found_epoch)) }
}
