//! From Graph's pattern and range to a recurrence rule (RFC 5545, section 3.3.10).

use connector_sdk::{Failure, Outcome};
use jiff::civil::Weekday;
use jiff::tz::TimeZone;

use crate::calendar::patterned::native::{PatternedRecurrence, RecurrencePattern, RecurrenceRange};
use crate::calendar::patterned::parts::{DayName, day_code, index_number, is_day_of_each, weekday_named};
use crate::calendar::patterned::start::{SeriesStart, instant_of};
use crate::calendar::zones::zone_from;

/// Returns the lines of a series in the model's form: one `RRULE`. Fails with `unavailable` for a pattern that Graph does not describe.
pub fn rule_from(recurrence: &PatternedRecurrence, start: &SeriesStart) -> Outcome<Vec<String>> {
    let pattern = &recurrence.pattern;
    let mut rule = match pattern.kind.as_str() {
        "daily" => frequency("DAILY", pattern),
        "weekly" => weekly(pattern, start)?,
        "absoluteMonthly" => {
            let day = day_of_month(pattern, start);
            format!("{};{}", frequency("MONTHLY", pattern), month_days(day, None))
        }
        "relativeMonthly" => format!("{};{}", frequency("MONTHLY", pattern), relative_days(pattern, start)?),
        "absoluteYearly" => {
            let (month, day) = (month_of(pattern, start), day_of_month(pattern, start));
            format!("{};BYMONTH={month};{}", frequency("YEARLY", pattern), month_days(day, Some(month)))
        }
        "relativeYearly" => {
            let month = month_of(pattern, start);
            format!("{};BYMONTH={month};{}", frequency("YEARLY", pattern), relative_days(pattern, start)?)
        }
        _ => return Err(unreadable()),
    };
    rule.push_str(&end_of(&recurrence.range, start)?);
    Ok(vec![format!("RRULE:{rule}")])
}

fn unreadable() -> Failure {
    Failure::unavailable("the provider's answer has a recurrence that cannot be read")
}

fn frequency(name: &str, pattern: &RecurrencePattern) -> String {
    match pattern.interval {
        0 | 1 => format!("FREQ={name}"),
        interval => format!("FREQ={name};INTERVAL={interval}"),
    }
}

fn month_of(pattern: &RecurrencePattern, start: &SeriesStart) -> i8 {
    pattern.month.filter(|month| (1..=12).contains(month)).unwrap_or(start.date().month())
}

fn day_of_month(pattern: &RecurrencePattern, start: &SeriesStart) -> i8 {
    pattern.day_of_month.filter(|day| (1..=31).contains(day)).unwrap_or(start.date().day())
}

/// The days of a pattern, from Monday to Sunday; the start's where it has none.
fn days_of(pattern: &RecurrencePattern, start: &SeriesStart) -> Outcome<Vec<Weekday>> {
    let named: Option<Vec<Weekday>> = pattern.days_of_week.iter().map(|name| weekday_named(name)).collect();
    let mut days = named.ok_or_else(unreadable)?;
    days.sort_by_key(|day| day.to_monday_zero_offset());
    days.dedup();
    Ok(if days.is_empty() { vec![start.date().weekday()] } else { days })
}

fn codes(days: &[Weekday]) -> String {
    days.iter().map(|day| day_code(*day)).collect::<Vec<_>>().join(",")
}

fn weekly(pattern: &RecurrencePattern, start: &SeriesStart) -> Outcome<String> {
    let mut rule = format!("{};BYDAY={}", frequency("WEEKLY", pattern), codes(&days_of(pattern, start)?));
    // Where each week counts it does not matter on which day weeks begin. The rule's default is Monday, the pattern's Sunday.
    let first = pattern.first_day_of_week.as_deref().and_then(weekday_named).unwrap_or(Weekday::Sunday);
    if pattern.interval > 1 && first != Weekday::Monday {
        rule.push_str(&format!(";WKST={}", day_code(first)));
    }
    Ok(rule)
}

/// A day of the month. Where a month is too short Outlook takes its last day, and a rule would take none.
fn month_days(day: i8, month: Option<i8>) -> String {
    if is_day_of_each(day, month) {
        return format!("BYMONTHDAY={day}");
    }
    let days: Vec<String> = (28..=day).map(|day| day.to_string()).collect();
    format!("BYMONTHDAY={};BYSETPOS=-1", days.join(","))
}

/// The day of a relative pattern: of several days of the week there is one instance, the one at the index among them all.
fn relative_days(pattern: &RecurrencePattern, start: &SeriesStart) -> Outcome<String> {
    let days = days_of(pattern, start)?;
    let index = index_number(pattern.index.as_deref().unwrap_or("first")).ok_or_else(unreadable)?;
    Ok(match days.as_slice() {
        [day] => format!("BYDAY={index}{}", day_code(*day)),
        days if days.len() == DayName::ALL.len() => format!("BYMONTHDAY={index}"),
        days => format!("BYDAY={};BYSETPOS={index}", codes(days)),
    })
}

/// The end of a rule, with its semicolon: the last start of the last day.
fn end_of(range: &RecurrenceRange, start: &SeriesStart) -> Outcome<String> {
    match range.kind.as_str() {
        "numbered" => match range.number_of_occurrences {
            Some(count) if count > 0 => Ok(format!(";COUNT={count}")),
            _ => Err(unreadable()),
        },
        "endDate" => {
            let last = range.end_date.filter(|date| date.year() > 1).ok_or_else(unreadable)?;
            if start.is_all_day {
                return Ok(format!(";UNTIL={}", last.strftime("%Y%m%d")));
            }
            let own = start.time_zone();
            let named = range.recurrence_time_zone.as_deref().filter(|name| !name.trim().is_empty());
            let zone = named.and_then(|name| recurrence::zone(&zone_from(name, &start.zone)).ok());
            let zone = zone.unwrap_or_else(|| own.clone());
            // The day is one of the range's zone, in which the series may begin at another time of day.
            let first = instant_of(start.date(), start.local.time(), &own).ok_or_else(unreadable)?;
            let time = first.to_zoned(zone.clone()).time();
            let until = instant_of(last, time, &zone).ok_or_else(unreadable)?;
            Ok(format!(";UNTIL={}", until.to_zoned(TimeZone::UTC).strftime("%Y%m%dT%H%M%SZ")))
        }
        _ => Ok(String::new()),
    }
}
