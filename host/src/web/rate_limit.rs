//! The request budget: at most `limit` requests of a key in any 60 seconds, exactly (a sliding log, kept as milliseconds with counts).
//! Notifications of providers are counted by the second instead. In memory: it cannot be unreachable, and a request that it cannot judge
//! passes (Contract, Limits 4: it fails open).

use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::{IpAddr, Ipv6Addr};
use std::ops::DerefMut;
use std::sync::Mutex;

use quick_cache::unsync::Cache;

/// The window in which requests count, in milliseconds.
pub const WINDOW_MS: i64 = 60_000;
/// The window of notifications of providers, in milliseconds.
const NOTIFICATION_WINDOW_MS: i64 = 1_000;
/// Bits of an IPv6 network that counts as one address.
const SITE_BITS: u32 = 56;
/// Most callers in memory. Beyond it, one that was not seen lately is evicted, at a constant cost.
const REMEMBERED: usize = 100_000;

/// Budgets by name.
pub struct RateLimiter {
    budgets: Mutex<Cache<String, RequestBudget>>,
    window_ms: i64,
}

/// The budgets of keys, and those of addresses: a flood from many addresses does not evict the keys'.
pub struct Limiters {
    pub keys: RateLimiter,
    /// The share of each address in the budgets of keys that are embedded in pages.
    visitors: RateLimiter,
    addresses: RateLimiter,
    notifications: RateLimiter,
}

/// The kinds of requests with a budget per address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Requests without a valid key.
    Anonymous,
    /// `/readyz` and `/metrics`.
    Probe,
    /// Images and links of tracked messages.
    Tracking,
    /// Views of booking pages.
    BookingPage,
    /// Forms that are sent from booking pages.
    BookingForm,
}

#[derive(Default)]
struct RequestBudget {
    /// Times of requests, oldest first: milliseconds, and the number of requests.
    log: VecDeque<(i64, u32)>,
    used: u64,
}

/// The state of a budget, as in the rate-limit headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimitState {
    /// Requests per minute, notifications of providers per second.
    pub limit: u64,
    /// Left in the current window.
    pub remaining: u64,
    /// Over the budget: seconds to wait, at least 1.
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
            visitors: RateLimiter::default(),
            addresses: RateLimiter::default(),
            notifications: RateLimiter { window_ms: NOTIFICATION_WINDOW_MS, ..RateLimiter::default() },
        }
    }
}

impl RateLimiter {
    /// A limiter that keeps at most this many callers.
    pub fn remembering(most: usize) -> Self {
        RateLimiter { budgets: Mutex::new(Cache::new(most)), window_ms: WINDOW_MS }
    }

    /// Counts a request. One over the limit is refused and not counted.
    pub fn take(&self, who: &str, limit: u64, now: i64) -> RateLimitState {
        let open = RateLimitState { limit, remaining: limit, retry_after_s: None };
        let Ok(mut budgets) = self.budgets.lock() else { return open };
        budget(&mut budgets, who).map_or(open, |mut budget| budget.take(limit, self.window_ms, now))
    }

