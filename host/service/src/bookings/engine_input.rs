//! Reads the input of the slot engine: the hosts' busy times at their providers, and stored reservations and bookings. Busy times are read
//! before a transaction; the rest is read in it when a booking is made.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use base::error::{Code, Error, Refusal, Result};
use model::calendar_query::TargetErrorCode;
use model::scheduling::event_type::{EventType, Host, HostRole};
use scheduling::interval::{Interval, Intervals};
use scheduling::rules::{BookedMeeting, HostReservation, HostTimes, Limits, Question, Rules};
use storage::scheduling::meetings::{self, MeetingRow};
use storage::scheduling::reserved_times::{self, MAX_LENGTH_MS, ReservedRow};
use storage::scheduling::{meeting_events, pending};
use storage::sql::On;
use tokio::time::Instant;

use crate::app::App;
use crate::bookings::rules;
use crate::connections::request_context::RequestContext;
use crate::freebusy::gather as calendars;
use crate::freebusy::gather::BusyOwner;

const DAY_MS: i64 = 24 * 60 * 60_000;
/// Seconds after which a retry makes sense when busy times could not be read.
const RETRY_AFTER_S: u64 = 5;

/// The busy times of each host, or the error of its calendars, in the hosts' order.
pub type HostBusyTimes = Vec<Result<Intervals, TargetErrorCode>>;

/// A range of starts of an event type's meetings.
#[derive(Clone, Copy)]
pub struct SlotRange<'a> {
    pub event_type: &'a EventType,
    pub rules: &'a Rules,
    /// The range in which the meetings begin.
    pub range: Interval,
}

/// The 503 error for hosts whose availability is unknown.
pub fn unknown() -> Error {
    let message = "the hosts' calendars cannot be read now, so it is not known when they are free; try again";
    Refusal::new(Code::AvailabilityUnknown, message).retry_after_s(RETRY_AFTER_S).into()
}

/// The busy times that can conflict with a meeting that begins in the range. A host whose calendars were not read by the deadline is
/// unknown. `ignored` are events that do not count. Optional hosts' calendars are not read, because they cause no conflict.
pub async fn busy(
    app: &App,
    asker: &RequestContext,
    of: SlotRange<'_>,
    ignored: HashSet<String>,
    deadline: Duration,
) -> HostBusyTimes {
    let all: Vec<usize> = (0..of.event_type.hosts.len()).collect();
    busy_of(app, asker, of, ignored, &all, Instant::now() + deadline).await
}

/// As `busy`, for the hosts with these indices. Other candidates count as always busy, and are not read.
pub async fn busy_of(
    app: &App,
    asker: &RequestContext,
    of: SlotRange<'_>,
    ignored: HashSet<String>,
    hosts: &[usize],
    until: Instant,
) -> HostBusyTimes {
    let SlotRange { event_type, rules, range } = of;
    // An event type acts with the rights of the key that saved it: its bookers need no access to the calendars.
    let asker =
        asker.for_event_type(event_type.hosts.iter().map(|host| host.connection_id.clone()).collect());
    let question = crate::freebusy::question::BusyQuery {
        ranges: Intervals::from(whole_days(reach(rules, range))),
        zone: rules.zone.clone(),
        tentative_as_busy: true,
        details: false,
        ignored,
    };
    let is_asked = |(index, host): &(usize, &Host)| host.role != HostRole::Optional && hosts.contains(index);
    let asked: Vec<(usize, &Host)> = event_type.hosts.iter().enumerate().filter(is_asked).collect();
    let targets: Vec<BusyOwner> = asked.iter().map(|(_, host)| whose(host)).collect();
    let answers = calendars::busy_by(app, &asker, &question, &targets, until).await;
    let mut busy: HostBusyTimes =
        event_type.hosts.iter().map(|host| Ok(not_asked(host, rules, range))).collect();
    for ((index, _), answer) in asked.into_iter().zip(answers) {
        if let Some(of_host) = busy.get_mut(index) {
            *of_host = match answer {
                Ok(found) => Ok(found.iter().map(|b| b.at).collect()),
                Err(e) => Err(e.code),
            };
        }
    }
    busy
}

