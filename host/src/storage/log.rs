//! The application's log: every change, in the order in which it was committed. Table: `migrations/0004_log.sql`.

use sqlx::any::AnyRow;
use sqlx::{AnyPool, Row};

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
pub async fn next_sequence(tx: &mut Tx, tenant: &Tenant, count: i64) -> Result<i64, sqlx::Error> {
    let sql = "update applications set last_sequence = last_sequence + $1 where id = $2 and organization_id = $3 \
               returning last_sequence";
    let row = sqlx::query(sql)
        .bind(count)
        .bind(tenant.application_id.clone())
        .bind(tenant.organization_id.clone())
        .fetch_one(&mut *tx)
        .await?;
    Ok(row.try_get::<i64, _>("last_sequence")? - count + 1)
}

/// The number of the last line.
pub async fn last_sequence(pool: &AnyPool, tenant: &Tenant) -> Result<i64, sqlx::Error> {
    let row = sqlx::query("select last_sequence from applications where id = $1 and organization_id = $2")
        .bind(tenant.application_id.clone())
        .bind(tenant.organization_id.clone())
        .fetch_optional(pool)
        .await?;
    row.map_or(Ok(0), |r| r.try_get("last_sequence"))
}

pub async fn insert(tx: &mut Tx, tenant: &Tenant, entry: &Entry) -> Result<(), sqlx::Error> {
    let sql = "insert into log (application_id, sequence, id, organization_id, connection_id, type, change_type, \
               resource_type, resource_id, parent_id, changed_fields, etag, origin, resource, at) \
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)";
    sqlx::query(sql)
        .bind(tenant.application_id.clone())
        .bind(entry.sequence)
        .bind(entry.id.clone())
        .bind(tenant.organization_id.clone())
        .bind(entry.connection_id.clone())
        .bind(entry.entry_type.clone())
        .bind(entry.change_type.clone())
        .bind(entry.resource_type.clone())
        .bind(entry.resource_id.clone())
        .bind(entry.parent_id.clone())
        .bind(entry.changed_fields.clone())
        .bind(entry.etag.clone())
        .bind(entry.origin.clone())
        .bind(entry.resource.clone())
        .bind(entry.at)
        .execute(&mut *tx)
        .await?;
    Ok(())
}

fn entry(row: &AnyRow) -> Result<Entry, sqlx::Error> {
    Ok(Entry {
        sequence: row.try_get("sequence")?,
        id: row.try_get("id")?,
        connection_id: row.try_get("connection_id")?,
        entry_type: row.try_get("type")?,
        change_type: row.try_get("change_type")?,
        resource_type: row.try_get("resource_type")?,
        resource_id: row.try_get("resource_id")?,
        parent_id: row.try_get("parent_id")?,
        changed_fields: row.try_get("changed_fields")?,
        etag: row.try_get("etag")?,
        origin: row.try_get("origin")?,
        resource: row.try_get("resource")?,
        at: row.try_get("at")?,
    })
}

/// Lines about the items of one collection after `sequence`, oldest first.
pub async fn of_collection(
    pool: &AnyPool,
    tenant: &Tenant,
    parent_id: &str,
    after: i64,
    limit: i64,
) -> Result<Vec<Entry>, sqlx::Error> {
    let sql = "select sequence, id, connection_id, type, change_type, resource_type, resource_id, parent_id, \
               changed_fields, etag, origin, resource, at from log where application_id = $1 and organization_id = $2 \
               and parent_id = $3 and sequence > $4 and change_type <> 'state' order by sequence limit $5";
    let rows = sqlx::query(sql)
        .bind(tenant.application_id.clone())
        .bind(tenant.organization_id.clone())
        .bind(parent_id.to_owned())
        .bind(after)
        .bind(limit)
        .fetch_all(pool)
        .await?;
    rows.iter().map(entry).collect()
}

/// The highest sequence among lines older than `before`; 0 when there are none. What a clean-up is about to forget.
pub async fn horizon(tx: &mut Tx, application_id: &str, before: i64) -> Result<i64, sqlx::Error> {
    let sql = "select coalesce(max(sequence), 0) as horizon from log where application_id = $1 and at < $2";
    let row = sqlx::query(sql).bind(application_id.to_owned()).bind(before).fetch_one(&mut *tx).await?;
    row.try_get("horizon")
}

/// Forgets the lines up to `sequence`.
pub async fn delete_through(tx: &mut Tx, application_id: &str, sequence: i64) -> Result<u64, sqlx::Error> {
    let done = sqlx::query("delete from log where application_id = $1 and sequence <= $2")
        .bind(application_id.to_owned())
        .bind(sequence)
        .execute(&mut *tx)
        .await?;
    Ok(done.rows_affected())
}

/// Takes the content out of a connection's lines: what happened stays, what it held is gone with the connection.
pub async fn forget_bodies(tx: &mut Tx, connection_id: &str) -> Result<(), sqlx::Error> {
    sqlx::query("update log set resource = null where connection_id = $1")
        .bind(connection_id.to_owned())
        .execute(&mut *tx)
        .await?;
    Ok(())
}
