//! Messages, drafts, folders and labels among the items: queries by columns that only mail has.

use std::collections::HashMap;

use anyhow::Result;
use base::tenant::Tenant;

use crate::Tx;
use crate::dialect::one_of;
use crate::items::collection::Family;
use crate::items::row::{Item, item, locked};
use crate::json_text;
use crate::locked::{ConnectionLock, LockedRow};
use crate::sql::{Reader, query};

/// All items that were ever read from these sources of a connection's mail, including tombstones.
pub async fn lock_ever_of_sources<'l>(
    tx: &mut Tx,
    lock: &'l ConnectionLock,
    family: Family,
    sources: &[&str],
) -> Result<Vec<LockedRow<'l, Item>>> {
    if sources.is_empty() {
        return Ok(Vec::new());
    }
    let sql = one_of!(
        tx,
        select!("where connection_id = $1 and kind in ($2, $3, $4, $5) and parent_id = '' and source_id"),
        "$6",
        ""
    );
    let of = query(sql).bind(&lock.id).bind(family[0]).bind(family[1]).bind(family[2]).bind(family[3]);
    Ok(locked(lock, of.bind(serde_json::to_string(sources)?).fetch_all(&mut *tx, item).await?))
}

/// Locks the items with these fingerprints that were deleted since then, the last deleted first; at most `most`.
pub async fn lock_gone_by_fingerprint<'l>(
    tx: &mut Tx,
    lock: &'l ConnectionLock,
    fingerprints: &[&str],
    since: i64,
    most: i64,
) -> Result<Vec<LockedRow<'l, Item>>> {
    if fingerprints.is_empty() {
        return Ok(Vec::new());
    }
    let sql = one_of!(
        tx,
        select!("where connection_id = $1 and deleted_at >= $2 and fingerprint"),
        "$3",
        " order by deleted_at desc, id limit $4"
    );
    let of = query(sql).bind(&lock.id).bind(since).bind(serde_json::to_string(fingerprints)?).bind(most);
    Ok(locked(lock, of.fetch_all(&mut *tx, item).await?))
}

/// Live items of these kinds that lie directly in a connection.
pub async fn live_of_kinds(tx: &mut Tx, connection_id: &str, kinds: (&str, &str)) -> Result<Vec<Item>> {
    let sql = select!(
        "where connection_id = $1 and kind in ($2, $3) and parent_id = '' and deleted_at is null order by id"
    );
    query(sql).bind(connection_id).bind(kinds.0).bind(kinds.1).fetch_all(&mut *tx, item).await
}

/// Live messages and drafts of a connection from these sources, in their order.
pub async fn of_sources(
    reader: &Reader,
    tenant: &Tenant,
    connection_id: &str,
    sources: &[String],
) -> Result<Vec<Item>> {
    let sql = one_of!(
        reader,
        select!(
            "where organization_id = $1 and application_id = $2 and connection_id = $3 and parent_id = $5 \
             and kind in ('email_message', 'email_draft') and deleted_at is null and source_id"
        ),
        "$4",
        ""
    );
    let found = query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(connection_id)
        .bind(serde_json::to_string(sources)?)
        // Not a literal: with one, an index of the whole application would match too.
        .bind("")
        .fetch_all(reader, item)
        .await?;
    let mut by_source: HashMap<_, _> = found.into_iter().map(|i| (i.source_id.clone(), i)).collect();
    Ok(sources.iter().filter_map(|source| by_source.remove(source)).collect())
}

/// Changes the source of a row: its former source names another object at the provider now, or none.
pub async fn set_source(tx: &mut Tx, before: &LockedRow<'_, Item>, source_id: &str) -> Result<()> {
    query("update items set source_id = $1, external_id = $1, fingerprint = null where id = $2")
        .bind(source_id)
        .bind(&before.id)
        .execute(&mut *tx)
        .await?;
    Ok(())
}

/// Live items of these threads of the locked connection, in the order of their ids.
pub async fn lock_of_threads<'l>(
    tx: &mut Tx,
    lock: &'l ConnectionLock,
    thread_ids: &[&str],
) -> Result<Vec<LockedRow<'l, Item>>> {
    if thread_ids.is_empty() {
        return Ok(Vec::new());
    }
    // Otherwise SQLite, which does not know the number of rows, reads the whole index of the connection.
    let sql = one_of!(
        tx,
        select!("where coalesce(connection_id, '') = $1 and deleted_at is null and series_id"),
        "$2",
        " order by id"
    );
    let of = query(sql).bind(&lock.id).bind(json_text(thread_ids));
    Ok(locked(lock, of.fetch_all(&mut *tx, item).await?))
}

/// Messages of a connection by their Message-ID that are not only the provider's: messages that no provider has (their source
/// begins with `outgoing`), and drafts, including those that were deleted since then.
pub async fn lock_ours_by_uid<'l>(
    tx: &mut Tx,
    lock: &'l ConnectionLock,
    uids: &[&str],
    outgoing: &str,
    since: i64,
) -> Result<Vec<LockedRow<'l, Item>>> {
    if uids.is_empty() {
        return Ok(Vec::new());
    }
    let sql = one_of!(
        tx,
        select!(
            "where parent_id = '' and connection_id = $1 and ((deleted_at is null and substr(source_id, 1, \
             length($2)) = $2) or (kind = 'email_draft' and (deleted_at is null or deleted_at >= $3))) and uid"
        ),
        "$4",
        " order by id"
    );
    let of = query(sql).bind(&lock.id).bind(outgoing).bind(since).bind(serde_json::to_string(uids)?);
    Ok(locked(lock, of.fetch_all(&mut *tx, item).await?))
}

/// Sets the name by which other items refer to this one.
pub async fn set_uid(tx: &mut Tx, before: &LockedRow<'_, Item>, uid: &str) -> Result<()> {
    query("update items set uid = $1 where id = $2").bind(uid).bind(&before.id).execute(tx).await?;
    Ok(())
}
