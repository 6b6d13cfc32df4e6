//! The local copy: one row per normalized resource. Tables: `migrations/0003_items.sql`, `0011_contacts_and_tasks.sql`.

// First: the modules below use its macros.
#[macro_use]
mod row;

mod collection;
mod departures;
mod former;
mod keys;
mod list;
mod mail;
mod parts;
mod refs;
mod seen;
mod totals;
mod window;

use anyhow::{Result, ensure};
use base::tenant::Tenant;

use crate::Tx;
use crate::items::row::shown;
use crate::locked::{ConnectionLock, Locked};
use crate::sql::{Query, Reader, query};

pub use collection::{
    Family, exceptions, exceptions_of, ids_of_source, list_top, list_top_of, live_sources,
    lock_by_external_id, lock_of_source, snapshot, snapshot_of_connection, unfollowed_calendars,
};
pub use departures::{
    Printed, RETURN_MS, depart, departed, forget_departures, live_by_fingerprint, live_with_fingerprint,
};
pub use former::{forget_former_sources, leave_source, left_sources};
pub use keys::{Key, set_keys};
pub use list::{List, MAX_WORDS, Seen, Within, like, read_list};
pub use mail::{
    is_known_source, live_of_kinds, lock_ever_of_sources, lock_gone_by_fingerprint, lock_of_thread,
    lock_ours_by_uid, of_sources, set_source, set_uid,
};
pub use parts::{Part, parts_of, put_parts};
pub use refs::{has_refs, linked, namers, set_refs, targets};
pub use row::{Item, Shown};
pub(crate) use row::{item, select_items, shown_if_any};
pub use seen::{held_versions, mark_seen, unseen_sources};
pub use totals::{Count, bytes, counts};
#[cfg(test)]
pub use window::span_of;
pub use window::{After, Shape, Window, list_window, read_window};

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

/// What `read` makes of a live item of the tenant, where it lies: copying twenty columns costs more than finding the row.
pub async fn read<T>(
    reader: &Reader,
    tenant: &Tenant,
    (kind, id): (&str, &str),
    with_provider_data: bool,
    mut read: impl FnMut(Shown<'_>) -> T,
) -> Result<Option<T>> {
    let sql = concat!(shown_columns!("$5"), live!());
    bind_live(sql, tenant, kind, id)
        .bind(i64::from(with_provider_data))
        .fetch_optional(reader, |row| Ok(read(shown(row)?)))
        .await
}

/// A live item of the tenant.
pub async fn find(reader: &Reader, tenant: &Tenant, kind: &str, id: &str) -> Result<Option<Item>> {
    let sql = select!(live!());
    bind_live(sql, tenant, kind, id).fetch_optional(reader, item).await
}

/// A live item of the tenant, of whatever kind.
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
) -> Result<Option<Locked<'l, Item>>> {
    let sql =
        select!("where organization_id = $1 and application_id = $2 and connection_id = $3 and id = $4");
    let found = query(sql)
        .bind(&lock.tenant.organization_id)
        .bind(&lock.tenant.application_id)
        .bind(&lock.id)
        .bind(id)
        .fetch_optional(&mut *tx, item)
        .await?;
    Ok(found.map(|item| Locked::new(lock, item)))
}

/// Writes a new row. Fails when there is one with its id, or one of its kind and place with its external id.
pub async fn insert<'l>(tx: &mut Tx, lock: &'l ConnectionLock, item: Item) -> Result<Locked<'l, Item>> {
    lock.covers(&item.connection_id)?;
    let sql = "insert into items (external_id, source_id, series_id, provider_etag, etag, hash, body, metadata, \
               provider_data, is_series, sort_at, until_at, sequence, created_at, updated_at, deleted_at, uid, \
               sort_text, search_text, is_open, flags, fingerprint, aside, span, id, connection_id, kind, parent_id, \
               organization_id, application_id) values \
               ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, \
               $23, $24, $25, $26, $27, $28, $29, $30)";
    totals::count(tx, &lock.tenant, &item).await?;
    changeable(sql, &item)
        .bind(&item.id)
        .bind(&item.connection_id)
        .bind(&item.kind)
        .bind(&item.parent_id)
        .bind(&lock.tenant.organization_id)
        .bind(&lock.tenant.application_id)
        .execute(&mut *tx)
        .await?;
    Ok(Locked::new(lock, item))
}

/// Writes all changeable columns of a row.
pub async fn update(tx: &mut Tx, before: &Locked<'_, Item>, item: &Item) -> Result<()> {
    ensure!(before.id == item.id, "the row {} was read, and {} is to be written", before.id, item.id);
    let sql = "update items set external_id = $1, source_id = $2, series_id = $3, provider_etag = $4, etag = $5, \
               hash = $6, body = $7, metadata = $8, provider_data = $9, is_series = $10, sort_at = $11, \
               until_at = $12, sequence = $13, created_at = $14, updated_at = $15, deleted_at = $16, uid = $17, \
               sort_text = $18, search_text = $19, is_open = $20, flags = $21, fingerprint = $22, aside = $23, \
               span = $24 where id = $25";
    totals::count(tx, before.tenant(), item).await?;
    changeable(sql, item).bind(&item.id).execute(&mut *tx).await?;
    Ok(())
}

/// The same, and what stands there now.
pub async fn replace<'l>(tx: &mut Tx, before: Locked<'l, Item>, item: Item) -> Result<Locked<'l, Item>> {
    update(tx, &before, &item).await?;
    Ok(before.replaced(item))
}

/// The statement with the columns that an update can change, as its first 24 parameters. Of a tombstone only its names are kept, and of
/// mail, which may come back under another name, what its `body` and `metadata` are then (see `resources/mail`).
fn changeable<'q>(sql: &'static str, item: &'q Item) -> Query<'q> {
    let is_live = item.deleted_at.is_none();
    let is_kept = is_live || matches!(item.kind.as_str(), "email_message" | "email_draft");
    let (body, metadata) = if is_kept { (item.body.as_str(), item.metadata.as_str()) } else { ("{}", "{}") };
    let (sort_text, search_text) =
        if is_live { (item.sort_text.as_str(), item.search_text.as_str()) } else { ("", "") };
    query(sql)
        .bind(&item.external_id)
        .bind(&item.source_id)
        .bind(&item.series_id)
        .bind(&item.provider_etag)
        .bind(&item.etag)
        .bind(&item.hash)
        .bind(body)
        .bind(metadata)
        .bind(item.provider_data.as_deref().filter(|_| is_live))
        .bind(i64::from(item.is_series))
        .bind(item.sort_at)
        .bind(item.until_at)
        .bind(item.sequence)
        .bind(item.created_at)
        .bind(item.updated_at)
        .bind(item.deleted_at)
        .bind(&item.uid)
        .bind(sort_text)
        .bind(search_text)
        .bind(i64::from(item.is_open))
        .bind(item.flags)
        .bind(&item.fingerprint)
        .bind(item.aside.as_deref().filter(|_| is_live))
        .bind(window::span_of(item.is_series, item.sort_at, item.until_at))
}

/// Keeps what only the provider changed of an item: its version, and what the model has no field for.
pub async fn set_provider_side(tx: &mut Tx, before: &Locked<'_, Item>, item: &Item) -> Result<()> {
    query("update items set provider_etag = $1, provider_data = $2, aside = $3, sequence = $4 where id = $5")
        .bind(&item.provider_etag)
        .bind(&item.provider_data)
        .bind(&item.aside)
        .bind(item.sequence)
        .bind(&before.id)
        .execute(tx)
        .await?;
    Ok(())
}
