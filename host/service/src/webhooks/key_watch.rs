//! Polls the API keys of open event streams twice a second, all of them with one statement and only while a stream is open: a stream ends
//! within a second of the end of its key, or of the secret that opened it, whichever host or command revokes or rotates the key.

use std::collections::BTreeSet;
use std::time::Duration;

use base::error::Result;
use storage::api_keys::ApiKey;
use storage::old_secrets::{self, LiveSecret};

use crate::app::App;
use crate::app::stream_keys::KeyWatch;

/// Interval of the polls; a revoked key is refused everywhere within a second.
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

/// The polling task.
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

/// Returns the secrets among these that are no longer valid.
async fn ended_among(app: &App, mut open: BTreeSet<LiveSecret>) -> Result<BTreeSet<LiveSecret>> {
    let ids: BTreeSet<&String> = open.iter().map(|secret| &secret.key_id).collect();
    let ids: Vec<String> = ids.into_iter().cloned().collect();
    for live in old_secrets::live_among(app.db.reader(), &ids, app.now()).await? {
        open.remove(&live);
    }
    Ok(open)
}

impl Drop for WatchTask {
    /// Allows the next stream to start a new task if this one panicked.
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stream_keys.set_unwatched();
        }
    }
}
