//! Random event types with hosts, busy times and meetings, on days around a change of the clocks; the same for the same seed. All times
//! but now are whole minutes, so that the reference implementations need only minutes.

use jiff::civil::Date;
use model::Instant;
use model::scheduling::{DateOverride, Schedule, TimeWindow, WeeklyHours};
use scheduling::hours::Zone;
use scheduling::interval::Interval;
use scheduling::rules::{
    Assignment, BookedMeeting, HostReservation, HostTimes, Limits, Question, Role, Rules, Strategy, Window,
};
use serde_json::{Value, json};

use crate::support::{MINUTE, ms, plan};

/// Zones with every kind of change: none, an hour, half an hour, two hours, at midnight, a whole day, permanent moves.
const ZONES: [&str; 14] = [
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "America/St_Johns",
    "Pacific/Apia",
    "Africa/Casablanca",
    "America/New_York",
    "Europe/Berlin",
    "America/Sao_Paulo",
    "Pacific/Chatham",
    "Asia/Tehran",
    "Africa/Cairo",
    "Antarctica/Troll",
    "Pacific/Easter",
    "UTC",
];
const DAY: i64 = 24 * 60;

/// xorshift64*: small, seeded, good enough to choose test cases.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// `from` to `to`, both included.
    pub fn between(&mut self, from: i64, to: i64) -> i64 {
        from + i64::try_from((self.roll() >> 16) % (to - from + 1).unsigned_abs()).expect("a small span")
    }

    /// The same as a small number.
    fn small(&mut self, from: i64, to: i64) -> u32 {
        u32::try_from(self.between(from, to)).expect("a small number")
    }

    pub fn chance(&mut self, percent: i64) -> bool {
        self.between(1, 100) <= percent
    }

    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[usize::try_from(self.between(0, list.len() as i64 - 1)).expect("an index")]
    }

    fn some(&mut self, percent: i64, from: i64, to: i64) -> Option<u32> {
        self.chance(percent).then(|| self.small(from, to))
    }
}

/// A question together with the schedules that its plans were read from.
#[derive(Clone, Debug)]
pub struct Case {
    pub question: Question,
    pub schedule: Schedule,
    /// By host; none: the event type's.
    pub own: Vec<Option<Schedule>>,
}

/// A case of some days.
pub fn case(dice: &mut Dice, days: i64) -> Case {
    let name = *dice.pick(&ZONES);
    let zone = Zone::named(name).expect("a zone");
    let from = near_a_change(dice, &zone);
    let range = Interval::new(from, from + days * DAY * MINUTE);
    let schedule = schedule(dice, name, range);
    let rules = rules(dice, zone, &schedule, range);
    let mut question = Question {
        range,
        now_ms: range.start + dice.between(-3 * DAY, DAY) * MINUTE + dice.between(0, 1),
        rules,
        hosts: Vec::new(),
        meetings: Vec::new(),
        invitee_active: dice.some(15, 0, 2),
        moved: None,
        only_hosts: None,
    };
    let mut own = Vec::new();
    for id in ["a", "b", "c"].into_iter().take(dice.pick(&[1, 1, 2, 3, 3]).to_owned()) {
        let other = if dice.chance(50) { name } else { *dice.pick(&ZONES) };
        let its = dice.chance(35).then(|| self::schedule(dice, other, range));
        question.hosts.push(host(dice, id, its.as_ref(), range));
        own.push(its);
    }
    meetings(dice, &mut question, &schedule, &own);
    if dice.chance(20) {
        question.moved = question.meetings.first().map(|m| m.meeting.clone());
    }
    if dice.chance(20) {
        let listed = question.hosts.iter().filter(|_| dice.chance(60)).map(|h| h.id.clone());
        question.only_hosts = Some(listed.collect());
    }
    Case { question, schedule, own }
}

/// Returns a whole minute in the days before a change of the clocks, or on any day if the zone has none nearby.
fn near_a_change(dice: &mut Dice, zone: &Zone) -> i64 {
    let mut day = Date::constant(2012, 1, 1).saturating_add(jiff::Span::new().days(dice.between(0, 6_900)));
    if zone.name == "Pacific/Apia" && dice.chance(50) {
        day = Date::constant(2011, 12, 28);
    }
    let start = zone.instant_ms(day, 0).expect("a near instant");
    let after = zone.rules.following(Instant::from_millis(start).timestamp()).next();
    // The change may be years away: then any day is used.
    let near = after.map_or(start, |change| change.timestamp().as_millisecond());
    let near = if near > ms("2032-01-01T00:00:00Z") { start } else { near };
    (near / MINUTE - dice.between(0, 2 * DAY)) * MINUTE
}

fn clock(minutes: i64) -> String {
    format!("{:02}:{:02}", minutes / 60, minutes % 60)
}

