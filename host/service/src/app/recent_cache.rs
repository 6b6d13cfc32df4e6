//! A small cache for values that are read again and again, cleared by every change that this process makes. A change by another process is
//! seen a second later.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Recently read values by name.
pub struct RecentCache<T> {
    entries: Mutex<HashMap<String, (Arc<T>, i64)>>,
    /// Lifetime of an entry, in milliseconds.
    life_ms: i64,
    /// Most entries; one more clears the cache.
    most: usize,
}

impl<T> Default for RecentCache<T> {
    /// Ten thousand values, a second each.
    fn default() -> Self {
        RecentCache::lasting(1_000, 10_000)
    }
}

impl<T> RecentCache<T> {
    /// Creates a cache of at most `most` values, each valid for `life_ms` milliseconds.
    pub fn lasting(life_ms: i64, most: usize) -> Self {
        RecentCache { entries: Mutex::default(), life_ms, most }
    }

    /// Returns the value if it was stored within its lifetime before `now`.
    pub fn get(&self, name: &str, now: i64) -> Option<Arc<T>> {
        let entries = self.entries.lock().ok()?;
        entries.get(name).filter(|(_, at)| self.is_alive(*at, now)).map(|(value, _)| value.clone())
    }

    pub fn put(&self, name: String, value: Arc<T>, now: i64) {
        if let Ok(mut entries) = self.entries.lock() {
            if entries.len() >= self.most {
                entries.clear();
            }
            entries.insert(name, (value, now));
        }
    }

    /// Clears the cache after a change.
    pub fn clear(&self) {
        if let Ok(mut entries) = self.entries.lock() {
            entries.clear();
        }
    }

    /// Removes expired entries.
    pub fn forget_old(&self, now: i64) {
        if let Ok(mut entries) = self.entries.lock() {
            entries.retain(|_, (_, at)| self.is_alive(*at, now));
        }
    }

    fn is_alive(&self, at: i64, now: i64) -> bool {
        (0..self.life_ms).contains(&(now - at))
    }
}
