//! The job kind `booking_remind`: reminds people and clients some time before a booking begins.

use base::error::Result;
use storage::wakes::JobClass;

use crate::bookings::notify::remind::{self, ReminderResult};
use crate::bookings::notify::reminder::REMIND_JOB;
use crate::job_runner::kind::{JobEnd, JobKind, JobRun, RetryDelay};

/// The job kind; the key is the booking's id, its sequence and the minutes before its start.
pub const BOOKING_REMIND: JobKind = JobKind {
    name: REMIND_JOB,
    class: JobClass::Send,
    deadline_ms: Some(30_000),
    max_attempts: None,
    retry: RetryDelay { first_ms: 1_000, longest_ms: 10 * 60_000 },
    run: |turn| Box::pin(run(turn)),
};

async fn run(turn: &JobRun) -> Result<JobEnd> {
    Ok(match remind::run(&turn.app, &turn.job).await? {
        ReminderResult::Later(at) => JobEnd::At(at),
        ReminderResult::Committed => JobEnd::Committed,
    })
}
