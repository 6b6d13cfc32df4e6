//! Names that items had at their provider until lately. A page that was read before an item was renamed still has the old name, and
//! must not create the item a second time. Table: `migrations/0030_superseded_reads.sql`.

use std::collections::HashSet;

use anyhow::Result;

use crate::Tx;
use crate::dialect::among;
use crate::sql::query;

/// Notes that an item of the connection is called otherwise since this log sequence.
pub async fn leave_source(
    tx: &mut Tx,
    connection_id: &str,
    source_id: &str,
    (sequence, now): (i64, i64),
) -> Result<()> {
    let sql = "insert into item_former_sources (connection_id, source_id, left_sequence, left_at) \
               values ($1, $2, $3, $4) on conflict (connection_id, source_id) do update set \
               left_sequence = excluded.left_sequence, left_at = excluded.left_at";
    query(sql).bind(connection_id).bind(source_id).bind(sequence).bind(now).execute(&mut *tx).await?;
    Ok(())
}

/// Those of the names that an item of the connection had and lost after this log sequence.
pub async fn left_sources(
    tx: &mut Tx,
    connection_id: &str,
    names: &[&str],
    after: i64,
) -> Result<HashSet<String>> {
    let sql = among!(
        tx,
        "select source_id from item_former_sources where connection_id = $1 and left_sequence > $2 and source_id in ",
        "$3",
        ""
    );
    let of = query(sql).bind(connection_id).bind(after).bind(serde_json::to_string(names)?);
    Ok(of.fetch_all(&mut *tx, |row| row.get("source_id")).await?.into_iter().collect())
}

/// Forgets at most so many names that were lost before this time, in milliseconds. Returns how many it forgot.
pub async fn forget_former_sources(tx: &mut Tx, before: i64, limit: i64) -> Result<u64> {
    let sql = "delete from item_former_sources where (connection_id, source_id) in (select connection_id, source_id \
               from item_former_sources where left_at < $1 order by left_at limit $2)";
    query(sql).bind(before).bind(limit).execute(&mut *tx).await
}
