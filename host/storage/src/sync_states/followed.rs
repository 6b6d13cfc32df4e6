//! What clients follow, over all applications.

use anyhow::Result;
use base::tenant::Tenant;

use crate::sql::{Reader, Row, query};

/// How far the followed collections of a surface are behind, over all applications.
pub struct Lag {
    pub surface: String,
    pub followed: i64,
    /// Of them, those whose last pull failed.
    pub stuck: i64,
    /// Of the others, the longest ago that one was read to its end.
    pub oldest_success_at: Option<i64>,
}

/// One row per surface that is followed.
pub async fn lags(reader: &Reader) -> Result<Vec<Lag>> {
    let sql = "select surface, count(*) as followed, \
               count(case when status in ('blocked', 'error') then 1 end) as stuck, \
               min(case when status in ('blocked', 'error') then null else coalesce(last_success_at, started_at) end) \
               as oldest_success_at from sync_states where followed = 1 group by surface order by surface";
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

/// A connection that clients follow on a surface.
#[derive(Clone, Debug, PartialEq)]
pub struct Followed {
    pub tenant: Tenant,
    pub connection_id: String,
    pub provider: String,
}

/// Usable connections that are followed on a surface, over all applications.
pub async fn followed(reader: &Reader, surface: &str, limit: i64) -> Result<Vec<Followed>> {
    let sql = "select s.organization_id, s.application_id, s.connection_id, c.provider from sync_states s \
               join connections c on c.id = s.connection_id where s.followed = 1 and s.surface = $1 \
               and s.scope_id = '' and c.deleted_at is null and c.status in ('active', 'degraded') \
               order by s.connection_id limit $2";
    let followed = |row: &Row<'_>| {
        Ok(Followed {
            tenant: Tenant {
                organization_id: row.get("organization_id")?,
                application_id: row.get("application_id")?,
            },
            connection_id: row.get("connection_id")?,
            provider: row.get("provider")?,
        })
    };
    query(sql).bind(surface).bind(limit).fetch_all(reader, followed).await
}
