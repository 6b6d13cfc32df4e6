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
use crate::provider_units::DayRange;

/// Rows of counts that a read for people looks at, those of the newest days.
pub const MAX_COUNTS: i64 = 100_000;

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

/// The outcome under which changes are counted: all that the log has, from the API and from providers.
pub const CHANGE: &str = "change";
/// The outcomes under which created and cancelled bookings are counted, by invitees, hosts and keys alike.
pub const BOOKING_CREATED: &str = "bookingCreated";
pub const BOOKING_CANCELLED: &str = "bookingCancelled";
/// The outcomes under which messages are counted that were handed over, and reports that one of them did not arrive.
pub const EMAIL_SENT: &str = "emailSent";
pub const EMAIL_BOUNCED: &str = "emailBounced";
/// The outcome under which calls of assistants' tools are counted.
pub const MCP_CALL: &str = "mcpCall";
/// Prefix of the outcomes under which delivery attempts to webhooks are counted.
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

/// The count of a surface and an outcome on a day, of all keys and of none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DayCount {
    /// `YYYY-MM-DD`, UTC.
    pub day: String,
    pub surface: String,
    pub outcome: String,
    pub requests: i64,
    /// The rows that it was added up from.
    pub rows: i64,
}

/// The counts of an application by day, surface and outcome, the oldest first. Of more than `MAX_COUNTS` rows those of the newest days count.
pub async fn by_day(reader: &Reader, tenant: &Tenant, days: DayRange<'_>) -> Result<Vec<DayCount>> {
    let sql = "select day, surface, outcome, cast(sum(requests) as bigint) as total, count(*) as counted from \
               (select day, surface, outcome, requests from usage where application_id = $1 and organization_id = $2 \
               and day >= $3 and day <= $4 order by day desc limit $5) as newest \
               group by day, surface, outcome order by day, surface, outcome";
    query(sql)
        .bind(&tenant.application_id)
        .bind(&tenant.organization_id)
        .bind(days.from)
        .bind(days.to)
        .bind(MAX_COUNTS)
        .fetch_all(reader, |row| {
            Ok(DayCount {
                day: row.get("day")?,
                surface: row.get("surface")?,
                outcome: row.get("outcome")?,
                requests: row.get("total")?,
                rows: row.get("counted")?,
            })
        })
        .await
}

/// The requests of a key, and those of them that did not succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyTotal {
    pub key_id: String,
    pub requests: i64,
    pub failed: i64,
}

/// The keys of an application with the most requests on these days, the most first. Rows count as for `by_day`.
pub async fn by_key(
    reader: &Reader,
    tenant: &Tenant,
    days: DayRange<'_>,
    limit: i64,
) -> Result<Vec<KeyTotal>> {
    let sql = "select key_id, cast(sum(requests) as bigint) as total, \
               cast(sum(case when outcome = 'success' then 0 else requests end) as bigint) as failed from \
               (select key_id, outcome, requests from usage where application_id = $1 and organization_id = $2 \
               and key_id <> '' and day >= $3 and day <= $4 order by day desc limit $5) as newest \
               group by key_id order by total desc, key_id limit $6";
    query(sql)
        .bind(&tenant.application_id)
        .bind(&tenant.organization_id)
        .bind(days.from)
        .bind(days.to)
        .bind(MAX_COUNTS)
        .bind(limit)
        .fetch_all(reader, |row| {
            Ok(KeyTotal {
                key_id: row.get("key_id")?,
                requests: row.get("total")?,
                failed: row.get("failed")?,
            })
        })
        .await
}

/// The counts of one key by day and outcome, the oldest first.
pub async fn of_key(
    reader: &Reader,
    tenant: &Tenant,
    key_id: &str,
    days: DayRange<'_>,
) -> Result<Vec<DayCount>> {
    let sql = "select day, outcome, cast(sum(requests) as bigint) as total, count(*) as counted from usage \
               where application_id = $1 and organization_id = $2 and key_id = $3 and day >= $4 and day <= $5 \
               group by day, outcome order by day, outcome";
    query(sql)
        .bind(&tenant.application_id)
        .bind(&tenant.organization_id)
        .bind(key_id)
        .bind(days.from)
        .bind(days.to)
        .fetch_all(reader, |row| {
            Ok(DayCount {
                day: row.get("day")?,
                surface: String::new(),
                outcome: row.get("outcome")?,
                requests: row.get("total")?,
                rows: row.get("counted")?,
            })
        })
        .await
}

/// At most `limit` counts of an application on these days, without attempts to deliver; the newest day first.
pub async fn newest(
    reader: &Reader,
    tenant: &Tenant,
    days: DayRange<'_>,
    limit: i64,
) -> Result<Vec<(Bucket, i64)>> {
    let sql = "select key_id, day, surface, outcome, requests from usage where application_id = $1 \
               and organization_id = $2 and outcome not like 'webhook:%' and day >= $3 and day <= $4 \
               order by day desc, key_id, surface, outcome limit $5";
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
        .bind(&tenant.application_id)
        .bind(&tenant.organization_id)
        .bind(days.from)
        .bind(days.to)
        .bind(limit)
        .fetch_all(reader, count)
        .await
}
