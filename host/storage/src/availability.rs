//! Whether the database can be used, judged by its last failures. The log has one line when it fails and one when it is back,
//! however many requests fail in between.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use crate::error::{Outage, OutageKind};

/// The shortest time between two lines of the log that report outages.
const LINE_EVERY: Duration = Duration::from_secs(60);

/// The state of one database. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Availability(Arc<AvailabilityState>);

struct AvailabilityState {
    /// For the log: `PostgreSQL at db.internal:5432`.
    database: String,
    /// Whether the last write failed because the disk is full or not writable.
    is_unwritable: AtomicBool,
    /// Why the server cannot be reached; none while it can.
    gone: watch::Sender<Option<Outage>>,
    /// Whether the server takes no more connections.
    is_crowded: AtomicBool,
    lines: Mutex<OutageLines>,
}

/// The lines of the log about each kind of outage.
#[derive(Default)]
struct OutageLines {
    of_writes: OutageLine,
    of_server: OutageLine,
    of_connections: OutageLine,
}

/// The lines of the log about one kind of outage.
#[derive(Default)]
struct OutageLine {
    last: Option<Instant>,
    /// Whether the log has reported the present outage.
    is_open: bool,
    /// The cause in the last log line.
    cause: String,
}

impl OutageLine {
    /// Whether a line about an outage may be written now; it then counts as written.
    fn open(&mut self, now: Instant, cause: &str) -> bool {
        let is_due = self.last.is_none_or(|last| now.duration_since(last) >= LINE_EVERY);
        if is_due {
            self.last = Some(now);
            self.is_open = true;
            cause.clone_into(&mut self.cause);
        }
        is_due
    }

    /// The same for an outage that many requests meet: while it lasts, a line is logged only for a new cause.
    fn open_for_change(&mut self, now: Instant, cause: &str) -> bool {
        (!self.is_open || self.cause != cause) && self.open(now, cause)
    }

    /// Whether the log has reported an outage that has ended now.
    fn close(&mut self) -> bool {
        std::mem::take(&mut self.is_open)
    }
}

impl Availability {
    /// The state of a database that works. `database` names it in the log.
    pub(crate) fn new(database: impl Into<String>) -> Availability {
        Availability(Arc::new(AvailabilityState {
            database: database.into(),
            is_unwritable: AtomicBool::new(false),
            gone: watch::Sender::new(None),
            is_crowded: AtomicBool::new(false),
            lines: Mutex::default(),
        }))
    }

    fn lines(&self) -> MutexGuard<'_, OutageLines> {
        self.0.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that a statement or a commit failed because of this outage. `set_gone` records that a server cannot be reached.
    pub(crate) fn note(&self, outage: &Outage) {
        let (database, cause) = (&self.0.database, &outage.cause);
        let is_of_writes = outage.kind != OutageKind::Unreachable;
        if is_of_writes {
            self.0.is_unwritable.store(true, Ordering::Release);
        }
        let mut lines = self.lines();
        match is_of_writes {
            true if lines.of_writes.open(Instant::now(), cause) => {
                tracing::error!("{database} cannot be written: {cause}");
            }
            false if lines.of_server.open(Instant::now(), cause) => {
                // A file: no task watches for its return, so no log line reports that.
                lines.of_server.close();
                tracing::error!("{database} cannot be used: {cause}");
            }
            _ => {}
        }
    }

    /// Records that rows were changed and committed.
    pub(crate) fn note_write(&self) {
        if self.0.is_unwritable.swap(false, Ordering::AcqRel) && self.lines().of_writes.close() {
            tracing::info!("{} can be written again", self.0.database);
        }
    }

    /// Whether the last write failed because the disk is full or not writable.
    pub(crate) fn is_unwritable(&self) -> bool {
        self.0.is_unwritable.load(Ordering::Acquire)
    }

    /// Records that the server cannot be reached.
    pub(crate) fn set_gone(&self, outage: Outage) {
        let mut lines = self.lines();
        if lines.of_server.open_for_change(Instant::now(), &outage.cause) {
            tracing::error!("{} cannot be reached: {}", self.0.database, outage.cause);
        }
        drop(lines);
        self.0.gone.send_replace(Some(outage));
    }

