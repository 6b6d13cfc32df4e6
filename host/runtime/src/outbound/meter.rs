//! Usage of one call's budgets, and the longest `Retry-After` of its provider's answers.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use crate::stats::{BucketStats, ProviderWait};

/// The longest wait that a call reports for a retry, ms: quotas of providers are a day's at most.
pub(crate) const LONGEST_WAIT_MS: u64 = 24 * 60 * 60_000;

/// Counts of one call.
#[derive(Default)]
pub(crate) struct Meter {
    /// Requests that the guest made, sent or not.
    pub(super) asked: AtomicU64,
    /// Requests that left the host.
    pub(super) sent: AtomicU64,
    /// Requests among them that the provider failed.
    pub(super) failed: AtomicU64,
    pub(super) sent_bytes: AtomicU64,
    pub(super) received_bytes: AtomicU64,
    /// Bytes of mail connections that went into blobs, before they were decoded.
    pub(super) coded_bytes: AtomicU64,
    /// Request bodies of `wasi:http` in memory, bytes.
    pub(super) held_bytes: AtomicU64,
    /// Mail connections that the guest requested.
    pub(super) lines: AtomicU64,
    /// Whether the guest has had a token renewed on request.
    pub(super) has_renewed: AtomicBool,
    /// `Retry-After` of all answers by the bucket of their request; empty: of no bucket. A bucket is present once it had a
    /// request.
    retry_after: Mutex<BTreeMap<String, RetryAfter>>,
    /// Units that requests have used, by bucket.
    used_units: Mutex<BTreeMap<String, u64>>,
    /// Longest time for which a request was not sent because the limits of `[limits]` were reached, ms.
    held_ms: AtomicU64,
    in_flight: AtomicUsize,
}

/// The longest `Retry-After` of some answers.
#[derive(Default)]
struct RetryAfter {
    /// The longest delay in seconds, as ms.
    ms: u64,
    /// The latest date, ms since 1970.
    at_ms: i64,
}

impl RetryAfter {
    /// The wait from `now`, ms.
    fn wait_ms(&self, now: i64) -> Option<u64> {
        let until_date = u64::try_from(self.at_ms.saturating_sub(now)).unwrap_or_default();
        Some(self.ms.max(until_date)).filter(|ms| *ms > 0)
    }
}

impl Meter {
    /// Requests that left the host.
    pub(crate) fn requests(&self) -> u32 {
        u32::try_from(self.sent.load(Ordering::Relaxed)).unwrap_or(u32::MAX)
    }

    /// Requests that the provider failed: `CallStats::failed_requests`.
    pub(crate) fn failed_requests(&self) -> u32 {
        u32::try_from(self.failed.load(Ordering::Relaxed)).unwrap_or(u32::MAX)
    }

    /// Counts a request that leaves the host, of this bucket.
    pub(super) fn note_request(&self, bucket: &str) {
        self.sent.fetch_add(1, Ordering::Relaxed);
        self.with_bucket(bucket, |_| ());
    }

    /// Records a provider's `Retry-After` for a bucket: seconds, or a date (RFC 9110 section 10.2.3). Other values are ignored.
    pub(super) fn note_retry_after(&self, bucket: &str, value: &str) {
        let value = value.trim();
        self.with_bucket(bucket, |wait| {
            if let Ok(seconds) = value.parse::<u64>() {
                wait.ms = wait.ms.max(seconds.saturating_mul(1_000));
            } else if let Ok(date) = jiff::fmt::rfc2822::parse(value) {
                wait.at_ms = wait.at_ms.max(date.timestamp().as_millisecond());
            }
        });
    }

    /// Counts units of a bucket that a request uses.
    pub(super) fn note_units(&self, bucket: &str, units: u32) {
        let mut all = self.used_units.lock().expect("no panic while counting");
        let used = all.entry(bucket.to_owned()).or_default();
        *used = used.saturating_add(u64::from(units));
    }

    /// Units of a bucket that requests have used.
    pub(super) fn used_units(&self, bucket: &str) -> u64 {
        self.used_units.lock().expect("no panic while counting").get(bucket).copied().unwrap_or_default()
    }

    /// Records that a request was not sent, and could be after this time.
    pub(super) fn note_held(&self, wait_ms: u64) {
        self.held_ms.fetch_max(wait_ms.max(1), Ordering::Relaxed);
    }

