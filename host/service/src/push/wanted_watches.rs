//! Determines the scopes for which notifications are requested from providers: those that clients subscribed to.

use std::collections::BTreeSet;

use base::error::{Error, Result};
use storage::connections::Connection;
use storage::watches::{self, Watch};
use storage::{items, jobs, sync_states};

use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::connections::watch_expiry::present;
use crate::connections::watch_reach;
use crate::sync::schedule::{ConnectionJob, MAX_WATCHED, parts, renew_job};
use crate::sync::scope::SyncScope;

/// Time after a start or renewal in which a watch is not renewed again for a client, ms: at a provider that cannot renew, each renewal is
/// another watch.
const RENEWED_WITHIN_MS: i64 = 60_000;

/// Ensures that a followed scope is watched, if its provider supports that. Existing jobs are left as they are.
pub async fn ensure(app: &App, connection: &Connection, scope: &SyncScope) -> Result<()> {
    if !can_be_told(app, connection, scope.surface()).await? {
        return Ok(());
    }
    let scope_ids = parts(app, connection, scope, MAX_WATCHED).await?;
    let mut wanted: Vec<ConnectionJob> =
        scope_ids.iter().map(|scope_id| renew_job(connection, scope.surface(), scope_id)).collect();
    let ids: Vec<String> = wanted.iter().map(ConnectionJob::id).collect();
    let there: BTreeSet<String> =
        watches::planned(app.db.reader(), &ids).await?.into_iter().map(|job| job.id).collect();
    wanted.retain(|job| !there.contains(&job.id()));
    if wanted.is_empty() {
        return Ok(());
    }
    let (connection, now) = (connection.clone(), app.now());
    app.db
        .write(move |tx| {
            Box::pin(async move {
                for job in &wanted {
                    jobs::ensure(tx, &job.due(&connection, Some(now)), now).await?;
                }
                Ok::<_, Error>(())
            })
        })
        .await
}

/// Whether notifications of a surface of this account can reach this service and be matched: a provider that names the account needs its
/// address, and if an account of the operator's posts, the operator must have named it for the application. A watch without that would
/// count as reliable, and notify of no change.
async fn can_be_told(app: &App, connection: &Connection, surface: &str) -> Result<bool> {
    let provider = &connection.provider;
    if !watch_reach::can_watch(app, provider, surface) {
        return Ok(false);
    }
    let Some(push) = watch_reach::push_of(app, provider, surface) else { return Ok(false) };
    if push.account.is_some() && connection.email.is_none() {
        return Ok(false);
    }
    Ok(watch_reach::missing_setting(app, connection, surface).await?.is_none())
}

/// The watch that a provider is to be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchRequest {
    /// The collection's external id; none for the mailbox, or for the account's collections themselves.
    pub collection: Option<String>,
}

/// Returns the watch that the collection needs. None: no client follows it, it was deleted, or the provider cannot notify this service of
/// it.
pub async fn find_request(
    app: &App,
    connection: &Connection,
    surface: &str,
    scope_id: &str,
) -> Result<Option<WatchRequest>> {
    if !can_be_told(app, connection, surface).await? {
        return Ok(None);
    }
    let is_whole = surface == ResourceKind::ContactBook.surface().as_str();
    let followed = if is_whole { "" } else { scope_id };
    let state = sync_states::find(app.db.reader(), &connection.id, surface, followed).await?;
    if !state.is_some_and(|state| state.followed) {
        return Ok(None);
    }
    if scope_id.is_empty() {
        return Ok(Some(WatchRequest { collection: None }));
    }
    let item = items::any(app.db.reader(), &connection.tenant, scope_id).await?;
    let item = item.filter(|item| item.connection_id == connection.id);
    Ok(item.map(|item| WatchRequest { collection: Some(item.external_id) }))
}

/// Schedules an immediate renewal of a scope's watches, if there are any and none was just renewed; a watch that is still to be started is
/// tried at once.
pub async fn renew_now(app: &App, connection: &Connection, scope: &SyncScope) -> Result<()> {
    let of = (scope.surface(), scope.scope_id.as_str());
    let known = watches::of_scope(app.db.reader(), &connection.id, of).await?;
    let now = app.now();
    let is_new = |watch: &Watch| {
        watch.is_active(now) && watch.renewed_at.is_some_and(|at| at > now - RENEWED_WITHIN_MS)
    };
    if present(&known).is_some_and(is_new) {
        return Ok(());
    }
    let ids: Vec<String> = known.into_iter().map(|watch| watch.id).collect();
    let job = renew_job(connection, of.0, of.1).id();
    app.db
        .write(move |tx| {
            Box::pin(async move {
                if !ids.is_empty() {
                    watches::hurry(tx, &ids, now).await?;
                }
                watches::wake(tx, &[job], (now, true), now).await?;
                Ok::<_, Error>(())
            })
        })
        .await
}
