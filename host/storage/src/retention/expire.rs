//! Removal of rows that are older than their retention. Each function removes at most `most` rows, and returns how many it
//! removed; none when nothing is left. Two hosts may do the same at the same time; then one finds less.

use std::collections::BTreeMap;

use anyhow::Result;
use base::tenant::Tenant;

use crate::Tx;
use crate::dialect::one_of;
use crate::json_text;
use crate::locked::ConnectionLock;
use crate::retention::{Budget, delete_some};
use crate::sql::{Row, query};

/// Answers to idempotent writes that were claimed before then.
pub async fn idempotency(tx: &mut Tx, before: i64, most: i64) -> Result<i64> {
    let sql = "delete from idempotency where (application_id, scope) in \
               (select application_id, scope from idempotency where claimed_at < $1 order by claimed_at limit $2)";
    older(tx, sql, before, most).await
}

/// Messages that are sent, or never will be, and have not changed since then. Their bytes went when that was settled; delivery
/// reports are stored in the message.
pub async fn outbox(tx: &mut Tx, before: i64, most: i64) -> Result<i64> {
    let sql = "delete from outbox where id in (select id from outbox where next_attempt_at is null \
               and updated_at < $1 order by updated_at limit $2)";
    older(tx, sql, before, most).await
}

async fn older(tx: &mut Tx, sql: &'static str, before: i64, most: i64) -> Result<i64> {
    let done = query(sql).bind(before).bind(most).execute(tx).await?;
    Ok(i64::try_from(done).unwrap_or(i64::MAX))
}

/// Deletes the oldest entries of an application's log that are older than `before`. Feeds can no longer be read from before them.
pub async fn log(tx: &mut Tx, tenant: &Tenant, before: i64, most: i64) -> Result<u64> {
    let oldest = query("select sequence, at from log where application_id = $1 order by sequence limit $2")
        .bind(&tenant.application_id)
        .bind(most)
        .fetch_all(&mut *tx, |row| Ok((row.get::<i64>("sequence")?, row.get::<i64>("at")?)))
        .await?;
    let Some(last) = oldest.iter().filter(|(_, at)| *at < before).map(|(sequence, _)| *sequence).max() else {
        return Ok(0);
    };
    query("update applications set floor_sequence = $1 where id = $2 and organization_id = $3 and floor_sequence < $1")
        .bind(last)
        .bind(&tenant.application_id)
        .bind(&tenant.organization_id)
        .execute(&mut *tx)
        .await?;
    query("delete from log where application_id = $1 and sequence <= $2")
        .bind(&tenant.application_id)
        .bind(last)
        .execute(&mut *tx)
        .await
}

/// Counts of requests of the days before this one (`YYYY-MM-DD`).
pub async fn usage(tx: &mut Tx, tenant: &Tenant, before: &str, most: i64) -> Result<i64> {
    let sql = "delete from usage where (application_id, key_id, day, surface, outcome) in \
               (select application_id, key_id, day, surface, outcome from usage where application_id = $1 and organization_id = $2 \
               and day < $3 order by day limit $4)";
    let statement = query(sql).bind(&tenant.application_id).bind(&tenant.organization_id);
    let done = statement.bind(before).bind(most).execute(tx).await?;
    Ok(i64::try_from(done).unwrap_or(i64::MAX))
}

/// Units of providers' quotas of the days before this one (`YYYY-MM-DD`).
pub async fn provider_units(tx: &mut Tx, tenant: &Tenant, before: &str, most: i64) -> Result<i64> {
    let sql = "delete from provider_units where (connection_id, day, bucket) in \
               (select connection_id, day, bucket from provider_units where application_id = $1 and organization_id = $2 \
               and day < $3 order by day limit $4)";
    let statement = query(sql).bind(&tenant.application_id).bind(&tenant.organization_id);
    let done = statement.bind(before).bind(most).execute(tx).await?;
    Ok(i64::try_from(done).unwrap_or(i64::MAX))
}

/// Tracking records that expired before then, with their events.
pub async fn tracking(tx: &mut Tx, before: i64, most: i64) -> Result<i64> {
    let expired = query("select id from tracking where expires_at < $1 order by expires_at, id limit $2");
    let found = expired.bind(before).bind(most).fetch_all(&mut *tx, |row| row.get::<String>("id")).await?;
    let children = one_of!(
        tx,
        "delete from tracking_events where id in (select id from tracking_events where tracking_id",
        "$1",
        " limit $2)"
    );
    let mut budget = Budget::new(most);
    if !found.is_empty() && delete_some(tx, children, &json_text(&found), &mut budget).await? {
        let sql = one_of!(tx, "delete from tracking where id", "$1");
        budget.take(query(sql).bind(budget.ids(&found)).execute(&mut *tx).await?);
    }
    Ok(budget.spent())
}

