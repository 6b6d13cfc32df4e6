//! Deliveries of a subscription with `ordered` that wait for an earlier one of their resource: they are `pending`, and no attempt
//! is due. Replays neither wait nor block others. Tables: `migrations/0060_webhooks.sql`; the index that finds the earliest one
//! beside any number of replays: `migrations/0081_pending_deliveries.sql`.

use std::collections::BTreeMap;

use anyhow::Result;
use serde_json::json;

use crate::LockRank;
use crate::Tx;
use crate::dialect::each_of;
use crate::json_text;
use crate::sql::{Reader, Row, query};
use crate::webhooks::deliveries::{Delivery, delivery};

/// JSON: the resources, each an object.
fn objects(resource_ids: &[String]) -> String {
    let ids: Vec<_> = resource_ids.iter().map(|id| json!({ "id": id })).collect();
    json_text(&ids)
}

/// The number in the log of the earliest event of each of these resources that has a delivery to the subscription which has not ended. A
/// resource without one is left out.
pub async fn earliest(
    reader: &Reader,
    webhook_id: &str,
    resource_ids: &[String],
) -> Result<BTreeMap<String, i64>> {
    let sql = each_of!(
        reader,
        "select value ->> 'id' as resource_id, (select d.sequence from webhook_deliveries d where d.webhook_id = $1 \
         and d.resource_id = (value ->> 'id') and d.status = 'pending' and d.replay_id = '' order by d.sequence limit 1) as earliest",
        "$2",
        ""
    );
    let found = |row: &Row<'_>| Ok((row.get::<String>("resource_id")?, row.get::<Option<i64>>("earliest")?));
    let rows = query(sql).bind(webhook_id).bind(objects(resource_ids)).fetch_all(reader, found).await?;
    Ok(rows.into_iter().filter_map(|(id, sequence)| Some((id, sequence?))).collect())
}

/// For each of these resources, makes the earliest waiting delivery due if the one before it has ended. Returns those that are
/// due now.
pub async fn release(
    tx: &mut Tx,
    webhook_id: &str,
    resource_ids: &[String],
    now: i64,
) -> Result<Vec<Delivery>> {
    tx.takes(LockRank::Delivery)?;
    let sql = each_of!(
        tx,
        "update webhook_deliveries set next_attempt_at = $3, updated_at = $3 \
         where webhook_id = $1 and status = 'pending' and replay_id = '' and next_attempt_at is null and sequence in \
         (select (select d.sequence from webhook_deliveries d where d.webhook_id = $1 and d.resource_id = (value ->> 'id') \
         and d.status = 'pending' and d.replay_id = '' order by d.sequence limit 1)",
        "$2",
        ") returning id, sequence, replay_id, event_id, resource_id, status, attempts, next_attempt_at"
    );
    let statement = query(sql).bind(webhook_id).bind(objects(resource_ids)).bind(now);
    statement.fetch_all(tx, delivery).await
}

/// Makes at most `limit` deliveries due that wait for another one, the earliest events first: for a subscription that is not `ordered` any
/// more. Returns how many.
pub async fn release_all(tx: &mut Tx, webhook_id: &str, now: i64, limit: i64) -> Result<u64> {
    tx.takes(LockRank::Delivery)?;
    let sql = "update webhook_deliveries set next_attempt_at = $2, updated_at = $2 where status = 'pending' \
               and (webhook_id, sequence, replay_id) in (select webhook_id, sequence, replay_id from webhook_deliveries \
               where webhook_id = $1 and status = 'pending' and next_attempt_at is null order by sequence limit $3)";
    query(sql).bind(webhook_id).bind(now).bind(limit).execute(tx).await
}
