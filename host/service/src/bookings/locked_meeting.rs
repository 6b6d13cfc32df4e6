//! A locked meeting: operations that reserve and release its time and seats, and add or remove its events in calendars. Locks are taken in
//! the order of `storage::scheduling`: the event type, the connections of hosts in id order, the meeting.

use std::collections::{BTreeMap, BTreeSet};

use base::error::{Code, Error, Result, not_found, refuse};
use base::tenant::Tenant;
use model::scheduling::booking::Booking;
use model::scheduling::event_type::{EventType, HostRole};
use storage::Tx;
use storage::locked::ConnectionLock;
use storage::scheduling::bookings;
use storage::scheduling::event_types::{self, EventTypeRow};
use storage::scheduling::meeting_events::{self, EVENT_JOB, MeetingEventRow, MeetingHost};
use storage::scheduling::meetings::{self, MeetingRow};
use storage::scheduling::reserved_times::{self, NewReserved};

use crate::bookings::event_body;

/// A meeting, locked until the transaction ends.
pub struct HeldMeeting {
    /// None: the event type was deleted.
    pub event_type: Option<(EventTypeRow, EventType)>,
    pub meeting: MeetingRow,
    /// The meeting's events in the hosts' calendars.
    pub events: Vec<MeetingEventRow>,
    /// Locks of the meeting's hosts, of other connections with its event and, if requested, of the event type's hosts, by connection id.
    /// Deleted connections are missing.
    locks: BTreeMap<String, ConnectionLock>,
    /// Events to be written, by meeting and connection.
    wakes: BTreeSet<(String, String)>,
    /// Whether the meeting differs from the one for which the locks were taken: then a host of it who has left the event type is not
    /// locked, although the connection may exist.
    is_other: bool,
}

/// Hosts that are locked in addition to those of the meeting and its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostLocks {
    /// No others.
    OfMeeting,
    /// All of the event type: for changes that choose hosts again, or invite hosts without an event.
    OfEventType,
}

/// The 409 error for a time that is not available.
pub fn unavailable(why: &str) -> Error {
    refuse(Code::SlotUnavailable, format!("{why}; ask for slots again and choose another one"))
}

/// The 503 error after repeated conflicts with other changes.
pub fn contended() -> Error {
    refuse(Code::Overloaded, "the booking is being changed by others at the same time; try again")
}

/// Gives a booking that joins a meeting the meeting's conference link, copied from another booking; none while no booking has the link. A
/// link of the event type itself is kept. Other bookings are read only if calendars create conferences for the booking's location: a
/// meeting can have a thousand seats, and each booking would read all others.
pub async fn find_join_url(tx: &mut Tx, id: &str, booking: &mut Booking, meeting_id: &str) -> Result<()> {
    let Some(place) = booking.location.as_mut().filter(|place| place.value.is_none()) else {
        return Ok(());
    };
    place.join_url = None;
    if event_body::provider_of(place.kind).is_none() {
        return Ok(());
    }
    for row in bookings::with_seat(&mut *tx, meeting_id).await? {
        let other: Booking = serde_json::from_str(&row.body)?;
        let theirs = other.location.filter(|theirs| theirs.kind == place.kind && theirs.value.is_none());
        if let Some(url) = theirs.and_then(|theirs| theirs.join_url).filter(|_| row.id != id) {
            place.join_url = Some(url);
            break;
        }
    }
    Ok(())
}

impl HeldMeeting {
    /// Locks a meeting and everything that a change of it can affect. None: its hosts were changed before the locks were taken; retry in
    /// another transaction.
    pub async fn lock(
        tx: &mut Tx,
        tenant: &Tenant,
        event_type_id: &str,
        meeting_id: &str,
        hosts: HostLocks,
    ) -> Result<Option<HeldMeeting>> {
        let event_type = match event_types::lock(tx, tenant, event_type_id).await? {
            Some(row) => {
                let body: EventType = serde_json::from_str(&row.body)?;
                Some((row, body))
            }
            None => None,
        };
        let seen = meetings::find(&mut *tx, meeting_id).await?.ok_or_else(|| not_found("booking"))?;
        let written = meeting_events::of_meeting(&mut *tx, meeting_id).await?;
        let of_event_type = event_type.iter().filter(|_| hosts == HostLocks::OfEventType);
        let all = of_event_type.flat_map(|(_, body)| &body.hosts).map(|host| &host.connection_id);
        let ids: BTreeSet<&String> =
            all.chain(&seen.hosts).chain(written.iter().map(|event| &event.connection_id)).collect();
        let locks = ConnectionLock::take_all(tx, tenant, &ids).await?;
        let locks = locks.into_iter().map(|lock| (lock.id.clone(), lock)).collect();
        let meeting = meetings::lock(tx, meeting_id).await?.ok_or_else(|| not_found("booking"))?;
        let events = meeting_events::of_meeting(&mut *tx, meeting_id).await?;
        let is_same = meeting.hosts == seen.hosts && events.len() == written.len();
        let wakes = BTreeSet::new();
        Ok(is_same.then_some(HeldMeeting { event_type, meeting, events, locks, wakes, is_other: false }))
    }

