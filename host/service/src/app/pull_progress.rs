//! Wakes list requests that wait for the initial sync of a mailbox to store more messages.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

/// Signals by the name of the pull. One without waiters uses no memory.
#[derive(Default)]
pub struct PullProgress(Mutex<HashMap<String, Arc<Notify>>>);

impl PullProgress {
    /// Returns the signal that is notified when a page of this pull was stored, or the pull ended. Get it before reading the stored state,
    /// so that no notification is missed.
    pub fn bell(&self, name: &str) -> Arc<Notify> {
        let Ok(mut bells) = self.0.lock() else { return Arc::default() };
        bells.retain(|_, bell| Arc::strong_count(bell) > 1);
        bells.entry(name.to_owned()).or_default().clone()
    }

    /// Notifies the waiters of this pull.
    pub fn tell(&self, name: &str) {
        let Ok(bells) = self.0.lock() else { return };
        if let Some(bell) = bells.get(name) {
            bell.notify_waiters();
        }
    }
}
