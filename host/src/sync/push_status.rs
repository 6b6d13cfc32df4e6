//! How the watch of a scope stands, as the API tells it.

use base::error::Result;
use model::Instant;
use model::sync::{Watch, WatchStatus};
use storage::connections::Connection;
use storage::sync_states::SyncState;
use storage::watches::{self, Status, Watch as Row};

use crate::app::App;
use crate::push::life::{after_time, present};
use crate::push::reach;
use crate::resources::Kind;
use crate::sync::whole;

/// The watch of a scope whose provider can notify this service; `otherwise` where it cannot, and where there is no watch. None: nobody
/// follows the scope yet. What is followed with all of its collections has a watch of each of them, and is shown as the worst of these: it
/// is polled like any other while one of them is over.
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
    let mut known = watches::of_connection(app.db.reader(), &connection.id).await?;
    known.retain(|watch| watch.surface == state.surface);
    let mut scope_ids = vec![state.scope_id.clone()];
    if state.scope_id.is_empty() && state.surface == Kind::ContactBook.surface().as_str() {
        let books = whole::collections(app, connection, Kind::ContactBook).await?;
        scope_ids.extend(books.into_iter().map(|book| book.id));
    }
    known.retain(|watch| scope_ids.contains(&watch.scope_id));
    if present(&known).is_none() {
        return Ok(otherwise);
    }
    let of_scope = |scope_id: &String| {
        let own: Vec<Row> = known.iter().filter(|watch| watch.scope_id == *scope_id).cloned().collect();
        shown(&own, app.now())
    };
    Ok(scope_ids.iter().map(of_scope).reduce(worse))
}

/// The watch of one scope out of all that it has. Without one nobody tells of changes there.
fn shown(known: &[Row], now: i64) -> Watch {
    let Some(watch) = present(known) else {
        return Watch { status: WatchStatus::Expired, ..Watch::default() };
    };
    let status = match after_time(watch, now).unwrap_or(watch.status) {
        Status::Active => WatchStatus::Active,
        Status::Expiring => WatchStatus::Expiring,
        Status::Expired | Status::Starting | Status::Stopping => WatchStatus::Expired,
    };
    let at = |ms: Option<i64>| ms.map(Instant::from_millis);
    Watch { status, expires_at: at(watch.expires_at), last_notification_at: at(watch.last_notified_at) }
}

/// Two watches as one: the worse status, until the first of them ends.
fn worse(one: Watch, other: Watch) -> Watch {
    let rank = |watch: &Watch| match watch.status {
        WatchStatus::Active => 0,
        WatchStatus::Expiring => 1,
        WatchStatus::Expired | WatchStatus::Unsupported => 2,
    };
    let status = if rank(&other) > rank(&one) { other.status } else { one.status };
    let expires_at = one.expires_at.into_iter().chain(other.expires_at).min();
    Watch {
        status,
        expires_at,
        last_notification_at: one.last_notification_at.max(other.last_notification_at),
    }
}
