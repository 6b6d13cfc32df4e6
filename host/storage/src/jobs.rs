//! Background jobs: due time, owner and last result. Table: `migrations/0050_jobs.sql`.
//!
//! A host takes a job by a claim, which writes a random fence into the row. A transaction that writes a result names the fence: if another
//! host has claimed the job since, nothing is written.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Error, Result};
use base::clock::Entropy;
use base::tenant::Tenant;
use serde_json::json;

use crate::Tx;
use crate::dialect::{insert_rows, unlocked_among};
use crate::sql::{On, Reader, Row, query};
use crate::statement_rows::{self, RowValues};
use crate::transaction::{self, LockRank};
use crate::wakes::JobClass;

/// The identity of a claim. Random, because a counter could repeat when a claim is lost in a crash of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence(pub(crate) i64);

impl Fence {
    /// Returns a new fence: 63 random bits, and never 0, which stands for an unclaimed job.
    pub fn random(entropy: &Entropy) -> Fence {
        Fence((i64::from_be_bytes(entropy.bytes::<8>()) & i64::MAX).max(1))
    }
}

/// The text form, for rows of other tables that store it.
impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The error of a result whose fence is no longer the job's. The transaction must be rolled back; nothing else is needed: another host has
/// the job, or it was cancelled.
#[derive(Debug)]
pub struct LostLease;

impl fmt::Display for LostLease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the job is no longer this host's")
    }
}

impl std::error::Error for LostLease {}

/// A job to be enqueued; its id is `<kind>:<key>`.
#[derive(Clone, Copy, Debug)]
pub struct NewJob<'a> {
    pub kind: &'a str,
    /// The object of the job's work; unique within the kind.
    pub key: &'a str,
    pub class: JobClass,
    /// The tenant of the work; both ids are empty for work of the installation.
    pub tenant: &'a Tenant,
    pub connection_id: Option<&'a str>,
    /// host:port of the provider or of the receiver; empty where there is none.
    pub target: &'a str,
    /// Milliseconds since 1970. None: the job is parked until it is enqueued with a time.
    pub due_at: Option<i64>,
    /// JSON, at most 1 KiB.
    pub args: Option<&'a str>,
}

/// A row of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    pub id: String,
    pub kind: String,
    pub tenant: Tenant,
    pub connection_id: Option<String>,
    /// `queued`, `running`, `failed` or `cancelled`.
    pub state: String,
    pub due_at: Option<i64>,
    /// When the job is due again, if it was woken during its run.
    pub again_at: Option<i64>,
    /// Claims since the last success, including this one.
    pub attempts: i64,
    /// Hosts that were lost during its run, without progress in between.
    pub crashes: i64,
    pub fence: Fence,
    /// The host that runs it.
    pub owner: Option<String>,
    /// JSON.
    pub args: Option<String>,
    /// JSON: the progress that `check_fence` last stored.
    pub progress: Option<String>,
    /// JSON: `{code, message, at}`.
    pub last_error: Option<String>,
    /// When the last successful run began, in milliseconds since 1970: the work of the job was done as of then.
    pub done_at: Option<i64>,
    /// Whether its runs take long.
    pub is_slow: bool,
}

impl Job {
    /// The key: the job's id without the kind.
    pub fn key(&self) -> &str {
        self.id.split_once(':').map_or("", |(_, key)| key)
    }
}

/// The job of a row with all columns.
pub(crate) fn job(row: &Row<'_>) -> Result<Job> {
    Ok(Job {
        id: row.get("id")?,
        kind: row.get("kind")?,
        tenant: Tenant {
            organization_id: row.get("organization_id")?,
            application_id: row.get("application_id")?,
        },
        connection_id: row.get("connection_id")?,
        state: row.get("state")?,
        due_at: row.get("due_at")?,
        again_at: row.get("again_at")?,
        attempts: row.get("attempts")?,
        crashes: row.get("crashes")?,
        fence: Fence(row.get("fence")?),
        owner: row.get("owner")?,
        args: row.get("args")?,
        progress: row.get("progress")?,
        last_error: row.get("last_error")?,
        done_at: row.get("done_at")?,
        is_slow: row.get::<i64>("is_slow")? != 0,
    })
}

