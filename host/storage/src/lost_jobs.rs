//! Jobs whose host is gone, or whose result could not be written: they are queued again, or fail after too many lost hosts.
//! Table: `migrations/0050_jobs.sql`.

use anyhow::Result;

use crate::Tx;
use crate::hosts;
use crate::jobs::error;
use crate::sql::query;

/// Lost hosts after which a job fails for good.
pub const MAX_CRASHES: i64 = 20;
/// Time after its deadline at which a running job counts as lost, ms: its host ends the run at the deadline and has this time to
/// write the result.
const OVERDUE_MS: i64 = 30_000;

/// Queues the running jobs of lost hosts that match the condition. The parameters are the time and the errors for jobs that are
/// retried and for those that fail for good. A job that repeatedly loses its host waits longer each time.
macro_rules! lost {
    ($condition:literal) => {
        concat!(
            "update jobs set due_at = case when crashes < 2 then $1 when crashes = 2 then $1 + 1000 when crashes = 3 then $1 + 5000 \
             when crashes = 4 then $1 + 30000 when crashes < 19 then $1 + 300000 end, \
             state = case when crashes < 19 then 'queued' else 'failed' end, \
             last_error = case when crashes < 19 then $2 else $3 end, crashes = crashes + 1, again_at = null, owner = null, \
             fence = 0, started_at = null, deadline_at = null, updated_at = $1 where state = 'running' and ",
            $condition
        )
    };
}

fn host_lost(now: i64) -> String {
    error(("host_lost", "the host that ran the job is gone"), now)
}

fn crash_error(now: i64) -> String {
    error(("crashed", "the hosts that ran the job went down with it"), now)
}

/// Releases the jobs that a host runs, at once and without counting the runs as attempts: for a host that stops in order. Returns
/// how many jobs. A claim for a waiting request was no attempt (`job_claims::claim_now`).
pub async fn release(tx: &mut Tx, owner: &str, now: i64) -> Result<u64> {
    let sql = "update jobs set state = 'queued', due_at = $2, again_at = null, owner = null, fence = 0, started_at = null, \
               deadline_at = null, attempts = case when attempts > 0 then attempts - 1 else 0 end, updated_at = $2 \
               where state = 'running' and owner = $1";
    query(sql).bind(owner).bind(now).execute(tx).await
}

/// Takes over the jobs of a host whose lease was over before `now`, and removes the host. Returns how many jobs are queued again;
/// none when the host has renewed its lease since, or another host took over.
pub async fn take_over(tx: &mut Tx, host_id: &str, now: i64) -> Result<Option<u64>> {
    if !hosts::remove_expired(tx, host_id, now).await? {
        return Ok(None);
    }
    requeue_of(tx, host_id, now).await.map(Some)
}

/// Queues the jobs of a host that is certainly gone. Returns how many jobs.
pub async fn requeue_of(tx: &mut Tx, host_id: &str, now: i64) -> Result<u64> {
    let of_host = query(lost!("owner = $4")).bind(now).bind(host_lost(now)).bind(crash_error(now));
    of_host.bind(host_id).execute(tx).await
}

/// Queues the running jobs of hosts that do not exist. Returns how many jobs.
pub async fn requeue_orphans(tx: &mut Tx, now: i64) -> Result<u64> {
    // `owner > ''`: an index finds the jobs that run, which are few.
    let orphans = lost!("owner > '' and not exists (select 1 from hosts where hosts.id = jobs.owner)");
    query(orphans).bind(now).bind(host_lost(now)).bind(crash_error(now)).execute(tx).await
}

/// Queues jobs of a living host whose deadline is long over: their runs have ended, but the results could not be written. Returns
/// how many jobs.
pub async fn requeue_overdue(tx: &mut Tx, owner: &str, now: i64) -> Result<u64> {
    let overdue = query(lost!("owner = $4 and deadline_at < $5")).bind(now).bind(host_lost(now));
    overdue.bind(crash_error(now)).bind(owner).bind(now - OVERDUE_MS).execute(tx).await
}
