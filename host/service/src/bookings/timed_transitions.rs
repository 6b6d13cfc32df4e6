//! Transitions at a time: an unconfirmed booking expires, and one that took place is completed. Each has a job, which is enqueued with the
//! change that makes it due, and checks the current state when it runs.

use base::error::{Code, Result};
use base::tenant::Tenant;
use model::scheduling::booking::{BookingStatus, Party};
use model::scheduling::event_type::EventType;
use storage::Tx;
use storage::jobs::{self, Job, NewJob};
use storage::scheduling::bookings::BookingRow;
use storage::wakes::JobClass;

use crate::app::App;
use crate::bookings::change::{LockedBooking, MAX_ATTEMPTS};
use crate::bookings::locked_meeting::{HostLocks, contended};
use crate::bookings::rules::MINUTE_MS;

/// The job kind that expires pending bookings. The key is the booking.
pub const EXPIRE_JOB: &str = "booking_expire";
/// The job kind that completes bookings. The key is the booking.
pub const COMPLETE_JOB: &str = "booking_complete";

/// The expiry time (Unix ms) of a booking that begins at `start_at` and becomes pending at `now`: as the event type says, and not after its
/// start.
pub fn confirm_by(event_type: &EventType, start_at: i64, now: i64) -> i64 {
    let after = event_type.confirmation_expires_minutes.map(|minutes| now + minutes * MINUTE_MS);
    after.map_or(start_at, |at| at.min(start_at))
}

/// The job that expires a pending booking, to be enqueued in the transaction that makes it pending; `at` is its `confirm_by`.
pub fn expire_at<'a>(booking_id: &'a str, tenant: &'a Tenant, at: i64) -> NewJob<'a> {
    // The class of messages, because people wait for it.
    job(EXPIRE_JOB, JobClass::Send, booking_id, tenant, at)
}

/// The job that completes a booking, to be enqueued in the transaction that confirms it; `at` is its end.
pub fn complete_at<'a>(booking_id: &'a str, tenant: &'a Tenant, at: i64) -> NewJob<'a> {
    job(COMPLETE_JOB, JobClass::Upkeep, booking_id, tenant, at)
}

fn job<'a>(
    kind: &'static str,
    class: JobClass,
    booking_id: &'a str,
    tenant: &'a Tenant,
    at: i64,
) -> NewJob<'a> {
    NewJob {
        kind,
        key: booking_id,
        class,
        tenant,
        connection_id: None,
        target: "",
        due_at: Some(at),
        args: None,
    }
}

/// Enqueues the expiry of a pending booking; nothing otherwise.
pub async fn enqueue_expiry(tx: &mut Tx, row: &BookingRow, now: i64) -> Result<()> {
    match row.confirm_by {
        Some(at) => Ok(jobs::enqueue(tx, &expire_at(&row.id, &row.tenant, at), now).await?),
        None => Ok(()),
    }
}

/// Enqueues the completion of a confirmed booking.
pub async fn enqueue_completion(tx: &mut Tx, row: &BookingRow, now: i64) -> Result<()> {
    Ok(jobs::enqueue(tx, &complete_at(&row.id, &row.tenant, row.end_at), now).await?)
}

/// Enqueues the expiry or the completion of a new booking.
pub async fn enqueue_first(tx: &mut Tx, row: &BookingRow, now: i64) -> Result<()> {
    match row.confirm_by {
        Some(_) => enqueue_expiry(tx, row, now).await,
        None => enqueue_completion(tx, row, now).await,
    }
}

/// The result of a job's run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransitionResult {
    /// The transition is done, or will never happen.
    Done,
    /// The transition is due then, Unix ms.
    Later(i64),
}

/// Expires a pending booking that is past its `confirm_by`.
pub async fn expire(app: &App, job: &Job) -> Result<TransitionResult> {
    run(app, job, |held, now| match held.seat.row.confirm_by {
        Some(at) if held.seat.row.status == "pending" => {
            if at <= now {
                TransitionStep::End(BookingStatus::Expired)
            } else {
                TransitionStep::Wait(at)
            }
        }
        _ => TransitionStep::Nothing,
    })
    .await
}

/// Completes a confirmed booking that is over.
pub async fn complete(app: &App, job: &Job) -> Result<TransitionResult> {
    run(app, job, |held, now| match held.seat.row.end_at {
        _ if held.seat.row.status != "confirmed" => TransitionStep::Nothing,
        at if at <= now => TransitionStep::End(BookingStatus::Completed),
        at => TransitionStep::Wait(at),
    })
    .await
}

/// The action for a booking.
enum TransitionStep {
    Nothing,
    Wait(i64),
    End(BookingStatus),
}

async fn run(
    app: &App,
    job: &Job,
    step: fn(&LockedBooking, i64) -> TransitionStep,
) -> Result<TransitionResult> {
    for _ in 0..MAX_ATTEMPTS {
        let (held, job) = (app.clone(), job.clone());
        let done: Result<Option<TransitionResult>> =
            app.db.write(move |tx| Box::pin(async move { apply_step(tx, &held, &job, step).await })).await;
        match done {
            Ok(Some(outcome)) => return Ok(outcome),
            Ok(None) => {}
            // It was purged.
            Err(e) if e.code() == Some(Code::NotFound) => return Ok(TransitionResult::Done),
            Err(e) => return Err(e),
        }
    }
    Err(contended())
}

async fn apply_step(
    tx: &mut Tx,
    app: &App,
    job: &Job,
    step: fn(&LockedBooking, i64) -> TransitionStep,
) -> Result<Option<TransitionResult>> {
    let locked = LockedBooking::lock(tx, &job.tenant, job.key(), HostLocks::OfMeeting).await?;
    let Some(mut held) = locked else { return Ok(None) };
    let now = app.now();
    match step(&held, now) {
        TransitionStep::Nothing => {}
        TransitionStep::Wait(at) => return Ok(Some(TransitionResult::Later(at))),
        TransitionStep::End(BookingStatus::Completed) => {
            // It took place: its seat and its event stay.
            held.seat.set_status(BookingStatus::Completed);
            held.write(tx, app, Party::System, &["completed"], now).await?;
        }
        TransitionStep::End(to) => held.end(tx, app, to, Party::System, now).await?,
    }
    Ok(Some(TransitionResult::Done))
}
