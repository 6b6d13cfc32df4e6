//! The job kind `renew`: maintains providers' watches. Each collection that clients follow has one job, so that one host at a time starts,
//! renews and stops its watch. A watch that cannot be renewed is replaced by another one, and the two overlap. After one has expired the
//! collection is polled as usual, until there is another one.

use base::error::{Error, Result};
use model::Instant;
use model::wire::watch::{WatchRenew, WatchStart, WatchStop};
use runtime::{Code, Surface};
use storage::connections as table;
use storage::connections::Connection;
use storage::jobs::{self, End, LostLease};
use storage::wakes::JobClass;
use storage::watches::{self, Status, Watch};

use crate::app::App;
use crate::app::event_log::{self, NewLogEntry};
use crate::connections::call_target::CallTarget;
use crate::connections::provider_call::failed;
use crate::connections::watch_expiry::{WANTED_MS, after_time, next_at, present};
use crate::connections::{self, refusal, throttle, watch_calls, watch_reach};
use crate::job_runner::kind::{JobEnd, JobKind, JobRun, RetryDelay};
use crate::push::wanted_watches::{self, WatchRequest};
use crate::push::{stop, watch_rows};
use crate::sync::schedule::{RENEW_JOB, pull_id_of};

/// The job kind. A failure is retried after 1 minute, 2, 4 and so on, up to 6 hours.
pub const RENEW: JobKind = JobKind {
    name: RENEW_JOB,
    class: JobClass::Pull,
    deadline_ms: Some(60_000),
    max_attempts: None,
    retry: RetryDelay { first_ms: 60_000, longest_ms: 6 * 3_600_000 },
    run: |turn| Box::pin(run(turn)),
};

/// Time for which a replaced watch continues, ms.
const OVERLAP_MS: i64 = 60_000;
/// Delay before another attempt to stop a watch, ms.
const STOP_AGAIN_MS: i64 = 60_000;
/// Delay before an unusable connection, or a provider that cannot watch this, is tried again, ms.
const UNUSABLE_MS: i64 = 10 * 60_000;
const UNSUPPORTED_MS: i64 = 24 * 3_600_000;
/// Most stored bytes of an error's text.
const MAX_ERROR: usize = 500;

async fn run(turn: &JobRun) -> Result<JobEnd> {
    let (app, job) = (&turn.app, &turn.job);
    let mut key = job.key().splitn(3, ':');
    let (Some(id), Some(surface), Some(scope_id)) = (key.next(), key.next(), key.next()) else {
        return Ok(JobEnd::Done);
    };
    let Some(connection) = table::find(app.db.reader(), &job.tenant, id).await? else {
        return Ok(JobEnd::Done);
    };
    let of = RenewTarget { turn, connection: &connection, surface, scope_id };
    of.note_time().await?;
    let wanted = wanted_watches::find_request(app, &connection, surface, scope_id).await?;
    let known = of.known().await?;
    if wanted.is_none() && known.is_empty() {
        return Ok(JobEnd::Done);
    }
    let now = app.now();
    if connections::usable(&connection).is_err() {
        let again_at = now + UNUSABLE_MS;
        return Ok(JobEnd::At(next_at(&known, now).map_or(again_at, |at| at.min(again_at))));
    }
    let kind = Surface::parse(surface).unwrap_or(Surface::Watch);
    if let Some(until) = throttle::until(app, &connection.tenant, &connection.id, kind).await? {
        return Ok(JobEnd::PutOff(next_at(&known, now).map_or(until, |at| at.min(until))));
    }
    let target = CallTarget::for_connection(app, &connection)?;
    of.stop_due(&target, &known, wanted.is_none()).await?;
    let Some(wanted) = wanted else { return of.stopped().await };
    let asked = match present(&known).filter(|watch| watch.is_active(now)) {
        None => of.start(&target, &wanted, None).await?,
        Some(watch) if watch.due_at.is_none_or(|at| at <= now) => {
            of.renew(&target, &wanted, watch.clone()).await?
        }
        Some(_) => Ok(()),
    };
    match asked {
        Ok(()) => of.rest().await,
        Err(e) => of.failed(&e).await,
    }
}

/// The result of a call of the provider; the outer error is the host's.
type WatchCallResult = std::result::Result<(), runtime::Error>;

/// The collection whose watches a run maintains.
struct RenewTarget<'a> {
    turn: &'a JobRun,
    connection: &'a Connection,
    surface: &'a str,
    scope_id: &'a str,
}

