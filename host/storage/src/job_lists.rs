//! Lists of jobs by state, each along an index and page by page. Table: `migrations/0050_jobs.sql`.

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::dialect::one_of;
use crate::jobs::{Job, job};
use crate::sql::{Reader, Row, query};
use crate::wakes::JobClass;

/// The place of a job in a list, after which the next page begins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobPosition {
    /// The class of a queued job, the host that runs another one; empty of jobs that have ended.
    pub group: String,
    /// When the job is due or ended, milliseconds since 1970; 0 in the list of jobs that run.
    pub at: i64,
    pub id: String,
}

/// A job as a list finds it: enough to decide whether it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobEntry {
    pub kind: String,
    /// `queued`, `running`, `failed` or `cancelled`.
    pub state: String,
    pub application_id: String,
    pub position: JobPosition,
}

fn entry(row: &Row<'_>) -> Result<JobEntry> {
    Ok(JobEntry {
        kind: row.get("kind")?,
        state: row.get("state")?,
        application_id: row.get("application_id")?,
        position: JobPosition { group: row.get("part")?, at: row.get("at")?, id: row.get("id")? },
    })
}

/// At most `limit` queued jobs of a class that have a time, those that are due first at the beginning. Jobs that wait to be woken have no
/// time, and are in no list. Jobs that are due at the same moment are sorted by their ids, for which there is no index.
pub async fn queued(
    reader: &Reader,
    class: JobClass,
    after: &JobPosition,
    limit: i64,
) -> Result<Vec<JobEntry>> {
    let sql = "select id, kind, state, application_id, class as part, due_at as at from jobs \
               where class = $1 and state = 'queued' and due_at >= $2 and (due_at > $2 or id > $3) \
               order by due_at, id limit $4";
    query(sql).bind(class.as_str()).bind(after.at).bind(&after.id).bind(limit).fetch_all(reader, entry).await
}

/// The same of one application.
pub async fn queued_of_application(
    reader: &Reader,
    class: JobClass,
    application_id: &str,
    after: &JobPosition,
    limit: i64,
) -> Result<Vec<JobEntry>> {
    let sql = "select id, kind, state, application_id, class as part, due_at as at from jobs \
               where class = $1 and application_id = $2 and state = 'queued' and due_at >= $3 \
               and (due_at > $3 or id > $4) order by due_at, id limit $5";
    query(sql)
        .bind(class.as_str())
        .bind(application_id)
        .bind(after.at)
        .bind(&after.id)
        .bind(limit)
        .fetch_all(reader, entry)
        .await
}

/// At most `limit` jobs that run, by the hosts that run them.
pub async fn running(reader: &Reader, after: &JobPosition, limit: i64) -> Result<Vec<JobEntry>> {
    let sql = "select id, kind, state, application_id, owner as part, cast(0 as bigint) as at from jobs \
               where state = 'running' and owner >= $1 and (owner > $1 or id > $2) order by owner, id limit $3";
    query(sql).bind(&after.group).bind(&after.id).bind(limit).fetch_all(reader, entry).await
}

/// At most `limit` jobs that failed or were cancelled, the last ones first.
pub async fn ended(reader: &Reader, before: &JobPosition, limit: i64) -> Result<Vec<JobEntry>> {
    let sql = "select id, kind, state, application_id, '' as part, updated_at as at from jobs \
               where state in ('failed', 'cancelled') and updated_at <= $1 and (updated_at < $1 or id < $2) \
               order by updated_at desc, id desc limit $3";
    query(sql).bind(before.at).bind(&before.id).bind(limit).fetch_all(reader, entry).await
}

/// The jobs with these ids, in no order; jobs that are done by now are left out.
pub async fn find_all(reader: &Reader, ids: &[&str]) -> Result<Vec<Job>> {
    let sql = one_of!(reader, "select * from jobs where id", "$1");
    query(sql).bind(serde_json::to_string(ids)?).fetch_all(reader, job).await
}
