//! A cache of JSON Web Key Sets (RFC 7517): the public keys by which providers sign tokens. A set is fetched in the background, by one task
//! at a time, and kept as long as its server says, within bounds. A lookup waits at most a second for a fetch, and does not wait at all for
//! a key of a set within its lifetime: a slow or broken server delays nothing else.

mod key_set;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jsonwebtoken::Algorithm;
use tokio::sync::watch;

pub use crate::app::jwks::key_set::{Key, KeySet};

/// Number of cached sets; one more empties the cache. The URLs come from manifests of installed connectors, not from requests.
const MAX_SETS: usize = 256;
/// How long a lookup waits for a fetch. The fetch itself continues.
const MAX_WAIT: Duration = Duration::from_secs(1);
/// Shortest time between two fetches of a set that is cached, ms. It bounds the fetches that tokens with unknown keys cause.
const REFETCH_INTERVAL_MS: i64 = 60_000;
/// Shortest time between two fetches while no usable set is cached, ms.
const RETRY_INTERVAL_MS: i64 = 10_000;
/// How long a set is still used after its lifetime while no newer one can be fetched, ms.
const MAX_STALE_MS: i64 = 24 * 3_600_000;

/// Key sets by name.
#[derive(Default)]
pub struct JwksCache {
    entries: Mutex<HashMap<String, Arc<CachedKeySet>>>,
}

/// The key that a token names in its header.
#[derive(Clone, Copy, Debug)]
pub struct KeyRef<'a> {
    /// `kid`
    pub id: &'a str,
    /// `alg`
    pub algorithm: Algorithm,
}

/// Why a key was not found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyError {
    /// The set has no key with this id for this algorithm.
    NotFound,
    /// The set could not be fetched, or not in time.
    Unavailable,
}

/// One cached set.
#[derive(Default)]
struct CachedKeySet(watch::Sender<CacheState>);

#[derive(Default)]
struct CacheState {
    cached: Option<CachedSet>,
    /// When the last fetch began, in ms since 1970.
    fetched_at: Option<i64>,
    is_fetching: bool,
    /// The last fetch returned no set, or has not ended yet.
    has_failed: bool,
}

struct CachedSet {
    set: KeySet,
    /// When its fetch began, in ms since 1970.
    fetched_at: i64,
}

/// The next step of a lookup.
enum LookupStep {
    Return(Result<Arc<Key>, KeyError>),
    /// Wait for the fetch that another lookup has started.
    Wait,
    Fetch,
}

impl JwksCache {
    /// Returns the key out of the set `name`. `fetch` downloads the set if necessary; it returns none on failure and must have a deadline
    /// of its own. Waits at most a second for it. A set whose lifetime is over is used for 24 hours more while the fetches fail.
    pub async fn find_key<F>(
        &self,
        name: &str,
        key: KeyRef<'_>,
        now: i64,
        fetch: impl FnOnce() -> F,
    ) -> Result<Arc<Key>, KeyError>
    where
        F: Future<Output = Option<KeySet>> + Send + 'static,
    {
        let entry = self.entry(name);
        match entry.start(key, now) {
            LookupStep::Return(found) => return found,
            LookupStep::Fetch => spawn_fetch(entry.clone(), now, fetch()),
            LookupStep::Wait => {}
        }
        entry.wait_for_fetch().await;
        entry.0.borrow().find_cached(key, now)
    }

    fn entry(&self, name: &str) -> Arc<CachedKeySet> {
        // A poisoned lock only costs the caching.
        let Ok(mut entries) = self.entries.lock() else { return Arc::default() };
        if let Some(entry) = entries.get(name) {
            return entry.clone();
        }
        if entries.len() >= MAX_SETS {
            entries.clear();
        }
        let entry = Arc::<CachedKeySet>::default();
        entries.insert(name.to_owned(), entry.clone());
        entry
    }
}

impl CachedKeySet {
    /// Returns the next step of a lookup. With `LookupStep::Fetch` the fetch is already recorded as running.
    fn start(&self, key: KeyRef<'_>, now: i64) -> LookupStep {
        let mut step = LookupStep::Wait;
        self.0.send_if_modified(|state| {
            step = state.next_step(key, now);
            let is_fetch = matches!(step, LookupStep::Fetch);
            if is_fetch {
                (state.fetched_at, state.is_fetching, state.has_failed) = (Some(now), true, true);
            }
            is_fetch
        });
        step
    }

