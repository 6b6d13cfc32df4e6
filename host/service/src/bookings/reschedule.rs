//! Reschedules a booking. Its old time is released and its new time reserved in one transaction, under the same rules and locks as for a
//! new booking: it has one of the two at every moment. A job moves its event, which is not created again unless its organizer changes.

use std::time::Duration;

use base::error::{Code, Result, not_found, refuse};
use base::ids::Kind;
use base::input::validate::{self, fault};
use model::scheduling::booking::{BookingMove, BookingStatus, Party};
use model::scheduling::event_type::EventType;
use scheduling::assign;
use scheduling::oracle::Oracle;
use storage::Tx;
use storage::scheduling::bookings::{self, BookingRow};
use storage::scheduling::{event_types, meeting_events, meetings};

use crate::app::App;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::bookings::change::{self, LockedBooking, MAX_ATTEMPTS, Seat, Viewer};
use crate::bookings::engine_input::{self, SlotRange};
use crate::bookings::locked_meeting::{HeldMeeting, HostLocks, contended, find_join_url, unavailable};
use crate::bookings::meeting_move::{join, leave, move_meeting, uid};
use crate::bookings::notify::kind::MailKind;
use crate::bookings::reschedule_decision::{RescheduleDecision, RescheduleRequest};
use crate::bookings::rules::{self, MINUTE_MS};
use crate::bookings::{decide, list, policy, rotation, schedules, state, timed_transitions, view};
use crate::connections::request_context::RequestContext;

/// Deadline of calendar reads; calendars that were not read by then are unknown.
const DEADLINE: Duration = Duration::from_secs(8);

/// Reschedules a booking for a key with write access.
///
/// # Errors
/// 409 `invalid_state` for one that is not confirmed; 409 `slot_unavailable` for a start that the search does not offer for this booking;
/// 503 `availability_unknown` if it is unknown whether the slot is free.
pub async fn by_key(
    app: &App,
    viewer: Viewer<'_>,
    id: &str,
    new: BookingMove,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let seen = list::find(app, viewer.asker, id).await?;
    let request = RescheduleRequest {
        tenant: seen.row.tenant,
        id: seen.row.id,
        by: Party::Api,
        new,
        manage_version: None,
        sees_hosts: viewer.sees_hosts,
        warnings: viewer.warnings,
    };
    reschedule(app, viewer.asker, &request, attempt).await
}

/// Reschedules a booking, found by `manage_token`, for its invitee.
///
/// # Errors
/// As `by_key`; also 403 `forbidden` if the event type does not let invitees reschedule or cannot be booked now, and 409 `invalid_state` if
/// it is too late or the booking was moved as often as it may be.
pub async fn by_invitee(
    app: &App,
    viewer: Viewer<'_>,
    booking: &BookingRow,
    new: BookingMove,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let request = RescheduleRequest {
        tenant: booking.tenant.clone(),
        id: booking.id.clone(),
        by: Party::Invitee,
        new,
        manage_version: Some(booking.manage_version),
        sees_hosts: viewer.sees_hosts,
        warnings: viewer.warnings,
    };
    reschedule(app, viewer.asker, &request, attempt).await
}

async fn reschedule(
    app: &App,
    asker: &RequestContext,
    request: &RescheduleRequest,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    for _ in 0..MAX_ATTEMPTS {
        let wanted = prepare(app, asker, request).await?;
        // Requests for the same slot queue here, and not at the database.
        let _one = app.locks.lock(&format!("book:{}:{}", wanted.event_type_id, wanted.start_ms)).await;
        let (held, attempt) = (app.clone(), attempt.clone());
        let moved: Result<Option<StoredResponse>> =
            app.db.write(move |tx| Box::pin(async move { write(tx, &held, wanted, &attempt).await })).await;
        // None: the booking, the event type or the meeting was changed since it was read.
        if let Some(answer) = moved? {
            return Ok(answer);
        }
    }
    Err(contended())
}

