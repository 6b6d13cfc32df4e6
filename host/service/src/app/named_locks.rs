//! Locks by name: one writer per resource, one pull per collection. They serialize work inside this process; the database resolves races
//! between processes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

/// Named locks. A name that is not locked uses no memory.
#[derive(Default)]
pub struct NamedLocks(Mutex<HashMap<String, Weak<AsyncMutex<()>>>>);

impl NamedLocks {
    /// Waits for the lock of this name.
    pub async fn lock(&self, name: &str) -> OwnedMutexGuard<()> {
        self.named(name).lock_owned().await
    }

    /// Returns the lock of this name, unless it is taken.
    pub fn try_lock(&self, name: &str) -> Option<OwnedMutexGuard<()>> {
        self.named(name).try_lock_owned().ok()
    }

    fn named(&self, name: &str) -> Arc<AsyncMutex<()>> {
        let Ok(mut locks) = self.0.lock() else { return Arc::default() };
        if let Some(lock) = locks.get(name).and_then(Weak::upgrade) {
            return lock;
        }
        if locks.len() > 1024 {
            locks.retain(|_, lock| lock.strong_count() > 0);
        }
        let lock = Arc::new(AsyncMutex::new(()));
        locks.insert(name.to_owned(), Arc::downgrade(&lock));
        lock
    }
}
