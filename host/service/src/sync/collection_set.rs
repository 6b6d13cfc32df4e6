//! Surfaces that clients follow with all of their collections: one feed and one state for all contact books of a connection, where each
//! book is read with its own cursor.

use std::collections::HashMap;
use std::time::Duration;

use base::error::Result;
use storage::connections::Connection;
use storage::items::{self, Item};
use storage::jobs::{self, Job};
use storage::locked::ConnectionLock;
use storage::sync_states::SyncState;
use storage::{Tx, sync_states as table};
use tokio::sync::OnceCell;
use tokio::time::Instant;

use crate::app::App;
use crate::app::freshness::DataAge;
use crate::app::resource_kind::ResourceKind;
use crate::sync::page::plan;
use crate::sync::pull::{self, PullEnd, PullLimits};
use crate::sync::scope::SyncScope;
use crate::sync::{on_demand, refresh_if_stale, staleness};

/// Most collections of one connection.
const MAX_COLLECTIONS: i64 = 1_000;
/// Time after which no further collection is started: the next pull starts with those that were read the longest ago.
const MOST_TIME: Duration = Duration::from_secs(120);

/// Returns the stored collections of a connection.
pub async fn collections(app: &App, connection: &Connection, kind: ResourceKind) -> Result<Vec<Item>> {
    let (reader, tenant) = (app.db.reader(), &connection.tenant);
    Ok(items::list_top(reader, tenant, Some(&connection.id), kind.as_str(), "", MAX_COLLECTIONS).await?)
}

/// Updates all collections. A collection that cannot be read delays no other; its error is stored in the state of the whole. The caller
/// holds the lock of `top`, the scope of the collections themselves.
pub async fn run(app: &App, connection: &Connection, top: &SyncScope, by: PullLimits<'_>) -> Result<PullEnd> {
    let until = Instant::now() + MOST_TIME;
    let mut ended = pull::run(app, connection, top, by).await?;
    if let PullEnd::Waits(_) = ended {
        return Ok(ended);
    }
    let (mut failed, mut held) = (None, None);
    let live = longest_unread_first(app, connection, top.kind).await?;
    for collection in &live {
        if Instant::now() >= until {
            ended = PullEnd::Enough;
            break;
        }
        let scope = crate::sync::scope::scope(collection)?;
        let _one = app.locks.lock(&scope.lock_name(connection)).await;
        match pull::run(app, connection, &scope, by).await {
            Ok(PullEnd::CaughtUp) => {}
            Ok(PullEnd::Waits(until)) => {
                // The wait applies to the others as well.
                (ended, held) = (PullEnd::Waits(until), Some(scope));
                break;
            }
            Ok(other) => ended = other,
            Err(e) if on_demand::is_lost(&e) => return Err(e),
            Err(e) => failed = failed.or(Some((scope, e))),
        }
    }
    let unread = failed.as_ref().map(|(scope, _)| scope.clone()).or(held);
    let end = SetEnd { live, failed: unread, job: by.job.cloned() };
    conclude(app, connection, top, end).await?;
    failed.map_or(Ok(ended), |(_, e)| Err(e))
}

async fn longest_unread_first(app: &App, connection: &Connection, kind: ResourceKind) -> Result<Vec<Item>> {
    let mut live = collections(app, connection, kind).await?;
    let read_at: HashMap<String, Option<i64>> = states(app, connection, kind, &live)
        .await?
        .into_iter()
        .map(|state| (state.scope_id, state.last_success_at))
        .collect();
    live.sort_by_key(|collection| read_at.get(&collection.id).copied().flatten());
    Ok(live)
}

/// The end of a pull of all collections.
struct SetEnd {
    /// The collections.
    live: Vec<Item>,
    /// One of them that could not be read.
    failed: Option<SyncScope>,
    /// The job that the pull is a run of.
    job: Option<Job>,
}

