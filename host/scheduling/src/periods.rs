//! Local days of a question, each with the rules that depend on its date: whether the booking window includes it, and which limit is
//! reached.

use std::collections::BTreeMap;

use jiff::civil::{Date, Weekday};
use jiff::{Span, ToSpan};

use crate::rules::{LimitKind, Limits, Question, Rules, Window};

const MINUTE_MS: i64 = 60_000;

/// A local day of the rules' zone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Day {
    start_ms: i64,
    /// Whether its date is in the booking window.
    pub is_bookable: bool,
    /// The limit that another meeting on this day would exceed.
    pub full: Option<LimitKind>,
}

/// The days of a question's range, in order.
#[derive(Clone, Debug)]
pub(crate) struct Days(Vec<Day>);

impl Days {
    pub fn from_question(question: &Question) -> Days {
        let Question { range, rules, .. } = question;
        let counts = Counts::from_question(question);
        let (first, last) = bookable(rules, question.now_ms);
        let mut days = Vec::new();
        let mut date = rules.zone.date(range.start);
        let end = rules.zone.date(range.end);
        while date <= end {
            // A date that the zone skips begins at the same instant as the next one, which follows it in the list.
            let start_ms = rules.zone.instant_ms(date, 0).unwrap_or(i64::MIN);
            let is_bookable = (first..=last).contains(&date);
            days.push(Day { start_ms, is_bookable, full: counts.full(date, rules) });
            let Ok(next) = date.tomorrow() else { break };
            date = next;
        }
        Days(days)
    }

    /// The day of an instant of the range.
    pub fn day(&self, ms: i64) -> Option<Day> {
        let after = self.0.partition_point(|day| day.start_ms <= ms);
        self.0.get(after.saturating_sub(1)).copied()
    }
}

/// The first and the last date that can be booked.
fn bookable(rules: &Rules, now_ms: i64) -> (Date, Date) {
    let today = rules.zone.date(now_ms);
    match rules.window {
        Window::Unlimited => (Date::MIN, Date::MAX),
        Window::Range { first, last } => (first.unwrap_or(Date::MIN), last.unwrap_or(Date::MAX)),
        Window::Rolling { days, business_days: false } => (Date::MIN, later(today, days)),
        Window::Rolling { days, business_days: true } => (Date::MIN, business_days_later(today, days)),
    }
}

fn later(date: Date, days: i64) -> Date {
    // jiff's spans end at 7,304,484 days, which is beyond its last date.
    Span::new().try_days(days).map_or(Date::MAX, |days| date.saturating_add(days))
}

/// Returns the date this number of business days (Monday to Friday) after `date`.
fn business_days_later(date: Date, days: i64) -> Date {
    if days <= 0 {
        return date;
    }
    // A count that begins on a weekend begins on the Friday before.
    let from = match date.weekday() {
        Weekday::Saturday => date.saturating_sub(1.day()),
        Weekday::Sunday => date.saturating_sub(2.days()),
        _ => date,
    };
    let weekends = (i64::from(from.weekday().to_monday_zero_offset()).saturating_add(days)) / 5;
    later(from, days.saturating_add(weekends.saturating_mul(2)))
}

/// Number of meetings, or their milliseconds, by kind of limit and first date of the period.
struct Counts(BTreeMap<(LimitKind, Date), i64>);

impl Counts {
    fn from_question(question: &Question) -> Counts {
        let rules = &question.rules;
        let kinds: Vec<LimitKind> = of_periods(&rules.limits).map(|(kind, _)| kind).collect();
        let mut counts = BTreeMap::new();
        if kinds.is_empty() {
            return Counts(counts);
        }
        for meeting in question.meetings.iter().filter(|m| question.moved.as_ref() != Some(&m.meeting)) {
            let date = rules.zone.date(meeting.core.start);
            for kind in &kinds {
                let more = if *kind == LimitKind::MinutesPerDay { meeting.core.len_ms() } else { 1 };
                *counts.entry((*kind, first_date(*kind, date))).or_insert(0) += more;
            }
        }
        Counts(counts)
    }

    /// Returns the limit that another meeting on this date would exceed.
    fn full(&self, date: Date, rules: &Rules) -> Option<LimitKind> {
        let is_full = |(kind, limit): &(LimitKind, u32)| {
            let count = self.0.get(&(*kind, first_date(*kind, date))).copied().unwrap_or(0);
            match kind {
                LimitKind::MinutesPerDay => count + rules.duration_ms > i64::from(*limit) * MINUTE_MS,
                _ => count >= i64::from(*limit),
            }
        };
        of_periods(&rules.limits).find(is_full).map(|(kind, _)| kind)
    }
}

/// The limits that count meetings in a period.
fn of_periods(limits: &Limits) -> impl Iterator<Item = (LimitKind, u32)> {
    let all = [
        (LimitKind::PerDay, limits.per_day),
        (LimitKind::MinutesPerDay, limits.minutes_per_day),
        (LimitKind::PerWeek, limits.per_week),
        (LimitKind::PerMonth, limits.per_month),
        (LimitKind::PerYear, limits.per_year),
    ];
    all.into_iter().filter_map(|(kind, limit)| Some((kind, limit?)))
}

/// The date on which the period of a date begins.
fn first_date(kind: LimitKind, date: Date) -> Date {
    match kind {
        LimitKind::PerWeek => {
            let since_monday = i64::from(date.weekday().to_monday_zero_offset());
            date.saturating_sub(Span::new().days(since_monday))
        }
        LimitKind::PerMonth => date.first_of_month(),
        LimitKind::PerYear => date.first_of_year(),
        LimitKind::PerDay | LimitKind::MinutesPerDay | LimitKind::ActivePerInvitee => date,
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn business_days_are_those_that_one_would_count_on_the_fingers() {
        let friday = date(2026, 7, 3);
        assert_eq!(business_days_later(friday, 1), date(2026, 7, 6), "the Monday after");
        let mut today = date(2026, 6, 29);
        for _ in 0..7 {
            let (mut last, mut counted) = (today, 0);
            for days in 0..40 {
                while counted < days {
                    last = last.tomorrow().unwrap();
                    counted += i64::from(!matches!(last.weekday(), Weekday::Saturday | Weekday::Sunday));
                }
                assert_eq!(business_days_later(today, days), last, "{days} after {today}");
            }
            today = today.tomorrow().unwrap();
        }
    }

    #[test]
    fn a_period_begins_on_its_first_date() {
        let sunday = date(2027, 1, 3);
        assert_eq!(first_date(LimitKind::PerWeek, sunday), date(2026, 12, 28));
        assert_eq!(first_date(LimitKind::PerMonth, sunday), date(2027, 1, 1));
        assert_eq!(first_date(LimitKind::PerYear, sunday), date(2027, 1, 1));
        assert_eq!(first_date(LimitKind::PerDay, sunday), sunday);
    }

    #[test]
    fn no_number_of_days_is_too_great() {
        assert_eq!(later(date(2026, 7, 3), i64::MAX), Date::MAX);
        assert_eq!(business_days_later(date(2026, 7, 3), i64::MAX), Date::MAX);
    }
}
