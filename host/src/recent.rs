//! What was read a moment ago and is asked for again and again: a small cache for reads, emptied by every change that this
//! process makes. What another process changes is seen a second later.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// How long an entry is believed, in milliseconds.
const LIFE_MS: i64 = 1_000;
/// Entries; more empty it.
const ENTRIES: usize = 10_000;

/// Recently read values by name.
pub struct Recent<T>(Mutex<HashMap<String, (Arc<T>, i64)>>);

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Recent(Mutex::new(HashMap::new()))
    }
}

impl<T> Recent<T> {
    /// The value, if it was put there less than a second before `now`.
    pub fn get(&self, name: &str, now: i64) -> Option<Arc<T>> {
        let entries = self.0.lock().ok()?;
        entries.get(name).filter(|(_, at)| (0..LIFE_MS).contains(&(now - at))).map(|(value, _)| value.clone())
    }

    pub fn put(&self, name: String, value: Arc<T>, now: i64) {
        if let Ok(mut entries) = self.0.lock() {
            if entries.len() >= ENTRIES {
                entries.clear();
            }
            entries.insert(name, (value, now));
        }
    }

    /// Forgets everything: something changed.
    pub fn clear(&self) {
        if let Ok(mut entries) = self.0.lock() {
            entries.clear();
        }
    }
}
