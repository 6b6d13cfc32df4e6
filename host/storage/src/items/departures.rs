//! Items whose object got another name at the provider. `Item::fingerprint`, which stays the same, finds them again; the metadata
//! that clients wrote to an item that left is kept for a while. Table: `migrations/0034_item_departures.*.sql`.

use std::collections::{BTreeMap, HashMap};

use anyhow::Result;

use crate::Tx;
use crate::dialect::{insert_rows, one_of};
use crate::items::row::{Item, item};
use crate::locked::LockedRow;
use crate::sql::{Reader, query};
use crate::statement_rows::{self, RowValues};

/// Time within which an object that left may come back under another name as the same item, milliseconds.
pub const RETURN_MS: i64 = 24 * 3_600_000;

/// A live item with its fingerprint, which stays the same when the object is renamed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FingerprintedItem {
    pub fingerprint: String,
    pub parent_id: String,
    pub source_id: String,
}

/// Live items of a connection with these fingerprints, in no order; at most `most`.
pub async fn live_by_fingerprint(
    reader: &Reader,
    connection_id: &str,
    fingerprints: &[&str],
    most: i64,
) -> Result<Vec<FingerprintedItem>> {
    if fingerprints.is_empty() {
        return Ok(Vec::new());
    }
    let sql = one_of!(
        reader,
        "select fingerprint, parent_id, source_id from items where connection_id = $1 and deleted_at is null and fingerprint",
        "$2",
        " limit $3"
    );
    query(sql)
        .bind(connection_id)
        .bind(serde_json::to_string(fingerprints)?)
        .bind(most)
        .fetch_all(reader, |row| {
            Ok(FingerprintedItem {
                fingerprint: row.get("fingerprint")?,
                parent_id: row.get("parent_id")?,
                source_id: row.get("source_id")?,
            })
        })
        .await
}

/// Live items of a connection with this fingerprint, the newest first; at most `most`.
pub async fn live_with_fingerprint(
    reader: &Reader,
    connection_id: &str,
    fingerprint: &str,
    most: i64,
) -> Result<Vec<Item>> {
    let sql = select!(
        "where connection_id = $1 and fingerprint = $2 and deleted_at is null order by created_at desc, id desc limit $3"
    );
    query(sql).bind(connection_id).bind(fingerprint).bind(most).fetch_all(reader, item).await
}

/// Stores the metadata of items whose tombstones are written with this `deleted_at`.
pub async fn depart(tx: &mut Tx, all: &[&LockedRow<'_, Item>], left_at: i64) -> Result<()> {
    let sql = insert_rows!(
        tx,
        "item_departures",
        [item_id "$1" "text", connection_id "$2" "text", metadata "$3" "text", left_at "$4" "bigint"],
        " on conflict (item_id) do update set metadata = excluded.metadata, left_at = excluded.left_at"
    );
    let rows: BTreeMap<&str, RowValues<'_>> = all
        .iter()
        .map(|one| {
            (one.id.as_str(), RowValues::new().bind(&one.id).bind(&one.connection_id).bind(&one.metadata))
        })
        .collect();
    let rows = rows.into_values().map(|row| row.bind(left_at));
    statement_rows::execute(tx, sql, rows.collect()).await?;
    Ok(())
}

/// The metadata kept of items that left, and when they left (ms), by id.
pub async fn departed(tx: &mut Tx, ids: &[&str]) -> Result<HashMap<String, (String, i64)>> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let sql = one_of!(tx, "select item_id, metadata, left_at from item_departures where item_id", "$1", "");
    let found: Vec<(String, (String, i64))> = query(sql)
        .bind(serde_json::to_string(ids)?)
        .fetch_all(&mut *tx, |row| Ok((row.get("item_id")?, (row.get("metadata")?, row.get("left_at")?))))
        .await?;
    Ok(found.into_iter().collect())
}

/// Deletes the metadata kept of at most `limit` items that left before this time, in milliseconds. Returns how many rows it
/// deleted.
pub async fn forget_departures(tx: &mut Tx, before: i64, limit: i64) -> Result<u64> {
    let sql = "delete from item_departures where item_id in (select item_id from item_departures \
               where left_at < $1 order by left_at limit $2)";
    query(sql).bind(before).bind(limit).execute(&mut *tx).await
}
