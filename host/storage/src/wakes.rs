//! Wakes: a job that was enqueued is begun at once in this process, instead of when the runner next reads the table, and what was written to
//! the log is looked at at once. A wake happens after the commit of the write that enqueued the job; a write that is rolled back wakes
//! nobody. A lost wake delays a job, and loses none.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

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
    /// Events that are held against what webhooks want: none waits for an endpoint.
    Fanout,
}

impl JobClass {
    /// All of them, in the order of their numbers.
    pub const ALL: [JobClass; 7] = [
        JobClass::Send,
        JobClass::Deliver,
        JobClass::Pull,
        JobClass::Backfill,
        JobClass::Upkeep,
        JobClass::Watch,
        JobClass::Fanout,
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
            JobClass::Fanout => "fanout",
        }
    }
}

/// Applications whose log grew and that are kept for whoever waits; of more than that, those that come later are found without a wake.
const MOST_APPLICATIONS: usize = 10_000;

/// Wakes the runner of this process, class by class. Cheap to clone; all clones are one.
#[derive(Clone, Default)]
pub struct Wakes(Arc<Waiting>);

#[derive(Default)]
struct Waiting {
    classes: [Notify; JobClass::ALL.len()],
    /// Ids of the applications whose log grew since somebody last took them.
    applications: Mutex<BTreeSet<String>>,
    grown: Notify,
}

impl Wakes {
    /// Wakes the class. A wake that nobody waits for yet is kept for the next wait; several become one.
    pub fn wake(&self, class: JobClass) {
        self.0.classes[class as usize].notify_one();
    }

    /// Wakes every class: for rows that became due without being enqueued.
    pub fn wake_all(&self) {
        JobClass::ALL.into_iter().for_each(|class| self.wake(class));
    }

    /// Waits until the class is woken.
    pub async fn woken(&self, class: JobClass) {
        self.0.classes[class as usize].notified().await;
    }

    /// Waits until the log of an application has grown by a write of this process; the ids of those whose log has. One waits at a time.
    pub async fn grown(&self) -> BTreeSet<String> {
        loop {
            let taken = self.0.applications.lock().ok().map(|mut ids| std::mem::take(&mut *ids));
            match taken {
                Some(ids) if !ids.is_empty() => return ids,
                // A wake between the look and the wait is kept for the wait.
                _ => self.0.grown.notified().await,
            }
        }
    }

    /// Wakes those who wait for the log of these applications to grow.
    pub(crate) fn log_grew(&self, application_ids: BTreeSet<String>) {
        if application_ids.is_empty() {
            return;
        }
        if let Ok(mut waiting) = self.0.applications.lock()
            && waiting.len() < MOST_APPLICATIONS
        {
            waiting.extend(application_ids);
        }
        self.0.grown.notify_one();
    }
}