    /// Number of callers in memory.
    pub fn len(&self) -> usize {
        self.budgets.lock().map_or(0, |b| b.len())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Limiters {
    /// Counts a request with a key that is embedded in pages, sent by a visitor from this address. It counts toward the budget of the key,
    /// of which the address may use only so much that the same amount is left for others: half of it if there are no others, and at least
    /// one request. However much an address sends, others find room.
    pub fn take_of_visitor(&self, key: &str, ip: IpAddr, limit: u64, now: i64) -> RateLimitState {
        let open = RateLimitState { limit, remaining: limit, retry_after_s: None };
        let (Ok(mut keys), Ok(mut visitors)) = (self.keys.budgets.lock(), self.visitors.budgets.lock())
        else {
            return open;
        };
        let (Some(mut of_key), Some(mut of_visitor)) =
            (budget(&mut keys, key), budget(&mut visitors, &format!("{key} {}", site(ip))))
        else {
            return open;
        };
        of_key.forget(WINDOW_MS, now);
        of_visitor.forget(WINDOW_MS, now);
        if !leaves_room(of_key.used, of_visitor.used, limit) {
            let wait_ms = (of_key.room_at(&of_visitor, limit) + WINDOW_MS - now).max(1);
            let retry_after_s = u64::try_from(wait_ms).unwrap_or(1).div_ceil(1000);
            return RateLimitState { limit, remaining: 0, retry_after_s: Some(retry_after_s) };
        }
        of_key.add(now);
        of_visitor.add(now);
        // Each further request takes one from the key's budget and keeps one for others.
        let remaining = limit.saturating_sub(of_key.used + of_visitor.used) / 2;
        RateLimitState { limit, remaining, retry_after_s: None }
    }

    /// Counts a request of an address.
    pub fn take_of_address(&self, class: Class, ip: IpAddr, limit: u64, now: i64) -> RateLimitState {
        self.addresses.take(&format!("{class:?} {}", site(ip)), limit, now)
    }

    /// Counts a request under a name, such as a record that is read without a key.
    pub fn take_of_name(&self, name: &str, limit: u64, now: i64) -> RateLimitState {
        self.addresses.take(name, limit, now)
    }

    /// Counts a notification of a provider, or of one of its watches: `limit` of one name in any second. The budgets of addresses, which
    /// are smaller, are not used.
    pub fn take_of_notifications(&self, name: &str, limit: u64, now: i64) -> RateLimitState {
        self.notifications.take(name, limit, now)
    }

    /// Number of callers in memory.
    pub fn len(&self) -> usize {
        self.keys.len() + self.visitors.len() + self.addresses.len() + self.notifications.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Returns the address under which all addresses of one party are counted: for IPv6 the network of 56 bits, within which a customer of an
/// access provider can take any address (RIPE-690 section 4.2, RFC 6177 section 2).
pub fn site(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V6(ip) => IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() & !(u128::MAX >> SITE_BITS))),
        v4 => v4,
    }
}

/// The budget with this name; none if the cache does not admit it.
fn budget<'b>(
    budgets: &'b mut Cache<String, RequestBudget>,
    who: &str,
) -> Option<impl DerefMut<Target = RequestBudget> + use<'b>> {
    let new = || Ok::<_, Infallible>(RequestBudget::default());
    budgets.get_mut_or_insert_with(who, new).ok().flatten()
}

/// Whether a visitor who has used so much of a key's budget may send one more request, and the same amount is still left for others. The
/// first request of each is only subject to the budget.
fn leaves_room(used_of_key: u64, used_of_visitor: u64, limit: u64) -> bool {
    match used_of_visitor {
        0 => used_of_key < limit,
        used => used_of_key + used + 2 <= limit,
    }
}

impl RequestBudget {
    /// Drops requests that no longer count.
    fn forget(&mut self, window_ms: i64, now: i64) {
        while let Some(&(at, n)) = self.log.front() {
            if now - at < window_ms {
                break;
            }
            self.used -= u64::from(n);
            self.log.pop_front();
        }
    }

    fn add(&mut self, now: i64) {
        self.used += 1;
        match self.log.back_mut() {
            Some((at, n)) if *at >= now => *n += 1,
            _ => self.log.push_back((now, 1)),
        }
    }

    /// The time (ms) of the request that must stop counting before the visitor may send the next one.
    fn room_at(&self, of_visitor: &RequestBudget, limit: u64) -> i64 {
        let (mut used, mut used_of_visitor) = (self.used, of_visitor.used);
        let mut of_visitor = of_visitor.log.iter().peekable();
        let mut last = 0;
        for (at, n) in &self.log {
            used = used.saturating_sub(u64::from(*n));
            while let Some((_, n)) = of_visitor.next_if(|(of_visitor, _)| of_visitor <= at) {
                used_of_visitor = used_of_visitor.saturating_sub(u64::from(*n));
            }
            last = *at;
            if leaves_room(used, used_of_visitor, limit) {
                break;
            }
        }
        last
    }

