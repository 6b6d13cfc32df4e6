//! Names of days and positions, in Graph's words and in those of RFC 5545; and the parts of a rule.

use jiff::civil::Weekday;

use crate::calendar::patterned::refusal::RuleRefusal;

/// A day of the week under its three names.
pub struct DayName {
    day: Weekday,
    graph: &'static str,
    code: &'static str,
}

impl DayName {
    /// From Monday to Sunday.
    pub const ALL: [DayName; 7] = [
        DayName { day: Weekday::Monday, graph: "monday", code: "MO" },
        DayName { day: Weekday::Tuesday, graph: "tuesday", code: "TU" },
        DayName { day: Weekday::Wednesday, graph: "wednesday", code: "WE" },
        DayName { day: Weekday::Thursday, graph: "thursday", code: "TH" },
        DayName { day: Weekday::Friday, graph: "friday", code: "FR" },
        DayName { day: Weekday::Saturday, graph: "saturday", code: "SA" },
        DayName { day: Weekday::Sunday, graph: "sunday", code: "SU" },
    ];

    /// All days, from Monday to Sunday.
    pub fn week() -> Vec<Weekday> {
        DayName::ALL.into_iter().map(|one| one.day).collect()
    }

    fn of(day: Weekday) -> DayName {
        let [mo, tu, we, th, fr, sa, su] = DayName::ALL;
        match day {
            Weekday::Monday => mo,
            Weekday::Tuesday => tu,
            Weekday::Wednesday => we,
            Weekday::Thursday => th,
            Weekday::Friday => fr,
            Weekday::Saturday => sa,
            Weekday::Sunday => su,
        }
    }
}

/// The positions that Graph has, with their numbers in a rule.
const INDEXES: [(&str, i8); 5] = [("first", 1), ("second", 2), ("third", 3), ("fourth", 4), ("last", -1)];

/// Returns the code of a day in a rule: `MO`.
pub fn day_code(day: Weekday) -> &'static str {
    DayName::of(day).code
}

/// Returns Graph's name of a day: `monday`.
pub fn day_name(day: Weekday) -> &'static str {
    DayName::of(day).graph
}

/// The day with this name of Graph's.
pub fn weekday_named(name: &str) -> Option<Weekday> {
    DayName::ALL.into_iter().find(|one| one.graph.eq_ignore_ascii_case(name)).map(|one| one.day)
}

/// The number of a position; none for a name that is no position.
pub fn index_number(name: &str) -> Option<i8> {
    INDEXES.into_iter().find(|(index, _)| index.eq_ignore_ascii_case(name)).map(|(_, number)| number)
}

/// Returns the name of a position; none for one that Graph does not have.
pub fn index_name(number: i8) -> Option<&'static str> {
    INDEXES.into_iter().find(|(_, one)| *one == number).map(|(index, _)| index)
}

/// Whether every month has the day, or this month in each year.
pub fn is_day_of_each(day: i8, month: Option<i8>) -> bool {
    let days = match month {
        None | Some(2) => 28,
        Some(4 | 6 | 9 | 11) => 30,
        Some(_) => 31,
    };
    day <= days
}

/// A day in `BYDAY`, with its position if it has one.
pub struct ByDay {
    pub day: Weekday,
    pub position: Option<i8>,
}

/// The parts of a rule that Graph's patterns can have.
#[derive(Default)]
pub struct RuleParts {
    pub frequency: String,
    /// At least 1.
    pub interval: u32,
    pub count: Option<u32>,
    /// As written.
    pub until: Option<String>,
    pub by_day: Vec<ByDay>,
    pub by_month_day: Vec<i8>,
    pub by_month: Vec<i8>,
    pub by_position: Vec<i16>,
    pub week_start: Option<Weekday>,
}

impl RuleParts {
    /// Reads the only rule among the lines. `EXDATE` lines are left out: their instances are deleted one by one.
    pub fn read(lines: &[String]) -> Result<RuleParts, RuleRefusal> {
        let mut rules = Vec::new();
        for line in lines {
            let (head, value) = line.split_once(':').unwrap_or((line.as_str(), ""));
            let name = head.split(';').next().unwrap_or_default().trim().to_ascii_uppercase();
            match name.as_str() {
                "EXDATE" => {}
                "RRULE" => rules.push(value),
                _ => return Err(RuleRefusal::new(format!("{name} is not supported"))),
            }
        }
        let [rule] = rules.as_slice() else {
            return Err(RuleRefusal::new("a series has exactly one RRULE"));
        };
        let mut parts = RuleParts { interval: 1, ..RuleParts::default() };
        for part in rule.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            parts.take(&name.trim().to_ascii_uppercase(), &value.trim().to_ascii_uppercase())?;
        }
        Ok(parts)
    }

    fn take(&mut self, name: &str, value: &str) -> Result<(), RuleRefusal> {
        let wrong = || RuleRefusal::new(format!("{name}={value} cannot be read"));
        match name {
            "FREQ" => value.clone_into(&mut self.frequency),
            "INTERVAL" => self.interval = value.parse::<u32>().ok().filter(|n| *n > 0).ok_or_else(wrong)?,
            "COUNT" => self.count = Some(value.parse::<u32>().ok().filter(|n| *n > 0).ok_or_else(wrong)?),
            "UNTIL" => self.until = Some(value.to_owned()),
            "BYDAY" => self.by_day = list(value, read_day).ok_or_else(wrong)?,
            "BYMONTHDAY" => self.by_month_day = list(value, |day| day.parse().ok()).ok_or_else(wrong)?,
            "BYMONTH" => self.by_month = list(value, |month| month.parse().ok()).ok_or_else(wrong)?,
            "BYSETPOS" => self.by_position = list(value, |at| at.parse().ok()).ok_or_else(wrong)?,
            "WKST" => self.week_start = Some(weekday_coded(value).ok_or_else(wrong)?),
            "RSCALE" if value == "GREGORIAN" => {}
            _ => return Err(RuleRefusal::new(format!("{name} is not supported"))),
        }
        Ok(())
    }
}

fn list<T>(value: &str, read: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    value.split(',').map(|entry| read(entry.trim())).collect()
}

fn weekday_coded(code: &str) -> Option<Weekday> {
    DayName::ALL.into_iter().find(|one| one.code == code).map(|one| one.day)
}

/// A day such as `MO`, `2TU` or `-1FR`.
fn read_day(text: &str) -> Option<ByDay> {
    let (position, code) = text.split_at_checked(text.len().checked_sub(2)?)?;
    let position = match position {
        "" => None,
        number => Some(number.parse().ok()?),
    };
    Some(ByDay { day: weekday_coded(code)?, position })
}
