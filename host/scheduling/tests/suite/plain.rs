//! A naive implementation of the rules: every minute of the range is checked by itself. Slow, and hard to get wrong.

use std::collections::HashSet;

use jiff::civil::{Date, Weekday};
use model::scheduling::{Schedule, TimeWindow};
use scheduling::hours::Zone;
use scheduling::interval::Interval;
use scheduling::oracle::Slot;
use scheduling::rules::{Assignment, BookedMeeting, HostTimes, Question, Role, Strategy, Window};

use crate::generator::Case;
use crate::support::MINUTE;

/// The state of one host's minutes, as minutes since 1970.
struct Minutes {
    windows: Vec<Interval>,
    open: HashSet<i64>,
    busy: HashSet<i64>,
    cores: HashSet<i64>,
    padded: HashSet<i64>,
}

/// All slots of a case.
pub fn slots(case: &Case) -> Vec<Slot> {
    let question = &case.question;
    let hosts: Vec<Minutes> = question
        .hosts
        .iter()
        .zip(&case.own)
        .map(|(host, own)| Minutes::for_host(question, host, own.as_ref().unwrap_or(&case.schedule)))
        .collect();
    let last = last_date(question);
    let all = question.range.start / MINUTE..question.range.end / MINUTE;
    all.filter_map(|minute| slot(question, &hosts, last, minute * MINUTE)).collect()
}

fn slot(question: &Question, hosts: &[Minutes], last: Option<Date>, start: i64) -> Option<Slot> {
    let rules = &question.rules;
    let at = Interval::new(start, start + rules.duration_ms);
    let is_on_grid = question.hosts.iter().zip(hosts).any(|(host, times)| {
        let steps = |w: &Interval| start - w.start - rules.offset_ms;
        let is_point = |w: &Interval| steps(w) >= 0 && steps(w) % rules.step_ms == 0 && start < w.end;
        serves(question, host) && times.windows.iter().any(is_point)
    });
    if !is_on_grid || start < question.now_ms + rules.notice_ms {
        return None;
    }
    let date = rules.zone.date(start);
    let is_early = matches!(rules.window, Window::Range { first: Some(first), .. } if date < first);
    if is_early || last.is_some_and(|last| date > last) {
        return None;
    }
    if let (Some(has), Some(most)) = (question.invitee_active, rules.limits.active_per_invitee)
        && has >= most
    {
        return None;
    }
    if let Some(slot) = seat(question, at) {
        return Some(slot);
    }
    if is_full(question, date) {
        return None;
    }
    let free: Vec<u16> = (0_u16..)
        .zip(question.hosts.iter().zip(hosts))
        .filter(|(_, (host, times))| may_be_chosen(question, host) && is_free(question, host, times, at))
        .map(|(index, _)| index)
        .collect();
    let is_free = |host: &HostTimes| free.iter().any(|i| question.hosts[usize::from(*i)].id == host.id);
    let mut needed = question.hosts.iter().filter(|host| is_needed(question, host)).peekable();
    let is_enough = if rotates(question) {
        needed.all(is_free) && question.hosts.iter().any(|host| !is_needed(question, host) && is_free(host))
    } else {
        needed.peek().is_some() && needed.all(is_free)
    };
    is_enough.then_some(Slot { at, hosts: free, seats_left: rules.seats, joins: None })
}

fn rotates(question: &Question) -> bool {
    matches!(question.rules.assignment, Assignment::RoundRobin | Assignment::Priority)
}

fn serves(question: &Question, host: &HostTimes) -> bool {
    let has_weight = question.rules.strategy != Strategy::Weighted || host.weight > 0;
    is_needed(question, host) || (host.role == Role::Rotation && rotates(question) && has_weight)
}

fn is_needed(question: &Question, host: &HostTimes) -> bool {
    host.role == Role::Required
        || (host.role == Role::Rotation && question.rules.assignment == Assignment::Collective)
}

fn may_be_chosen(question: &Question, host: &HostTimes) -> bool {
    let is_listed = question.only_hosts.as_ref().is_none_or(|only| only.contains(&host.id));
    serves(question, host) && (is_needed(question, host) || is_listed)
}

fn is_free(question: &Question, host: &HostTimes, times: &Minutes, at: Interval) -> bool {
    let rules = &question.rules;
    let core = minutes(at);
    let padded = minutes(at.widen(rules.buffer_before_ms, rules.buffer_after_ms));
    (host.busy.is_some() || rules.unknown_is_free)
        && core.clone().all(|m| times.open.contains(&m) && !times.padded.contains(&m))
        && padded.clone().all(|m| !times.busy.contains(&m) && !times.cores.contains(&m))
}

fn seat(question: &Question, at: Interval) -> Option<Slot> {
    let left = |m: &BookedMeeting| m.seats.min(question.rules.seats).saturating_sub(m.seats_taken);
    let is_listed = |id: &String| question.only_hosts.as_ref().is_none_or(|only| only.contains(id));
    let is_in_all = |id: &String| question.hosts.iter().any(|h| h.id == *id && is_needed(question, h));
    let may_join = |m: &BookedMeeting| m.hosts.iter().all(|id| is_listed(id) || is_in_all(id));
    let joined = question
        .meetings
        .iter()
        .filter(|m| question.rules.seats > 1 && m.core == at && left(m) > 0)
        .filter(|m| question.moved.as_ref() != Some(&m.meeting) && may_join(m))
        .min_by_key(|m| &m.meeting)?;
    let is_in = |index: &u16| joined.hosts.contains(&question.hosts[usize::from(*index)].id);
    let all = 0..u16::try_from(question.hosts.len()).expect("few hosts");
    Some(Slot {
        at,
        hosts: all.filter(is_in).collect(),
        seats_left: left(joined),
        joins: Some(joined.meeting.clone()),
    })
}

