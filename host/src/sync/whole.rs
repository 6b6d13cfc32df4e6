//! A surface that clients follow with all of its collections: one feed and one state for all contact books of a connection,
//! where each book is read with a cursor of its own.

use base::error::{Error, Result};
use storage::connections::Connection;
use storage::items::{self, Item};
use storage::locked::ConnectionLock;
use storage::sync_states::{self as table, SyncState};
use tokio::sync::OwnedMutexGuard;

use crate::app::App;
use crate::resources::{Kind, collections};
use crate::sync::{Scope, ensure_fresh, pull};

/// Collections of one connection that are looked at.
const MOST: i64 = 1_000;

/// The collections that a connection is known to have.
pub async fn collections(app: &App, connection: &Connection, kind: Kind) -> Result<Vec<Item>> {
    let (reader, tenant) = (app.db.reader(), &connection.tenant);
    Ok(items::list_top(reader, tenant, Some(&connection.id), kind.as_str(), "", MOST).await?)
}

/// Brings all of it up to date. A collection that cannot be read holds up no other, and is told on the state of the whole.
/// The caller holds the lock of `top`, the scope of the collections themselves.
pub async fn run(app: &App, connection: &Connection, top: &Scope, background: bool) -> Result<()> {
    pull::run(app, connection, top, background).await?;
    let mut failed = None;
    for collection in collections(app, connection, top.kind).await? {
        let scope = collections::scope(&collection)?;
        let _one = app.locks.lock(&scope.lock_name(connection)).await;
        if let Err(e) = pull::run(app, connection, &scope, background).await {
            failed = failed.or(Some((scope, e)));
        }
    }
    let Some((scope, e)) = failed else { return Ok(()) };
    take_over(app, connection, top, &scope).await?;
    Err(e)
}

/// What went wrong inside is what is wrong with the whole; and it is tried again when that may be.
async fn take_over(app: &App, connection: &Connection, top: &Scope, scope: &Scope) -> Result<()> {
    let (tenant, id) = (connection.tenant.clone(), connection.id.clone());
    let (top, scope) = (top.clone(), scope.clone());
    app.db
        .write(move |tx| {
            Box::pin(async move {
                let Some(lock) = ConnectionLock::take(tx, &tenant, &id).await? else { return Ok(()) };
                let whole = table::lock_state(tx, &lock, (top.surface(), &top.scope_id)).await?;
                let inside = table::lock_state(tx, &lock, (scope.surface(), &scope.scope_id)).await?;
                let (Some(whole), Some(inside)) = (whole, inside) else { return Ok(()) };
                let (whole, inside) = (whole.into_row(), inside.into_row());
                let state = SyncState {
                    status: inside.status,
                    last_error: inside.last_error,
                    consecutive_errors: inside.consecutive_errors,
                    next_pull_at: inside.next_pull_at,
                    ..whole
                };
                table::upsert(tx, &lock, &state, state.generation).await?;
                Ok(())
            })
        })
        .await
}

/// Sees to it that the copy of all of it is fresh enough. A collection that was read before and cannot be now is shown as it
/// was.
pub async fn ensure_all_fresh(
    app: &App,
    connection: &Connection,
    kind: Kind,
    now_please: bool,
) -> Result<()> {
    ensure_fresh(app, connection, &Scope::collections(kind), now_please).await?;
    for collection in collections(app, connection, kind).await? {
        let known = Scope {
            kind: kind.contents(),
            scope_id: collection.id.clone(),
            collection: None,
            time_zone: None,
        };
        if now_please || !crate::sync::was_just_read(app, connection, &known) {
            ensure_fresh(app, connection, &collections::scope(&collection)?, now_please).await?;
        }
    }
    Ok(())
}

/// The states of what is inside these collections. One that was never read has none.
pub async fn states(app: &App, connection: &Connection, kind: Kind, live: &[Item]) -> Result<Vec<SyncState>> {
    let all = table::of_connection(app.db.reader(), &connection.id).await?;
    let is_inside =
        |s: &SyncState| s.surface == kind.surface().as_str() && live.iter().any(|c| c.id == s.scope_id);
    Ok(all.into_iter().filter(is_inside).collect())
}

/// Has everything inside read from the beginning with the next pull. What it returns keeps pulls away that are not to write
/// their cursors now.
pub async fn forget_cursors(
    app: &App,
    connection: &Connection,
    top: &Scope,
) -> Result<Vec<OwnedMutexGuard<()>>> {
    let mut held = Vec::new();
    let live = collections(app, connection, top.kind).await?;
    for collection in &live {
        let name = collections::scope(collection)?.lock_name(connection);
        held.push(app.locks.lock(&name).await);
        app.freshness.forget(&name);
    }
    let inside: Vec<String> =
        states(app, connection, top.kind, &live).await?.into_iter().map(|s| s.scope_id).collect();
    let (tenant, id, surface) = (connection.tenant.clone(), connection.id.clone(), top.surface());
    app.db
        .write(move |tx| {
            Box::pin(async move {
                let Some(lock) = ConnectionLock::take(tx, &tenant, &id).await? else { return Ok(()) };
                for scope_id in &inside {
                    if let Some(state) = table::lock_state(tx, &lock, (surface, scope_id)).await? {
                        table::forget_cursor(tx, &state).await?;
                    }
                }
                Ok::<_, Error>(())
            })
        })
        .await?;
    Ok(held)
}