impl RenewTarget<'_> {
    fn app(&self) -> &App {
        &self.turn.app
    }

    async fn known(&self) -> Result<Vec<Watch>> {
        let of = (self.surface, self.scope_id);
        Ok(watches::of_scope(self.app().db.reader(), &self.connection.id, of).await?)
    }

    /// Writes status changes by time. A watch whose start has no known outcome is deleted: another attempt has another id, and the
    /// provider's notifications for this one find no watch.
    async fn note_time(&self) -> Result<()> {
        let (now, mut changes) = (self.app().now(), RenewChanges::default());
        for watch in self.known().await? {
            let is_over = watch.expires_at.is_none_or(|at| at <= now);
            if watch.status == Status::Starting || watch.status == Status::Stopping && is_over {
                changes.gone.push(watch.id);
                continue;
            }
            let Some(status) = after_time(&watch, now) else { continue };
            let due_at = watch.due_at.filter(|_| status != Status::Expired);
            let changed = Watch { status, due_at, updated_at: now, ..watch };
            changes.notes.extend(watch_rows::status_entry(&changed));
            if status == Status::Expired {
                changes.pulls.push(pull_id_of(&changed));
            }
            changes.written.push(changed);
        }
        self.write(changes).await
    }

    /// Asks the provider to start a watch that replaces `before`. Its row is written before the call: a provider may check the address
    /// during it.
    async fn start(
        &self,
        target: &CallTarget<'_>,
        wanted: &WatchRequest,
        before: Option<Watch>,
    ) -> Result<WatchCallResult> {
        let (app, now) = (self.app(), self.app().now());
        let address = watch_reach::address(app, &self.connection.provider, self.surface);
        let Some(address) = address else { return Ok(Ok(())) };
        let new = watch_rows::starting(app, self.connection, self.surface, self.scope_id);
        self.write(RenewChanges { made: Some(new.clone()), ..RenewChanges::default() }).await?;
        let args = WatchStart {
            surface: self.surface.to_owned(),
            scope: wanted.collection.clone(),
            address,
            token: app.keyring.watch_token(&new.id).to_string(),
            channel: new.id.clone(),
            wanted_until: Instant::from_millis(now + WANTED_MS),
        };
        let began = match watch_calls::start(app, target, &args).await {
            Ok(watching) => watch_rows::active(app, self.connection, &new, watching),
            Err(e) => Err(e),
        };
        let began = match began {
            Ok(began) => began,
            Err(e) => {
                self.write(RenewChanges { gone: vec![new.id], ..RenewChanges::default() }).await?;
                return Ok(Err(e));
            }
        };
        // A change between the last pull and now was not notified.
        let mut changes = RenewChanges { pulls: vec![pull_id_of(&began)], ..RenewChanges::default() };
        let expired = self.known().await?.into_iter().filter(|watch| watch.status == Status::Expired);
        changes.gone.extend(expired.map(|watch| watch.id));
        if let Some(before) = before {
            let due_at = Some(app.now() + OVERLAP_MS);
            let ends = Watch { status: Status::Stopping, due_at, updated_at: app.now(), ..before };
            changes.written.push(ends);
        }
        let stop_args = stop::args(&began);
        changes.written.push(began);
        let written = self.write(changes).await;
        // After another failure it is unknown whether the row was committed.
        let is_lost = matches!(&written, Err(Error::Internal(e)) if e.is::<LostLease>());
        if let Some(stop_args) = stop_args.filter(|_| is_lost) {
            self.stop_unrecorded(target, &stop_args).await;
        }
        written?;
        Ok(Ok(()))
    }

    /// Stops a watch that the provider has started and that has no row: the account was disconnected, or the job is another host's, which
    /// starts its own watch. Otherwise the provider would post to it until it expires.
    async fn stop_unrecorded(&self, target: &CallTarget<'_>, args: &WatchStop) {
        if let Err(e) = watch_calls::stop(self.app(), target, args).await {
            tracing::debug!(watch = %args.channel, error = %e, "a watch without a row cannot be stopped");
        }
    }

    /// Asks the provider to renew a watch; if it cannot, or no longer knows the watch, starts another one.
    async fn renew(
        &self,
        target: &CallTarget<'_>,
        wanted: &WatchRequest,
        watch: Watch,
    ) -> Result<WatchCallResult> {
        let app = self.app();
        let address = watch_reach::address(app, &self.connection.provider, self.surface);
        let Some(address) = address else { return Ok(Ok(())) };
        let args = WatchRenew {
            external_id: watch.external_id.clone().unwrap_or_default(),
            resource: watch.resource.clone(),
            channel: watch.id.clone(),
            token: app.keyring.watch_token(&watch.id).to_string(),
            address,
            wanted_until: Instant::from_millis(app.now() + WANTED_MS),
            surface: self.surface.to_owned(),
            scope: wanted.collection.clone(),
        };
        let renewed = match watch_calls::renew(app, target, &args).await {
            Ok(watching) => watch_rows::active(app, self.connection, &watch, watching),
            Err(e) if matches!(e.code, Code::Unsupported | Code::NotFound) => {
                return self.start(target, wanted, Some(watch)).await;
            }
            Err(e) => Err(e),
        };
        match renewed {
            Ok(renewed) => {
                self.write(RenewChanges { written: vec![renewed], ..RenewChanges::default() }).await?;
                Ok(Ok(()))
            }
            Err(e) => Ok(Err(e)),
        }
    }

    /// Stops the watches that are due to be stopped, or all of them.
    async fn stop_due(&self, target: &CallTarget<'_>, known: &[Watch], all: bool) -> Result<()> {
        let (app, now) = (self.app(), self.app().now());
        let is_due = |watch: &&Watch| {
            all || watch.status == Status::Stopping && watch.due_at.is_none_or(|at| at <= now)
        };
        for watch in known.iter().filter(is_due) {
            let is_on = watch.status != Status::Expired;
            let stopped = match stop::args(watch).filter(|_| is_on) {
                Some(args) => stop::end(app, target, watch, &args).await,
                None => Ok(()),
            };
            let changes = match stopped {
                // A watch that cannot be stopped now is retried until it expires.
                Err(e) if e.is_transient() => {
                    let due_at = Some(app.now() + STOP_AGAIN_MS);
                    let again = Watch { status: Status::Stopping, due_at, updated_at: now, ..watch.clone() };
                    RenewChanges { written: vec![again], ..RenewChanges::default() }
                }
                Ok(()) | Err(_) => RenewChanges { gone: vec![watch.id.clone()], ..RenewChanges::default() },
            };
            self.write(changes).await?;
        }
        Ok(())
    }

    /// Returns the end of a run after which nothing has to be watched any more.
    async fn stopped(&self) -> Result<JobEnd> {
        let (known, now) = (self.known().await?, self.app().now());
        Ok(next_at(&known, now).map_or(JobEnd::Done, JobEnd::At))
    }

    /// Returns the end of a run that has done all due work.
    async fn rest(&self) -> Result<JobEnd> {
        let (known, now) = (self.known().await?, self.app().now());
        Ok(JobEnd::At(next_at(&known, now).unwrap_or(now + UNUSABLE_MS)))
    }

    /// Returns the end of a run whose call failed. The job is retried after a delay, or earlier when the passage of time changes the status
    /// of the watch.
    async fn failed(&self, e: &runtime::Error) -> Result<JobEnd> {
        let (app, job) = (self.app(), &self.turn.job);
        let (known, now) = (self.known().await?, app.now());
        if matches!(e.code, Code::Unsupported | Code::UnsupportedSurface) {
            let again_at = now + UNSUPPORTED_MS;
            return Ok(JobEnd::At(next_at(&known, now).map_or(again_at, |at| at.min(again_at))));
        }
        let error = failed(app, self.connection, e).await;
        tracing::warn!(job = %job.id, attempts = job.attempts, %error, "a watch cannot be started or renewed");
        let (message, _) = e.message.split_at(e.message.floor_char_boundary(MAX_ERROR));
        let [random] = app.entropy.bytes::<1>();
        let wait_ms = e.retry_after_ms.and_then(|ms| i64::try_from(ms).ok()).unwrap_or(0);
        let delay_ms = RENEW.retry.after_ms(job.attempts, random).max(wait_ms.min(RENEW.retry.longest_ms));
        let again_at = now + delay_ms;
        let end = End {
            due_at: Some(next_at(&known, now).map_or(again_at, |at| at.min(again_at))),
            attempts: job.attempts,
            last_error: Some(jobs::error((refusal::code(e).as_str(), message), now)),
            ..End::default()
        };
        let job = job.clone();
        app.db
            .write(move |tx| {
                Box::pin(async move {
                    jobs::reschedule(tx, &job, &end, now).await?;
                    Ok::<_, Error>(())
                })
            })
            .await?;
        Ok(JobEnd::Committed)
    }

    /// Writes changes if the job is still this host's.
    async fn write(&self, changes: RenewChanges) -> Result<()> {
        if changes.is_empty() {
            return Ok(());
        }
        let (app, job, now) = (self.app().clone(), self.turn.job.clone(), self.app().now());
        let db = app.db.clone();
        db.write(move |tx| {
            Box::pin(async move {
                if !changes.notes.is_empty() {
                    event_log::append(tx, &app, &job.tenant, changes.notes).await?;
                }
                if let Some(made) = &changes.made {
                    watches::insert(tx, made).await?;
                }
                for watch in &changes.written {
                    watches::update(tx, watch).await?;
                }
                if !changes.gone.is_empty() {
                    watches::delete(tx, &changes.gone).await?;
                }
                if !changes.pulls.is_empty() {
                    watches::wake(tx, &changes.pulls, (now, true), now).await?;
                }
                jobs::check_fence(tx, &job, None, now).await?;
                Ok::<_, Error>(())
            })
        })
        .await
    }
}

/// The changes of one transaction.
#[derive(Clone, Debug, Default)]
struct RenewChanges {
    notes: Vec<NewLogEntry>,
    made: Option<Watch>,
    written: Vec<Watch>,
    /// Ids of watches to delete.
    gone: Vec<String>,
    /// Ids of the jobs of pulls that are due now.
    pulls: Vec<String>,
}

impl RenewChanges {
    fn is_empty(&self) -> bool {
        let has_rows = self.made.is_some() || !self.written.is_empty() || !self.gone.is_empty();
        !has_rows && self.notes.is_empty() && self.pulls.is_empty()
    }
}
