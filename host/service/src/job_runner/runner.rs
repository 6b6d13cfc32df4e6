//! The runner: for each class it reads the due jobs, claims as many as it has permits for, and runs each in its own task. It sleeps
//! until the next job is due or a class is woken, and never longer than five seconds.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use base::error::is_outage;
use futures::future::join_all;
use storage::jobs::{self, Busy, Candidate, Claim, Fence, Job};
use storage::lane::Lane;
use storage::wakes::JobClass;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::app::App;
use crate::job_runner::kind::JobKind;
use crate::job_runner::lease::{EnsureJobs, HostLease};
use crate::job_runner::permits::{self, Permit, Permits};
use crate::job_runner::turn::{self, TurnSignals};

/// Longest sleep of the runner, ms. It bounds the delay of jobs that other hosts enqueue, and of lost wakes.
const SWEEP_MS: i64 = 5_000;
/// Candidates per query.
const WINDOW: i64 = 256;
/// Time that the runner waits for its runs when the process ends without a drain deadline: the time that they may continue, and the time to
/// write how they ended.
const STOPS_WITHIN: Duration = turn::FINISHES_WITHIN.saturating_add(turn::WRITES_WITHIN);
/// Pause of the runner after a failure of the database.
const AFTER_FAILURE: Duration = Duration::from_secs(1);

/// Runs jobs of these kinds until `stop` is true: the process ends. Then drops the runs that have not ended (those that must not be left
/// half-done a little later) and releases their jobs. The lease ends when the requests of this process have ended. Jobs of other kinds are
/// left to hosts that know them. `required` creates the jobs that must exist, at the start and once a minute.
pub async fn run(
    app: App,
    kinds: &'static [JobKind],
    required: &'static [EnsureJobs],
    mut stop: watch::Receiver<bool>,
) {
    let mut classes: Vec<JobClass> = Vec::new();
    for kind in kinds {
        if !classes.contains(&kind.class) {
            classes.push(kind.class);
        }
    }
    while !*stop.borrow() {
        let lease = match HostLease::begin(&app).await {
            Ok(lease) => Arc::new(lease),
            Err(e) => {
                if !is_outage(&e) {
                    tracing::error!(error = %format!("{e:#}"), "no job can be run: this host gets no lease");
                }
                pause(&mut stop, AFTER_FAILURE).await;
                continue;
            }
        };
        let work = join_all(classes.iter().map(|class| work(&app, &lease, *class, kinds, stop.clone())));
        tokio::select! {
            _ = work => {
                stop_host(&app, Arc::clone(&lease)).await;
                return;
            }
            // The runs are dropped with `work`.
            () = lease.keep(&app, required) => {}
        }
    }
}

/// Releases the jobs that have not ended, and ends the lease when no request has a claim any more. This waits no longer than the drain: a
/// request that runs longer keeps the lease until it ends, or the process does.
async fn stop_host(app: &App, lease: Arc<HostLease>) {
    if !app.claims.is_idle()
        && let Err(e) = lease.give_back(app).await
    {
        tracing::warn!(error = %format!("{e:#}"), "jobs that had not ended are left to a takeover");
    }
    let of_host = app.clone();
    let ended = Lane::jobs().spawn(async move {
        if let Err(e) = lease.end_after_requests(&of_host).await {
            tracing::warn!(error = %format!("{e:#}"), "the lease of this host is left to a takeover");
        }
    });
    let is_over = async {
        turn::drain_ends(app, Duration::ZERO, STOPS_WITHIN).await;
        // Time to write the end of claims whose requests have just ended.
        tokio::time::sleep(turn::WRITES_WITHIN).await;
    };
    tokio::select! {
        _ = ended => {}
        () = is_over => {}
    }
}

/// Runs the due jobs of these kinds one after the other in the caller's task, ordered by due time, until none is due. Returns the number of
/// runs. For tests, which move the clock: a job that is due again at once keeps it from ending.
pub async fn drain(app: &App, kinds: &[JobKind]) -> Result<u64> {
    let mut turns = 0;
    while let Some((kind, job)) = claim_next(app, kinds).await? {
        turn::run(app.clone(), kind, job, TurnSignals::default()).await;
        turns += 1;
    }
    Ok(turns)
}

async fn claim_next(app: &App, kinds: &[JobKind]) -> Result<Option<(JobKind, Job)>> {
    let now = app.now();
    let mut due: Vec<(i64, String, JobKind)> = Vec::new();
    for kind in kinds {
        let hints = jobs::candidates(app.db.reader(), kind.class, (now, WINDOW), &Busy::default()).await?;
        let own = hints.into_iter().filter(|hint| hint.kind == kind.name);
        due.extend(own.map(|hint| (hint.due_at, hint.id, *kind)));
    }
    due.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    for (_, id, kind) in due {
        let claimed = claim(app, &app.boot, &kind, vec![id]).await?;
        if let Some(job) = claimed.into_iter().next() {
            return Ok(Some((kind, job)));
        }
    }
    Ok(None)
}

/// Whether a class starts no more runs as soon as the service is asked to end; others continue while requests are accepted. A delivery can
/// take longer than a drain, and ends with it: another host continues with the rest.
const fn ends_with_drain(class: JobClass) -> bool {
    matches!(class, JobClass::Deliver)
}

