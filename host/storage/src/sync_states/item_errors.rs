//! Sources that could not be read. Tables: `migrations/0005_sync_states.sql`, `0009_item_error_versions.sql`,
//! `0010_item_error_connectors.sql`, `0031_resumed_scans.sql`.

use anyhow::Result;

use crate::Tx;
use crate::dialect::{insert_rows, one_of};
use crate::json_text;
use crate::sql::{On, Reader, Row, query};
use crate::statement_rows::{self, RowValues};
use crate::sync_states::sync_state::SyncState;

/// A source that could not be read.
#[derive(Clone, Debug)]
pub struct ItemError {
    pub source_id: String,
    /// The provider's version that could not be read.
    pub provider_etag: Option<String>,
    /// The build of the connector that could not read it.
    pub connector: Option<String>,
    pub code: String,
    pub message: String,
    /// How often that version was tried.
    pub attempts: i64,
    /// When it was last tried.
    pub at: i64,
}

fn item_error(row: &Row<'_>) -> Result<ItemError> {
    Ok(ItemError {
        source_id: row.get("source_id")?,
        provider_etag: row.get("provider_etag")?,
        connector: row.get("connector")?,
        code: row.get("code")?,
        message: row.get("message")?,
        attempts: row.get("attempts")?,
        at: row.get("at")?,
    })
}

/// Records that sources could not be read. Each occurs once.
pub async fn note_item_errors(tx: &mut Tx, s: &SyncState, errors: &[&ItemError]) -> Result<()> {
    let sql = insert_rows!(
        tx,
        "sync_item_errors",
        [
            organization_id "$1" "text", application_id "$2" "text", connection_id "$3" "text", surface "$4" "text",
            scope_id "$5" "text", source_id "$6" "text", code "$7" "text", message "$8" "text",
            attempts "$9" "bigint", at "$10" "bigint", provider_etag "$11" "text", connector "$12" "text"
        ],
        " on conflict (connection_id, surface, scope_id, source_id) do update set code = excluded.code, \
         message = excluded.message, attempts = excluded.attempts, at = excluded.at, \
         provider_etag = excluded.provider_etag, connector = excluded.connector"
    );
    let rows = errors.iter().map(|error| {
        RowValues::new()
            .bind(&s.organization_id)
            .bind(&s.application_id)
            .bind(&s.connection_id)
            .bind(&s.surface)
            .bind(&s.scope_id)
            .bind(&error.source_id)
            .bind(&error.code)
            .bind(&error.message)
            .bind(error.attempts)
            .bind(error.at)
            .bind(&error.provider_etag)
            .bind(&error.connector)
    });
    statement_rows::execute(tx, sql, rows.collect()).await?;
    Ok(())
}

/// Deletes the errors of sources that could be read now, or are gone.
pub async fn clear_item_errors(tx: &mut Tx, s: &SyncState, source_ids: &[&str]) -> Result<()> {
    if source_ids.is_empty() {
        return Ok(());
    }
    let sql = one_of!(
        tx,
        "delete from sync_item_errors where connection_id = $1 and surface = $2 and scope_id = $3 and source_id",
        "$4"
    );
    query(sql)
        .bind(&s.connection_id)
        .bind(&s.surface)
        .bind(&s.scope_id)
        .bind(json_text(source_ids))
        .execute(&mut *tx)
        .await?;
    Ok(())
}

/// Resets the attempts of all unreadable sources of a connection.
pub async fn forget_attempts(tx: &mut Tx, connection_id: &str) -> Result<()> {
    query("update sync_item_errors set attempts = 0 where connection_id = $1")
        .bind(connection_id)
        .execute(&mut *tx)
        .await?;
    Ok(())
}

/// The newest unreadable sources of a collection (of a whole surface: of all of its collections), and how many there are.
pub async fn item_errors(reader: &Reader, s: &SyncState, limit: i64) -> Result<(Vec<ItemError>, i64)> {
    let sql = "select source_id, provider_etag, connector, code, message, attempts, at, count(*) over () as total \
               from sync_item_errors where connection_id = $1 and surface = $2 and ($3 = '' or scope_id = $3) \
               order by at desc, source_id limit $4";
    let rows: Vec<(ItemError, i64)> = query(sql)
        .bind(&s.connection_id)
        .bind(&s.surface)
        .bind(&s.scope_id)
        .bind(limit)
        .fetch_all(reader, |row| Ok((item_error(row)?, row.get("total")?)))
        .await?;
    let total = rows.first().map_or(0, |(_, total)| *total);
    Ok((rows.into_iter().map(|(error, _)| error).collect(), total))
}

