//! The state of a scope and the job that pulls it, read at one moment.

use anyhow::Result;

use crate::sql::{Reader, Row, query};

/// The columns that decide whether the copy of a scope can answer without reading from the provider. All times are milliseconds
/// since 1970.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CopyFreshness {
    pub followed: bool,
    /// As `SyncState` has it.
    pub status: String,
    pub generation: i64,
    pub started_at: Option<i64>,
    pub last_success_at: Option<i64>,
    pub last_activity_at: Option<i64>,
    /// When the last successful run of the job began. None: there was none yet, or none since a reset.
    pub done_at: Option<i64>,
    /// The job's; none where there is no job.
    pub job_state: Option<String>,
    pub due_at: Option<i64>,
    pub again_at: Option<i64>,
}

impl CopyFreshness {
    /// Whether a requested pull has not begun yet.
    pub fn is_asked_for(&self, now: i64) -> bool {
        let is_due = self.job_state.as_deref() == Some("queued") && self.due_at.is_some_and(|at| at <= now);
        self.again_at.is_some() || is_due
    }
}

fn read(row: &Row<'_>) -> Result<CopyFreshness> {
    Ok(CopyFreshness {
        followed: row.get::<i64>("followed")? != 0,
        status: row.get("status")?,
        generation: row.get("generation")?,
        started_at: row.get("started_at")?,
        last_success_at: row.get("last_success_at")?,
        last_activity_at: row.get("last_activity_at")?,
        done_at: row.get("done_at")?,
        job_state: row.get("job_state")?,
        due_at: row.get("due_at")?,
        again_at: row.get("again_at")?,
    })
}

/// The state of a scope (its connection, surface and collection) with the job of this id; none when it was never read.
pub async fn standing(
    reader: &Reader,
    (connection_id, surface, scope_id): (&str, &str, &str),
    job_id: &str,
) -> Result<Option<CopyFreshness>> {
    let sql = "select s.followed, s.status, s.generation, s.started_at, s.last_success_at, s.last_activity_at, \
               j.done_at, j.state as job_state, j.due_at, j.again_at from sync_states s \
               left join jobs j on j.id = $4 where s.connection_id = $1 and s.surface = $2 and s.scope_id = $3";
    let of = query(sql).bind(connection_id).bind(surface).bind(scope_id).bind(job_id);
    of.fetch_optional(reader, read).await
}