/// The statement that inserts jobs.
macro_rules! insert_jobs {
    ($tx:expr, $after:literal) => {
        insert_rows!(
            $tx,
            "jobs",
            [
                id "$1" "text", kind "$2" "text", class "$3" "text", organization_id "$4" "text", application_id "$5" "text",
                connection_id "$6" "text", target "$7" "text", state "$8" "text", due_at "$9" "bigint", args "$10" "text",
                created_at "$11" "bigint", updated_at "$11" "bigint",
            ],
            $after
        )
    };
}

/// Enqueues a job, in the transaction that stores its input. If the job exists, the earlier time wins; a running job is due again
/// after its run; a failed or cancelled one starts over. The runner of this process is woken after the commit.
pub async fn enqueue(tx: &mut Tx, new: &NewJob<'_>, now: i64) -> Result<()> {
    enqueue_all(tx, std::slice::from_ref(new), now).await
}

/// Enqueues jobs with one statement, each as `enqueue` does.
pub async fn enqueue_all(tx: &mut Tx, new: &[NewJob<'_>], now: i64) -> Result<()> {
    if new.is_empty() {
        return Ok(());
    }
    tx.takes(LockRank::Job)?;
    let sql = insert_jobs!(
        tx,
        " on conflict (id) do update set \
         due_at = case when jobs.state = 'running' then jobs.due_at else excluded.due_at end, \
         again_at = case when jobs.state = 'running' then excluded.due_at else jobs.again_at end, \
         attempts = case when jobs.state in ('failed', 'cancelled') then 0 else jobs.attempts end, \
         crashes = case when jobs.state in ('failed', 'cancelled') then 0 else jobs.crashes end, \
         state = case when jobs.state = 'running' then 'running' else 'queued' end, \
         class = excluded.class, target = excluded.target, updated_at = excluded.updated_at \
         where (jobs.state = 'queued' and (jobs.due_at is null or jobs.due_at > excluded.due_at)) \
         or (jobs.state = 'running' and (jobs.again_at is null or jobs.again_at > excluded.due_at)) \
         or jobs.state in ('failed', 'cancelled')"
    );
    statement_rows::execute(tx, sql, new_rows(new, now)).await?;
    for new in new.iter().filter(|new| new.due_at.is_some()) {
        transaction::enqueued(new.class);
    }
    Ok(())
}

/// Returns the rows of new jobs in id order, in which they are locked. Jobs with the same id become one, at the earlier time.
fn new_rows<'q>(new: &[NewJob<'q>], now: i64) -> Vec<RowValues<'q>> {
    let mut by_id: BTreeMap<String, NewJob<'q>> = BTreeMap::new();
    for new in new {
        let first = by_id.entry(format!("{}:{}", new.kind, new.key)).or_insert(*new);
        first.due_at = match (first.due_at, new.due_at) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }
    let rows = by_id.into_iter().map(|(id, new)| {
        RowValues::new()
            .bind(id)
            .bind(new.kind)
            .bind(new.class.as_str())
            .bind(&new.tenant.organization_id)
            .bind(&new.tenant.application_id)
            .bind(new.connection_id)
            .bind(new.target)
            .bind("queued")
            .bind(new.due_at)
            .bind(new.args)
            .bind(now)
    });
    rows.collect()
}

