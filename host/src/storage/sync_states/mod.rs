//! How far the local copy follows the provider. Tables: `migrations/0005_sync_states.sql`.

mod followed;

use anyhow::Result;

use crate::storage::Tx;
use crate::storage::sql::{On, Reader, Row, query};
use crate::tenant::Tenant;

pub use followed::{Followed, Lag, followed, lags};

/// One collection's (or, with an empty `scope_id`, one surface's) state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SyncState {
    pub organization_id: String,
    pub application_id: String,
    pub connection_id: String,
    pub surface: String,
    pub scope_id: String,
    pub followed: bool,
    /// `idle`, `initial`, `syncing`, `caught_up`, `throttled`, `blocked` or `error`.
    pub status: String,
    pub epoch: i64,
    /// The connector's cursor; none: the next pull enumerates.
    pub cursor: Option<String>,
    pub started_at: Option<i64>,
    pub last_success_at: Option<i64>,
    pub last_attempt_at: Option<i64>,
    pub next_pull_at: Option<i64>,
    pub seen: i64,
    pub estimated: Option<i64>,
    pub backfill_since: Option<i64>,
    pub consecutive_errors: i64,
    /// JSON `{code, message, at, retryAt}`.
    pub last_error: Option<String>,
    pub provider_resets: i64,
    pub latest_sequence: i64,
    pub floor_sequence: i64,
    /// The first reading has come back to here, ms; none before and after it. Mail alone.
    pub covered_since: Option<i64>,
}

impl SyncState {
    pub fn tenant(&self) -> Tenant {
        Tenant { organization_id: self.organization_id.clone(), application_id: self.application_id.clone() }
    }
}

fn state(row: &Row<'_>) -> Result<SyncState> {
    Ok(SyncState {
        organization_id: row.get("organization_id")?,
        application_id: row.get("application_id")?,
        connection_id: row.get("connection_id")?,
        surface: row.get("surface")?,
        scope_id: row.get("scope_id")?,
        followed: row.get::<i64>("followed")? != 0,
        status: row.get("status")?,
        epoch: row.get("epoch")?,
        cursor: row.get("cursor")?,
        started_at: row.get("started_at")?,
        last_success_at: row.get("last_success_at")?,
        last_attempt_at: row.get("last_attempt_at")?,
        next_pull_at: row.get("next_pull_at")?,
        seen: row.get("seen")?,
        estimated: row.get("estimated")?,
        backfill_since: row.get("backfill_since")?,
        consecutive_errors: row.get("consecutive_errors")?,
        last_error: row.get("last_error")?,
        provider_resets: row.get("provider_resets")?,
        latest_sequence: row.get("latest_sequence")?,
        floor_sequence: row.get("floor_sequence")?,
        covered_since: row.get("covered_since")?,
    })
}

/// The state of one collection; none when nothing was ever read of it.
pub async fn find(
    reader: &Reader,
    connection_id: &str,
    surface: &str,
    scope_id: &str,
) -> Result<Option<SyncState>> {
    let sql = "select * from sync_states where connection_id = $1 and surface = $2 and scope_id = $3";
    query(sql).bind(connection_id).bind(surface).bind(scope_id).fetch_optional(reader, state).await
}

/// All states of a connection.
pub async fn of_connection(reader: &Reader, connection_id: &str) -> Result<Vec<SyncState>> {
    query("select * from sync_states where connection_id = $1 order by surface, scope_id")
        .bind(connection_id)
        .fetch_all(reader, state)
        .await
}

/// Followed states whose next pull is due.
pub async fn due(reader: &Reader, now: i64, limit: i64) -> Result<Vec<SyncState>> {
    let sql =
        "select * from sync_states where followed = 1 and next_pull_at <= $1 order by next_pull_at limit $2";
    query(sql).bind(now).bind(limit).fetch_all(reader, state).await
}

/// A statement that writes a new state whole, or these columns of the one that is there. A pull, a start and a reset each
/// write what is theirs: a pull that was under way when somebody started or reset the sync must not undo that.
macro_rules! upsert {
    ($columns:literal) => {
        concat!(
            "insert into sync_states (organization_id, application_id, connection_id, surface, scope_id, followed, ",
            "status, epoch, cursor, started_at, last_success_at, last_attempt_at, next_pull_at, seen, estimated, ",
            "backfill_since, consecutive_errors, last_error, provider_resets, latest_sequence, floor_sequence, ",
            "covered_since) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, ",
            "$19, $20, $21, $22) ",
            "on conflict (connection_id, surface, scope_id) do update set ",
            $columns
        )
    };
}

/// What a pull found: everything but what clients decide.
pub async fn upsert(tx: &mut Tx, s: &SyncState) -> Result<()> {
    let sql = upsert!(
        "status = excluded.status, cursor = excluded.cursor, last_success_at = excluded.last_success_at, \
         last_attempt_at = excluded.last_attempt_at, next_pull_at = excluded.next_pull_at, seen = excluded.seen, \
         estimated = excluded.estimated, consecutive_errors = excluded.consecutive_errors, \
         last_error = excluded.last_error, provider_resets = excluded.provider_resets, \
         latest_sequence = excluded.latest_sequence, covered_since = excluded.covered_since"
    );
    write(tx, sql, s).await
}

