//! Request counts per key and day, and counts of what no key asked for. Table: `migrations/0007_usage.sql`.

use std::collections::BTreeMap;

use crate::sql::{Reader, Row, query};
use anyhow::Result;

use base::tenant::Tenant;
use serde_json::json;

use crate::LockRank;
use crate::Tx;
use crate::dialect::each_of;
use crate::json_text;

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

/// Adds to counts of one day (`YYYY-MM-DD`) and one surface that no key is blamed for, by their outcomes. Rows are locked in the order of
/// the outcomes.
pub async fn add_each(
    tx: &mut Tx,
    tenant: &Tenant,
    (day, surface): (&str, &str),
    counts: &BTreeMap<String, i64>,
) -> Result<()> {
    tx.takes(LockRank::Usage)?;
    let sql = each_of!(
        tx,
        "insert into usage (organization_id, application_id, key_id, day, surface, outcome, requests) \
         select $1, $2, '', $3, $4, value ->> 'outcome', cast(value ->> 'requests' as bigint)",
        "$5",
        " where true on conflict (application_id, key_id, day, surface, outcome) \
         do update set requests = usage.requests + excluded.requests"
    );
    let rows: Vec<_> =
        counts.iter().map(|(outcome, n)| json!({ "outcome": outcome, "requests": n })).collect();
    query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(day)
        .bind(surface)
        .bind(json_text(&rows))
        .execute(tx)
        .await?;
    Ok(())
}

/// The application's counts from one day to another, both included, without changes and attempts to deliver.
pub async fn list(reader: &Reader, tenant: &Tenant, from: &str, to: &str) -> Result<Vec<(Bucket, i64)>> {
    let sql = "select key_id, day, surface, outcome, requests from usage where organization_id = $1 \
               and application_id = $2 and day >= $3 and day <= $4 and outcome <> 'change' and outcome not like 'webhook:%' \
               order by day, key_id";
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
/// The outcomes under which messages are counted that were handed over, and reports that one of them did not arrive.
pub const EMAIL_SENT: &str = "emailSent";
pub const EMAIL_BOUNCED: &str = "emailBounced";
/// What the outcomes begin with under which attempts to deliver to webhooks are counted.
pub const WEBHOOK: &str = "webhook:";

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

/// The application's attempts to deliver to webhooks from one day to another, both included, added up by outcome.
pub async fn webhooks(reader: &Reader, tenant: &Tenant, from: &str, to: &str) -> Result<Vec<(String, i64)>> {
    let sql = "select outcome, cast(sum(requests) as bigint) as n from usage where organization_id = $1 \
               and application_id = $2 and key_id = '' and day >= $3 and day <= $4 and outcome like 'webhook:%' \
               group by outcome";
    query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(from)
        .bind(to)
        .fetch_all(reader, |row| Ok((row.get("outcome")?, row.get("n")?)))
        .await
}
