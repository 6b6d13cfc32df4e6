//! Wakes: a job that was enqueued is begun at once in this process, instead of when the runner next reads the table. A wake happens after
//! the commit of the write that enqueued the job; a write that is rolled back wakes nobody. A lost wake delays a job, and loses none.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use tokio::sync::Notify;

/// The classes of jobs. Jobs of one class share the runner's permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JobClass {
    /// Messages that are handed over to a provider.
    Send,
    /// Notifications that are delivered to a client's webhook.
    Deliver,
    /// Changes that are read from a provider.
    Pull,
    /// The first reading of a collection.
    Backfill,
    /// Everything that nobody waits for.
    Upkeep,
    /// Streams that stay open for a provider's changes.
    Watch,
}

impl JobClass {
    /// All of them, in the order of their numbers.
    pub const ALL: [JobClass; 6] = [
        JobClass::Send,
        JobClass::Deliver,
        JobClass::Pull,
        JobClass::Backfill,
        JobClass::Upkeep,
        JobClass::Watch,
    ];

    /// The word that the table has for the class.
    pub fn as_str(self) -> &'static str {
        match self {
            JobClass::Send => "send",
            JobClass::Deliver => "deliver",
            JobClass::Pull => "pull",
            JobClass::Backfill => "backfill",
            JobClass::Upkeep => "upkeep",
            JobClass::Watch => "watch",
        }
    }
}

/// Wakes the runner of this process, class by class. Cheap to clone; all clones are one.
#[derive(Clone, Default)]
pub struct Wakes(Arc<[Notify; JobClass::ALL.len()]>);

impl Wakes {
    /// Wakes the class. A wake that nobody waits for yet is kept for the next wait; several become one.
    pub fn wake(&self, class: JobClass) {
        self.0[class as usize].notify_one();
    }

    /// Wakes every class: for rows that became due without being enqueued.
    pub fn wake_all(&self) {
        JobClass::ALL.into_iter().for_each(|class| self.wake(class));
    }

    /// Waits until the class is woken.
    pub async fn woken(&self, class: JobClass) {
        self.0[class as usize].notified().await;
    }

    /// Wakes the classes of the jobs that a committed write enqueued.
    pub(crate) fn committed(&self, enqueued: &Enqueued) {
        let bits = enqueued.0.load(Ordering::Acquire);
        JobClass::ALL.into_iter().filter(|class| bits & bit(*class) != 0).for_each(|class| self.wake(class));
    }
}

tokio::task_local! {
    /// Of the write that is being run.
    static ENQUEUED: Enqueued;
}

/// The classes of the jobs that one write enqueued, a bit for each.
#[derive(Clone, Default)]
pub(crate) struct Enqueued(Arc<AtomicU8>);

impl Enqueued {
    /// Runs a write and collects the classes of the jobs that it enqueues.
    pub(crate) fn during<F: Future>(self, write: F) -> impl Future<Output = F::Output> {
        ENQUEUED.scope(self, write)
    }
}

/// Notes that the write that is being run enqueues a job of this class. Does nothing outside of a write.
pub(crate) fn note(class: JobClass) {
    // The error says that no write is being run.
    let _ = ENQUEUED.try_with(|enqueued| enqueued.0.fetch_or(bit(class), Ordering::AcqRel));
}

fn bit(class: JobClass) -> u8 {
    1 << class as u8
}