/// Threads that have been empty, or part of another, since before then, of one connection at a time.
pub async fn threads(tx: &mut Tx, before: i64, most: i64) -> Result<i64> {
    let sql = "select id, connection_id, organization_id, application_id from email_threads where emptied_at < $1 \
               order by emptied_at, id limit $2";
    let read = |row: &Row<'_>| {
        let tenant = Tenant {
            organization_id: row.get("organization_id")?,
            application_id: row.get("application_id")?,
        };
        Ok((row.get::<String>("id")?, row.get::<String>("connection_id")?, tenant))
    };
    let found = query(sql).bind(before).bind(most).fetch_all(&mut *tx, read).await?;
    let Some((_, connection_id, tenant)) = found.first() else { return Ok(0) };
    // A message that arrives now may revive one of them: its transaction locks the connection.
    let Some(_lock) = ConnectionLock::take(tx, tenant, connection_id).await? else {
        // It has been deleted, and its threads with it.
        return Ok(0);
    };
    let of_connection = found.iter().filter(|(_, owner, _)| owner == connection_id).map(|(id, ..)| id);
    let ids: Vec<&String> = of_connection.collect();
    let still = one_of!(tx, "select id from email_threads where emptied_at < $2 and id", "$1");
    let still = query(still).bind(json_text(&ids)).bind(before);
    let still = still.fetch_all(&mut *tx, |row| row.get::<String>("id")).await?;
    let children = one_of!(
        tx,
        "delete from email_thread_refs where (connection_id, ref) in \
         (select connection_id, ref from email_thread_refs where thread_id",
        "$1",
        " limit $2)"
    );
    let mut budget = Budget::new(most);
    if delete_some(tx, children, &json_text(&still), &mut budget).await? {
        let sql = one_of!(tx, "delete from email_threads where id", "$1");
        budget.take(query(sql).bind(budget.ids(&still)).execute(&mut *tx).await?);
    }
    Ok(budget.spent())
}

/// Statements that delete at most `$2` dependent rows of deleted items, whose ids are in `$1`. A message is removed from its
/// places when it is deleted.
fn of_items(tx: &Tx) -> [&'static str; 3] {
    [
        one_of!(
            tx,
            "delete from item_keys where (item_id, name, value) in (select item_id, name, value from item_keys where item_id",
            "$1",
            " limit $2)"
        ),
        one_of!(
            tx,
            "delete from item_refs where (from_id, to_uid) in (select from_id, to_uid from item_refs where from_id",
            "$1",
            " limit $2)"
        ),
        one_of!(
            tx,
            "delete from item_parts where id in (select id from item_parts where item_id",
            "$1",
            " limit $2)"
        ),
    ]
}

/// The same for dependent rows of collections, which are at the top level of the connection `$3`.
fn of_collections(tx: &Tx) -> [&'static str; 5] {
    [
        one_of!(
            tx,
            "delete from sync_names where (connection_id, surface, scope_id, generation, batch) in \
             (select connection_id, surface, scope_id, generation, batch from sync_names where connection_id = $3 and scope_id",
            "$1",
            " limit $2)"
        ),
        one_of!(
            tx,
            "delete from sync_rereads where (connection_id, surface, scope_id, source_id) in \
             (select connection_id, surface, scope_id, source_id from sync_rereads where connection_id = $3 and scope_id",
            "$1",
            " limit $2)"
        ),
        one_of!(
            tx,
            "delete from sync_item_errors where (connection_id, surface, scope_id, source_id) in \
             (select connection_id, surface, scope_id, source_id from sync_item_errors where connection_id = $3 and scope_id",
            "$1",
            " limit $2)"
        ),
        one_of!(
            tx,
            "delete from sync_states where (connection_id, surface, scope_id) in \
             (select connection_id, surface, scope_id from sync_states where connection_id = $3 and scope_id",
            "$1",
            " limit $2)"
        ),
        one_of!(
            tx,
            "delete from item_totals where (connection_id, parent_id, kind) in \
             (select connection_id, parent_id, kind from item_totals where connection_id = $3 and parent_id",
            "$1",
            " limit $2)"
        ),
    ]
}

/// An item of which only the tombstone is left.
struct Tombstone {
    id: String,
    connection_id: String,
    kind: String,
}

/// Tombstones whose deletion is no longer in the log: those up to `sequence`. The number of statements depends only on the number
/// of connections whose collections are among them.
pub async fn tombstones(tx: &mut Tx, tenant: &Tenant, sequence: i64, most: i64) -> Result<i64> {
    let sql = "select id, connection_id, kind from items where application_id = $1 and organization_id = $2 \
               and deleted_at is not null and sequence <= $3 order by sequence, id limit $4";
    let read = |row: &Row<'_>| {
        Ok(Tombstone { id: row.get("id")?, connection_id: row.get("connection_id")?, kind: row.get("kind")? })
    };
    let of = query(sql).bind(&tenant.application_id).bind(&tenant.organization_id);
    let found = of.bind(sequence).bind(most).fetch_all(&mut *tx, read).await?;
    if found.is_empty() {
        return Ok(0);
    }
    let mut budget = Budget::new(most);
    let mut collections: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let is_collection = |kind: &str| matches!(kind, "calendar" | "contact_book" | "task_list");
    for gone in found.iter().filter(|gone| is_collection(&gone.kind)) {
        collections.entry(&gone.connection_id).or_default().push(&gone.id);
    }
    let ids: Vec<String> = found.iter().map(|gone| gone.id.clone()).collect();
    let all = json_text(&ids);
    for sql in of_items(tx) {
        delete_some(tx, sql, &all, &mut budget).await?;
    }
    for (connection_id, ids) in collections {
        for sql in of_collections(tx) {
            let statement = query(sql).bind(json_text(&ids)).bind(budget.left.max(0)).bind(connection_id);
            budget.take(statement.execute(&mut *tx).await?);
        }
    }
    if !budget.is_spent() {
        // If it was written again in the meantime, it is no longer a tombstone, or one that is in the log.
        let sql =
            one_of!(tx, "delete from items where deleted_at is not null and sequence <= $2 and id", "$1");
        let rows = query(sql).bind(budget.ids(&ids)).bind(sequence);
        budget.take(rows.execute(&mut *tx).await?);
    }
    Ok(budget.spent())
}
