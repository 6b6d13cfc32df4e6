//! Decides which starts can be booked. The slot list and the check of a booking use the same function on the same data, so exactly the
//! listed slots can be booked.

use crate::grid::{Grid, Points};
use crate::interval::{Interval, Intervals};
use crate::periods::Days;
use crate::rules::{Assignment, BookedMeeting, HostTimes, LimitKind, Question, Role, Rules, Strategy};
use crate::week_plan::WeekPlan;

/// A time that can be booked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    pub at: Interval,
    /// Indices into the question's hosts, ascending. For a new meeting: all required hosts, and all free hosts of the rotation, one of whom
    /// is then chosen. For a seat in a meeting: the meeting's hosts. Optional hosts are never included.
    pub hosts: Vec<u16>,
    /// Free seats; 1 or more.
    pub seats_left: u32,
    /// The meeting that has the free seat; none: a new meeting.
    pub joins: Option<String>,
}

/// The reason why a start cannot be booked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// In a window, but not on its grid.
    OffGrid,
    /// Before the end of the minimum notice.
    TooSoon,
    /// The date is outside the booking window or the question's range.
    OutsideWindow,
    /// Outside the open hours of a host who must attend.
    Closed,
    /// A host who must attend is busy at that time.
    Taken,
    LimitReached(LimitKind),
    /// Only hosts with unknown busy times prevent it.
    Unknown(Vec<String>),
}

/// Answers one question. Construction takes time linear in hosts, windows and busy times.
#[derive(Debug)]
pub struct Oracle<'q> {
    question: &'q Question,
    grid: Vec<Grid>,
    days: Days,
    earliest_ms: i64,
    /// The starts of each host of the question, in the same order.
    hosts: Vec<Starts>,
    /// Meetings with a free seat that may be joined, by start and id.
    joinable: Vec<&'q BookedMeeting>,
}

/// The role of a host in meetings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Duty {
    /// Required in every meeting.
    Needed,
    /// Each meeting has one of the candidates.
    Candidate,
    /// Never required.
    Nothing,
}

/// The starts at which a host can begin a meeting.
#[derive(Debug)]
struct Starts {
    duty: Duty,
    /// The host's busy times are unknown, which counts as busy.
    is_unknown: bool,
    open: Intervals,
    /// Allowed starts, sorted: the whole meeting is open and overlaps nothing else.
    allowed: Vec<Interval>,
}

/// A refusal whose exact reason is computed only on request, because that is slow.
enum No {
    Refusal(Refusal),
    Hosts,
}

impl<'q> Oracle<'q> {
    pub fn new(question: &'q Question) -> Self {
        let rules = &question.rules;
        let Interval { start, end } = question.range;
        // The range of all meetings that begin in the question's range.
        let reach = Interval::new(start, end.saturating_add(rules.duration_ms));
        let windows = |plan: Option<&WeekPlan>| plan.map(|p| p.windows(reach)).unwrap_or_default();
        let shared = windows(rules.plan.as_ref());
        let mut grid = Vec::new();
        let mut hosts = Vec::with_capacity(question.hosts.len());
        for host in &question.hosts {
            let own = host.plan.as_ref().map(|plan| windows(Some(plan)));
            let windows = own.as_ref().unwrap_or(&shared);
            if serves(rules, host) {
                grid.extend(
                    windows.iter().map(|w| Grid::from(Interval::new(w.start + rules.offset_ms, w.end))),
                );
            }
            hosts.push(Starts::for_host(question, host, windows));
        }
        grid.retain(|g| !g.at.is_empty());
        grid.sort_unstable();
        grid.dedup();
        let earliest_ms = question.now_ms.saturating_add(rules.notice_ms);
        Oracle {
            question,
            grid,
            days: Days::from_question(question),
            earliest_ms,
            hosts,
            joinable: joinable(question),
        }
    }

    /// Returns the first slots at or after `from_ms`, by time, at most `limit`.
    pub fn slots(&self, from_ms: i64, limit: usize) -> Vec<Slot> {
        let Interval { start, end } = self.question.range;
        let mut points = self.points();
        let mut nexts = vec![0; self.hosts.len()];
        let mut from = from_ms.max(start);
        let mut out = Vec::new();
        while out.len() < limit {
            let Some(start) = points.at_or_after(from).filter(|point| *point < end) else { break };
            if let Ok(slot) = self.evaluate(start, &mut nexts) {
                out.push(slot);
            }
            from = start + 1;
        }
        out
    }

