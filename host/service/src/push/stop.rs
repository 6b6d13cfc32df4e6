//! Stops a connection's watches while its credentials still exist. Providers also end them on their own, and notifications of unknown
//! watches are ignored.

use std::time::Duration;

use base::error::Error;
use futures::future::join_all;
use model::wire::watch::WatchStop;
use storage::connections::Connection;
use storage::watches as table;
use storage::watches::{Status, Watch};

use crate::app::App;
use crate::connections::call_target::CallTarget;
use crate::connections::watch_calls;
use crate::sync::schedule::renew_id_of;

/// Time that a request to disconnect an account waits for its provider.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);
/// Watches that are stopped at a time.
const CONCURRENT: usize = 8;
/// Delay before stopped watches are restarted, ms: only if the connection still exists then, because disconnecting it failed.
const RESTART_AFTER_MS: i64 = 60_000;

/// Asks the provider to stop the watches of a connection that is about to be disconnected, and waits a limited time. Stopped watches are
/// marked as ended, and are restarted a minute later if the connection still exists.
pub async fn stop_all(app: &App, connection: &Connection) {
    if let Err(e) = try_stop_all(app, connection).await {
        tracing::warn!(connection = %connection.id, error = %e, "the watches of a connection cannot be stopped");
    }
}

async fn try_stop_all(app: &App, connection: &Connection) -> Result<(), Error> {
    let mut known = table::of_connection(app.db.reader(), &connection.id).await?;
    known.retain(|watch| matches!(watch.status, Status::Active | Status::Expiring | Status::Stopping));
    let is_usable = matches!(connection.status.as_str(), "active" | "degraded");
    if known.is_empty() || !is_usable {
        return Ok(());
    }
    let target = CallTarget::for_connection(app, connection)?;
    let (mut ids, mut renewals) = (Vec::new(), Vec::new());
    let stopping = async {
        for some in known.chunks(CONCURRENT) {
            let ended = join_all(some.iter().map(|watch| stop(app, &target, watch))).await;
            for (watch, _) in some.iter().zip(ended).filter(|(_, has_ended)| *has_ended) {
                ids.push(watch.id.clone());
                renewals.push(renew_id_of(watch));
            }
        }
    };
    // A watch that was not stopped in time expires.
    let _ = tokio::time::timeout(STOP_TIMEOUT, stopping).await;
    let now = app.now();
    if ids.is_empty() {
        return Ok(());
    }
    app.db
        .write(move |tx| {
            Box::pin(async move {
                table::expire(tx, &ids, now).await?;
                table::wake(tx, &renewals, (now + RESTART_AFTER_MS, true), now).await?;
                Ok::<_, Error>(())
            })
        })
        .await
}

/// Returns whether the provider has stopped a watch.
async fn stop(app: &App, target: &CallTarget<'_>, watch: &Watch) -> bool {
    let Some(args) = args(watch) else { return false };
    match end(app, target, watch, &args).await {
        Ok(()) => true,
        Err(e) => {
            tracing::debug!(watch = %watch.id, error = %e, "a watch cannot be stopped");
            false
        }
    }
}

/// Asks the provider to stop a watch. If notifications name only the account, the provider has one watch for all rows of the account, which
/// continues for the others.
pub async fn end(
    app: &App,
    target: &CallTarget<'_>,
    watch: &Watch,
    args: &WatchStop,
) -> Result<(), runtime::Error> {
    if is_shared(app, watch).await { Ok(()) } else { watch_calls::stop(app, target, args).await }
}

/// Whether another row needs the provider's watch.
async fn is_shared(app: &App, watch: &Watch) -> bool {
    let Some(account) = &watch.account else { return false };
    let known = table::by_accounts(app.db.reader(), &watch.provider, std::slice::from_ref(account)).await;
    let needs = |other: &Watch| {
        let is_same = other.surface == watch.surface && other.resource == watch.resource;
        is_same && other.id != watch.id && matches!(other.status, Status::Active | Status::Expiring)
    };
    // If that cannot be read, the watch continues and expires.
    known.map_or(true, |known| known.iter().any(needs))
}

/// Returns the arguments by which the provider stops a watch; none for one whose start has no known outcome.
pub fn args(watch: &Watch) -> Option<WatchStop> {
    Some(WatchStop {
        external_id: watch.external_id.clone()?,
        resource: watch.resource.clone(),
        channel: watch.id.clone(),
    })
}