/// Creates jobs where there are none; existing ones are not changed.
pub async fn ensure_all(tx: &mut Tx, new: &[NewJob<'_>], now: i64) -> Result<()> {
    tx.takes(LockRank::Job)?;
    let sql = insert_jobs!(tx, " on conflict (id) do nothing");
    let made = statement_rows::execute(tx, sql, new_rows(new, now)).await?;
    for new in new.iter().filter(|new| made > 0 && new.due_at.is_some()) {
        transaction::enqueued(new.class);
    }
    Ok(())
}

/// Creates a job if it does not exist.
pub async fn ensure(tx: &mut Tx, new: &NewJob<'_>, now: i64) -> Result<()> {
    ensure_all(tx, std::slice::from_ref(new), now).await
}

/// A job by its id.
pub async fn find(on: impl Into<On<'_>>, id: &str) -> Result<Option<Job>> {
    query("select * from jobs where id = $1").bind(id).fetch_optional(on, job).await
}

/// A hint that a job can be claimed. It may be outdated: only jobs that a claim returns are to be run.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    pub id: String,
    pub kind: String,
    pub application_id: String,
    pub connection_id: Option<String>,
    pub target: String,
    /// Whether its runs take long.
    pub is_slow: bool,
    /// Milliseconds since 1970.
    pub due_at: i64,
}

/// Owners of jobs that have reached their limits of concurrent runs: their jobs are no candidates.
#[derive(Clone, Debug, Default)]
pub struct Busy {
    /// The pool without permits: of slow jobs (true) or of the others; none: both have some.
    pub pool: Option<bool>,
    /// Ids.
    pub connections: Vec<String>,
    pub targets: Vec<String>,
    /// Whether `targets` are full for slow jobs alone: the others have no limit at one target.
    pub are_targets_of_slow: bool,
    /// Ids.
    pub applications: Vec<String>,
    /// Ids of applications without a permit for a further slow job, and of those without one for a further fast job.
    pub slow_applications: Vec<String>,
    pub fast_applications: Vec<String>,
}

/// At most `limit` queued jobs of a class that are due by `until`, in the order of their times, without those of busy owners:
/// however many these are, they hide no others.
pub async fn candidates(
    reader: &Reader,
    class: JobClass,
    (until, limit): (i64, i64),
    busy: &Busy,
) -> Result<Vec<Candidate>> {
    let sql = reader.dialect().candidates();
    let candidate = |row: &Row<'_>| {
        Ok(Candidate {
            id: row.get("id")?,
            kind: row.get("kind")?,
            application_id: row.get("application_id")?,
            connection_id: row.get("connection_id")?,
            target: row.get("target")?,
            is_slow: row.get::<i64>("is_slow")? != 0,
            due_at: row.get("due_at")?,
        })
    };
    query(sql)
        .bind(class.as_str())
        .bind(until)
        .bind(limit)
        .bind(serde_json::to_string(&busy.connections)?)
        .bind(serde_json::to_string(&busy.targets)?)
        .bind(serde_json::to_string(&busy.applications)?)
        .bind(busy.pool.map_or(-1, i64::from))
        .bind(if busy.are_targets_of_slow { 0 } else { -1 })
        .bind(serde_json::to_string(&busy.slow_applications)?)
        .bind(serde_json::to_string(&busy.fast_applications)?)
        .fetch_all(reader, candidate)
        .await
}

/// The owner and the duration of a claim.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The host's id.
    pub owner: String,
    pub fence: Fence,
    /// Milliseconds since 1970.
    pub now: i64,
    /// When the host ends the run at the latest; none: it may run for as long as the host.
    pub deadline_at: Option<i64>,
}

/// Claims those of the jobs with these ids that are queued and due, and returns them. Jobs locked by another transaction are skipped.
pub async fn claim(tx: &mut Tx, ids: &[String], by: &Claim) -> Result<Vec<Job>> {
    let sql = unlocked_among!(
        tx,
        "jobs",
        "update jobs set state = 'running', owner = $1, fence = $2, started_at = $3, deadline_at = $4, attempts = attempts + 1, \
         again_at = null, updated_at = $3 where id",
        "$5",
        "state = 'queued' and due_at <= $3",
        " returning *"
    );
    query(sql)
        .bind(&by.owner)
        .bind(by.fence.0)
        .bind(by.now)
        .bind(by.deadline_at)
        .bind(serde_json::to_string(ids)?)
        .fetch_all(tx, job)
        .await
}

