//! Bookable event types, and the connections that are their hosts.

use anyhow::Result;
use base::tenant::Tenant;

use crate::Tx;
use crate::dialect::insert_rows;
use crate::sql::{On, Reader, Row, query};
use crate::statement_rows::{self, RowValues};

/// An event type as it is stored. Times are milliseconds since 1970.
#[derive(Clone, Debug, PartialEq)]
pub struct EventTypeRow {
    pub id: String,
    pub tenant: Tenant,
    /// JSON: the event type without id, etag, times and metadata.
    pub body: String,
    /// The shared schedule that it uses.
    pub schedule_id: Option<String>,
    /// JSON.
    pub metadata: String,
    pub etag: String,
    /// 1 at first, increased with every change.
    pub version: i64,
    /// Time from which on the choices of each host are counted.
    pub rotation_since: i64,
    pub deleted_at: Option<i64>,
    pub created_at: i64,
    pub updated_at: i64,
}

fn event_type(row: &Row<'_>) -> Result<EventTypeRow> {
    Ok(EventTypeRow {
        id: row.get("id")?,
        tenant: Tenant {
            organization_id: row.get("organization_id")?,
            application_id: row.get("application_id")?,
        },
        body: row.get("body")?,
        schedule_id: row.get("schedule_id")?,
        metadata: row.get("metadata")?,
        etag: row.get("etag")?,
        version: row.get("version")?,
        rotation_since: row.get("rotation_since")?,
        deleted_at: row.get("deleted_at")?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}

/// A query for an event type of the tenant that is not deleted.
macro_rules! find {
    () => {
        "select * from event_types where id = $1 and application_id = $2 and organization_id = $3 and deleted_at is null"
    };
}

/// An event type of the tenant that is not deleted.
pub async fn find(on: impl Into<On<'_>>, tenant: &Tenant, id: &str) -> Result<Option<EventTypeRow>> {
    query(find!())
        .bind(id)
        .bind(&tenant.application_id)
        .bind(&tenant.organization_id)
        .fetch_optional(on, event_type)
        .await
}

/// An event type of the tenant, deleted ones too: its rules still hold for its remaining bookings.
pub async fn find_ever(on: impl Into<On<'_>>, tenant: &Tenant, id: &str) -> Result<Option<EventTypeRow>> {
    query("select * from event_types where id = $1 and application_id = $2 and organization_id = $3")
        .bind(id)
        .bind(&tenant.application_id)
        .bind(&tenant.organization_id)
        .fetch_optional(on, event_type)
        .await
}

/// An event type that is not deleted, locked until the transaction ends: the first lock of everything that changes or books it.
pub async fn lock(tx: &mut Tx, tenant: &Tenant, id: &str) -> Result<Option<EventTypeRow>> {
    let sql = match tx {
        // Its write transactions run one after the other anyway.
        Tx::Sqlite(_) => find!(),
        Tx::Postgres(_) => concat!(find!(), " for no key update"),
    };
    let of = query(sql).bind(id).bind(&tenant.application_id).bind(&tenant.organization_id);
    of.fetch_optional(&mut *tx, event_type).await
}

/// Event types of the tenant in the order of their ids, after an id.
pub async fn list(reader: &Reader, tenant: &Tenant, after: &str, limit: i64) -> Result<Vec<EventTypeRow>> {
    let sql = "select * from event_types where application_id = $1 and organization_id = $2 and deleted_at is null and id > $3 \
               order by id limit $4";
    query(sql)
        .bind(&tenant.application_id)
        .bind(&tenant.organization_id)
        .bind(after)
        .bind(limit)
        .fetch_all(reader, event_type)
        .await
}

/// Event types of all tenants whose check for unfollowed calendars of their hosts is due by then, the oldest time first.
/// Milliseconds since 1970.
pub async fn calendars_due(reader: &Reader, now: i64, limit: i64) -> Result<Vec<EventTypeRow>> {
    let sql = "select * from event_types where calendars_due_at <= $1 and deleted_at is null order by calendars_due_at, id limit $2";
    query(sql).bind(now).bind(limit).fetch_all(reader, event_type).await
}

/// Sets when an event type's hosts are to be checked for that; none: it is done.
pub async fn set_calendars_due(tx: &mut Tx, id: &str, at: Option<i64>) -> Result<()> {
    query("update event_types set calendars_due_at = $2 where id = $1").bind(id).bind(at).execute(tx).await?;
    Ok(())
}

/// Writes a new row.
pub async fn insert(tx: &mut Tx, e: &EventTypeRow) -> Result<()> {
    let sql = "insert into event_types (id, organization_id, application_id, body, schedule_id, metadata, etag, version, \
               rotation_since, created_at, updated_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
    query(sql)
        .bind(&e.id)
        .bind(&e.tenant.organization_id)
        .bind(&e.tenant.application_id)
        .bind(&e.body)
        .bind(&e.schedule_id)
        .bind(&e.metadata)
        .bind(&e.etag)
        .bind(e.version)
        .bind(e.rotation_since)
        .bind(e.created_at)
        .bind(e.updated_at)
        .execute(tx)
        .await?;
    Ok(())
}

/// Writes the changeable columns of a row that `lock` returned in this transaction; a deletion too.
pub async fn update(tx: &mut Tx, e: &EventTypeRow) -> Result<()> {
    let sql = "update event_types set body = $2, schedule_id = $3, metadata = $4, etag = $5, version = $6, rotation_since = $7, \
               deleted_at = $8, updated_at = $9 where id = $1";
    query(sql)
        .bind(&e.id)
        .bind(&e.body)
        .bind(&e.schedule_id)
        .bind(&e.metadata)
        .bind(&e.etag)
        .bind(e.version)
        .bind(e.rotation_since)
        .bind(e.deleted_at)
        .bind(e.updated_at)
        .execute(tx)
        .await?;
    Ok(())
}

/// Replaces an event type's hosts by these connections; at most 100, which the API bounds.
pub async fn set_hosts(tx: &mut Tx, e: &EventTypeRow, connection_ids: &[String]) -> Result<()> {
    query("delete from event_type_hosts where event_type_id = $1").bind(&e.id).execute(&mut *tx).await?;
    let sql = insert_rows!(
        tx,
        "event_type_hosts",
        [
            event_type_id "$1" "text", connection_id "$2" "text", organization_id "$3" "text", application_id "$4" "text",
            created_at "$5" "bigint", updated_at "$5" "bigint",
        ],
        ""
    );
    let rows = connection_ids.iter().map(|connection_id| {
        RowValues::new()
            .bind(&e.id)
            .bind(connection_id)
            .bind(&e.tenant.organization_id)
            .bind(&e.tenant.application_id)
            .bind(e.updated_at)
    });
    statement_rows::execute(tx, sql, rows.collect()).await?;
    Ok(())
}
