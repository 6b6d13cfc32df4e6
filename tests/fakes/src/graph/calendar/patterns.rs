//! Recurrence: the patterns and ranges that Exchange takes, and the days on which a series occurs. The days come from the crate `rrule`.

use chrono::{Days, NaiveDate, NaiveTime, TimeZone};
use rrule::RRuleSet;
use serde_json::{Value, json};

use crate::graph::errors::GraphError;

/// Days of a series that are looked at, from its start.
const MAX_OCCURRENCES: u16 = 2_000;

const DAYS: [(&str, &str); 7] = [
    ("sunday", "SU"),
    ("monday", "MO"),
    ("tuesday", "TU"),
    ("wednesday", "WE"),
    ("thursday", "TH"),
    ("friday", "FR"),
    ("saturday", "SA"),
];

const INDEXES: [(&str, &str); 5] =
    [("first", "1"), ("second", "2"), ("third", "3"), ("fourth", "4"), ("last", "-1")];

/// The members that a pattern of each type needs.
const NEEDED: [(&str, &[&str]); 6] = [
    ("daily", &["interval"]),
    ("weekly", &["interval", "daysOfWeek"]),
    ("absoluteMonthly", &["interval", "dayOfMonth"]),
    ("relativeMonthly", &["interval", "daysOfWeek"]),
    ("absoluteYearly", &["interval", "dayOfMonth", "month"]),
    ("relativeYearly", &["interval", "daysOfWeek", "month"]),
];

fn refused(message: &str) -> GraphError {
    GraphError::new(400, "ErrorPropertyValidationFailure", message)
}

/// Checks a `patternedRecurrence`, and writes it as Exchange answers it: every member of pattern and range is there.
///
/// # Errors
/// The type is unknown, or a member is missing or out of its range.
pub fn normalized(recurrence: &Value, start: NaiveDate, zone: &str) -> Result<Value, GraphError> {
    let (pattern, range) = (&recurrence["pattern"], &recurrence["range"]);
    let kind = pattern["type"].as_str().unwrap_or_default();
    let needed = NEEDED.iter().find(|(name, _)| *name == kind);
    let (_, needed) = needed.ok_or_else(|| refused(&format!("'{kind}' is no RecurrencePatternType.")))?;
    for name in *needed {
        let is_given = match &pattern[*name] {
            Value::Number(number) => number.as_i64().is_some_and(|number| number > 0),
            Value::Array(days) => !days.is_empty(),
            _ => false,
        };
        if !is_given {
            return Err(refused(&format!("The pattern of type {kind} needs {name}.")));
        }
    }
    let number = |name: &str| pattern[name].as_i64().unwrap_or_default();
    let longest = if kind == "daily" { 999 } else { 99 };
    if number("interval") > longest {
        return Err(refused("The interval of the recurrence is too long."));
    }
    if number("dayOfMonth") > 31 || number("month") > 12 {
        return Err(refused("The day or the month of the recurrence does not exist."));
    }
    let days = texts(&pattern["daysOfWeek"])?;
    let first_day = one_of(&DAYS, pattern["firstDayOfWeek"].as_str().unwrap_or("sunday"))?;
    let index = one_of(&INDEXES, pattern["index"].as_str().unwrap_or("first"))?;
    let mut shown = json!({
        "type": kind,
        "interval": number("interval"),
        "month": number("month"),
        "dayOfMonth": number("dayOfMonth"),
        "firstDayOfWeek": first_day.0,
        "index": index.0,
    });
    if needed.contains(&"daysOfWeek") {
        shown["daysOfWeek"] = days.into();
    }
    Ok(json!({ "pattern": shown, "range": normalized_range(range, start, zone)? }))
}

fn normalized_range(range: &Value, start: NaiveDate, zone: &str) -> Result<Value, GraphError> {
    let kind = range["type"].as_str().unwrap_or_default();
    if parse_date(&range["startDate"]) != Some(start) {
        return Err(refused("The startDate of the recurrence range must be the date of the event's start."));
    }
    let mut end = "0001-01-01".to_owned();
    let mut count = 0;
    match kind {
        "noEnd" => {}
        "endDate" => {
            let last = parse_date(&range["endDate"]).filter(|last| *last >= start);
            end = last
                .ok_or_else(|| refused("The endDate of the recurrence range precedes its startDate."))?
                .to_string();
        }
        "numbered" => {
            count = range["numberOfOccurrences"].as_i64().unwrap_or_default();
            if !(1..=999).contains(&count) {
                return Err(refused("The numberOfOccurrences of the recurrence range is not from 1 to 999."));
            }
        }
        _ => return Err(refused(&format!("'{kind}' is no RecurrenceRangeType."))),
    }
    Ok(json!({
        "type": kind,
        "startDate": start.to_string(),
        "endDate": end,
        "recurrenceTimeZone": zone,
        "numberOfOccurrences": count,
    }))
}

