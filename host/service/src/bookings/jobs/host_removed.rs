//! The job kind `host_gone`: removes a deleted connection from the event types whose host it is.

use base::error::Result;
use storage::scheduling::host_gone::HOST_GONE_JOB;
use storage::wakes::JobClass;

use crate::bookings::host_removed;
use crate::job_runner::kind::{JobEnd, JobKind, JobRun, RetryDelay};

/// The job kind; the key is the connection's id.
pub const HOST_GONE: JobKind = JobKind {
    name: HOST_GONE_JOB,
    class: JobClass::Upkeep,
    deadline_ms: Some(60_000),
    max_attempts: None,
    retry: RetryDelay { first_ms: 1_000, longest_ms: 10 * 60_000 },
    run: |turn| Box::pin(run(turn)),
};

async fn run(turn: &JobRun) -> Result<JobEnd> {
    host_removed::run(&turn.app, &turn.job).await?;
    Ok(JobEnd::Done)
}
