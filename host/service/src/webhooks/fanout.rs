//! The job kind `fanout`: matches the events of an application against its webhooks, and wakes the delivery jobs of those that match. There
//! is one job for each application with webhooks. The log itself is the queue: entries after the feed's cursor are still to be matched.
//!
//! New entries are matched at once, without the job: a few events for a few webhooks cost one transaction. The job handles larger batches,
//! failures, and missed notifications. Two matchers of the same events, also on two hosts, do no harm: the first one to move the cursor
//! wakes the webhooks, and waking one twice is harmless.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use base::error::{Error, Result, is_outage};
use base::tenant::Tenant;
use storage::jobs::{self, End, Job, NewJob};
use storage::lane::Lane;
use storage::log::{self, Light};
use storage::wakes::{JobClass, LogGrowth};
use storage::webhooks::matching;
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, sleep, sleep_until};

use crate::app::App;
use crate::app::supervise::guarded;
use crate::job_runner::kind::{JobEnd, JobKind, JobRun, RetryDelay};
use crate::webhooks::compiled_filters;
use crate::webhooks::notification_types::Matcher;

/// The job kind.
pub const FANOUT: JobKind = JobKind {
    name: "fanout",
    class: JobClass::Fanout,
    deadline_ms: Some(60_000),
    max_attempts: None,
    retry: RetryDelay { first_ms: 1_000, longest_ms: 60_000 },
    run: |turn| Box::pin(run(turn)),
};

/// Interval at which all applications are checked for events of other hosts, and for lost wakes.
const SWEEP: Duration = Duration::from_secs(5);
/// Wait after a failure of the database.
const AFTER_FAILURE: Duration = Duration::from_secs(1);
/// Maximum applications whose events are matched concurrently without a job; the others are left to jobs.
const MOST_AT_ONCE: usize = 8;
/// Maximum events that one run matches.
const PAGE: i64 = 500;
/// Maximum subscriptions that one transaction wakes.
const CHUNK: usize = 500;

/// Matches new events of all applications, until `stop` announces the end of the process.
pub async fn match_events(app: &App, mut stop: watch::Receiver<bool>) {
    let mut passes = Passes::default();
    // For entries from before the start, and from other hosts.
    let mut sweep_at = Instant::now();
    while !*stop.borrow() {
        let looked = tokio::select! {
            () = sleep_until(sweep_at) => {
                sweep_at = Instant::now() + SWEEP;
                wake(app, None).await.map(|_| ())
            }
            grown = app.db.wakes().grown() => match grown {
                LogGrowth::These(ids) => passes.begin(app, ids).await,
                LogGrowth::Any => wake(app, None).await.map(|_| ()),
            },
            // Without a pass under way there is nothing to wait for.
            Some(ended) = passes.under_way.join_next() => passes.end(app, ended).await,
            changed = stop.changed() => match changed {
                Ok(()) => Ok(()),
                // The sender of `stop` was dropped.
                Err(_) => return,
            },
        };
        if let Err(e) = looked {
            if !is_outage(&e) {
                tracing::error!(error = %format!("{e:#}"), "new events cannot be read");
            }
            sleep(AFTER_FAILURE).await;
            sweep_at = Instant::now();
        }
    }
}

/// The running passes, which match events without a job.
#[derive(Default)]
struct Passes {
    /// Each returns its application, and whether events are left for the job. Aborted on drop.
    under_way: JoinSet<(Tenant, bool)>,
    /// The ids of their applications, and whether new events arrived since they began.
    grew_again: BTreeMap<String, bool>,
}

impl Passes {
    /// Begins passes for these applications as far as there is room, and leaves the others to jobs.
    async fn begin(&mut self, app: &App, grown: BTreeSet<String>) -> anyhow::Result<()> {
        let mut new = Vec::new();
        for id in grown {
            match self.grew_again.get_mut(&id) {
                Some(grew_again) => *grew_again = true,
                None => new.push(id),
            }
        }
        if new.is_empty() {
            return Ok(());
        }
        let mut behind = matching::behind(app.db.reader(), Some(&new)).await?;
        let room = MOST_AT_ONCE.saturating_sub(self.under_way.len());
        let rest = behind.split_off(room.min(behind.len()));
        for tenant in behind {
            self.grew_again.insert(tenant.application_id.clone(), false);
            let lane = Lane::jobs().for_application(&tenant.application_id);
            self.under_way.spawn(lane.scope(pass(app.clone(), tenant)));
        }
        enqueue(app, rest).await.map(|_| ())
    }