/// Updates the state of the whole: activity and errors of its collections count for the whole, and it is retried at the time of the failed
/// collection.
async fn conclude(app: &App, connection: &Connection, top: &SyncScope, end: SetEnd) -> Result<()> {
    let all = table::of_connection(app.db.reader(), &connection.id).await?;
    let surface = top.surface();
    let is_inside = |s: &&SyncState| s.surface == surface && end.live.iter().any(|c| c.id == s.scope_id);
    let newest = all.iter().filter(is_inside).filter_map(|state| state.last_activity_at).max();
    let whole = all.iter().find(|state| state.surface == surface && state.scope_id == top.scope_id);
    if end.failed.is_none() && whole.is_none_or(|whole| newest <= whole.last_activity_at) {
        return Ok(());
    }
    let (tenant, id) = (connection.tenant.clone(), connection.id.clone());
    let (app, top, SetEnd { failed, job, .. }) = (app.clone(), top.clone(), end);
    let db = app.db.clone();
    db.write(move |tx| {
        Box::pin(async move {
            let Some(lock) = ConnectionLock::take(tx, &tenant, &id).await? else { return Ok(()) };
            let Some(whole) = table::lock_state(tx, &lock, (top.surface(), &top.scope_id)).await? else {
                return Ok(());
            };
            let mut state = whole.into_row();
            let before = state.clone();
            if newest > state.last_activity_at {
                state.last_activity_at = newest;
                plan(&app, &mut state, false);
            }
            if let Some(scope) = failed
                && let Some(inside) = table::lock_state(tx, &lock, (scope.surface(), &scope.scope_id)).await?
            {
                let inside = inside.into_row();
                state.status = inside.status;
                state.last_error = inside.last_error;
                state.consecutive_errors = inside.consecutive_errors;
                state.next_pull_at = inside.next_pull_at;
            }
            if state == before {
                return Ok(());
            }
            table::upsert(tx, &lock, &state, state.generation).await?;
            if let Some(job) = &job {
                jobs::check_fence(tx, job, None, app.now()).await?;
            }
            Ok(())
        })
    })
    .await
}

/// Ensures that the copy of all collections is fresh enough to be read, and returns its age. A collection that was read before and cannot
/// be read now is shown as stored.
pub async fn refresh_all(
    app: &App,
    connection: &Connection,
    kind: ResourceKind,
    fresh: bool,
) -> Result<DataAge> {
    let mut all = refresh_if_stale(app, connection, &SyncScope::collections(kind), fresh).await?;
    let whole = OnceCell::new();
    for collection in collections(app, connection, kind).await? {
        let known = SyncScope {
            kind: kind.contents(),
            scope_id: collection.id.clone(),
            collection: None,
            time_zone: None,
        };
        let age = match staleness::age_within(app, connection, &known, fresh, &whole).await? {
            Some(age) => age,
            None => {
                let scope = crate::sync::scope::scope(&collection)?;
                Box::pin(on_demand::refreshed(app, connection, &scope, fresh)).await?
            }
        };
        all = all.joined(age);
    }
    Ok(all)
}

/// Returns the states of these collections' contents. A collection that was never read has none.
pub async fn states(
    app: &App,
    connection: &Connection,
    kind: ResourceKind,
    live: &[Item],
) -> Result<Vec<SyncState>> {
    let all = table::of_connection(app.db.reader(), &connection.id).await?;
    let is_inside =
        |s: &SyncState| s.surface == kind.surface().as_str() && live.iter().any(|c| c.id == s.scope_id);
    Ok(all.into_iter().filter(is_inside).collect())
}

/// Returns the ids of the collections whose contents were ever read.
pub async fn scope_ids(app: &App, connection: &Connection, top: &SyncScope) -> Result<Vec<String>> {
    let live = collections(app, connection, top.kind).await?;
    let states = states(app, connection, top.kind, &live).await?;
    Ok(states.into_iter().map(|state| state.scope_id).collect())
}

/// Makes the next pull read the contents of these collections from the beginning.
pub async fn forget_cursors(
    tx: &mut Tx,
    lock: &ConnectionLock,
    surface: &str,
    inside: &[String],
) -> Result<()> {
    for scope_id in inside {
        if let Some(state) = table::lock_state(tx, lock, (surface, scope_id)).await? {
            table::forget_cursor(tx, &state).await?;
        }
    }
    Ok(())
}
