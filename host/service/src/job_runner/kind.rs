//! What a kind of job is, what a turn of it is given, and how a turn ends.

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
    /// What the ids of its jobs begin with; also its name in logs and metrics.
    pub name: &'static str,
    /// Whose permits its turns use.
    pub class: JobClass,
    /// How long a turn may take, ms: then it is dropped and has failed. None: as long as its host lives.
    pub deadline_ms: Option<i64>,
    /// After how many failures in a row a job is given up. None: never.
    pub max_attempts: Option<i64>,
    /// When a job that failed is tried again.
    pub retry: RetryDelay,
    /// One turn. A turn can be dropped at any await, and can be repeated after a crash: what it did without a trace in the database it does
    /// again. When the process ends it is dropped, see `JobRun::must_finish`.
    pub run: for<'a> fn(&'a JobRun) -> BoxFuture<'a, Result<JobEnd>>,
}

/// What a turn is given.
pub struct JobRun {
    pub app: App,
    /// The job as it was claimed; its fence goes into the transaction of the outcome.
    pub job: Job,
    /// Whether the job is given up when this turn fails.
    pub is_last: bool,
    /// The turn sets it while it does what must not be left half-done: when the process ends, it is then not dropped at once, and has until
    /// the drain ends (`App::drain_ends_at`).
    pub must_finish: Arc<AtomicBool>,
    /// See `allow_preemption`.
    pub(crate) is_preemptible: AtomicBool,
    /// Becomes true when the process ends; none: that is not for the turn to know.
    pub stop: Option<watch::Receiver<bool>>,
}

impl JobRun {
    /// Lets the runner drop this turn when it lasts and others need its place; the job goes on when there is a place for turns that last.
    /// For work that stores what it has done step by step, and changes nothing elsewhere.
    pub fn allow_preemption(&self) {
        self.is_preemptible.store(true, Ordering::Release);
    }

    /// Whether the process was asked to end: a turn that goes on until what is under way has ended begins nothing more.
    pub fn is_ending(&self) -> bool {
        self.app.is_draining() || self.stop.as_ref().is_some_and(|stop| *stop.borrow())
    }
}

/// How a turn ended that did not fail. All times are milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobEnd {
    /// Nothing is left to do: the job is deleted.
    Done,
    /// It was a success, and the job is due again then.
    At(i64),
    /// A part of the work is done, and the job is due again then for the rest.
    Part(i64),
    /// It was a success, and the job waits to be woken.
    Park,
    /// It could not be tried now: the job is due then, and this turn does not count as an attempt.
    PutOff(i64),
    /// The kind has ended the turn in a transaction of its own, together with its outcome.
    Committed,
}

/// How long a job waits after a failure: doubled with each one, and up to a fifth longer, so that jobs that failed together do not come back
/// together.
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
