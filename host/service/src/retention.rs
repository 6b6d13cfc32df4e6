//! Retention: deletes the data of deleted connections, and expired data. Each step deletes a limited number of rows in its own transaction,
//! so that other writes run in between. Repeating a step is harmless.

use std::time::Duration;

use anyhow::Result;
use base::tenant::Tenant;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use storage::jobs::{self, Job};
use storage::retention::{expire, purge};
use storage::scheduling::{erasure, links, made, notices};
use storage::webhooks::cleaning;
use storage::{
    Tx, api_keys, audit_log, authorizations, items, job_admin, log, old_secrets, operator_links,
    operator_sessions, request_log, sign_in_failures, token_grants,
};
use tokio::time::Instant;

use crate::app::request_log::writing::{KEPT_BODIES, KEPT_ENTRIES};
use crate::app::{App, usage};

/// Maximum rows that one step changes.
pub const ROWS_PER_STEP: i64 = 500;

const HOUR: Duration = Duration::from_secs(3_600);
const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;
/// Retention of idempotent responses, ms.
const IDEMPOTENCY_MS: i64 = 48 * HOUR_MS;
/// Retention of a sent message's result after its last change, ms: the time for which it is tracked, plus a month.
const OUTBOX_MS: i64 = crate::tracking::LIFETIME_MS + 30 * DAY_MS;
/// Retention of a tracking record after it stopped counting, ms.
const TRACKING_MS: i64 = 30 * DAY_MS;
/// Retention of former provider ids of items, ms: longer than any page of a pull is in progress.
const FORMER_NAMES_MS: i64 = 24 * HOUR_MS;
/// Retention of authorization requests after their creation, ms: reuse of a code is recognized until then.
const AUTHORIZATIONS_MS: i64 = 24 * HOUR_MS;
/// Retention of failed and cancelled jobs, ms.
const ENDED_JOBS_MS: i64 = 30 * DAY_MS;
/// Retention of expired access tokens, ms.
const TOKENS_MS: i64 = HOUR_MS;
/// Retention of unusable grants, ms.
const GRANTS_MS: i64 = 7 * DAY_MS;
/// Retention of successful webhook deliveries, ms.
const DELIVERED_MS: i64 = 72 * HOUR_MS;
/// Retention of addresses that bookings were mailed to, ms: the period over which they are counted.
const MAILED_ADDRESSES_MS: i64 = HOUR_MS;
/// Retention of reserved times after their end, ms.
const RESERVED_MS: i64 = 24 * HOUR_MS;
/// Retention of personal data of a booking's invitee and guests after its end, ms.
const INVITEES_MS: i64 = 395 * DAY_MS;
/// Bookings without such a period are kept this long after their end.
const BOOKINGS_MS: i64 = 2 * 366 * DAY_MS;
/// Retention of unusable links after their expiry or last use, ms.
const LINKS_MS: i64 = 30 * DAY_MS;
/// Retention of request counts, ms: any year whose last day is in the past year stays complete.
const USAGE_MS: i64 = 2 * 366 * DAY_MS;
/// Retention of units of providers' quotas, ms: some rows for each connection and day.
const UNITS_MS: i64 = 93 * DAY_MS;

/// Retention of failed sign-ins after the last one, ms: longer than the longest wait that they cause.
const SIGN_IN_TRIES_MS: i64 = HOUR_MS;
/// Retention of the audit log, ms.
const AUDIT_MS: i64 = 400 * DAY_MS;

/// The number of deleted rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RemovedRows {
    pub steps: u64,
    pub rows: i64,
    /// Rows of the step that removed the most.
    pub largest: i64,
}

impl RemovedRows {
    fn add(&mut self, rows: i64) {
        self.steps += 1;
        self.rows += rows;
        self.largest = self.largest.max(rows);
    }
}

/// The times that steps use.
#[derive(Clone, Copy)]
struct RetentionTimes {
    /// The current time, ms since 1970.
    now: i64,
    /// Retention of the log, and with it of tombstones and empty threads, ms (RFC 8620, section 5.2, has servers report changes for 30
    /// days).
    log: i64,
    /// Retention of the request log, ms.
    request_log: i64,
}

impl RetentionTimes {
    fn from_app(app: &App) -> RetentionTimes {
        let (log, request_log) = (app.config.events_ms(), app.config.request_log_ms());
        RetentionTimes { now: app.now(), log, request_log }
    }

    /// Log entries older than this time are deleted.
    fn before_log(self) -> i64 {
        self.now.saturating_sub(self.log)
    }