/// The busy times assumed for a host whose calendars are not read.
fn not_asked(host: &Host, rules: &Rules, range: Interval) -> Intervals {
    match host.role {
        HostRole::Optional => Intervals::default(),
        HostRole::Required | HostRole::Rotation => Intervals::from(reach(rules, range)),
    }
}

/// Events of meetings that no longer take place but are still in the hosts' calendars: they do not count as busy.
pub async fn unwanted(app: &App, event_type: &EventType) -> Result<HashSet<String>> {
    let hosts: Vec<String> = event_type.hosts.iter().map(|host| host.connection_id.clone()).collect();
    Ok(meeting_events::unwanted(app.db.reader(), &hosts).await?.into_iter().collect())
}

fn whose(host: &Host) -> BusyOwner {
    let named = &host.conflict_calendar_ids;
    // Including the calendar of the booking's event: if the host moved it onto another event, that time has no reservation.
    let own = host.calendar_id.iter().filter(|id| !named.contains(id));
    let calendar_ids = (!named.is_empty()).then(|| named.iter().chain(own).cloned().collect());
    BusyOwner::Calendars { connection_id: host.connection_id.clone(), calendar_ids }
}

/// The range of meetings that begin in a range, with their buffers.
fn reach(rules: &Rules, range: Interval) -> Interval {
    let buffer = rules.buffer_before_ms.max(rules.buffer_after_ms);
    range.widen(buffer, buffer.saturating_add(rules.duration_ms))
}

/// The days (UTC) that a range touches, so that queries starting at the current moment share a cache entry (`busy_times`).
fn whole_days(range: Interval) -> Interval {
    let days = |ms: i64| ms.div_euclid(DAY_MS);
    let last = days(range.end.saturating_sub(1));
    Interval::new(days(range.start).saturating_mul(DAY_MS), last.saturating_add(1).saturating_mul(DAY_MS))
}

/// Reservations and meetings from the database.
#[derive(Default)]
pub struct StoredReservations {
    reserved: Vec<ReservedRow>,
    meetings: Vec<MeetingRow>,
}

/// Reads the reservations of the hosts near a range of starts, and the meetings of the event type in it and in the periods that a limit
/// counts.
pub async fn stored(
    on: impl Into<On<'_>>,
    event_type_id: &str,
    of: SlotRange<'_>,
) -> Result<StoredReservations> {
    let SlotRange { event_type, rules, range } = of;
    let mut on: On<'_> = on.into();
    // A day more on each side, so that a meeting is found as a whole if its buffer is near.
    let near = reach(rules, range).widen(MAX_LENGTH_MS, MAX_LENGTH_MS);
    let connections: Vec<String> = event_type.hosts.iter().map(|host| host.connection_id.clone()).collect();
    let calendars: Vec<String> = event_type.hosts.iter().flat_map(calendars_of).cloned().collect();
    let mut reserved = reserved_times::of_connections(on.again(), &connections, near.start, near.end).await?;
    // The same calendar can also be reached by another connection.
    let by_calendars = (&calendars[..], &connections[..]);
    reserved.extend(reserved_times::of_calendars(on.again(), by_calendars, near.start, near.end).await?);
    let counted = counted_ms(&rules.limits);
    let periods = range.widen(counted, counted);
    let mut meetings = meetings::of_event_type(on.again(), event_type_id, periods.start, periods.end).await?;
    // A meeting without reserved time conflicts with nothing, and counts toward no limit.
    let unreserved = pending::unreserved(on.again(), event_type_id, periods.start, periods.end).await?;
    let unreserved: HashSet<String> = unreserved.into_iter().collect();
    meetings.retain(|meeting| !unreserved.contains(&meeting.id));
    Ok(StoredReservations { reserved, meetings })
}

fn calendars_of(host: &Host) -> impl Iterator<Item = &String> {
    host.conflict_calendar_ids.iter().chain(&host.calendar_id)
}