    /// The current event type.
    pub fn event_type(&self) -> Option<&EventType> {
        self.event_type.as_ref().map(|(_, body)| body)
    }

    /// The lock of a host; none if the account was disconnected.
    pub fn lock_of(&self, connection_id: &str) -> Option<&ConnectionLock> {
        self.locks.get(connection_id)
    }

    /// Switches to another meeting of the event type. The same locks cover its hosts, except those who have left the event type.
    pub async fn turn_to(&mut self, tx: &mut Tx, meeting: MeetingRow) -> Result<()> {
        self.events = meeting_events::of_meeting(&mut *tx, &meeting.id).await?;
        self.meeting = meeting;
        self.is_other = true;
        Ok(())
    }

    /// Reserves the hosts' time for the meeting and its buffers. False: the time of a host is taken; other reservations are not undone.
    pub async fn reserve(&self, tx: &mut Tx, now: i64) -> Result<bool> {
        let mut new = Vec::new();
        for host in &self.meeting.hosts {
            let Some(lock) = self.locks.get(host) else {
                return Err(unavailable("the host's account was disconnected"));
            };
            new.extend(NewReserved::of_meeting(&self.meeting, lock, self.calendar_of(host), now));
        }
        Ok(reserved_times::reserve(tx, &new).await?)
    }

    /// The host's calendar for the meeting.
    fn calendar_of(&self, connection_id: &str) -> &str {
        let written = self.events.iter().find(|event| event.connection_id == connection_id);
        if let Some(event) = written {
            return &event.calendar_id;
        }
        let mut hosts = self.event_type().into_iter().flat_map(|body| &body.hosts);
        let host = hosts.find(|host| host.connection_id == connection_id);
        host.and_then(|host| host.calendar_id.as_deref()).unwrap_or_default()
    }

    /// Marks the current state of the meeting as wanted in the calendars of its hosts, of other connections with its event, and of optional
    /// hosts, for whom the event is the invitation; `left` are hosts that no longer have the meeting.
    pub async fn want(&mut self, tx: &mut Tx, left: &[String], now: i64) -> Result<()> {
        let optional = self.optional();
        let is_wanted = |event: &MeetingEventRow| {
            let id = &event.connection_id;
            let is_invited = self.meeting.hosts.contains(id) || optional.contains(id);
            is_invited || (event.is_wanted && !left.contains(id))
        };
        let wanted: Vec<bool> = self.events.iter().map(is_wanted).collect();
        let mut written = self.set(&wanted, now);
        // A host who became optional later is not invited to earlier meetings.
        let invited = if self.events.is_empty() { optional } else { Vec::new() };
        let has = |id: &String| self.events.iter().any(|event| event.connection_id == *id);
        let new: Vec<String> =
            self.meeting.hosts.iter().chain(&invited).filter(|&id| !has(id)).cloned().collect();
        for connection_id in new {
            let event = MeetingEventRow {
                meeting_id: self.meeting.id.clone(),
                tenant: self.meeting.tenant.clone(),
                calendar_id: self.calendar_of(&connection_id).to_owned(),
                connection_id,
                event_id: None,
                i_cal_uid: self.meeting.i_cal_uid.clone(),
                is_wanted: true,
                status: "pending".to_owned(),
                written_sequence: -1,
                attempts: 0,
                error: None,
                next_attempt_at: Some(now),
                created_at: now,
                updated_at: now,
            };
            self.wakes.insert((event.meeting_id.clone(), event.connection_id.clone()));
            written.push(event.clone());
            self.events.push(event);
        }
        Ok(meeting_events::upsert(tx, &written).await?)
    }

