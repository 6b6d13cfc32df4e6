//! The job kind `booking_complete`: completes a booking that took place.

use base::error::Result;
use storage::wakes::JobClass;

use crate::bookings::timed_transitions::{self, TransitionResult};
use crate::job_runner::kind::{JobEnd, JobKind, JobRun, RetryDelay};

/// The job kind; the key is the booking's id.
pub const BOOKING_COMPLETE: JobKind = JobKind {
    name: timed_transitions::COMPLETE_JOB,
    class: JobClass::Upkeep,
    deadline_ms: Some(30_000),
    max_attempts: None,
    retry: RetryDelay { first_ms: 1_000, longest_ms: 10 * 60_000 },
    run: |turn| Box::pin(run(turn)),
};

async fn run(turn: &JobRun) -> Result<JobEnd> {
    Ok(match timed_transitions::complete(&turn.app, &turn.job).await? {
        TransitionResult::Done => JobEnd::Done,
        TransitionResult::Later(at) => JobEnd::At(at),
    })
}
