//! Converts a recurrence rule (RFC 5545, section 3.3.10) to Graph's pattern and range. A rule that no pattern expresses exactly is refused
//! with the reason.

use jiff::ToSpan as _;
use jiff::civil::{Date, DateTime, Weekday};
use jiff::tz::TimeZone;

use crate::calendar::patterned::native::{PatternedRecurrence, RecurrencePattern, RecurrenceRange};
use crate::calendar::patterned::parts::{DayName, RuleParts, day_name, index_name, is_day_of_each};
use crate::calendar::patterned::refusal::RuleRefusal;
use crate::calendar::patterned::start::{SeriesStart, instant_of};
use crate::calendar::zones::zone_to;

/// The maximum intervals of days, and of weeks, months and years, in Outlook.
const MAX_DAYS_BETWEEN: u32 = 999;
const MAX_PERIODS_BETWEEN: u32 = 99;

/// Returns the pattern and range of a series with these lines and this start. `EXDATE` lines are ignored, because in Graph their instances
/// are deleted one by one.
pub fn rule_to(lines: &[String], start: &SeriesStart) -> Result<PatternedRecurrence, RuleRefusal> {
    let parts = RuleParts::read(lines)?;
    let pattern = match parts.frequency.as_str() {
        "DAILY" => daily(&parts)?,
        "WEEKLY" => weekly(&parts, start)?,
        "MONTHLY" => monthly(&parts, start)?,
        "YEARLY" => yearly(&parts, start)?,
        "" => return Err(RuleRefusal::new("the rule has no FREQ")),
        frequency => return Err(RuleRefusal::new(format!("FREQ={frequency} is not supported"))),
    };
    let largest = if pattern.kind == "daily" { MAX_DAYS_BETWEEN } else { MAX_PERIODS_BETWEEN };
    if pattern.interval > largest {
        return Err(RuleRefusal::new(format!("the INTERVAL is at most {largest}")));
    }
    ensure_start(&pattern, start)?;
    Ok(PatternedRecurrence { range: range(&parts, start)?, pattern })
}

/// Fails if the rule has one of these parts, which Graph does not support with the frequency.
fn ensure_without(parts: &RuleParts, names: &[&str]) -> Result<(), RuleRefusal> {
    for name in names {
        let is_there = match *name {
            "BYDAY" => !parts.by_day.is_empty(),
            "BYMONTHDAY" => !parts.by_month_day.is_empty(),
            "BYMONTH" => !parts.by_month.is_empty(),
            _ => !parts.by_position.is_empty(),
        };
        if is_there {
            return Err(RuleRefusal::new(format!(
                "{name} is not supported here with FREQ={}",
                parts.frequency
            )));
        }
    }
    Ok(())
}

/// The days of `BYDAY`. Fails if one has a position.
fn plain_days(parts: &RuleParts) -> Result<Vec<Weekday>, RuleRefusal> {
    if parts.by_day.iter().any(|one| one.position.is_some()) {
        return Err(RuleRefusal::new(format!(
            "a day with a position is not supported here with FREQ={}",
            parts.frequency
        )));
    }
    let mut days: Vec<Weekday> = parts.by_day.iter().map(|one| one.day).collect();
    days.sort_by_key(|day| day.to_monday_zero_offset());
    days.dedup();
    Ok(days)
}

fn names(days: &[Weekday]) -> Vec<String> {
    days.iter().map(|day| day_name(*day).to_owned()).collect()
}

fn daily(parts: &RuleParts) -> Result<RecurrencePattern, RuleRefusal> {
    ensure_without(parts, &["BYMONTHDAY", "BYMONTH", "BYSETPOS"])?;
    let days = plain_days(parts)?;
    if days.is_empty() {
        let interval = parts.interval;
        return Ok(RecurrencePattern { kind: "daily".to_owned(), interval, ..RecurrencePattern::default() });
    }
    if parts.interval > 1 {
        return Err(RuleRefusal::new("BYDAY is not supported with FREQ=DAILY and an INTERVAL"));
    }
    Ok(RecurrencePattern {
        kind: "weekly".to_owned(),
        interval: 1,
        days_of_week: names(&days),
        first_day_of_week: Some(day_name(Weekday::Monday).to_owned()),
        ..RecurrencePattern::default()
    })
}

