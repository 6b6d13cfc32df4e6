//! Request counts per key and day. Table: `migrations/0007_usage.sql`.

use crate::storage::sql::{Reader, Row, query};
use anyhow::Result;

use crate::storage::Tx;
use crate::tenant::Tenant;

/// A count: of one key on one day, by surface and outcome.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bucket {
    pub tenant: Tenant,
    /// Empty for what no key asked for.
    pub key_id: String,
    /// `YYYY-MM-DD`, UTC.
    pub day: String,
    pub surface: String,
    /// See `usage::Kind`.
    pub outcome: String,
}

/// Adds to a count.
pub async fn add(tx: &mut Tx, bucket: &Bucket, requests: i64) -> Result<()> {
    let sql = "insert into usage (organization_id, application_id, key_id, day, surface, outcome, requests) \
               values ($1, $2, $3, $4, $5, $6, $7) on conflict (application_id, key_id, day, surface, outcome) \
               do update set requests = usage.requests + excluded.requests";
    query(sql)
        .bind(&bucket.tenant.organization_id)
        .bind(&bucket.tenant.application_id)
        .bind(&bucket.key_id)
        .bind(&bucket.day)
        .bind(&bucket.surface)
        .bind(&bucket.outcome)
        .bind(requests)
        .execute(&mut *tx)
        .await?;
    Ok(())
}

/// The application's counts from one day to another, both included.
pub async fn list(reader: &Reader, tenant: &Tenant, from: &str, to: &str) -> Result<Vec<(Bucket, i64)>> {
    let sql = "select key_id, day, surface, outcome, requests from usage where organization_id = $1 \
               and application_id = $2 and day >= $3 and day <= $4 order by day, key_id";
    let count = |row: &Row<'_>| {
        let bucket = Bucket {
            tenant: tenant.clone(),
            key_id: row.get("key_id")?,
            day: row.get("day")?,
            surface: row.get("surface")?,
            outcome: row.get("outcome")?,
        };
        Ok((bucket, row.get("requests")?))
    };
    query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(from)
        .bind(to)
        .fetch_all(reader, count)
        .await
}

/// Log lines since an instant, and the bytes of the tenant's local copy.
pub async fn storage(reader: &Reader, tenant: &Tenant, since: i64) -> Result<(i64, i64)> {
    let lines = query(
        "select count(*) as n from log where application_id = $1 and organization_id = $2 and at >= $3",
    )
    .bind(&tenant.application_id)
    .bind(&tenant.organization_id)
    .bind(since)
    .fetch_one(reader, |row| row.get("n"))
    .await?;
    let sql = "select cast(coalesce(sum(length(body)), 0) as bigint) as bytes from items where organization_id = $1 \
               and application_id = $2";
    let bytes = query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .fetch_one(reader, |row| row.get("bytes"))
        .await?;
    Ok((lines, bytes))
}
