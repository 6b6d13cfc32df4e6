//! The local copy: one row per normalized resource. Tables: `migrations/0003_items.sql`, `0011_contacts_and_tasks.sql`.

use anyhow::{Result, ensure};
use base::tenant::Tenant;

use crate::Tx;
use crate::locked::{ConnectionLock, Locked};
use crate::sql::{Columns, Query, Reader, Row, query};

/// A stored resource.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Item {
    pub id: String,
    pub connection_id: String,
    pub kind: String,
    pub parent_id: String,
    pub external_id: String,
    pub source_id: String,
    pub series_id: Option<String>,
    pub provider_etag: Option<String>,
    pub etag: String,
    pub hash: String,
    /// The resource as JSON, without the host's own fields; `warnings`, where a connector has any, are the first.
    pub body: String,
    pub metadata: String,
    pub provider_data: Option<String>,
    /// What other items of the collection call it.
    pub uid: Option<String>,
    pub is_series: bool,
    pub sort_at: i64,
    pub until_at: i64,
    /// See `List`.
    pub sort_text: String,
    pub search_text: String,
    /// A task that is still to be done, a message that is unread.
    pub is_open: bool,
    /// Of mail: see `storage::mail::flag`.
    pub flags: i64,
    /// What stays the same when the provider gives it another id.
    pub fingerprint: Option<String>,
    /// JSON that is kept with it and is no part of its version.
    pub aside: Option<String>,
    pub sequence: i64,
    pub created_at: i64,
    pub updated_at: i64,
    pub deleted_at: Option<i64>,
}

/// What an answer shows of an item, where it lies.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    pub id: &'a str,
    pub connection_id: &'a str,
    pub kind: &'a str,
    pub parent_id: &'a str,
    pub external_id: &'a str,
    pub series_id: Option<&'a str>,
    pub etag: &'a str,
    pub body: &'a str,
    pub metadata: &'a str,
    pub provider_data: Option<&'a str>,
    pub sort_at: i64,
    pub sort_text: &'a str,
    pub created_at: i64,
    pub updated_at: i64,
}

impl<'a> From<&'a Item> for Shown<'a> {
    fn from(item: &'a Item) -> Self {
        Shown {
            id: &item.id,
            connection_id: &item.connection_id,
            kind: &item.kind,
            parent_id: &item.parent_id,
            external_id: &item.external_id,
            series_id: item.series_id.as_deref(),
            etag: &item.etag,
            body: &item.body,
            metadata: &item.metadata,
            provider_data: item.provider_data.as_deref(),
            sort_at: item.sort_at,
            sort_text: &item.sort_text,
            created_at: item.created_at,
            updated_at: item.updated_at,
        }
    }
}

/// A query for whole rows with this condition: one column list for all of them, still one `&'static str` each.
macro_rules! select {
    ($rest:expr) => {
        concat!(
            "select id, connection_id, kind, parent_id, external_id, source_id, series_id, provider_etag, etag, hash, ",
            "body, metadata, provider_data, uid, is_series, sort_at, until_at, sort_text, search_text, is_open, sequence, ",
            "created_at, updated_at, deleted_at, flags, fingerprint, aside from items ",
            $rest
        )
    };
}

pub(crate) use select as select_items;

/// A whole row.
pub(crate) fn item(row: &Row<'_>) -> Result<Item> {
    // In the order of the column list: by number, because looking two dozen names up costs more than reading the row.
    let mut column = row.columns();
    Ok(Item {
        id: column.next()?,
        connection_id: column.next()?,
        kind: column.next()?,
        parent_id: column.next()?,
        external_id: column.next()?,
        source_id: column.next()?,
        series_id: column.next()?,
        provider_etag: column.next()?,
        etag: column.next()?,
        hash: column.next()?,
        body: column.next()?,
        metadata: column.next()?,
        provider_data: column.next()?,
        uid: column.next()?,
        is_series: column.next::<i64>()? != 0,
        sort_at: column.next()?,
        until_at: column.next()?,
        sort_text: column.next()?,
        search_text: column.next()?,
        is_open: column.next::<i64>()? != 0,
        sequence: column.next()?,
        created_at: column.next()?,
        updated_at: column.next()?,
        deleted_at: column.next()?,
        flags: column.next()?,
        fingerprint: column.next()?,
        aside: column.next()?,
    })
}

/// The columns of `Shown` but for the one that few ask for, which is there if this parameter is 1.
macro_rules! shown_columns {
    ($with_provider_data:literal) => {
        shown_columns!($with_provider_data, "", "from items ")
    };
    ($with_provider_data:literal, $before:literal, $from:literal) => {
        concat!(
            "select ",
            $before,
            "id, connection_id, kind, parent_id, external_id, series_id, etag, body, metadata, sort_at, sort_text, created_at, ",
            "updated_at, case when ",
            $with_provider_data,
            " = 1 then provider_data end as provider_data ",
            $from
        )
    };
}

/// That the connection of an item is there: what was read through one that was deleted goes step by step, and is gone at once.
macro_rules! connected {
    () => {
        "exists (select 1 from connections c where c.id = items.connection_id and c.deleted_at is null) "
    };
}

mod collection;
mod former;
mod keys;
mod list;
mod mail;
mod parts;
mod refs;
mod seen;
mod totals;
mod window;

pub use collection::{
    Family, exceptions, exceptions_of, ids_of_source, list_top, live_sources, lock_by_external_id,
    lock_of_source, snapshot, snapshot_of_connection,
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
pub use seen::{held_versions, mark_seen, unseen_sources};
pub use totals::{Count, bytes, counts};
#[cfg(test)]
pub use window::span_of;
pub use window::{After, Shape, Window, list_window, read_window};

/// In the order of `shown_columns`.
fn shown<'a>(row: &'a Row<'_>) -> Result<Shown<'a>> {
    shown_from(&mut row.columns())
}

/// The next columns of a row, in the order of `shown_columns`.
pub(crate) fn shown_from<'a>(column: &mut Columns<'a, '_>) -> Result<Shown<'a>> {
    Ok(Shown {
        id: column.text()?.unwrap_or_default(),
        connection_id: column.text()?.unwrap_or_default(),
        kind: column.text()?.unwrap_or_default(),
        parent_id: column.text()?.unwrap_or_default(),
        external_id: column.text()?.unwrap_or_default(),
        series_id: column.text()?,
        etag: column.text()?.unwrap_or_default(),
        body: column.text()?.unwrap_or_default(),
        metadata: column.text()?.unwrap_or_default(),
        sort_at: column.next()?,
        sort_text: column.text()?.unwrap_or_default(),
        created_at: column.next()?,
        updated_at: column.next()?,
        provider_data: column.text()?,
    })
}

/// The same where they are all null for what is not asked for.
pub(crate) fn shown_if_any<'a>(column: &mut Columns<'a, '_>) -> Result<Option<Shown<'a>>> {
    if column.is_null()? { Ok(None) } else { shown_from(column).map(Some) }
}

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

/// Rows that were read under a lock.
fn locked(lock: &ConnectionLock, items: Vec<Item>) -> Vec<Locked<'_, Item>> {
    items.into_iter().map(|item| Locked::new(lock, item)).collect()
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
