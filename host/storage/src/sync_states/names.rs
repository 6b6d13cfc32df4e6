//! Names of sources whose content is still to be read, by the batch. Table: `migrations/0033_sync_names.sql`.

use anyhow::Result;

use crate::Tx;
use crate::dialect::insert_rows;
use crate::sql::{Reader, query};
use crate::statement_rows::{self, RowValues};
use crate::sync_states::rereads::ScopeKey;

/// Names that are read together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    pub number: i64,
    /// A JSON array of `wire::SourceName`.
    pub names: String,
}

/// Replaces the stored names of this scope.
pub async fn keep_names(tx: &mut Tx, of: ScopeKey<'_>, generation: i64, batches: &[Batch]) -> Result<()> {
    forget_names(tx, of).await?;
    let sql = insert_rows!(
        tx,
        "sync_names",
        [
            connection_id "$1" "text", surface "$2" "text", scope_id "$3" "text", generation "$4" "bigint",
            batch "$5" "bigint", names "$6" "text",
        ],
        ""
    );
    let rows = batches.iter().map(|batch| {
        let row = RowValues::new().bind(of.connection_id).bind(of.surface).bind(of.scope_id).bind(generation);
        row.bind(batch.number).bind(&batch.names)
    });
    statement_rows::execute(tx, sql, rows.collect()).await?;
    Ok(())
}

/// The first batch after this number that is still to be read; from -1, of all.
pub async fn names_after(
    reader: &Reader,
    of: ScopeKey<'_>,
    (generation, number): (i64, i64),
) -> Result<Option<Batch>> {
    let sql = "select batch, names from sync_names where connection_id = $1 and surface = $2 and scope_id = $3 \
               and generation = $4 and batch > $5 order by batch limit 1";
    let of = query(sql).bind(of.connection_id).bind(of.surface).bind(of.scope_id).bind(generation);
    of.bind(number)
        .fetch_optional(reader, |row| Ok(Batch { number: row.get("batch")?, names: row.get("names")? }))
        .await
}

/// Records that a batch was read. If another host has since stored a batch of the same number, from its own listing, that one
/// stays.
pub async fn remove_names(tx: &mut Tx, of: ScopeKey<'_>, generation: i64, batch: &Batch) -> Result<()> {
    let sql = "delete from sync_names where connection_id = $1 and surface = $2 and scope_id = $3 \
               and generation = $4 and batch = $5 and names = $6";
    let of = query(sql).bind(of.connection_id).bind(of.surface).bind(of.scope_id).bind(generation);
    of.bind(batch.number).bind(&batch.names).execute(&mut *tx).await?;
    Ok(())
}

/// Deletes all names of a scope, of any generation.
async fn forget_names(tx: &mut Tx, of: ScopeKey<'_>) -> Result<()> {
    let sql = "delete from sync_names where connection_id = $1 and surface = $2 and scope_id = $3";
    let of = query(sql).bind(of.connection_id).bind(of.surface).bind(of.scope_id);
    of.execute(&mut *tx).await?;
    Ok(())
}
