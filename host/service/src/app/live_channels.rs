//! The push channels that this process has open to providers, and the time of each one's last notification.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

/// State of a push channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// Not open yet.
    #[default]
    Closed,
    Open,
    /// The provider does not support push.
    None,
}

/// The push channel of one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LiveChannel {
    pub channel: Channel,
    /// Time of the last notification, ms.
    pub told_at: Option<i64>,
}

/// Push channels of this process, by connection. They end with the process.
#[derive(Default)]
pub struct Watches(Mutex<HashMap<String, Watch>>);

struct Watch {
    watched: LiveChannel,
    /// The host that the job names.
    owner: String,
    /// Notified when listening must end.
    stop: Arc<Notify>,
}

impl Watches {
    /// Returns the channel of a connection; none if this process does not listen for it.
    pub fn find(&self, connection_id: &str) -> Option<LiveChannel> {
        Some(self.0.lock().ok()?.get(connection_id)?.watched)
    }

    /// Registers a listener and stops the previous one of the connection. Returns the signal that tells the new listener to stop.
    pub fn begin(&self, connection_id: &str, owner: &str, told_at: Option<i64>) -> Arc<Notify> {
        let stop = Arc::new(Notify::new());
        let watched = LiveChannel { channel: Channel::Closed, told_at };
        let watch = Watch { watched, owner: owner.to_owned(), stop: stop.clone() };
        let before = self.0.lock().ok().and_then(|mut all| all.insert(connection_id.to_owned(), watch));
        if let Some(before) = before {
            before.stop.notify_one();
        }
        stop
    }

    /// Sets the state of the channel.
    pub fn set(&self, connection_id: &str, channel: Channel) {
        self.change(connection_id, |watched| watched.channel = channel);
    }

    /// Records a notification from the provider.
    pub fn record_notification(&self, connection_id: &str, now: i64) {
        self.change(connection_id, |watched| watched.told_at = Some(now));
    }

    fn change(&self, connection_id: &str, change: impl FnOnce(&mut LiveChannel)) {
        let Ok(mut all) = self.0.lock() else { return };
        if let Some(watch) = all.get_mut(connection_id) {
            change(&mut watch.watched);
        }
    }

    /// Removes the listener that was given `stop`; it has stopped.
    pub fn end(&self, connection_id: &str, stop: &Arc<Notify>) {
        let Ok(mut all) = self.0.lock() else { return };
        if all.get(connection_id).is_some_and(|watch| Arc::ptr_eq(&watch.stop, stop)) {
            all.remove(connection_id);
        }
    }

    /// Stops the listener of a connection.
    pub fn remove(&self, connection_id: &str) {
        let removed = self.0.lock().ok().and_then(|mut all| all.remove(connection_id));
        if let Some(watch) = removed {
            watch.stop.notify_one();
        }
    }

    /// Returns the connections that this process listens for, each with the host that its job names.
    pub fn held(&self) -> Vec<(String, String)> {
        let Ok(all) = self.0.lock() else { return Vec::new() };
        all.iter().map(|(id, watch)| (id.clone(), watch.owner.clone())).collect()
    }
}
