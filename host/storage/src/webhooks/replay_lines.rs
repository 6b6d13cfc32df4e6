//! Log lines that a replay reads, with their times, and those that a subscription gave up. Tables:
//! `migrations/0004_log.sql` and `migrations/0060_webhooks.sql`.

use anyhow::Result;
use base::tenant::Tenant;
use model::webhook::DeliveryStatus;
use serde_json::json;

use crate::dialect::{each_of, one_of};
use crate::json_text;
use crate::log::{Light, account_ids};
use crate::sql::{On, Reader, Row, query};
use crate::webhooks::of_word;

/// A line of the log without its resource.
#[derive(Clone, Debug, PartialEq)]
pub struct TimedLine {
    pub line: Light,
    /// When it happened, in milliseconds since 1970.
    pub at: i64,
}

fn timed(row: &Row<'_>) -> Result<TimedLine> {
    Ok(TimedLine {
        line: Light {
            sequence: row.get("sequence")?,
            id: row.get("id")?,
            connection_id: row.get("connection_id")?,
            account_ids: account_ids(row)?,
            entry_type: row.get("type")?,
            resource_id: row.get("resource_id")?,
            origin: row.get("origin")?,
        },
        at: row.get("at")?,
    })
}

/// The first `limit` lines with numbers after `after` and up to `last`, in the order of their numbers.
pub async fn after(
    reader: &Reader,
    tenant: &Tenant,
    (after, last): (i64, i64),
    limit: i64,
) -> Result<Vec<TimedLine>> {
    let sql = "select sequence, id, connection_id, account_ids, type, resource_id, origin, at from log \
               where application_id = $1 and organization_id = $2 and sequence > $3 and sequence <= $4 order by sequence limit $5";
    query(sql)
        .bind(&tenant.application_id)
        .bind(&tenant.organization_id)
        .bind(after)
        .bind(last)
        .bind(limit)
        .fetch_all(reader, timed)
        .await
}

/// The last `limit` lines with numbers before `before`, newest first.
pub async fn before(reader: &Reader, tenant: &Tenant, before: i64, limit: i64) -> Result<Vec<TimedLine>> {
    let sql = "select sequence, id, connection_id, account_ids, type, resource_id, origin, at from log \
               where application_id = $1 and organization_id = $2 and sequence < $3 order by sequence desc limit $4";
    query(sql)
        .bind(&tenant.application_id)
        .bind(&tenant.organization_id)
        .bind(before)
        .bind(limit)
        .fetch_all(reader, timed)
        .await
}

/// The first line with a number after `after`.
pub async fn first_after(on: impl Into<On<'_>>, tenant: &Tenant, after: i64) -> Result<Option<TimedLine>> {
    let sql = "select sequence, id, connection_id, account_ids, type, resource_id, origin, at from log \
               where application_id = $1 and organization_id = $2 and sequence > $3 order by sequence limit 1";
    query(sql)
        .bind(&tenant.application_id)
        .bind(&tenant.organization_id)
        .bind(after)
        .fetch_optional(on, timed)
        .await
}

/// The lines of the application with these ids, in the order of their numbers.
pub async fn by_ids(reader: &Reader, tenant: &Tenant, ids: &[String]) -> Result<Vec<TimedLine>> {
    // `coalesce`: else SQLite goes through all lines of the application instead of looking up the ids.
    let sql = one_of!(
        reader,
        "select sequence, id, connection_id, account_ids, type, resource_id, origin, at from log \
         where coalesce(application_id, '') = $1 and coalesce(organization_id, '') = $2 and id",
        "$3"
    );
    let statement = query(sql).bind(&tenant.application_id).bind(&tenant.organization_id);
    let mut lines = statement.bind(json_text(ids)).fetch_all(reader, timed).await?;
    lines.sort_by_key(|timed| timed.line.sequence);
    Ok(lines)
}

/// The first `limit` deliveries of a subscription that were given up, with numbers after `after` and up to `last`: the numbers of their
/// events and the events' ids, in the order of the numbers. An event that was also given up in a replay is there several times.
pub async fn given_up(
    reader: &Reader,
    webhook_id: &str,
    (after, last): (i64, i64),
    limit: i64,
) -> Result<Vec<(i64, String)>> {
    let sql = "select sequence, event_id from webhook_deliveries \
               where webhook_id = $1 and status in ('failed', 'discarded') and sequence > $2 and sequence <= $3 order by sequence limit $4";
    query(sql)
        .bind(webhook_id)
        .bind(after)
        .bind(last)
        .bind(limit)
        .fetch_all(reader, |row| Ok((row.get("sequence")?, row.get("event_id")?)))
        .await
}

/// How the deliveries of the events with these numbers stand at a subscription, those of replays among them.
pub async fn statuses(
    reader: &Reader,
    webhook_id: &str,
    sequences: &[i64],
) -> Result<Vec<(i64, DeliveryStatus)>> {
    // `cross join`: SQLite then looks up the numbers, instead of going through all deliveries of the subscription.
    let sql = each_of!(
        reader,
        "select distinct d.sequence, d.status from (select cast(value ->> 'sequence' as bigint) as sequence",
        "$2",
        ") as s cross join webhook_deliveries d where d.webhook_id = $1 and d.sequence = s.sequence"
    );
    let wanted: Vec<_> = sequences.iter().map(|sequence| json!({ "sequence": sequence })).collect();
    query(sql)
        .bind(webhook_id)
        .bind(json_text(&wanted))
        .fetch_all(reader, |row| Ok((row.get("sequence")?, of_word(row.get("status")?)?)))
        .await
}
