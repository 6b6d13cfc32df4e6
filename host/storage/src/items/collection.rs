//! Items by their source, collection or connection.

use std::collections::HashSet;

use anyhow::Result;
use base::tenant::Tenant;

use crate::Tx;
use crate::dialect::{among, one_of};
use crate::items::row::{Item, item, locked};
use crate::json_text;
use crate::locked::{ConnectionLock, LockedRow};
use crate::sql::{Chunk, On, Reader, query};

/// Kinds that are read together, some of them perhaps twice.
pub type Family = [&'static str; 4];

/// Names of records or of their items at the provider.
#[derive(Clone, Copy, Debug)]
pub struct RecordNames<'n> {
    pub source_ids: &'n [&'n str],
    pub external_ids: &'n [&'n str],
}

/// Names of each kind that one statement looks up: PostgreSQL compares each row that it finds by one kind with all names of the other.
const NAMES_PER_STATEMENT: usize = 1_000;

/// Rows of a collection that were ever read from one of the sources, or that have one of the provider's ids; tombstones included,
/// each once, in no order.
pub async fn lock_records<'l>(
    tx: &mut Tx,
    lock: &'l ConnectionLock,
    family: Family,
    parent_id: &str,
    names: RecordNames<'_>,
) -> Result<Vec<LockedRow<'l, Item>>> {
    let mut source_ids = names.source_ids.chunks(NAMES_PER_STATEMENT);
    let mut external_ids = names.external_ids.chunks(NAMES_PER_STATEMENT);
    let (mut found, mut ids) = (Vec::new(), HashSet::new());
    loop {
        let (source_ids, external_ids) = (source_ids.next(), external_ids.next());
        if source_ids.is_none() && external_ids.is_none() {
            return Ok(locked(lock, found));
        }
        let (source_ids, external_ids) = (source_ids.unwrap_or_default(), external_ids.unwrap_or_default());
        let mut some =
            lock_named(tx, lock, family, parent_id, RecordNames { source_ids, external_ids }).await?;
        some.retain(|item: &Item| ids.insert(item.id.clone()));
        found.extend(some);
    }
}

async fn lock_named(
    tx: &mut Tx,
    lock: &ConnectionLock,
    family: Family,
    parent_id: &str,
    names: RecordNames<'_>,
) -> Result<Vec<Item>> {
    // Two conditions with an index for each; an `or` of them has none on SQLite.
    let sql = one_of!(
        tx,
        select!("where connection_id = $1 and kind in ($2, $3, $4, $5) and parent_id = $6 and source_id"),
        "$7",
        concat!(
            " union all ",
            select!(
                "where connection_id = $1 and kind in ($2, $3, $4, $5) and parent_id = $6 and external_id"
            )
        ),
        "$8",
        " and not source_id",
        "$7",
        ""
    );
    query(sql)
        .bind(&lock.id)
        .bind(family[0])
        .bind(family[1])
        .bind(family[2])
        .bind(family[3])
        .bind(parent_id)
        .bind(json_text(names.source_ids))
        .bind(json_text(names.external_ids))
        .fetch_all(&mut *tx, item)
        .await
}

/// Live items directly in a connection (calendars), in id order, from an id on. Without a connection: of all.
pub async fn list_top(
    reader: &Reader,
    tenant: &Tenant,
    connection_id: Option<&str>,
    kind: &str,
    after_id: &str,
    limit: i64,
) -> Result<Vec<Item>> {
    let sql = match connection_id {
        // Items of such a kind lie directly in the connection: the condition by kind alone follows the order of the index.
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

/// Live calendars of these connections that no client follows, by the connections' ids and their own.
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

/// The live exceptions of these series, in no order, as many as fit in `bytes` together.
pub async fn exceptions_of(reader: &Reader, series_ids: &[&str], bytes: usize) -> Result<Chunk<Item>> {
    if series_ids.is_empty() {
        return Ok(Chunk { rows: Vec::new(), is_last: true });
    }
    let sql = among!(reader, select!("where deleted_at is null and series_id in "), "$1", "");
    query(sql).bind(serde_json::to_string(series_ids)?).fetch_within(reader, bytes, item).await
}

/// Live exceptions of a collection that are in other records than their series and name one of these as it, as many as a chunk holds, in no
/// order.
pub async fn exceptions_named<'l>(
    tx: &mut Tx,
    lock: &'l ConnectionLock,
    parent_id: &str,
    series_names: &[&str],
    limit: i64,
) -> Result<Chunk<LockedRow<'l, Item>>> {
    // SQLite, which knows no number of rows, takes another index where the kind is given: only events have such a name.
    // PostgreSQL takes the partial index where its condition is written out.
    let sql = one_of!(
        tx,
        select!(
            "where connection_id = $1 and parent_id = $2 and deleted_at is null and series_name is not null and series_name"
        ),
        "$3",
        " limit $4"
    );
    let of = query(sql).bind(&lock.id).bind(parent_id).bind(json_text(series_names)).bind(limit);
    let found = of.fetch_chunk(&mut *tx, limit, item).await?;
    Ok(Chunk { rows: locked(lock, found.rows), is_last: found.is_last })
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
