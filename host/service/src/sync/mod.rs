//! Keeps the local copy in step with the provider, in the same way for every surface. `subscribe` follows scopes that other features need,
//! `pull` reads the provider, a `walk` at a time, `scan_end` decides which records were deleted, `change_feed` is the feed that clients
//! read, `failure` stores errors, `lifecycle` is start, reset, renewal and status, `staleness` decides which reads need no request to the
//! provider, `backfill` reads mailboxes from new to old, `deferred_content` reads records that a listing named, `on_demand` pulls for a
//! waiting request, `page` writes a pull's pages, `push_status` is the status of the provider's notifications, `schedule` is the time of
//! background pulls (`jobs::pull` runs them), `quarantine` isolates unreadable records, `collection_set` is a surface that is followed with
//! all of its collections.

pub mod backfill;
pub mod change_feed;
pub mod collection_set;
pub mod deferred_content;
pub mod failure;
pub mod lifecycle;
pub mod on_demand;
pub mod page;
pub mod page_parts;
pub mod page_request;
pub mod provider_page;
pub mod pull;
pub mod push_status;
pub mod quarantine;
pub mod scan_end;
pub mod schedule;
pub mod scope;
pub mod staleness;
pub mod store_page;
pub mod subscribe;
pub mod superseded;
pub mod walk;
pub mod watch_job;

pub use crate::sync::on_demand::{ensure_fresh, refresh_if_stale};

use base::error::Result;
use storage::connections::Connection;
use storage::jobs::{self, Job};
use storage::locked::ConnectionLock;
use storage::sync_states as table;
use storage::sync_states::SyncState;

use crate::app::App;
use crate::sync::scope::SyncScope;

/// Returns the stored state, or a new one.
pub async fn state(app: &App, connection: &Connection, scope: &SyncScope) -> Result<SyncState> {
    let found = table::find(app.db.resources(), &connection.id, scope.surface(), &scope.scope_id).await?;
    Ok(found.unwrap_or_else(|| SyncState {
        organization_id: connection.tenant.organization_id.clone(),
        application_id: connection.tenant.application_id.clone(),
        connection_id: connection.id.clone(),
        surface: scope.surface().to_owned(),
        scope_id: scope.scope_id.clone(),
        status: "idle".to_owned(),
        epoch: 1,
        ..SyncState::default()
    }))
}

/// Writes a state after a pull. Does nothing if the account was disconnected or the scope was reset in between. Fails with `LostLease` if
/// `job`, which the pull is a run of, is no longer this host's.
pub async fn save(app: &App, state: &SyncState, job: Option<&Job>) -> Result<()> {
    let (state, job, now) = (state.clone(), job.cloned(), app.now());
    app.db
        .write(move |tx| {
            Box::pin(async move {
                let lock = ConnectionLock::take(tx, &state.tenant(), &state.connection_id).await?;
                if let Some(lock) = lock {
                    table::upsert(tx, &lock, &state, state.generation).await?;
                }
                if let Some(job) = &job {
                    jobs::check_fence(tx, job, None, now).await?;
                }
                Ok(())
            })
        })
        .await
}
