//! Items by where they lie: in a source, in a collection, in a connection.

use anyhow::Result;

use crate::storage::Tx;
use crate::storage::items::{Item, item};
use crate::storage::sql::{On, Reader, Row, query};
use crate::tenant::Tenant;

/// Kinds that are read together, some of them perhaps twice.
pub type Family = [&'static str; 4];

/// Everything that was ever read from one source of the provider, tombstones included.
pub async fn of_source(
    tx: &mut Tx,
    connection_id: &str,
    family: Family,
    parent_id: &str,
    source_id: &str,
) -> Result<Vec<Item>> {
    let sql = select!(
        "where connection_id = $1 and kind in ($2, $3, $6, $7) and parent_id = $4 and source_id = $5"
    );
    query(sql)
        .bind(connection_id)
        .bind(family[0])
        .bind(family[1])
        .bind(parent_id)
        .bind(source_id)
        .bind(family[2])
        .bind(family[3])
        .fetch_all(&mut *tx, item)
        .await
}

/// An item by the provider's id of it, tombstones included.
pub async fn by_external_id(
    tx: &mut Tx,
    connection_id: &str,
    kind: &str,
    parent_id: &str,
    external_id: &str,
) -> Result<Option<Item>> {
    let sql = select!("where connection_id = $1 and kind = $2 and parent_id = $3 and external_id = $4");
    query(sql)
        .bind(connection_id)
        .bind(kind)
        .bind(parent_id)
        .bind(external_id)
        .fetch_optional(&mut *tx, item)
        .await
}

/// Live items of a connection that live directly in it (calendars), in id order, from an id on.
pub async fn list_top(
    reader: &Reader,
    tenant: &Tenant,
    connection_id: Option<&str>,
    kind: &str,
    after_id: &str,
    limit: i64,
) -> Result<Vec<Item>> {
    let sql = select!(
        "where organization_id = $1 and application_id = $2 and ($3 = '' or connection_id = $3) and kind = $4 \
               and parent_id = '' and deleted_at is null and id > $5 order by id limit $6"
    );
    query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(connection_id.unwrap_or_default())
        .bind(kind)
        .bind(after_id)
        .bind(limit)
        .fetch_all(reader, item)
        .await
}

/// The live exceptions of a series.
pub async fn exceptions(reader: &Reader, series_id: &str) -> Result<Vec<Item>> {
    let sql = select!("where series_id = $1 and deleted_at is null order by id");
    query(sql).bind(series_id).fetch_all(reader, item).await
}

/// The live exceptions of every series in a collection: one query for a whole window.
pub async fn exceptions_in(reader: &Reader, parent_id: &str) -> Result<Vec<Item>> {
    let sql = select!("where parent_id = $1 and series_id is not null and deleted_at is null order by id");
    query(sql).bind(parent_id).fetch_all(reader, item).await
}

/// Items of a collection for a snapshot of its feed: live, or deleted only after `sequence`; in id order.
pub async fn snapshot(
    reader: &Reader,
    tenant: &Tenant,
    collection: (&str, &str),
    sequence: i64,
    after_id: &str,
    limit: i64,
) -> Result<Vec<Item>> {
    let sql = select!(
        "where organization_id = $1 and application_id = $2 and parent_id = $3 and kind = $4 \
               and (deleted_at is null or sequence > $5) and id > $6 order by id limit $7"
    );
    query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(collection.0)
        .bind(collection.1)
        .bind(sequence)
        .bind(after_id)
        .bind(limit)
        .fetch_all(reader, item)
        .await
}

/// Distinct ids of the sources of a collection that have live items.
pub async fn live_sources(
    tx: &mut Tx,
    connection_id: &str,
    family: Family,
    parent_id: &str,
) -> Result<Vec<String>> {
    let sql = "select distinct source_id from items where connection_id = $1 and kind in ($2, $3, $5, $6) and \
               parent_id = $4 and deleted_at is null order by source_id";
    query(sql)
        .bind(connection_id)
        .bind(family[0])
        .bind(family[1])
        .bind(parent_id)
        .bind(family[2])
        .bind(family[3])
        .fetch_all(&mut *tx, |row| row.get("source_id"))
        .await
}

/// Ids of live items in a collection, for telling that they are gone with it.
pub async fn live_in(tx: &mut Tx, parent_id: &str) -> Result<Vec<Item>> {
    let sql = select!("where parent_id = $1 and deleted_at is null order by id");
    query(sql).bind(parent_id).fetch_all(&mut *tx, item).await
}

/// What a collection holds: how many live items, and how many of them are open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    pub collection_id: String,
    pub items: i64,
    pub open: i64,
}

/// Counts what collections hold, those from one id to another; of what was never read nothing is known. `kinds`: the
/// collections' and their items'.
pub async fn counts(
    on: impl Into<On<'_>>,
    tenant: &Tenant,
    kinds: (&str, &str),
    (from_id, to_id): (&str, &str),
) -> Result<Vec<Count>> {
    let sql = "select p.id, count(c.id) as n, cast(coalesce(sum(c.is_open), 0) as bigint) as open from items p \
               left join items c on c.parent_id = p.id and c.kind = $4 and c.deleted_at is null and c.sort_text <> '' \
               where p.organization_id = $1 and p.application_id = $2 and p.kind = $3 and p.id >= $5 and p.id <= $6 \
               and p.deleted_at is null and exists (select 1 from sync_states s where s.connection_id = p.connection_id \
               and s.scope_id = p.id and s.last_success_at is not null) group by p.id order by p.id";
    let count = |row: &Row<'_>| {
        Ok(Count { collection_id: row.get("id")?, items: row.get("n")?, open: row.get("open")? })
    };
    query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(kinds.0)
        .bind(kinds.1)
        .bind(from_id)
        .bind(to_id)
        .fetch_all(on, count)
        .await
}

/// Items of one kind of a whole connection for a snapshot of its feed: live, or deleted only after `sequence`; in id order.
pub async fn snapshot_of_connection(
    reader: &Reader,
    tenant: &Tenant,
    (connection_id, kind): (&str, &str),
    sequence: i64,
    after_id: &str,
    limit: i64,
) -> Result<Vec<Item>> {
    let sql = select!(
        "where organization_id = $1 and application_id = $2 and connection_id = $3 and kind = $4 \
               and (deleted_at is null or sequence > $5) and id > $6 order by id limit $7"
    );
    query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(connection_id)
        .bind(kind)
        .bind(sequence)
        .bind(after_id)
        .bind(limit)
        .fetch_all(reader, item)
        .await
}
