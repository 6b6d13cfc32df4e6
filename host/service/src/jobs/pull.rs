//! The job kind `pull`: reads a scope's changes from the provider, for scopes with subscribers. There is one job for each scope, so that
//! one host at a time pulls it; its fence is checked in each page's transaction. A long sync takes several runs of some pages each.

use base::error::Result;
use storage::connections::Connection;
use storage::wakes::JobClass;
use storage::{connections as table, items, jobs};

use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::connections;
use crate::job_runner::kind::{JobEnd, JobKind, JobRun, RetryDelay};
use crate::push::wanted_watches;
use crate::sync::pull::{self, PullEnd, PullLimits};
use crate::sync::schedule::{self, PULL_JOB, enqueue_watch, watch_job};
use crate::sync::scope::SyncScope;
use crate::sync::{self, collection_set};

/// The job kind. A run ends itself long before its deadline, unless the provider does not answer.
pub const PULL: JobKind = JobKind {
    name: PULL_JOB,
    class: JobClass::Pull,
    deadline_ms: Some(600_000),
    max_attempts: None,
    retry: RetryDelay { first_ms: 15_000, longest_ms: 30 * 60_000 },
    run: |turn| Box::pin(run(turn)),
};

async fn run(turn: &JobRun) -> Result<JobEnd> {
    let (app, job) = (&turn.app, &turn.job);
    let mut key = job.key().splitn(3, ':');
    let (Some(id), Some(surface), Some(scope_id)) = (key.next(), key.next(), key.next()) else {
        return Ok(JobEnd::Done);
    };
    let Some(connection) = table::find(app.db.reader(), &job.tenant, id).await? else {
        return Ok(JobEnd::Done);
    };
    // If the collection was deleted, its return enqueues another job (`sync_states::resume_contents`).
    let Some(scope) = scope_of(app, &connection, surface, scope_id).await? else {
        return Ok(JobEnd::Done);
    };
    connections::usable(&connection)?;
    // Reads and stores page by page.
    turn.allow_preemption();
    let _one = app.locks.lock(&scope.lock_name(&connection)).await;
    let planned_at = sync::state(app, &connection, &scope).await?.next_pull_at;
    let is_asked_for = job.due_at.zip(planned_at).is_some_and(|(due_at, planned_at)| due_at < planned_at);
    let by = PullLimits::turn(job, is_asked_for);
    let ended = match scope.is_whole() {
        true => collection_set::run(app, &connection, &scope, by).await?,
        false => pull::run(app, &connection, &scope, by).await?,
    };
    match ended {
        PullEnd::CaughtUp => {}
        PullEnd::Waits(until) => return Ok(JobEnd::PutOff(until)),
        PullEnd::Superseded | PullEnd::Enough => return Ok(JobEnd::Part(app.now())),
    }
    let state = sync::state(app, &connection, &scope).await?;
    if !state.followed {
        return Ok(JobEnd::Park);
    }
    listen(app, &connection, &scope).await?;
    wanted_watches::ensure(app, &connection, &scope).await?;
    let next = state.next_pull_at.unwrap_or_else(|| app.now() + app.config.poll_interval_ms);
    Ok(JobEnd::At(next.max(app.now() + 1)))
}

/// The scope to pull. None: the collection was deleted, or has no pull job.
async fn scope_of(
    app: &App,
    connection: &Connection,
    surface: &str,
    scope_id: &str,
) -> Result<Option<SyncScope>> {
    if !scope_id.is_empty() {
        let found = items::any(app.db.reader(), &connection.tenant, scope_id).await?;
        return found.as_ref().map(crate::sync::scope::scope).transpose();
    }
    let of_surface = |kind: &ResourceKind| kind.surface().as_str() == surface;
    if of_surface(&ResourceKind::EmailMessage) {
        return Ok(Some(SyncScope::mail()));
    }
    Ok(Some(ResourceKind::ContactBook).filter(of_surface).map(SyncScope::collections))
}

/// Ensures that a mailbox whose provider supports push is watched, even if the watch job was lost.
async fn listen(app: &App, connection: &Connection, scope: &SyncScope) -> Result<()> {
    let Some(watch) = watch_job(app, connection, scope) else { return Ok(()) };
    let is_there = schedule::watched(app, &connection.id).await?.is_some()
        || jobs::find(app.db.reader(), &watch.id()).await?.is_some();
    if is_there {
        return Ok(());
    }
    let (held, connection) = (app.clone(), connection.clone());
    app.db
        .write(move |tx| Box::pin(async move { Ok(enqueue_watch(tx, &held, &connection, &watch).await?) }))
        .await
}
