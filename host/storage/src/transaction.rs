//! State of a write transaction besides its statements: hooks to run after the commit, the locks it holds, and whether the database
//! requires a retry of the whole work. The state is task-local inside `Db::write`; a rollback discards it.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Result, ensure};

use crate::error::Outage;
use crate::lane::Lane;
use crate::statement_counts::StatementCounts;
use crate::wakes::{JobClass, Wakes};

/// Rows that transactions lock, in the order in which every transaction must take them: two that take them in different orders can deadlock
/// (PostgreSQL's `deadlock detected`). Rows that belong to a connection (items, outgoing messages, sync states) are protected by the
/// connection's lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LockRank {
    /// Administration rights: first the row that stands for all of them, then operators in id order.
    Operator,
    /// Rows of `connections`, in id order.
    Connection,
    /// The application's row, which has the last number of its log.
    Application,
    /// Counts of requests and changes.
    Usage,
    /// The fan-out position of an application.
    Feed,
    /// Subscriptions.
    Webhook,
    /// Deliveries of webhooks.
    Delivery,
    /// Subscriptions to providers' notifications.
    Watch,
    /// Background work.
    Job,
    /// The claim of an `Idempotency-Key`, with its response.
    Idempotency,
}

tokio::task_local! {
    static CURRENT: Transaction;
}

/// One attempt at a write. Clones share their state.
#[derive(Clone)]
pub(crate) struct Transaction {
    state: Arc<Mutex<State>>,
    /// Statement counts of the lane that began it.
    counts: StatementCounts,
}

#[derive(Default)]
struct State {
    /// The classes of the jobs that were enqueued.
    classes: Vec<JobClass>,
    /// Ids of the applications whose log grew.
    grown: BTreeSet<String>,
    hooks: Vec<Box<dyn FnOnce() + Send>>,
    /// The locks that it holds; for connections also their ids.
    held: BTreeSet<(LockRank, String)>,
    /// Whether the order of its locks is not checked.
    is_in_any_order: bool,
    /// Whether PostgreSQL aborted it in favour of another transaction.
    is_given_up: bool,
    /// PostgreSQL stopped one of its statements, which took too long or waited too long for a lock.
    is_stopped: bool,
    /// The database failed as a whole during one of its statements.
    outage: Option<Outage>,
    /// One of its statements changed a row.
    has_changed: bool,
}

impl Transaction {
    /// Creates the state of a transaction whose statements count for the caller's lane.
    pub(crate) fn new() -> Transaction {
        Transaction { state: Arc::default(), counts: Lane::current().counts().clone() }
    }

    /// Runs `work` with this transaction as the current one.
    pub(crate) fn during<F: Future>(&self, work: F) -> impl Future<Output = F::Output> + use<F> {
        CURRENT.scope(self.clone(), work)
    }

    /// Runs the hooks after the commit, before the caller gets its result.
    pub(crate) fn committed(&self, wakes: &Wakes) {
        let State { classes, grown, hooks, .. } = std::mem::take(&mut *self.state());
        for hook in hooks {
            // A panic affects this write only, not the shared writer.
            if catch_unwind(AssertUnwindSafe(hook)).is_err() {
                tracing::error!("an action after a commit panicked");
            }
        }
        wakes.committed(classes, grown);
    }

    /// Resets the state after a rollback. The outage that caused the rollback is kept.
    pub(crate) fn rolled_back(&self) {
        let mut state = self.state();
        *state = State { outage: state.outage.take(), ..State::default() };
    }

    /// Whether PostgreSQL aborted it in favour of another transaction, so that another attempt can succeed.
    pub(crate) fn is_given_up(&self) -> bool {
        self.state().is_given_up
    }

    /// Whether PostgreSQL stopped one of its statements; then nothing may be committed.
    pub(crate) fn is_stopped(&self) -> bool {
        self.state().is_stopped
    }

    /// The database outage that one of its statements met; then nothing may be committed.
    pub(crate) fn outage(&self) -> Option<Outage> {
        self.state().outage.clone()
    }

    /// Whether one of its statements changed a row.
    pub(crate) fn has_changed(&self) -> bool {
        self.state().has_changed
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs the hook after the commit of the current write.
pub(crate) fn after_commit(hook: impl FnOnce() + Send + 'static) {
    update_state(|state| state.hooks.push(Box::new(hook)));
}

/// Records that the current write takes a lock. With debug assertions, fails if the order is wrong.
pub(crate) fn takes(rank: LockRank, id: &str) -> Result<()> {
    if !cfg!(debug_assertions) {
        return Ok(());
    }
    let lock = (rank, id.to_owned());
    let mut wrong = None;
    update_state(|state| {
        let highest = state.held.last().filter(|highest| !state.is_in_any_order && **highest > lock);
        // Taking a held lock again waits for nothing.
        wrong = highest.filter(|_| !state.held.contains(&lock)).cloned();
        state.held.insert(lock.clone());
    });
    ensure!(wrong.is_none(), "a transaction that holds the lock {wrong:?} takes {lock:?}: see `LockRank`");
    Ok(())
}

/// Allows locks in any order: for tests that combine calls as no real transaction does.
#[cfg(test)]
pub(crate) fn in_any_order() {
    update_state(|state| state.is_in_any_order = true);
}

/// Records that the current write enqueued a job of this class. Has no effect outside a write.
pub(crate) fn enqueued(class: JobClass) {
    update_state(|state| {
        if !state.classes.contains(&class) {
            state.classes.push(class);
        }
    });
}

/// Records that the current write added an entry to the log of this application. Has no effect outside a write.
pub(crate) fn log_grew(application_id: &str) {
    update_state(|state| {
        if !state.grown.contains(application_id) {
            state.grown.insert(application_id.to_owned());
        }
    });
}

/// Records that PostgreSQL aborted the current write in favour of another.
pub(crate) fn given_up() {
    update_state(|state| state.is_given_up = true);
}

/// Records that PostgreSQL stopped a statement of the current write.
pub(crate) fn stopped() {
    update_state(|state| state.is_stopped = true);
}

/// Records that the database failed as a whole during a statement of the current write. Has no effect outside a write.
pub(crate) fn met_outage(outage: &Outage) {
    update_state(|state| state.outage = Some(outage.clone()));
}

/// Records that a statement of the current write changed rows.
pub(crate) fn changed_rows() {
    update_state(|state| state.has_changed = true);
}

/// Calls `add` with the counts of the current write. False: no write is running.
pub(crate) fn with_counts(add: impl FnOnce(&StatementCounts)) -> bool {
    CURRENT.try_with(|current| add(&current.counts)).is_ok()
}

fn update_state(note: impl FnOnce(&mut State)) {
    // The error means that no write is running: then nothing will be committed.
    let _ = CURRENT.try_with(|current| note(&mut current.state()));
}