/// Returns hours, mostly of the day, also at times that the clocks skip or repeat.
fn hours(dice: &mut Dice) -> (String, String) {
    let start = match dice.between(1, 4) {
        1 => dice.between(0, 4 * 12) * 5,
        2 => dice.between(0, DAY / 15 - 1) * 15,
        _ => dice.between(7, 13) * 60,
    };
    let end = (start + dice.between(1, 40) * 15).min(if dice.chance(70) { DAY } else { i64::MAX });
    let end = if end > DAY { end % DAY } else { end };
    (clock(start), clock(end))
}

fn schedule(dice: &mut Dice, zone: &str, range: Interval) -> Schedule {
    let rows = if dice.chance(10) { 0 } else { dice.between(1, 3) };
    let mut weekly = Vec::new();
    for _ in 0..rows {
        let days: Vec<i64> = (1..=7).filter(|_| dice.chance(80)).collect();
        let (start, end) = if dice.chance(10) { (clock(0), clock(DAY)) } else { hours(dice) };
        weekly.push(WeeklyHours { days: if days.is_empty() { vec![1] } else { days }, start, end });
    }
    let first = Zone::named(zone).expect("a zone").date(range.start);
    let mut overrides = Vec::new();
    for offset in -1..5 {
        let percent = if rows == 0 { 60 } else { 12 };
        if dice.chance(percent) {
            let windows: Vec<TimeWindow> = (0..dice.between(0, 2))
                .map(|_| hours(dice))
                .map(|(start, end)| TimeWindow { start, end })
                .collect();
            let date = first.saturating_add(jiff::Span::new().days(offset)).to_string();
            overrides.push(DateOverride { date, available: !windows.is_empty(), windows });
        }
    }
    Schedule { time_zone: zone.into(), weekly, overrides }
}

fn rules(dice: &mut Dice, zone: Zone, schedule: &Schedule, range: Interval) -> Rules {
    let duration = *dice.pick(&[15, 25, 30, 45, 60, 90, 120]);
    let first = zone.date(range.start);
    let day = |offset: i64| first.saturating_add(jiff::Span::new().days(offset));
    let window = match dice.between(1, 5) {
        1 => Window::Rolling { days: dice.between(0, 6), business_days: false },
        2 => Window::Rolling { days: dice.between(0, 6), business_days: true },
        3 => Window::Range {
            first: dice.chance(70).then(|| day(dice.between(0, 2))),
            last: dice.chance(70).then(|| day(dice.between(1, 5))),
        },
        _ => Window::Unlimited,
    };
    Rules {
        duration_ms: duration * MINUTE,
        step_ms: dice.pick(&[duration, 5, 10, 15, 20, 30, 60, 50]) * MINUTE,
        offset_ms: dice.pick(&[0, 0, 5, 20]) * MINUTE,
        buffer_before_ms: dice.pick(&[0, 0, 5, 10, 30]) * MINUTE,
        buffer_after_ms: dice.pick(&[0, 0, 5, 15, 45]) * MINUTE,
        notice_ms: dice.pick(&[0, 0, 120, DAY]) * MINUTE,
        window,
        limits: Limits {
            per_day: dice.some(15, 1, 3),
            per_week: dice.some(10, 1, 5),
            per_month: dice.some(10, 1, 8),
            per_year: dice.some(5, 1, 9),
            minutes_per_day: dice.some(10, 30, 300),
            active_per_invitee: dice.some(15, 1, 3),
        },
        seats: dice.pick(&[1, 1, 2, 4]).to_owned(),
        assignment: *dice.pick(&[
            Assignment::Fixed,
            Assignment::RoundRobin,
            Assignment::Collective,
            Assignment::Priority,
        ]),
        strategy: *dice.pick(&[Strategy::LeastLoaded, Strategy::Weighted, Strategy::Soonest]),
        zone,
        plan: Some(plan(schedule)),
        unknown_is_free: dice.chance(30),
    }
}

fn host(dice: &mut Dice, id: &str, own: Option<&Schedule>, range: Interval) -> HostTimes {
    let mut busy = Vec::new();
    for _ in 0..dice.between(0, 6) {
        busy.push(span(dice, range, 5, 600));
    }
    let mut reserved = Vec::new();
    for n in 0..dice.between(0, 2) {
        let core = span(dice, range, 15, 120);
        let padded = core.widen(dice.between(0, 20) * MINUTE, dice.between(0, 20) * MINUTE);
        reserved.push(HostReservation { meeting: format!("other {id} {n}"), core, padded });
    }
    HostTimes {
        id: id.into(),
        role: *dice.pick(&[Role::Required, Role::Required, Role::Rotation, Role::Rotation, Role::Optional]),
        priority: dice.between(0, 2),
        weight: dice.small(0, 2),
        plan: own.map(plan),
        busy: dice.chance(90).then(|| busy.into_iter().collect()),
        reserved,
        load: dice.small(0, 3),
        last_assigned_ms: dice.between(0, 3),
    }
}