    /// Handles the end of a pass.
    async fn end(&mut self, app: &App, ended: Result<(Tenant, bool), JoinError>) -> anyhow::Result<()> {
        let (tenant, is_left) = match ended {
            Ok(ended) => ended,
            Err(e) => {
                // It is unknown whose pass panicked: all applications are checked again.
                self.grew_again.clear();
                return Err(e.into());
            }
        };
        let grew_again = self.grew_again.remove(&tenant.application_id).unwrap_or_default();
        match (is_left, grew_again) {
            (true, _) => enqueue(app, vec![tenant]).await.map(|_| ()),
            (false, true) => self.begin(app, BTreeSet::from([tenant.application_id])).await,
            (false, false) => Ok(()),
        }
    }
}

/// Matches the next events of an application. A failure leaves them to the job.
async fn pass(app: App, tenant: Tenant) -> (Tenant, bool) {
    let began = Instant::now();
    let done = guarded(&app.metrics, FANOUT.name, at_once(&app, &tenant)).await;
    let outcome = if done.is_ok() { "done" } else { "failed" };
    app.metrics.observe_turn(FANOUT.name, outcome, began.elapsed());
    app.metrics.count_job_statements(FANOUT.name, Lane::current().counts());
    let is_left = done.unwrap_or_else(|e| {
        tracing::warn!(application = %tenant.application_id, error = %e, "new events are left to a job");
        true
    });
    (tenant, is_left)
}

/// Matches the next events of an application and wakes its webhooks, if they are few. Returns whether anything is left for the job.
async fn at_once(app: &App, tenant: &Tenant) -> Result<bool> {
    let Some(FanoutBatch { woken, up_to, is_full }) = look_at(app, tenant).await? else { return Ok(false) };
    if woken.len() > CHUNK {
        return Ok(true);
    }
    let (first, ids) = chunk(&woken, up_to);
    let (tenant, now) = (tenant.clone(), app.now());
    app.db
        .write(move |tx| {
            Box::pin(async move {
                // If the cursor has already moved, the host that moved it has woken all matching webhooks.
                if matching::advance(tx, &tenant, up_to).await? && !ids.is_empty() {
                    matching::wake(tx, &ids, first, now).await?;
                }
                Ok::<_, Error>(())
            })
        })
        .await?;
    Ok(is_full)
}

/// Enqueues the job of each application that has webhooks and unmatched events, among these applications or all. Returns the number of
/// jobs.
pub async fn wake(app: &App, among: Option<BTreeSet<String>>) -> anyhow::Result<usize> {
    let among: Option<Vec<String>> = among.map(|ids| ids.into_iter().collect());
    let behind = matching::behind(app.db.reader(), among.as_deref()).await?;
    enqueue(app, behind).await
}

/// Enqueues the jobs of these applications. Returns their number.
async fn enqueue(app: &App, behind: Vec<Tenant>) -> anyhow::Result<usize> {
    if behind.is_empty() {
        return Ok(0);
    }
    let (count, now) = (behind.len(), app.now());
    let done: anyhow::Result<()> = app
        .db
        .write(move |tx| {
            Box::pin(async move {
                let new: Vec<NewJob<'_>> = behind.iter().map(|tenant| job_of(tenant, Some(now))).collect();
                jobs::enqueue_all(tx, &new, now).await
            })
        })
        .await;
    done.map(|()| count)
}

/// Returns the job of an application.
fn job_of(tenant: &Tenant, due_at: Option<i64>) -> NewJob<'_> {
    NewJob {
        kind: FANOUT.name,
        key: &tenant.application_id,
        class: FANOUT.class,
        tenant,
        connection_id: None,
        target: "",
        due_at,
        args: None,
    }
}

