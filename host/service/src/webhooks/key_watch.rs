//! Looks at the API keys of open event streams twice a second, at all of them with one statement and only while a stream is open: a stream
//! ends within a second of its key, and of the key's secret that opened it, whichever host or command revokes or rotates the key.

use std::collections::BTreeSet;
use std::time::Duration;

use base::error::Result;
use storage::api_keys::ApiKey;
use storage::old_secrets::{self, LiveSecret};

use crate::app::App;
use crate::app::stream_keys::KeyWatch;

/// The time between two looks; a revoked key is refused everywhere within a second.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Watches the key of a stream from now on.
pub fn begin(app: &App, key: &ApiKey) -> KeyWatch {
    let secret = LiveSecret { key_id: key.id.clone(), prefix: key.prefix.clone(), last4: key.last4.clone() };
    let (watch, is_unwatched) = app.stream_keys.add(&secret);
    if is_unwatched {
        let task = WatchTask(app.clone());
        tokio::spawn(async move { task.run().await });
    }
    watch
}

/// The task that looks at the keys.
struct WatchTask(App);

impl WatchTask {
    async fn run(&self) {
        let app = &self.0;
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            let Some(open) = app.stream_keys.secrets() else { return };
            match ended_among(app, open).await {
                Ok(ended) => app.stream_keys.end(&ended),
                Err(e) => tracing::warn!(error = %e, "the keys of event streams cannot be looked at"),
            }
        }
    }
}

/// The secrets among these that work no more.
async fn ended_among(app: &App, mut open: BTreeSet<LiveSecret>) -> Result<BTreeSet<LiveSecret>> {
    let ids: BTreeSet<&String> = open.iter().map(|secret| &secret.key_id).collect();
    let ids: Vec<String> = ids.into_iter().cloned().collect();
    for live in old_secrets::live_among(app.db.reader(), &ids, app.now()).await? {
        open.remove(&live);
    }
    Ok(open)
}

impl Drop for WatchTask {
    /// Lets the next stream begin another task where this one panicked.
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stream_keys.set_unwatched();
        }
    }
}
