//! A booking that waits for its host is confirmed or rejected. Of several who decide at the same time one is heard: the others find a
//! booking that is not pending any more.

use std::time::Duration;

use base::error::{Code, Error, Result, refuse};
use base::input::validate;
use base::tenant::Tenant;
use model::scheduling::booking::{BookingStatus, Party};
use model::scheduling::event_type::{EventType, FreeBusyFailure};
use scheduling::interval::Interval;
use serde_json::Value;
use storage::Tx;
use storage::scheduling::bookings::BookingRow;
use storage::scheduling::{event_types, meeting_events, meetings, reserved_times};

use crate::app::App;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::bookings::change::{self, LockedBooking, TRIES, Viewer};
use crate::bookings::locked_meeting::{HostLocks, contended, unavailable};
use crate::bookings::notify::kind::MailKind;
use crate::bookings::rules::{self, MINUTE_MS};
use crate::bookings::{engine_input, list, schedules, state, timed_transitions};
use crate::connections::request_context::RequestContext;

/// Calendars that were not read by then are unknown.
const DEADLINE: Duration = Duration::from_secs(8);
/// Characters of a reason.
pub const MAX_REASON: usize = 2_000;

/// Confirms a booking.
///
/// # Errors
/// 409 `invalid_state` unless it is pending; 409 `slot_unavailable`, or 503 `availability_unknown`, where its time was not reserved while
/// it was pending and cannot be had now.
pub async fn confirm(
    app: &App,
    viewer: Viewer<'_>,
    id: &str,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let seen = list::find(app, viewer.asker, id).await?;
    state::allows(seen.status()?, BookingStatus::Confirmed)?;
    ensure_free(app, viewer.asker, &seen.row).await?;
    for _ in 0..TRIES {
        let (held, attempt) = (app.clone(), attempt.clone());
        let viewed = (viewer.sees_hosts, viewer.warnings.clone());
        let of = (seen.row.tenant.clone(), seen.row.id.clone());
        let confirmed: Result<Option<StoredResponse>> = app
            .db
            .write(move |tx| Box::pin(async move { write(tx, &held, of, viewed, &attempt).await }))
            .await;
        if let Some(answer) = confirmed? {
            return Ok(answer);
        }
    }
    Err(contended())
}

/// Refuses to confirm what has no time reserved and would meet something in the hosts' calendars. What is reserved is the booking's
/// already: of the rest the host decides.
async fn ensure_free(app: &App, asker: &RequestContext, row: &BookingRow) -> Result<()> {
    let reader = app.db.reader();
    if reserved_times::is_reserved(reader, &row.meeting_id).await? {
        return Ok(());
    }
    let Some(stored) = event_types::find(reader, &row.tenant, &row.event_type_id).await? else {
        // Which calendars count is not known any more.
        return Ok(());
    };
    let mut event_type: EventType = serde_json::from_str(&stored.body)?;
    schedules::resolve(reader, &row.tenant, &mut event_type).await?;
    let Some(meeting) = meetings::find(reader, &row.meeting_id).await? else { return Ok(()) };
    let rules = rules::of(&event_type, (row.end_at - row.start_at) / MINUTE_MS)?;
    let range = Interval::new(row.start_at, row.start_at.saturating_add(1));
    let own = meeting_events::of_meeting(reader, &row.meeting_id).await?;
    let mut ignored = engine_input::unwanted(app, &event_type).await?;
    ignored.extend(own.into_iter().filter_map(|event| event.event_id));
    let busy = engine_input::busy(app, asker, (&event_type, &rules), range, ignored, DEADLINE).await;
    let at = Interval::new(row.start_at, row.end_at);
    let at = at.widen(meeting.buffer_before_ms, meeting.buffer_after_ms);
    let is_closed = event_type.free_busy_failure == FreeBusyFailure::Closed;
    for (host, busy) in event_type.hosts.iter().zip(&busy) {
        if !meeting.hosts.contains(&host.connection_id) {
            continue;
        }
        match busy {
            Ok(busy) if busy.iter().any(|other| other.overlaps(at)) => {
                return Err(unavailable("the host has something else at this time"));
            }
            Err(_) if is_closed => return Err(engine_input::unknown()),
            _ => {}
        }
    }
    Ok(())
}

/// Confirms it in a transaction. None: it was moved meanwhile.
async fn write(
    tx: &mut Tx,
    app: &App,
    (tenant, id): (Tenant, String),
    viewed: (bool, Vec<Value>),
    attempt: &IdempotentAttempt,
) -> Result<Option<StoredResponse>> {
    let locked = LockedBooking::lock(tx, &tenant, &id, HostLocks::OfEventType).await?;
    let Some(mut held) = locked else { return Ok(None) };
    let now = app.now();
    state::allows(held.seat.status()?, BookingStatus::Confirmed)?;
    if held.seat.row.confirm_by.is_some_and(|at| at <= now) {
        // Its job comes later.
        return Err(over());
    }
    let is_reserved = reserved_times::is_reserved(&mut *tx, &held.of.meeting.id).await?;
    if !is_reserved && !held.of.reserve(tx, now).await? {
        return Err(unavailable("this time is taken"));
    }
    held.of.want(tx, &[], now).await?;
    held.seat.set_status(BookingStatus::Confirmed);
    let shown = (&mut held.seat, held.of.events.as_slice());
    change::write(tx, app, shown, (Party::Api, &["confirmed"], &[]), now).await?;
    held.of.wake(tx, now).await?;
    timed_transitions::enqueue_completion(tx, &held.seat.row, now).await?;
    held.tell(tx, MailKind::Confirmed, now).await?;
    Ok(Some(change::answer(tx, app, (&held.seat, &held.of.events), viewed, attempt).await?))
}

fn over() -> Error {
    refuse(Code::InvalidState, "a booking that is expired cannot become confirmed: confirmBy is past")
}

/// Rejects a booking: its time is free with the answer.
///
/// # Errors
/// 409 `invalid_state` unless it is pending.
pub async fn reject(
    app: &App,
    viewer: Viewer<'_>,
    (id, reason): (&str, Option<String>),
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    validate::text("reason", reason.as_deref(), MAX_REASON)?;
    let seen = list::find(app, viewer.asker, id).await?;
    for _ in 0..TRIES {
        let (held, attempt, reason) = (app.clone(), attempt.clone(), reason.clone());
        let viewed = (viewer.sees_hosts, viewer.warnings.clone());
        let of = (seen.row.tenant.clone(), seen.row.id.clone());
        let rejected: Result<Option<StoredResponse>> = app
            .db
            .write(move |tx| {
                Box::pin(async move { write_rejection(tx, &held, of, (reason, viewed), &attempt).await })
            })
            .await;
        if let Some(answer) = rejected? {
            return Ok(answer);
        }
    }
    Err(contended())
}

async fn write_rejection(
    tx: &mut Tx,
    app: &App,
    (tenant, id): (Tenant, String),
    (reason, viewed): (Option<String>, (bool, Vec<Value>)),
    attempt: &IdempotentAttempt,
) -> Result<Option<StoredResponse>> {
    let locked = LockedBooking::lock(tx, &tenant, &id, HostLocks::OfMeeting).await?;
    let Some(mut held) = locked else { return Ok(None) };
    held.seat.body.rejection_reason = reason;
    held.end(tx, app, (BookingStatus::Rejected, Party::Api), app.now()).await?;
    Ok(Some(change::answer(tx, app, (&held.seat, &held.of.events), viewed, attempt).await?))
}
