//! A clock that stands still until a test moves it or lets it run.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// The time of a fake at its start, in Unix milliseconds: 2026-03-01T08:00:00Z, as the tests' servers have it.
pub const START_MS: i64 = 1_772_352_000_000;

/// The clock of a fake.
#[derive(Clone, Debug)]
pub struct Clock(Arc<ClockState>);

#[derive(Debug)]
struct ClockState {
    /// The time without the time that it has run, in Unix milliseconds.
    set_ms: AtomicI64,
    runs_since: OnceLock<Instant>,
}

impl Default for Clock {
    fn default() -> Self {
        Clock(Arc::new(ClockState { set_ms: AtomicI64::new(START_MS), runs_since: OnceLock::new() }))
    }
}

impl Clock {
    /// The time in Unix milliseconds.
    pub fn now_ms(&self) -> i64 {
        let ran = self.0.runs_since.get().map_or(Duration::ZERO, Instant::elapsed);
        self.0.set_ms.load(Ordering::SeqCst).saturating_add(millis(ran))
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: Duration) {
        self.0.set_ms.fetch_add(millis(by), Ordering::SeqCst);
    }

    /// Lets the clock run from now on.
    pub fn run(&self) {
        self.0.runs_since.get_or_init(Instant::now);
    }
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}
