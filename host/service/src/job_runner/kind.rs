//! The description of a kind of job, the input of a run, and its result.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::error::Result;
use futures::future::BoxFuture;
use storage::jobs::Job;
use storage::wakes::JobClass;
use tokio::sync::watch;

use crate::app::App;

/// A kind of job.
#[derive(Clone, Copy)]
pub struct JobKind {
    /// The prefix of its jobs' ids; also its name in logs and metrics.
    pub name: &'static str,
    /// The class whose permits its runs use.
    pub class: JobClass,
    /// Time limit of a run, ms: after it the run is dropped and has failed. None: no limit while the host lives.
    pub deadline_ms: Option<i64>,
    /// Failures in a row after which a job is given up. None: never.
    pub max_attempts: Option<i64>,
    /// The delay before a failed job is retried.
    pub retry: RetryDelay,
    /// One run. It can be dropped at any await, and repeated after a crash: work without a trace in the database is done again. When the
    /// process ends, the run is dropped, see `JobRun::must_finish`.
    pub run: for<'a> fn(&'a JobRun) -> BoxFuture<'a, Result<JobEnd>>,
}

/// The input of a run.
pub struct JobRun {
    pub app: App,
    /// The job as it was claimed; its fence goes into the transaction of the outcome.
    pub job: Job,
    /// Whether the job is given up if this run fails.
    pub is_last: bool,
    /// Set by the run while it does work that must not be left half-done: when the process ends, the run then has until the drain ends
    /// (`App::drain_ends_at`), and is not dropped at once.
    pub must_finish: Arc<AtomicBool>,
    /// See `allow_preemption`.
    pub(crate) is_preemptible: AtomicBool,
    /// Becomes true when the process ends; none for a run that does not observe it.
    pub stop: Option<watch::Receiver<bool>>,
}

impl JobRun {
    /// Lets the runner drop this run when it is slow and others need its permit; the job continues when the slow pool has room. For work
    /// that stores its progress step by step, and has no external effects.
    pub fn allow_preemption(&self) {
        self.is_preemptible.store(true, Ordering::Release);
    }

    /// Whether the process is ending: a run that waits for work under way then starts nothing more.
    pub fn is_ending(&self) -> bool {
        self.app.is_draining() || self.stop.as_ref().is_some_and(|stop| *stop.borrow())
    }
}

/// The result of a run that did not fail. All times are milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobEnd {
    /// The work is complete: the job is deleted.
    Done,
    /// Success; the job is due again at this time.
    At(i64),
    /// A part of the work is done; the job is due again at this time for the rest.
    Part(i64),
    /// Success; the job waits until it is woken.
    Park,
    /// The work could not be tried; the job is due at this time, and this run does not count as an attempt.
    PutOff(i64),
    /// The kind has written the end of the run itself, in the transaction of its outcome.
    Committed,
}

/// The delay after a failure: doubled with each one, and up to a fifth longer, so that jobs that failed together are not retried together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryDelay {
    /// After the first failure, ms.
    pub first_ms: i64,
    /// The longest delay, ms, without the random part.
    pub longest_ms: i64,
}

impl RetryDelay {
    /// The delay in ms after the failure with this number, counted from 1. `random` chooses between 0 and 20 % more.
    pub fn after_ms(self, failures: i64, random: u8) -> i64 {
        let doubled = self.first_ms.saturating_mul(1 << failures.saturating_sub(1).clamp(0, 30));
        let delay = doubled.min(self.longest_ms);
        delay.saturating_add(delay / 5 * i64::from(random) / i64::from(u8::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_doubles_up_to_the_longest_and_never_comes_early() {
        let retry = RetryDelay { first_ms: 60_000, longest_ms: 6 * 3_600_000 };
        let delays: Vec<i64> = (1..=11).map(|n| retry.after_ms(n, 0) / 60_000).collect();
        assert_eq!(delays, [1, 2, 4, 8, 16, 32, 64, 128, 256, 360, 360]);
        assert_eq!(retry.after_ms(1, u8::MAX), 72_000);
        assert_eq!(retry.after_ms(i64::MAX, 0), 6 * 3_600_000);
        assert_eq!(retry.after_ms(0, 0), 60_000);
    }
}