/// No period that a limit counts is longer.
fn counted_ms(limits: &Limits) -> i64 {
    let days = if limits.per_year.is_some() {
        367
    } else if limits.per_month.is_some() {
        32
    } else if limits.per_week.is_some() {
        8
    } else {
        2
    };
    days * DAY_MS
}

/// Builds the engine's question: when, in a range of starts, hosts with these busy times can meet.
pub fn question(
    event_type: &EventType,
    rules: Rules,
    range: Interval,
    busy: &HostBusyTimes,
    stored: &StoredReservations,
    now_ms: i64,
) -> Result<Question> {
    let mut hosts = Vec::with_capacity(event_type.hosts.len());
    let by_owner = ByOwner::new(&stored.reserved);
    for (host, busy) in event_type.hosts.iter().zip(busy) {
        hosts.push(HostTimes {
            id: host.connection_id.clone(),
            role: host.role,
            priority: host.priority,
            weight: u32::try_from(host.weight).unwrap_or(0),
            plan: rules::plan("schedule", host.schedule.as_ref())?,
            busy: busy.as_ref().ok().cloned(),
            reserved: by_owner.reserved(host),
            load: 0,
            last_assigned_ms: 0,
        });
    }
    let meetings = stored.meetings.iter().map(booked_meeting).collect();
    Ok(Question {
        range,
        now_ms,
        rules,
        hosts,
        meetings,
        invitee_active: None,
        moved: None,
        only_hosts: None,
    })
}

/// Rows of reserved time by owner: by connection and by calendar.
struct ByOwner<'a> {
    of_connections: HashMap<&'a str, Vec<&'a ReservedRow>>,
    of_calendars: HashMap<&'a str, Vec<&'a ReservedRow>>,
}

impl<'a> ByOwner<'a> {
    fn new(rows: &'a [ReservedRow]) -> Self {
        let mut by = ByOwner { of_connections: HashMap::new(), of_calendars: HashMap::new() };
        for row in rows {
            by.of_connections.entry(&row.connection_id).or_default().push(row);
            by.of_calendars.entry(&row.calendar_id).or_default().push(row);
        }
        by
    }

    /// The meetings that reserve a host's time. A row that matches by both is seen twice, which makes no difference.
    fn reserved(&self, host: &Host) -> Vec<HostReservation> {
        let own = self.of_connections.get(host.connection_id.as_str());
        let in_calendars = calendars_of(host).filter_map(|id| self.of_calendars.get(id.as_str()));
        let mut by_meeting: BTreeMap<(&str, &str), HostReservation> = BTreeMap::new();
        for row in own.into_iter().chain(in_calendars).flatten() {
            let at = Interval::new(row.start_at, row.end_at);
            let found = by_meeting
                .entry((row.meeting_id.as_str(), row.connection_id.as_str()))
                .or_insert_with(|| HostReservation {
                    meeting: row.meeting_id.clone(),
                    core: Interval::new(at.start, at.start),
                    padded: at,
                });
            found.padded = Interval::new(found.padded.start.min(at.start), found.padded.end.max(at.end));
            if !row.is_buffer {
                found.core = at;
            }
        }
        by_meeting.into_values().collect()
    }
}

fn booked_meeting(row: &MeetingRow) -> BookedMeeting {
    BookedMeeting {
        meeting: row.id.clone(),
        core: Interval::new(row.start_at, row.end_at),
        hosts: row.hosts.clone(),
        seats: u32::try_from(row.seats).unwrap_or(u32::MAX),
        seats_taken: u32::try_from(row.seats_taken).unwrap_or(u32::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_asked_for_with_the_whole_of_its_days() {
        let days = |from, to| Interval::new(from * DAY_MS, to * DAY_MS);
        assert_eq!(whole_days(Interval::new(DAY_MS + 1, 2 * DAY_MS + 1)), days(1, 3));
        assert_eq!(whole_days(days(1, 2)), days(1, 2));
        assert_eq!(whole_days(Interval::new(-1, 1)), days(-1, 1));
    }
}