    /// Request log entries older than this time are deleted.
    fn before_request_log(self) -> i64 {
        self.now.saturating_sub(self.request_log)
    }
}

/// A step over all applications' rows.
type OfAll = for<'t> fn(&'t mut Tx, RetentionTimes) -> BoxFuture<'t, Result<i64>>;
/// A step over one application's rows.
type OfOne = for<'t> fn(&'t mut Tx, &'t Tenant, RetentionTimes) -> BoxFuture<'t, Result<i64>>;

/// A kind of data that expires and is deleted in steps. Each has its own job: a failure does not hold up the others.
pub struct Sweep {
    /// The key of its job.
    pub name: &'static str,
    step: RetentionStep,
}

/// A step that removes at most `ROWS_PER_STEP` rows and returns how many.
#[derive(Clone, Copy)]
enum RetentionStep {
    All(OfAll),
    One(OfOne),
}

const fn all(name: &'static str, step: OfAll) -> Sweep {
    Sweep { name, step: RetentionStep::All(step) }
}

const fn one(name: &'static str, step: OfOne) -> Sweep {
    Sweep { name, step: RetentionStep::One(step) }
}

/// All kinds of data that expire.
pub static SWEEPS: [Sweep; 31] = [
    all("idempotency", |tx, at| Box::pin(expire::idempotency(tx, at.now - IDEMPOTENCY_MS, ROWS_PER_STEP))),
    all("outbox", |tx, at| Box::pin(expire::outbox(tx, at.now - OUTBOX_MS, ROWS_PER_STEP))),
    all("tracking", |tx, at| Box::pin(expire::tracking(tx, at.now - TRACKING_MS, ROWS_PER_STEP))),
    all("threads", |tx, at| Box::pin(expire::threads(tx, at.before_log(), ROWS_PER_STEP))),
    all("authorizations", |tx, at| {
        Box::pin(authorizations::clean(tx, at.now - AUTHORIZATIONS_MS, ROWS_PER_STEP))
    }),
    all("access_tokens", |tx, at| Box::pin(api_keys::expire_tokens(tx, at.now - TOKENS_MS, ROWS_PER_STEP))),
    all("token_grants", |tx, at| Box::pin(token_grants::clean(tx, at.now - GRANTS_MS, ROWS_PER_STEP))),
    all("former_sources", |tx, at| Box::pin(former_sources(tx, at.now - FORMER_NAMES_MS))),
    all("departures", |tx, at| Box::pin(departures(tx, at.now - items::RETURN_MS))),
    all("delivered", |tx, at| Box::pin(cleaning::delivered(tx, at.now - DELIVERED_MS, ROWS_PER_STEP))),
    all("given_up", |tx, at| Box::pin(cleaning::given_up(tx, at.before_log(), ROWS_PER_STEP))),
    all("replays", |tx, at| Box::pin(cleaning::replays(tx, at.before_log(), ROWS_PER_STEP))),
    all("webhooks", |tx, _| Box::pin(cleaning::deleted(tx, ROWS_PER_STEP))),
    all("booking_addresses", |tx, at| {
        Box::pin(made::forget(tx, at.now - MAILED_ADDRESSES_MS, ROWS_PER_STEP))
    }),
    all("reserved_times", |tx, at| {
        Box::pin(erasure::reserved_times(tx, at.now - RESERVED_MS, ROWS_PER_STEP))
    }),
    all("invitees", |tx, at| Box::pin(erasure::people(tx, (at.now - INVITEES_MS, at.now), ROWS_PER_STEP))),
    all("booking_links", |tx, at| Box::pin(links::forget(tx, at.now - LINKS_MS, ROWS_PER_STEP))),
    all("booking_notices", |tx, at| Box::pin(notices::forget(tx, at.now - notices::KEPT_MS, ROWS_PER_STEP))),
    all("bookings", |tx, at| Box::pin(erasure::bookings(tx, at.now - BOOKINGS_MS, ROWS_PER_STEP))),
    all("jobs", |tx, at| Box::pin(job_admin::forget_ended(tx, at.now - ENDED_JOBS_MS, ROWS_PER_STEP))),
    all("old_secrets", |tx, at| Box::pin(old_secrets::expire(tx, at.now, ROWS_PER_STEP))),
    all("operator_sessions", |tx, at| Box::pin(operator_sessions::expire(tx, at.now, ROWS_PER_STEP))),
    all("operator_links", |tx, at| Box::pin(operator_links::expire(tx, at.now, ROWS_PER_STEP))),
    all("sign_in_failures", |tx, at| {
        Box::pin(sign_in_failures::expire(tx, at.now - SIGN_IN_TRIES_MS, ROWS_PER_STEP))
    }),
    all("audit_log", |tx, at| Box::pin(audit_log::expire(tx, at.now - AUDIT_MS, ROWS_PER_STEP))),
    all("request_log", |tx, at| Box::pin(request_log::expire(tx, at.before_request_log(), ROWS_PER_STEP))),
    all("request_bodies", |tx, at| {
        Box::pin(request_log::expire_bodies(tx, at.before_request_log(), ROWS_PER_STEP))
    }),
    one("request_log_size", |tx, of, _| Box::pin(oldest_requests(tx, of))),
    one("log", |tx, of, at| Box::pin(lines(tx, of, at.before_log()))),
    one("tombstones", |tx, of, _| Box::pin(tombstones(tx, of))),
    one("usage", |tx, of, at| Box::pin(old_usage(tx, of, at.now))),
];

