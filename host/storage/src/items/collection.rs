//! Items by where they lie: in a source, in a collection, in a connection.

use anyhow::Result;
use base::tenant::Tenant;

use crate::Tx;
use crate::dialect::{among, one_of};
use crate::items::row::{Item, item, locked};
use crate::json_text;
use crate::locked::{ConnectionLock, Locked};
use crate::sql::{Chunk, On, Reader, query};

/// Kinds that are read together, some of them perhaps twice.
pub type Family = [&'static str; 4];

/// Everything that was ever read from one source of the provider, tombstones included.
pub async fn lock_of_source<'l>(
    tx: &mut Tx,
    lock: &'l ConnectionLock,
    family: Family,
    parent_id: &str,
    source_id: &str,
) -> Result<Vec<Locked<'l, Item>>> {
    let sql = select!(
        "where connection_id = $1 and kind in ($2, $3, $6, $7) and parent_id = $4 and source_id = $5"
    );
    let found = query(sql)
        .bind(&lock.id)
        .bind(family[0])
        .bind(family[1])
        .bind(parent_id)
        .bind(source_id)
        .bind(family[2])
        .bind(family[3])
        .fetch_all(&mut *tx, item)
        .await?;
    Ok(locked(lock, found))
}

/// An item by the provider's id of it, tombstones included.
pub async fn lock_by_external_id<'l>(
    tx: &mut Tx,
    lock: &'l ConnectionLock,
    kind: &str,
    parent_id: &str,
    external_id: &str,
) -> Result<Option<Locked<'l, Item>>> {
    let sql = select!("where connection_id = $1 and kind = $2 and parent_id = $3 and external_id = $4");
    let found = query(sql)
        .bind(&lock.id)
        .bind(kind)
        .bind(parent_id)
        .bind(external_id)
        .fetch_optional(&mut *tx, item)
        .await?;
    Ok(found.map(|item| Locked::new(lock, item)))
}

/// Live items that live directly in a connection (calendars), in id order, from an id on. Without a connection: of all.
pub async fn list_top(
    reader: &Reader,
    tenant: &Tenant,
    connection_id: Option<&str>,
    kind: &str,
    after_id: &str,
    limit: i64,
) -> Result<Vec<Item>> {
    let sql = match connection_id {
        // What is of such a kind lies there: its kind alone is asked for, which is what the index is in the order of.
        Some(_) => select!(
            "where organization_id = $1 and application_id = $2 and connection_id = $3 and kind = $4 \
             and deleted_at is null and id > $5 order by id limit $6"
        ),
        None => select!(concat!(
            "where organization_id = $1 and application_id = $2 and $3 = '' and kind = $4 and parent_id = '' \
             and deleted_at is null and id > $5 and ",
            connected!(),
            "order by id limit $6"
        )),
    };
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

/// Live items that live directly in these connections, one connection after the other and in each in id order; as many as a chunk holds.
pub async fn list_top_of(
    reader: &Reader,
    tenant: &Tenant,
    connection_ids: &[String],
    kind: &str,
    limit: i64,
) -> Result<Chunk<Item>> {
    let sql = one_of!(
        reader,
        select!(
            "where organization_id = $1 and application_id = $2 and kind = $3 and deleted_at is null \
             and connection_id"
        ),
        "$4",
        " order by connection_id, id limit $5"
    );
    query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(kind)
        .bind(json_text(connection_ids))
        .bind(limit)
        .fetch_chunk(reader, limit, item)
        .await
}

/// Live calendars of these connections that nobody follows, by the connections' ids and their own.
pub async fn unfollowed_calendars(
    reader: &Reader,
    tenant: &Tenant,
    connection_ids: &[String],
    limit: i64,
) -> Result<Vec<Item>> {
    let sql = one_of!(
        reader,
        select!(
            "where organization_id = $1 and application_id = $2 and kind = 'calendar' and deleted_at is null \
             and not exists (select 1 from sync_states s where s.connection_id = items.connection_id and s.surface = 'calendar' \
             and s.scope_id = items.id and s.followed = 1) and connection_id"
        ),
        "$3",
        " order by connection_id, id limit $4"
    );
    query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(json_text(connection_ids))
        .bind(limit)
        .fetch_all(reader, item)
        .await
}

/// The live exceptions of a series.
pub async fn exceptions(reader: &Reader, series_id: &str) -> Result<Vec<Item>> {
    let sql = select!("where series_id = $1 and deleted_at is null order by id");
    query(sql).bind(series_id).fetch_all(reader, item).await
}

/// Ids of everything that was ever read from one source of a connection, by its family and parent.
pub async fn ids_of_source(
    reader: &Reader,
    (connection_id, family, parent_id, source_id): (&str, Family, &str, &str),
) -> Result<Vec<String>> {
    let sql = "select id from items where connection_id = $1 and kind in ($2, $3, $6, $7) and parent_id = $4 \
               and source_id = $5 order by id";
    query(sql)
        .bind(connection_id)
        .bind(family[0])
        .bind(family[1])
        .bind(parent_id)
        .bind(source_id)
        .bind(family[2])
        .bind(family[3])
        .fetch_all(reader, |row| row.get("id"))
        .await
}

/// The live exceptions of these series.
pub async fn exceptions_of(reader: &Reader, series_ids: &[&str]) -> Result<Vec<Item>> {
    if series_ids.is_empty() {
        return Ok(Vec::new());
    }
    let sql = among!(reader, select!("where deleted_at is null and series_id in "), "$1", " order by id");
    query(sql).bind(serde_json::to_string(series_ids)?).fetch_all(reader, item).await
}

/// Items of a collection for a snapshot of its feed: live, or deleted only after `sequence`; in id order, as many as a chunk holds.
pub async fn snapshot(
    reader: &Reader,
    tenant: &Tenant,
    collection: (&str, &str),
    sequence: i64,
    after_id: &str,
    limit: i64,
) -> Result<Chunk<Item>> {
    let sql = select!(
        "where organization_id = $1 and application_id = $2 and parent_id = $3 and kind = $4 and parent_id <> '' \
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
        .fetch_chunk(reader, limit, item)
        .await
}

/// The ids of the sources of a collection that have live items, each once.
pub async fn live_sources(
    on: impl Into<On<'_>>,
    connection_id: &str,
    family: Family,
    parent_id: &str,
) -> Result<Vec<String>> {
    let sql = "select source_id from items where connection_id = $1 and kind in ($2, $3, $5, $6) and \
               parent_id = $4 and deleted_at is null";
    let mut found: Vec<String> = query(sql)
        .bind(connection_id)
        .bind(family[0])
        .bind(family[1])
        .bind(parent_id)
        .bind(family[2])
        .bind(family[3])
        .fetch_all(on, |row| row.get("source_id"))
        .await?;
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Items of one kind of a whole connection for a snapshot of its feed: live, or deleted only after `sequence`; in id order, as many as a
/// chunk holds.
pub async fn snapshot_of_connection(
    reader: &Reader,
    tenant: &Tenant,
    (connection_id, kind): (&str, &str),
    sequence: i64,
    after_id: &str,
    limit: i64,
) -> Result<Chunk<Item>> {
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
        .fetch_chunk(reader, limit, item)
        .await
}
