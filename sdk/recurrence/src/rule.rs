//! A recurrence rule: its parts as written, for edits, and as ical-rs needs them, completed from the start.

use ical::recur::validate::IcalRecurRuleProblem;
use ical::recur::{IcalRecurDateTime, IcalRecurFreq, IcalRecurRule, IcalRecurWeekday, IcalRecurWeekdayNum};

use crate::Invalid;
use crate::date::{Basic, DAY};
use crate::line::Line;

/// The maximum length of a rule, in bytes.
const MAX_RULE_BYTES: usize = 4096;
/// The maximum number of entries of a BY part.
const MAX_LIST: usize = 400;
/// The maximum number of parts of a rule: the known ones and as many unknown ones.
const MAX_PARTS: usize = 2 * PARTS.len();
/// The maximum INTERVAL on input: about 100 years of hours.
const MAX_INTERVAL: u32 = 900_000;
const PARTS: [&str; 16] = [
    "FREQ",
    "UNTIL",
    "COUNT",
    "INTERVAL",
    "BYSECOND",
    "BYMINUTE",
    "BYHOUR",
    "BYDAY",
    "BYMONTHDAY",
    "BYYEARDAY",
    "BYWEEKNO",
    "BYMONTH",
    "BYSETPOS",
    "WKST",
    "RSCALE",
    "SKIP",
];

/// A rule as read from its line.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    /// The names and values of the parts, as written.
    parts: Vec<(String, String)>,
    /// The rule for ical-rs, without COUNT and UNTIL, which the expansion applies itself.
    pub(crate) ical: IcalRecurRule,
    pub(crate) count: Option<u32>,
    pub(crate) until: Option<Basic>,
}

/// A rule of a series, read and completed from its start.
#[derive(Clone, Debug)]
pub(crate) struct Repeat {
    pub(crate) rule: Rule,
    /// The rule with the values that the start implies.
    pub(crate) completed: IcalRecurRule,
    /// Whether this is an EXRULE (RFC 2445 §4.8.5.2), whose instances are excluded.
    pub(crate) excludes: bool,
}

