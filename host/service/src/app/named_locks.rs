//! Locks by name: one writer per resource, one pull per collection. They keep this process from racing itself; what several
//! processes could do to each other is settled in the database.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

/// Named locks; a name costs nothing when nobody holds it.
#[derive(Default)]
pub struct NamedLocks(Mutex<HashMap<String, Weak<AsyncMutex<()>>>>);

impl NamedLocks {
    /// Waits for the lock of this name.
    pub async fn lock(&self, name: &str) -> OwnedMutexGuard<()> {
        self.named(name).lock_owned().await
    }

    /// The lock of this name, unless somebody has it.
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
