//! Recent former names of items at their provider. A page that was read before an item was renamed still has the old name, and
//! must not create the item a second time. Table: `migrations/0030_superseded_reads.sql`.

use std::collections::{BTreeMap, HashSet};

use anyhow::Result;

use crate::Tx;
use crate::dialect::{insert_rows, one_of};
use crate::sql::query;
use crate::statement_rows::{self, RowValues};

/// A name that an item had until this log sequence.
#[derive(Clone, Copy, Debug)]
pub struct FormerSource<'f> {
    pub source_id: &'f str,
    pub sequence: i64,
}

/// Records former names of items of the connection.
pub async fn leave_sources(
    tx: &mut Tx,
    connection_id: &str,
    sources: &[FormerSource<'_>],
    now: i64,
) -> Result<()> {
    let sql = insert_rows!(
        tx,
        "item_former_sources",
        [connection_id "$1" "text", source_id "$2" "text", left_sequence "$3" "bigint", left_at "$4" "bigint"],
        " on conflict (connection_id, source_id) do update set left_sequence = excluded.left_sequence, \
         left_at = excluded.left_at"
    );
    // If a name was lost twice, the last time counts.
    let sequences: BTreeMap<&str, i64> = sources.iter().map(|one| (one.source_id, one.sequence)).collect();
    let rows = sequences.into_iter().map(|(source_id, sequence)| {
        RowValues::new().bind(connection_id).bind(source_id).bind(sequence).bind(now)
    });
    statement_rows::execute(tx, sql, rows.collect()).await?;
    Ok(())
}

/// The same for one.
pub async fn leave_source(
    tx: &mut Tx,
    connection_id: &str,
    source_id: &str,
    (sequence, now): (i64, i64),
) -> Result<()> {
    leave_sources(tx, connection_id, &[FormerSource { source_id, sequence }], now).await
}

/// Returns the names among these that an item of the connection had and lost after this log sequence.
pub async fn left_sources(
    tx: &mut Tx,
    connection_id: &str,
    names: &[&str],
    after: i64,
) -> Result<HashSet<String>> {
    let sql = one_of!(
        tx,
        "select source_id from item_former_sources where connection_id = $1 and left_sequence > $2 and source_id",
        "$3",
        ""
    );
    let of = query(sql).bind(connection_id).bind(after).bind(serde_json::to_string(names)?);
    Ok(of.fetch_all(&mut *tx, |row| row.get("source_id")).await?.into_iter().collect())
}

/// Deletes at most `limit` names that were lost before this time, in milliseconds. Returns how many.
pub async fn forget_former_sources(tx: &mut Tx, before: i64, limit: i64) -> Result<u64> {
    let sql = "delete from item_former_sources where (connection_id, source_id) in (select connection_id, source_id \
               from item_former_sources where left_at < $1 order by left_at limit $2)";
    query(sql).bind(before).bind(limit).execute(&mut *tx).await
}