    /// Returns when no fetch is running, or after `MAX_WAIT`.
    async fn wait_for_fetch(&self) {
        let mut changes = self.0.subscribe();
        let ended = async {
            // The sender lives as long as `self`, so that this cannot fail.
            let _ = changes.wait_for(|state| !state.is_fetching).await;
        };
        // After a timeout the caller reads the state as it is.
        let _ = tokio::time::timeout(MAX_WAIT, ended).await;
    }
}

/// Runs a fetch in the background and stores its set.
fn spawn_fetch(
    entry: Arc<CachedKeySet>,
    now: i64,
    fetch: impl Future<Output = Option<KeySet>> + Send + 'static,
) {
    let running = RunningFetch(entry);
    tokio::spawn(async move {
        if let Some(set) = fetch.await {
            running.0.0.send_modify(|state| {
                (state.cached, state.has_failed) = (Some(CachedSet { set, fetched_at: now }), false);
            });
        }
        drop(running);
    });
}

/// Marks the fetch as ended when it is dropped, also after a panic.
struct RunningFetch(Arc<CachedKeySet>);

impl Drop for RunningFetch {
    fn drop(&mut self) {
        self.0.0.send_modify(|state| state.is_fetching = false);
    }
}

impl CacheState {
    fn next_step(&self, key: KeyRef<'_>, now: i64) -> LookupStep {
        if let Some(key) = self.fresh_set(now).and_then(|set| set.find(key.id, key.algorithm)) {
            return LookupStep::Return(Ok(key.clone()));
        }
        if self.is_fetching {
            return LookupStep::Wait;
        }
        let interval = if self.usable_set(now).is_some() { REFETCH_INTERVAL_MS } else { RETRY_INTERVAL_MS };
        match self.fetched_at.is_some_and(|at| (0..interval).contains(&(now - at))) {
            true => LookupStep::Return(self.find_cached(key, now)),
            false => LookupStep::Fetch,
        }
    }

    /// Looks the key up without another fetch.
    fn find_cached(&self, key: KeyRef<'_>, now: i64) -> Result<Arc<Key>, KeyError> {
        match self.usable_set(now).and_then(|set| set.find(key.id, key.algorithm)) {
            Some(key) => Ok(key.clone()),
            // The provider may have added the key since.
            None if self.has_failed || self.fresh_set(now).is_none() => Err(KeyError::Unavailable),
            None => Err(KeyError::NotFound),
        }
    }

    /// The set within its lifetime.
    fn fresh_set(&self, now: i64) -> Option<&KeySet> {
        self.set_within(0, now)
    }

    /// The set within its lifetime and `MAX_STALE_MS`.
    fn usable_set(&self, now: i64) -> Option<&KeySet> {
        self.set_within(MAX_STALE_MS, now)
    }

    fn set_within(&self, stale_ms: i64, now: i64) -> Option<&KeySet> {
        let cached = self.cached.as_ref()?;
        (0..cached.set.lifetime_ms + stale_ms).contains(&(now - cached.fetched_at)).then_some(&cached.set)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use http::HeaderMap;
    use serde_json::json;
    use tokio::sync::Notify;

    use super::*;

    const HOUR: i64 = 3_600_000;
    const FOUND: Result<(), KeyError> = Ok(());
    const NOT_FOUND: Result<(), KeyError> = Err(KeyError::NotFound);
    const UNAVAILABLE: Result<(), KeyError> = Err(KeyError::Unavailable);

    fn key_ref(id: &str) -> KeyRef<'_> {
        KeyRef { id, algorithm: Algorithm::ES256 }
    }

    /// A set of keys with these ids (the key is that of RFC 7517, appendix A.1). Its lifetime is an hour.
    fn set(ids: &[&str]) -> KeySet {
        let key = |id: &&str| {
            json!({ "kty": "EC", "crv": "P-256", "kid": id,
                "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
                "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM" })
        };
        let body = json!({ "keys": ids.iter().map(key).collect::<Vec<_>>() }).to_string();
        KeySet::parse(&HeaderMap::new(), body.as_bytes()).ok().unwrap()
    }

    /// Looks up a key while fetches return a set of keys with the ids `fetched`. Returns the result, and how many fetches began.
    async fn find(
        cache: &JwksCache,
        id: &str,
        now: i64,
        fetched: Option<&[&str]>,
    ) -> (Result<(), KeyError>, usize) {
        let fetches = AtomicUsize::new(0);
        let fetch = || {
            fetches.fetch_add(1, Ordering::Relaxed);
            let fetched = fetched.map(set);
            async move { fetched }
        };
        let found = cache.find_key("x", key_ref(id), now, fetch).await.map(drop);
        (found, fetches.into_inner())
    }