fn weekly(parts: &RuleParts, start: &SeriesStart) -> Result<RecurrencePattern, RuleRefusal> {
    ensure_without(parts, &["BYMONTHDAY", "BYMONTH", "BYSETPOS"])?;
    let days = plain_days(parts)?;
    let days = if days.is_empty() { vec![start.date().weekday()] } else { days };
    Ok(RecurrencePattern {
        kind: "weekly".to_owned(),
        interval: parts.interval,
        days_of_week: names(&days),
        // Graph's default is Sunday, that of a rule is Monday.
        first_day_of_week: Some(day_name(parts.week_start.unwrap_or(Weekday::Monday)).to_owned()),
        ..RecurrencePattern::default()
    })
}

fn monthly(parts: &RuleParts, start: &SeriesStart) -> Result<RecurrencePattern, RuleRefusal> {
    ensure_without(parts, &["BYMONTH"])?;
    let base = RecurrencePattern { interval: parts.interval, ..RecurrencePattern::default() };
    Ok(match within_month(parts, None, start)? {
        MonthDay::Number(day) => {
            RecurrencePattern { kind: "absoluteMonthly".to_owned(), day_of_month: Some(day), ..base }
        }
        MonthDay::Relative { days, index } => RecurrencePattern {
            kind: "relativeMonthly".to_owned(),
            days_of_week: names(&days),
            index: Some(index.to_owned()),
            ..base
        },
    })
}

fn yearly(parts: &RuleParts, start: &SeriesStart) -> Result<RecurrencePattern, RuleRefusal> {
    let month = match parts.by_month.as_slice() {
        [month] if (1..=12).contains(month) => *month,
        // Without a month, days are counted in the whole year or in each month.
        [] if parts.by_day.is_empty() && parts.by_month_day.is_empty() => start.date().month(),
        [] => return Err(RuleRefusal::new("FREQ=YEARLY with a day needs a BYMONTH")),
        _ => return Err(RuleRefusal::new("FREQ=YEARLY has one BYMONTH, 1 to 12")),
    };
    let base =
        RecurrencePattern { interval: parts.interval, month: Some(month), ..RecurrencePattern::default() };
    Ok(match within_month(parts, Some(month), start)? {
        MonthDay::Number(day) => {
            RecurrencePattern { kind: "absoluteYearly".to_owned(), day_of_month: Some(day), ..base }
        }
        MonthDay::Relative { days, index } => RecurrencePattern {
            kind: "relativeYearly".to_owned(),
            days_of_week: names(&days),
            index: Some(index.to_owned()),
            ..base
        },
    })
}

