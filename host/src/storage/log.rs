//! The application's log: every change, in the order in which it was committed. Table: `migrations/0004_log.sql`.

use anyhow::Result;

use crate::storage::sql::{Reader, Row, query};

use crate::storage::Tx;
use crate::tenant::Tenant;

/// One line of the log.
#[derive(Clone, Debug)]
pub struct Entry {
    pub sequence: i64,
    pub id: String,
    pub connection_id: Option<String>,
    /// The public kind: `calendar.event.created`.
    pub entry_type: String,
    /// `created`, `updated`, `deleted` or `state`.
    pub change_type: String,
    pub resource_type: String,
    pub resource_id: String,
    pub parent_id: String,
    /// JSON array of field names, for `updated`.
    pub changed_fields: Option<String>,
    pub etag: Option<String>,
    /// `provider`, `api`, `system` or `backfill`.
    pub origin: String,
    /// The resource as it was then, as the API prints it.
    pub resource: Option<String>,
    pub at: i64,
}

/// Takes the next `count` numbers of the application's log; returns the first. The row stays locked until the commit, which
/// keeps numbers and commits in one order.
pub async fn next_sequence(tx: &mut Tx, tenant: &Tenant, count: i64) -> Result<i64> {
    let sql = "update applications set last_sequence = last_sequence + $1 where id = $2 and organization_id = $3 \
               returning last_sequence";
    let last: i64 = query(sql)
        .bind(count)
        .bind(&tenant.application_id)
        .bind(&tenant.organization_id)
        .fetch_one(&mut *tx, |row| row.get("last_sequence"))
        .await?;
    Ok(last - count + 1)
}

/// The number of the last line.
pub async fn last_sequence(reader: &Reader, tenant: &Tenant) -> Result<i64> {
    let last = query("select last_sequence from applications where id = $1 and organization_id = $2")
        .bind(&tenant.application_id)
        .bind(&tenant.organization_id)
        .fetch_optional(reader, |row| row.get("last_sequence"))
        .await?;
    Ok(last.unwrap_or(0))
}

/// The number of the last line that tells of something in this collection.
pub async fn last_in(reader: &Reader, parent_id: &str) -> Result<Option<i64>> {
    query("select max(sequence) as last from log where parent_id = $1")
        .bind(parent_id)
        .fetch_one(reader, |row| row.get("last"))
        .await
}

/// Types of resources that one feed tells of, some of them perhaps twice.
pub type Types = [&'static str; 4];

/// The number of the last line that tells of resources of these types in a connection.
pub async fn last_of(reader: &Reader, connection_id: &str, types: Types) -> Result<Option<i64>> {
    let sql = "select max(sequence) as last from log where connection_id = $1 \
               and resource_type in ($2, $3, $4, $5)";
    let statement = types.into_iter().fold(query(sql).bind(connection_id), |q, name| q.bind(name));
    statement.fetch_one(reader, |row| row.get("last")).await
}

pub async fn insert(tx: &mut Tx, tenant: &Tenant, entry: &Entry) -> Result<()> {
    let sql = "insert into log (application_id, sequence, id, organization_id, connection_id, type, change_type, \
               resource_type, resource_id, parent_id, changed_fields, etag, origin, resource, at) \
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)";
    query(sql)
        .bind(&tenant.application_id)
        .bind(entry.sequence)
        .bind(&entry.id)
        .bind(&tenant.organization_id)
        .bind(&entry.connection_id)
        .bind(&entry.entry_type)
        .bind(&entry.change_type)
        .bind(&entry.resource_type)
        .bind(&entry.resource_id)
        .bind(&entry.parent_id)
        .bind(&entry.changed_fields)
        .bind(&entry.etag)
        .bind(&entry.origin)
        .bind(&entry.resource)
        .bind(entry.at)
        .execute(&mut *tx)
        .await?;
    Ok(())
}

/// A query for whole lines of an application with this condition more.
macro_rules! select {
    ($rest:expr) => {
        concat!(
            "select sequence, id, connection_id, type, change_type, resource_type, resource_id, parent_id, changed_fields, ",
            "etag, origin, resource, at from log where application_id = $1 and organization_id = $2 ",
            $rest
        )
    };
}

fn entry(row: &Row<'_>) -> Result<Entry> {
    Ok(Entry {
        sequence: row.get("sequence")?,
        id: row.get("id")?,
        connection_id: row.get("connection_id")?,
        entry_type: row.get("type")?,
        change_type: row.get("change_type")?,
        resource_type: row.get("resource_type")?,
        resource_id: row.get("resource_id")?,
        parent_id: row.get("parent_id")?,
        changed_fields: row.get("changed_fields")?,
        etag: row.get("etag")?,
        origin: row.get("origin")?,
        resource: row.get("resource")?,
        at: row.get("at")?,
    })
}

/// Lines about the items of one collection after `sequence`, oldest first.
pub async fn of_collection(
    reader: &Reader,
    tenant: &Tenant,
    parent_id: &str,
    after: i64,
    limit: i64,
) -> Result<Vec<Entry>> {
    let sql =
        select!("and parent_id = $3 and sequence > $4 and change_type <> 'state' order by sequence limit $5");
    query(sql)
        .bind(&tenant.application_id)
        .bind(&tenant.organization_id)
        .bind(parent_id)
        .bind(after)
        .bind(limit)
        .fetch_all(reader, entry)
        .await
}

/// Lines about the resources of these types in one connection after `sequence`, oldest first.
pub async fn of_connection(
    reader: &Reader,
    tenant: &Tenant,
    (connection_id, types): (&str, Types),
    after: i64,
    limit: i64,
) -> Result<Vec<Entry>> {
    let sql = select!(
        "and connection_id = $3 and resource_type in ($6, $7, $8, $9) and sequence > $4 and change_type <> 'state' \
         order by sequence limit $5"
    );
    let statement = query(sql)
        .bind(&tenant.application_id)
        .bind(&tenant.organization_id)
        .bind(connection_id)
        .bind(after)
        .bind(limit);
    types.into_iter().fold(statement, |q, name| q.bind(name)).fetch_all(reader, entry).await
}

/// The highest sequence among lines older than `before`; 0 when there are none. What a clean-up is about to forget.
pub async fn horizon(tx: &mut Tx, application_id: &str, before: i64) -> Result<i64> {
    let sql = "select coalesce(max(sequence), 0) as horizon from log where application_id = $1 and at < $2";
    query(sql).bind(application_id).bind(before).fetch_one(&mut *tx, |row| row.get("horizon")).await
}

/// Forgets the lines up to `sequence`.
pub async fn delete_through(tx: &mut Tx, application_id: &str, sequence: i64) -> Result<u64> {
    let done = query("delete from log where application_id = $1 and sequence <= $2")
        .bind(application_id)
        .bind(sequence)
        .execute(&mut *tx)
        .await?;
    Ok(done)
}

/// Takes the content out of a connection's lines: what happened stays, what it held is gone with the connection.
pub async fn forget_bodies(tx: &mut Tx, connection_id: &str) -> Result<()> {
    query("update log set resource = null where connection_id = $1")
        .bind(connection_id)
        .execute(&mut *tx)
        .await?;
    Ok(())
}