/// Fails with `LostLease` unless this run still owns the job. Stores `progress` (JSON, at most 1 KiB) if given. It always updates the row,
/// so that a takeover waits for the commit of this transaction, or this fails.
pub async fn check_fence(tx: &mut Tx, job: &Job, progress: Option<&str>, now: i64) -> Result<()> {
    tx.takes(LockRank::Job)?;
    let sql = "update jobs set progress = coalesce($3, progress), crashes = case when $3 is null then crashes else 0 end, \
               updated_at = $4 where id = $1 and fence = $2 and state = 'running'";
    let held = query(sql).bind(&job.id).bind(job.fence.0).bind(progress).bind(now).execute(tx).await?;
    if held == 1 { Ok(()) } else { Err(Error::new(LostLease)) }
}

/// Ends a run that leaves no work: deletes the job, or makes it due again if it was woken during the run. Fails with `LostLease` if this
/// run no longer owns the job.
pub async fn complete(tx: &mut Tx, job: &Job, now: i64) -> Result<()> {
    tx.takes(LockRank::Job)?;
    let sql = "delete from jobs where id = $1 and fence = $2 and state = 'running' and again_at is null";
    if query(sql).bind(&job.id).bind(job.fence.0).execute(&mut *tx).await? == 1 {
        return Ok(());
    }
    let end = End { done_at: Some(now), ..End::default() };
    reschedule(tx, job, &end, now).await
}

/// The end of a run after which the job stays.
#[derive(Clone, Debug, Default)]
pub struct End {
    /// Whether the job has failed for good: state `failed`, and not due.
    pub is_failed: bool,
    /// When it is due again, in milliseconds since 1970; none: it is parked. A wake during the run also counts: the earlier time
    /// wins.
    pub due_at: Option<i64>,
    /// Claims since the last success, as counted from now on: 0 after a success.
    pub attempts: i64,
    /// JSON: `{code, message, at}`.
    pub last_error: Option<String>,
    /// When the run began, if it was a success.
    pub done_at: Option<i64>,
}

/// Ends a run after which the job stays. Fails with `LostLease` when the job is no longer the claimed one.
pub async fn reschedule(tx: &mut Tx, job: &Job, end: &End, now: i64) -> Result<()> {
    tx.takes(LockRank::Job)?;
    let sql = "update jobs set state = case when again_at is null then $3 else 'queued' end, \
               due_at = case when again_at is null then $4 when $4 is null or again_at < $4 then again_at else $4 end, \
               again_at = null, owner = null, fence = 0, started_at = null, deadline_at = null, crashes = 0, attempts = $5, \
               last_error = $6, done_at = coalesce($7, done_at), updated_at = $8 \
               where id = $1 and fence = $2 and state = 'running'";
    let held = query(sql)
        .bind(&job.id)
        .bind(job.fence.0)
        .bind(if end.is_failed { "failed" } else { "queued" })
        .bind(end.due_at)
        .bind(end.attempts)
        .bind(&end.last_error)
        .bind(end.done_at)
        .bind(now)
        .execute(tx)
        .await?;
    if held == 1 { Ok(()) } else { Err(Error::new(LostLease)) }
}

/// Deletes a job, for example together with the object of its work. The result of a run in progress is not written.
pub async fn remove(tx: &mut Tx, id: &str) -> Result<()> {
    tx.takes(LockRank::Job)?;
    query("delete from jobs where id = $1").bind(id).execute(tx).await?;
    Ok(())
}

/// An error as the table stores it.
pub fn error((code, message): (&str, &str), now: i64) -> String {
    json!({ "code": code, "message": message, "at": model::Instant::from_millis(now) }).to_string()
}
