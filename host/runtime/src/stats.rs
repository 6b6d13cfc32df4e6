//! Cost of calls: figures of one call, and counters per connector for the metrics page.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::code::Code;
use crate::surface::{Surface, Verb};

/// The figures of one call.
#[derive(Clone, Debug, Default)]
pub struct CallStats {
    /// Waiting for room.
    pub queue_us: u64,
    /// From instantiation to the answer, provider time included.
    pub wall_us: u64,
    /// Guest code, and host code on its behalf, without waiting.
    pub cpu_us: u64,
    /// Largest sum of the linear memories, bytes.
    pub peak_memory: u64,
    /// HTTP requests that left the host.
    pub http_requests: u32,
    /// Requests among them that the provider failed: answered with 429, 500, 502, 503 or 504, or not at all.
    pub failed_requests: u32,
    /// Longest `Retry-After` (ms) of the provider's answers 429 and 5xx, at most a day: the next call for this account should
    /// wait that long.
    pub provider_retry_after_ms: Option<u64>,
    /// The same by buckets of `[limits]`, with the delays of the host itself; none where there are no figures.
    pub buckets: Option<Box<BucketStats>>,
}

/// Figures of a call under the limits of its account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BucketStats {
    /// `Retry-After` of the provider's answers 429 and 5xx, the longest of each bucket.
    pub waits: Vec<ProviderWait>,
    /// The bucket of all requests of the call. Empty: they belonged to several, or to none.
    pub only: String,
    /// If a request was not sent because a limit of `[limits]` was reached, the time after which it could be, ms.
    pub held_ms: Option<u64>,
    /// Whether the call opened mail connections (IMAP, SMTP): it may have changed something without a request.
    pub has_lines: bool,
    /// Units that the requests of the call have used, by bucket.
    pub units: BTreeMap<String, u64>,
}

/// A wait that a provider requests for part of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderWait {
    /// A bucket of `[limits]` in the connector's manifest; empty: the whole account.
    pub bucket: String,
    pub ms: u64,
}

/// Counters of one connector since the process started; they survive a swap.
#[derive(Debug, Default)]
pub struct Stats {
    outcomes: Mutex<BTreeMap<(Surface, Verb, &'static str), u64>>,
    wall_us: AtomicU64,
    cpu_us: AtomicU64,
    queue_us: AtomicU64,
    http_requests: AtomicU64,
    peak_memory: AtomicU64,
    running: AtomicU64,
}

/// The counters at one moment.
#[derive(Clone, Debug, Default)]
pub struct StatsSnapshot {
    /// Finished calls by surface, verb and code ("ok" or an error's code).
    pub outcomes: Vec<(Surface, Verb, &'static str, u64)>,
    pub wall_us: u64,
    pub cpu_us: u64,
    pub queue_us: u64,
    pub http_requests: u64,
    /// The largest of all calls, bytes.
    pub peak_memory: u64,
    /// Calls in flight now.
    pub running: u64,
}

impl Stats {
    pub(crate) fn started(&self) {
        self.running.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn ended(&self) {
        self.running.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn record(&self, surface: Surface, verb: Verb, code: Option<Code>, call: &CallStats) {
        let code = code.map_or("ok", Code::as_str);
        let mut outcomes = self.outcomes.lock().expect("no panic while counting");
        *outcomes.entry((surface, verb, code)).or_default() += 1;
        drop(outcomes);
        self.wall_us.fetch_add(call.wall_us, Ordering::Relaxed);
        self.cpu_us.fetch_add(call.cpu_us, Ordering::Relaxed);
        self.queue_us.fetch_add(call.queue_us, Ordering::Relaxed);
        self.http_requests.fetch_add(u64::from(call.http_requests), Ordering::Relaxed);
        self.peak_memory.fetch_max(call.peak_memory, Ordering::Relaxed);
    }

    /// The counters now.
    pub fn snapshot(&self) -> StatsSnapshot {
        let outcomes = self.outcomes.lock().expect("no panic while counting");
        StatsSnapshot {
            outcomes: outcomes.iter().map(|((s, v, c), n)| (*s, *v, *c, *n)).collect(),
            wall_us: self.wall_us.load(Ordering::Relaxed),
            cpu_us: self.cpu_us.load(Ordering::Relaxed),
            queue_us: self.queue_us.load(Ordering::Relaxed),
            http_requests: self.http_requests.load(Ordering::Relaxed),
            peak_memory: self.peak_memory.load(Ordering::Relaxed),
            running: self.running.load(Ordering::Relaxed),
        }
    }
}