impl Rule {
    /// Parses a rule leniently, because providers store what they get: unknown parts and parts that the frequency forbids have no effect.
    /// Fails for rules that have no meaning or exceed a limit.
    pub(crate) fn parse(line: &Line) -> Result<Rule, Invalid> {
        let invalid = |reason: String| Invalid::new(&line.text(), reason);
        if line.value.len() > MAX_RULE_BYTES {
            return Err(invalid(format!("is longer than {MAX_RULE_BYTES} bytes")));
        }
        let mut parts: Vec<(String, String)> = Vec::new();
        for part in line.value.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            let (name, value) =
                part.split_once('=').ok_or_else(|| invalid(format!("{part:?} is not NAME=value")))?;
            if value.split(',').count() > MAX_LIST {
                return Err(invalid(format!("{name} has more than {MAX_LIST} entries")));
            }
            if parts.len() == MAX_PARTS {
                return Err(invalid(format!("has more than {MAX_PARTS} parts")));
            }
            if parts.iter().any(|(seen, _)| seen.eq_ignore_ascii_case(name.trim())) {
                return Err(invalid(format!("{name} appears twice; give each part once")));
            }
            parts.push((name.trim().to_owned(), value.trim().to_owned()));
        }
        let of = |name: &str| {
            let found = parts.iter().find(|(seen, _)| seen.eq_ignore_ascii_case(name));
            found.map(|(_, value)| value.to_ascii_uppercase())
        };
        // Checked first, because months and days of another calendar make the other parts mean something else (RFC 7529).
        if of("RSCALE").is_some_and(|scale| scale != "GREGORIAN")
            || of("SKIP").is_some_and(|skip| skip != "OMIT")
        {
            return Err(invalid(
                "RSCALE other than GREGORIAN, and SKIP, are not supported; leave them out".to_owned(),
            ));
        }
        let mut ical =
            IcalRecurRule::parse(&line.value).map_err(|e| invalid(e.to_string().to_lowercase()))?;
        if ical.by_day.iter().any(|day| day.ordinal.is_some_and(|n| n == 0 || n.unsigned_abs() > 53)) {
            return Err(invalid("an ordinal of BYDAY is outside 1 to 53 and -53 to -1".to_owned()));
        }
        let until = match parts.iter().find(|(name, _)| name.eq_ignore_ascii_case("UNTIL")) {
            None => None,
            Some((_, value)) => {
                let at = Basic::parse(value);
                Some(at.ok_or_else(|| invalid(format!("UNTIL={value} is not a date or time")))?)
            }
        };
        let count = ical.count.take();
        ical.until = None;
        Ok(Rule { parts, ical, count, until })
    }

    /// Returns the first violation of RFC 5545 that `parse` tolerates.
    pub(crate) fn fault(&self, all_day: bool) -> Option<String> {
        let named = |name: &str| PARTS.iter().any(|part| part.eq_ignore_ascii_case(name));
        if let Some((name, _)) = self.parts.iter().find(|(name, _)| !named(name)) {
            return Some(format!("{name} is not a part of a recurrence rule; leave it out"));
        }
        if let Some((name, _)) = self.parts.iter().find(|(_, value)| value.split(',').any(str::is_empty)) {
            return Some(format!("{name} has an empty entry"));
        }
        if self.count.is_some() && self.until.is_some() {
            return Some("COUNT and UNTIL cannot be combined; keep one".to_owned());
        }
        if self.ical.interval > MAX_INTERVAL {
            return Some(format!("INTERVAL is above {MAX_INTERVAL}"));
        }
        if self.count == Some(0) {
            return Some("COUNT must be at least 1".to_owned());
        }
        match (self.until, all_day) {
            (Some(Basic::Local(_) | Basic::Date(_)), false) => {
                return Some(
                    "UNTIL must be in UTC for a timed series, such as UNTIL=20261231T225959Z".to_owned(),
                );
            }
            (Some(Basic::Local(_) | Basic::Utc(_)), true) => {
                return Some("UNTIL must be a date for an all-day series, such as UNTIL=20261231".to_owned());
            }
            _ => {}
        }
        self.fault_of_parts(all_day)
    }

    fn fault_of_parts(&self, all_day: bool) -> Option<String> {
        let rule = &self.ical;
        if rule.freq == IcalRecurFreq::Secondly || rule.by_second.len() > 1 {
            return Some(
                "repeats more often than once a minute; use FREQ=MINUTELY and one BYSECOND at most"
                    .to_owned(),
            );
        }
        let timed = !rule.by_hour.is_empty() || !rule.by_minute.is_empty() || !rule.by_second.is_empty();
        if all_day && (timed || is_sub_daily(rule.freq)) {
            return Some("an all-day series has no time of day; use FREQ=DAILY or longer, without BYHOUR, BYMINUTE, BYSECOND".to_owned());
        }
        // ical-rs reports BYSETPOS without another BY part; it then selects from the one day that DTSTART implies.
        let problem = rule.problems().into_iter().find(|p| *p != IcalRecurRuleProblem::SkipWithoutScale)?;
        Some(problem.to_string())
    }

    /// The rule with the values that the start implies (RFC 5545 §3.3.10), without parts that the frequency forbids, and with sorted lists,
    /// so that a walk yields the same candidates from whichever period it begins.
    pub(crate) fn completed(&self, start: i64) -> IcalRecurRule {
        let mut rule = self.ical.clone();
        let at = IcalRecurDateTime::from_seconds(start);
        let weekday = weekday_of(start.div_euclid(DAY));
        drop_forbidden(&mut rule);
        let no_day = rule.by_day.is_empty() && rule.by_month_day.is_empty();
        match rule.freq {
            IcalRecurFreq::Yearly if no_day && rule.by_year_day.is_empty() && !rule.by_week_no.is_empty() => {
                rule.by_day = vec![IcalRecurWeekdayNum { ordinal: None, weekday }];
            }
            IcalRecurFreq::Yearly if no_day && rule.by_year_day.is_empty() => {
                rule.by_month_day = vec![at.day as i8];
                if rule.by_month.is_empty() {
                    rule.by_month = vec![at.month];
                }
            }
            IcalRecurFreq::Monthly if no_day => rule.by_month_day = vec![at.day as i8],
            IcalRecurFreq::Weekly if no_day => {
                rule.by_day = vec![IcalRecurWeekdayNum { ordinal: None, weekday }]
            }
            _ => {}
        }
        let fill = |list: &mut Vec<u8>, value: u8, wanted: bool| {
            if list.is_empty() && wanted {
                list.push(value);
            }
            list.sort_unstable();
            list.dedup();
        };
        fill(&mut rule.by_hour, at.hour, !is_sub_daily(rule.freq));
        fill(
            &mut rule.by_minute,
            at.minute,
            !matches!(rule.freq, IcalRecurFreq::Minutely | IcalRecurFreq::Secondly),
        );
        fill(&mut rule.by_second, at.second, rule.freq != IcalRecurFreq::Secondly);
        rule.by_set_pos.sort_unstable();
        rule.by_set_pos.dedup();
        rule
    }

    /// The line with COUNT and UNTIL replaced by this bound (`UNTIL=…`, `COUNT=…`), and the rest as written.
    pub(crate) fn with_bound(&self, line: &Line, bound: Option<(&str, String)>) -> Line {
        let mut parts: Vec<String> = Vec::new();
        let mut bound = bound.map(|(name, value)| format!("{name}={value}"));
        for (name, value) in &self.parts {
            if !name.eq_ignore_ascii_case("COUNT") && !name.eq_ignore_ascii_case("UNTIL") {
                parts.push(format!("{name}={value}"));
            } else if let Some(bound) = bound.take() {
                parts.push(bound);
            }
        }
        parts.extend(bound);
        Line { value: parts.join(";"), ..line.clone() }
    }

    /// Whether two rules can be the same rule with different starts: they differ only in their ends, weekdays, days and times of day.
    pub(crate) fn is_like(&self, other: &Rule) -> bool {
        let (one, two) = (&self.ical, &other.ical);
        (one.freq, one.interval, one.week_start) == (two.freq, two.interval, two.week_start)
            && (&one.by_set_pos, &one.by_week_no, &one.by_year_day)
                == (&two.by_set_pos, &two.by_week_no, &two.by_year_day)
            && (one.by_month == two.by_month || one.by_month.len().max(two.by_month.len()) < 2)
    }

    /// The line for a start that moves from `from` to `to` (local seconds): a month, day, hour, minute or second that equals the start's is
    /// replaced, and weekdays are shifted by as many days. The rest is as written.
    pub(crate) fn shift(&self, line: &Line, from: i64, to: i64) -> Line {
        let (old, new) = (IcalRecurDateTime::from_seconds(from), IcalRecurDateTime::from_seconds(to));
        let days = to.div_euclid(DAY) - from.div_euclid(DAY);
        let moved = |(name, value): &(String, String)| {
            let own = |old: u8, new: u8| (value.parse::<u8>() == Ok(old)).then(|| new.to_string());
            let moved = match name.to_ascii_uppercase().as_str() {
                "BYMONTH" => own(old.month, new.month),
                "BYMONTHDAY" => own(old.day, new.day),
                "BYHOUR" => own(old.hour, new.hour),
                "BYMINUTE" => own(old.minute, new.minute),
                "BYSECOND" => own(old.second, new.second),
                "BYDAY" => later_weekdays(value, days),
                _ => None,
            };
            format!("{name}={}", moved.as_ref().unwrap_or(value))
        };
        let parts: Vec<String> = self.parts.iter().map(moved).collect();
        Line { value: parts.join(";"), ..line.clone() }
    }

    /// The line with the values that the start implies written out.
    pub(crate) fn pinned(&self, line: &Line, start: i64) -> Line {
        let full = self.completed(start);
        let has = |name: &str| self.parts.iter().any(|(seen, _)| seen.eq_ignore_ascii_case(name));
        let numbers = |list: &[u8]| list.iter().map(u8::to_string).collect::<Vec<_>>().join(",");
        let days = |list: &[i8]| list.iter().map(i8::to_string).collect::<Vec<_>>().join(",");
        let weekdays = full.by_day.iter().map(|day| weekday_name(day.weekday)).collect::<Vec<_>>().join(",");
        let mut value = line.value.trim_end_matches(';').to_owned();
        for (name, list) in [
            ("BYMONTH", numbers(&full.by_month)),
            ("BYMONTHDAY", days(&full.by_month_day)),
            ("BYDAY", weekdays),
            ("BYHOUR", numbers(&full.by_hour)),
            ("BYMINUTE", numbers(&full.by_minute)),
            ("BYSECOND", numbers(&full.by_second)),
        ] {
            if !has(name) && !list.is_empty() {
                value.push_str(&format!(";{name}={list}"));
            }
        }
        Line { value, ..line.clone() }
    }
}

