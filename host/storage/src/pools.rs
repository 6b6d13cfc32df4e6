//! PostgreSQL's connections: separate pools for the reads of requests, their writes and jobs, and one connection for the host's lease. In
//! each pool an application has a share: however many connections it requests at once, others still get some. A waiter holds no connection,
//! and waits for a limited time.

use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Error, Result};
use compute::named_semaphores::Shares;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions, PgRow};
use sqlx::{PgPool, Postgres, Transaction};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::availability::Availability;
use crate::error::{Outage, OutageKind};
use crate::lane::{Lane, LaneKind};
use crate::postgres;
use crate::reachability::Reachability;
use crate::statement::{Chunk, Query, no_connection};

/// Time that a job waits for a connection, ms: longer than a request, since no caller waits for a job.
const JOBS_ACQUIRE_MS: u64 = 30_000;
/// Time limit of each step of a lease renewal, ms; the lease is valid for longer.
const LEASE_STEP_MS: u64 = 4_000;
/// The planner's `random_page_cost`. Pages that are read often are in memory, and SSDs have no seek time: a page found by an index costs
/// little more than the next one. With the server's default of 4 the planner scans whole tables unnecessarily.
const RANDOM_PAGE_COST: &str = "1.1";
/// The divisor of an application's share of the write connections. Writes of one application wait for each other anyway, for the row that
/// numbers its log.
const SHARE_OF_WRITES: u32 = 3;
/// The divisor of the share for reads, and for jobs.
const SHARE_OF_REST: u32 = 2;

/// Limits of the connections to PostgreSQL, and of the waits for them. SQLite has one writer, and reads on the caller's thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolLimits {
    /// Connections for the reads of requests.
    pub reads: u32,
    /// Connections for the writes of requests.
    pub writes: u32,
    /// Connections for work in the background.
    pub jobs: u32,
    /// Time that a request waits for a connection, ms; then it is refused as `overloaded`.
    pub acquire_ms: u64,
    /// Time that a statement waits for rows that another transaction has locked, ms; then its transaction is rolled back.
    pub lock_ms: u64,
    /// Time limit of a statement, including waits for locks, ms; then its transaction is rolled back. Migrations have no limit.
    pub statement_ms: u64,
    /// Time that a transaction may be idle, ms; then the server closes its connection and releases its locks. The host waits for nothing
    /// outside the database within a transaction, so only a paused or disconnected one takes that long. Behind a pooler that drops
    /// connection options, the database role needs this setting.
    pub idle_ms: u64,
}

impl Default for PoolLimits {
    fn default() -> Self {
        PoolLimits {
            reads: 12,
            writes: 12,
            jobs: 8,
            acquire_ms: 5_000,
            lock_ms: 5_000,
            statement_ms: 15_000,
            idle_ms: 5_000,
        }
    }
}

/// The current use of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolUsage {
    /// `reads`, `writes`, `jobs` or `lease`.
    pub lane: &'static str,
    /// Maximum connections.
    pub most: u32,
    /// Connections that are in use.
    pub in_use: u32,
    /// Callers that wait for a connection, or for their application's share.
    pub waiting: usize,
}

/// The pools of one database. Cheap to clone.
#[derive(Clone)]
pub struct Pools(Arc<All>);

struct All {
    reads: Pool,
    writes: Pool,
    jobs: Pool,
    lease: Pool,
    reachability: Reachability,
    availability: Availability,
}

/// A permit of the application's share; none for work without an application.
type Share = Option<OwnedSemaphorePermit>;

impl Pools {
    /// Opens the pools. Connects once at the start, and retries for the time `within`, so that a wrong address fails here; other
    /// connections are opened when needed. The error names the server.
    pub async fn open(url: &str, limits: &PoolLimits, within: Duration) -> Result<Pools> {
        let to = PgConnectOptions::from_str(url);
        let to = to
            .context("it is no URL: percent-encode the characters # / ? @ of its password")?
            .options([("random_page_cost", RANDOM_PAGE_COST)]);
        let work = [
            ("statement_timeout", limits.statement_ms),
            ("lock_timeout", limits.lock_ms),
            ("idle_in_transaction_session_timeout", limits.idle_ms),
        ];
        let lease = [
            ("statement_timeout", LEASE_STEP_MS),
            ("lock_timeout", LEASE_STEP_MS),
            ("idle_in_transaction_session_timeout", limits.idle_ms),
        ];
        let (to, lease) = (to.clone().options(work), to.options(lease));
        let availability = Availability::new(server_name(&to));
        let reachability = Reachability::new(to.clone(), availability.clone());
        let crowded = reachability.ensure(within).await?;
        let first = pool_options(limits.reads, limits.acquire_ms).min_connections(1).connect_with(to.clone());
        let reads = first.await.with_context(|| match crowded {
            Some(cause) => format!("{} takes no more connections: {cause}", availability.database()),
            None => format!("{} cannot be used", availability.database()),
        })?;
        let writes = pool_options(limits.writes, limits.acquire_ms).connect_lazy_with(to.clone());
        let jobs = pool_options(limits.jobs, JOBS_ACQUIRE_MS).connect_lazy_with(to);
        let lease = pool_options(1, LEASE_STEP_MS).connect_lazy_with(lease);
        Ok(Pools(Arc::new(All {
            reads: Pool::new("reads", reads, SHARE_OF_REST),
            writes: Pool::new("writes", writes, SHARE_OF_WRITES),
            jobs: Pool::new("jobs", jobs, SHARE_OF_REST),
            lease: Pool::new("lease", lease, 1),
            reachability,
            availability,
        })))
    }

