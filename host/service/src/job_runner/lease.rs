//! The lease of a host: a row that the host renews every two seconds and that is valid for eight. A host whose lease has expired counts as
//! dead; the others check for that every second, and take over its jobs. Leases use the time of the database's clock
//! (`app::database_clock`).
//!
//! On SQLite there is only one host, as the lock beside the file ensures: it takes over all jobs of earlier processes when it starts, and
//! renews nothing.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use anyhow::Result;
use base::error::is_outage;
use base::ids::Kind;
use futures::future::BoxFuture;
use storage::Tx;
use storage::hosts::{self, Host, LEASE_MS};
use storage::lane::Lane;
use storage::lost_jobs;
use storage::outbox;

use crate::app::App;
use crate::app::database_clock;
use crate::app::running_claims::CLAIM_LEASE_MS;

/// Creates required jobs that are missing, in the caller's transaction; the argument is the current time, ms since 1970. Returns the number
/// of jobs that were queued again for work without a job.
pub type EnsureJobs = for<'t> fn(&'t mut Tx, i64) -> BoxFuture<'t, Result<u64>>;

/// Interval between renewals of the lease.
const RENEW_EVERY: Duration = Duration::from_secs(2);
/// Time limit of one renewal. After it, the renewal is retried while the lease is valid.
const RENEWAL_TAKES_AT_MOST: Duration = Duration::from_secs(4);
/// Interval between checks of the other hosts.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Number of checks between two sweeps for jobs that no host runs any more.
const LOOKS_BETWEEN_SWEEPS: u32 = 60;
/// Maximum time that a message without a job may be overdue and still get one, ms: shorter than the retention of failed and cancelled jobs.
const ADOPTED_WITHIN_MS: i64 = 5 * 86_400_000;
/// Maximum messages that get a job at a time.
const ADOPTED_AT_A_TIME: i64 = 1_000;
/// Interval between renewals of requests' claims, and the age from which claims are renewed.
const RENEW_CLAIMS_EVERY: Duration = Duration::from_secs(20);
/// The last part of a lease, in which the host claims no jobs, ms.
const RESERVE_MS: i64 = 2_000;

/// The lease of this host.
pub struct HostLease {
    id: String,
    /// Milliseconds since 1970.
    valid_until: AtomicI64,
}

