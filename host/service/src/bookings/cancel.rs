//! Cancels a booking for an API key, or for its invitee within the event type's rules. Its time is free with the answer; a job deletes its
//! event.

use base::error::Result;
use base::input::validate;
use base::tenant::Tenant;
use model::bounds::scheduling::MAX_REASON;
use model::scheduling::booking::{BookingStatus, Party};
use serde_json::Value;
use storage::Tx;
use storage::scheduling::bookings::BookingRow;

use crate::app::App;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::bookings::change::{self, LockedBooking, MAX_ATTEMPTS, Viewer};
use crate::bookings::locked_meeting::{HostLocks, contended};
use crate::bookings::{list, policy, state, view};

/// A requested cancellation.
#[derive(Clone)]
struct Cancellation {
    tenant: Tenant,
    id: String,
    by: Party,
    reason: Option<String>,
    /// The version in the link that the invitee used.
    manage_version: Option<i64>,
    sees_hosts: bool,
    warnings: Vec<Value>,
}

/// Cancels a booking for a key with write access.
///
/// # Errors
/// 409 `invalid_state` for one that is over, or has already ended.
pub async fn by_key(
    app: &App,
    viewer: Viewer<'_>,
    id: &str,
    reason: Option<String>,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let seen = list::find(app, viewer.asker, id).await?;
    let cancellation = Cancellation {
        tenant: seen.row.tenant,
        id: seen.row.id,
        by: Party::Api,
        reason,
        manage_version: None,
        sees_hosts: viewer.sees_hosts,
        warnings: viewer.warnings,
    };
    cancel(app, cancellation, attempt).await
}

/// Cancels a booking, found by `manage_token`, for its invitee. `sees_hosts`: the answer shows the hosts; `warnings` are about the request.
///
/// # Errors
/// As `by_key`; also 403 `forbidden` if the event type does not let invitees cancel, and 409 `invalid_state` if it is too late.
pub async fn by_invitee(
    app: &App,
    booking: &BookingRow,
    reason: Option<String>,
    sees_hosts: bool,
    warnings: Vec<Value>,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let cancellation = Cancellation {
        tenant: booking.tenant.clone(),
        id: booking.id.clone(),
        by: Party::Invitee,
        reason,
        manage_version: Some(booking.manage_version),
        sees_hosts,
        warnings,
    };
    cancel(app, cancellation, attempt).await
}

async fn cancel(
    app: &App,
    cancellation: Cancellation,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    validate::text("reason", cancellation.reason.as_deref(), MAX_REASON)?;
    for _ in 0..MAX_ATTEMPTS {
        let (held, asked, attempt) = (app.clone(), cancellation.clone(), attempt.clone());
        let cancelled: Result<Option<StoredResponse>> =
            app.db.write(move |tx| Box::pin(async move { write(tx, &held, asked, &attempt).await })).await;
        if let Some(answer) = cancelled? {
            return Ok(answer);
        }
    }
    Err(contended())
}

/// Cancels the booking in a transaction. None: it was rescheduled in the meantime.
async fn write(
    tx: &mut Tx,
    app: &App,
    asked: Cancellation,
    attempt: &IdempotentAttempt,
) -> Result<Option<StoredResponse>> {
    let locked = LockedBooking::lock(tx, &asked.tenant, &asked.id, HostLocks::OfMeeting).await?;
    let Some(mut held) = locked else { return Ok(None) };
    change::check_link(&held.seat, asked.manage_version)?;
    let now = app.now();
    state::allows(held.seat.status()?, BookingStatus::Cancelled)?;
    state::allows_change(held.seat.status()?, held.seat.row.end_at, now)?;
    if asked.by == Party::Invitee {
        // The default rules apply if the event type was deleted.
        let rules = held.of.event_type().map(|e| e.cancellation.clone()).unwrap_or_default();
        policy::allows_cancelling(&rules, held.seat.row.start_at, now)?;
    }
    held.seat.body.cancelled_by = Some(asked.by);
    held.seat.body.cancellation_reason = asked.reason;
    held.end(tx, app, BookingStatus::Cancelled, asked.by, now).await?;
    let printed = view::booking(&held.seat.row, &held.seat.body, &held.of.events, asked.sees_hosts)?;
    Ok(Some(change::answer(tx, app, &held.seat.row, printed, asked.warnings, attempt).await?))
}
