//! Claims outside the runner: a request that does a job's work at once, and evictions, which take a job away from its owner.
//! Table: `migrations/0050_jobs.sql`.

use anyhow::{Error, Result};

use crate::Tx;
use crate::jobs::{self, Claim, Job, LostLease, NewJob, job};
use crate::locked::ConnectionLock;
use crate::sql::{Reader, query};
use crate::transaction::{self, LockRank};
use crate::wakes::JobClass;

/// Claims a job whatever its time is, and creates it where there is none, because its work is to be done at once. Does not count
/// as an attempt. A failed job starts over. None: the job is claimed already.
pub async fn claim_now(tx: &mut Tx, new: &NewJob<'_>, by: &Claim) -> Result<Option<Job>> {
    tx.takes(LockRank::Job)?;
    let sql = "insert into jobs (id, kind, class, organization_id, application_id, connection_id, target, state, owner, fence, \
               started_at, deadline_at, created_at, updated_at) \
               values ($1, $2, $3, $4, $5, $6, $7, 'running', $8, $9, $10, $11, $10, $10) \
               on conflict (id) do update set state = 'running', owner = excluded.owner, fence = excluded.fence, \
               started_at = excluded.started_at, deadline_at = excluded.deadline_at, again_at = null, \
               due_at = case when jobs.state = 'queued' then jobs.due_at else excluded.started_at end, \
               target = excluded.target, updated_at = excluded.updated_at where jobs.state <> 'running' returning *";
    query(sql)
        .bind(format!("{}:{}", new.kind, new.key))
        .bind(new.kind)
        .bind(new.class.as_str())
        .bind(&new.tenant.organization_id)
        .bind(&new.tenant.application_id)
        .bind(new.connection_id)
        .bind(new.target)
        .bind(&by.owner)
        .bind(by.fence.0)
        .bind(by.now)
        .bind(by.deadline_at)
        .fetch_optional(tx, job)
        .await
}

/// Takes a job away from its owner and makes it due at its time; creates the job where there is none. The result of the current
/// run is no longer written, and earlier attempts no longer count.
pub async fn evict(tx: &mut Tx, new: &NewJob<'_>, now: i64) -> Result<()> {
    tx.takes(LockRank::Job)?;
    let sql = "update jobs set state = 'queued', due_at = $2, again_at = null, owner = null, fence = 0, started_at = null, \
               deadline_at = null, attempts = 0, crashes = 0, done_at = null, updated_at = $3 where id = $1";
    query(sql).bind(format!("{}:{}", new.kind, new.key)).bind(new.due_at).bind(now).execute(&mut *tx).await?;
    // It wakes the runner, too.
    jobs::enqueue(tx, new, now).await
}

/// Takes a job away from its owner, where there is one, and leaves its time as it is; earlier runs no longer count.
pub async fn undo(tx: &mut Tx, id: &str, now: i64) -> Result<()> {
    tx.takes(LockRank::Job)?;
    let sql = "update jobs set due_at = coalesce(again_at, due_at), state = case when state = 'running' then 'queued' else state end, \
               again_at = null, owner = null, fence = 0, started_at = null, deadline_at = null, done_at = null, updated_at = $2 \
               where id = $1";
    query(sql).bind(id).bind(now).execute(tx).await?;
    Ok(())
}

/// Takes the pulls, watches and watch renewals of a connection away from their owners, and makes those due that are not parked,
/// or were woken: the credentials or settings that they need have changed.
pub async fn evict_of_connection(tx: &mut Tx, lock: &ConnectionLock, now: i64) -> Result<()> {
    tx.takes(LockRank::Job)?;
    let sql = "update jobs set due_at = case when due_at is null and again_at is null and state <> 'failed' then null \
               else $2 end, state = 'queued', again_at = null, owner = null, fence = 0, started_at = null, deadline_at = null, attempts = 0, crashes = 0, \
               updated_at = $2 where connection_id = $1 and kind in ('pull', 'watch', 'renew')";
    if query(sql).bind(&lock.id).bind(now).execute(tx).await? > 0 {
        transaction::enqueued(JobClass::Pull);
        transaction::enqueued(JobClass::Watch);
    }
    Ok(())
}

/// Makes the jobs of a kind of a connection due that wait or failed: the account can be used again. Earlier attempts are no
/// longer counted, except that there were any. A running job continues.
pub async fn hurry_of_connection(tx: &mut Tx, lock: &ConnectionLock, kind: &str, now: i64) -> Result<()> {
    tx.takes(LockRank::Job)?;
    let sql = "update jobs set state = 'queued', due_at = $3, attempts = case when attempts + crashes > 0 then 1 else 0 end, crashes = 0, \
               updated_at = $3 where connection_id = $1 and kind = $2 and state in ('queued', 'failed')";
    if query(sql).bind(&lock.id).bind(kind).bind(now).execute(tx).await? > 0 {
        transaction::enqueued(JobClass::Send);
    }
    Ok(())
}

/// Deletes the pulls, watches and watch renewals of a connection. Running ones lose their job.
pub async fn remove_of_connection(tx: &mut Tx, lock: &ConnectionLock) -> Result<()> {
    tx.takes(LockRank::Job)?;
    let sql = "delete from jobs where connection_id = $1 and kind in ('pull', 'watch', 'renew')";
    query(sql).bind(&lock.id).execute(tx).await?;
    Ok(())
}

/// The ids of the jobs of a class that a host runs.
pub async fn running(reader: &Reader, owner: &str, class: JobClass) -> Result<Vec<String>> {
    let sql = "select id from jobs where state = 'running' and owner = $1 and class = $2";
    query(sql).bind(owner).bind(class.as_str()).fetch_all(reader, |row| row.get("id")).await
}

/// Stores whether the runs of a job take long. Fails with `LostLease` when the job is no longer the claimed one.
pub async fn set_slow(tx: &mut Tx, job: &Job, is_slow: bool) -> Result<()> {
    tx.takes(LockRank::Job)?;
    let sql = "update jobs set is_slow = $3 where id = $1 and fence = $2 and state = 'running'";
    let held = query(sql).bind(&job.id).bind(job.fence.0).bind(i64::from(is_slow)).execute(tx).await?;
    if held == 1 { Ok(()) } else { Err(Error::new(LostLease)) }
}

/// Lets the next run of a job begin in the pool for slow runs, which has more room, because its duration is unknown. Does nothing
/// if there is no such job.
pub async fn begin_slow(tx: &mut Tx, id: &str) -> Result<()> {
    tx.takes(LockRank::Job)?;
    query("update jobs set is_slow = 1 where id = $1").bind(id).execute(tx).await?;
    Ok(())
}
