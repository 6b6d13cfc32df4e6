//! Confirms or rejects a pending booking. Of several concurrent decisions one succeeds: the others find a booking that is no longer
//! pending.

use std::time::Duration;

use base::error::{Code, Error, Result, refuse};
use base::input::validate;
use base::tenant::Tenant;
use model::bounds::scheduling::MAX_REASON;
use model::scheduling::booking::{BookingStatus, Party};
use model::scheduling::event_type::{EventType, FreeBusyFailure};
use scheduling::interval::Interval;
use serde_json::Value;
use storage::Tx;
use storage::scheduling::bookings::BookingRow;
use storage::scheduling::{event_types, meeting_events, meetings, reserved_times};

use crate::app::App;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::bookings::change::{self, LockedBooking, MAX_ATTEMPTS, Viewer};
use crate::bookings::engine_input::{self, SlotRange};
use crate::bookings::host_decision::HostRight;
use crate::bookings::locked_meeting::{HostLocks, contended, unavailable};
use crate::bookings::notify::kind::MailKind;
use crate::bookings::rules::{self, MINUTE_MS};
use crate::bookings::{list, schedules, state, timed_transitions, view};
use crate::connections::request_context::RequestContext;

/// Deadline of calendar reads; calendars that were not read by then are unknown.
const DEADLINE: Duration = Duration::from_secs(8);

/// A confirmation or rejection of one booking.
#[derive(Clone)]
struct DecisionRequest {
    tenant: Tenant,
    id: String,
    /// The host who decides by a link; none: an API key.
    host: Option<HostRight>,
    sees_hosts: bool,
    warnings: Vec<Value>,
}

impl DecisionRequest {
    fn by_key(viewer: Viewer<'_>, row: &BookingRow) -> DecisionRequest {
        DecisionRequest {
            tenant: row.tenant.clone(),
            id: row.id.clone(),
            host: None,
            sees_hosts: viewer.sees_hosts,
            warnings: viewer.warnings,
        }
    }

    fn by_host(row: &BookingRow, right: &HostRight) -> DecisionRequest {
        DecisionRequest {
            tenant: row.tenant.clone(),
            id: row.id.clone(),
            host: Some(right.clone()),
            sees_hosts: true,
            warnings: Vec::new(),
        }
    }

    /// Refuses a booking that cannot become `to`, and a host who may not decide or has seen another time.
    fn ensure_allowed(&self, held: &LockedBooking, to: BookingStatus, now: i64) -> Result<()> {
        if let Some(host) = &self.host {
            host.ensure_valid(held)?;
        }
        state::allows(held.seat.status()?, to)?;
        // Past its deadline, but not yet expired by its job. A key may still reject it.
        let is_late = held.seat.row.confirm_by.is_some_and(|at| at <= now);
        if is_late && (to == BookingStatus::Confirmed || self.host.is_some()) {
            return Err(over());
        }
        self.host.as_ref().map_or(Ok(()), |host| host.ensure_seen(held))
    }

    /// Records in the row who decided, and when.
    fn sign(&self, row: &mut BookingRow, now: i64) {
        row.decided_at = Some(now);
        row.decided_by = self.host.as_ref().map(|host| host.connection_id.clone());
    }
}

/// Confirms a booking.
///
/// # Errors
/// 409 `invalid_state` unless it is pending; 409 `slot_unavailable`, or 503 `availability_unknown`, if its time was not reserved while it
/// was pending and is not available now.
pub async fn confirm(
    app: &App,
    viewer: Viewer<'_>,
    id: &str,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let seen = list::find(app, viewer.asker, id).await?;
    state::allows(seen.status()?, BookingStatus::Confirmed)?;
    ensure_free(app, viewer.asker, &seen.row).await?;
    confirm_by(app, DecisionRequest::by_key(viewer, &seen.row), attempt).await
}

/// Confirms a booking for a host with the link in their email.
///
/// # Errors
/// As `confirm`; also 404 `not_found` if the host's right has ended, and 409 `stale_etag` if the booking has another time than the host
/// saw.
// Contract silent: the origin, in the log, of what a host does on a page of ours. `api`, as of invitees: `provider` is for calendars.
pub async fn confirm_by_host(
    app: &App,
    asker: &RequestContext,
    row: &BookingRow,
    right: &HostRight,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    state::allows(state::parse_status(&row.status)?, BookingStatus::Confirmed)?;
    ensure_free(app, asker, row).await?;
    confirm_by(app, DecisionRequest::by_host(row, right), attempt).await
}

async fn confirm_by(
    app: &App,
    request: DecisionRequest,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    for _ in 0..MAX_ATTEMPTS {
        let (held, request, attempt) = (app.clone(), request.clone(), attempt.clone());
        let confirmed: Result<Option<StoredResponse>> =
            app.db.write(move |tx| Box::pin(async move { write(tx, &held, request, &attempt).await })).await;
        if let Some(answer) = confirmed? {
            return Ok(answer);
        }
    }
    Err(contended())
}

