//! The background loop: pulls what clients follow when it is due, writes usage, forgets what is old.

use std::time::Duration;

use anyhow::Result;
use futures::StreamExt;

use crate::app::App;
use crate::connections;
use crate::resources::{Kind, collections};
use crate::storage::sync_states::{self as table, SyncState};
use crate::storage::{api_keys, idempotency, items, log};
use crate::sync::{Scope, pull, whole};

/// How often the loop looks for work.
const TICK_MS: u64 = 1_000;
/// Pulls at a time; a slow provider must not hold the others up.
const CONCURRENT: usize = 8;
/// Pulls started in one tick.
const BATCH: i64 = 200;
/// The log is kept this long.
const LOG_DAYS: i64 = 30;
/// Idempotent answers are kept this long.
const IDEMPOTENCY_HOURS: i64 = 48;
/// Ticks between clean-ups.
const CLEAN_EVERY: u64 = 600;

/// Runs until `stop` resolves.
pub async fn run(app: App, mut stop: tokio::sync::watch::Receiver<bool>) {
    let mut ticks = 0_u64;
    while !*stop.borrow() {
        if let Err(e) = tick(&app).await {
            tracing::error!(error = %format!("{e:#}"), "the background loop stumbled");
        }
        if ticks.is_multiple_of(CLEAN_EVERY)
            && let Err(e) = clean(&app).await
        {
            tracing::error!(error = %format!("{e:#}"), "the clean-up stumbled");
        }
        ticks += 1;
        tokio::select! {
            () = tokio::time::sleep(Duration::from_millis(TICK_MS)) => {}
            _ = stop.changed() => {}
        }
    }
}

/// One round: due pulls, usage.
pub async fn tick(app: &App) -> Result<()> {
    app.usage.flush(&app.db).await?;
    app.rankings.forget_old(app.now());
    let due = table::due(app.db.reader(), app.now(), BATCH).await?;
    futures::stream::iter(due).for_each_concurrent(CONCURRENT, |state| pull_one(app, state)).await;
    Ok(())
}

async fn pull_one(app: &App, state: SyncState) {
    let outcome = try_pull(app, &state).await;
    if let Err(e) = outcome {
        tracing::warn!(connection = %state.connection_id, scope = %state.scope_id, error = %e, "a pull failed");
        // Whatever it was, it is not tried every second.
        let later = SyncState { next_pull_at: Some(app.now() + app.config.poll_interval_ms), ..state };
        let current =
            table::find(app.db.reader(), &later.connection_id, &later.surface, &later.scope_id).await;
        if let Ok(Some(current)) = current
            && current.next_pull_at.is_none_or(|at| at <= app.now())
        {
            let _ = crate::sync::save(app, &SyncState { next_pull_at: later.next_pull_at, ..current }).await;
        }
    }
}

async fn try_pull(app: &App, state: &SyncState) -> crate::error::Result<()> {
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
    let collection = found.ok_or_else(|| crate::error::not_found("collection"))?;
    let scope = collections::scope(&collection)?;
    let _one = app.locks.lock(&scope.lock_name(&connection)).await;
    pull::run(app, &connection, &scope, true).await
}

/// The collections of a surface that is followed as a whole.
fn followed_kind(surface: &str) -> Option<Kind> {
    (surface == Kind::ContactBook.surface().as_str()).then_some(Kind::ContactBook)
}

/// Forgets old idempotent answers and old log lines; feeds can then no longer be read from before them.
pub async fn clean(app: &App) -> Result<()> {
    let now = app.now();
    let keys_before = now - IDEMPOTENCY_HOURS * 3_600_000;
    let log_before = now - LOG_DAYS * 86_400_000;
    app.db.write(move |tx| Box::pin(async move { idempotency::delete_older(tx, keys_before).await })).await?;
    for tenant in api_keys::tenants(app.db.reader()).await? {
        app.db
            .write(move |tx| {
                Box::pin(async move {
                    let horizon = log::horizon(tx, &tenant.application_id, log_before).await?;
                    if horizon > 0 {
                        log::delete_through(tx, &tenant.application_id, horizon).await?;
                        table::raise_floor(tx, &tenant.application_id, horizon).await?;
                    }
                    Ok::<_, anyhow::Error>(())
                })
            })
            .await?;
    }
    Ok(())
}
