//! Request counts per key and day. Table: `migrations/0007_usage.sql`.

use crate::sql::{Reader, Row, query};
use anyhow::Result;

use base::tenant::Tenant;

use crate::LockRank;
use crate::Tx;

/// A count: of one key on one day, by surface and outcome.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    tx.takes(LockRank::Usage)?;
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
               and application_id = $2 and day >= $3 and day <= $4 and outcome <> 'change' order by day, key_id";
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

/// The outcome under which changes are counted: those that the log was told of, whoever made them.
pub const CHANGE: &str = "change";
/// The outcomes under which bookings are counted that were made, and that were cancelled, whoever did so.
pub const BOOKING_CREATED: &str = "bookingCreated";
pub const BOOKING_CANCELLED: &str = "bookingCancelled";

/// The application's changes from one day to another, both included.
pub async fn changes(reader: &Reader, tenant: &Tenant, from: &str, to: &str) -> Result<i64> {
    let sql = "select cast(coalesce(sum(requests), 0) as bigint) as n from usage where organization_id = $1 \
               and application_id = $2 and key_id = '' and day >= $3 and day <= $4 and outcome = 'change'";
    query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(from)
        .bind(to)
        .fetch_one(reader, |row| row.get("n"))
        .await
}
