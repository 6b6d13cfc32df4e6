//! Which providers tell this process of changes by themselves, and when they last did.

use std::collections::HashMap;
use std::sync::Mutex;

/// How a push channel stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Channel {
    /// It is to be opened.
    #[default]
    Closed,
    Open,
    /// The provider turned out to have none.
    None,
}

/// What is known of one connection's push channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watched {
    pub channel: Channel,
    /// When something was told last, ms.
    pub told_at: Option<i64>,
}

/// Push channels by connection. Kept in memory: a channel ends with the process that has it.
#[derive(Default)]
pub struct Watches(Mutex<HashMap<String, Watched>>);

impl Watches {
    /// None: nobody listens for this connection.
    pub fn find(&self, connection_id: &str) -> Option<Watched> {
        self.0.lock().ok()?.get(connection_id).copied()
    }

    /// From now on the channel stands so.
    pub fn set(&self, connection_id: &str, channel: Channel) {
        if let Ok(mut channels) = self.0.lock() {
            channels.entry(connection_id.to_owned()).or_default().channel = channel;
        }
    }

    /// The provider told that something changed.
    pub fn told(&self, connection_id: &str, now: i64) {
        if let Ok(mut channels) = self.0.lock() {
            channels.entry(connection_id.to_owned()).or_default().told_at = Some(now);
        }
    }

    /// Nobody listens any more.
    pub fn remove(&self, connection_id: &str) {
        if let Ok(mut channels) = self.0.lock() {
            channels.remove(connection_id);
        }
    }
}
