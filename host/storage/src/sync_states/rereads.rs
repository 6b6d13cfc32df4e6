//! Provider records that a page named and that were left out of it, because a write of ours superseded the page. Each is read again by
//! itself. Table: `migrations/0030_superseded_reads.sql`.

use anyhow::Result;

use crate::Tx;
use crate::sql::{Reader, query};

/// A collection (or, with an empty `scope_id`, a surface) of a connection.
#[derive(Clone, Copy, Debug)]
pub struct ScopeKey<'a> {
    pub connection_id: &'a str,
    pub surface: &'a str,
    pub scope_id: &'a str,
}

/// Notes records that are to be read again.
pub async fn add_rereads(tx: &mut Tx, of: ScopeKey<'_>, source_ids: &[String], now: i64) -> Result<()> {
    let sql = "insert into sync_rereads (connection_id, surface, scope_id, source_id, noted_at) \
               values ($1, $2, $3, $4, $5) on conflict (connection_id, surface, scope_id, source_id) do nothing";
    for source_id in source_ids {
        let of = query(sql).bind(of.connection_id).bind(of.surface).bind(of.scope_id);
        of.bind(source_id).bind(now).execute(&mut *tx).await?;
    }
    Ok(())
}

/// Records that are to be read again, the longest noted first.
pub async fn rereads(reader: &Reader, of: ScopeKey<'_>, limit: i64) -> Result<Vec<String>> {
    let sql = "select source_id from sync_rereads where connection_id = $1 and surface = $2 and scope_id = $3 \
               order by noted_at, source_id limit $4";
    let of = query(sql).bind(of.connection_id).bind(of.surface).bind(of.scope_id).bind(limit);
    of.fetch_all(reader, |row| row.get("source_id")).await
}

/// Notes that a record was read again.
pub async fn remove_reread(tx: &mut Tx, of: ScopeKey<'_>, source_id: &str) -> Result<()> {
    let sql = "delete from sync_rereads where connection_id = $1 and surface = $2 and scope_id = $3 \
               and source_id = $4";
    let of = query(sql).bind(of.connection_id).bind(of.surface).bind(of.scope_id).bind(source_id);
    of.execute(&mut *tx).await?;
    Ok(())
}
