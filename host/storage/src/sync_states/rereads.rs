//! Provider records that a page named and that were left out of it, because a write of this service superseded the page. Each
//! is read again separately. Table: `migrations/0030_superseded_reads.sql`.

use anyhow::Result;

use crate::Tx;
use crate::dialect::{insert_rows, one_of};
use crate::json_text;
use crate::sql::{Reader, query};
use crate::statement_rows::{self, RowValues};

/// A collection (or, with an empty `scope_id`, a surface) of a connection.
#[derive(Clone, Copy, Debug)]
pub struct ScopeKey<'a> {
    pub connection_id: &'a str,
    pub surface: &'a str,
    pub scope_id: &'a str,
}

/// Adds records that are to be read again.
pub async fn add_rereads(tx: &mut Tx, of: ScopeKey<'_>, source_ids: &[String], now: i64) -> Result<()> {
    let sql = insert_rows!(
        tx,
        "sync_rereads",
        [
            connection_id "$1" "text", surface "$2" "text", scope_id "$3" "text", source_id "$4" "text",
            noted_at "$5" "bigint",
        ],
        " on conflict (connection_id, surface, scope_id, source_id) do nothing"
    );
    let rows = source_ids.iter().map(|source_id| {
        let row = RowValues::new().bind(of.connection_id).bind(of.surface).bind(of.scope_id);
        row.bind(source_id).bind(now)
    });
    statement_rows::execute(tx, sql, rows.collect()).await?;
    Ok(())
}

/// Records that are to be read again, the oldest first.
pub async fn rereads(reader: &Reader, of: ScopeKey<'_>, limit: i64) -> Result<Vec<String>> {
    let sql = "select source_id from sync_rereads where connection_id = $1 and surface = $2 and scope_id = $3 \
               order by noted_at, source_id limit $4";
    let of = query(sql).bind(of.connection_id).bind(of.surface).bind(of.scope_id).bind(limit);
    of.fetch_all(reader, |row| row.get("source_id")).await
}

/// Records that records were read again.
pub async fn remove_rereads(tx: &mut Tx, of: ScopeKey<'_>, source_ids: &[String]) -> Result<()> {
    if source_ids.is_empty() {
        return Ok(());
    }
    let sql = one_of!(
        tx,
        "delete from sync_rereads where connection_id = $1 and surface = $2 and scope_id = $3 and source_id",
        "$4"
    );
    let of = query(sql).bind(of.connection_id).bind(of.surface).bind(of.scope_id);
    of.bind(json_text(source_ids)).execute(&mut *tx).await?;
    Ok(())
}

/// Work that earlier pulls of a scope have left; usually none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PullRemains {
    /// Names whose content is still to be read (`names_after`).
    pub has_names: bool,
    /// Records that are to be read again.
    pub has_rereads: bool,
    /// Sources that could not be read.
    pub has_item_errors: bool,
}

/// The work that earlier pulls of a scope have left; `generation`: that of its state.
pub async fn pull_remains(reader: &Reader, of: ScopeKey<'_>, generation: i64) -> Result<PullRemains> {
    let sql = "select cast(case when exists (select 1 from sync_names where connection_id = $1 and surface = $2 \
               and scope_id = $3 and generation = $4) then 1 else 0 end as bigint) as names, \
               cast(case when exists (select 1 from sync_rereads where connection_id = $1 and surface = $2 \
               and scope_id = $3) then 1 else 0 end as bigint) as rereads, \
               cast(case when exists (select 1 from sync_item_errors where connection_id = $1 and surface = $2 \
               and scope_id = $3) then 1 else 0 end as bigint) as item_errors";
    let of = query(sql).bind(of.connection_id).bind(of.surface).bind(of.scope_id).bind(generation);
    of.fetch_one(reader, |row| {
        Ok(PullRemains {
            has_names: row.get::<i64>("names")? != 0,
            has_rereads: row.get::<i64>("rereads")? != 0,
            has_item_errors: row.get::<i64>("item_errors")? != 0,
        })
    })
    .await
}