/// Refuses to confirm a booking without reserved time that conflicts with events in the hosts' calendars. A booking with reserved time is
/// not checked: the host decides.
async fn ensure_free(app: &App, asker: &RequestContext, row: &BookingRow) -> Result<()> {
    let reader = app.db.reader();
    if reserved_times::is_reserved(reader, &row.meeting_id).await? {
        return Ok(());
    }
    let Some(stored) = event_types::find(reader, &row.tenant, &row.event_type_id).await? else {
        // The hosts' relevant calendars are no longer known.
        return Ok(());
    };
    let mut event_type: EventType = serde_json::from_str(&stored.body)?;
    schedules::resolve(reader, &row.tenant, &mut event_type).await?;
    let Some(meeting) = meetings::find(reader, &row.meeting_id).await? else { return Ok(()) };
    let rules = rules::for_event_type(&event_type, (row.end_at - row.start_at) / MINUTE_MS)?;
    let range = Interval::new(row.start_at, row.start_at.saturating_add(1));
    let own = meeting_events::of_meeting(reader, &row.meeting_id).await?;
    let mut ignored = engine_input::unwanted(app, &event_type).await?;
    ignored.extend(own.into_iter().filter_map(|event| event.event_id));
    let of = SlotRange { event_type: &event_type, rules: &rules, range };
    let busy = engine_input::busy(app, asker, of, ignored, DEADLINE).await;
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

/// Confirms the booking in a transaction. None: it was rescheduled in the meantime.
async fn write(
    tx: &mut Tx,
    app: &App,
    request: DecisionRequest,
    attempt: &IdempotentAttempt,
) -> Result<Option<StoredResponse>> {
    let locked = LockedBooking::lock(tx, &request.tenant, &request.id, HostLocks::OfEventType).await?;
    let Some(mut held) = locked else { return Ok(None) };
    let now = app.now();
    request.ensure_allowed(&held, BookingStatus::Confirmed, now)?;
    let is_reserved = reserved_times::is_reserved(&mut *tx, &held.of.meeting.id).await?;
    if !is_reserved && !held.of.reserve(tx, now).await? {
        return Err(unavailable("this time is taken"));
    }
    held.of.want(tx, &[], now).await?;
    held.seat.set_status(BookingStatus::Confirmed);
    request.sign(&mut held.seat.row, now);
    held.write(tx, app, Party::Api, &["confirmed"], now).await?;
    held.of.wake(tx, now).await?;
    timed_transitions::enqueue_completion(tx, &held.seat.row, now).await?;
    held.tell(tx, MailKind::Confirmed, now).await?;
    let printed = view::booking(&held.seat.row, &held.seat.body, &held.of.events, request.sees_hosts)?;
    Ok(Some(change::answer(tx, app, &held.seat.row, printed, request.warnings, attempt).await?))
}

fn over() -> Error {
    refuse(Code::InvalidState, "an expired booking cannot be confirmed or declined: confirmBy has passed")
}

/// Rejects a booking: its time is free with the answer.
///
/// # Errors
/// 409 `invalid_state` unless it is pending.
pub async fn reject(
    app: &App,
    viewer: Viewer<'_>,
    id: &str,
    reason: Option<String>,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    validate::text("reason", reason.as_deref(), MAX_REASON)?;
    let seen = list::find(app, viewer.asker, id).await?;
    reject_by(app, DecisionRequest::by_key(viewer, &seen.row), reason, attempt).await
}

/// Rejects a booking for a host with the link in their email.
///
/// # Errors
/// As `reject` and `confirm_by_host`.
pub async fn reject_by_host(
    app: &App,
    row: &BookingRow,
    right: &HostRight,
    reason: Option<String>,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    validate::text("reason", reason.as_deref(), MAX_REASON)?;
    reject_by(app, DecisionRequest::by_host(row, right), reason, attempt).await
}

async fn reject_by(
    app: &App,
    request: DecisionRequest,
    reason: Option<String>,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    for _ in 0..MAX_ATTEMPTS {
        let (held, attempt, reason) = (app.clone(), attempt.clone(), reason.clone());
        let request = request.clone();
        let rejected: Result<Option<StoredResponse>> = app
            .db
            .write(move |tx| {
                Box::pin(async move { write_rejection(tx, &held, request, reason, &attempt).await })
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
    request: DecisionRequest,
    reason: Option<String>,
    attempt: &IdempotentAttempt,
) -> Result<Option<StoredResponse>> {
    let locked = LockedBooking::lock(tx, &request.tenant, &request.id, HostLocks::OfMeeting).await?;
    let Some(mut held) = locked else { return Ok(None) };
    let now = app.now();
    request.ensure_allowed(&held, BookingStatus::Rejected, now)?;
    held.seat.body.rejection_reason = reason;
    request.sign(&mut held.seat.row, now);
    held.end(tx, app, BookingStatus::Rejected, Party::Api, now).await?;
    let printed = view::booking(&held.seat.row, &held.seat.body, &held.of.events, request.sees_hosts)?;
    Ok(Some(change::answer(tx, app, &held.seat.row, printed, request.warnings, attempt).await?))
}