/// Whether the frequency is HOURLY, MINUTELY or SECONDLY.
pub(crate) fn is_sub_daily(freq: IcalRecurFreq) -> bool {
    matches!(freq, IcalRecurFreq::Hourly | IcalRecurFreq::Minutely | IcalRecurFreq::Secondly)
}

/// The weekday of a day number (1970-01-01 is 0).
pub(crate) fn weekday_of(day: i64) -> IcalRecurWeekday {
    use IcalRecurWeekday::{Friday, Monday, Saturday, Sunday, Thursday, Tuesday, Wednesday};
    match (day + 4).rem_euclid(7) {
        0 => Sunday,
        1 => Monday,
        2 => Tuesday,
        3 => Wednesday,
        4 => Thursday,
        5 => Friday,
        _ => Saturday,
    }
}

/// The list of weekdays, each shifted by this many days; none if one has an ordinal.
fn later_weekdays(list: &str, days: i64) -> Option<String> {
    let later = |day: &str| {
        let day: IcalRecurWeekday = day.trim().parse().ok()?;
        // Day number 3 is a Sunday.
        Some(weekday_name(weekday_of(3 + day as i64 + days)))
    };
    let later: Option<Vec<&str>> = list.split(',').map(later).collect();
    later.map(|days| days.join(","))
}

fn weekday_name(day: IcalRecurWeekday) -> &'static str {
    match day {
        IcalRecurWeekday::Sunday => "SU",
        IcalRecurWeekday::Monday => "MO",
        IcalRecurWeekday::Tuesday => "TU",
        IcalRecurWeekday::Wednesday => "WE",
        IcalRecurWeekday::Thursday => "TH",
        IcalRecurWeekday::Friday => "FR",
        IcalRecurWeekday::Saturday => "SA",
    }
}

fn drop_forbidden(rule: &mut IcalRecurRule) {
    let freq = rule.freq;
    if freq != IcalRecurFreq::Yearly {
        rule.by_week_no.clear();
    }
    if matches!(freq, IcalRecurFreq::Daily | IcalRecurFreq::Weekly | IcalRecurFreq::Monthly) {
        rule.by_year_day.clear();
    }
    if freq == IcalRecurFreq::Weekly {
        rule.by_month_day.clear();
    }
    if !matches!(freq, IcalRecurFreq::Monthly | IcalRecurFreq::Yearly) {
        rule.by_day.iter_mut().for_each(|day| day.ordinal = None);
    }
}
