//! What is no longer needed goes: the data of connections that were deleted, and what is older than it is kept. In steps of a bounded number
//! of rows, each a transaction of its own, so that other writes have their turn in between. Steps do no harm when they are repeated.

use std::time::Duration;

use anyhow::Result;
use futures::future::BoxFuture;
use storage::retention::{expire, purge};
use storage::webhooks::cleaning;
use storage::{Tx, api_keys, authorizations, items, job_admin, log, token_grants};

use crate::app::App;
use crate::usage;

/// Most rows that one step changes.
pub const STEP: i64 = 500;

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;
/// The log is kept this long, and with it tombstones and empty threads (RFC 8620, section 5.2, has servers tell changes for 30 days).
const LOG_MS: i64 = 30 * DAY_MS;
/// Idempotent answers are kept this long.
const IDEMPOTENCY_MS: i64 = 48 * HOUR_MS;
/// What became of a message that was sent is kept this long after the last news of it: as long as it is tracked, and a month.
const OUTBOX_MS: i64 = crate::tracking::LIFETIME_MS + 30 * DAY_MS;
/// A tracking record is kept this long after it stopped counting.
const TRACKING_MS: i64 = 30 * DAY_MS;
/// Names that items had at their provider are kept this long: longer than any page is under way.
const FORMER_NAMES_MS: i64 = 24 * HOUR_MS;
/// Authorization requests are kept this long after they were made, so that a code that is used again is recognised.
const AUTHORIZATIONS_MS: i64 = 24 * HOUR_MS;
/// Jobs that failed or were cancelled are kept this long.
const ENDED_JOBS_MS: i64 = 30 * DAY_MS;
/// Access tokens that expired.
const TOKENS_MS: i64 = HOUR_MS;
/// Grants that can be used no more.
const GRANTS_MS: i64 = 7 * DAY_MS;
/// Deliveries to webhooks are kept this long after they arrived.
const DELIVERED_MS: i64 = 72 * HOUR_MS;
/// Counts of requests are kept this long: any year of which the last day is in the last year.
const USAGE_MS: i64 = 2 * 366 * DAY_MS;

/// How often the loop looks for deleted connections.
const TICK: Duration = Duration::from_secs(1);
/// Ticks between clean-ups.
const CLEAN_EVERY: u64 = 600;
/// Connections that one look finds.
const BATCH: i64 = 20;
/// A host that stopped in the middle has its work taken over after this time.
const LEASE_MS: i64 = 60_000;

/// Runs until `stop` resolves.
pub async fn run(app: App, mut stop: tokio::sync::watch::Receiver<bool>) {
    let mut ticks = 0_u64;
    while !*stop.borrow() {
        if let Err(e) = purge(&app).await {
            tracing::error!(error = %format!("{e:#}"), "data of a deleted connection could not be removed; it is tried again");
        }
        if ticks.is_multiple_of(CLEAN_EVERY)
            && let Err(e) = clean(&app).await
        {
            tracing::error!(error = %format!("{e:#}"), "the clean-up failed; it is tried again");
        }
        ticks += 1;
        tokio::select! {
            () = tokio::time::sleep(TICK) => {}
            _ = stop.changed() => {}
        }
    }
}

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    pub steps: u64,
    pub rows: i64,
    /// Rows of the largest step.
    pub largest: i64,
}

impl Removed {
    fn add(&mut self, rows: i64) {
        self.steps += 1;
        self.rows += rows;
        self.largest = self.largest.max(rows);
    }
}

/// Removes the data of deleted connections, all that this host may work on.
pub async fn purge(app: &App) -> Result<Removed> {
    let mut removed = Removed::default();
    while let Some(rows) = purge_step(app).await? {
        removed.add(rows);
    }
    Ok(removed)
}

/// One step of it: how many rows it removed. None: there is nothing to do.
pub async fn purge_step(app: &App) -> Result<Option<i64>> {
    // Where nobody else can be at work, whoever had it before is gone.
    let now = if app.db.is_shared() { app.now() } else { i64::MAX };
    for connection_id in purge::due(app.db.reader(), &app.boot, now, BATCH).await? {
        let (by, until) = (app.boot.clone(), app.now() + LEASE_MS);
        let step = app.db.write(move |tx| {
            Box::pin(async move {
                match purge::claim(tx, &connection_id, (&by, now, until)).await? {
                    Some(claimed) => purge::step(tx, claimed, STEP).await.map(Some),
                    None => Ok::<_, anyhow::Error>(None),
                }
            })
        });
        if let Some(rows) = step.await? {
            return Ok(Some(rows));
        }
    }
    Ok(None)
}

