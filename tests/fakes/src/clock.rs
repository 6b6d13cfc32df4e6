//! A clock that stands still until a test moves it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// The time of a fake at its start, in Unix milliseconds: 2026-03-01T08:00:00Z, as the tests' servers have it.
pub const START_MS: i64 = 1_772_352_000_000;

/// The clock of a fake.
#[derive(Clone, Debug)]
pub struct Clock(Arc<AtomicI64>);

impl Default for Clock {
    fn default() -> Self {
        Clock(Arc::new(AtomicI64::new(START_MS)))
    }
}

impl Clock {
    /// The time in Unix milliseconds.
    pub fn now_ms(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: Duration) {
        let ms = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
        self.0.fetch_add(ms, Ordering::SeqCst);
    }
}
