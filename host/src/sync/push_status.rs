//! How the watch of a scope stands, as the API tells it.

use base::error::Result;
use model::Instant;
use model::sync::{Watch, WatchStatus};
use storage::connections::Connection;
use storage::sync_states::SyncState;
use storage::watches::{self, Status};

use crate::app::App;
use crate::push::life::{after_time, present};
use crate::push::reach;

/// The watch of a scope whose provider can notify this service; `otherwise` where it cannot, and where there is no watch. None: nobody
/// follows the scope yet.
pub async fn of(
    app: &App,
    connection: &Connection,
    state: &SyncState,
    otherwise: Option<Watch>,
) -> Result<Option<Watch>> {
    if !reach::can_watch(app, &connection.provider) {
        return Ok(otherwise);
    }
    if !state.followed {
        return Ok(None);
    }
    let of = (state.surface.as_str(), state.scope_id.as_str());
    let known = watches::of_scope(app.db.reader(), &connection.id, of).await?;
    let Some(watch) = present(&known) else { return Ok(otherwise) };
    let status = match after_time(watch, app.now()).unwrap_or(watch.status) {
        Status::Active => WatchStatus::Active,
        Status::Expiring => WatchStatus::Expiring,
        Status::Expired | Status::Starting | Status::Stopping => WatchStatus::Expired,
    };
    let at = |ms: Option<i64>| ms.map(Instant::from_millis);
    Ok(Some(Watch {
        status,
        expires_at: at(watch.expires_at),
        last_notification_at: at(watch.last_notified_at),
    }))
}