    /// The longest `Retry-After` seen, from `now` (ms since 1970).
    pub(crate) fn retry_after_ms(&self, now: i64) -> Option<u64> {
        let waits = self.retry_after.lock().expect("no panic while counting");
        waits.values().filter_map(|wait| wait.wait_ms(now)).max()
    }

    /// The same by bucket, `CallStats::buckets`; none where there are no figures.
    pub(crate) fn buckets(&self, now: i64) -> Option<Box<BucketStats>> {
        let held_ms = Some(self.held_ms.load(Ordering::Relaxed)).filter(|ms| *ms > 0);
        let units = self.used_units.lock().expect("no panic while counting").clone();
        let all = self.retry_after.lock().expect("no panic while counting");
        let wait = |(bucket, wait): (&String, &RetryAfter)| {
            Some(ProviderWait { bucket: bucket.clone(), ms: wait.wait_ms(now)?.min(LONGEST_WAIT_MS) })
        };
        let waits: Vec<ProviderWait> = all.iter().filter_map(wait).collect();
        let only = all.first_key_value().filter(|_| all.len() == 1).map_or("", |(bucket, _)| bucket.as_str());
        let says_something = !waits.is_empty() || held_ms.is_some() || !only.is_empty() || !units.is_empty();
        let has_lines = self.lines.load(Ordering::Relaxed) > 0;
        says_something
            .then(|| Box::new(BucketStats { waits, only: only.to_owned(), held_ms, has_lines, units }))
    }

    fn with_bucket(&self, bucket: &str, change: impl FnOnce(&mut RetryAfter)) {
        let mut all = self.retry_after.lock().expect("no panic while counting");
        match all.get_mut(bucket) {
            Some(wait) => change(wait),
            None => change(all.entry(bucket.to_owned()).or_default()),
        }
    }

    /// Counts a request as in flight until the guard is dropped.
    pub(super) fn waiting(&self) -> InFlightGuard<'_> {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        InFlightGuard(&self.in_flight)
    }

    /// Whether a request is in flight: then the provider takes the time.
    pub(crate) fn waits_for_provider(&self) -> bool {
        self.in_flight.load(Ordering::Relaxed) > 0
    }
}

/// A request under way.
pub(super) struct InFlightGuard<'a>(&'a AtomicUsize);

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retry_after_is_seconds_or_a_date_and_the_longest_counts() {
        let meter = Meter::default();
        meter.note_retry_after("", "soon");
        assert_eq!(meter.retry_after_ms(0), None);
        meter.note_retry_after("", "Thu, 01 Jan 1970 00:00:10 GMT");
        assert_eq!(meter.retry_after_ms(4_000), Some(6_000));
        assert_eq!(meter.retry_after_ms(10_000), None, "it is over");
        meter.note_retry_after("", " 7 ");
        meter.note_retry_after("", "3");
        assert_eq!((meter.retry_after_ms(1_000), meter.retry_after_ms(4_000)), (Some(9_000), Some(7_000)));
    }

    #[test]
    fn each_bucket_has_its_wait_and_one_alone_is_named() {
        let meter = Meter::default();
        assert!(meter.buckets(0).is_none());
        meter.note_request("");
        assert!(meter.buckets(0).is_none(), "the account as a whole needs no name");
        let meter = Meter::default();
        meter.note_request("mail");
        assert_eq!(
            *meter.buckets(0).unwrap(),
            BucketStats { only: "mail".to_owned(), ..BucketStats::default() }
        );
        meter.note_request("calendar");
        assert!(meter.buckets(0).is_none(), "of several none is the one");
        meter.note_retry_after("mail", "7");
        let wait = ProviderWait { bucket: "mail".to_owned(), ms: 7_000 };
        assert_eq!(meter.buckets(0).unwrap().waits, [wait]);
        assert_eq!(meter.retry_after_ms(0), Some(7_000));
        meter.note_held(0);
        let buckets = meter.buckets(0).unwrap();
        assert_eq!((buckets.held_ms, buckets.has_lines), (Some(1), false));
        meter.lines.fetch_add(1, Ordering::Relaxed);
        assert!(meter.buckets(0).unwrap().has_lines);
        meter.note_units("mail", 5);
        meter.note_units("mail", 20);
        assert_eq!(meter.buckets(0).unwrap().units, BTreeMap::from([("mail".to_owned(), 25)]));
    }
}
