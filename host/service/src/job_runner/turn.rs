//! One run of a job: it has a deadline, its panic is caught, and its outcome is written.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use base::error::{Code, Error, is_outage};
use storage::job_claims;
use storage::jobs::{self, End, Job, LostLease};
use storage::lane::Lane;
use tokio::sync::{Notify, watch};
use tokio::time::sleep_until;

use crate::app::App;
use crate::app::supervise::caught;
use crate::job_runner::kind::{JobEnd, JobKind, JobRun};
use crate::job_runner::permits;

/// Waits between attempts to write the outcome of a run, ms. After the last one the job stays `running` until its host, or after a stop
/// another one, finds it overdue.
const WRITE_AGAIN_AFTER_MS: [u64; 3] = [100, 1_000, 5_000];
/// The wait after those for a job without a deadline, which is never found overdue, ms.
const WRITE_AT_LAST_AFTER_MS: u64 = 30_000;
/// Delay of a job whose run ended because the database failed as a whole, ms.
const OUTAGE_WAIT_MS: i64 = 5_000;
/// Time that a run which must not be left half-done (`JobRun::must_finish`) may continue when the process ends without a drain deadline.
pub const FINISHES_WITHIN: Duration = Duration::from_secs(5);
/// Longest time to write the outcomes of runs; it is reserved at the end of a drain.
pub const WRITES_WITHIN: Duration = Duration::from_secs(1);
/// Most stored bytes of an error's text.
const MAX_ERROR: usize = 500;

/// The outcome of a run.
enum TurnOutcome {
    Ended(JobEnd),
    Failed {
        code: &'static str,
        message: String,
        /// The wait that the failing service asks for, ms.
        wait_ms: i64,
    },
    /// Dropped because others needed its permit; it continues when the slow pool has room.
    Preempted,
    /// Another host has the job, or it was cancelled: nothing is written.
    Lost,
}

impl TurnOutcome {
    /// Returns its name in metrics.
    fn name(&self, is_last: bool) -> &'static str {
        match self {
            TurnOutcome::Ended(_) => "done",
            TurnOutcome::Failed { .. } if is_last => "given_up",
            TurnOutcome::Failed { .. } => "failed",
            TurnOutcome::Preempted => "preempted",
            TurnOutcome::Lost => "lost",
        }
    }
}

/// The runner's signals to a run.
#[derive(Default)]
pub struct TurnSignals {
    /// Becomes true when the process ends.
    pub stop: Option<watch::Receiver<bool>>,
    /// Notified when others need the run's permit.
    pub preempted: Option<Arc<Notify>>,
}

/// Runs a claimed job once, and writes the outcome. Failures are logged and kept in the row. When `stop` is true, the process ends: the run
/// is dropped and nothing is written; its host releases the job.
pub async fn run(app: App, kind: JobKind, job: Job, signals: TurnSignals) {
    let lane = Lane::jobs().for_application(&job.tenant.application_id);
    let (name, metrics, counts) = (kind.name, app.metrics.clone(), lane.counts().clone());
    lane.scope(run_once(app, kind, job, signals)).await;
    metrics.count_job_statements(name, &counts);
}

async fn run_once(app: App, kind: JobKind, job: Job, signals: TurnSignals) {
    let is_last = kind.max_attempts.is_some_and(|most| job.attempts >= most);
    let (began, began_at) = (Instant::now(), app.now());
    let TurnSignals { stop, preempted } = signals;
    let (must_finish, is_preemptible) = (Arc::default(), AtomicBool::new(false));
    let turn = JobRun { app, job, is_last, must_finish, is_preemptible, stop };
    let outcome = tokio::select! {
        biased;
        outcome = attempt(&turn, &kind) => outcome,
        () = time_is_up(&turn) => return,
        () = wait_for_preemption(&turn, preempted.as_deref()) => TurnOutcome::Preempted,
    };
    turn.app.metrics.observe_turn(kind.name, outcome.name(is_last), began.elapsed());
    let is_slow = matches!(outcome, TurnOutcome::Preempted)
        || permits::is_slow(kind.class, began.elapsed(), turn.job.is_slow);
    let id = &turn.job.id;
    let end = match outcome {
        TurnOutcome::Ended(JobEnd::Committed) => return,
        TurnOutcome::Ended(next) => run_end(&turn, next, began_at),
        TurnOutcome::Preempted => run_end(&turn, JobEnd::PutOff(turn.app.now()), began_at),
        TurnOutcome::Failed { code, message, wait_ms } => failure_end(&turn, &kind, code, &message, wait_ms),
        TurnOutcome::Lost => {
            tracing::debug!(job = %id, "a turn ended whose job is no longer this host's");
            return;
        }
    };
    let mut waits = WRITE_AGAIN_AFTER_MS.iter();
    while let Err(e) = write(&turn, end.clone(), is_slow).await {
        if e.is::<LostLease>() {
            tracing::debug!(job = %id, "a turn ended whose job is no longer this host's");
            return;
        }
        let next = waits.next().copied();
        let Some(wait) = next.or(kind.deadline_ms.is_none().then_some(WRITE_AT_LAST_AFTER_MS)) else {
            if !is_outage(&e) {
                tracing::error!(job = %id, error = %format!("{e:#}"), "how a job ended cannot be written");
            }
            return;
        };
        tokio::time::sleep(Duration::from_millis(wait)).await;
    }
}