/// Validates the input, and reads the hosts' calendars.
async fn prepare(
    app: &App,
    asker: &RequestContext,
    request: &RescheduleRequest,
) -> Result<RescheduleDecision> {
    let (reader, new) = (app.db.reader(), &request.new);
    let found = bookings::find(reader, &request.tenant, &request.id).await?;
    let seat = Seat::read(found.ok_or_else(|| not_found("booking"))?)?;
    state::allows_move(seat.status()?, request.by)?;
    let stored = event_types::find(reader, &request.tenant, &seat.row.event_type_id).await?;
    let stored = stored.ok_or_else(|| not_found("event type"))?;
    let mut event_type: EventType = serde_json::from_str(&stored.body)?;
    let schedule_etag = schedules::resolve(reader, &request.tenant, &mut event_type).await?;
    check_rules(&event_type, &seat, request.by, app.now())?;
    // A slot that the search does not offer cannot be booked.
    if request.by == Party::Invitee && !event_type.active {
        return Err(refuse(Code::Forbidden, "nothing of this event type can be booked now"));
    }
    validate::year_of("start", new.start)?;
    let minutes = minutes(&event_type, &seat, new.duration_minutes)?;
    let start_ms = new.start.as_millis();
    let end_ms = start_ms + minutes * MINUTE_MS;
    if (start_ms, end_ms) == (seat.row.start_at, seat.row.end_at) {
        return Err(fault("start", "is already the time of the booking; choose another time"));
    }
    if let Some(token) = &new.slot_token
        && !view::is_slot_current(&app.keyring, token, &stored, start_ms, minutes)?
    {
        return Err(unavailable("the event type was changed after this slot was offered"));
    }
    let rules = rules::for_event_type(&event_type, minutes)?;
    let meeting = meetings::find(reader, &seat.row.meeting_id).await?;
    let is_alone = seat.is_alone_in(&meeting.ok_or_else(|| not_found("booking"))?);
    let mut ignored = engine_input::unwanted(app, &event_type).await?;
    if is_alone {
        let own = meeting_events::of_meeting(reader, &seat.row.meeting_id).await?;
        ignored.extend(own.into_iter().filter_map(|event| event.event_id));
    }
    let of = SlotRange { event_type: &event_type, rules: &rules, range: decide::starting_at(start_ms) };
    let busy = engine_input::busy(app, asker, of, ignored, DEADLINE).await;
    Ok(RescheduleDecision {
        request: request.clone(),
        booking_version: seat.row.version,
        event_type_id: stored.id,
        version: stored.version,
        schedule_etag,
        event_type,
        rules,
        busy,
        start_ms,
        end_ms,
        is_alone,
    })
}

fn check_rules(event_type: &EventType, seat: &Seat, by: Party, now: i64) -> Result<()> {
    state::allows_change(seat.status()?, seat.row.end_at, now)?;
    match by {
        Party::Invitee => {
            let count = seat.body.reschedule_count;
            policy::allows_moving(&event_type.reschedule, count, seat.row.start_at, now)
        }
        _ => Ok(()),
    }
}

/// The length of the booking: by default as before, if the event type still has that length.
fn minutes(event_type: &EventType, seat: &Seat, asked: Option<i64>) -> Result<i64> {
    let before = (seat.row.end_at - seat.row.start_at) / MINUTE_MS;
    let has_it = before == event_type.duration_minutes || event_type.duration_options.contains(&before);
    rules::duration(event_type, asked.or(has_it.then_some(before)))
}