/// Runs the jobs of one class until `stop`.
async fn work(
    app: &App,
    lease: &HostLease,
    class: JobClass,
    kinds: &[JobKind],
    mut stop: watch::Receiver<bool>,
) {
    // Dropped with this future, which aborts its tasks.
    let mut turns = JoinSet::new();
    let permits = Permits::new(class);
    let mut draining = app.draining();
    while !(*stop.borrow() || ends_with_drain(class) && app.is_draining()) {
        app.presence.looks(class, Instant::now());
        let wait = match begin_turns(app, lease, &permits, kinds, &mut turns, &stop).await {
            Ok(wait) => wait,
            Err(e) => {
                if !is_outage(&e) {
                    tracing::error!(class = class.as_str(), error = %format!("{e:#}"), "jobs cannot be claimed");
                }
                AFTER_FAILURE
            }
        };
        tokio::select! {
            () = app.db.wakes().woken(class) => {}
            () = tokio::time::sleep(wait) => {}
            // Without runs there is none to wait for.
            Some(_) = turns.join_next() => while turns.try_join_next().is_some() {},
            // An error: the sender of the stop signal is gone.
            changed = stop.changed() => if changed.is_err() { break },
            Ok(()) = draining.changed(), if ends_with_drain(class) => {}
        }
    }
    tokio::select! {
        () = async { while turns.join_next().await.is_some() {} } => {}
        () = turn::drain_ends(app, Duration::ZERO, STOPS_WITHIN) => turns.shutdown().await,
    }
}

/// Claims due jobs, as many as there are permits for, and starts their runs. Returns the time until there may be more to start.
async fn begin_turns(
    app: &App,
    lease: &HostLease,
    permits: &Permits,
    kinds: &[JobKind],
    turns: &mut JoinSet<()>,
    stop: &watch::Receiver<bool>,
) -> Result<Duration> {
    let sweep = Duration::from_millis(u64::try_from(SWEEP_MS).unwrap_or(0));
    if permits.are_all_taken() {
        return Ok(sweep);
    }
    if !lease.may_claim(app) {
        // The lease is renewed in a moment, or lost.
        return Ok(AFTER_FAILURE);
    }
    let now = app.now();
    let (hints, last) = find_due_jobs(app, permits, now).await?;
    let next_at = hints.iter().map(|hint| hint.due_at).filter(|due_at| *due_at > now).min();
    let mut due = hints;
    due.retain(|hint| hint.due_at <= now && kinds.iter().any(|kind| kind.name == hint.kind));
    let mut has_begun = false;
    for (name, mut chosen) in by_kind(permits.choose(due)) {
        let Some(kind) = kinds.iter().find(|kind| kind.name == name) else { continue };
        let ids = chosen.keys().cloned().collect();
        for job in claim(app, lease.id(), kind, ids).await? {
            has_begun = true;
            if let Some(permit) = chosen.remove(&job.id) {
                let signals = TurnSignals { stop: Some(stop.clone()), preempted: Some(permit.preempted()) };
                let turn = turn::run(app.clone(), *kind, job, signals);
                turns.spawn(permit.during(app.db.wakes().clone(), turn));
            }
        }
    }
    let wait = next_at.map_or(sweep, |at| Duration::from_millis(u64::try_from(at - app.now()).unwrap_or(0)));
    // Behind the applications that have reached their limits, others may wait.
    let has_places = !permits.are_all_taken();
    Ok(match last {
        WindowLook::Full { .. } if has_places && has_begun => Duration::ZERO,
        WindowLook::Full { is_alone: true } if has_places => wait.min(permits::LOOK_AGAIN_EVERY),
        _ => wait,
    })
}

/// The extent of the due jobs that `find_due_jobs` has read.
#[derive(Clone, Copy)]
enum WindowLook {
    /// All due jobs.
    Whole,
    /// As many jobs as one query reads. `is_alone`: it was too early for another query behind them.
    Full { is_alone: bool },
}

/// Returns the jobs that are due first, and whether there may be more. If the first query is full, a second one leaves out the applications
/// that filled it: a backlog hides no other application.
async fn find_due_jobs(app: &App, permits: &Permits, now: i64) -> Result<(Vec<Candidate>, WindowLook)> {
    let (class, window, mut busy) = (permits.class(), (now + SWEEP_MS, WINDOW), permits.busy());
    let mut hints = jobs::candidates(app.db.reader(), class, window, &busy).await?;
    let is_full = i64::try_from(hints.len()).is_ok_and(|count| count >= WINDOW);
    if !is_full {
        return Ok((hints, WindowLook::Whole));
    }
    let is_alone = !permits.may_look_again(Instant::now());
    if !is_alone {
        let seen: BTreeSet<&String> = hints.iter().map(|hint| &hint.application_id).collect();
        busy.applications.extend(seen.into_iter().cloned());
        hints.extend(jobs::candidates(app.db.reader(), class, window, &busy).await?);
    }
    Ok((hints, WindowLook::Full { is_alone }))
}

/// Groups the permits by the name of the kind, and by job id.
fn by_kind(chosen: Vec<(Candidate, Permit)>) -> BTreeMap<String, BTreeMap<String, Permit>> {
    let mut kinds: BTreeMap<String, BTreeMap<String, Permit>> = BTreeMap::new();
    for (hint, permit) in chosen {
        kinds.entry(hint.kind).or_default().insert(hint.id, permit);
    }
    kinds
}

/// Claims jobs of one kind. Returns those that no other host has claimed.
async fn claim(app: &App, owner: &str, kind: &JobKind, ids: Vec<String>) -> Result<Vec<Job>> {
    let now = app.now();
    let claim = Claim {
        owner: owner.to_owned(),
        fence: Fence::random(&app.entropy),
        now,
        deadline_at: kind.deadline_ms.map(|ms| now + ms),
    };
    app.db.write(move |tx| Box::pin(async move { jobs::claim(tx, &ids, &claim).await })).await
}

/// Sleeps for `wait`, or until `stop`.
async fn pause(stop: &mut watch::Receiver<bool>, wait: Duration) {
    tokio::select! {
        () = tokio::time::sleep(wait) => {}
        _ = stop.changed() => {}
    }
}
