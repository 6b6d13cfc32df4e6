//! The background loop: pulls what clients follow when it is due, writes usage.

use std::time::Duration;

use anyhow::Result;
use futures::StreamExt;
use storage::items;
use storage::sync_states::{self as table, SyncState};

use crate::app::App;
use crate::connections;
use crate::resources::{Kind, collections};
use crate::supervise::guarded;
use crate::sync::{Scope, pull, whole};

/// How often the loop looks for work.
const TICK_MS: u64 = 1_000;
/// Pulls at a time; a slow provider must not hold the others up.
const CONCURRENT: usize = 8;
/// Pulls started in one tick.
const BATCH: i64 = 200;

/// Runs until `stop` resolves.
pub async fn run(app: App, mut stop: tokio::sync::watch::Receiver<bool>) {
    while !*stop.borrow() {
        if let Err(e) = tick(&app).await {
            tracing::error!(error = %format!("{e:#}"), "the background loop stumbled");
        }
        tokio::select! {
            () = tokio::time::sleep(Duration::from_millis(TICK_MS)) => {}
            _ = stop.changed() => {}
        }
    }
}

/// One round: due pulls, usage.
pub async fn tick(app: &App) -> Result<()> {
    // Figures that cannot be written now are written later; mailboxes are pulled all the same.
    if let Err(e) = guarded(&app.metrics, "usage", app.usage.flush(&app.db)).await {
        tracing::warn!(error = %format!("{e:#}"), "usage figures cannot be written");
    }
    app.rankings.forget_old(app.now());
    let due = table::due(app.db.reader(), app.now(), BATCH).await?;
    futures::stream::iter(due).for_each_concurrent(CONCURRENT, |state| pull_one(app, state)).await;
    Ok(())
}

async fn pull_one(app: &App, state: SyncState) {
    // One collection's fault is no other's.
    let outcome = guarded(&app.metrics, "pull", try_pull(app, &state)).await;
    if let Err(e) = outcome {
        tracing::warn!(connection = %state.connection_id, scope = %state.scope_id, error = %e, "a pull failed");
        // Whatever it was, it is not tried every second.
        let (now, later) = (app.now(), app.now() + app.config.poll_interval_ms);
        let put_off = app
            .db
            .write(move |tx| Box::pin(async move { table::postpone(tx, state.key(), now, later).await }));
        let put_off: Result<()> = put_off.await;
        if let Err(e) = put_off {
            tracing::warn!(error = %format!("{e:#}"), "a pull that failed cannot be put off");
        }
    }
}

async fn try_pull(app: &App, state: &SyncState) -> base::error::Result<()> {
    let tenant = state.tenant();
    let connection = connections::find(app, &tenant, &state.connection_id).await?;
    connections::usable(&connection)?;
    if state.scope_id.is_empty() {
        if state.surface == Kind::EmailMessage.surface().as_str() {
            let scope = Scope::mail();
            let _one = app.locks.lock(&scope.lock_name(&connection)).await;
            return pull::run(app, &connection, &scope, true).await;
        }
        let Some(kind) = followed_kind(&state.surface) else { return Ok(()) };
        let scope = Scope::collections(kind);
        let _one = app.locks.lock(&scope.lock_name(&connection)).await;
        return whole::run(app, &connection, &scope, true).await;
    }
    let found = items::any(app.db.reader(), &tenant, &state.scope_id).await?;
    let collection = found.ok_or_else(|| base::error::not_found("collection"))?;
    let scope = collections::scope(&collection)?;
    let _one = app.locks.lock(&scope.lock_name(&connection)).await;
    pull::run(app, &connection, &scope, true).await
}

/// The collections of a surface that is followed as a whole.
fn followed_kind(surface: &str) -> Option<Kind> {
    (surface == Kind::ContactBook.surface().as_str()).then_some(Kind::ContactBook)
}