/// Finds the sweep with this name.
pub fn sweep(name: &str) -> Option<&'static Sweep> {
    SWEEPS.iter().find(|sweep| sweep.name == name)
}

impl Sweep {
    /// Repeats its step until nothing is left, or until the time is over. With a job, each step is committed only while this host owns the
    /// job, and the next run continues with the application at which this one stopped. Returns the removed rows, and whether nothing is
    /// left.
    pub async fn run(&self, app: &App, job: Option<&Job>, until: Instant) -> Result<(RemovedRows, bool)> {
        let mut removed = RemovedRows::default();
        match self.step {
            RetentionStep::All(step) => {
                let is_over = steps(app, &mut removed, until, job, None, Due::All(step)).await?;
                Ok((removed, is_over))
            }
            RetentionStep::One(step) => {
                let tenants = from(job, api_keys::tenants(app.db.reader()).await?);
                let mut rest = tenants.into_iter().peekable();
                while let Some(tenant) = rest.next() {
                    // After the last one the next run begins with the first.
                    let done = rest.peek().map_or("", |_| tenant.application_id.as_str());
                    let progress = json!({ "after": done }).to_string();
                    let due = Due::One(step, tenant);
                    if !steps(app, &mut removed, until, job, Some(progress), due).await? {
                        return Ok((removed, false));
                    }
                }
                Ok((removed, true))
            }
        }
    }
}

/// The target of a run's steps: all rows, or those of one connection.
#[derive(Clone)]
enum Due {
    All(OfAll),
    One(OfOne, Tenant),
}

impl Due {
    async fn step(&self, tx: &mut Tx, at: RetentionTimes) -> Result<i64> {
        match self {
            Due::All(step) => step(tx, at).await,
            Due::One(step, of) => step(tx, of, at).await,
        }
    }
}

/// Returns the applications still to be processed, by id, starting where the previous run stopped.
fn from(job: Option<&Job>, tenants: Vec<Tenant>) -> Vec<Tenant> {
    let progress = job.and_then(|job| serde_json::from_str::<Value>(job.progress.as_deref()?).ok());
    let after = progress.as_ref().and_then(|progress| progress["after"].as_str()).unwrap_or_default();
    let first = tenants.iter().position(|tenant| tenant.application_id.as_str() > after);
    // If no application is left after it, the run begins with the first.
    tenants.into_iter().skip(first.unwrap_or(0)).collect()
}

/// Repeats a step, each time in a new transaction, until it finds nothing; that step stores `progress`. Returns false if the time was over
/// first.
async fn steps(
    app: &App,
    removed: &mut RemovedRows,
    until: Instant,
    job: Option<&Job>,
    progress: Option<String>,
    due: Due,
) -> Result<bool> {
    while Instant::now() < until {
        let (due, job, progress, at) =
            (due.clone(), job.cloned(), progress.clone(), RetentionTimes::from_app(app));
        let rows: Result<i64> = app
            .db
            .write(move |tx| {
                Box::pin(async move {
                    let rows = due.step(tx, at).await?;
                    if let Some(job) = &job {
                        jobs::check_fence(tx, job, progress.as_deref().filter(|_| rows == 0), at.now).await?;
                    }
                    Ok(rows)
                })
            })
            .await;
        match rows? {
            0 => return Ok(true),
            rows => removed.add(rows),
        }
    }
    Ok(false)
}

