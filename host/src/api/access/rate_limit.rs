//! The request budget: at most `limit` requests of a key in any 60 seconds, exactly (a sliding log, kept as milliseconds with
//! counts). Notifications of providers are counted by the second instead. In memory: it cannot be unreachable, and what it cannot decide it lets pass (Contract, Limits 4: it fails open).

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Mutex;

use quick_cache::unsync::Cache;

/// How far back requests count, in milliseconds.
pub const WINDOW_MS: i64 = 60_000;
/// The same for notifications of providers.
const NOTIFICATION_WINDOW_MS: i64 = 1_000;
/// Who is remembered at most. For one more, one that was not seen lately is forgotten, at a constant cost.
const REMEMBERED: usize = 100_000;

/// Budgets by name.
pub struct RateLimiter {
    budgets: Mutex<Cache<String, RequestBudget>>,
    window_ms: i64,
}

/// The budgets of keys, and those of addresses: a flood from everywhere makes no key's forgotten.
pub struct Limiters {
    pub keys: RateLimiter,
    addresses: RateLimiter,
    notifications: RateLimiter,
}

/// What an address has a budget for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Requests without a valid key.
    Anonymous,
    /// `/readyz` and `/metrics`.
    Probe,
    /// Pictures and links of tracked messages.
    Tracking,
    /// Views of booking pages.
    BookingPage,
    /// Forms that are sent from booking pages.
    BookingForm,
}

#[derive(Default)]
struct RequestBudget {
    /// When requests came, oldest first: milliseconds and how many.
    log: VecDeque<(i64, u32)>,
    used: u64,
}

/// What the headers tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Requests per minute, notifications of providers per second.
    pub limit: u64,
    /// Left in the current window.
    pub remaining: u64,
    /// Over the budget: how long to wait, in seconds, at least 1.
    pub retry_after_s: Option<u64>,
}

impl Default for RateLimiter {
    fn default() -> Self {
        RateLimiter::remembering(REMEMBERED)
    }
}

impl Default for Limiters {
    fn default() -> Self {
        Limiters {
            keys: RateLimiter::default(),
            addresses: RateLimiter::default(),
            notifications: RateLimiter { window_ms: NOTIFICATION_WINDOW_MS, ..RateLimiter::default() },
        }
    }
}

impl RateLimiter {
    /// One that remembers so many.
    pub fn remembering(most: usize) -> Self {
        RateLimiter { budgets: Mutex::new(Cache::new(most)), window_ms: WINDOW_MS }
    }

    /// Counts a request. One over the limit is refused and costs nothing.
    pub fn take(&self, who: &str, limit: u64, now: i64) -> Standing {
        let open = Standing { limit, remaining: limit, retry_after_s: None };
        let Ok(mut budgets) = self.budgets.lock() else { return open };
        let found = budgets
            .get_mut_or_insert_with(who, || Ok::<_, std::convert::Infallible>(RequestBudget::default()));
        found.ok().flatten().map_or(open, |mut budget| budget.take(limit, self.window_ms, now))
    }

    /// Callers that are remembered now.
    pub fn len(&self) -> usize {
        self.budgets.lock().map_or(0, |b| b.len())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Limiters {
    /// Counts a request of an address.
    pub fn take_of_address(&self, class: Class, ip: IpAddr, limit: u64, now: i64) -> Standing {
        self.addresses.take(&format!("{class:?} {}", site(ip)), limit, now)
    }

    /// Counts something that a name stands for, such as a record that is asked for without a key.
    pub fn take_of_name(&self, name: &str, limit: u64, now: i64) -> Standing {
        self.addresses.take(name, limit, now)
    }

    /// Counts a notification of a provider, or of one of its watches: `limit` of one name in any second. It takes nothing from the
    /// budgets of addresses, which are smaller.
    pub fn take_of_notifications(&self, name: &str, limit: u64, now: i64) -> Standing {
        self.notifications.take(name, limit, now)
    }

    /// Callers that are remembered now.
    pub fn len(&self) -> usize {
        self.keys.len() + self.addresses.len() + self.notifications.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What one party has of addresses: of IPv6 a network of 64 bits, within which it can take any (RFC 4291 section 2.5.4).
pub fn site(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V6(ip) => IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() & !u128::from(u64::MAX))),
        v4 => v4,
    }
}

impl RequestBudget {
    fn take(&mut self, limit: u64, window_ms: i64, now: i64) -> Standing {
        while let Some(&(at, n)) = self.log.front() {
            if now - at < window_ms {
                break;
            }
            self.used -= u64::from(n);
            self.log.pop_front();
        }
        if self.used >= limit {
            let oldest = self.log.front().map_or(now, |(at, _)| *at);
            let wait_ms = (oldest + window_ms - now).max(1);
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

    #[test]
    fn notifications_are_counted_by_the_second() {
        let limiters = Limiters::default();
        let take = |name, now| limiters.take_of_notifications(name, 2, now).retry_after_s;
        assert_eq!((take("a", 0), take("a", 0), take("a", 999)), (None, None, Some(1)));
        assert_eq!((take("b", 999), take("a", 1_000)), (None, None));
    }

    #[test]
    fn floods_from_everywhere_are_remembered_within_a_cap() {
        let limiter = RateLimiter::remembering(1_000);
        for i in 0..100_000 {
            limiter.take("regular", 1_000_000, i);
            limiter.take(&format!("flood {i}"), 10, i);
            assert!(limiter.len() <= 1_000);
        }
        // Who is seen again and again stays: all of the last minute's requests are counted.
        let standing = limiter.take("regular", 1_000_000, 99_999);
        assert_eq!(standing.remaining, 1_000_000 - 60_001);
    }

    #[test]
    fn a_network_of_64_bits_is_one_caller() {
        let limiters = Limiters::default();
        let take =
            |ip: &str| limiters.take_of_address(Class::Anonymous, ip.parse().unwrap(), 2, 0).retry_after_s;
        assert_eq!((take("2001:db8::1"), take("2001:db8::ffff:2")), (None, None));
        assert!(take("2001:db8:0:0:9::3").is_some());
        assert_eq!((take("2001:db8:0:1::1"), take("192.0.2.1"), take("192.0.2.2")), (None, None, None));
        assert_eq!((take("::ffff:192.0.2.1"), take("192.0.2.1").is_some()), (None, true));
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