fn parse_date(value: &Value) -> Option<NaiveDate> {
    NaiveDate::parse_from_str(value.as_str()?, "%Y-%m-%d").ok()
}

fn one_of(
    names: &[(&'static str, &'static str)],
    name: &str,
) -> Result<(&'static str, &'static str), GraphError> {
    let found = names.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).copied();
    found.ok_or_else(|| refused(&format!("'{name}' is not one of the values of a recurrence pattern.")))
}

fn texts(days: &Value) -> Result<Vec<&'static str>, GraphError> {
    let days = days.as_array().into_iter().flatten();
    days.map(|day| one_of(&DAYS, day.as_str().unwrap_or_default()).map(|(name, _)| name)).collect()
}

/// The rule of RFC 5545 for a normalized recurrence whose days are counted as those of UTC.
fn rule(recurrence: &Value) -> Option<String> {
    let (pattern, range) = (&recurrence["pattern"], &recurrence["range"]);
    let number = |name: &str| pattern[name].as_i64().unwrap_or_default();
    let code = |names: &[(&'static str, &'static str)], name: &str| {
        one_of(names, name).map(|(_, code)| code).unwrap_or_default()
    };
    let days = texts(&pattern["daysOfWeek"]).unwrap_or_default();
    let days = days.into_iter().map(|day| code(&DAYS, day)).collect::<Vec<_>>().join(",");
    let position = code(&INDEXES, pattern["index"].as_str().unwrap_or("first"));
    let day = month_day(number("dayOfMonth"));
    let month = number("month");
    let parts = match pattern["type"].as_str()? {
        "daily" => "FREQ=DAILY".to_owned(),
        "weekly" => {
            let first = code(&DAYS, pattern["firstDayOfWeek"].as_str().unwrap_or("sunday"));
            format!("FREQ=WEEKLY;BYDAY={days};WKST={first}")
        }
        "absoluteMonthly" => format!("FREQ=MONTHLY;{day}"),
        "relativeMonthly" => format!("FREQ=MONTHLY;BYDAY={days};BYSETPOS={position}"),
        "absoluteYearly" => format!("FREQ=YEARLY;BYMONTH={month};{day}"),
        "relativeYearly" => format!("FREQ=YEARLY;BYMONTH={month};BYDAY={days};BYSETPOS={position}"),
        _ => return None,
    };
    let end = match range["type"].as_str()? {
        "endDate" => format!(";UNTIL={}T000000Z", parse_date(&range["endDate"])?.format("%Y%m%d")),
        "numbered" => format!(";COUNT={}", range["numberOfOccurrences"]),
        _ => String::new(),
    };
    Some(format!("RRULE:{parts};INTERVAL={}{end}", number("interval")))
}

/// A day of the month; one that a month lacks is its last day.
fn month_day(day: i64) -> String {
    match day {
        29..=31 => {
            let days: Vec<String> = (28..=day).map(|day| day.to_string()).collect();
            format!("BYMONTHDAY={};BYSETPOS=-1", days.join(","))
        }
        _ => format!("BYMONTHDAY={day}"),
    }
}

/// The days on which a series with this normalized recurrence occurs, up to `until`, in order and at most 2,000.
pub fn days(recurrence: &Value, until: NaiveDate) -> Vec<NaiveDate> {
    let midnight = |day: NaiveDate| rrule::Tz::UTC.from_utc_datetime(&day.and_time(NaiveTime::MIN));
    let Some(start) = parse_date(&recurrence["range"]["startDate"]) else { return Vec::new() };
    let Some(rule) = rule(recurrence) else { return Vec::new() };
    // A rule that the crate refuses has no occurrences.
    let Ok(set) = RRuleSet::new(midnight(start)).set_from_string(&rule) else { return Vec::new() };
    let behind = until.checked_add_days(Days::new(1)).unwrap_or(until);
    let found = set.before(midnight(behind)).all(MAX_OCCURRENCES).dates.into_iter();
    found.map(|at| at.date_naive()).filter(|day| *day <= until).collect()
}

