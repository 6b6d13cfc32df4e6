//! Follows scopes that another feature needs in step, such as the calendars of an event type: in the transaction that stores the feature,
//! without a response. Scopes that are already subscribed stay as they are.

use std::collections::{BTreeMap, BTreeSet};

use base::error::Result;
use base::tenant::Tenant;
use storage::connections::Connection;
use storage::locked::ConnectionLock;
use storage::sync_states::SyncState;
use storage::{Tx, sync_states as table};

use crate::app::App;
use crate::app::event_log::{self, NewLogEntry, Origin};
use crate::sync::lifecycle::{begun, log_entry, started, write_start};
use crate::sync::scope::SyncScope;
use crate::sync::state;

/// A scope that is not followed yet, and the rows to write so that the service keeps it in step.
#[derive(Clone, Debug)]
pub struct NewSubscription {
    scope: SyncScope,
    state: SyncState,
    note: NewLogEntry,
}

impl NewSubscription {
    /// Returns the subscription of a scope. None: the scope is followed already.
    pub async fn for_scope(
        app: &App,
        connection: &Connection,
        scope: SyncScope,
    ) -> Result<Option<NewSubscription>> {
        let known = state(app, connection, &scope).await?;
        if known.followed {
            return Ok(None);
        }
        let state = started(&known, None, app.now());
        let printed = begun(app, connection, &state).await?;
        let note = log_entry(&state, "started", printed);
        Ok(Some(NewSubscription { scope, state, note }))
    }

    /// Sets the origin to the service: no client requested it.
    pub fn by_system(mut self) -> NewSubscription {
        self.note.origin = Origin::System;
        self
    }

    fn connection_id(&self) -> &str {
        &self.state.connection_id
    }
}

/// The subscriptions of one transaction, with the locks of their connections.
pub struct Subscriptions<'b> {
    locks: BTreeMap<&'b str, ConnectionLock>,
    open: Vec<&'b NewSubscription>,
}

impl<'b> Subscriptions<'b> {
    /// Locks the connections. Scopes that others have begun to follow, and disconnected accounts, are left out.
    pub async fn lock(tx: &mut Tx, tenant: &Tenant, all: &'b [NewSubscription]) -> Result<Subscriptions<'b>> {
        let ids: BTreeSet<&str> = all.iter().map(NewSubscription::connection_id).collect();
        let mut locks = BTreeMap::new();
        for id in ids {
            if let Some(lock) = ConnectionLock::take(tx, tenant, id).await? {
                locks.insert(id, lock);
            }
        }
        let mut open = Vec::new();
        for one in all {
            let Some(lock) = locks.get(one.connection_id()) else { continue };
            let of = (one.state.surface.as_str(), one.state.scope_id.as_str());
            let known = table::lock_state(tx, lock, of).await?;
            if !known.is_some_and(|known| known.followed) {
                open.push(one);
            }
        }
        Ok(Subscriptions { locks, open })
    }

    /// Writes that the scopes are followed from now on, and logs it. The first pull of each is due at once.
    pub async fn write(&self, tx: &mut Tx, app: &App, tenant: &Tenant) -> Result<()> {
        if self.open.is_empty() {
            return Ok(());
        }
        let notes = self.open.iter().map(|one| one.note.clone()).collect();
        event_log::append(tx, app, tenant, notes).await?;
        for one in &self.open {
            if let Some(lock) = self.locks.get(one.connection_id()) {
                write_start(tx, app, lock, &one.scope, &one.state).await?;
            }
        }
        Ok(())
    }
}
