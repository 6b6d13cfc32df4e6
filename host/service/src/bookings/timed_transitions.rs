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
use crate::job_runner::kind::{JobEnd, JobKind, RetryDelay};

/// The job kind that expires a booking which was not confirmed in time; the key is the booking's id.
pub const BOOKING_EXPIRE: JobKind = JobKind {
    name: "booking_expire",
    // The class of messages, because people wait for it.
    class: JobClass::Send,
    deadline_ms: Some(30_000),
    max_attempts: None,
    retry: RetryDelay { first_ms: 1_000, longest_ms: 10 * 60_000 },
    run: |turn| Box::pin(expire(&turn.app, &turn.job)),
};
/// The job kind that completes a booking which took place; the key is the booking's id.
pub const BOOKING_COMPLETE: JobKind = JobKind {
    name: "booking_complete",
    class: JobClass::Upkeep,
    deadline_ms: Some(30_000),
    max_attempts: None,
    retry: RetryDelay { first_ms: 1_000, longest_ms: 10 * 60_000 },
    run: |turn| Box::pin(complete(&turn.app, &turn.job)),
};

/// The expiry time (Unix ms) of a booking that begins at `start_at` and becomes pending at `now`: as the event type says, and not after its
/// start.
pub fn confirm_by(event_type: &EventType, start_at: i64, now: i64) -> i64 {
    let after = event_type.confirmation_expires_minutes.map(|minutes| now + minutes * MINUTE_MS);
    after.map_or(start_at, |at| at.min(start_at))
}

/// The job that expires a pending booking, to be enqueued in the transaction that makes it pending; `at` is its `confirm_by`.
pub fn expire_at<'a>(booking_id: &'a str, tenant: &'a Tenant, at: i64) -> NewJob<'a> {
    job(&BOOKING_EXPIRE, booking_id, tenant, at)
}

/// The job that completes a booking, to be enqueued in the transaction that confirms it; `at` is its end.
pub fn complete_at<'a>(booking_id: &'a str, tenant: &'a Tenant, at: i64) -> NewJob<'a> {
    job(&BOOKING_COMPLETE, booking_id, tenant, at)
}

fn job<'a>(kind: &JobKind, booking_id: &'a str, tenant: &'a Tenant, at: i64) -> NewJob<'a> {
    NewJob {
        kind: kind.name,
        key: booking_id,
        class: kind.class,
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

/// Expires a pending booking that is past its `confirm_by`.
async fn expire(app: &App, job: &Job) -> Result<JobEnd> {
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
async fn complete(app: &App, job: &Job) -> Result<JobEnd> {
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

async fn run(app: &App, job: &Job, step: fn(&LockedBooking, i64) -> TransitionStep) -> Result<JobEnd> {
    for _ in 0..MAX_ATTEMPTS {
        let (held, job) = (app.clone(), job.clone());
        let done: Result<Option<JobEnd>> =
            app.db.write(move |tx| Box::pin(async move { apply_step(tx, &held, &job, step).await })).await;
        match done {
            Ok(Some(outcome)) => return Ok(outcome),
            Ok(None) => {}
            // It was purged.
            Err(e) if e.code() == Some(Code::NotFound) => return Ok(JobEnd::Done),
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
) -> Result<Option<JobEnd>> {
    let locked = LockedBooking::lock(tx, &job.tenant, job.key(), HostLocks::OfMeeting).await?;
    let Some(mut held) = locked else { return Ok(None) };
    let now = app.now();
    match step(&held, now) {
        TransitionStep::Nothing => {}
        TransitionStep::Wait(at) => return Ok(Some(JobEnd::At(at))),
        TransitionStep::End(BookingStatus::Completed) => {
            // It took place: its seat and its event stay.
            held.seat.set_status(BookingStatus::Completed);
            held.write(tx, app, Party::System, &["completed"], now).await?;
        }
        TransitionStep::End(to) => held.end(tx, app, to, Party::System, now).await?,
    }
    Ok(Some(JobEnd::Done))
}