fn is_full(question: &Question, date: Date) -> bool {
    let rules = &question.rules;
    let counted = question.meetings.iter().filter(|m| question.moved.as_ref() != Some(&m.meeting));
    let dates: Vec<(Date, i64)> =
        counted.map(|m| (rules.zone.date(m.core.start), m.core.len_ms() / MINUTE)).collect();
    let of = |is_same: &dyn Fn(Date) -> bool| dates.iter().filter(|(d, _)| is_same(*d)).count();
    let week = |d: Date| (d.iso_week_date().year(), d.iso_week_date().week());
    let minutes: i64 = dates.iter().filter(|(d, _)| *d == date).map(|(_, minutes)| minutes).sum();
    let reached = |limit: Option<u32>, count: usize| limit.is_some_and(|limit| count >= limit as usize);
    let limits = &rules.limits;
    reached(limits.per_day, of(&|d| d == date))
        || reached(limits.per_week, of(&|d| week(d) == week(date)))
        || reached(limits.per_month, of(&|d| (d.year(), d.month()) == (date.year(), date.month())))
        || reached(limits.per_year, of(&|d| d.year() == date.year()))
        || limits.minutes_per_day.is_some_and(|most| minutes + rules.duration_ms / MINUTE > i64::from(most))
}

/// The last date that can be booked, counted day by day.
fn last_date(question: &Question) -> Option<Date> {
    let rules = &question.rules;
    match &rules.window {
        Window::Unlimited => None,
        Window::Range { last, .. } => *last,
        Window::Rolling { days, business_days } => {
            let (mut date, mut counted) = (rules.zone.date(question.now_ms), 0);
            while counted < *days {
                date = date.tomorrow().expect("a near date");
                let is_weekend = matches!(date.weekday(), Weekday::Saturday | Weekday::Sunday);
                counted += i64::from(!(*business_days && is_weekend));
            }
            Some(date)
        }
    }
}

fn minutes(at: Interval) -> std::ops::Range<i64> {
    at.start / MINUTE..at.end / MINUTE
}

impl Minutes {
    fn for_host(question: &Question, host: &HostTimes, schedule: &Schedule) -> Minutes {
        let windows = windows(schedule, question.range);
        let others = || host.reserved.iter().filter(|r| question.moved.as_ref() != Some(&r.meeting));
        Minutes {
            open: windows.iter().copied().flat_map(minutes).collect(),
            windows,
            busy: host.busy.iter().flat_map(|b| b.iter()).flat_map(minutes).collect(),
            cores: others().map(|r| r.core).flat_map(minutes).collect(),
            padded: others().map(|r| r.padded).flat_map(minutes).collect(),
        }
    }
}

/// Returns the windows of every date near the range; touching windows of one date are united.
fn windows(schedule: &Schedule, range: Interval) -> Vec<Interval> {
    let zone = Zone::named(&schedule.time_zone).expect("a zone");
    let mut date = zone.date(range.start).saturating_sub(jiff::Span::new().days(3));
    let last = zone.date(range.end).saturating_add(jiff::Span::new().days(3));
    let mut out = Vec::new();
    while date <= last {
        let next = date.tomorrow().expect("a near date");
        // A date that the zone skipped has no time.
        if zone.instant_ms(date, 0) < zone.instant_ms(next, 0) {
            out.extend(of_date(schedule, &zone, date));
        }
        date = next;
    }
    out
}

fn of_date(schedule: &Schedule, zone: &Zone, date: Date) -> Vec<Interval> {
    let replaced = schedule.overrides.iter().find(|o| o.date == date.to_string());
    let weekday = i64::from(date.weekday().to_monday_one_offset());
    let weekly = schedule.weekly.iter().filter(|row| row.days.contains(&weekday));
    let rows: Vec<TimeWindow> = match replaced {
        Some(day) => day.windows.clone(),
        None => weekly.map(|w| TimeWindow { start: w.start.clone(), end: w.end.clone() }).collect(),
    };
    let mut all: Vec<Interval> = rows.iter().filter_map(|row| window(row, zone, date)).collect();
    // Unites touching windows until there are none.
    loop {
        let touching = (0..all.len())
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .find(|(i, j)| all[*i].start <= all[*j].end && all[*j].start <= all[*i].end);
        let Some((i, j)) = touching else { break all };
        let one = all.remove(i);
        let other = all.remove(j);
        all.push(Interval::new(one.start.min(other.start), one.end.max(other.end)));
    }
}

fn window(row: &TimeWindow, zone: &Zone, date: Date) -> Option<Interval> {
    let read = |text: &str| {
        let (hour, minute) = text.split_once(':').expect("a time");
        hour.parse::<i16>().expect("an hour") * 60 + minute.parse::<i16>().expect("a minute")
    };
    let (start, end) = (read(&row.start), read(&row.end));
    let end = if end <= start { end + 24 * 60 } else { end };
    let at = Interval::new(zone.instant_ms(date, start)?, zone.instant_ms(date, end)?);
    (at.start < at.end).then_some(at)
}
