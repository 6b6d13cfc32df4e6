//! Counts of statements: how many a request or a run of a job has sent to the database, and how many rows they returned or changed. The
//! counts belong to the lane (`lane.rs`), and a write transaction counts for the lane that began it, on whichever thread it runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Statements and rows of one request or run of a job. Begins and commits of transactions are not counted. Cheap to clone; all
/// clones are one.
#[derive(Clone, Debug, Default)]
pub struct StatementCounts(Arc<Totals>);

#[derive(Debug, Default)]
struct Totals {
    statements: AtomicU64,
    rows: AtomicU64,
}

impl StatementCounts {
    /// Statements that ran, including those of transactions that were rolled back or retried.
    pub fn statements(&self) -> u64 {
        self.0.statements.load(Ordering::Relaxed)
    }

    /// Rows that these statements returned or changed.
    pub fn rows(&self) -> u64 {
        self.0.rows.load(Ordering::Relaxed)
    }

    pub(crate) fn add(&self, rows: u64) {
        self.0.statements.fetch_add(1, Ordering::Relaxed);
        self.0.rows.fetch_add(rows, Ordering::Relaxed);
    }
}
