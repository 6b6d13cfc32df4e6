//! What was read a moment ago and is asked for again and again: a small cache for reads, emptied by every change that this
//! process makes. What another process changes is seen a second later.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Recently read values by name.
pub struct RecentCache<T> {
    entries: Mutex<HashMap<String, (Arc<T>, i64)>>,
    /// How long an entry is believed, in milliseconds.
    life_ms: i64,
    /// Entries; more empty it.
    most: usize,
}

impl<T> Default for RecentCache<T> {
    /// Ten thousand values for a second.
    fn default() -> Self {
        RecentCache::lasting(1_000, 10_000)
    }
}

impl<T> RecentCache<T> {
    /// At most so many values, for so many milliseconds each.
    pub fn lasting(life_ms: i64, most: usize) -> Self {
        RecentCache { entries: Mutex::default(), life_ms, most }
    }

    /// The value, if it was put there not too long before `now`.
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

    /// Forgets everything: something changed.
    pub fn clear(&self) {
        if let Ok(mut entries) = self.entries.lock() {
            entries.clear();
        }
    }

    /// Forgets what is not believed any more.
    pub fn forget_old(&self, now: i64) {
        if let Ok(mut entries) = self.entries.lock() {
            entries.retain(|_, (_, at)| self.is_alive(*at, now));
        }
    }

    fn is_alive(&self, at: i64, now: i64) -> bool {
        (0..self.life_ms).contains(&(now - at))
    }
}