/// Waits until the run has to be dropped because the process ends.
async fn time_is_up(turn: &JobRun) {
    let Some(mut stop) = turn.stop.clone() else { return std::future::pending().await };
    while !*stop.borrow() {
        // An error: the sender of the stop signal is gone.
        if stop.changed().await.is_err() {
            break;
        }
    }
    if turn.must_finish.load(Ordering::Acquire) {
        drain_ends(&turn.app, WRITES_WITHIN, FINISHES_WITHIN).await;
    }
}

/// Waits until others need the permit of a run that can continue later.
async fn wait_for_preemption(turn: &JobRun, preempted: Option<&Notify>) {
    let Some(preempted) = preempted else { return std::future::pending().await };
    loop {
        preempted.notified().await;
        if turn.is_preemptible.load(Ordering::Acquire) {
            return;
        }
    }
}

/// Waits until `before` ahead of the end of the drain, or for `otherwise` if the service was not asked to end.
pub async fn drain_ends(app: &App, before: Duration, otherwise: Duration) {
    let mut ends_at = app.drain_ends_at();
    let otherwise = tokio::time::Instant::now() + otherwise;
    loop {
        let at = ends_at.borrow_and_update().map_or(otherwise, |at| at.checked_sub(before).unwrap_or(at));
        tokio::select! {
            () = sleep_until(at) => return,
            // The service was asked to end, or to end earlier.
            Ok(()) = ends_at.changed() => {}
        }
    }
}

async fn attempt(turn: &JobRun, kind: &JobKind) -> TurnOutcome {
    // Called inside, so that a panic before the first await is caught too.
    let work = caught(&turn.app.metrics, kind.name, async { (kind.run)(turn).await });
    let limit = kind.deadline_ms.map(|ms| Duration::from_millis(u64::try_from(ms).unwrap_or(0)));
    let done = match limit {
        None => work.await,
        Some(limit) => match tokio::time::timeout(limit, work).await {
            Ok(done) => done,
            Err(_) => {
                let message = format!("the turn did not end within {} ms", limit.as_millis());
                return TurnOutcome::Failed { code: "timeout", message, wait_ms: 0 };
            }
        },
    };
    match done {
        Err(said) => TurnOutcome::Failed { code: "panic", message: said, wait_ms: 0 },
        Ok(Ok(next)) => TurnOutcome::Ended(next),
        Ok(Err(Error::Internal(e))) if e.is::<LostLease>() => TurnOutcome::Lost,
        // The database failed, not the job.
        Ok(Err(e)) if e.is_outage() => TurnOutcome::Ended(JobEnd::PutOff(turn.app.now() + OUTAGE_WAIT_MS)),
        Ok(Err(e)) => {
            let code = e.code().map_or(Code::InternalError.as_str(), Code::as_str);
            TurnOutcome::Failed { code, message: e.to_string(), wait_ms: wait_ms(&e) }
        }
    }
}

/// Returns the end to write of a run that began at `began_at`. None: the job is deleted.
fn run_end(turn: &JobRun, next: JobEnd, began_at: i64) -> Option<End> {
    let done = End { done_at: Some(began_at), ..End::default() };
    match next {
        JobEnd::Done | JobEnd::Committed => None,
        JobEnd::Park => Some(done),
        JobEnd::At(due_at) => Some(End { due_at: Some(due_at), ..done }),
        JobEnd::Part(due_at) => Some(End { due_at: Some(due_at), ..End::default() }),
        JobEnd::PutOff(due_at) => Some(End {
            due_at: Some(due_at),
            attempts: turn.job.attempts.saturating_sub(1),
            last_error: turn.job.last_error.clone(),
            ..End::default()
        }),
    }
}

/// Returns the wait that the failing service asks for (`Retry-After`), ms, as far as it is respected.
fn wait_ms(e: &Error) -> i64 {
    let seconds = match e {
        Error::Refused(refusal) => refusal.retry_after_s.unwrap_or_default(),
        Error::Internal(_) => 0,
    };
    i64::try_from(seconds)
        .unwrap_or(i64::MAX)
        .saturating_mul(1_000)
        .min(crate::app::throttle_limit::LONGEST_MS)
}

fn failure_end(turn: &JobRun, kind: &JobKind, code: &str, message: &str, wait_ms: i64) -> Option<End> {
    let (now, attempts) = (turn.app.now(), turn.job.attempts);
    let (message, _) = message.split_at(message.floor_char_boundary(MAX_ERROR));
    let [random] = turn.app.entropy.bytes::<1>();
    let wait_ms = kind.retry.after_ms(attempts, random).max(wait_ms);
    let due_at = (!turn.is_last).then(|| now.saturating_add(wait_ms));
    match due_at {
        Some(_) => {
            tracing::warn!(job = %turn.job.id, code, error = message, attempts, "a job failed and will be retried")
        }
        None => {
            tracing::error!(job = %turn.job.id, code, error = message, attempts, "a job failed and is given up")
        }
    }
    let last_error = Some(jobs::error((code, message), now));
    Some(End { is_failed: turn.is_last, due_at, attempts, last_error, done_at: None })
}

async fn write(turn: &JobRun, end: Option<End>, is_slow: bool) -> Result<()> {
    let (job, now) = (turn.job.clone(), turn.app.now());
    turn.app
        .db
        .write(move |tx| {
            Box::pin(async move {
                match &end {
                    None => jobs::complete(tx, &job, now).await,
                    Some(end) => {
                        if is_slow != job.is_slow {
                            job_claims::set_slow(tx, &job, is_slow).await?;
                        }
                        jobs::reschedule(tx, &job, end, now).await
                    }
                }
            })
        })
        .await
}