    /// Records that the server can be reached.
    pub(crate) fn set_back(&self) {
        if self.0.gone.send_replace(None).is_some() && self.lines().of_server.close() {
            tracing::info!("{} can be reached again", self.0.database);
        }
    }

    /// Records that the server can be reached, and takes no more connections.
    pub(crate) fn set_crowded(&self, cause: &str) {
        self.0.is_crowded.store(true, Ordering::Release);
        if self.lines().of_connections.open_for_change(Instant::now(), cause) {
            tracing::error!("{} takes no more connections: {cause}", self.0.database);
        }
    }

    /// Records that the server takes connections.
    pub(crate) fn set_uncrowded(&self) {
        if self.0.is_crowded.swap(false, Ordering::AcqRel) && self.lines().of_connections.close() {
            tracing::info!("{} takes connections again", self.0.database);
        }
    }

    /// Whether the server refused further connections at the last probe.
    pub(crate) fn is_crowded(&self) -> bool {
        self.0.is_crowded.load(Ordering::Acquire)
    }

    /// Why the server cannot be reached; none while it can.
    pub(crate) fn gone(&self) -> watch::Receiver<Option<Outage>> {
        self.0.gone.subscribe()
    }

    /// Its name in the log.
    pub(crate) fn database(&self) -> &str {
        &self.0.database
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_has_a_line_a_minute_at_most() {
        let (mut line, begin) = (OutageLine::default(), Instant::now());
        assert!(line.open(begin, "no"));
        assert!(!line.open(begin + Duration::from_secs(59), "no"));
        assert!(line.close());
        assert!(!line.close(), "its end is logged once");
        // An outage that recurs at once is not logged, nor is its end.
        assert!(!line.open(begin + Duration::from_secs(59), "no") && !line.close());
        assert!(line.open(begin + Duration::from_secs(60), "no") && line.close());
    }

    #[test]
    fn an_outage_whose_cause_changes_is_told_anew() {
        let (mut line, begin) = (OutageLine::default(), Instant::now());
        let at = |seconds| begin + Duration::from_secs(seconds);
        assert!(line.open_for_change(at(0), "connection refused"));
        assert!(!line.open_for_change(at(300), "connection refused"), "while it lasts it is logged once");
        assert!(line.open_for_change(at(301), "password authentication failed"));
        assert!(!line.open_for_change(at(302), "connection refused"), "a line a minute at most");
        assert!(line.open_for_change(at(361), "connection refused"));
        assert!(line.close() && !line.open_for_change(at(362), "connection refused"));
        assert!(line.open_for_change(at(421), "connection refused"));
    }

    #[test]
    fn a_server_without_room_for_connections_is_there() {
        let availability = Availability::new("a database");
        availability.set_crowded("too many connections");
        assert!(availability.is_crowded() && availability.gone().borrow().is_none());
        availability.set_uncrowded();
        assert!(!availability.is_crowded() && !availability.lines().of_connections.is_open);
    }

    #[test]
    fn a_file_that_cannot_be_read_leaves_no_line_open() {
        let availability = Availability::new("a database");
        availability.note(&Outage::new(OutageKind::Unreachable, "why"));
        assert!(!availability.lines().of_server.is_open);
    }

    #[test]
    fn a_write_ends_a_full_disk_and_nothing_else() {
        let availability = Availability::new("a database");
        let outage = |kind| Outage::new(kind, "why");
        availability.note(&outage(OutageKind::Unreachable));
        assert!(!availability.is_unwritable());
        for kind in [OutageKind::Full, OutageKind::ReadOnly] {
            availability.note(&outage(kind));
            assert!(availability.is_unwritable());
            availability.note_write();
            assert!(!availability.is_unwritable());
        }
        availability.set_gone(outage(OutageKind::Unreachable));
        availability.note_write();
        assert_eq!(*availability.gone().borrow(), Some(outage(OutageKind::Unreachable)));
        availability.set_back();
        assert_eq!(*availability.gone().borrow(), None);
    }
}
