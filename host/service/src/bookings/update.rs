//! Changes of a booking's own data: metadata and no-shows.

use std::collections::BTreeSet;

use base::error::{Code, Result, not_found, refuse};
use base::input::merge_patch;
use base::input::validate::fault;
use base::tenant::Tenant;
use model::scheduling::booking::{Booking, BookingStatus, Party};
use serde_json::{Map, Value};
use storage::Tx;
use storage::scheduling::bookings as table;
use storage::scheduling::meeting_events::{self, MeetingEventRow};

use crate::app::App;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::bookings::change::{self, BookingChange, MAX_ATTEMPTS, Seat};
use crate::bookings::locked_meeting::contended;
use crate::bookings::{list, view};
use crate::connections::write_context::WriteContext;
use crate::writes::etag::ExpectedEtag;

/// A change that is not written yet.
#[derive(Clone)]
struct PlannedUpdate {
    tenant: Tenant,
    id: String,
    /// The version that the change is based on.
    version: i64,
    body: Booking,
    metadata: String,
    is_changed: bool,
    /// Whether a no-show was added.
    is_no_show: bool,
    events: Vec<MeetingEventRow>,
    warnings: Vec<Value>,
}

/// Changes `metadata` and `noShow` of a booking.
///
/// # Errors
/// 409 `invalid_state` for a `noShow` before the booking has begun, or of one that did not take place.
pub async fn update(
    cx: &WriteContext,
    id: &str,
    input: Map<String, Value>,
    expected: ExpectedEtag,
    strict: bool,
) -> Result<StoredResponse> {
    let WriteContext { app, request: asker, attempt } = cx;
    for _ in 0..MAX_ATTEMPTS {
        let seen = list::find(app, asker, id).await?;
        expected.check(&seen.row.etag)?;
        let planned = plan(app, seen, input.clone(), strict).await?;
        let (held, attempt) = (app.clone(), attempt.clone());
        let written: Result<Option<StoredResponse>> =
            app.db.write(move |tx| Box::pin(async move { write(tx, &held, planned, &attempt).await })).await;
        // None: it was changed in the meantime, so the change is planned again on the current row.
        if let Some(answer) = written? {
            return Ok(answer);
        }
    }
    Err(contended())
}

async fn plan(app: &App, seen: Seat, input: Map<String, Value>, strict: bool) -> Result<PlannedUpdate> {
    let events = meeting_events::of_meeting(app.db.reader(), &seen.row.meeting_id).await?;
    let printed = view::booking(&seen.row, &seen.body, &events, true)?;
    let write = merge_patch::over(&seen.body, &printed, input, &[])?;
    let warnings = merge_patch::warnings(&write.unknown, strict)?;
    let metadata = match write.metadata {
        Some(metadata) => serde_json::to_string(&metadata)?,
        None => seen.row.metadata.clone(),
    };
    let is_noted = write.body.no_show != seen.body.no_show;
    if is_noted {
        check_no_show(&seen, &write.body, app.now())?;
    }
    let is_anyone = write.body.no_show.host || !write.body.no_show.invitee_emails.is_empty();
    Ok(PlannedUpdate {
        is_changed: is_noted || metadata != seen.row.metadata,
        is_no_show: is_noted && is_anyone,
        tenant: seen.row.tenant,
        id: seen.row.id,
        version: seen.row.version,
        body: write.body,
        metadata,
        events,
        warnings,
    })
}

fn check_no_show(seen: &Seat, body: &Booking, now: i64) -> Result<()> {
    let takes_place = matches!(seen.status()?, BookingStatus::Confirmed | BookingStatus::Completed);
    if !takes_place || seen.row.start_at > now {
        let message = "noShow is of bookings that are confirmed or completed and have begun";
        return Err(refuse(Code::InvalidState, message));
    }
    let guests = body.guests.iter().map(|guest| &guest.email);
    let invited: BTreeSet<String> =
        guests.chain([&body.invitee.email]).map(|email| ::mail::address::folded(email)).collect();
    let mut known = BTreeSet::new();
    for (n, email) in body.no_show.invitee_emails.iter().enumerate() {
        let (field, folded) = (format!("noShow.inviteeEmails[{n}]"), ::mail::address::folded(email));
        if !invited.contains(&folded) {
            return Err(fault(&field, "must be the address of the invitee or of a guest"));
        }
        if !known.insert(folded) {
            return Err(fault(&field, "is there twice"));
        }
    }
    Ok(())
}

/// Writes a change and its answer; none if the booking was changed since the change was planned.
async fn write(
    tx: &mut Tx,
    app: &App,
    planned: PlannedUpdate,
    attempt: &IdempotentAttempt,
) -> Result<Option<StoredResponse>> {
    let row = table::lock(tx, &planned.tenant, &planned.id).await?;
    let row = row.ok_or_else(|| not_found("booking"))?;
    if row.version != planned.version {
        return Ok(None);
    }
    let mut seat = Seat { row, body: planned.body };
    if planned.is_changed {
        seat.row.metadata = planned.metadata;
        let words: &[&'static str] = if planned.is_no_show { &["no_show"] } else { &[] };
        let change = BookingChange { events: &planned.events, by: Party::Api, words, warnings: &[] };
        change::write_all(tx, app, std::slice::from_mut(&mut seat), &change, app.now()).await?;
    }
    let printed = view::booking(&seat.row, &seat.body, &planned.events, true)?;
    Ok(Some(change::answer(tx, app, &seat.row, printed, planned.warnings, attempt).await?))
}
