//! Collections that are gone and come back: the progress of reading their contents is deleted with them. Table:
//! `migrations/0005_sync_states.sql`, `0086_returned_contents.sql`. A followed collection has no job while it is gone: its return
//! creates one.

use anyhow::Result;

use crate::LockRank;
use crate::Tx;
use crate::job_claims;
use crate::jobs::{self, NewJob};
use crate::locked::ConnectionLock;
use crate::sql::query;
use crate::sync_states::{ScopeKey, lock_state};
use crate::wakes::JobClass;
use crate::watches;

/// The kinds of the jobs of a scope.
const PULL: &str = "pull";
const RENEW: &str = "renew";

/// When a followed collection is pulled whose contents were deleted ahead of it, ms: the collection itself may turn out not to be
/// deleted.
const LOOK_AGAIN_MS: i64 = 60_000;

/// Statements that delete the rows that a scope has besides its state.
const KEPT: [&str; 3] = [
    "delete from sync_item_errors where connection_id = $1 and surface = $2 and scope_id = $3",
    "delete from sync_rereads where connection_id = $1 and surface = $2 and scope_id = $3",
    "delete from sync_names where connection_id = $1 and surface = $2 and scope_id = $3",
];

/// The id of a job of a scope.
fn job_id(kind: &str, of: ScopeKey<'_>) -> String {
    format!("{kind}:{}", job_key(of))
}

/// The same without its kind.
fn job_key(of: ScopeKey<'_>) -> String {
    format!("{}:{}:{}", of.connection_id, of.surface, of.scope_id)
}

/// Deletes the progress of reading a collection: cursor, unfinished scan, unreadable records and pending re-reads. A pull in
/// progress writes nothing more, and the next one reads everything. Belongs in the transaction that deletes its contents.
pub async fn forget_contents(tx: &mut Tx, lock: &ConnectionLock, of: ScopeKey<'_>, now: i64) -> Result<()> {
    lock.covers(of.connection_id)?;
    let Some(before) = lock_state(tx, lock, (of.surface, of.scope_id)).await? else { return Ok(()) };
    let is_followed = before.followed;
    let sql = "update sync_states set is_return = case when last_success_at is null and scan_cursor is null then is_return else 1 end, \
               status = 'idle', cursor = null, last_success_at = null, seen = 0, estimated = null, consecutive_errors = 0, \
               last_error = null, covered_since = null, generation = generation + 1, scan_cursor = null, scan_since = null, \
               rescan = 0, walk_start = null, doubt = null where connection_id = $1 and surface = $2 and scope_id = $3";
    for sql in KEPT.into_iter().chain([sql]) {
        query(sql).bind(of.connection_id).bind(of.surface).bind(of.scope_id).execute(&mut *tx).await?;
    }
    let pull = job_id(PULL, of);
    if is_followed {
        job_claims::undo(tx, &pull, now).await?;
        watches::wake(tx, &[pull], (now + LOOK_AGAIN_MS, true), now).await?;
    } else {
        // A pull that was requested by a client that waits for it.
        jobs::remove(tx, &pull).await?;
    }
    // It ends the watch of the deleted collection.
    watches::wake(tx, &[job_id(RENEW, of)], (now, true), now).await
}

/// Stops following a collection that a client has deleted: if it is restored at the provider, it is followed again when a client
/// requests that.
pub async fn end_follow(tx: &mut Tx, lock: &ConnectionLock, of: ScopeKey<'_>) -> Result<()> {
    lock.covers(of.connection_id)?;
    let sql = "update sync_states set followed = 0, started_at = null, next_pull_at = null \
               where connection_id = $1 and surface = $2 and scope_id = $3";
    query(sql).bind(of.connection_id).bind(of.surface).bind(of.scope_id).execute(&mut *tx).await?;
    jobs::remove(tx, &job_id(PULL, of)).await
}

/// Makes the pull of a restored collection due at once, if clients follow `followed`: the collection itself, or its surface with
/// all collections. Its watch is renewed, because the provider may have ended it. `target`: the server that the pull reads, as in
/// `NewJob`.
pub async fn resume_contents(
    tx: &mut Tx,
    lock: &ConnectionLock,
    of: ScopeKey<'_>,
    followed: ScopeKey<'_>,
    target: &str,
    now: i64,
) -> Result<()> {
    lock.covers(of.connection_id)?;
    // Of several collections the first may have no watch, and wakes jobs.
    tx.takes(LockRank::Watch)?;
    let state = lock_state(tx, lock, (followed.surface, followed.scope_id)).await?;
    if !state.is_some_and(|state| state.followed) {
        return Ok(());
    }
    let sql = "update sync_states set status = 'initial', next_pull_at = $4, last_activity_at = $4 \
               where connection_id = $1 and surface = $2 and scope_id = $3 and followed = 1 and last_success_at is null";
    let row = query(sql).bind(of.connection_id).bind(of.surface).bind(of.scope_id);
    row.bind(now).execute(&mut *tx).await?;
    let known = watches::of_scope(&mut *tx, of.connection_id, (of.surface, of.scope_id)).await?;
    if !known.is_empty() {
        let ids: Vec<String> = known.into_iter().map(|watch| watch.id).collect();
        watches::hurry(tx, &ids, now).await?;
    }
    let pull = NewJob {
        kind: PULL,
        key: &job_key(followed),
        class: JobClass::Pull,
        tenant: &lock.tenant,
        connection_id: Some(&lock.id),
        target,
        due_at: Some(now),
        args: None,
    };
    jobs::enqueue(tx, &pull, now).await?;
    watches::wake(tx, &[job_id(RENEW, of)], (now, true), now).await
}
