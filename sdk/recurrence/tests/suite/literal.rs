//! RFC 5545 §3.3.10 read literally and slowly: period by period, every day of a period asked whether every BY part admits it. It
//! shares nothing with the library or with ical-rs, and settles who is right where they and the oracle differ.

use jiff::civil::{Date, DateTime, Weekday};
use jiff::{Span, Timestamp};

use crate::generator::Case;

/// The parts of a rule as written.
pub struct Parts {
    pub freq: String,
    pub interval: i64,
    pub count: Option<usize>,
    pub until: Option<String>,
    pub week_start: Weekday,
    pub by_month: Vec<i64>,
    pub by_month_day: Vec<i64>,
    pub by_year_day: Vec<i64>,
    pub by_week_no: Vec<i64>,
    pub by_day: Vec<(i64, Weekday)>,
    pub by_hour: Vec<i64>,
    pub by_minute: Vec<i64>,
    pub by_set_pos: Vec<i64>,
}

fn weekday(name: &str) -> Weekday {
    match name {
        "MO" => Weekday::Monday,
        "TU" => Weekday::Tuesday,
        "WE" => Weekday::Wednesday,
        "TH" => Weekday::Thursday,
        "FR" => Weekday::Friday,
        "SA" => Weekday::Saturday,
        _ => Weekday::Sunday,
    }
}

pub fn parts(rule: &str) -> Parts {
    let get = |name: &str| {
        let rule = rule.strip_prefix("RRULE:").expect("a rule");
        rule.split(';')
            .find_map(|part| part.split_once('=').filter(|(n, _)| *n == name).map(|(_, v)| v.to_owned()))
    };
    let numbers = |name: &str| -> Vec<i64> {
        get(name).map(|v| v.split(',').map(|n| n.parse().expect("a number")).collect()).unwrap_or_default()
    };
    let by_day = get("BYDAY").map(|v| {
        v.split(',')
            .map(|d| {
                let (n, day) = d.split_at(d.len() - 2);
                (n.parse().unwrap_or(0), weekday(day))
            })
            .collect()
    });
    Parts {
        freq: get("FREQ").expect("a frequency"),
        interval: get("INTERVAL").map_or(1, |v| v.parse().expect("a number")),
        count: get("COUNT").map(|v| v.parse().expect("a number")),
        until: get("UNTIL"),
        week_start: get("WKST").map_or(Weekday::Monday, |d| weekday(&d)),
        by_month: numbers("BYMONTH"),
        by_month_day: numbers("BYMONTHDAY"),
        by_year_day: numbers("BYYEARDAY"),
        by_week_no: numbers("BYWEEKNO"),
        by_day: by_day.unwrap_or_default(),
        by_hour: numbers("BYHOUR"),
        by_minute: numbers("BYMINUTE"),
        by_set_pos: numbers("BYSETPOS"),
    }
}

fn plus(date: Date, days: i64) -> Date {
    date.checked_add(Span::new().days(days)).expect("a date")
}

/// `n` counted from the front or, negative, from the back of `total`.
fn at(list: &[i64], position: i64, total: i64) -> bool {
    list.iter().any(|n| *n == position || *n == position - total - 1)
}

/// The year that a week belongs to, its number, and how many weeks that year has: week 1 is the first with four days.
fn week_of(date: Date, start: Weekday) -> (i16, i64, i64) {
    let first_week = |year: i16| {
        let fourth = Date::new(year, 1, 4).expect("a date");
        plus(fourth, -i64::from(fourth.weekday().since(start)))
    };
    let mut year = date.year() + 1;
    while first_week(year) > date {
        year -= 1;
    }
    let days = |from: Date, to: Date| i64::from((to - from).get_days());
    (year, days(first_week(year), date) / 7 + 1, days(first_week(year), first_week(year + 1)) / 7)
}

impl Parts {
    /// Whether every part that chooses days lets this one pass; what no part says comes from the start.
    fn admits(&self, day: Date, start: Date, period_year: i16) -> bool {
        let month_length = i64::from(day.days_in_month());
        let month_day = i64::from(day.day());
        let year_day = i64::from(day.day_of_year());
        let year_length = i64::from(day.days_in_year());
        let sub_daily = matches!(self.freq.as_str(), "HOURLY" | "MINUTELY");
        if !self.by_month.is_empty() && !self.by_month.contains(&i64::from(day.month())) {
            return false;
        }
        if !self.by_month_day.is_empty() && !at(&self.by_month_day, month_day, month_length) {
            return false;
        }
        if !self.by_year_day.is_empty() && !at(&self.by_year_day, year_day, year_length) {
            return false;
        }
        if !self.by_week_no.is_empty() {
            let (year, week, weeks) = week_of(day, self.week_start);
            if year != period_year || !at(&self.by_week_no, week, weeks) {
                return false;
            }
        }
        if !self.by_day.is_empty() {
            let in_year = self.freq == "YEARLY" && self.by_month.is_empty();
            let (position, length) =
                if in_year { (year_day, year_length) } else { (month_day, month_length) };
            let nth = (position - 1) / 7 + 1;
            let total = nth + (length - position) / 7;
            let fits = |(n, weekday): &(i64, Weekday)| {
                *weekday == day.weekday() && (*n == 0 || *n == nth || *n == nth - total - 1)
            };
            return self.by_day.iter().any(fits);
        }
        let chosen = !self.by_month_day.is_empty() || !self.by_year_day.is_empty();
        match self.freq.as_str() {
            _ if sub_daily || chosen => true,
            "YEARLY" if !self.by_week_no.is_empty() => day.weekday() == start.weekday(),
            "YEARLY" => {
                day.day() == start.day() && (!self.by_month.is_empty() || day.month() == start.month())
            }
            "MONTHLY" => day.day() == start.day(),
            "WEEKLY" => day.weekday() == start.weekday(),
            _ => true,
        }
    }

