//! Pending notices of bookings. Table: `migrations/0079_booking_notices.sql`. The row is authoritative, and the job with the same
//! id works on it: both are written and removed in the same transactions, so a row without a job means that the job was lost.

use anyhow::Result;
use base::tenant::Tenant;

use crate::Tx;
use crate::dialect::{insert_rows, one_of};
use crate::jobs::{self, Job, NewJob};
use crate::json_text;
use crate::sql::{Reader, Row, query};
use crate::statement_rows::{self, RowValues};
use crate::transaction::LockRank;

/// Time after its due date until which a notice is still sent, ms. Later it is dropped.
pub const KEPT_MS: i64 = 24 * 3_600_000;

/// A pending notice.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    /// `<kind>:<key>`.
    pub job_id: String,
    pub tenant: Tenant,
    /// Milliseconds since 1970.
    pub due_at: i64,
    /// JSON: the job's arguments.
    pub args: Option<String>,
    /// Whether the job exists, also as a failed or cancelled one. One that failed because hosts crashed with it does not exist.
    pub has_job: bool,
}

/// Enqueues jobs with their notices, with one statement each.
pub async fn enqueue(tx: &mut Tx, new: &[NewJob<'_>], now: i64) -> Result<()> {
    tx.takes(LockRank::Job)?;
    let sql = insert_rows!(
        tx,
        "booking_notices",
        [
            job_id "$1" "text", organization_id "$2" "text", application_id "$3" "text", due_at "$4" "bigint", args "$5" "text",
            created_at "$6" "bigint",
        ],
        " on conflict (job_id) do nothing"
    );
    let rows = new.iter().map(|new| {
        RowValues::new()
            .bind(format!("{}:{}", new.kind, new.key))
            .bind(&new.tenant.organization_id)
            .bind(&new.tenant.application_id)
            .bind(new.due_at.unwrap_or(now))
            .bind(new.args)
            .bind(now)
    });
    statement_rows::execute(tx, sql, rows.collect()).await?;
    jobs::enqueue_all(tx, new, now).await
}

/// Completes the job of a notice, as `jobs::complete` does, and deletes the notice. Fails with `LostLease` as that does.
pub async fn complete(tx: &mut Tx, job: &Job, now: i64) -> Result<()> {
    tx.takes(LockRank::Job)?;
    query("delete from booking_notices where job_id = $1").bind(&job.id).execute(&mut *tx).await?;
    jobs::complete(tx, job, now).await
}

/// Returns the ids among these of jobs whose notices are still pending. For notices of a booking this stays true as long as its
/// row is locked: messages about it are written under that lock.
pub async fn untold(tx: &mut Tx, job_ids: &[String]) -> Result<Vec<String>> {
    let sql = one_of!(tx, "select job_id from booking_notices where job_id", "$1");
    query(sql).bind(json_text(job_ids)).fetch_all(tx, |row| row.get("job_id")).await
}

/// At most `limit` notices that were due before `before`, by their times and ids, after a time and an id. Times are milliseconds
/// since 1970.
pub async fn late(
    reader: &Reader,
    before: i64,
    (after_due_at, after_id): (i64, &str),
    limit: i64,
) -> Result<Vec<Notice>> {
    let sql = "select n.job_id, n.organization_id, n.application_id, n.due_at, n.args, (select count(*) from jobs j \
               where j.id = n.job_id and (j.state <> 'failed' or j.crashes = 0)) as jobs from booking_notices n \
               where n.due_at < $1 and (n.due_at, n.job_id) > ($2, $3) order by n.due_at, n.job_id limit $4";
    query(sql).bind(before).bind(after_due_at).bind(after_id).bind(limit).fetch_all(reader, notice).await
}

fn notice(row: &Row<'_>) -> Result<Notice> {
    Ok(Notice {
        job_id: row.get("job_id")?,
        tenant: Tenant {
            organization_id: row.get("organization_id")?,
            application_id: row.get("application_id")?,
        },
        due_at: row.get("due_at")?,
        args: row.get("args")?,
        has_job: row.get::<i64>("jobs")? > 0,
    })
}

/// Deletes at most `limit` notices that were due before `before`. Returns how many.
pub async fn forget(tx: &mut Tx, before: i64, limit: i64) -> Result<i64> {
    let sql = "delete from booking_notices where job_id in \
               (select job_id from booking_notices where due_at < $1 order by due_at, job_id limit $2)";
    let gone = query(sql).bind(before).bind(limit).execute(tx).await?;
    Ok(i64::try_from(gone).unwrap_or(i64::MAX))
}
