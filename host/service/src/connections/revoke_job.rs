//! The job kind `revoke`: revokes a token at its provider that is no longer used (`connections::revocation`).

use base::error::{Error, Result};
use storage::jobs::{self, Job};
use storage::wakes::JobClass;

use crate::app::App;
use crate::connections::revocation;
use crate::job_runner::kind::{JobEnd, JobKind, JobRun, RetryDelay};

/// The job kind. All attempts together take about an hour.
pub const REVOKE: JobKind = JobKind {
    name: revocation::JOB,
    class: JobClass::Upkeep,
    deadline_ms: Some(60_000),
    max_attempts: Some(8),
    retry: RetryDelay { first_ms: 30_000, longest_ms: 3_600_000 },
    run: |turn| Box::pin(run(turn)),
};

async fn run(turn: &JobRun) -> Result<JobEnd> {
    let (app, job) = (&turn.app, &turn.job);
    match revocation::revoke(app, job.key()).await {
        Ok(()) => {
            commit(app, job).await?;
            Ok(JobEnd::Committed)
        }
        Err(e) => {
            if turn.is_last {
                forget(app, job.key().to_owned()).await?;
            }
            Err(e)
        }
    }
}

/// Deletes the token and ends the job, in one transaction.
async fn commit(app: &App, job: &Job) -> Result<()> {
    let (now, job) = (app.now(), job.clone());
    app.db
        .write(move |tx| {
            Box::pin(async move {
                revocation::forget(tx, job.key()).await?;
                jobs::complete(tx, &job, now).await?;
                Ok::<_, Error>(())
            })
        })
        .await
}

/// Deletes a token whose provider could not be reached: it will expire. The job stays, as failed, and can be retried without this row.
async fn forget(app: &App, id: String) -> Result<()> {
    app.db.write(move |tx| Box::pin(async move { revocation::forget(tx, &id).await })).await
}
