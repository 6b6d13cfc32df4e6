//! The job kind `watch`: listens to a provider's stream of changes, one stream per followed mailbox over all hosts. A run lasts as long as
//! its stream. A notification is a hint: a pull reads the changes, and mailboxes are still polled, though more rarely.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;

use base::error::{Code, Result, refuse};
use runtime::{self, ListenTarget, News, Surface};
use storage::connections::Connection;
use storage::jobs::{self, LostLease};
use storage::wakes::JobClass;
use storage::{connections as table, job_claims};
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use crate::app::App;
use crate::app::live_channels::{Channel, LiveChannel};
use crate::connections::call_target::CallTarget;
use crate::connections::operator_values::OperatorValues;
use crate::connections::{self, refusal, throttle};
use crate::job_runner::kind::{JobEnd, JobKind, JobRun, RetryDelay};
use crate::sync;
use crate::sync::schedule::{ConnectionJob, WATCH_JOB, pull_job, watch_id};
use crate::sync::scope::SyncScope;

/// The job kind.
pub const WATCH: JobKind = JobKind {
    name: WATCH_JOB,
    class: JobClass::Watch,
    deadline_ms: None,
    max_attempts: None,
    retry: RetryDelay { first_ms: 2_000, longest_ms: 15 * 60_000 },
    run: |turn| Box::pin(run(turn)),
};

/// Duration from which a stream counts as successful: the next one is opened soon.
const LASTING: Duration = Duration::from_secs(60);
/// Delay before that, ms.
const AGAIN_MS: i64 = 2_000;
/// Delay before an unusable connection, or a provider without a stream, is tried again, ms.
const UNUSABLE_MS: i64 = 10 * 60_000;
const UNSUPPORTED_MS: i64 = 24 * 3_600_000;
/// Interval between checks for streams whose jobs this host has lost.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// Pause after a failure of the database.
const AFTER_FAILURE: Duration = Duration::from_secs(1);

async fn run(turn: &JobRun) -> Result<JobEnd> {
    let (app, job) = (&turn.app, &turn.job);
    let id = job.connection_id.as_deref().unwrap_or_default();
    let Some(connection) = table::find(app.db.reader(), &job.tenant, id).await? else {
        return Ok(JobEnd::Done);
    };
    let scope = SyncScope::mail();
    let is_followed = sync::state(app, &connection, &scope).await?.followed;
    if !is_followed || !app.runtime.can_listen(&connection.provider) {
        return Ok(JobEnd::Done);
    }
    if connections::usable(&connection).is_err() {
        return Ok(JobEnd::At(app.now() + UNUSABLE_MS));
    }
    if let Some(until) = throttle::until(app, &connection.tenant, &connection.id, Surface::Email).await? {
        return Ok(JobEnd::PutOff(until));
    }
    let stream = ProviderStream::begin(turn, connection);
    stream.store_state().await?;
    let began = Instant::now();
    let ended = tokio::select! {
        ended = stream.listen() => ended?,
        lost = stream.schedule_pulls() => return Err(lost),
        () = stream.stop.notified() => return Err(anyhow::Error::new(LostLease).into()),
    };
    let was_open = stream.watched().channel == Channel::Open;
    stream.close(&ended).await?;
    match ended {
        Err(e) if e.code == runtime::Code::Unsupported => Ok(JobEnd::At(app.now() + UNSUPPORTED_MS)),
        _ if was_open && began.elapsed() >= LASTING => Ok(JobEnd::At(app.now() + AGAIN_MS)),
        Err(e) => Err(refusal::from_runtime_error(&stream.connection.provider, &e)),
        Ok(()) => Err(refuse(Code::ProviderUnavailable, "the provider has ended the stream of its changes")),
    }
}

/// A stream of a provider's changes, for the duration of a run.
struct ProviderStream<'a> {
    turn: &'a JobRun,
    connection: Connection,
    /// The job that pulls the mailbox.
    pull: ConnectionJob,
    lock_name: String,
    /// Notified of each change.
    news: Notify,
    /// The previous listener could not write that it stopped.
    was_left_open: bool,
    /// Notified when listening must end.
    stop: Arc<Notify>,
}

impl Drop for ProviderStream<'_> {
    fn drop(&mut self) {
        self.turn.app.watches.end(&self.connection.id, &self.stop);
    }
}