async fn run(turn: &JobRun) -> Result<JobEnd> {
    let (app, began_at) = (&turn.app, turn.app.now());
    let Some(looked) = look_at(app, &turn.job.tenant).await? else { return Ok(JobEnd::Done) };
    // Moving the cursor ends the run, in the same transaction.
    let due_at = looked.is_full.then(|| app.now());
    let end = End { due_at, done_at: Some(began_at), ..End::default() };
    commit(app, &turn.job, looked, end).await?;
    Ok(JobEnd::Committed)
}

/// The next events of an application, matched against its webhooks.
struct FanoutBatch {
    /// The subscriptions that match at least one event, each with the sequence number of its first match, sorted by these numbers.
    woken: Vec<(i64, String)>,
    /// The sequence number up to which the log was read.
    up_to: i64,
    /// Whether there may be more events.
    is_full: bool,
}

/// Matches the next events of an application; none if it never had a webhook.
async fn look_at(app: &App, tenant: &Tenant) -> Result<Option<FanoutBatch>> {
    let reader = app.db.reader();
    let Some(cursor) = matching::cursor(reader, tenant).await? else { return Ok(None) };
    // Some sequence numbers have no entry; all entries up to this one are committed and readable.
    let last = log::last_sequence(reader, tenant).await?;
    let mut lines = log::light_after(reader, tenant, cursor, PAGE).await?;
    lines.retain(|line| line.sequence <= last);
    let is_full = i64::try_from(lines.len()).is_ok_and(|count| count >= PAGE);
    let up_to = lines.last().filter(|_| is_full).map_or(last, |line| line.sequence);
    let woken = match lines.is_empty() {
        true => Vec::new(),
        // Read after the entries: a subscription that was made before one of them is included.
        false => first_of_each(compiled_filters::for_tenant(app, tenant).await?.as_ref(), &lines),
    };
    Ok(Some(FanoutBatch { woken, up_to, is_full }))
}

/// The subscriptions that match at least one of these entries, each with the sequence number of its first match, sorted by these numbers.
fn first_of_each(matcher: &Matcher, lines: &[Light]) -> Vec<(i64, String)> {
    let mut seen = BTreeSet::new();
    let mut first = Vec::new();
    for line in lines {
        for id in matcher.matching(line.into()) {
            if seen.insert(id) {
                first.push((line.sequence, id.to_owned()));
            }
        }
    }
    first
}

/// Returns the next subscriptions to wake together, and the smallest of their first sequence numbers, which is valid for all of them: each
/// reads the log from there and matches by itself.
fn chunk(woken: &[(i64, String)], up_to: i64) -> (i64, Vec<String>) {
    let first = woken.first().map_or(up_to, |(sequence, _)| *sequence);
    (first, woken.iter().map(|(_, id)| id.clone()).collect())
}

/// Wakes the subscriptions; the last transaction also moves the cursor and ends the run. If an earlier transaction is lost, the next run
/// wakes some of them again, which is harmless.
async fn commit(app: &App, job: &Job, looked: FanoutBatch, end: End) -> Result<()> {
    let up_to = looked.up_to;
    let mut chunks: Vec<(i64, Vec<String>)> =
        looked.woken.chunks(CHUNK).map(|woken| chunk(woken, up_to)).collect();
    let (last, last_ids) = chunks.pop().unwrap_or_default();
    for (first, ids) in chunks {
        commit_one(app, job, first, ids, None).await?;
    }
    commit_one(app, job, last, last_ids, Some((up_to, end))).await
}

/// `last`: the new cursor, and how the run ends.
async fn commit_one(
    app: &App,
    job: &Job,
    first: i64,
    ids: Vec<String>,
    last: Option<(i64, End)>,
) -> Result<()> {
    let (job, now) = (job.clone(), app.now());
    app.db
        .write(move |tx| {
            Box::pin(async move {
                if let Some((cursor, _)) = &last {
                    matching::advance(tx, &job.tenant, *cursor).await?;
                }
                if !ids.is_empty() {
                    matching::wake(tx, &ids, first, now).await?;
                }
                match &last {
                    Some((_, end)) => jobs::reschedule(tx, &job, end, now).await?,
                    None => jobs::check_fence(tx, &job, None, now).await?,
                }
                Ok::<_, Error>(())
            })
        })
        .await
}