/// That a client follows it from now on.
pub async fn follow(tx: &mut Tx, s: &SyncState) -> Result<()> {
    let sql = upsert!(
        "followed = excluded.followed, started_at = excluded.started_at, backfill_since = excluded.backfill_since, \
         next_pull_at = excluded.next_pull_at"
    );
    write(tx, sql, s).await
}

/// That everything is to be read again; no pull is under way.
pub async fn reset(tx: &mut Tx, s: &SyncState) -> Result<()> {
    let sql = upsert!(
        "epoch = excluded.epoch, cursor = excluded.cursor, seen = excluded.seen, status = excluded.status, \
         next_pull_at = excluded.next_pull_at, consecutive_errors = excluded.consecutive_errors"
    );
    write(tx, sql, s).await
}

async fn write(tx: &mut Tx, sql: &'static str, s: &SyncState) -> Result<()> {
    query(sql)
        .bind(&s.organization_id)
        .bind(&s.application_id)
        .bind(&s.connection_id)
        .bind(&s.surface)
        .bind(&s.scope_id)
        .bind(i64::from(s.followed))
        .bind(&s.status)
        .bind(s.epoch)
        .bind(&s.cursor)
        .bind(s.started_at)
        .bind(s.last_success_at)
        .bind(s.last_attempt_at)
        .bind(s.next_pull_at)
        .bind(s.seen)
        .bind(s.estimated)
        .bind(s.backfill_since)
        .bind(s.consecutive_errors)
        .bind(&s.last_error)
        .bind(s.provider_resets)
        .bind(s.latest_sequence)
        .bind(s.floor_sequence)
        .bind(s.covered_since)
        .execute(&mut *tx)
        .await?;
    Ok(())
}

/// Removes every state of a connection.
pub async fn purge(tx: &mut Tx, connection_id: &str) -> Result<()> {
    for sql in [
        "delete from sync_states where connection_id = $1",
        "delete from sync_item_errors where connection_id = $1",
    ] {
        query(sql).bind(connection_id).execute(&mut *tx).await?;
    }
    Ok(())
}

/// Lifts the floor of every feed of an application: what the log forgot can no longer be asked for.
pub async fn raise_floor(tx: &mut Tx, application_id: &str, sequence: i64) -> Result<()> {
    query("update sync_states set floor_sequence = $1 where application_id = $2 and floor_sequence < $1")
        .bind(sequence)
        .bind(application_id)
        .execute(&mut *tx)
        .await?;
    Ok(())
}

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
    /// When it was tried last.
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

/// Keeps that a source could not be read.
pub async fn note_item_error(tx: &mut Tx, s: &SyncState, error: &ItemError) -> Result<()> {
    let sql = "insert into sync_item_errors (organization_id, application_id, connection_id, surface, scope_id, \
               source_id, code, message, attempts, at, provider_etag, connector) \
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) \
               on conflict (connection_id, surface, scope_id, source_id) do update set code = excluded.code, \
               message = excluded.message, attempts = excluded.attempts, at = excluded.at, \
               provider_etag = excluded.provider_etag, connector = excluded.connector";
    query(sql)
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
        .execute(&mut *tx)
        .await?;
    Ok(())
}

/// It could be read now, or is gone.
pub async fn clear_item_error(tx: &mut Tx, s: &SyncState, source_id: &str) -> Result<()> {
    let sql = "delete from sync_item_errors where connection_id = $1 and surface = $2 and scope_id = $3 \
               and source_id = $4";
    query(sql)
        .bind(&s.connection_id)
        .bind(&s.surface)
        .bind(&s.scope_id)
        .bind(source_id)
        .execute(&mut *tx)
        .await?;
    Ok(())
}

/// Everything that is unreadable in a connection has all its tries again.
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

/// What is known of one source.
pub async fn find_item_error(
    on: impl Into<On<'_>>,
    s: &SyncState,
    source_id: &str,
) -> Result<Option<ItemError>> {
    let sql = "select source_id, provider_etag, connector, code, message, attempts, at from sync_item_errors \
               where connection_id = $1 and surface = $2 and scope_id = $3 and source_id = $4";
    query(sql)
        .bind(&s.connection_id)
        .bind(&s.surface)
        .bind(&s.scope_id)
        .bind(source_id)
        .fetch_optional(on, item_error)
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

/// The ids of all unreadable sources of a collection.
pub async fn unreadable_sources(tx: &mut Tx, s: &SyncState) -> Result<Vec<String>> {
    query(
        "select source_id from sync_item_errors where connection_id = $1 and surface = $2 and scope_id = $3",
    )
    .bind(&s.connection_id)
    .bind(&s.surface)
    .bind(&s.scope_id)
    .fetch_all(&mut *tx, |row| row.get("source_id"))
    .await
}
