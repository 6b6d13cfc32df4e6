//! Request counts per key and day. Table: `migrations/0007_usage.sql`.

use anyhow::Result;
use sqlx::{AnyPool, Row};

use crate::storage::Tx;
use crate::tenant::Tenant;

/// A count: of one key on one day, by surface and outcome.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bucket {
    pub tenant: Tenant,
    pub key_id: String,
    /// `YYYY-MM-DD`, UTC.
    pub day: String,
    pub surface: String,
    /// `success`, `clientError`, `serverError` or `rateLimited`.
    pub outcome: String,
}

/// Adds to a count.
pub async fn add(tx: &mut Tx, bucket: &Bucket, requests: i64) -> Result<()> {
    let sql = "insert into usage (organization_id, application_id, key_id, day, surface, outcome, requests) \
               values ($1, $2, $3, $4, $5, $6, $7) on conflict (application_id, key_id, day, surface, outcome) \
               do update set requests = usage.requests + excluded.requests";
    sqlx::query(sql)
        .bind(bucket.tenant.organization_id.clone())
        .bind(bucket.tenant.application_id.clone())
        .bind(bucket.key_id.clone())
        .bind(bucket.day.clone())
        .bind(bucket.surface.clone())
        .bind(bucket.outcome.clone())
        .bind(requests)
        .execute(&mut *tx)
        .await?;
    Ok(())
}

/// The application's counts from one day to another, both included.
pub async fn list(pool: &AnyPool, tenant: &Tenant, from: &str, to: &str) -> Result<Vec<(Bucket, i64)>> {
    let sql = "select key_id, day, surface, outcome, requests from usage where organization_id = $1 \
               and application_id = $2 and day >= $3 and day <= $4 order by day, key_id";
    let rows = sqlx::query(sql)
        .bind(tenant.organization_id.clone())
        .bind(tenant.application_id.clone())
        .bind(from.to_owned())
        .bind(to.to_owned())
        .fetch_all(pool)
        .await?;
    rows.iter()
        .map(|row| {
            let bucket = Bucket {
                tenant: tenant.clone(),
                key_id: row.try_get("key_id")?,
                day: row.try_get("day")?,
                surface: row.try_get("surface")?,
                outcome: row.try_get("outcome")?,
            };
            Ok((bucket, row.try_get("requests")?))
        })
        .collect()
}

/// Log lines since an instant, and the bytes of the tenant's local copy.
pub async fn storage(pool: &AnyPool, tenant: &Tenant, since: i64) -> Result<(i64, i64)> {
    let row = sqlx::query(
        "select count(*) as n from log where application_id = $1 and organization_id = $2 and at >= $3",
    )
    .bind(tenant.application_id.clone())
    .bind(tenant.organization_id.clone())
    .bind(since)
    .fetch_one(pool)
    .await?;
    let sql = "select cast(coalesce(sum(length(body)), 0) as bigint) as bytes from items where organization_id = $1 \
               and application_id = $2";
    let size = sqlx::query(sql)
        .bind(tenant.organization_id.clone())
        .bind(tenant.application_id.clone())
        .fetch_one(pool)
        .await?;
    Ok((row.try_get("n")?, size.try_get("bytes")?))
}
