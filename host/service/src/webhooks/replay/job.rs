//! The job kind `replay`: writes the deliveries of a replay of a range of the log, step by step. The job kind `deliver` sends them.

use std::time::{Duration, Instant};

use base::error::Result;
use storage::wakes::JobClass;

use crate::job_runner::kind::{JobEnd, JobKind, JobRun, RetryDelay};
use crate::webhooks::replay::JOB;
use crate::webhooks::replay::walk::{self, StepEnd};

/// The job kind; a job's key is the id of the replay.
pub const REPLAY: JobKind = JobKind {
    name: JOB,
    class: JobClass::Deliver,
    deadline_ms: Some(60_000),
    max_attempts: None,
    retry: RetryDelay { first_ms: 1_000, longest_ms: 60_000 },
    run: |turn| Box::pin(run(turn)),
};

/// Time during which a run begins further steps; then other jobs of its class run.
const TURN: Duration = Duration::from_secs(2);

async fn run(turn: &JobRun) -> Result<JobEnd> {
    let until = Instant::now() + TURN;
    while Instant::now() < until {
        match walk::step(&turn.app, &turn.job).await? {
            StepEnd::Finished => return Ok(JobEnd::Done),
            StepEnd::Waiting(at) => return Ok(JobEnd::Part(at)),
            StepEnd::Advanced => {}
        }
    }
    Ok(JobEnd::Part(turn.app.now()))
}