impl<'a> ProviderStream<'a> {
    fn begin(turn: &'a JobRun, connection: Connection) -> ProviderStream<'a> {
        let (job, scope) = (&turn.job, SyncScope::mail());
        let kept = job.progress.as_deref().and_then(|kept| serde_json::from_str::<LiveChannel>(kept).ok());
        let told_at = kept.and_then(|kept| kept.told_at);
        let owner = job.owner.as_deref().unwrap_or_default();
        ProviderStream {
            turn,
            pull: pull_job(&connection, &scope),
            lock_name: scope.lock_name(&connection),
            news: Notify::new(),
            was_left_open: kept.is_some_and(|kept| kept.channel == Channel::Open),
            stop: turn.app.watches.begin(&connection.id, owner, told_at),
            connection,
        }
    }

    fn watched(&self) -> LiveChannel {
        self.turn.app.watches.find(&self.connection.id).unwrap_or_default()
    }

    /// Writes the state of the channel, for other hosts. If polls were rarer because of a stream that is gone, they return to normal until
    /// the next stream is open.
    async fn store_state(&self) -> Result<()> {
        let app = &self.turn.app;
        self.write(self.was_left_open.then(|| app.now() + app.config.poll_interval_ms)).await
    }

    /// Same as `store_state`, and schedules a pull of the mailbox for this time (ms since 1970) or earlier.
    async fn write(&self, pull_at: Option<i64>) -> Result<()> {
        let progress = serde_json::to_string(&self.watched())?;
        let app = &self.turn.app;
        let (job, connection, pull, now) =
            (self.turn.job.clone(), self.connection.clone(), self.pull.clone(), app.now());
        app.db
            .write(move |tx| {
                Box::pin(async move {
                    jobs::check_fence(tx, &job, Some(&progress), now).await?;
                    if pull_at.is_some() {
                        jobs::enqueue(tx, &pull.due(&connection, pull_at), now).await?;
                    }
                    Ok(())
                })
            })
            .await
    }

    /// Listens until the stream ends.
    async fn listen(&self) -> Result<std::result::Result<(), runtime::Error>> {
        let app = &self.turn.app;
        let target = CallTarget::for_connection(app, &self.connection)?;
        let operator = OperatorValues::load(app, target.tenant, target.provider).await?;
        let wire = operator.apply(&target.wire);
        let listening = ListenTarget {
            connector: target.provider,
            tenant: &target.tenant.application_id,
            connection_id: target.connection_id,
            settings: &wire.settings,
            credentials: target.credentials.clone(),
            origins: operator.origins,
        };
        Ok(app.runtime.listen(listening, &|news| self.take(news)).await)
    }

    fn take(&self, news: News) {
        let app = &self.turn.app;
        match news {
            News::Listening => app.watches.set(&self.connection.id, Channel::Open),
            News::Changed => app.watches.record_notification(&self.connection.id, app.now()),
        }
        app.freshness.forget(&self.lock_name);
        self.news.notify_one();
    }

    /// Schedules a pull of the mailbox after each notification; several that arrive together count as one. Returns when the job is no
    /// longer this host's.
    async fn schedule_pulls(&self) -> base::error::Error {
        loop {
            self.news.notified().await;
            while let Err(e) = self.write(Some(self.turn.app.now())).await {
                if sync::on_demand::is_lost(&e) {
                    return e;
                }
                tracing::error!(connection = %self.connection.id, error = %e, "a provider's hint cannot be written");
                tokio::time::sleep(AFTER_FAILURE).await;
            }
        }
    }

    /// Writes that the stream has ended: until the next one the mailbox is polled as usual.
    async fn close(&self, ended: &std::result::Result<(), runtime::Error>) -> Result<()> {
        let app = &self.turn.app;
        let is_unsupported = ended.as_ref().is_err_and(|e| e.code == runtime::Code::Unsupported);
        let was_open = self.watched().channel == Channel::Open;
        let channel = if is_unsupported { Channel::None } else { Channel::Closed };
        app.watches.set(&self.connection.id, channel);
        self.write(was_open.then(|| app.now() + app.config.poll_interval_ms)).await
    }
}

/// Ends streams whose jobs are no longer this host's, until `stop` is true: their connections were deleted by another host, or got other
/// credentials.
pub async fn end_lost_streams(app: &App, mut stop: watch::Receiver<bool>) {
    while !*stop.borrow() {
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY), if app.db.is_shared() => {}
            // An error: the sender of the stop signal is gone.
            changed = stop.changed() => if changed.is_err() { return },
        }
        if let Err(e) = end_lost(app).await {
            tracing::error!(error = %format!("{e:#}"), "streams that are no longer this host's cannot be looked for");
        }
    }
}

/// Checks the streams once.
pub async fn end_lost(app: &App) -> anyhow::Result<()> {
    // Before the query, so that a stream that begins in between is not missing in its result.
    let held = app.watches.held();
    let owners: BTreeSet<&str> = held.iter().map(|(_, owner)| owner.as_str()).collect();
    let mut running = HashSet::new();
    for owner in owners {
        running.extend(job_claims::running(app.db.reader(), owner, JobClass::Watch).await?);
    }
    for (connection_id, _) in held.iter().filter(|(id, _)| !running.contains(&watch_id(id))) {
        app.watches.remove(connection_id);
    }
    Ok(())
}
