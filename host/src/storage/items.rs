//! The local copy: one row per normalized resource. Table: `migrations/0003_items.sql`.

use anyhow::Result;
use sqlx::any::AnyRow;
use sqlx::{AnyPool, Row};

use crate::storage::Tx;
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
    pub is_series: bool,
    pub sort_at: i64,
    pub until_at: i64,
    pub sequence: i64,
    pub created_at: i64,
    pub updated_at: i64,
    pub deleted_at: Option<i64>,
}

/// A query for whole rows with this condition: one column list for all of them, still one `&'static str` each.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "select id, connection_id, kind, parent_id, external_id, source_id, series_id, provider_etag, etag, hash, ",
            "body, metadata, provider_data, is_series, sort_at, until_at, sequence, created_at, updated_at, deleted_at from items ",
            $rest
        )
    };
}

fn item(row: &AnyRow) -> Result<Item, sqlx::Error> {
    Ok(Item {
        id: row.try_get("id")?,
        connection_id: row.try_get("connection_id")?,
        kind: row.try_get("kind")?,
        parent_id: row.try_get("parent_id")?,
        external_id: row.try_get("external_id")?,
        source_id: row.try_get("source_id")?,
        series_id: row.try_get("series_id")?,
        provider_etag: row.try_get("provider_etag")?,
        etag: row.try_get("etag")?,
        hash: row.try_get("hash")?,
        body: row.try_get("body")?,
        metadata: row.try_get("metadata")?,
        provider_data: row.try_get("provider_data")?,
        is_series: row.try_get::<i64, _>("is_series")? != 0,
        sort_at: row.try_get("sort_at")?,
        until_at: row.try_get("until_at")?,
        sequence: row.try_get("sequence")?,
        created_at: row.try_get("created_at")?,
        updated_at: row.try_get("updated_at")?,
        deleted_at: row.try_get("deleted_at")?,
    })
}

/// A live item of the tenant.
pub async fn find(
    pool: &AnyPool,
    tenant: &Tenant,
    kind: &str,
    id: &str,
) -> Result<Option<Item>, sqlx::Error> {
    let sql = select!(
        "where organization_id = $1 and application_id = $2 and id = $3 and kind = $4 and deleted_at is null"
    );
    let row = sqlx::query(sql)
        .bind(tenant.organization_id.clone())
        .bind(tenant.application_id.clone())
        .bind(id.to_owned())
        .bind(kind.to_owned())
        .fetch_optional(pool)
        .await?;
    row.as_ref().map(item).transpose()
}

/// The same inside a write transaction, tombstones included.
pub async fn find_for_write(tx: &mut Tx, tenant: &Tenant, id: &str) -> Result<Option<Item>, sqlx::Error> {
    let sql = select!("where organization_id = $1 and application_id = $2 and id = $3");
    let row = sqlx::query(sql)
        .bind(tenant.organization_id.clone())
        .bind(tenant.application_id.clone())
        .bind(id.to_owned())
        .fetch_optional(&mut *tx)
        .await?;
    row.as_ref().map(item).transpose()
}

/// Everything that was ever read from one source of the provider, tombstones included.
pub async fn of_source(
    tx: &mut Tx,
    connection_id: &str,
    kind: &str,
    parent_id: &str,
    source_id: &str,
) -> Result<Vec<Item>, sqlx::Error> {
    let sql = select!("where connection_id = $1 and kind = $2 and parent_id = $3 and source_id = $4");
    let rows = sqlx::query(sql)
        .bind(connection_id.to_owned())
        .bind(kind.to_owned())
        .bind(parent_id.to_owned())
        .bind(source_id.to_owned())
        .fetch_all(&mut *tx)
        .await?;
    rows.iter().map(item).collect()
}

/// An item by the provider's id of it, tombstones included.
pub async fn by_external_id(
    tx: &mut Tx,
    connection_id: &str,
    kind: &str,
    parent_id: &str,
    external_id: &str,
) -> Result<Option<Item>, sqlx::Error> {
    let sql = select!("where connection_id = $1 and kind = $2 and parent_id = $3 and external_id = $4");
    let row = sqlx::query(sql)
        .bind(connection_id.to_owned())
        .bind(kind.to_owned())
        .bind(parent_id.to_owned())
        .bind(external_id.to_owned())
        .fetch_optional(&mut *tx)
        .await?;
    row.as_ref().map(item).transpose()
}

