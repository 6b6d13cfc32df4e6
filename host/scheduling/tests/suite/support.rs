//! Helpers for short questions and readable answers.

use model::Instant;
use model::scheduling::{DateOverride, Schedule, TimeWindow, WeeklyHours};
use scheduling::hours::Zone;
use scheduling::interval::{Interval, Intervals};
use scheduling::oracle::{Oracle, Slot};
use scheduling::rules::{
    Assignment, BookedMeeting, HostReservation, HostTimes, Limits, Question, Role, Rules, Strategy, Window,
};
use scheduling::week_plan::WeekPlan;

pub const MINUTE: i64 = 60_000;
pub const EVERY_DAY: [i64; 7] = [1, 2, 3, 4, 5, 6, 7];

pub fn ms(text: &str) -> i64 {
    text.parse::<Instant>().unwrap().as_millis()
}

pub fn interval(from: &str, to: &str) -> Interval {
    Interval::new(ms(from), ms(to))
}

pub fn schedule(zone: &str, days: &[i64], hours: &[(&str, &str)]) -> Schedule {
    let row = |(start, end): &(&str, &str)| WeeklyHours {
        days: days.to_vec(),
        start: (*start).into(),
        end: (*end).into(),
    };
    Schedule { time_zone: zone.into(), weekly: hours.iter().map(row).collect(), overrides: Vec::new() }
}

pub fn exception(date: &str, windows: &[(&str, &str)]) -> DateOverride {
    let window = |(start, end): &(&str, &str)| TimeWindow { start: (*start).into(), end: (*end).into() };
    DateOverride {
        date: date.into(),
        available: !windows.is_empty(),
        windows: windows.iter().map(window).collect(),
    }
}

pub fn plan(schedule: &Schedule) -> WeekPlan {
    WeekPlan::read(schedule).unwrap()
}

/// Returns a question with one required host who is free, every day from `hours.0` to `hours.1`, from long before the range.
pub fn question(zone: &str, hours: (&str, &str), range: (&str, &str), minutes: i64) -> Question {
    let range = interval(range.0, range.1);
    Question {
        range,
        now_ms: range.start - 30 * 24 * 60 * MINUTE,
        rules: Rules {
            duration_ms: minutes * MINUTE,
            step_ms: minutes * MINUTE,
            offset_ms: 0,
            buffer_before_ms: 0,
            buffer_after_ms: 0,
            notice_ms: 0,
            window: Window::Unlimited,
            limits: Limits::default(),
            seats: 1,
            assignment: Assignment::Fixed,
            strategy: Strategy::LeastLoaded,
            zone: Zone::named(zone).unwrap(),
            plan: Some(plan(&schedule(zone, &EVERY_DAY, &[hours]))),
            unknown_is_free: false,
        },
        hosts: vec![host("a")],
        meetings: Vec::new(),
        invitee_active: None,
        moved: None,
        only_hosts: None,
    }
}

/// Monday, 6 July 2026, in UTC.
pub fn monday(hours: (&str, &str), minutes: i64) -> Question {
    question("UTC", hours, ("2026-07-06T00:00:00Z", "2026-07-07T00:00:00Z"), minutes)
}

pub fn host(id: &str) -> HostTimes {
    HostTimes {
        id: id.into(),
        role: Role::Required,
        priority: 0,
        weight: 1,
        plan: None,
        busy: Some(Intervals::default()),
        reserved: Vec::new(),
        load: 0,
        last_assigned_ms: 0,
    }
}

pub fn rotation(id: &str) -> HostTimes {
    HostTimes { role: Role::Rotation, ..host(id) }
}

pub fn busy(host: &mut HostTimes, times: &[Interval]) {
    host.busy = Some(times.iter().copied().collect());
}

pub fn reserved(meeting: &str, core: Interval, before: i64, after: i64) -> HostReservation {
    HostReservation { meeting: meeting.into(), core, padded: core.widen(before * MINUTE, after * MINUTE) }
}

/// A meeting of one seat with host `a`.
pub fn taken(meeting: &str, core: Interval) -> BookedMeeting {
    BookedMeeting { meeting: meeting.into(), core, hosts: vec!["a".into()], seats: 1, seats_taken: 1 }
}

pub fn all(question: &Question) -> Vec<Slot> {
    Oracle::new(question).slots(i64::MIN, usize::MAX)
}

pub fn starts(question: &Question) -> Vec<i64> {
    all(question).iter().map(|slot| slot.at.start).collect()
}

/// The starts as local times.
pub fn format_starts(question: &Question) -> Vec<String> {
    let zone = &question.rules.zone.rules;
    let local = |start: i64| Instant::from_millis(start).timestamp().to_zoned(zone.clone());
    starts(question).into_iter().map(|start| local(start).strftime("%d %H:%M").to_string()).collect()
}
