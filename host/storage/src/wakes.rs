//! Wakes: an enqueued job starts at once in this process, instead of when the runner next reads the table, and new log entries
//! are read at once. A wake happens after the commit of the write that enqueued the job; a write that is rolled back wakes
//! nothing. A lost wake delays a job, and loses none. On PostgreSQL hosts notify each other (`listen`).

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, watch};

/// The classes of jobs. Jobs of one class share the runner's permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JobClass {
    /// Messages that are handed over to a provider.
    Send,
    /// Notifications that are delivered to a client's webhook.
    Deliver,
    /// Changes that are read from a provider.
    Pull,
    /// The initial sync of a collection.
    Backfill,
    /// Work that no caller waits for.
    Upkeep,
    /// Streams that stay open for a provider's changes.
    Watch,
    /// Events that are matched with the filters of webhooks; this class never waits for an endpoint.
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

    /// The name of the class in the table.
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

    /// The class with this name in the table.
    pub(crate) fn named(word: &str) -> Option<JobClass> {
        JobClass::ALL.into_iter().find(|class| class.as_str() == word)
    }
}

/// Limit of the remembered applications whose log grew; beyond it, the logs of all are read.
const MOST_APPLICATIONS: usize = 10_000;

/// Applications whose log grew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogGrowth {
    /// The applications with these ids.
    These(BTreeSet<String>),
    /// Any application; the ids are unknown.
    Any,
}

impl Default for LogGrowth {
    fn default() -> Self {
        LogGrowth::These(BTreeSet::new())
    }
}

impl LogGrowth {
    fn is_none(&self) -> bool {
        matches!(self, LogGrowth::These(ids) if ids.is_empty())
    }

    fn add(&mut self, more: LogGrowth) {
        match (&mut *self, more) {
            (LogGrowth::These(ids), LogGrowth::These(more))
                if ids.len() + more.len() <= MOST_APPLICATIONS =>
            {
                ids.extend(more);
            }
            _ => *self = LogGrowth::Any,
        }
    }
}

/// Signals that all logs share: memory is bounded however many applications there are, and a waiter for one log is also woken for
/// a few others.
const SIGNALS: usize = 64;

/// Signals to any number of readers that a log has grown.
struct Signals(Vec<watch::Sender<()>>);

impl Default for Signals {
    fn default() -> Self {
        Signals((0..SIGNALS).map(|_| watch::Sender::new(())).collect())
    }
}

impl Signals {
    /// The signal of an application's log.
    fn signal(&self, application_id: &str) -> &watch::Sender<()> {
        let sum: usize = application_id.bytes().map(usize::from).sum();
        &self.0[sum % self.0.len()]
    }

    fn send(&self, grown: &LogGrowth) {
        match grown {
            LogGrowth::These(ids) => ids.iter().for_each(|id| self.signal(id).send_replace(())),
            LogGrowth::Any => self.0.iter().for_each(|signal| signal.send_replace(())),
        }
    }
}

/// A notification for other hosts: classes with new jobs, and logs that grew.
#[derive(Clone, Debug, Default)]
pub(crate) struct News {
    pub classes: Vec<JobClass>,
    pub grown: LogGrowth,
}

/// Wakes the runner of this process, class by class. Cheap to clone; all clones are one.
#[derive(Clone, Default)]
pub struct Wakes(Arc<WakeState>);

#[derive(Default)]
struct WakeState {
    classes: [Notify; JobClass::ALL.len()],
    /// The applications whose log grew since the last time they were taken.
    applications: Mutex<LogGrowth>,
    grown: Notify,
    signals: Signals,
    /// Notifications that other hosts have not received yet; none: there are no other hosts.
    news: Mutex<Option<News>>,
    has_news: Notify,
    /// Whether this process receives the notifications of other hosts.
    hears: AtomicBool,
}