    fn take(&mut self, limit: u64, window_ms: i64, now: i64) -> RateLimitState {
        self.forget(window_ms, now);
        if self.used >= limit {
            let oldest = self.log.front().map_or(now, |(at, _)| *at);
            let wait_ms = (oldest + window_ms - now).max(1);
            let retry_after_s = u64::try_from(wait_ms).unwrap_or(1).div_ceil(1000);
            return RateLimitState { limit, remaining: 0, retry_after_s: Some(retry_after_s) };
        }
        self.add(now);
        RateLimitState { limit, remaining: limit - self.used, retry_after_s: None }
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
    fn a_visitor_leaves_as_much_of_a_keys_budget_as_the_visitor_has() {
        let limiters = Limiters::default();
        let take = |ip: &str, limit, now| limiters.take_of_visitor("k", ip.parse().unwrap(), limit, now);
        let left: Vec<u64> = (0..5).map(|n| take("2001:db8::1", 10, n).remaining).collect();
        assert_eq!(left, [4, 3, 2, 1, 0]);
        let over = take("2001:db8:0:9::2", 10, 10);
        assert_eq!((over.limit, over.remaining, over.retry_after_s), (10, 0, Some(60)));
        // Others find room as long as there is any.
        let counts = ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4", "192.0.2.5"]
            .map(|ip| (0..10).filter(|_| take(ip, 10, 20).retry_after_s.is_none()).count());
        assert_eq!(counts, [2, 1, 1, 1, 0]);
        assert_eq!(take("192.0.2.5", 10, 20).retry_after_s, Some(60), "when the first of all counts no more");
        assert_eq!(take("192.0.2.5", 10, 60_000).retry_after_s, None);
        // A refused request is not counted, and a key that may send one request cannot be shared by two.
        let once = |ip: &str| limiters.take_of_visitor("once", ip.parse().unwrap(), 1, 0).retry_after_s;
        assert_eq!((once("192.0.2.1"), once("192.0.2.1"), once("192.0.2.2")), (None, Some(60), Some(60)));
    }

    #[test]
    fn floods_from_everywhere_are_remembered_within_a_cap() {
        let limiter = RateLimiter::remembering(1_000);
        for i in 0..100_000 {
            limiter.take("regular", 1_000_000, i);
            limiter.take(&format!("flood {i}"), 10, i);
            assert!(limiter.len() <= 1_000);
        }
        // A caller that is seen again and again stays: all of the last minute's requests are counted.
        let standing = limiter.take("regular", 1_000_000, 99_999);
        assert_eq!(standing.remaining, 1_000_000 - 60_001);
    }

    #[test]
    fn a_network_of_56_bits_is_one_caller() {
        let limiters = Limiters::default();
        let take =
            |ip: &str| limiters.take_of_address(Class::Anonymous, ip.parse().unwrap(), 2, 0).retry_after_s;
        assert_eq!((take("2001:db8::1"), take("2001:db8:0:ff::ffff:2")), (None, None));
        assert!(take("2001:db8:0:7:9::3").is_some());
        assert_eq!((take("2001:db8:0:100::1"), take("192.0.2.1"), take("192.0.2.2")), (None, None, None));
        assert_eq!((take("::ffff:192.0.2.1"), take("192.0.2.1").is_some()), (None, true));
    }

    proptest! {
        /// However many requests addresses send at once, none gets more than half of the budget and one, all together no more than the
        /// budget, and a later address gets as many as are left for it.
        #[test]
        fn no_visitor_has_more_than_half(sent in prop::collection::vec((0u8..6, 1usize..40), 1..20), limit in 1u64..60) {
            let limiters = Limiters::default();
            let take = |n: u8| limiters.take_of_visitor("k", IpAddr::from([192, 0, 2, n]), limit, 0).retry_after_s.is_none();
            let mut taken = [0u64; 7];
            for (visitor, times) in sent {
                taken[usize::from(visitor)] += (0..times).filter(|_| take(visitor)).count() as u64;
            }
            prop_assert!(taken.iter().all(|count| *count <= limit.div_ceil(2)), "{:?}", taken);
            let used: u64 = taken.iter().sum();
            prop_assert!(used <= limit);
            prop_assert_eq!(take(6), used < limit);
        }

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
