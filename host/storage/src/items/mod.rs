//! The local copy: one row per normalized resource. Tables: `migrations/0003_items.sql`, `0011_contacts_and_tasks.sql`.

// First: the modules below use its macros.
#[macro_use]
mod row;

mod collection;
mod departures;
mod find_all;
mod former;
mod keys;
mod list;
mod mail;
mod parts;
mod refs;
mod seen;
mod totals;
mod window;
mod write;

use anyhow::Result;
use base::tenant::Tenant;

use crate::Tx;
use crate::dialect::one_of;
use crate::items::row::{locked, read_columns};
use crate::json_text;
use crate::locked::{ConnectionLock, LockedRow};
use crate::sql::{Query, Reader, query};

pub use collection::{
    Family, RecordNames, exceptions_named, exceptions_of, list_top, list_top_of, live_sources, lock_records,
    snapshot, snapshot_of_connection, unfollowed_calendars,
};
pub use departures::{
    FingerprintedItem, RETURN_MS, depart, departed, forget_departures, live_by_fingerprint,
    live_with_fingerprint,
};
pub use find_all::find_all;
pub use former::{FormerSource, forget_former_sources, leave_source, leave_sources, left_sources};
pub use keys::{ItemKeys, Key, set_keys};
pub use list::{List, MAX_WORDS, VisitedItem, Within, like, read_list};
pub use mail::{
    live_of_kinds, lock_ever_of_sources, lock_gone_by_fingerprint, lock_of_threads, lock_ours_by_uid,
    of_sources, set_source, set_uid,
};
pub use parts::{ItemParts, StoredPart, parts_of, parts_of_items, put_parts};
pub use refs::{ItemLinks, ItemRefs, LinkQuery, has_refs, linked_of, namers_of, set_refs, targets_of};
pub use row::{Item, ItemColumns, ItemWrite};
pub(crate) use row::{item, select_items, shown_if_any};
pub use seen::{UnseenSource, held_versions, mark_seen, seen_again, unseen, unseen_sources};
pub use totals::{CollectionCount, bytes, counts};
#[cfg(test)]
pub use window::span_of;
pub use window::{After, Shape, Window, list_window, read_window};
pub use write::{insert, relock, replace, set_provider_sides, write};

/// The live item of the tenant that `bind_live` names.
macro_rules! live {
    () => {
        concat!(
            "where organization_id = $1 and application_id = $2 and id = $3 and kind = $4 and deleted_at is null and ",
            connected!()
        )
    };
}

fn bind_live<'q>(sql: &'static str, tenant: &'q Tenant, kind: &'q str, id: &'q str) -> Query<'q> {
    query(sql).bind(&tenant.organization_id).bind(&tenant.application_id).bind(id).bind(kind)
}

/// Calls `read` on a live item of the tenant, borrowed from the result row: copying twenty columns costs more than finding the
/// row.
pub async fn read<T>(
    reader: &Reader,
    tenant: &Tenant,
    (kind, id): (&str, &str),
    with_provider_data: bool,
    mut read: impl FnMut(ItemColumns<'_>) -> T,
) -> Result<Option<T>> {
    let sql = concat!(shown_columns!("$5"), live!());
    bind_live(sql, tenant, kind, id)
        .bind(i64::from(with_provider_data))
        .fetch_optional(reader, |row| Ok(read(read_columns(row)?)))
        .await
}

/// A live item of the tenant.
pub async fn find(reader: &Reader, tenant: &Tenant, kind: &str, id: &str) -> Result<Option<Item>> {
    let sql = select!(live!());
    bind_live(sql, tenant, kind, id).fetch_optional(reader, item).await
}

/// A live item of the tenant, of any kind.
pub async fn any(reader: &Reader, tenant: &Tenant, id: &str) -> Result<Option<Item>> {
    let sql = select!(concat!(
        "where organization_id = $1 and application_id = $2 and id = $3 and deleted_at is null and ",
        connected!()
    ));
    query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(id)
        .fetch_optional(reader, item)
        .await
}

/// An item of the locked connection, to be changed; tombstones included.
pub async fn lock_item<'l>(
    tx: &mut Tx,
    lock: &'l ConnectionLock,
    id: &str,
) -> Result<Option<LockedRow<'l, Item>>> {
    let sql =
        select!("where organization_id = $1 and application_id = $2 and connection_id = $3 and id = $4");
    let found = query(sql)
        .bind(&lock.tenant.organization_id)
        .bind(&lock.tenant.application_id)
        .bind(&lock.id)
        .bind(id)
        .fetch_optional(&mut *tx, item)
        .await?;
    Ok(found.map(|item| LockedRow::new(lock, item)))
}

/// Items of the locked connection, to be changed; tombstones included, in the order of their ids.
pub async fn lock_items<'l>(
    tx: &mut Tx,
    lock: &'l ConnectionLock,
    ids: &[&str],
) -> Result<Vec<LockedRow<'l, Item>>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    // Otherwise SQLite, which does not know the number of rows, reads the whole index of the connection.
    let sql = one_of!(
        tx,
        select!(
            "where organization_id = $1 and application_id = $2 and coalesce(connection_id, '') = $3 and id"
        ),
        "$4",
        " order by id"
    );
    let found = query(sql)
        .bind(&lock.tenant.organization_id)
        .bind(&lock.tenant.application_id)
        .bind(&lock.id)
        .bind(json_text(ids))
        .fetch_all(&mut *tx, item)
        .await?;
    Ok(locked(lock, found))
}