fn lock_ignoring_poison<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Wakes {
    /// Wakes the class. A wake without a waiter is stored for the next wait; several become one.
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

    /// Wakes all waiters: a notification may have been missed.
    pub(crate) fn sweep(&self) {
        self.wake_all();
        self.log_grew(LogGrowth::Any);
    }

    /// Waits until the log of an application has grown; which have. One waits at a time.
    pub async fn grown(&self) -> LogGrowth {
        loop {
            let taken = std::mem::take(&mut *lock_ignoring_poison(&self.0.applications));
            match taken.is_none() {
                false => return taken,
                // A wake between the read and the wait is stored for the wait.
                true => self.0.grown.notified().await,
            }
        }
    }

    /// Returns a signal for when the log of this application may have grown, through whichever host. Any number of readers can
    /// wait. A signal between a reader's read and its wait is stored for the wait.
    pub fn growth_of(&self, application_id: &str) -> watch::Receiver<()> {
        self.0.signals.signal(application_id).subscribe()
    }

    /// Wakes the waiters for the logs of these applications.
    pub(crate) fn log_grew(&self, grown: LogGrowth) {
        if grown.is_none() {
            return;
        }
        self.0.signals.send(&grown);
        lock_ignoring_poison(&self.0.applications).add(grown);
        self.0.grown.notify_one();
    }

    /// Wakes the waiters for these classes and logs, here and at other hosts, after a commit of this process that enqueued jobs
    /// and appended to the logs.
    pub(crate) fn committed(&self, classes: Vec<JobClass>, application_ids: BTreeSet<String>) {
        let grown = LogGrowth::These(application_ids);
        if !(classes.is_empty() && grown.is_none())
            && let Some(news) = &mut *lock_ignoring_poison(&self.0.news)
        {
            news.grown.add(grown.clone());
            for class in &classes {
                if !news.classes.contains(class) {
                    news.classes.push(*class);
                }
            }
            self.0.has_news.notify_one();
        }
        classes.into_iter().for_each(|class| self.wake(class));
        self.log_grew(grown);
    }

    /// Records commits for notifications to other hosts from now on.
    pub(crate) fn keep_news(&self) {
        lock_ignoring_poison(&self.0.news).get_or_insert_default();
    }

    /// Waits until other hosts have to be notified.
    pub(crate) async fn has_news(&self) {
        self.0.has_news.notified().await;
    }

    /// Takes the notifications for other hosts.
    pub(crate) fn take_news(&self) -> News {
        lock_ignoring_poison(&self.0.news).as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Records that notifications could not be sent: other hosts will be notified to read everything.
    pub(crate) fn news_were_lost(&self) {
        *lock_ignoring_poison(&self.0.news) =
            Some(News { classes: JobClass::ALL.to_vec(), grown: LogGrowth::Any });
        self.0.has_news.notify_one();
    }

    /// Whether this process receives the notifications of other hosts; while it does not, it reads everything every second.
    pub fn hears(&self) -> bool {
        self.0.hears.load(Ordering::Relaxed)
    }

    pub(crate) fn set_hears(&self, hears: bool) {
        self.0.hears.store(hears, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grew(wakes: &Wakes, id: &str) {
        wakes.log_grew(LogGrowth::These(BTreeSet::from([id.to_owned()])));
    }

    #[test]
    fn each_reader_of_a_log_is_told_that_it_grew() {
        let wakes = Wakes::default();
        grew(&wakes, "app_a");
        let mut readers: Vec<_> = (0..3).map(|_| wakes.growth_of("app_a")).collect();
        let other = wakes.growth_of("app_b");
        let has_changed = |reader: &watch::Receiver<()>| reader.has_changed().unwrap();
        assert!(!readers.iter().any(has_changed), "what was before is no news");
        grew(&wakes, "app_a");
        assert!(readers.iter().all(has_changed));
        assert!(!has_changed(&other));
        readers.iter_mut().for_each(|reader| reader.mark_unchanged());
        wakes.log_grew(LogGrowth::Any);
        assert!(readers.iter().all(has_changed) && has_changed(&other));
    }
}
