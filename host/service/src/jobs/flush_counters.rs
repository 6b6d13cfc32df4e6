//! Periodic flush of in-memory state: counts of usage, logged requests, and cached merge suggestions that are no longer paged through.

use std::time::Duration;

use base::error::is_outage;
use tokio::sync::watch;

use crate::app::App;
use crate::app::request_log::writing;
use crate::app::supervise::guarded;

/// How often.
const TICK: Duration = Duration::from_secs(1);

/// Runs until `stop` says that the process ends.
pub async fn run(app: &App, mut stop: watch::Receiver<bool>) {
    while !*stop.borrow() {
        // Counts that cannot be written now are written later.
        if let Err(e) = guarded(&app.metrics, "usage", app.usage.flush_due(&app.db, app.now())).await
            && !is_outage(&e)
        {
            tracing::warn!(error = %format!("{e:#}"), "usage figures cannot be written");
        }
        if let Err(e) = guarded(&app.metrics, "request_log", writing::flush(app)).await
            && !is_outage(&e)
        {
            tracing::warn!(error = %format!("{e:#}"), "the request log cannot be written");
        }
        app.rankings.forget_old(app.now());
        tokio::select! {
            () = tokio::time::sleep(TICK) => {}
            // An error: the sender of the stop signal is gone.
            changed = stop.changed() => if changed.is_err() { return },
        }
    }
}
