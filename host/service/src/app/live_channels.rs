//! Which providers tell this process of changes by themselves, and when they last did.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

/// How a push channel stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// It is to be opened.
    #[default]
    Closed,
    Open,
    /// The provider turned out to have none.
    None,
}

/// What is known of one connection's push channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LiveChannel {
    pub channel: Channel,
    /// When something was told last, ms.
    pub told_at: Option<i64>,
}

/// Push channels by connection, as far as this process has them. They end with it.
#[derive(Default)]
pub struct Watches(Mutex<HashMap<String, Watch>>);

struct Watch {
    watched: LiveChannel,
    /// The host that its job names.
    owner: String,
    /// Rings when nobody is to listen any more.
    stop: Arc<Notify>,
}

impl Watches {
    /// None: nobody listens for this connection, or another host does.
    pub fn find(&self, connection_id: &str) -> Option<LiveChannel> {
        Some(self.0.lock().ok()?.get(connection_id)?.watched)
    }

    /// Somebody begins to listen, in the place of whoever did before. What is returned rings when that is to end.
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

    /// From now on the channel stands so.
    pub fn set(&self, connection_id: &str, channel: Channel) {
        self.change(connection_id, |watched| watched.channel = channel);
    }

    /// The provider told that something changed.
    pub fn told(&self, connection_id: &str, now: i64) {
        self.change(connection_id, |watched| watched.told_at = Some(now));
    }

    fn change(&self, connection_id: &str, change: impl FnOnce(&mut LiveChannel)) {
        let Ok(mut all) = self.0.lock() else { return };
        if let Some(watch) = all.get_mut(connection_id) {
            change(&mut watch.watched);
        }
    }

    /// Whoever was given `stop` has stopped listening.
    pub fn end(&self, connection_id: &str, stop: &Arc<Notify>) {
        let Ok(mut all) = self.0.lock() else { return };
        if all.get(connection_id).is_some_and(|watch| Arc::ptr_eq(&watch.stop, stop)) {
            all.remove(connection_id);
        }
    }

    /// Nobody is to listen any more.
    pub fn remove(&self, connection_id: &str) {
        let removed = self.0.lock().ok().and_then(|mut all| all.remove(connection_id));
        if let Some(watch) = removed {
            watch.stop.notify_one();
        }
    }

    /// The connections that this process listens for, each with the host that its job names.
    pub fn held(&self) -> Vec<(String, String)> {
        let Ok(all) = self.0.lock() else { return Vec::new() };
        all.iter().map(|(id, watch)| (id.clone(), watch.owner.clone())).collect()
    }
}
