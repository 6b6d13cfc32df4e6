//! A stored item, whole and as a response shows it, and the reading of both from a row.

use anyhow::Result;

use crate::locked::{ConnectionLock, LockedRow};
use crate::sql::{Columns, Row};

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
    /// The external id of the series, in an exception that is in another record than its series, whether that exists or not.
    pub series_name: Option<String>,
    pub provider_etag: Option<String>,
    /// When the provider last changed the record, by the provider's clock, ms since 1970. Of a tombstone: when a client deleted the item;
    /// none where the provider did.
    pub provider_updated_at: Option<i64>,
    pub etag: String,
    pub hash: String,
    /// The resource as JSON, without the host's own fields; `warnings`, where a connector has any, are the first.
    pub body: String,
    pub metadata: String,
    pub provider_data: Option<String>,
    /// The name by which other items of the collection refer to this one.
    pub uid: Option<String>,
    pub is_series: bool,
    pub sort_at: i64,
    pub until_at: i64,
    /// See `List`.
    pub sort_text: String,
    pub search_text: String,
    /// Whether a task is still to be done, or a message is unread.
    pub is_open: bool,
    /// Flags of a message: see `storage::mail::flag`.
    pub flags: i64,
    /// A fingerprint that stays the same when the provider gives the object another id.
    pub fingerprint: Option<String>,
    /// JSON that is stored with the item and does not count for its version.
    pub aside: Option<String>,
    pub sequence: i64,
    pub created_at: i64,
    pub updated_at: i64,
    pub deleted_at: Option<i64>,
}

/// A row to be written: `before` is the present row of the table, none for a new row.
#[derive(Clone, Copy, Debug)]
pub struct ItemWrite<'w, 'l> {
    pub before: Option<&'w LockedRow<'l, Item>>,
    pub item: &'w Item,
}

/// The columns of an item that a response shows, borrowed from the result row.
#[derive(Clone, Copy, Debug)]
pub struct ItemColumns<'a> {
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

impl<'a> From<&'a Item> for ItemColumns<'a> {
    fn from(item: &'a Item) -> Self {
        ItemColumns {
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
            "created_at, updated_at, deleted_at, flags, fingerprint, aside, series_name, provider_updated_at from items ",
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
        series_name: column.next()?,
        provider_updated_at: column.next()?,
    })
}

/// The columns of `ItemColumns`; `provider_data`, which few requests want, only if this parameter is 1.
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

/// The condition that an item's connection is live: the items of a deleted connection are removed in steps, but must disappear at
/// once.
macro_rules! connected {
    () => {
        "exists (select 1 from connections c where c.id = items.connection_id and c.deleted_at is null) "
    };
}

/// In the order of `shown_columns`.
pub(super) fn read_columns<'a>(row: &'a Row<'_>) -> Result<ItemColumns<'a>> {
    shown_from(&mut row.columns())
}

/// The next columns of a row, in the order of `shown_columns`.
pub(super) fn shown_from<'a>(column: &mut Columns<'a, '_>) -> Result<ItemColumns<'a>> {
    Ok(ItemColumns {
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

/// The same; none if all columns are null because the item did not match.
pub(crate) fn shown_if_any<'a>(column: &mut Columns<'a, '_>) -> Result<Option<ItemColumns<'a>>> {
    if column.is_null()? { Ok(None) } else { shown_from(column).map(Some) }
}

/// Rows that were read under a lock.
pub(super) fn locked(lock: &ConnectionLock, items: Vec<Item>) -> Vec<LockedRow<'_, Item>> {
    items.into_iter().map(|item| LockedRow::new(lock, item)).collect()
}
