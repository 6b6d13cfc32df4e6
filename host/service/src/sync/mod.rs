//! Keeping the local copy in step with the provider: the same for every surface. `begin` follows what something else needs, `pull`
//! reads the provider, a `walk` at a time, `scan_end` decides what is gone, `changes` is the feed that clients read, `failing` notes what
//! went wrong, `follow` is start, reset, renew and status, `local` is what the copy answers without the provider, `mailbox` reads from new to
//! old, `named` reads what a listing named, `on_demand` pulls for somebody who waits, `page` writes what a pull read, `push_status` is how the
//! provider's notifications stand, `schedule` is when the host pulls by itself (`jobs::pull` does it), `unreadable` keeps apart what cannot be
//! read, `whole` is a surface that is followed with all of its collections.

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

/// The stored state, or a new one.
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

/// Writes what a pull found out of a state. Nothing where the account was disconnected or everything was reset meanwhile. Fails with
/// `LostLease` when `job`, whose turn the pull is, is no longer this host's.
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
