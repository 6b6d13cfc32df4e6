//! The meeting of a booking that is rescheduled: the meeting moves along, or the booking leaves it for another one.

use base::error::Result;
use storage::Tx;
use storage::scheduling::meetings::{self, MeetingRow};
use storage::scheduling::reserved_times;

use crate::bookings::change::LockedBooking;
use crate::bookings::locked_meeting::unavailable;
use crate::bookings::reschedule_decision::RescheduleDecision;

/// Takes a seat in another meeting, and releases the old one.
pub async fn join(tx: &mut Tx, held: &mut LockedBooking, meeting_id: &str, now: i64) -> Result<()> {
    held.of.give_back(tx, held.seat.body.seats, now).await?;
    let none = || unavailable("the last seat was taken");
    if !meetings::take_seat(tx, meeting_id, now).await? {
        return Err(none());
    }
    let meeting = meetings::find(&mut *tx, meeting_id).await?.ok_or_else(none)?;
    held.of.turn_to(tx, meeting).await?;
    held.of.want(tx, &[], now).await
}

/// Moves the meeting, in which the booking is the only one.
pub async fn move_meeting(
    tx: &mut Tx,
    held: &mut LockedBooking,
    wanted: &RescheduleDecision,
    hosts: Vec<String>,
    now: i64,
) -> Result<()> {
    let moved = held.seat.body.reschedule_count + 1;
    let meeting = &mut held.of.meeting;
    let left: Vec<String> = meeting.hosts.iter().filter(|id| !hosts.contains(id)).cloned().collect();
    let organizer = hosts.first().cloned().unwrap_or_default();
    if meeting.hosts.first() != Some(&organizer) {
        // Another organizer may not change the event of this one (RFC 5546, section 2.1): a new event is created, even if the new organizer
        // was in the meeting before and has an event without guests (`EventStep::Replace`).
        meeting.i_cal_uid = uid(&format!("{}_{moved}", held.seat.row.id), &meeting.i_cal_uid);
    }
    meeting.hosts = hosts;
    (meeting.start_at, meeting.end_at) = (wanted.start_ms, wanted.end_ms);
    meeting.buffer_before_ms = wanted.rules.buffer_before_ms;
    meeting.buffer_after_ms = wanted.rules.buffer_after_ms;
    meeting.sequence += 1;
    meeting.updated_at = now;
    meetings::update(tx, meeting).await?;
    reserved_times::release(tx, &held.of.meeting.id).await?;
    hold(tx, held, wanted, &left, now).await
}

/// Leaves a shared meeting for a new one.
pub async fn leave(
    tx: &mut Tx,
    held: &mut LockedBooking,
    wanted: &RescheduleDecision,
    id: String,
    hosts: Vec<String>,
    now: i64,
) -> Result<()> {
    held.of.give_back(tx, held.seat.body.seats, now).await?;
    let before = &held.of.meeting;
    let meeting = MeetingRow {
        i_cal_uid: uid(&id, &before.i_cal_uid),
        id,
        tenant: before.tenant.clone(),
        event_type_id: before.event_type_id.clone(),
        start_at: wanted.start_ms,
        end_at: wanted.end_ms,
        buffer_before_ms: wanted.rules.buffer_before_ms,
        buffer_after_ms: wanted.rules.buffer_after_ms,
        hosts,
        seats: i64::from(wanted.rules.seats),
        seats_taken: held.seat.body.seats.max(1),
        sequence: 0,
        released_at: None,
        created_at: now,
        updated_at: now,
    };
    meetings::insert(tx, &meeting).await?;
    held.of.turn_to(tx, meeting).await?;
    hold(tx, held, wanted, &[], now).await
}

/// Reserves the meeting's time and enqueues its events; neither if it takes no time until it is confirmed.
async fn hold(
    tx: &mut Tx,
    held: &mut LockedBooking,
    wanted: &RescheduleDecision,
    left: &[String],
    now: i64,
) -> Result<()> {
    if !wanted.takes_time() {
        return held.of.want_nowhere(tx, now).await;
    }
    if !held.of.reserve(tx, now).await? {
        return Err(unavailable("this time is taken"));
    }
    held.of.want(tx, left, now).await
}

/// A UID of the same domain.
pub fn uid(local: &str, other: &str) -> String {
    let domain = other.rsplit_once('@').map_or("localhost", |(_, domain)| domain);
    format!("{local}@{domain}")
}
