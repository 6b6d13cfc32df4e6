//! Keeping the local copy in step with the provider: the same for every surface. `pull` reads the provider, `changes` is the
//! feed that clients read, `failing` notes what went wrong, `follow` is start, reset, renew and status, `listen` waits for providers
//! that tell of changes, `mailbox` reads from new to old, `named` reads what a listing named, `page` writes what a pull read, `poll` pulls by itself what clients follow,
//! `unreadable` keeps apart what cannot be read, `whole` is a surface that is followed with all of its collections.

pub mod changes;
pub mod failing;
pub mod follow;
pub mod listen;
pub mod mailbox;
mod named;
pub mod page;
pub mod poll;
pub mod pull;
mod reread;
mod storing;
pub mod unreadable;
pub mod whole;

use base::error::{Code, Error, Result};
use storage::connections::Connection;
use storage::locked::ConnectionLock;
use storage::sync_states::{self as table, SyncState};

use crate::app::App;
use crate::resources::Kind;

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

    /// The lock of a reset that waits for a pull of this scope to end.
    pub fn reset_name(&self, connection: &Connection) -> String {
        format!("reset:{}", self.lock_name(connection))
    }
}

/// Sees to it that the copy is not older than the setting allows; a scope that was never read is read now. When the
/// provider does not answer, an older copy is better than nothing: what was read before is served.
// Contract silent: how fresh a read is. At most `freshness_ms` old, or newer on `Cache-Control: no-cache`.
pub async fn ensure_fresh(app: &App, connection: &Connection, scope: &Scope, now_please: bool) -> Result<()> {
    let name = scope.lock_name(connection);
    let is_fresh = |since: i64| app.freshness.is_since(&name, since);
    let asked = app.now();
    if !now_please && is_fresh(asked - app.config.freshness_ms) {
        return Ok(());
    }
    let _one = app.locks.lock(&name).await;
    // Whoever held the lock may have pulled after we asked.
    if is_fresh(if now_please { asked } else { asked - app.config.freshness_ms }) {
        return Ok(());
    }
    match pull::run(app, connection, scope, false).await {
        Ok(()) => Ok(()),
        Err(e) if may_serve_old(&e) => {
            let state =
                table::find(app.db.reader(), &connection.id, scope.surface(), &scope.scope_id).await?;
            match state.is_some_and(|s| s.last_success_at.is_some()) {
                true => Ok(()),
                false => Err(e),
            }
        }
        Err(e) => Err(e),
    }
}

/// Whether this process read it within the time that the setting allows.
pub fn was_just_read(app: &App, connection: &Connection, scope: &Scope) -> bool {
    app.freshness.is_since(&scope.lock_name(connection), app.now() - app.config.freshness_ms)
}

fn may_serve_old(e: &Error) -> bool {
    matches!(
        e.code(),
        Some(
            Code::ProviderUnavailable
                | Code::ProviderTimeout
                | Code::ProviderRateLimited
                | Code::Overloaded
                | Code::ConnectorError
        )
    )
}

/// The stored state, or a new one.
pub async fn state(app: &App, connection: &Connection, scope: &Scope) -> Result<SyncState> {
    let found = table::find(app.db.reader(), &connection.id, scope.surface(), &scope.scope_id).await?;
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

/// Writes what a pull found out of a state. Nothing where the account was disconnected or everything was reset meanwhile.
pub async fn save(app: &App, state: &SyncState) -> Result<()> {
    let state = state.clone();
    app.db
        .write(move |tx| {
            Box::pin(async move {
                let lock = ConnectionLock::take(tx, &state.tenant(), &state.connection_id).await?;
                if let Some(lock) = lock {
                    table::upsert(tx, &lock, &state, state.generation).await?;
                }
                Ok(())
            })
        })
        .await
}
