//! How old the local copy is, as far as this process knows: what makes most reads answerable without a look at the provider.

use std::collections::HashMap;
use std::sync::Mutex;

/// When this process last asked the provider, by scope.
#[derive(Default)]
pub struct Freshness(Mutex<HashMap<String, i64>>);

impl Freshness {
    /// Milliseconds since 1970 of the last pull.
    pub fn get(&self, name: &str) -> Option<i64> {
        self.0.lock().ok().and_then(|f| f.get(name).copied())
    }

    /// Whether the last pull was at this moment or later.
    pub fn is_since(&self, name: &str, since: i64) -> bool {
        self.get(name).is_some_and(|at| at >= since)
    }

    pub fn set(&self, name: &str, at: i64) {
        if let Ok(mut fresh) = self.0.lock() {
            if fresh.len() > 100_000 {
                fresh.clear();
            }
            fresh.insert(name.to_owned(), at);
        }
    }

    /// The next read asks the provider.
    pub fn forget(&self, name: &str) {
        if let Ok(mut fresh) = self.0.lock() {
            fresh.remove(name);
        }
    }
}