    /// The optional hosts of the event type.
    fn optional(&self) -> Vec<String> {
        let hosts = self.event_type().into_iter().flat_map(|body| &body.hosts);
        let optional = hosts.filter(|host| host.role == HostRole::Optional).map(|host| &host.connection_id);
        let is_there = |id: &String| self.locks.contains_key(id) && !self.meeting.hosts.contains(id);
        optional.filter(|&id| is_there(id)).cloned().collect()
    }

    /// Marks the meeting as wanted in no calendar.
    pub async fn want_nowhere(&mut self, tx: &mut Tx, now: i64) -> Result<()> {
        let written = self.set(&vec![false; self.events.len()], now);
        Ok(meeting_events::upsert(tx, &written).await?)
    }

    /// Marks each of `events` as wanted, in the current state of the meeting, or as not wanted, by the flag in `wanted`. Returns the rows
    /// to write.
    fn set(&mut self, wanted: &[bool], now: i64) -> Vec<MeetingEventRow> {
        let mut written = Vec::new();
        for (event, is_wanted) in self.events.iter_mut().zip(wanted.iter().copied()) {
            let is_locked = self.locks.contains_key(&event.connection_id);
            let is_gone = event.event_id.is_none() && event.status == "deleted";
            // The row of another meeting is only written under the lock of its connection.
            if (self.is_other && !is_locked) || (is_gone && !is_wanted) {
                continue;
            }
            if is_gone {
                // Providers refuse to create an event under the idempotency key of a deleted one, so it needs a new key.
                event.created_at = now.max(event.created_at + 1);
                event.written_sequence = -1;
            }
            if event.event_id.is_none() {
                event.i_cal_uid.clone_from(&self.meeting.i_cal_uid);
            }
            event.is_wanted = is_wanted;
            event.updated_at = now.max(event.updated_at + 1);
            if is_locked {
                event.status = "pending".to_owned();
                event.error = None;
                event.next_attempt_at = Some(now);
                self.wakes.insert((event.meeting_id.clone(), event.connection_id.clone()));
            } else {
                event.status = "failed".to_owned();
                event.error = Some("the account was disconnected".to_owned());
                event.next_attempt_at = None;
            }
            written.push(event.clone());
        }
        written
    }

    /// Records that the host's calendar has the current state of the meeting, because the host made the change there.
    pub async fn mark_written(&mut self, tx: &mut Tx, connection_id: &str, now: i64) -> Result<()> {
        let sequence = self.meeting.sequence;
        let Some(event) = self.events.iter_mut().find(|event| event.connection_id == connection_id) else {
            return Ok(());
        };
        event.status = "written".to_owned();
        event.error = None;
        if event.written_sequence >= 0 {
            event.written_sequence = sequence;
        }
        event.next_attempt_at = None;
        event.updated_at = now.max(event.updated_at + 1);
        meeting_events::update(tx, event).await?;
        self.wakes.remove(&(event.meeting_id.clone(), event.connection_id.clone()));
        Ok(())
    }

    /// Releases seats. The last one cancels the meeting: its time is free after the commit, and jobs delete its events.
    pub async fn give_back(&mut self, tx: &mut Tx, seats: i64, now: i64) -> Result<()> {
        self.meeting.seats_taken = (self.meeting.seats_taken - seats.max(1)).max(0);
        self.meeting.updated_at = now;
        if self.meeting.seats_taken == 0 {
            self.meeting.released_at = Some(now);
            reserved_times::release(tx, &self.meeting.id).await?;
            self.want_nowhere(tx, now).await?;
        }
        Ok(meetings::update(tx, &self.meeting).await?)
    }

    /// Enqueues the jobs of the events to be written. In the order of locks, jobs come after the log (`LockRank`).
    pub async fn wake(&mut self, tx: &mut Tx, now: i64) -> Result<()> {
        let wakes = std::mem::take(&mut self.wakes);
        let tenant = &self.meeting.tenant;
        let hosts =
            wakes.iter().map(|(meeting_id, connection_id)| MeetingHost { tenant, meeting_id, connection_id });
        let hosts: Vec<MeetingHost<'_>> = hosts.collect();
        Ok(meeting_events::enqueue(tx, EVENT_JOB, &hosts, now).await?)
    }
}
