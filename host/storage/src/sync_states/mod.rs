//! The sync state of the local copy. Tables: `migrations/0005_sync_states.sql`.

mod absence;
mod followed;
mod item_errors;
mod names;
mod rereads;
mod standing;
mod surfaces;
mod sync_state;

use anyhow::Result;

use crate::Tx;
use crate::locked::{ConnectionLock, LockedRow};
use crate::sql::{On, Query, Reader, Row, query};

pub use absence::{end_follow, forget_contents, resume_contents};
pub use followed::{Lag, lags};
pub use item_errors::{
    ItemError, SurfaceItemError, clear_item_errors, clear_unmarked_item_errors, forget_attempts,
    has_item_errors, item_errors, item_errors_among, item_errors_of_connection, mark_item_errors,
    note_item_errors, unsettled_item_errors,
};
pub use names::{Batch, keep_names, names_after, remove_names};
pub use rereads::{PullRemains, ScopeKey, add_rereads, pull_remains, remove_rereads, rereads};
pub use standing::{CopyFreshness, standing};
pub use surfaces::{SurfaceProgress, of_connections};
pub use sync_state::SyncState;

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
        floor_sequence: row.get("application_floor")?,
        log_sequence: row.get("application_last")?,
        covered_since: row.get("covered_since")?,
        generation: row.get("generation")?,
        scan_cursor: row.get("scan_cursor")?,
        scan_since: row.get("scan_since")?,
        rescan: row.get::<i64>("rescan")? != 0,
        last_activity_at: row.get("last_activity_at")?,
        is_return: row.get::<i64>("is_return")? != 0,
        walk_start: row.get("walk_start")?,
        doubt: row.get("doubt")?,
    })
}

/// A query for whole states, with this condition.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "select s.*, a.floor_sequence as application_floor, a.last_sequence as application_last from sync_states s \
             join applications a on a.id = s.application_id ",
            $rest
        )
    };
}

/// The state of one collection; none when it was never read.
pub async fn find(
    reader: &Reader,
    connection_id: &str,
    surface: &str,
    scope_id: &str,
) -> Result<Option<SyncState>> {
    let sql = select!("where s.connection_id = $1 and s.surface = $2 and s.scope_id = $3");
    query(sql).bind(connection_id).bind(surface).bind(scope_id).fetch_optional(reader, state).await
}

/// A state of the locked connection, to be changed.
pub async fn lock_state<'l>(
    tx: &mut Tx,
    lock: &'l ConnectionLock,
    (surface, scope_id): (&str, &str),
) -> Result<Option<LockedRow<'l, SyncState>>> {
    let sql = select!("where s.connection_id = $1 and s.surface = $2 and s.scope_id = $3");
    let of = query(sql).bind(&lock.id).bind(surface).bind(scope_id);
    Ok(of.fetch_optional(&mut *tx, state).await?.map(|state| LockedRow::new(lock, state)))
}

/// All states of a connection.
pub async fn of_connection(on: impl Into<On<'_>>, connection_id: &str) -> Result<Vec<SyncState>> {
    query(select!("where s.connection_id = $1 order by s.surface, s.scope_id"))
        .bind(connection_id)
        .fetch_all(on, state)
        .await
}

/// A statement that inserts a whole new state, or updates these columns of an existing one. A pull, a start and a reset each
/// write their own columns: a pull in progress must not undo a start or a reset of the sync.
macro_rules! upsert {
    ($columns:literal) => {
        concat!(
            "insert into sync_states (organization_id, application_id, connection_id, surface, scope_id, followed, ",
            "status, epoch, cursor, started_at, last_success_at, last_attempt_at, next_pull_at, seen, estimated, ",
            "backfill_since, consecutive_errors, last_error, provider_resets, latest_sequence, floor_sequence, ",
            "covered_since, generation, scan_cursor, scan_since, rescan, last_activity_at, is_return, walk_start, doubt) ",
            "values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, ",
            "$23, $24, $25, $26, $27, $28, $29, $30) ",
            "on conflict (connection_id, surface, scope_id) do update set ",
            $columns
        )
    };
}

/// Stores the result of a pull: all columns but those that clients set. False, and nothing is written: the state has another
/// generation than when the pull began, because everything was reset or another process finished the same scan.
pub async fn upsert(tx: &mut Tx, lock: &ConnectionLock, s: &SyncState, began_in: i64) -> Result<bool> {
    let sql = upsert!(
        "status = excluded.status, cursor = excluded.cursor, last_success_at = excluded.last_success_at, \
         last_attempt_at = excluded.last_attempt_at, next_pull_at = excluded.next_pull_at, seen = excluded.seen, \
         estimated = excluded.estimated, consecutive_errors = excluded.consecutive_errors, \
         last_error = excluded.last_error, provider_resets = excluded.provider_resets, \
         latest_sequence = excluded.latest_sequence, covered_since = excluded.covered_since, \
         generation = excluded.generation, scan_cursor = excluded.scan_cursor, scan_since = excluded.scan_since, \
         rescan = excluded.rescan, last_activity_at = excluded.last_activity_at, is_return = excluded.is_return, \
         walk_start = excluded.walk_start, doubt = excluded.doubt where sync_states.generation = $31"
    );
    Ok(write(sql, lock, s)?.bind(began_in).execute(&mut *tx).await? > 0)
}

/// Marks a collection or surface as followed from now on.
pub async fn follow(tx: &mut Tx, lock: &ConnectionLock, s: &SyncState) -> Result<()> {
    let sql = upsert!(
        "followed = excluded.followed, started_at = excluded.started_at, backfill_since = excluded.backfill_since, \
         next_pull_at = excluded.next_pull_at, last_activity_at = excluded.last_activity_at"
    );
    write(sql, lock, s)?.execute(&mut *tx).await?;
    Ok(())
}

/// Resets the state so that everything is read again; a pull in progress ends.
pub async fn reset(tx: &mut Tx, lock: &ConnectionLock, s: &SyncState) -> Result<()> {
    let sql = upsert!(
        "epoch = excluded.epoch, cursor = excluded.cursor, seen = excluded.seen, status = excluded.status, \
         next_pull_at = excluded.next_pull_at, consecutive_errors = excluded.consecutive_errors, \
         generation = sync_states.generation + 1, scan_cursor = null, scan_since = null, rescan = 0, \
         walk_start = null, doubt = null, last_activity_at = excluded.last_activity_at"
    );
    write(sql, lock, s)?.execute(&mut *tx).await?;
    Ok(())
}

/// Discards the cursor of one collection, so that the next pull reads all of it again. Until then its copy is not in step.
pub async fn forget_cursor(tx: &mut Tx, before: &LockedRow<'_, SyncState>) -> Result<()> {
    let sql = "update sync_states set status = 'syncing', cursor = null, seen = 0, generation = generation + 1, \
               scan_cursor = null, scan_since = null, rescan = 0, walk_start = null, doubt = null \
               where connection_id = $1 and surface = $2 and scope_id = $3";
    let of = query(sql).bind(&before.connection_id).bind(&before.surface).bind(&before.scope_id);
    of.execute(&mut *tx).await?;
    Ok(())
}

fn write<'q>(sql: &'static str, lock: &ConnectionLock, s: &'q SyncState) -> Result<Query<'q>> {
    lock.covers(&s.connection_id)?;
    Ok(query(sql)
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
        .bind(s.generation)
        .bind(&s.scan_cursor)
        .bind(s.scan_since)
        .bind(i64::from(s.rescan))
        .bind(s.last_activity_at)
        .bind(i64::from(s.is_return))
        .bind(&s.walk_start)
        .bind(&s.doubt))
}
