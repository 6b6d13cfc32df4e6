//! The job kind `booking_expire`: expires a booking that was not confirmed in time.

use base::error::Result;
use storage::wakes::JobClass;

use crate::bookings::timed_transitions::{self, TransitionResult};
use crate::job_runner::kind::{JobEnd, JobKind, JobRun, RetryDelay};

/// The job kind; the key is the booking's id.
pub const BOOKING_EXPIRE: JobKind = JobKind {
    name: timed_transitions::EXPIRE_JOB,
    class: JobClass::Send,
    deadline_ms: Some(30_000),
    max_attempts: None,
    retry: RetryDelay { first_ms: 1_000, longest_ms: 10 * 60_000 },
    run: |turn| Box::pin(run(turn)),
};

async fn run(turn: &JobRun) -> Result<JobEnd> {
    Ok(match timed_transitions::expire(&turn.app, &turn.job).await? {
        TransitionResult::Done => JobEnd::Done,
        TransitionResult::Later(at) => JobEnd::At(at),
    })
}
