//! The request budget: at most `limit` requests of a key in any 60 seconds, exactly (a sliding log, kept as milliseconds with
//! counts). In memory: it cannot be unreachable, and what it cannot decide it lets pass (Contract, Limits 4: it fails open).

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;

/// How far back requests count, in milliseconds.
pub const WINDOW_MS: i64 = 60_000;
/// Who is remembered at most; beyond it idle ones are dropped.
const KEYS: usize = 100_000;

/// Budgets by key id, or by address for callers without a key.
#[derive(Default)]
pub struct RateLimiter(Mutex<HashMap<String, Budget>>);

#[derive(Default)]
struct Budget {
    /// When requests came, oldest first: milliseconds and how many.
    log: VecDeque<(i64, u32)>,
    used: u64,
}

/// What the headers tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Requests per minute.
    pub limit: u64,
    /// Left in the current window.
    pub remaining: u64,
    /// Over the budget: how long to wait, in seconds, at least 1.
    pub retry_after_s: Option<u64>,
}

impl RateLimiter {
    /// Counts a request. One over the limit is refused and costs nothing.
    pub fn take(&self, who: &str, limit: u64, now: i64) -> Standing {
        let Ok(mut budgets) = self.0.lock() else {
            return Standing { limit, remaining: limit, retry_after_s: None };
        };
        if budgets.len() >= KEYS && !budgets.contains_key(who) {
            budgets.retain(|_, b| b.log.back().is_some_and(|(at, _)| now - at < WINDOW_MS));
        }
        if !budgets.contains_key(who) {
            budgets.insert(who.to_owned(), Budget::default());
        }
        budgets
            .get_mut(who)
            .map_or(Standing { limit, remaining: limit, retry_after_s: None }, |b| b.take(limit, now))
    }

    /// Callers that are remembered now.
    pub fn len(&self) -> usize {
        self.0.lock().map_or(0, |b| b.len())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Budget {
    fn take(&mut self, limit: u64, now: i64) -> Standing {
        while let Some(&(at, n)) = self.log.front() {
            if now - at < WINDOW_MS {
                break;
            }
            self.used -= u64::from(n);
            self.log.pop_front();
        }
        if self.used >= limit {
            let oldest = self.log.front().map_or(now, |(at, _)| *at);
            let wait_ms = (oldest + WINDOW_MS - now).max(1);
            let retry_after_s = u64::try_from(wait_ms).unwrap_or(1).div_ceil(1000);
            return Standing { limit, remaining: 0, retry_after_s: Some(retry_after_s) };
        }
        self.used += 1;
        match self.log.back_mut() {
            Some((at, n)) if *at >= now => *n += 1,
            _ => self.log.push_back((now, 1)),
        }
        Standing { limit, remaining: limit - self.used, retry_after_s: None }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_thousand_and_first_in_a_minute_waits_until_the_first_is_a_minute_old() {
        let limiter = RateLimiter::default();
        for i in 0..1000 {
            assert_eq!(limiter.take("k", 1000, i).retry_after_s, None);
        }
        assert_eq!(limiter.take("k", 1000, 59_999).retry_after_s, Some(1));
        assert_eq!(limiter.take("k", 1000, 60_000).retry_after_s, None);
        assert_eq!(limiter.take("k", 1000, 60_000).retry_after_s, Some(1));
    }

    proptest! {
        /// Compared with the plain definition: a request passes exactly when fewer than `limit` passed in the last 60 s.
        #[test]
        fn it_is_the_definition(steps in prop::collection::vec(0i64..4000, 1..300), limit in 1u64..40) {
            let (limiter, mut passed, mut now) = (RateLimiter::default(), Vec::new(), 0);
            for step in steps {
                now += step;
                let used = passed.iter().filter(|at| now - **at < WINDOW_MS).count() as u64;
                let standing = limiter.take("k", limit, now);
                prop_assert_eq!(standing.retry_after_s.is_none(), used < limit);
                if used < limit {
                    passed.push(now);
                    prop_assert_eq!(standing.remaining, limit - used - 1);
                }
            }
        }
    }
}
