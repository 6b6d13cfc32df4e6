//! Keeping the local copy in step with the provider: the same for every surface. `begin` follows what something else needs, `pull`
//! reads the provider, `changes` is the feed that clients read, `failing` notes what went wrong, `follow` is start, reset, renew and
//! status, `local` is what the copy answers without the provider, `mailbox` reads from new to old, `named` reads what a listing named,
//! `on_demand` pulls for somebody who waits, `page` writes what a pull read, `push_status` is how the provider's notifications stand,
//! `schedule` is when the host pulls by itself (`jobs::pull` does it), `unreadable` keeps apart what cannot be read, `whole` is a
//! surface that is followed with all of its collections.

pub mod begin;
pub mod changes;
pub mod failing;
pub mod follow;
pub mod local;
pub mod mailbox;
mod named;
pub mod on_demand;
pub mod page;
pub mod pull;
pub mod push_status;
mod reread;
pub mod schedule;
mod storing;
pub mod unreadable;
pub mod whole;

use base::error::Result;
use storage::connections::Connection;
use storage::jobs::{self, Job};
use storage::locked::ConnectionLock;
use storage::sync_states::{self as table, SyncState};

use crate::app::App;
use crate::resources::Kind;

pub use crate::sync::on_demand::{ensure_fresh, refresh_if_stale};

/// What is kept in step as one: the list of calendars of an account, or the events of one calendar.
#[derive(Clone, Debug)]
pub struct Scope {
    /// What is there; of several kinds, the one that they are named after.
    pub kind: Kind,
    /// The collection's canonical id; empty for what lives directly in the connection.
    pub scope_id: String,
    /// The collection's external id.
    pub collection: Option<String>,
    /// The collection's zone.
    pub time_zone: Option<String>,
}

impl Scope {
    /// The account's collections of a kind: its calendars.
    pub fn collections(kind: Kind) -> Self {
        Scope { kind, scope_id: String::new(), collection: None, time_zone: None }
    }

    /// A mailbox: its folders and labels, and the messages in them.
    pub fn mail() -> Self {
        Scope::collections(Kind::EmailMessage)
    }

    pub fn surface(&self) -> &'static str {
        self.kind.surface().as_str()
    }

    /// Whether clients follow it with all that is inside: contacts are one feed for all books of a connection.
    pub fn is_whole(&self) -> bool {
        self.kind == Kind::ContactBook
    }

    /// The name under which pulls of this scope exclude each other.
    pub fn lock_name(&self, connection: &Connection) -> String {
        format!("pull:{}:{}:{}", connection.id, self.surface(), self.scope_id)
    }
}

/// The stored state, or a new one.
pub async fn state(app: &App, connection: &Connection, scope: &Scope) -> Result<SyncState> {
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
