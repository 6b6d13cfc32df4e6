//! The operators' view of jobs: lists, retries and cancellations. Table: `migrations/0050_jobs.sql`.

use anyhow::Result;

use crate::Tx;
use crate::jobs::{Job, job};
use crate::sql::{Reader, Row, query};

/// A filter for lists of jobs; a field that is `None` leaves its column open.
#[derive(Clone, Debug, Default)]
pub struct JobFilter {
    /// `queued`, `running`, `failed` or `cancelled`.
    pub state: Option<String>,
    pub kind: Option<String>,
    pub application_id: Option<String>,
    pub connection_id: Option<String>,
    /// Milliseconds since 1970: only queued jobs that are due by then.
    pub due_by: Option<i64>,
}

/// At most `limit` jobs, those that are due or ended first at the beginning.
pub async fn list(reader: &Reader, filter: &JobFilter, limit: i64) -> Result<Vec<Job>> {
    let sql = "select * from jobs where (cast($1 as text) is null or state = $1) and (cast($2 as text) is null or kind = $2) \
               and (cast($3 as text) is null or application_id = $3) and (cast($4 as text) is null or connection_id = $4) \
               and (cast($5 as bigint) is null or (state = 'queued' and due_at <= $5)) \
               order by coalesce(due_at, updated_at), id limit $6";
    query(sql)
        .bind(filter.state.as_deref())
        .bind(filter.kind.as_deref())
        .bind(filter.application_id.as_deref())
        .bind(filter.connection_id.as_deref())
        .bind(filter.due_by)
        .bind(limit)
        .fetch_all(reader, job)
        .await
}

/// At most `limit` jobs of a connection, by their kinds.
pub async fn of_connection(reader: &Reader, connection_id: &str, limit: i64) -> Result<Vec<Job>> {
    query("select * from jobs where connection_id = $1 order by kind, id limit $2")
        .bind(connection_id)
        .bind(limit)
        .fetch_all(reader, job)
        .await
}

/// Makes a waiting, failed or cancelled job due now; its earlier attempts no longer count. Returns false when there is no such
/// job, or it runs.
pub async fn retry(tx: &mut Tx, id: &str, now: i64) -> Result<bool> {
    let sql = "update jobs set state = 'queued', due_at = $2, again_at = null, attempts = 0, crashes = 0, updated_at = $2 \
               where id = $1 and state in ('queued', 'failed', 'cancelled')";
    Ok(query(sql).bind(id).bind(now).execute(tx).await? == 1)
}

/// Cancels a job that waits or failed; enqueuing it again revives it. Returns false when there is no such job, it runs, or it was
/// cancelled before.
pub async fn cancel(tx: &mut Tx, id: &str, now: i64) -> Result<bool> {
    let sql = "update jobs set state = 'cancelled', due_at = null, again_at = null, updated_at = $2 \
               where id = $1 and state in ('queued', 'failed')";
    Ok(query(sql).bind(id).bind(now).execute(tx).await? == 1)
}

/// The jobs of one class in one state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    pub class: String,
    pub state: String,
    pub jobs: i64,
    /// Milliseconds since 1970; none where none of the jobs waits for a time.
    pub oldest_due_at: Option<i64>,
}

/// The number of jobs of each class in each state.
pub async fn counts(reader: &Reader) -> Result<Vec<Count>> {
    let sql = "select class, state, count(*) as jobs, min(case when state = 'queued' then due_at end) as oldest_due_at \
               from jobs group by class, state order by class, state";
    let count = |row: &Row<'_>| {
        Ok(Count {
            class: row.get("class")?,
            state: row.get("state")?,
            jobs: row.get("jobs")?,
            oldest_due_at: row.get("oldest_due_at")?,
        })
    };
    query(sql).fetch_all(reader, count).await
}

/// Deletes at most `limit` jobs that failed or were cancelled before `before`. Returns how many.
pub async fn forget_ended(tx: &mut Tx, before: i64, limit: i64) -> Result<i64> {
    let sql = "delete from jobs where id in (select id from jobs where state in ('failed', 'cancelled') and updated_at < $1 \
               order by updated_at limit $2)";
    let forgotten = query(sql).bind(before).bind(limit).execute(tx).await?;
    Ok(i64::try_from(forgotten).unwrap_or(i64::MAX))
}
