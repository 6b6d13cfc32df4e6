//! Who waits for a pull to get further: a list of a mailbox that is being read for the first time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

/// Bells by the name of what is pulled. One that nobody waits at costs nothing.
#[derive(Default)]
pub struct PullProgress(Mutex<HashMap<String, Arc<Notify>>>);

impl PullProgress {
    /// Rings when a page of this was stored, or a pull of it ended. Taken before one looks at what is there, so that nothing is missed.
    pub fn bell(&self, name: &str) -> Arc<Notify> {
        let Ok(mut bells) = self.0.lock() else { return Arc::default() };
        bells.retain(|_, bell| Arc::strong_count(bell) > 1);
        bells.entry(name.to_owned()).or_default().clone()
    }

    /// Something was stored.
    pub fn tell(&self, name: &str) {
        let Ok(bells) = self.0.lock() else { return };
        if let Some(bell) = bells.get(name) {
            bell.notify_waiters();
        }
    }
}