#[cfg(test)]
mod tests {
    use chrono::NaiveDate;
    use serde_json::{Value, json};

    use super::{days, normalized};

    fn day(text: &str) -> NaiveDate {
        text.parse().expect("a date")
    }

    fn occurrences(pattern: Value, range: Value, until: &str) -> Vec<String> {
        let start = day(range["startDate"].as_str().expect("a start"));
        let recurrence = json!({ "pattern": pattern, "range": range });
        let recurrence = normalized(&recurrence, start, "UTC").expect("a recurrence");
        days(&recurrence, day(until)).into_iter().map(|day| day.to_string()).collect()
    }

    fn no_end(start: &str) -> Value {
        json!({ "type": "noEnd", "startDate": start })
    }

    #[test]
    fn every_second_week_begins_on_a_sunday_unless_the_pattern_names_another_day() {
        let pattern = |first: Option<&str>| {
            let mut pattern = json!({ "type": "weekly", "interval": 2, "daysOfWeek": ["sunday", "tuesday"] });
            if let Some(first) = first {
                pattern["firstDayOfWeek"] = first.into();
            }
            pattern
        };
        let by_default = occurrences(pattern(None), no_end("2026-01-06"), "2026-01-20");
        assert_eq!(by_default, ["2026-01-06", "2026-01-18", "2026-01-20"]);
        let from_monday = occurrences(pattern(Some("monday")), no_end("2026-01-06"), "2026-01-20");
        assert_eq!(from_monday, ["2026-01-06", "2026-01-11", "2026-01-20"]);
    }

    #[test]
    fn day_that_a_month_lacks_is_its_last_one() {
        let pattern = json!({ "type": "absoluteMonthly", "interval": 1, "dayOfMonth": 31 });
        let found = occurrences(pattern, no_end("2026-01-31"), "2026-04-30");
        assert_eq!(found, ["2026-01-31", "2026-02-28", "2026-03-31", "2026-04-30"]);
    }

    #[test]
    fn several_days_of_a_relative_month_are_one_occurrence() {
        let pattern = json!({
            "type": "relativeMonthly", "interval": 1, "daysOfWeek": ["tuesday", "thursday"], "index": "second",
        });
        let range = json!({ "type": "numbered", "startDate": "2026-01-06", "numberOfOccurrences": 2 });
        // The second of all Tuesdays and Thursdays, not the second Tuesday.
        assert_eq!(occurrences(pattern, range, "2026-12-31"), ["2026-01-06", "2026-02-05"]);
    }

    #[test]
    fn end_date_belongs_to_the_series() {
        let pattern = json!({ "type": "daily", "interval": 1 });
        let range = json!({ "type": "endDate", "startDate": "2026-01-01", "endDate": "2026-01-03" });
        assert_eq!(occurrences(pattern, range, "2027-01-01").len(), 3);
    }

    #[test]
    fn last_weekday_of_a_month_in_each_year() {
        let pattern = json!({
            "type": "relativeYearly", "interval": 1, "month": 10, "daysOfWeek": ["sunday"], "index": "last",
        });
        let found = occurrences(pattern, no_end("2026-10-25"), "2027-12-31");
        assert_eq!(found, ["2026-10-25", "2027-10-31"]);
    }

    #[test]
    fn other_patterns_are_refused() {
        let range = no_end("2026-01-01");
        for pattern in [
            json!({ "type": "hourly", "interval": 1 }),
            json!({ "type": "weekly", "interval": 1 }),
            json!({ "type": "daily", "interval": 0 }),
            json!({ "type": "absoluteMonthly", "interval": 1, "dayOfMonth": 32 }),
            json!({ "type": "relativeMonthly", "interval": 1, "daysOfWeek": ["monday"], "index": "fifth" }),
        ] {
            let recurrence = json!({ "pattern": pattern, "range": range });
            assert!(normalized(&recurrence, day("2026-01-01"), "UTC").is_err(), "{recurrence}");
        }
        let recurrence = json!({ "pattern": { "type": "daily", "interval": 1 }, "range": range });
        assert!(normalized(&recurrence, day("2026-01-02"), "UTC").is_err());
    }
}
