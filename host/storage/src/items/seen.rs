//! Items that a scan of their collection has named so far. Table: `migrations/0031_resumed_scans.sql`.

use anyhow::Result;

use crate::Tx;
use crate::dialect::one_of;
use crate::items::collection::Family;
use crate::locked::ConnectionLock;
use crate::sql::{On, Reader, Row, query};

/// Marks the items read from these sources as seen by the scan of this generation.
pub async fn mark_seen(
    tx: &mut Tx,
    lock: &ConnectionLock,
    (family, parent_id): (Family, &str),
    source_ids: &[&str],
    generation: i64,
) -> Result<()> {
    let sql = one_of!(
        tx,
        "update items set seen_in = $1 where connection_id = $2 and kind in ($3, $4, $5, $6) and parent_id = $7 \
         and seen_in <> $1 and source_id",
        "$8"
    );
    query(sql)
        .bind(generation)
        .bind(&lock.id)
        .bind(family[0])
        .bind(family[1])
        .bind(family[2])
        .bind(family[3])
        .bind(parent_id)
        .bind(serde_json::to_string(source_ids)?)
        .execute(&mut *tx)
        .await?;
    Ok(())
}

/// Id and provider's version of each live item of these sources.
pub async fn held_versions(
    reader: &Reader,
    connection_id: &str,
    (family, parent_id): (Family, &str),
    source_ids: &[&str],
) -> Result<Vec<(String, Option<String>)>> {
    let sql = one_of!(
        reader,
        "select source_id, provider_etag from items where connection_id = $1 and kind in ($2, $3, $4, $5) \
         and parent_id = $6 and deleted_at is null and source_id",
        "$7"
    );
    query(sql)
        .bind(connection_id)
        .bind(family[0])
        .bind(family[1])
        .bind(family[2])
        .bind(family[3])
        .bind(parent_id)
        .bind(serde_json::to_string(source_ids)?)
        .fetch_all(reader, |row| Ok((row.get("source_id")?, row.get("provider_etag")?)))
        .await
}

/// Distinct ids of the sources of a collection that have live items which the scan of this generation has not seen.
pub async fn unseen_sources(
    on: impl Into<On<'_>>,
    connection_id: &str,
    (family, parent_id): (Family, &str),
    generation: i64,
) -> Result<Vec<String>> {
    let sql = "select distinct source_id from items where connection_id = $1 and kind in ($2, $3, $4, $5) and \
               parent_id = $6 and deleted_at is null and seen_in <> $7 order by source_id";
    query(sql)
        .bind(connection_id)
        .bind(family[0])
        .bind(family[1])
        .bind(family[2])
        .bind(family[3])
        .bind(parent_id)
        .bind(generation)
        .fetch_all(on, |row| row.get("source_id"))
        .await
}

/// A source of a collection with live items that a scan has not seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnseenSource {
    pub source_id: String,
    /// The kind of its items; one of several kinds is there once for each.
    pub kind: String,
    /// The last scan that has seen the item.
    pub seen_in: i64,
}

/// The sources of a collection that have live items which the scan of this generation has not seen, for each kind.
pub async fn unseen(
    reader: &Reader,
    connection_id: &str,
    family: Family,
    parent_id: &str,
    generation: i64,
) -> Result<Vec<UnseenSource>> {
    let sql = "select source_id, kind, max(seen_in) as seen_in from items where connection_id = $1 and \
               kind in ($2, $3, $4, $5) and parent_id = $6 and deleted_at is null and seen_in <> $7 \
               group by source_id, kind order by source_id, kind";
    let unseen = |row: &Row<'_>| {
        Ok(UnseenSource {
            source_id: row.get("source_id")?,
            kind: row.get("kind")?,
            seen_in: row.get("seen_in")?,
        })
    };
    query(sql)
        .bind(connection_id)
        .bind(family[0])
        .bind(family[1])
        .bind(family[2])
        .bind(family[3])
        .bind(parent_id)
        .bind(generation)
        .fetch_all(reader, unseen)
        .await
}

/// The number of sources of each kind that the scan of this generation has seen and that existed before it began, when `since`
/// was the log's last sequence.
pub async fn seen_again(
    reader: &Reader,
    connection_id: &str,
    family: Family,
    parent_id: &str,
    generation: i64,
    since: i64,
) -> Result<Vec<(String, i64)>> {
    let sql = "select kind, count(distinct source_id) as sources from items where connection_id = $1 and \
               kind in ($2, $3, $4, $5) and parent_id = $6 and deleted_at is null and seen_in = $7 \
               and (sequence <= $8 or created_at < updated_at) group by kind";
    query(sql)
        .bind(connection_id)
        .bind(family[0])
        .bind(family[1])
        .bind(family[2])
        .bind(family[3])
        .bind(parent_id)
        .bind(generation)
        .bind(since)
        .fetch_all(reader, |row| Ok((row.get("kind")?, row.get("sources")?)))
        .await
}
