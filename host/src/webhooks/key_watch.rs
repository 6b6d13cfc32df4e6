//! Looks at the API keys of open event streams twice a second, at all of them with one statement and only while a stream is open: a stream
//! ends within a second of its key, whichever host or command revokes it.

use std::time::Duration;

use storage::api_keys::ApiKey;
use storage::key_revocations;

use crate::app::App;
use crate::app::stream_keys::KeyWatch;

/// The time between two looks; a revoked key is refused everywhere within a second.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Watches the key of a stream from now on.
pub fn begin(app: &App, key: &ApiKey) -> KeyWatch {
    let (watch, is_unwatched) = app.stream_keys.add(&key.id);
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
            let Some(ids) = app.stream_keys.ids() else { return };
            match key_revocations::ended_among(app.db.reader(), &ids, app.now()).await {
                Ok(ended) => app.stream_keys.end(&ended),
                Err(e) => tracing::warn!(error = %e, "the keys of event streams cannot be looked at"),
            }
        }
    }
}

impl Drop for WatchTask {
    /// Lets the next stream begin another task where this one panicked.
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stream_keys.set_unwatched();
        }
    }
}