/// An unreadable source and the surface that it belongs to.
#[derive(Clone, Debug)]
pub struct SurfaceItemError {
    pub surface: String,
    pub error: ItemError,
}

/// At most `limit` unreadable sources of a connection, in the order of its collections.
pub async fn item_errors_of_connection(
    reader: &Reader,
    connection_id: &str,
    limit: i64,
) -> Result<Vec<SurfaceItemError>> {
    let sql = "select surface, source_id, provider_etag, connector, code, message, attempts, at from sync_item_errors \
               where connection_id = $1 order by surface, scope_id, source_id limit $2";
    query(sql)
        .bind(connection_id)
        .bind(limit)
        .fetch_all(reader, |row| {
            Ok(SurfaceItemError { surface: row.get("surface")?, error: item_error(row)? })
        })
        .await
}

/// Unreadable sources of a collection that this build of the connector has tried less than `attempts` times, the longest
/// untried first.
pub async fn unsettled_item_errors(
    reader: &Reader,
    s: &SyncState,
    (attempts, connector): (i64, Option<&str>),
    limit: i64,
) -> Result<Vec<ItemError>> {
    let sql = "select source_id, provider_etag, connector, code, message, attempts, at from sync_item_errors \
               where connection_id = $1 and surface = $2 and scope_id = $3 \
               and (attempts < $4 or connector is null or connector <> $6) order by at limit $5";
    query(sql)
        .bind(&s.connection_id)
        .bind(&s.surface)
        .bind(&s.scope_id)
        .bind(attempts)
        .bind(limit)
        .bind(connector)
        .fetch_all(reader, item_error)
        .await
}

/// The errors of the unreadable sources among these.
pub async fn item_errors_among(
    on: impl Into<On<'_>>,
    s: &SyncState,
    source_ids: &[&str],
) -> Result<Vec<ItemError>> {
    if source_ids.is_empty() {
        return Ok(Vec::new());
    }
    let on: On<'_> = on.into();
    let sql = one_of!(
        on,
        "select source_id, provider_etag, connector, code, message, attempts, at from sync_item_errors \
         where connection_id = $1 and surface = $2 and scope_id = $3 and source_id",
        "$4"
    );
    query(sql)
        .bind(&s.connection_id)
        .bind(&s.surface)
        .bind(&s.scope_id)
        .bind(json_text(source_ids))
        .fetch_all(on, item_error)
        .await
}

/// Whether a collection has unreadable sources: most have none.
pub async fn has_item_errors(tx: &mut Tx, s: &SyncState) -> Result<bool> {
    let sql = "select source_id from sync_item_errors \
               where connection_id = $1 and surface = $2 and scope_id = $3 limit 1";
    let found: Option<String> = query(sql)
        .bind(&s.connection_id)
        .bind(&s.surface)
        .bind(&s.scope_id)
        .fetch_optional(&mut *tx, |row| row.get("source_id"))
        .await?;
    Ok(found.is_some())
}

/// Marks unreadable sources that the scan of this generation named.
pub async fn mark_item_errors(
    tx: &mut Tx,
    s: &SyncState,
    source_ids: &[&str],
    generation: i64,
) -> Result<()> {
    let sql = one_of!(
        tx,
        "update sync_item_errors set seen_in = $1 where connection_id = $2 and surface = $3 and scope_id = $4 \
         and source_id",
        "$5"
    );
    query(sql)
        .bind(generation)
        .bind(&s.connection_id)
        .bind(&s.surface)
        .bind(&s.scope_id)
        .bind(serde_json::to_string(source_ids)?)
        .execute(&mut *tx)
        .await?;
    Ok(())
}

/// Deletes the errors of sources that the completed scan of this generation did not name: they are gone.
pub async fn clear_unmarked_item_errors(tx: &mut Tx, s: &SyncState, generation: i64) -> Result<()> {
    let sql = "delete from sync_item_errors where connection_id = $1 and surface = $2 and scope_id = $3 \
               and seen_in <> $4";
    query(sql)
        .bind(&s.connection_id)
        .bind(&s.surface)
        .bind(&s.scope_id)
        .bind(generation)
        .execute(&mut *tx)
        .await?;
    Ok(())
}