/// The day of a month on which a series has its instance.
enum MonthDay {
    Number(i8),
    Relative { days: Vec<Weekday>, index: &'static str },
}

/// The day of the month of a rule. `month` is that of a yearly rule.
fn within_month(parts: &RuleParts, month: Option<i8>, start: &SeriesStart) -> Result<MonthDay, RuleRefusal> {
    if parts.by_day.is_empty() {
        if let Some(day) = clamped_day(parts) {
            return Ok(MonthDay::Number(day));
        }
        ensure_without(parts, &["BYSETPOS"])?;
        let day = match parts.by_month_day.as_slice() {
            [] => start.date().day(),
            // The last day of the month.
            [-1] => return Ok(MonthDay::Relative { days: DayName::week(), index: "last" }),
            [day] if (1..=31).contains(day) => *day,
            _ => return Err(RuleRefusal::new("BYMONTHDAY is one number, 1 to 31 or -1")),
        };
        if !is_day_of_each(day, month) {
            // In a month that is too short Outlook uses the last day, while a rule skips the month.
            return Err(RuleRefusal::new(format!("not every month has a day {day}")));
        }
        return Ok(MonthDay::Number(day));
    }
    ensure_without(parts, &["BYMONTHDAY"])?;
    let (days, position) = match (parts.by_day.as_slice(), parts.by_position.as_slice()) {
        ([one], []) if one.position.is_some() => (vec![one.day], i16::from(one.position.unwrap_or_default())),
        (_, [position]) => (plain_days(parts)?, *position),
        (_, []) => {
            return Err(RuleRefusal::new("BYDAY is one day with a position, or several with BYSETPOS"));
        }
        _ => return Err(RuleRefusal::new("BYSETPOS is one number")),
    };
    let index = i8::try_from(position).ok().and_then(index_name);
    let index =
        index.ok_or_else(|| RuleRefusal::new("the position of a day is 1 to 4, or -1 for the last one"))?;
    Ok(MonthDay::Relative { days, index })
}

/// The day of a rule such as `BYMONTHDAY=28,29,30,31;BYSETPOS=-1`, which expresses Outlook's day 31: in shorter months the last day.
fn clamped_day(parts: &RuleParts) -> Option<i8> {
    let days = &parts.by_month_day;
    let last = days.last().copied().filter(|last| (29..=31).contains(last))?;
    (parts.by_position == [-1_i16] && days.iter().copied().eq(28..=last)).then_some(last)
}

/// Fails if the start is not an instance of the pattern, because Graph would move it.
fn ensure_start(pattern: &RecurrencePattern, start: &SeriesStart) -> Result<(), RuleRefusal> {
    let date = start.date();
    let has_day = |day: Weekday| pattern.days_of_week.iter().any(|name| name == day_name(day));
    let is_in = match pattern.kind.as_str() {
        "daily" => true,
        "weekly" => has_day(date.weekday()),
        "absoluteMonthly" | "absoluteYearly" => {
            pattern.day_of_month.is_some_and(|day| day.min(date.days_in_month()) == date.day())
        }
        _ => {
            let before = (1..=date.day()).filter(|day| has_day(weekday_of(date, *day))).count();
            let after = (date.day() + 1..=date.days_in_month()).any(|day| has_day(weekday_of(date, day)));
            let is_at_index = match pattern.index.as_deref() {
                Some("first") => before == 1,
                Some("second") => before == 2,
                Some("third") => before == 3,
                Some("fourth") => before == 4,
                _ => !after,
            };
            has_day(date.weekday()) && is_at_index
        }
    };
    let is_in_month = pattern.month.is_none_or(|month| month == date.month());
    if is_in && is_in_month {
        return Ok(());
    }
    Err(RuleRefusal::new("the start is no instance of the rule"))
}

/// The weekday of a day in the same month.
fn weekday_of(date: Date, day: i8) -> Weekday {
    date.first_of_month().saturating_add(i64::from(day - 1).days()).weekday()
}

fn range(parts: &RuleParts, start: &SeriesStart) -> Result<RecurrenceRange, RuleRefusal> {
    let base = RecurrenceRange {
        start_date: Some(start.date()),
        recurrence_time_zone: Some(zone_to(&start.zone)),
        ..RecurrenceRange::default()
    };
    match (parts.count, &parts.until) {
        (Some(_), Some(_)) => Err(RuleRefusal::new("a rule has a COUNT or an UNTIL, not both")),
        (Some(count), None) => {
            Ok(RecurrenceRange { kind: "numbered".to_owned(), number_of_occurrences: Some(count), ..base })
        }
        (None, None) => Ok(RecurrenceRange { kind: "noEnd".to_owned(), ..base }),
        (None, Some(until)) => {
            let wrong = || RuleRefusal::new(format!("UNTIL={until} is no date or time"));
            let last = last_day(until, start).ok_or_else(wrong)?;
            if last < start.date() {
                return Err(RuleRefusal::new("UNTIL is before the start"));
            }
            Ok(RecurrenceRange { kind: "endDate".to_owned(), end_date: Some(last), ..base })
        }
    }
}

/// The last day on which an instance may begin before UNTIL, in the zone of the start.
fn last_day(until: &str, start: &SeriesStart) -> Option<Date> {
    let Some((date, time)) = until.split_once('T') else {
        return Date::strptime("%Y%m%d", until).ok();
    };
    let date = Date::strptime("%Y%m%d", date).ok()?;
    if start.is_all_day {
        return Some(date);
    }
    let is_utc = time.ends_with('Z');
    let written = DateTime::strptime("%Y%m%dT%H%M%S", until.trim_end_matches('Z')).ok()?;
    let zone = start.time_zone();
    let clock = if is_utc { TimeZone::UTC } else { zone.clone() };
    let until = clock.to_ambiguous_timestamp(written).compatible().ok()?;
    let day = until.to_zoned(zone.clone()).date();
    // The instance of that day may begin after UNTIL.
    match instant_of(day, start.local.time(), &zone)? <= until {
        true => Some(day),
        false => day.yesterday().ok(),
    }
}