impl HostLease {
    /// Takes a lease for this process. On SQLite it also takes over the jobs of earlier hosts.
    pub async fn begin(app: &App) -> Result<HostLease> {
        let now = database_now(app).await?;
        let (is_shared, fresh) = (app.db.is_shared(), app.new_id(Kind::Request));
        let mut host = Host {
            id: app.boot.clone(),
            name: machine_and_process(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: now,
            lease_until: now + LEASE_MS,
        };
        let begun: Result<String> = app
            .db
            .write(move |tx| {
                Box::pin(async move {
                    // A runner that was restarted in the same process may find its own row, and then needs another id.
                    if !hosts::insert(tx, &host).await? {
                        host.id = fresh;
                        hosts::insert(tx, &host).await?;
                    }
                    let others =
                        if is_shared { Vec::new() } else { hosts::expired(&mut *tx, i64::MAX).await? };
                    for other in others.iter().filter(|other| **other != host.id) {
                        hosts::remove(tx, other).await?;
                        lost_jobs::requeue_of(tx, other, now).await?;
                    }
                    Ok(host.id)
                })
            })
            .await;
        let (id, valid_until) = (begun?, if is_shared { now + LEASE_MS } else { i64::MAX });
        app.presence.begin(&id, valid_until);
        Ok(HostLease { id, valid_until: AtomicI64::new(valid_until) })
    }

    /// The host's id, which its claims store as their owner.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether the lease is valid for long enough that a job may be claimed.
    pub fn may_claim(&self, app: &App) -> bool {
        self.valid_until.load(Ordering::Acquire) - RESERVE_MS > app.now()
    }

    /// Renews the lease, takes over jobs of dead hosts, and creates missing jobs of `required`. Returns when the lease is lost: another
    /// host may run this host's jobs by then.
    pub async fn keep(&self, app: &App, required: &[EnsureJobs]) {
        tokio::select! {
            () = self.renew_until_lost(app), if app.db.is_shared() => {}
            () = self.renew_claims(app), if app.db.is_shared() => {}
            () = look_after_others(app, &self.id, required) => {}
        }
    }

    /// Releases the jobs of this host. The lease continues.
    pub async fn give_back(&self, app: &App) -> Result<()> {
        let (id, now) = (self.id.clone(), app.now());
        let released: Result<u64> =
            app.db.write(move |tx| Box::pin(async move { lost_jobs::release(tx, &id, now).await })).await;
        let released = released?;
        tracing::debug!(jobs = released, "jobs that had not ended were given back");
        Ok(())
    }

    /// Renews the lease until no request of this process has a claim of an Idempotency-Key, because other hosts take over such claims
    /// without a lease. Then ends the lease.
    pub async fn end_after_requests(&self, app: &App) -> Result<()> {
        tokio::select! {
            biased;
            () = app.claims.idle() => {}
            () = self.renew_until_lost(app), if app.db.is_shared() => {}
            () = self.renew_claims(app), if app.db.is_shared() => {}
        }
        self.end(app).await
    }

    /// Ends the lease, and releases the jobs of this host.
    pub async fn end(&self, app: &App) -> Result<()> {
        let (id, now) = (self.id.clone(), app.now());
        let released: Result<u64> = app
            .db
            .write(move |tx| {
                Box::pin(async move {
                    hosts::remove(tx, &id).await?;
                    lost_jobs::release(tx, &id, now).await
                })
            })
            .await;
        app.presence.end();
        let released = released?;
        tracing::debug!(jobs = released, "jobs that had not ended were given back");
        Ok(())
    }

    /// Renews the claims of long requests, at first of all requests, since their claims may name a lease that was lost. Never returns.
    async fn renew_claims(&self, app: &App) {
        let lease_ms = i64::try_from(CLAIM_LEASE_MS).unwrap_or(i64::MAX);
        let mut after = Duration::ZERO;
        loop {
            let renewed = app.claims.renew(after, &self.id, app.now().saturating_add(lease_ms)).await;
            match renewed {
                Ok(()) => {
                    after = RENEW_CLAIMS_EVERY;
                    tokio::time::sleep(RENEW_CLAIMS_EVERY).await;
                }
                Err(e) => {
                    if !is_outage(&e) {
                        tracing::warn!(error = %format!("{e:#}"), "claims of Idempotency-Keys cannot be renewed");
                    }
                    tokio::time::sleep(LOOK_EVERY).await;
                }
            }
        }
    }

    async fn renew_until_lost(&self, app: &App) {
        loop {
            tokio::time::sleep(RENEW_EVERY).await;
            while let Err(e) = self.renew(app).await {
                if !is_outage(&e) {
                    tracing::warn!(error = %format!("{e:#}"), "the lease of this host cannot be renewed");
                }
                if self.valid_until.load(Ordering::Acquire) <= app.now() {
                    break;
                }
                tokio::time::sleep(LOOK_EVERY).await;
            }
            if self.valid_until.load(Ordering::Acquire) <= app.now() {
                tracing::error!(
                    "this host has lost its lease: it drops its running jobs and takes a new lease"
                );
                return;
            }
        }
    }

    /// Renews the lease once. A lease that another host has ended is lost.
    async fn renew(&self, app: &App) -> Result<()> {
        let renewal = async {
            let (id, now) = (self.id.clone(), database_now(app).await?);
            let until = now + LEASE_MS;
            let is_valid: Result<bool> = app
                .db
                .write(move |tx| Box::pin(async move { hosts::renew(tx, &id, now, until).await }))
                .await;
            anyhow::Ok(if is_valid? { until } else { i64::MIN + RESERVE_MS })
        };
        let renewal = Lane::lease().scope(renewal);
        let until = tokio::time::timeout(RENEWAL_TAKES_AT_MOST, renewal).await??;
        self.valid_until.store(until, Ordering::Release);
        app.presence.set_lease(until);
        Ok(())
    }
}

/// Takes over jobs of hosts whose lease has expired, and regularly sweeps for jobs that no host runs any more. Never returns.
async fn look_after_others(app: &App, own: &str, required: &[EnsureJobs]) {
    let mut looks = 0_u32;
    loop {
        if looks.is_multiple_of(LOOKS_BETWEEN_SWEEPS)
            && let Err(e) = sweep(app, own, required).await
            && !is_outage(&e)
        {
            tracing::warn!(error = %format!("{e:#}"), "jobs that no host runs cannot be queried");
        }
        tokio::time::sleep(LOOK_EVERY).await;
        looks = looks.wrapping_add(1);
        if app.db.is_shared()
            && let Err(e) = take_over(app).await
            && !is_outage(&e)
        {
            tracing::warn!(error = %format!("{e:#}"), "hosts with an expired lease cannot be queried");
        }
    }
}

/// Takes over the jobs of hosts whose lease has expired by the database's clock. Returns the number of jobs that are queued again.
pub async fn take_over(app: &App) -> Result<u64> {
    let now = database_now(app).await?;
    let mut all = 0;
    for id in hosts::expired(app.db.reader(), now).await? {
        let of = id.clone();
        let taken: Result<Option<u64>> =
            app.db.write(move |tx| Box::pin(async move { lost_jobs::take_over(tx, &of, now).await })).await;
        if let Some(taken) = taken? {
            tracing::warn!(host = %id, jobs = taken, "took over the jobs of a host whose lease has expired");
            app.metrics.takeovers.inc_by(taken);
            all += taken;
        }
    }
    if all > 0 {
        app.db.wakes().wake_all();
    }
    Ok(all)
}

/// Queues jobs of hosts without a row, and jobs of this host whose end was not written; creates required jobs that are missing.
async fn sweep(app: &App, own: &str, required: &[EnsureJobs]) -> Result<()> {
    let (own, required, now) = (own.to_owned(), required.to_vec(), app.now());
    let queued: Result<u64> = app
        .db
        .write(move |tx| {
            Box::pin(async move {
                let lost = lost_jobs::requeue_orphans(tx, now).await?
                    + lost_jobs::requeue_overdue(tx, &own, now).await?;
                let due = (now - ADOPTED_WITHIN_MS, now);
                let messages = outbox::adopt(tx, due, ADOPTED_AT_A_TIME).await?;
                let mut missing = 0;
                for ensure in required {
                    missing += ensure(tx, now).await?;
                }
                Ok(lost + messages + missing)
            })
        })
        .await;
    let queued = queued?;
    if queued > 0 {
        tracing::warn!(
            jobs = queued,
            "jobs are queued again that no host runs any more, or that were missing"
        );
        app.db.wakes().wake_all();
    }
    Ok(())
}

/// Returns the database's time, and sets this host's clock by it, because leases are judged by that clock.
async fn database_now(app: &App) -> Result<i64> {
    database_clock::follow(&app.db, &app.clock, &app.clock_deviation).await
}

/// Returns the name of this process for operators: machine name and process id.
fn machine_and_process() -> String {
    let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    format!("{}/{}", machine.trim(), std::process::id())
}
