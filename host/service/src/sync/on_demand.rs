//! Pulls that a request waits for. If several hosts work on one database, the pull claims the job of its scope, so that one host at a time
//! asks the provider, and uses what another host has just read.

use std::time::Duration;

use base::error::{Code, Error, Result, refuse};
use storage::connections::Connection;
use storage::jobs::{self, Claim, End, Fence, Job, LostLease};
use storage::lane::Lane;
use storage::wakes::JobClass;
use storage::{job_claims, sync_states as table};
use tokio::time::Instant;

use crate::app::App;
use crate::app::freshness::DataAge;
use crate::sync::pull::{self, PullEnd, PullLimits};
use crate::sync::schedule::pull_job;
use crate::sync::scope::SyncScope;
use crate::sync::staleness;

/// Longest wait for a pull of another host.
const PATIENCE: Duration = Duration::from_secs(10);
/// Interval between checks whether it has ended.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Age from which a claim whose end could not be written counts as lost, ms.
const DEADLINE_MS: i64 = 600_000;
/// Waits between attempts to release a job whose pull was cancelled.
const GIVE_BACK_AGAIN_AFTER: [Duration; 3] =
    [Duration::from_millis(100), Duration::from_secs(1), Duration::from_secs(5)];
/// Most restarts of a pull because the scope was reset.
const MAX_RESTARTS: usize = 3;

/// The claimed job of a scope while a request waits for its pull. On SQLite, with a single host, the lock in the process is enough.
pub struct ClaimedPull {
    app: App,
    job: Option<Job>,
    /// Time of the claim, ms since 1970.
    at: i64,
}

impl ClaimedPull {
    /// Claims the scope's job. None: it is being pulled, here or on another host.
    pub async fn take(app: &App, connection: &Connection, scope: &SyncScope) -> Result<Option<ClaimedPull>> {
        let at = app.now();
        if !app.db.is_shared() {
            return Ok(Some(ClaimedPull { app: app.clone(), job: None, at }));
        }
        let (new, connection) = (pull_job(connection, scope), connection.clone());
        let claim = Claim {
            owner: app.presence.id(),
            fence: Fence::random(&app.entropy),
            now: at,
            deadline_at: Some(at + DEADLINE_MS),
        };
        let app = app.clone();
        // In a separate task: if the waiting request is cancelled, the claim is dropped, and so released.
        let claiming = Lane::current().spawn(async move {
            let claimed: anyhow::Result<Option<Job>> = app
                .db
                .write(move |tx| {
                    Box::pin(
                        async move { job_claims::claim_now(tx, &new.due(&connection, None), &claim).await },
                    )
                })
                .await;
            claimed.map(|job| job.map(|job| ClaimedPull { app, job: Some(job), at }))
        });
        Ok(claiming.await.map_err(anyhow::Error::from)??)
    }

    /// Returns the job, whose fence goes into the pull's writes.
    pub fn job(&self) -> Option<&Job> {
        self.job.as_ref()
    }

    /// Releases the job after a pull, with its former due time. `is_read`: the whole scope was read. False: the job was taken over in
    /// between.
    pub async fn end(self, is_read: bool) -> Result<bool> {
        if self.job.is_none() {
            return Ok(true);
        }
        // In a separate task: it is written even if the waiting request is cancelled.
        let ending = Lane::current().spawn(self.ended(is_read));
        Ok(ending.await.map_err(anyhow::Error::from)??)
    }

    /// Writes the end. After a failure the drop of `self` retries in the background.
    async fn ended(mut self, is_read: bool) -> anyhow::Result<bool> {
        let Some(job) = self.job.clone() else { return Ok(true) };
        let given = give_back(&self.app, job, is_read.then_some(self.at)).await;
        let is_lost = given.as_ref().is_err_and(|e| e.is::<LostLease>());
        if is_lost || given.is_ok() {
            self.job = None;
        }
        if is_lost { Ok(false) } else { given.map(|()| true) }
    }
}

impl Drop for ClaimedPull {
    /// Releases the job in the background: the waiting request was cancelled, or the end could not be written.
    fn drop(&mut self) {
        let Some(job) = self.job.take() else { return };
        let app = self.app.clone();
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(Lane::jobs().scope(async move {
            let mut waits = GIVE_BACK_AGAIN_AFTER.iter();
            while let Err(e) = give_back(&app, job.clone(), None).await {
                if e.is::<LostLease>() {
                    return;
                }
                let Some(wait) = waits.next() else {
                    tracing::warn!(job = %job.id, error = %format!("{e:#}"), "a pull that was called off cannot be given back");
                    return;
                };
                tokio::time::sleep(*wait).await;
            }
        }));
    }
}

async fn give_back(app: &App, job: Job, done_at: Option<i64>) -> anyhow::Result<()> {
    let now = app.now();
    let given: anyhow::Result<()> = app
        .db
        .write(move |tx| {
            Box::pin(async move {
                let end = End {
                    due_at: job.due_at,
                    attempts: job.attempts,
                    last_error: job.last_error.clone(),
                    done_at,
                    ..End::default()
                };
                jobs::reschedule(tx, &job, &end, now).await
            })
        })
        .await;
    // It may be due, and the runner has passed it over.
    app.db.wakes().wake(JobClass::Pull);
    given
}

