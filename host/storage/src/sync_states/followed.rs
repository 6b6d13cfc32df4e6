//! Collections that clients follow, over all applications.

use anyhow::Result;

use crate::sql::{Reader, Row, query};

/// How far the followed collections of a surface are behind, over all applications.
pub struct Lag {
    pub surface: String,
    pub followed: i64,
    /// Followed collections whose last pull failed.
    pub stuck: i64,
    /// The oldest last success among the other collections.
    pub oldest_success_at: Option<i64>,
}

/// One row per surface that is followed. Collections that are gone do not count.
pub async fn lags(reader: &Reader) -> Result<Vec<Lag>> {
    let sql = "select surface, count(*) as followed, \
               count(case when status in ('blocked', 'error') then 1 end) as stuck, \
               min(case when status in ('blocked', 'error') then null else coalesce(last_success_at, started_at) end) \
               as oldest_success_at from sync_states where followed = 1 and not (status = 'idle' and last_success_at is null) \
               group by surface order by surface";
    let lag = |row: &Row<'_>| {
        Ok(Lag {
            surface: row.get("surface")?,
            followed: row.get("followed")?,
            stuck: row.get("stuck")?,
            oldest_success_at: row.get("oldest_success_at")?,
        })
    };
    query(sql).fetch_all(reader, lag).await
}
