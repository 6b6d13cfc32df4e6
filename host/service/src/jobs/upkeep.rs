//! The job kinds `clean` and `purge`: delete expired data, and the data of deleted connections (`retention`).

use std::time::Duration;

use base::error::Result;
use base::tenant::Tenant;
use storage::Tx;
use storage::jobs::{self, NewJob};
use storage::retention::purge;
use storage::wakes::JobClass;
use tokio::time::Instant;

use crate::bookings::reconcile;
use crate::job_runner::kind::{JobEnd, JobKind, JobRun, RetryDelay};
use crate::retention::{self, SWEEPS};

/// Deletes expired data; the key is the name of a sweep.
pub const CLEAN: JobKind = JobKind {
    name: "clean",
    class: JobClass::Upkeep,
    deadline_ms: Some(60_000),
    max_attempts: None,
    retry: RetryDelay { first_ms: 60_000, longest_ms: EVERY_MS },
    run: |turn| Box::pin(clean(turn)),
};

/// Deletes the data of a deleted connection; the key is its id.
pub const PURGE: JobKind = JobKind {
    name: purge::JOB,
    class: JobClass::Upkeep,
    deadline_ms: Some(60_000),
    max_attempts: None,
    retry: RetryDelay { first_ms: 1_000, longest_ms: EVERY_MS },
    run: |turn| Box::pin(remove(turn)),
};

/// Interval of a sweep, ms.
const EVERY_MS: i64 = 10 * 60_000;
/// Time during which a run begins further steps; then other jobs of its class run.
const TURN: Duration = Duration::from_secs(2);
/// Most connections that get a job at a time.
const ADOPTED_AT_A_TIME: i64 = 1_000;

/// Enqueues required jobs that are missing. Returns the number of deleted connections that got a job.
pub async fn ensure(tx: &mut Tx, now: i64) -> anyhow::Result<u64> {
    let installation = Tenant { organization_id: String::new(), application_id: String::new() };
    let new: Vec<NewJob<'_>> = SWEEPS
        .iter()
        .map(|sweep| NewJob {
            kind: CLEAN.name,
            key: sweep.name,
            class: CLEAN.class,
            tenant: &installation,
            connection_id: None,
            target: "",
            due_at: Some(now),
            args: None,
        })
        .collect();
    jobs::ensure_all(tx, &new, now).await?;
    reconcile::ensure(tx, &installation, now).await?;
    purge::adopt(tx, now, ADOPTED_AT_A_TIME).await
}

async fn clean(turn: &JobRun) -> Result<JobEnd> {
    // A sweep of another version.
    let Some(sweep) = retention::sweep(turn.job.key()) else { return Ok(JobEnd::Done) };
    let (removed, is_over) = sweep.run(&turn.app, Some(&turn.job), Instant::now() + TURN).await?;
    if removed.rows > 0 {
        tracing::debug!(sweep = sweep.name, rows = removed.rows, "deleted expired rows");
    }
    let now = turn.app.now();
    Ok(if is_over { JobEnd::At(now + EVERY_MS) } else { JobEnd::Part(now) })
}

async fn remove(turn: &JobRun) -> Result<JobEnd> {
    let until = Instant::now() + TURN;
    while Instant::now() < until {
        if retention::purge_step(&turn.app, &turn.job).await? {
            return Ok(JobEnd::Committed);
        }
    }
    Ok(JobEnd::Part(turn.app.now()))
}