    fn pick(&self, mut set: Vec<DateTime>) -> Vec<DateTime> {
        set.sort_unstable();
        let total = set.len() as i64;
        let numbered = (1..).zip(set);
        numbered
            .filter(|(n, _)| self.by_set_pos.is_empty() || at(&self.by_set_pos, *n, total))
            .map(|(_, t)| t)
            .collect()
    }

    /// The days of the period with this number.
    fn days(&self, start: Date, number: i64) -> (Date, Date, i16) {
        let n = number * self.interval;
        match self.freq.as_str() {
            "YEARLY" => {
                let year = start.year() + i16::try_from(n).expect("a near year");
                let span = if self.by_week_no.is_empty() { 0 } else { 7 };
                let (first, last) =
                    (Date::new(year, 1, 1).expect("a date"), Date::new(year, 12, 31).expect("a date"));
                (plus(first, -span), plus(last, span), year)
            }
            "MONTHLY" => {
                let first = start.first_of_month().checked_add(Span::new().months(n)).expect("a date");
                (first, first.last_of_month(), first.year())
            }
            "WEEKLY" => {
                let first = plus(start, -i64::from(start.weekday().since(self.week_start)) + 7 * n);
                (first, plus(first, 6), first.year())
            }
            _ => (plus(start, n), plus(start, n), start.year()),
        }
    }

    fn period(&self, start: DateTime, number: i64) -> (DateTime, Vec<DateTime>) {
        let or = |list: &[i64], own: i8| if list.is_empty() { vec![i64::from(own)] } else { list.to_vec() };
        let time = |day: Date, hour: i64, minute: i64| day.at(hour as i8, minute as i8, start.second(), 0);
        let unit = match self.freq.as_str() {
            "HOURLY" => Span::new().hours(number * self.interval),
            "MINUTELY" => Span::new().minutes(number * self.interval),
            _ => {
                let (first, last, year) = self.days(start.date(), number);
                let mut set = Vec::new();
                let mut day = first;
                while day <= last {
                    if self.admits(day, start.date(), year) {
                        for hour in or(&self.by_hour, start.hour()) {
                            set.extend(
                                or(&self.by_minute, start.minute())
                                    .into_iter()
                                    .map(|minute| time(day, hour, minute)),
                            );
                        }
                    }
                    day = plus(day, 1);
                }
                return (first.to_datetime(jiff::civil::Time::midnight()), self.pick(set));
            }
        };
        let now = start.checked_add(unit).expect("a time");
        let hour_fits = self.by_hour.is_empty() || self.by_hour.contains(&i64::from(now.hour()));
        let set = if !hour_fits || !self.admits(now.date(), start.date(), now.year()) {
            Vec::new()
        } else if self.freq == "HOURLY" {
            or(&self.by_minute, start.minute())
                .into_iter()
                .map(|minute| time(now.date(), i64::from(now.hour()), minute))
                .collect()
        } else {
            vec![now]
        };
        (now, self.pick(set))
    }
}

/// Instances of the rule and DTSTART (each instant once, for all-day series each day) before `to`, as instants; EXDATE and RDATE are not looked at.
pub fn instances(case: &Case, to: Timestamp) -> Vec<Timestamp> {
    let parts = parts(&case.lines[0]);
    let zone = recurrence::zone(case.zone).expect("a zone");
    let instant = |local: DateTime| zone.to_ambiguous_timestamp(local);
    let resolve = |local: DateTime| instant(local).compatible().expect("an instant");
    let last = zone.to_datetime(to).checked_add(Span::new().days(9)).expect("a time");
    let mut all = vec![resolve(case.local)];
    // A week that belongs to the year before the start's.
    let first = if parts.by_week_no.is_empty() || parts.interval > 1 { 0 } else { -1 };
    'periods: for number in first.. {
        let (begin, set) = parts.period(case.local, number);
        if begin > last {
            break;
        }
        for local in set {
            let later = if case.all_day { local > case.local } else { resolve(local) > all[0] };
            let gap = match instant(local).offset() {
                jiff::tz::AmbiguousOffset::Gap { before, after } => after.seconds() - before.seconds(),
                _ => 0,
            };
            let missing = gap > 0
                && !case.all_day
                && (gap >= 86_400 || matches!(parts.freq.as_str(), "HOURLY" | "MINUTELY"));
            let over = parts.until.as_ref().is_some_and(|until| {
                if case.all_day {
                    local.strftime("%Y%m%d").to_string() > *until
                } else {
                    resolve(local).strftime("%Y%m%dT%H%M%SZ").to_string() > *until
                }
            });
            if !later || missing || over {
                continue;
            }
            if parts.count.is_some_and(|count| all.len() >= count) {
                break 'periods;
            }
            all.push(resolve(local));
        }
    }
    all.sort_unstable();
    if !case.all_day {
        all.dedup();
    }
    all.retain(|t| *t < to);
    all
}

/// Whether the rule generates the start.
pub fn generates_start(case: &Case) -> bool {
    let parts = parts(&case.lines[0]);
    let first = if parts.by_week_no.is_empty() || parts.interval > 1 { 0 } else { -1 };
    (first..=0).any(|number| parts.period(case.local, number).1.contains(&case.local))
}

/// Length of the gap that the start's local time falls into, seconds; 0: it exists.
pub fn start_gap(case: &Case) -> i64 {
    let zone = recurrence::zone(case.zone).expect("a zone");
    match zone.to_ambiguous_timestamp(case.local).offset() {
        jiff::tz::AmbiguousOffset::Gap { before, after } => i64::from(after.seconds() - before.seconds()),
        _ => 0,
    }
}
