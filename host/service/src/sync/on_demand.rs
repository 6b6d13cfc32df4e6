//! A pull that somebody waits for. Where several hosts work on one database, it has the job of its scope for as long as it takes, so that
//! one host at a time asks the provider, and it uses what another host has just read.

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

/// How long a pull of another host is waited for.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often one looks whether it has ended.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// After this time a claim whose end could not be written counts as lost, ms.
const DEADLINE_MS: i64 = 600_000;
/// Waits between attempts to give back a job whose pull was called off.
const GIVE_BACK_AGAIN_AFTER: [Duration; 3] =
    [Duration::from_millis(100), Duration::from_secs(1), Duration::from_secs(5)];
/// Times that a pull begins again because everything was reset meanwhile.
const TRIES: usize = 3;

/// The job of a scope while somebody waits for its pull. On SQLite, where a database is one host's, the lock in the process is enough.
pub struct ClaimedPull {
    app: App,
    job: Option<Job>,
    /// When it was claimed, ms since 1970.
    at: i64,
}

impl ClaimedPull {
    /// None: somebody pulls it now, here or elsewhere.
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
        // In a task of its own: when whoever waits goes away meanwhile, what was claimed is dropped, and so given back.
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

    /// The job, whose fence goes into what the pull writes.
    pub fn job(&self) -> Option<&Job> {
        self.job.as_ref()
    }

    /// Gives the job back after a pull: it is due when it was due before. `is_read`: all of it was read. False: somebody has taken the
    /// job away meanwhile.
    pub async fn end(self, is_read: bool) -> Result<bool> {
        if self.job.is_none() {
            return Ok(true);
        }
        // In a task of its own: it is written also when whoever waits goes away meanwhile.
        let ending = Lane::current().spawn(self.ended(is_read));
        Ok(ending.await.map_err(anyhow::Error::from)??)
    }

    /// What cannot be written now is tried again behind, when this is dropped.
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
    /// Whoever waited for the pull went away, or its end could not be written.
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

/// Whether an error says that another host has the job, or that it was taken away: nothing of what was to be written was written.
pub fn is_lost(e: &Error) -> bool {
    matches!(e, Error::Internal(e) if e.is::<LostLease>())
}

/// Sees to it that the copy is not older than the setting allows, whether it is in step or not: for whoever writes on the strength of it. A
/// scope that was never read is read now. When the provider does not answer, an older copy is better than nothing: what was read before is
/// served.
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

/// The same for reads, which a copy in step answers without a look at the provider, unless they want that (`fresh`). Says how old what they
/// read is.
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
        // Boxed, as what is rare on the path of a read is here: futures are moved, and a pull's is large.
        None => Box::pin(refreshed(app, connection, scope, fresh)).await,
    }
}

/// Asks the provider first, unless somebody else has just done so. What was read before is served where it does not answer, with the reason
/// in `DataAge::failed`.
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

/// Sees to it that a scope has been read at `since` (ms since 1970) or later, by this host or by another one. Waits for a pull of another
/// host for some seconds, then fails with `provider_timeout`.
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
        // Whoever held the lock may have pulled after it was asked for.
        if let Some(at) = staleness::read_since(app, connection, scope, since).await? {
            return Ok(DataAge { waited, ..DataAge::local(Some(at)) });
        }
        if let Some(claimed) = ClaimedPull::take(app, connection, scope).await? {
            (tries, waited) = (tries + 1, true);
            let is_read = read(app, connection, scope, claimed).await?;
            let read_at = app.freshness.get(&name);
            // Forgotten while it was read, as where its collection was gone for a moment: then it is read again.
            if is_read && (read_at.is_some() || tries >= TRIES) {
                return Ok(DataAge::provider(Some(read_at.unwrap_or(since))));
            }
            if tries >= TRIES {
                return Err(refuse(
                    Code::Overloaded,
                    "this was reset again and again while it was read; try again",
                ));
            }
            continue;
        }
        // A turn of this host may have the job, and wait for the lock.
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

/// Pulls all of it. False: it was reset, and is to be read anew.
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
