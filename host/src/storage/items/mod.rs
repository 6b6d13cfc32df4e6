//! The local copy: one row per normalized resource. Tables: `migrations/0003_items.sql`, `0011_contacts_and_tasks.sql`.

use anyhow::Result;

use crate::storage::Tx;
use crate::storage::sql::{Columns, Query, Reader, Row, query};
use crate::tenant::Tenant;

/// A stored resource.
#[derive(Clone, Debug, PartialEq)]
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
    /// The resource as JSON, without the host's own fields.
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
        concat!(
            "select id, connection_id, kind, parent_id, external_id, series_id, etag, body, metadata, sort_at, sort_text, created_at, ",
            "updated_at, case when ",
            $with_provider_data,
            " = 1 then provider_data end from items "
        )
    };
}

mod collection;
mod keys;
mod list;
mod mail;
mod parts;
mod refs;
mod window;

pub use collection::{
    Count, Family, by_external_id, counts, exceptions, exceptions_in, list_top, live_in, live_sources,
    of_source, snapshot, snapshot_of_connection,
};
pub use keys::{Key, set_keys};
pub use list::{List, MAX_WORDS, Within, like, read_list};
pub use mail::{
    ever_of_sources, gone_by_fingerprint, is_known_source, live_of_kinds, of_sources, of_thread, ours_by_uid,
    set_source, set_uid,
};
pub use parts::{Part, parts_of, put_parts};
pub use refs::{has_refs, linked, namers, set_refs, targets};
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

/// The live item of the tenant that `bind_live` names.
macro_rules! live {
    () => {
        "where organization_id = $1 and application_id = $2 and id = $3 and kind = $4 and deleted_at is null"
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
    let sql =
        select!("where organization_id = $1 and application_id = $2 and id = $3 and deleted_at is null");
    query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(id)
        .fetch_optional(reader, item)
        .await
}

/// The same inside a write transaction, tombstones included.
pub async fn find_for_write(tx: &mut Tx, tenant: &Tenant, id: &str) -> Result<Option<Item>> {
    let sql = select!("where organization_id = $1 and application_id = $2 and id = $3");
    query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(id)
        .fetch_optional(&mut *tx, item)
        .await
}

/// Writes a row: a new one, or all changeable columns of the one with this id.
pub async fn upsert(tx: &mut Tx, tenant: &Tenant, item: &Item) -> Result<()> {
    let sql = "insert into items (id, organization_id, application_id, connection_id, kind, parent_id, external_id, \
               source_id, series_id, provider_etag, etag, hash, body, metadata, provider_data, is_series, sort_at, \
               until_at, sequence, created_at, updated_at, deleted_at, uid, sort_text, search_text, is_open, flags, \
               fingerprint, aside) values \
               ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, \
               $23, $24, $25, $26, $27, $28, $29) on conflict (id) do update set \
               external_id = excluded.external_id, source_id = excluded.source_id, series_id = excluded.series_id, \
               provider_etag = excluded.provider_etag, etag = excluded.etag, hash = excluded.hash, \
               body = excluded.body, metadata = excluded.metadata, provider_data = excluded.provider_data, \
               is_series = excluded.is_series, sort_at = excluded.sort_at, until_at = excluded.until_at, \
               sequence = excluded.sequence, created_at = excluded.created_at, updated_at = excluded.updated_at, \
               deleted_at = excluded.deleted_at, uid = excluded.uid, sort_text = excluded.sort_text, \
               search_text = excluded.search_text, is_open = excluded.is_open, flags = excluded.flags, \
               fingerprint = excluded.fingerprint, aside = excluded.aside";
    query(sql)
        .bind(&item.id)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(&item.connection_id)
        .bind(&item.kind)
        .bind(&item.parent_id)
        .bind(&item.external_id)
        .bind(&item.source_id)
        .bind(&item.series_id)
        .bind(&item.provider_etag)
        .bind(&item.etag)
        .bind(&item.hash)
        .bind(&item.body)
        .bind(&item.metadata)
        .bind(&item.provider_data)
        .bind(i64::from(item.is_series))
        .bind(item.sort_at)
        .bind(item.until_at)
        .bind(item.sequence)
        .bind(item.created_at)
        .bind(item.updated_at)
        .bind(item.deleted_at)
        .bind(&item.uid)
        .bind(&item.sort_text)
        .bind(&item.search_text)
        .bind(i64::from(item.is_open))
        .bind(item.flags)
        .bind(&item.fingerprint)
        .bind(&item.aside)
        .execute(&mut *tx)
        .await?;
    Ok(())
}

/// Keeps what only the provider changed of an item: its version, and what the model has no field for.
pub async fn set_provider_side(
    tx: &mut Tx,
    id: &str,
    provider_etag: &Option<String>,
    provider_data: &Option<String>,
    aside: &Option<String>,
) -> Result<()> {
    query("update items set provider_etag = $1, provider_data = $2, aside = $3 where id = $4")
        .bind(provider_etag)
        .bind(provider_data)
        .bind(aside)
        .bind(id)
        .execute(tx)
        .await?;
    Ok(())
}

/// Removes every item of a connection, and all that hangs on them.
pub async fn purge(tx: &mut Tx, connection_id: &str) -> Result<()> {
    for sql in [
        "delete from item_keys where connection_id = $1",
        "delete from item_refs where connection_id = $1",
        "delete from item_parts where connection_id = $1",
        "delete from email_places where connection_id = $1",
        "delete from email_thread_refs where connection_id = $1",
        "delete from email_threads where connection_id = $1",
        "delete from items where connection_id = $1",
    ] {
        query(sql).bind(connection_id).execute(&mut *tx).await?;
    }
    crate::storage::tracking::purge(tx, connection_id).await?;
    crate::storage::outbox::purge(tx, connection_id).await
}
