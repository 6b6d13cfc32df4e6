//! The job kind `refresh`: renews the tokens of a connection before they expire (`connections::token_refresh`). Each connection that was
//! made by OAuth has one job, enqueued with the tokens.

use base::error::Result;
use storage::connections;
use storage::wakes::JobClass;

use crate::connections::new_tokens;
use crate::connections::token_refresh::{self, RemainingWork};
use crate::job_runner::kind::{JobEnd, JobKind, JobRun, RetryDelay};

/// The job kind.
pub const REFRESH: JobKind = JobKind {
    name: new_tokens::JOB,
    class: JobClass::Upkeep,
    deadline_ms: Some(90_000),
    // Failures are this host's own: a failure of the provider ends a run normally.
    max_attempts: None,
    retry: RetryDelay { first_ms: 30_000, longest_ms: 15 * 60_000 },
    run: |turn| Box::pin(run(turn)),
};

async fn run(turn: &JobRun) -> Result<JobEnd> {
    let (app, job) = (&turn.app, &turn.job);
    let Some(connection) = connections::find(app.db.reader(), &job.tenant, job.key()).await? else {
        return Ok(JobEnd::Done);
    };
    Ok(match token_refresh::renew_ahead(app, &connection).await? {
        RemainingWork::At(due_at) => JobEnd::At(due_at),
        RemainingWork::Held(until) => JobEnd::PutOff(until),
        RemainingWork::Never => JobEnd::Done,
    })
}