/// Whether an error means that another host has the job, or that it was taken away: then nothing was written.
pub fn is_lost(e: &Error) -> bool {
    matches!(e, Error::Internal(e) if e.is::<LostLease>())
}

/// Ensures that the copy is not older than the setting allows, in step or not, before a write that depends on it. A scope that was never
/// read is read now. If the provider does not respond, the older copy is used.
pub async fn ensure_fresh(
    app: &App,
    connection: &Connection,
    scope: &SyncScope,
    now_please: bool,
) -> Result<()> {
    let since = app.now() - app.config.freshness_ms;
    if !now_please && staleness::read_since(app, connection, scope, since).await?.is_some() {
        return Ok(());
    }
    refreshed(app, connection, scope, now_please).await.map(|_| ())
}

/// Same as `ensure_fresh` for reads: a copy in step answers them without a request to the provider, unless `fresh` is set. Returns the age
/// of the data.
// Contract silent: how fresh a read is. What is in step (`sync::staleness`) is as fresh as its pulls; anything else is at most `freshness_ms`
// old. With `fresh=true` or `Cache-Control: no-cache` the provider is asked first.
pub async fn refresh_if_stale(
    app: &App,
    connection: &Connection,
    scope: &SyncScope,
    fresh: bool,
) -> Result<DataAge> {
    match staleness::age(app, connection, scope, fresh).await? {
        Some(age) => Ok(age),
        // Boxed, as it is rare on the path of a read: futures are moved, and a pull's is large.
        None => Box::pin(refreshed(app, connection, scope, fresh)).await,
    }
}

/// Asks the provider, unless another pull has just done so. If the provider does not respond, the older copy is used, with the reason in
/// `DataAge::failed`.
pub async fn refreshed(
    app: &App,
    connection: &Connection,
    scope: &SyncScope,
    now_please: bool,
) -> Result<DataAge> {
    let asked = app.now();
    let since = if now_please { asked } else { asked - app.config.freshness_ms };
    match pull(app, connection, scope, since).await {
        Err(e) if may_serve_old(&e) => {
            let state =
                table::find(app.db.reader(), &connection.id, scope.surface(), &scope.scope_id).await?;
            match state.and_then(|s| s.last_success_at) {
                Some(at) => Ok(DataAge { failed: e.code(), ..DataAge::local(Some(at)) }),
                None => Err(e),
            }
        }
        pulled => pulled,
    }
}

fn may_serve_old(e: &Error) -> bool {
    matches!(
        e.code(),
        Some(
            Code::ProviderUnavailable
                | Code::ProviderTimeout
                | Code::ProviderRateLimited
                | Code::Overloaded
                | Code::DatabaseUnavailable
                | Code::StorageFull
                | Code::ConnectorError
        )
    )
}

/// Ensures that a scope was read at `since` (ms since 1970) or later, by this host or another one. Waits some seconds for a pull of another
/// host, then fails with `provider_timeout`.
async fn pull(app: &App, connection: &Connection, scope: &SyncScope, since: i64) -> Result<DataAge> {
    let name = scope.lock_name(connection);
    let deadline = Instant::now() + PATIENCE;
    let (mut tries, mut waited) = (0, false);
    loop {
        let one = match app.locks.try_lock(&name) {
            Some(one) => one,
            None => {
                waited = true;
                app.locks.lock(&name).await
            }
        };
        // The previous holder of the lock may have pulled after this request.
        if let Some(at) = staleness::read_since(app, connection, scope, since).await? {
            return Ok(DataAge { waited, ..DataAge::local(Some(at)) });
        }
        if let Some(claimed) = ClaimedPull::take(app, connection, scope).await? {
            (tries, waited) = (tries + 1, true);
            let is_read = read(app, connection, scope, claimed).await?;
            let read_at = app.freshness.get(&name);
            // Invalidated during the read, for example because its collection was missing for a moment: it is read again.
            if is_read && (read_at.is_some() || tries >= MAX_RESTARTS) {
                return Ok(DataAge::provider(Some(read_at.unwrap_or(since))));
            }
            if tries >= MAX_RESTARTS {
                return Err(refuse(
                    Code::Overloaded,
                    "this was reset again and again while it was read; try again",
                ));
            }
            continue;
        }
        // A run of this host may have the job, and wait for the lock.
        drop(one);
        waited = true;
        if Instant::now() >= deadline {
            return Err(refuse(
                Code::ProviderTimeout,
                "this is being read from the provider, which takes long",
            ));
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Pulls the whole scope. False: it was reset, and has to be read again.
async fn read(app: &App, connection: &Connection, scope: &SyncScope, claimed: ClaimedPull) -> Result<bool> {
    let pulled = pull::run(app, connection, scope, PullLimits::waiting(claimed.job())).await;
    match pulled {
        Ok(ended) => {
            let is_read = ended == PullEnd::CaughtUp;
            Ok(claimed.end(is_read).await? && is_read)
        }
        Err(e) if is_lost(&e) => Ok(false),
        Err(e) => {
            claimed.end(false).await?;
            Err(e)
        }
    }
}