/// Decides and writes the booking and its answer. None: the booking, the event type or the meeting was changed since it was read.
async fn write(
    tx: &mut Tx,
    app: &App,
    wanted: RescheduleDecision,
    attempt: &IdempotentAttempt,
) -> Result<Option<StoredResponse>> {
    let request = &wanted.request;
    let locked = LockedBooking::lock(tx, &request.tenant, &request.id, HostLocks::OfEventType).await?;
    let Some(mut held) = locked else { return Ok(None) };
    if !is_current(tx, &held, &wanted).await? {
        return Ok(None);
    }
    let now = app.now();
    change::check_link(&held.seat, request.manage_version)?;
    state::allows_move(held.seat.status()?, request.by)?;
    check_rules(&wanted.event_type, &held.seat, request.by, now)?;
    let is_asked = wanted.needs_confirmation();
    let (hosts, joins) = choose(tx, &wanted, &held.of, now).await?;
    match joins {
        Some(id) => join(tx, &mut held, &id, now).await?,
        None if wanted.is_alone => move_meeting(tx, &mut held, &wanted, hosts, now).await?,
        None => leave(tx, &mut held, &wanted, app.new_id(Kind::Meeting), hosts, now).await?,
    }
    if note_move(&mut held, &wanted) {
        // The conference belongs to the event of the former organizer, or to the shared meeting.
        let LockedBooking { of, seat } = &mut held;
        find_join_url(tx, &seat.row.id, &mut seat.body, &of.meeting.id).await?;
    }
    let words: &[&'static str] = if is_asked { &["rescheduled", "pending"] } else { &["rescheduled"] };
    if is_asked {
        state::allows(held.seat.status()?, BookingStatus::Pending)?;
        held.seat.set_status(BookingStatus::Pending);
        held.seat.row.confirm_by =
            Some(timed_transitions::confirm_by(&wanted.event_type, wanted.start_ms, now));
    }
    held.write(tx, app, request.by, words, now).await?;
    held.of.wake(tx, now).await?;
    match is_asked {
        true => timed_transitions::enqueue_expiry(tx, &held.seat.row, now).await?,
        false => timed_transitions::enqueue_completion(tx, &held.seat.row, now).await?,
    }
    held.tell(tx, MailKind::Rescheduled, now).await?;
    let printed = view::booking(&held.seat.row, &held.seat.body, &held.of.events, request.sees_hosts)?;
    Ok(Some(change::answer(tx, app, &held.seat.row, printed, request.warnings.clone(), attempt).await?))
}

/// Whether the booking, the event type and the meeting are unchanged since they were read.
async fn is_current(tx: &mut Tx, held: &LockedBooking, wanted: &RescheduleDecision) -> Result<bool> {
    let Some((row, body)) = &held.of.event_type else { return Err(not_found("event type")) };
    if held.seat.row.version != wanted.booking_version {
        // The same move may have been made at the same moment.
        return Ok(false);
    }
    if row.version != wanted.version || held.seat.is_alone_in(&held.of.meeting) != wanted.is_alone {
        return Ok(false);
    }
    match &body.schedule_id {
        Some(id) => schedules::is_current(tx, &row.tenant, id, wanted.schedule_etag.as_deref()).await,
        None => Ok(true),
    }
}

/// Chooses the hosts for the new time, and the existing meeting that the booking joins, if any.
async fn choose(
    tx: &mut Tx,
    wanted: &RescheduleDecision,
    of: &HeldMeeting,
    now: i64,
) -> Result<(Vec<String>, Option<String>)> {
    let (row, _) = of.event_type.as_ref().ok_or_else(|| not_found("event type"))?;
    let (body, rules, range) = (&wanted.event_type, &wanted.rules, decide::starting_at(wanted.start_ms));
    let stored =
        engine_input::stored(&mut *tx, &row.id, SlotRange { event_type: body, rules, range }).await?;
    let mut question = engine_input::question(body, rules.clone(), range, &wanted.busy, &stored, now)?;
    rotation::count(&mut *tx, row, &mut question, wanted.start_ms).await?;
    question.moved = wanted.is_alone.then(|| of.meeting.id.clone());
    question.only_hosts = policy::hosts_to_keep(body, &of.meeting.hosts);
    let slot = Oracle::new(&question).at(wanted.start_ms).map_err(|refusal| decide::refused(&refusal))?;
    Ok((assign::choose(&question, &slot, &of.meeting.hosts), slot.joins))
}

/// Updates the booking after the move. Returns whether it has another event from now on.
fn note_move(held: &mut LockedBooking, wanted: &RescheduleDecision) -> bool {
    let (seat, meeting) = (&mut held.seat, &held.of.meeting);
    let is_elsewhere = seat.row.meeting_id != meeting.id;
    seat.row.meeting_id.clone_from(&meeting.id);
    seat.move_to(wanted.start_ms, wanted.end_ms, wanted.request.by);
    let body = &mut seat.body;
    body.host_ids.clone_from(&meeting.hosts);
    let is_anothers = body.organizer_connection_id.as_ref() != meeting.hosts.first();
    body.organizer_connection_id = meeting.hosts.first().cloned();
    if meeting.seats <= 1 {
        body.i_cal_uid.clone_from(&meeting.i_cal_uid);
    } else if is_anothers {
        // In a shared meeting each booking has its own UID, which is not that of the meeting; with another organizer it is another object.
        body.i_cal_uid = uid(&format!("{}_seat_{}", seat.row.id, body.reschedule_count), &body.i_cal_uid);
    }
    is_elsewhere || is_anothers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uid_keeps_its_domain() {
        assert_eq!(uid("bk_1_2", "bk_1@example.org"), "bk_1_2@example.org");
        assert_eq!(uid("bk_1_2", "no-domain"), "bk_1_2@localhost");
    }
}
