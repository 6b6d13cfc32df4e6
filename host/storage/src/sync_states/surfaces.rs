//! The states of connections, a row for each surface.

use anyhow::Result;

use crate::dialect::one_of;
use crate::json_text;
use crate::sql::{Reader, Row, query};

/// The sync progress of a surface of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SurfaceProgress {
    pub connection_id: String,
    pub surface: String,
    /// A collection of it is `blocked` or in `error`.
    pub is_failing: bool,
    /// The earliest last success of its collections, ms; none: none of them was read yet.
    pub last_success_at: Option<i64>,
}

/// The surfaces of these connections that have a sync state.
pub async fn of_connections(reader: &Reader, ids: &[&str]) -> Result<Vec<SurfaceProgress>> {
    let sql = one_of!(
        reader,
        "select connection_id, surface, cast(max(case when status in ('blocked', 'error') then 1 else 0 end) as bigint) as failing, \
         min(last_success_at) as last_success_at from sync_states where connection_id",
        "$1",
        " group by connection_id, surface"
    );
    let progress = |row: &Row<'_>| {
        Ok(SurfaceProgress {
            connection_id: row.get("connection_id")?,
            surface: row.get("surface")?,
            is_failing: row.get::<i64>("failing")? != 0,
            last_success_at: row.get("last_success_at")?,
        })
    };
    query(sql).bind(json_text(ids)).fetch_all(reader, progress).await
}