    #[tokio::test]
    async fn a_set_is_fetched_once_in_its_lifetime() {
        let cache = JwksCache::default();
        assert_eq!(find(&cache, "a", 0, Some(&["a"])).await, (FOUND, 1));
        assert_eq!(find(&cache, "a", HOUR - 1, Some(&["a"])).await, (FOUND, 0));
        // The provider has removed the key.
        assert_eq!(find(&cache, "a", HOUR, Some(&["b"])).await, (NOT_FOUND, 1));
    }

    #[tokio::test]
    async fn an_unknown_key_causes_one_fetch_a_minute() {
        let cache = JwksCache::default();
        assert_eq!(find(&cache, "b", 0, Some(&["a"])).await, (NOT_FOUND, 1));
        assert_eq!(find(&cache, "b", REFETCH_INTERVAL_MS - 1, Some(&["a", "b"])).await, (NOT_FOUND, 0));
        assert_eq!(find(&cache, "b", REFETCH_INTERVAL_MS, Some(&["a", "b"])).await, (FOUND, 1));
        assert_eq!(find(&cache, "c", REFETCH_INTERVAL_MS, None).await, (NOT_FOUND, 0));
        assert_eq!(find(&cache, "c", 2 * REFETCH_INTERVAL_MS, None).await, (UNAVAILABLE, 1));
        assert_eq!(find(&cache, "a", 2 * REFETCH_INTERVAL_MS, None).await, (FOUND, 0));
    }

    #[tokio::test]
    async fn a_stale_set_is_used_for_a_day_while_fetches_fail() {
        let cache = JwksCache::default();
        assert_eq!(find(&cache, "a", 0, None).await, (UNAVAILABLE, 1));
        assert_eq!(find(&cache, "a", RETRY_INTERVAL_MS - 1, Some(&["a"])).await, (UNAVAILABLE, 0));
        assert_eq!(find(&cache, "a", RETRY_INTERVAL_MS, Some(&["a"])).await, (FOUND, 1));
        let over = RETRY_INTERVAL_MS + HOUR;
        assert_eq!(find(&cache, "a", over, None).await, (FOUND, 1));
        assert_eq!(find(&cache, "a", over + REFETCH_INTERVAL_MS - 1, None).await, (FOUND, 0));
        assert_eq!(find(&cache, "b", over + REFETCH_INTERVAL_MS - 1, None).await, (UNAVAILABLE, 0));
        assert_eq!(find(&cache, "a", over + MAX_STALE_MS - 1, None).await, (FOUND, 1));
        assert_eq!(find(&cache, "a", over + MAX_STALE_MS, None).await, (UNAVAILABLE, 0));
    }

    #[tokio::test]
    async fn lookups_share_a_fetch_and_known_keys_do_not_wait() {
        let cache = JwksCache::default();
        assert_eq!(find(&cache, "a", 0, Some(&["a"])).await, (FOUND, 1));
        let (open, begun) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let slow = || {
            let (open, begun) = (open.clone(), begun.clone());
            async move {
                begun.notify_one();
                open.notified().await;
                Some(set(&["a", "b"]))
            }
        };
        let first = cache.find_key("x", key_ref("b"), REFETCH_INTERVAL_MS, slow);
        let others = async {
            begun.notified().await;
            assert_eq!(find(&cache, "a", REFETCH_INTERVAL_MS, None).await, (FOUND, 0));
            let second = find(&cache, "b", REFETCH_INTERVAL_MS, None);
            let release = async { open.notify_one() };
            tokio::join!(second, release).0
        };
        let (first, second) = tokio::join!(first, others);
        assert!(first.is_ok());
        assert_eq!(second, (FOUND, 0));
    }

    #[tokio::test]
    async fn a_lookup_waits_a_second_at_most() {
        let cache = JwksCache::default();
        let endless = std::future::pending::<Option<KeySet>>;
        let found = cache.find_key("x", key_ref("a"), 0, endless).await.map(drop);
        assert_eq!(found, UNAVAILABLE);
        let found = find(&cache, "a", HOUR, Some(&["a"])).await;
        assert_eq!(found, (UNAVAILABLE, 0), "the first fetch is still running");
    }
}