    /// The rows of a query that changes nothing: every row, or those up to the query's bytes.
    pub async fn rows(&self, query: Query<'_>) -> Result<Chunk<PgRow>> {
        let lane = Lane::current();
        let pool = match lane.kind() {
            LaneKind::Requests => &self.0.reads,
            LaneKind::Jobs => &self.0.jobs,
            LaneKind::Lease => &self.0.lease,
        };
        let (_share, mut connection) = self.take(pool, &lane, move || pool.pool.acquire()).await?;
        let found = postgres::rows(&mut *connection, query).await;
        self.note_error(found.as_ref().err());
        found
    }

    /// Begins a transaction. The caller holds the share as long as the transaction.
    pub async fn begin(&self) -> Result<(Share, Transaction<'static, Postgres>)> {
        let lane = Lane::current();
        let pool = match lane.kind() {
            LaneKind::Requests => &self.0.writes,
            LaneKind::Jobs => &self.0.jobs,
            LaneKind::Lease => &self.0.lease,
        };
        self.take(pool, &lane, move || pool.pool.begin()).await
    }

    /// Whether the database can be used.
    pub(crate) fn availability(&self) -> &Availability {
        &self.0.availability
    }

    /// Records that an operation failed because of this outage.
    pub(crate) fn note(&self, outage: &Outage) {
        match outage.kind {
            // One lost connection does not mean that the server is unreachable.
            OutageKind::Unreachable => self.0.reachability.suspect(),
            OutageKind::ReadOnly | OutageKind::Full => self.0.availability.note(outage),
        }
    }

    fn note_error(&self, e: Option<&Error>) {
        if let Some(outage) = e.and_then(Outage::from_error) {
            self.note(outage);
        }
    }

    /// Waits for the application's share, and then for `begin`, which takes a connection of this pool: an application that waits for its
    /// own share blocks no other. While the server is unreachable, requests fail at once, and other work waits.
    async fn take<T, F>(&self, pool: &Pool, lane: &Lane, begin: impl Fn() -> F) -> Result<(Share, T)>
    where
        F: Future<Output = sqlx::Result<T>>,
    {
        let _waits = CountGuard::new(&pool.waiting);
        let (deadline, server) = (Instant::now() + pool.acquire_timeout(), &self.0.reachability);
        let share = timeout_at(deadline, lane.share(&pool.shares)).await;
        let no_connection = || no_connection(pool.lane, self.0.availability.is_crowded());
        let share = share.map_err(|_| no_connection())?;
        loop {
            if let Some(outage) = server.outage() {
                let may_wait = lane.kind() != LaneKind::Requests;
                if !may_wait || timeout_at(deadline, server.until_back()).await.is_err() {
                    return Err(outage.into_error());
                }
            }
            let taken = tokio::select! {
                biased;
                taken = begin() => taken,
                () = server.until_gone() => continue,
                () = sleep_until(deadline) => return Err(no_connection()),
            };
            let taken = match taken {
                Err(sqlx::Error::PoolTimedOut) => Err(no_connection()),
                taken => taken.map_err(postgres::failed),
            };
            self.note_error(taken.as_ref().err());
            return taken.map(|taken| (share, taken));
        }
    }

    /// The current use of each pool.
    pub fn usage(&self) -> Vec<PoolUsage> {
        self.all().into_iter().map(Pool::usage).collect()
    }

    /// Waits until all connections were given back and closes them.
    pub async fn close(&self) {
        for pool in self.all() {
            pool.pool.close().await;
        }
    }

    fn all(&self) -> [&Pool; 4] {
        [&self.0.reads, &self.0.writes, &self.0.jobs, &self.0.lease]
    }
}

/// The server's name in messages, without user and password: `PostgreSQL at db.internal:5432`.
fn server_name(to: &PgConnectOptions) -> String {
    match to.get_socket() {
        Some(socket) => format!("PostgreSQL at {}", socket.display()),
        None => format!("PostgreSQL at {}:{}", to.get_host(), to.get_port()),
    }
}

fn pool_options(most: u32, acquire_ms: u64) -> PgPoolOptions {
    PgPoolOptions::new().max_connections(most.max(1)).acquire_timeout(Duration::from_millis(acquire_ms))
}

/// Connections of one lane.
struct Pool {
    lane: &'static str,
    pool: PgPool,
    shares: Shares,
    /// Number of waiting callers.
    waiting: AtomicUsize,
}

impl Pool {
    /// Creates a lane in which each application gets at most one `share`-th of the connections.
    fn new(lane: &'static str, pool: PgPool, share: u32) -> Pool {
        let permits = (pool.options().get_max_connections() / share).max(1);
        let shares = Shares::new(usize::try_from(permits).unwrap_or(1));
        Pool { lane, pool, shares, waiting: AtomicUsize::new(0) }
    }

    /// How long work waits for a connection.
    fn acquire_timeout(&self) -> Duration {
        self.pool.options().get_acquire_timeout()
    }

    fn usage(&self) -> PoolUsage {
        let idle = u32::try_from(self.pool.num_idle()).unwrap_or(u32::MAX);
        PoolUsage {
            lane: self.lane,
            most: self.pool.options().get_max_connections(),
            in_use: self.pool.size().saturating_sub(idle),
            waiting: self.waiting.load(Ordering::Relaxed),
        }
    }
}

/// Counts one in a number for as long as this guard exists.
pub(crate) struct CountGuard<'a>(&'a AtomicUsize);

impl<'a> CountGuard<'a> {
    pub(crate) fn new(number: &'a AtomicUsize) -> CountGuard<'a> {
        number.fetch_add(1, Ordering::Relaxed);
        CountGuard(number)
    }
}

impl Drop for CountGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