    /// Returns the slot that begins at an instant, or the reason why none does.
    pub fn at(&self, start_ms: i64) -> Result<Slot, Refusal> {
        let range = self.question.range;
        if !(range.start..range.end).contains(&start_ms) {
            return Err(Refusal::OutsideWindow);
        }
        if self.points().at_or_after(start_ms) != Some(start_ms) {
            let is_open = self.grid.iter().any(|g| (g.at.start..g.at.end).contains(&start_ms));
            return Err(if is_open { Refusal::OffGrid } else { Refusal::Closed });
        }
        let mut nexts = vec![0; self.hosts.len()];
        self.evaluate(start_ms, &mut nexts).map_err(|no| match no {
            No::Refusal(refusal) => refusal,
            No::Hosts => self.why_no_hosts(start_ms),
        })
    }

    fn points(&self) -> Points<'_> {
        Points::new(&self.grid, self.question.rules.step_ms)
    }

    /// Decides on a point of the grid. `nexts` has, for each host, the index of the next allowed start; it only grows, so a caller with
    /// ascending starts visits each of them once.
    fn evaluate(&self, start: i64, nexts: &mut [usize]) -> Result<Slot, No> {
        let Question { rules, invitee_active, .. } = self.question;
        let at = Interval::new(start, start.saturating_add(rules.duration_ms));
        if start < self.earliest_ms {
            return Err(No::Refusal(Refusal::TooSoon));
        }
        let Some(day) = self.days.day(start).filter(|day| day.is_bookable) else {
            return Err(No::Refusal(Refusal::OutsideWindow));
        };
        if invitee_active.zip(rules.limits.active_per_invitee).is_some_and(|(has, most)| has >= most) {
            return Err(No::Refusal(Refusal::LimitReached(LimitKind::ActivePerInvitee)));
        }
        // A seat in an existing meeting takes no host's time, and the meeting is already counted.
        if let Some(meeting) = self.with_a_seat(at) {
            return Ok(self.seat(meeting, at));
        }
        if let Some(kind) = day.full {
            return Err(No::Refusal(Refusal::LimitReached(kind)));
        }
        let hosts = self.free_hosts(start, nexts).ok_or(No::Hosts)?;
        Ok(Slot { at, hosts, seats_left: rules.seats.max(1), joins: None })
    }

    /// Returns the hosts that are free at `start`; none if they are too few.
    fn free_hosts(&self, start: i64, nexts: &mut [usize]) -> Option<Vec<u16>> {
        let rotates = rotates(&self.question.rules);
        let mut is_enough = false;
        let mut free = Vec::new();
        for ((index, host), next) in (0_u16..).zip(&self.hosts).zip(nexts) {
            if host.duty == Duty::Nothing {
                continue;
            }
            while host.allowed.get(*next).is_some_and(|starts| starts.end <= start) {
                *next += 1;
            }
            let is_allowed = host.allowed.get(*next).is_some_and(|starts| starts.start <= start);
            if is_allowed && !host.is_unknown {
                free.push(index);
                // Without a rotation all required hosts must be free, and at least one host must be required.
                is_enough |= !rotates || host.duty == Duty::Candidate;
            } else if host.duty == Duty::Needed {
                return None;
            }
        }
        is_enough.then_some(free)
    }

    /// Returns the meeting at exactly this time whose free seats are assigned first.
    fn with_a_seat(&self, at: Interval) -> Option<&'q BookedMeeting> {
        let first = self.joinable.partition_point(|meeting| meeting.core.start < at.start);
        let then = self.joinable[first..].iter().take_while(|meeting| meeting.core.start == at.start);
        then.copied().find(|meeting| meeting.core == at)
    }

    fn seat(&self, meeting: &BookedMeeting, at: Interval) -> Slot {
        let is_in = |host: &HostTimes| meeting.hosts.contains(&host.id);
        let all = (0_u16..).zip(&self.question.hosts);
        Slot {
            at,
            hosts: all.filter(|(_, host)| is_in(host)).map(|(index, _)| index).collect(),
            seats_left: seats_left(&self.question.rules, meeting),
            joins: Some(meeting.meeting.clone()),
        }
    }

    /// Returns the reason why the hosts are not free at `start`.
    fn why_no_hosts(&self, start: i64) -> Refusal {
        let at = Interval::new(start, start.saturating_add(self.question.rules.duration_ms));
        let (mut is_closed, mut is_taken, mut unknown) = (false, false, Vec::new());
        let (mut rotation_is_open, mut rotation_unknown, mut rotation_is_free) = (false, Vec::new(), false);
        for (host, times) in self.hosts.iter().zip(&self.question.hosts) {
            let is_open = host.open.around(at).is_some();
            let is_allowed = host.allowed.iter().any(|starts| (starts.start..starts.end).contains(&start));
            match host.duty {
                Duty::Needed => {
                    is_closed |= !is_open;
                    is_taken |= is_open && !is_allowed;
                    unknown.extend((is_allowed && host.is_unknown).then(|| times.id.clone()));
                }
                Duty::Candidate => {
                    rotation_is_open |= is_open;
                    rotation_is_free |= is_allowed && !host.is_unknown;
                    rotation_unknown.extend((is_allowed && host.is_unknown).then(|| times.id.clone()));
                }
                Duty::Nothing => {}
            }
        }
        if rotates(&self.question.rules) && !rotation_is_free {
            is_closed |= !rotation_is_open;
            is_taken |= rotation_is_open && rotation_unknown.is_empty();
            unknown.extend(rotation_unknown);
        }
        match (is_closed, is_taken, unknown.is_empty()) {
            (true, _, _) => Refusal::Closed,
            (false, true, _) => Refusal::Taken,
            (false, false, false) => Refusal::Unknown(unknown),
            // No host is available.
            (false, false, true) => Refusal::Closed,
        }
    }
}

