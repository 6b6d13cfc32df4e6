//! The job kind `send`: hands a message over to its provider (`sending::dispatch`). The job is enqueued with the message, and deleted with
//! its final outcome, in one transaction each.

use base::error::Result;
use storage::wakes::JobClass;

use crate::job_runner::kind::{JobEnd, JobKind, JobRun, RetryDelay};
use crate::sending::SEND_JOB;
use crate::sending::dispatch::{self, DispatchEnd};

/// The job kind. The provider's responses have a retry schedule of their own; `retry` is for runs that could write nothing.
pub const SEND: JobKind = JobKind {
    name: SEND_JOB,
    class: JobClass::Send,
    // A call of a connector takes a minute at most, and may wait a little for capacity before.
    deadline_ms: Some(120_000),
    max_attempts: None,
    retry: RetryDelay { first_ms: 5_000, longest_ms: 10 * 60_000 },
    run: |turn| Box::pin(run(turn)),
};

async fn run(turn: &JobRun) -> Result<JobEnd> {
    Ok(match dispatch::one(&turn.app, &turn.job, &turn.must_finish).await? {
        DispatchEnd::Settled => JobEnd::Done,
        DispatchEnd::Waits(until) => JobEnd::PutOff(until),
        DispatchEnd::Committed => JobEnd::Committed,
    })
}