/// Where a page of live items begins: after this sort key and id.
#[derive(Clone, Debug)]
pub struct After {
    pub sort_at: i64,
    pub id: String,
}

/// Live items of a connection that live directly in it (calendars), in id order, from an id on.
pub async fn list_top(
    pool: &AnyPool,
    tenant: &Tenant,
    connection_id: Option<&str>,
    kind: &str,
    after_id: &str,
    limit: i64,
) -> Result<Vec<Item>, sqlx::Error> {
    let sql = select!(
        "where organization_id = $1 and application_id = $2 and ($3 = '' or connection_id = $3) and kind = $4 \
               and parent_id = '' and deleted_at is null and id > $5 order by id limit $6"
    );
    let rows = sqlx::query(sql)
        .bind(tenant.organization_id.clone())
        .bind(tenant.application_id.clone())
        .bind(connection_id.unwrap_or_default().to_owned())
        .bind(kind.to_owned())
        .bind(after_id.to_owned())
        .bind(limit)
        .fetch_all(pool)
        .await?;
    rows.iter().map(item).collect()
}

/// Which items of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Any,
    Plain,
    Series,
}

/// A stretch of a collection: items that overlap `[from, to)`, in (sort_at, id) order.
#[derive(Clone, Debug)]
pub struct Window<'a> {
    pub parent_id: &'a str,
    pub kind: &'a str,
    pub from: i64,
    pub to: i64,
    /// Only series, only what is none, or both.
    pub shape: Shape,
    pub updated_after: i64,
    pub after: Option<After>,
    pub limit: i64,
}

/// Live items of a collection in a window. A moment (start = end) counts when it lies inside.
pub async fn list_window(
    pool: &AnyPool,
    tenant: &Tenant,
    window: &Window<'_>,
) -> Result<Vec<Item>, sqlx::Error> {
    let sql = select!(
        "where organization_id = $1 and application_id = $2 and parent_id = $3 and kind = $4 and deleted_at is null \
               and sort_at < $6 and (until_at > $5 or (until_at = sort_at and sort_at >= $5)) and updated_at >= $7 \
               and (sort_at > $8 or (sort_at = $8 and id > $9)) and ($11 < 0 or is_series = $11) order by sort_at, id limit $10"
    );
    let after = window.after.clone().unwrap_or(After { sort_at: i64::MIN, id: String::new() });
    let rows = sqlx::query(sql)
        .bind(tenant.organization_id.clone())
        .bind(tenant.application_id.clone())
        .bind(window.parent_id.to_owned())
        .bind(window.kind.to_owned())
        .bind(window.from)
        .bind(window.to)
        .bind(window.updated_after)
        .bind(after.sort_at)
        .bind(after.id)
        .bind(window.limit)
        .bind(match window.shape {
            Shape::Any => -1_i64,
            Shape::Plain => 0,
            Shape::Series => 1,
        })
        .fetch_all(pool)
        .await?;
    rows.iter().map(item).collect()
}

/// The live exceptions of a series.
pub async fn exceptions(pool: &AnyPool, series_id: &str) -> Result<Vec<Item>, sqlx::Error> {
    let sql = select!("where series_id = $1 and deleted_at is null order by id");
    let rows = sqlx::query(sql).bind(series_id.to_owned()).fetch_all(pool).await?;
    rows.iter().map(item).collect()
}

/// The live exceptions of every series in a collection: one query for a whole window.
pub async fn exceptions_in(pool: &AnyPool, parent_id: &str) -> Result<Vec<Item>, sqlx::Error> {
    let sql = select!("where parent_id = $1 and series_id is not null and deleted_at is null order by id");
    let rows = sqlx::query(sql).bind(parent_id.to_owned()).fetch_all(pool).await?;
    rows.iter().map(item).collect()
}