impl Starts {
    fn for_host(question: &Question, host: &HostTimes, windows: &[Interval]) -> Starts {
        let rules = &question.rules;
        let open: Intervals = windows.iter().copied().collect();
        // A meeting padded by its buffers overlaps a busy time exactly if the bare meeting overlaps the busy time padded the other way
        // round. Other meetings of Switchboard have buffers of their own, which the bare meeting must not overlap.
        let away = |other: Interval| other.widen(rules.buffer_after_ms, rules.buffer_before_ms);
        let busy = host.busy.iter().flat_map(Intervals::iter).map(away);
        let others = host.reserved.iter().filter(|r| question.moved.as_ref() != Some(&r.meeting));
        let reserved = others.flat_map(|r| [r.padded, away(r.core)]);
        let in_the_way: Intervals = busy.chain(reserved).collect();
        let free = open.subtract(&in_the_way);
        let long_enough = free.iter().filter(|f| f.len_ms() >= rules.duration_ms);
        Starts {
            duty: duty(question, host),
            is_unknown: host.busy.is_none() && !rules.unknown_is_free,
            allowed: long_enough.map(|f| Interval::new(f.start, f.end - rules.duration_ms + 1)).collect(),
            open,
        }
    }
}

/// Whether one of several hosts is chosen.
fn rotates(rules: &Rules) -> bool {
    matches!(rules.assignment, Assignment::RoundRobin | Assignment::Priority)
}

/// Whether the host can be in a meeting at all. The windows of such hosts make the grid, so that it does not depend on the requested hosts.
fn serves(rules: &Rules, host: &HostTimes) -> bool {
    match host.role {
        Role::Optional => false,
        Role::Required => true,
        Role::Rotation => match rules.assignment {
            Assignment::Fixed => false,
            Assignment::Collective => true,
            Assignment::RoundRobin | Assignment::Priority => {
                rules.strategy != Strategy::Weighted || host.weight > 0
            }
        },
    }
}

fn duty(question: &Question, host: &HostTimes) -> Duty {
    let rules = &question.rules;
    if !serves(rules, host) {
        return Duty::Nothing;
    }
    if host.role == Role::Required || !rotates(rules) {
        return Duty::Needed;
    }
    if is_listed(question, &host.id) { Duty::Candidate } else { Duty::Nothing }
}

fn is_listed(question: &Question, host: &str) -> bool {
    question.only_hosts.as_ref().is_none_or(|only| only.iter().any(|id| id == host))
}

fn seats_left(rules: &Rules, meeting: &BookedMeeting) -> u32 {
    // A meeting keeps the seats that it was created with; if the event type has fewer by now, fewer can be booked.
    rules.seats.min(meeting.seats).saturating_sub(meeting.seats_taken)
}

fn joinable(question: &Question) -> Vec<&BookedMeeting> {
    let rules = &question.rules;
    let is_in_all =
        |id: &String| question.hosts.iter().any(|h| h.id == *id && duty(question, h) == Duty::Needed);
    let mut found: Vec<&BookedMeeting> = question
        .meetings
        .iter()
        .filter(|m| {
            rules.seats > 1 && seats_left(rules, m) > 0 && question.moved.as_ref() != Some(&m.meeting)
        })
        .filter(|m| m.hosts.iter().all(|host| is_listed(question, host) || is_in_all(host)))
        .collect();
    found.sort_unstable_by(|a, b| (a.core.start, &a.meeting).cmp(&(b.core.start, &b.meeting)));
    found
}