/// Forgets what is older than it is kept.
pub async fn clean(app: &App) -> Result<Removed> {
    let (now, mut removed) = (app.now(), Removed::default());
    let all = &mut removed;
    steps(app, all, move |tx| Box::pin(expire::idempotency(tx, now - IDEMPOTENCY_MS, STEP))).await?;
    steps(app, all, move |tx| Box::pin(expire::outbox(tx, now - OUTBOX_MS, STEP))).await?;
    steps(app, all, move |tx| Box::pin(expire::tracking(tx, now - TRACKING_MS, STEP))).await?;
    steps(app, all, move |tx| Box::pin(expire::threads(tx, now - LOG_MS, STEP))).await?;
    steps(app, all, move |tx| Box::pin(authorizations::clean(tx, now - AUTHORIZATIONS_MS, STEP))).await?;
    steps(app, all, move |tx| Box::pin(api_keys::expire_tokens(tx, now - TOKENS_MS, STEP))).await?;
    steps(app, all, move |tx| Box::pin(token_grants::clean(tx, now - GRANTS_MS, STEP))).await?;
    steps(app, all, move |tx| Box::pin(former_sources(tx, now - FORMER_NAMES_MS))).await?;
    steps(app, all, move |tx| Box::pin(departures(tx, now - items::RETURN_MS))).await?;
    steps(app, all, move |tx| Box::pin(cleaning::delivered(tx, now - DELIVERED_MS, STEP))).await?;
    steps(app, all, move |tx| Box::pin(cleaning::given_up(tx, now - LOG_MS, STEP))).await?;
    steps(app, all, move |tx| Box::pin(cleaning::replays(tx, now - LOG_MS, STEP))).await?;
    steps(app, all, move |tx| Box::pin(cleaning::deleted(tx, STEP))).await?;
    steps(app, all, move |tx| Box::pin(job_admin::forget_ended(tx, now - ENDED_JOBS_MS, STEP))).await?;
    for tenant in api_keys::tenants(app.db.reader()).await? {
        let of = tenant.clone();
        steps(app, all, move |tx| {
            let of = of.clone();
            Box::pin(async move {
                let lines = log::forget(tx, &of, now - LOG_MS, STEP).await?;
                Ok(i64::try_from(lines).unwrap_or(i64::MAX))
            })
        })
        .await?;
        let (floor, of) = (log::floor(app.db.reader(), &tenant).await?, tenant.clone());
        steps(app, all, move |tx| {
            let of = of.clone();
            Box::pin(async move { expire::tombstones(tx, &of, floor, STEP).await })
        })
        .await?;
        let of = tenant.clone();
        steps(app, all, move |tx| {
            let (of, before) = (of.clone(), usage::day(now - USAGE_MS));
            Box::pin(async move { expire::usage(tx, &of, &before, STEP).await })
        })
        .await?;
    }
    Ok(removed)
}

async fn former_sources(tx: &mut Tx, before: i64) -> Result<i64> {
    let forgotten = items::forget_former_sources(tx, before, STEP).await?;
    Ok(i64::try_from(forgotten).unwrap_or(i64::MAX))
}

async fn departures(tx: &mut Tx, before: i64) -> Result<i64> {
    let forgotten = items::forget_departures(tx, before, STEP).await?;
    Ok(i64::try_from(forgotten).unwrap_or(i64::MAX))
}

/// Repeats a step, each time in a transaction of its own, until it finds nothing.
async fn steps<F>(app: &App, removed: &mut Removed, step: F) -> Result<()>
where
    F: for<'t> Fn(&'t mut Tx) -> BoxFuture<'t, Result<i64>> + Clone + Send + 'static,
{
    loop {
        let step = step.clone();
        match app.db.write(move |tx| step(tx)).await? {
            0 => return Ok(()),
            rows => removed.add(rows),
        }
    }
}
