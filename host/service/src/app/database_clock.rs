//! The clock of the database. Hosts that share a database use its clock: one host judges times that another one wrote (leases, claims, due
//! times). On SQLite there is one host, and the machine's clock is the only one.
//!
//! Leases and claims hold times of the database's clock, and not "now plus a measured offset" of each host: a machine whose clock is set
//! while the host runs would be wrong until the next measurement, and take over from live hosts. So `base::clock::Clock` returns the
//! database's time of the last query plus the monotonic time since, and ignores the machine's clock. Clocks that tests move stay as they
//! are.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use anyhow::Result;
use base::clock::Clock;
use storage::{Db, hosts};
use tokio::time::Instant;

/// Difference between the followed clock and the database's above which it is corrected, beyond the uncertainty of the question, ms.
const MAX_DRIFT_MS: i64 = 200;
/// Difference between the machine's clock and the database's above which the machine's clock counts as wrong, ms.
const MAX_DEVIATION_MS: i64 = 2_000;
/// Difference below which a clock that was wrong counts as right again, ms.
const RIGHT_AGAIN_MS: i64 = 1_000;

/// The difference between the machine's clock and the database's, as of the last question.
#[derive(Default)]
pub struct ClockDeviation {
    /// Positive: the machine's clock is ahead.
    ms: AtomicI64,
    is_wrong: AtomicBool,
}

impl ClockDeviation {
    /// Milliseconds by which the machine's clock is ahead of the database's.
    pub fn ms(&self) -> i64 {
        self.ms.load(Ordering::Relaxed)
    }

    /// A sentence for operators while the machine's clock is wrong.
    pub fn warning(&self) -> Option<String> {
        let ms = self.ms();
        let (direction, size) = (if ms > 0 { "ahead of" } else { "behind" }, ms.unsigned_abs());
        let (seconds, tenths) = (size / 1_000, size % 1_000 / 100);
        self.is_wrong.load(Ordering::Relaxed).then(|| {
            format!(
                "the machine's clock is {seconds}.{tenths} s {direction} the database's, whose time this host uses; \
                 synchronize the machine's clock, for example with NTP"
            )
        })
    }

    /// Records the present difference, which is known up to `uncertainty_ms`. Logs when the machine's clock becomes wrong, and when it is
    /// right again.
    fn note(&self, ms: i64, uncertainty_ms: i64) {
        self.ms.store(ms, Ordering::Relaxed);
        let size = ms.saturating_abs();
        let was_wrong = self.is_wrong.load(Ordering::Relaxed);
        let limit = if was_wrong { RIGHT_AGAIN_MS } else { MAX_DEVIATION_MS.saturating_add(uncertainty_ms) };
        let is_wrong = size > limit;
        if self.is_wrong.swap(is_wrong, Ordering::Relaxed) == is_wrong {
            return;
        }
        match self.warning() {
            Some(warning) => tracing::warn!(deviation_ms = ms, "{warning}"),
            None => tracing::info!(deviation_ms = ms, "the machine's clock agrees with the database's again"),
        }
    }
}

/// Reads the database's clock, in milliseconds since 1970, and sets `clock` to it. The result is never ahead of the database's time: a
/// lease that had ended by then has ended. On SQLite, and where `clock` is a test's, returns the time of `clock`.
pub async fn follow(db: &Db, clock: &Clock, deviation: &ClockDeviation) -> Result<i64> {
    if !db.is_shared() || clock.machine_ms().is_none() {
        return Ok(clock.now_ms());
    }
    let asked_at = Instant::now();
    let Some(database_ms) = hosts::database_now(db.reader()).await? else { return Ok(clock.now_ms()) };
    // The database read its clock at some moment of the round trip.
    let uncertainty_ms = i64::try_from(asked_at.elapsed().as_millis() / 2).unwrap_or(i64::MAX);
    let present_ms = database_ms.saturating_add(uncertainty_ms);
    if let Some(machine_ms) = clock.machine_ms() {
        deviation.note(machine_ms - present_ms, uncertainty_ms);
    }
    let drift_ms = present_ms - clock.now_ms();
    if !clock.is_following() || drift_ms.saturating_abs() > MAX_DRIFT_MS.saturating_add(uncertainty_ms) {
        clock.follow_ms(present_ms);
    }
    Ok(database_ms)
}

/// Returns the present time for a command, in milliseconds since 1970: by the database's clock where it has one, since hosts judge the
/// command's writes by that clock.
pub async fn present_ms(db: &Db) -> Result<i64> {
    Ok(hosts::database_now(db.reader()).await?.unwrap_or_else(|| Clock::system().now_ms()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_wrong_beyond_two_seconds_until_it_is_right_within_one() {
        let deviation = ClockDeviation::default();
        let is_wrong = |ms, uncertainty_ms| {
            deviation.note(ms, uncertainty_ms);
            deviation.warning().is_some()
        };
        assert!(!is_wrong(2_000, 0) && !is_wrong(-2_000, 0));
        assert!(!is_wrong(2_400, 500), "the question took a second");
        assert!(is_wrong(2_001, 0) && is_wrong(1_001, 0));
        assert!(!is_wrong(1_000, 0) && !is_wrong(1_500, 0));
        assert!(is_wrong(-300_040, 500));
        let warning = deviation.warning().expect("it is wrong");
        assert!(warning.starts_with("the machine's clock is 300.0 s behind the database's"), "{warning}");
        assert!(!is_wrong(0, 4_000));
        assert_eq!(deviation.ms(), 0);
    }
}