/// Items of a collection for a snapshot of its feed: live, or deleted only after `sequence`; in id order.
pub async fn snapshot(
    pool: &AnyPool,
    tenant: &Tenant,
    collection: (&str, &str),
    sequence: i64,
    after_id: &str,
    limit: i64,
) -> Result<Vec<Item>, sqlx::Error> {
    let sql = select!(
        "where organization_id = $1 and application_id = $2 and parent_id = $3 and kind = $4 \
               and (deleted_at is null or sequence > $5) and id > $6 order by id limit $7"
    );
    let rows = sqlx::query(sql)
        .bind(tenant.organization_id.clone())
        .bind(tenant.application_id.clone())
        .bind(collection.0.to_owned())
        .bind(collection.1.to_owned())
        .bind(sequence)
        .bind(after_id.to_owned())
        .bind(limit)
        .fetch_all(pool)
        .await?;
    rows.iter().map(item).collect()
}

/// Distinct ids of the sources of a collection that have live items.
pub async fn live_sources(
    tx: &mut Tx,
    connection_id: &str,
    kind: &str,
    parent_id: &str,
) -> Result<Vec<String>, sqlx::Error> {
    let sql = "select distinct source_id from items where connection_id = $1 and kind = $2 and parent_id = $3 \
               and deleted_at is null order by source_id";
    let rows = sqlx::query(sql)
        .bind(connection_id.to_owned())
        .bind(kind.to_owned())
        .bind(parent_id.to_owned())
        .fetch_all(&mut *tx)
        .await?;
    rows.iter().map(|row| row.try_get("source_id")).collect()
}

/// Writes a row: a new one, or all changeable columns of the one with this id.
pub async fn upsert(tx: &mut Tx, tenant: &Tenant, item: &Item) -> Result<(), sqlx::Error> {
    let sql = "insert into items (id, organization_id, application_id, connection_id, kind, parent_id, external_id, \
               source_id, series_id, provider_etag, etag, hash, body, metadata, provider_data, is_series, sort_at, \
               until_at, sequence, created_at, updated_at, deleted_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, \
               $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22) on conflict (id) do update set \
               external_id = excluded.external_id, source_id = excluded.source_id, series_id = excluded.series_id, \
               provider_etag = excluded.provider_etag, etag = excluded.etag, hash = excluded.hash, \
               body = excluded.body, metadata = excluded.metadata, provider_data = excluded.provider_data, \
               is_series = excluded.is_series, sort_at = excluded.sort_at, until_at = excluded.until_at, \
               sequence = excluded.sequence, created_at = excluded.created_at, updated_at = excluded.updated_at, \
               deleted_at = excluded.deleted_at";
    sqlx::query(sql)
        .bind(item.id.clone())
        .bind(tenant.organization_id.clone())
        .bind(tenant.application_id.clone())
        .bind(item.connection_id.clone())
        .bind(item.kind.clone())
        .bind(item.parent_id.clone())
        .bind(item.external_id.clone())
        .bind(item.source_id.clone())
        .bind(item.series_id.clone())
        .bind(item.provider_etag.clone())
        .bind(item.etag.clone())
        .bind(item.hash.clone())
        .bind(item.body.clone())
        .bind(item.metadata.clone())
        .bind(item.provider_data.clone())
        .bind(i64::from(item.is_series))
        .bind(item.sort_at)
        .bind(item.until_at)
        .bind(item.sequence)
        .bind(item.created_at)
        .bind(item.updated_at)
        .bind(item.deleted_at)
        .execute(&mut *tx)
        .await?;
    Ok(())
}

/// Keeps the provider's version of an item that did not change otherwise.
pub async fn set_provider_etag(
    tx: &mut Tx,
    id: &str,
    provider_etag: Option<&str>,
) -> Result<(), sqlx::Error> {
    sqlx::query("update items set provider_etag = $1 where id = $2")
        .bind(provider_etag.map(str::to_owned))
        .bind(id.to_owned())
        .execute(&mut *tx)
        .await?;
    Ok(())
}

/// Ids of live items in a collection, for telling that they are gone with it.
pub async fn live_in(tx: &mut Tx, parent_id: &str) -> Result<Vec<Item>, sqlx::Error> {
    let sql = select!("where parent_id = $1 and deleted_at is null order by id");
    let rows = sqlx::query(sql).bind(parent_id.to_owned()).fetch_all(&mut *tx).await?;
    rows.iter().map(item).collect()
}

/// Removes every item of a connection.
pub async fn purge(tx: &mut Tx, connection_id: &str) -> Result<(), sqlx::Error> {
    sqlx::query("delete from items where connection_id = $1")
        .bind(connection_id.to_owned())
        .execute(&mut *tx)
        .await?;
    Ok(())
}