/// Some minutes that touch the range.
fn span(dice: &mut Dice, range: Interval, least: i64, most: i64) -> Interval {
    let start = range.start + dice.between(-60, range.len_ms() / MINUTE) * MINUTE;
    Interval::new(start, start + dice.between(least, most) * MINUTE)
}

/// Returns meetings of the event type, many of them on slots.
fn meetings(dice: &mut Dice, question: &mut Question, schedule: &Schedule, own: &[Option<Schedule>]) {
    for n in 0..dice.between(0, 5) {
        let index = usize::try_from(dice.between(0, own.len() as i64 - 1)).expect("an index");
        let rules = &question.rules;
        let windows = plan(own[index].as_ref().unwrap_or(schedule)).windows(question.range);
        let mut core = span(dice, question.range, 15, 120);
        if let (true, false) = (dice.chance(80), windows.is_empty()) {
            let start = dice.pick(&windows).start + rules.offset_ms + dice.between(0, 5) * rules.step_ms;
            core = Interval::new(start, start + rules.duration_ms);
        }
        let padded = core.widen(rules.buffer_before_ms, rules.buffer_after_ms);
        let seats = dice.small(1, 4);
        let meeting = format!("m{n}");
        question.meetings.push(BookedMeeting {
            meeting: meeting.clone(),
            core,
            hosts: vec![question.hosts[index].id.clone()],
            seats,
            seats_taken: dice.small(1, i64::from(seats)),
        });
        question.hosts[index].reserved.push(HostReservation { meeting, core, padded });
    }
}

fn minutes(ms: i64) -> i64 {
    ms / MINUTE
}

fn span_json(at: Interval) -> Value {
    json!([minutes(at.start), minutes(at.end)])
}

impl Case {
    /// Returns the case as JSON for another implementation: schedules as in the API, times in minutes since 1970, now in
    /// milliseconds.
    pub fn json(&self) -> Value {
        let Question { range, rules, meetings, .. } = &self.question;
        let host = |(host, own): (&HostTimes, &Option<Schedule>)| {
            let reserved: Vec<Value> = host
                .reserved
                .iter()
                .map(|r| json!({"meeting": r.meeting, "core": span_json(r.core), "padded": span_json(r.padded)}))
                .collect();
            let busy = host.busy.as_ref().map(|busy| busy.iter().map(span_json).collect::<Vec<_>>());
            json!({
                "id": host.id, "role": host.role, "weight": host.weight, "priority": host.priority,
                "load": host.load, "lastAssigned": host.last_assigned_ms, "schedule": own, "busy": busy,
                "reserved": reserved,
            })
        };
        let meeting = |m: &BookedMeeting| {
            json!({
                "meeting": m.meeting, "core": span_json(m.core), "hosts": m.hosts, "seats": m.seats,
                "taken": m.seats_taken,
            })
        };
        json!({
            "range": span_json(*range),
            "nowMs": self.question.now_ms,
            "schedule": self.schedule,
            "rules": rules_json(rules),
            "hosts": self.question.hosts.iter().zip(&self.own).map(host).collect::<Vec<_>>(),
            "meetings": meetings.iter().map(meeting).collect::<Vec<_>>(),
            "inviteeActive": self.question.invitee_active,
            "moved": self.question.moved,
            "onlyHosts": self.question.only_hosts,
            "keep": self.hosts_to_keep(),
        })
    }

    /// Returns the hosts of the moved meeting, who keep it if possible; none if no meeting is moved.
    pub fn hosts_to_keep(&self) -> Vec<String> {
        let moved = self.question.meetings.iter().find(|m| self.question.moved.as_ref() == Some(&m.meeting));
        moved.map(|m| m.hosts.clone()).unwrap_or_default()
    }
}

fn rules_json(rules: &Rules) -> Value {
    let limits = &rules.limits;
    let window = match &rules.window {
        Window::Unlimited => json!({"kind": "unlimited"}),
        Window::Rolling { days, business_days } => {
            json!({"kind": "rolling", "days": days, "businessDays": business_days})
        }
        Window::Range { first, last } => {
            let text = |date: &Option<Date>| date.map(|date| date.to_string());
            json!({"kind": "range", "first": text(first), "last": text(last)})
        }
    };
    json!({
        "duration": minutes(rules.duration_ms),
        "step": minutes(rules.step_ms),
        "offset": minutes(rules.offset_ms),
        "before": minutes(rules.buffer_before_ms),
        "after": minutes(rules.buffer_after_ms),
        "noticeMs": rules.notice_ms,
        "window": window,
        "limits": {
            "perDay": limits.per_day, "perWeek": limits.per_week, "perMonth": limits.per_month,
            "perYear": limits.per_year, "minutesPerDay": limits.minutes_per_day,
            "activePerInvitee": limits.active_per_invitee,
        },
        "seats": rules.seats,
        "assignment": rules.assignment,
        "strategy": rules.strategy,
        "zone": rules.zone.name,
        "unknownIsFree": rules.unknown_is_free,
    })
}