/// Deletes everything that has expired, at once and in the caller's task.
pub async fn clean(app: &App) -> Result<RemovedRows> {
    let mut all = RemovedRows::default();
    for sweep in &SWEEPS {
        let (removed, _) = sweep.run(app, None, Instant::now() + HOUR).await?;
        all.steps += removed.steps;
        all.rows += removed.rows;
        all.largest = all.largest.max(removed.largest);
    }
    Ok(all)
}

/// Runs one step of removing a connection's data for its job; the last step ends the job. Returns whether it has ended.
pub async fn purge_step(app: &App, job: &Job) -> Result<bool> {
    let (job, now) = (job.clone(), app.now());
    app.db
        .write(move |tx| {
            Box::pin(async move {
                let is_over = match purge::find(&mut *tx, job.key()).await? {
                    None => true,
                    Some(purge) => purge::step(tx, purge, ROWS_PER_STEP).await?.is_last,
                };
                match is_over {
                    true => jobs::complete(tx, &job, now).await?,
                    false => jobs::check_fence(tx, &job, None, now).await?,
                }
                Ok(is_over)
            })
        })
        .await
}

async fn lines(tx: &mut Tx, of: &Tenant, before: i64) -> Result<i64> {
    let forgotten = expire::log(tx, of, before, ROWS_PER_STEP).await?;
    Ok(i64::try_from(forgotten).unwrap_or(i64::MAX))
}

async fn tombstones(tx: &mut Tx, of: &Tenant) -> Result<i64> {
    let floor = log::floor(&mut *tx, of).await?;
    expire::tombstones(tx, of, floor, ROWS_PER_STEP).await
}

async fn oldest_requests(tx: &mut Tx, of: &Tenant) -> Result<i64> {
    let id = &of.application_id;
    match request_log::trim_bodies(tx, id, KEPT_BODIES, ROWS_PER_STEP).await? {
        0 => request_log::trim(tx, id, KEPT_ENTRIES, ROWS_PER_STEP).await,
        removed => Ok(removed),
    }
}

async fn old_usage(tx: &mut Tx, of: &Tenant, now: i64) -> Result<i64> {
    match expire::usage(tx, of, &usage::day(now - USAGE_MS), ROWS_PER_STEP).await? {
        0 => expire::provider_units(tx, of, &usage::day(now - UNITS_MS), ROWS_PER_STEP).await,
        removed => Ok(removed),
    }
}

async fn former_sources(tx: &mut Tx, before: i64) -> Result<i64> {
    let forgotten = items::forget_former_sources(tx, before, ROWS_PER_STEP).await?;
    Ok(i64::try_from(forgotten).unwrap_or(i64::MAX))
}

async fn departures(tx: &mut Tx, before: i64) -> Result<i64> {
    let forgotten = items::forget_departures(tx, before, ROWS_PER_STEP).await?;
    Ok(i64::try_from(forgotten).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use storage::jobs::Fence;

    use super::*;

    fn tenant(id: &str) -> Tenant {
        Tenant { organization_id: "org".into(), application_id: id.into() }
    }

    fn job(progress: Option<&str>) -> Job {
        Job {
            id: "clean:log".into(),
            kind: "clean".into(),
            tenant: tenant(""),
            connection_id: None,
            state: "running".into(),
            due_at: Some(0),
            again_at: None,
            attempts: 1,
            crashes: 0,
            fence: Fence::random(&base::clock::Entropy::seeded(1)),
            owner: None,
            args: None,
            progress: progress.map(str::to_owned),
            last_error: None,
            done_at: None,
            is_slow: false,
        }
    }

    #[test]
    fn a_turn_goes_on_with_the_application_after_the_last() {
        let left = |progress: Option<&str>| -> Vec<String> {
            let left = from(Some(&job(progress)), ["a", "c", "e"].map(tenant).to_vec());
            left.into_iter().map(|tenant| tenant.application_id).collect()
        };
        assert_eq!(left(None), ["a", "c", "e"]);
        assert_eq!(left(Some(r#"{"after":""}"#)), ["a", "c", "e"]);
        assert_eq!(left(Some(r#"{"after":"b"}"#)), ["c", "e"], "it was deleted in the meantime");
        assert_eq!(left(Some(r#"{"after":"c"}"#)), ["e"]);
        assert_eq!(left(Some(r#"{"after":"e"}"#)), ["a", "c", "e"], "those after it are gone");
        assert_eq!(left(Some("no JSON")), ["a", "c", "e"]);
    }
}
