//! Opening hours that several event types share.

use std::collections::HashMap;

use anyhow::Result;
use base::tenant::Tenant;

use crate::Tx;
use crate::json;
use crate::json_text;
use crate::sql::{On, Reader, Row, query};

/// A schedule as it is stored. Times are milliseconds since 1970.
#[derive(Clone, Debug, PartialEq)]
pub struct ScheduleRow {
    pub id: String,
    pub tenant: Tenant,
    pub name: String,
    /// JSON: the hours, in the form that an event type would have them itself.
    pub body: String,
    /// JSON.
    pub metadata: String,
    /// The connections of the API key that created it; empty: those of the whole application.
    pub bound_to: Vec<String>,
    pub etag: String,
    pub deleted_at: Option<i64>,
    pub created_at: i64,
    /// Unique for each version.
    pub updated_at: i64,
}

fn schedule(row: &Row<'_>) -> Result<ScheduleRow> {
    Ok(ScheduleRow {
        id: row.get("id")?,
        tenant: Tenant {
            organization_id: row.get("organization_id")?,
            application_id: row.get("application_id")?,
        },
        name: row.get("name")?,
        body: row.get("body")?,
        metadata: row.get("metadata")?,
        bound_to: json(row, "bound_to")?,
        etag: row.get("etag")?,
        deleted_at: row.get("deleted_at")?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}

/// A query for a schedule of the tenant that is not deleted.
macro_rules! find {
    () => {
        "select * from schedules where id = $1 and application_id = $2 and organization_id = $3 and deleted_at is null"
    };
}

/// A schedule of the tenant that is not deleted.
pub async fn find(on: impl Into<On<'_>>, tenant: &Tenant, id: &str) -> Result<Option<ScheduleRow>> {
    query(find!())
        .bind(id)
        .bind(&tenant.application_id)
        .bind(&tenant.organization_id)
        .fetch_optional(on, schedule)
        .await
}

/// The same, locked until the transaction ends: after the event type that names it, where there is one.
pub async fn lock(tx: &mut Tx, tenant: &Tenant, id: &str) -> Result<Option<ScheduleRow>> {
    let sql = match tx {
        // Its write transactions run one after the other anyway.
        Tx::Sqlite(_) => find!(),
        Tx::Postgres(_) => concat!(find!(), " for no key update"),
    };
    let of = query(sql).bind(id).bind(&tenant.application_id).bind(&tenant.organization_id);
    of.fetch_optional(&mut *tx, schedule).await
}

/// Schedules of the tenant in the order of their ids, after an id.
pub async fn list(reader: &Reader, tenant: &Tenant, after: &str, limit: i64) -> Result<Vec<ScheduleRow>> {
    let sql = "select * from schedules where application_id = $1 and organization_id = $2 and deleted_at is null and id > $3 \
               order by id limit $4";
    query(sql)
        .bind(&tenant.application_id)
        .bind(&tenant.organization_id)
        .bind(after)
        .bind(limit)
        .fetch_all(reader, schedule)
        .await
}

/// An event type that uses the schedule. The answer holds as long as the transaction if the schedule is locked in it: event types
/// lock the schedule that they name.
pub async fn used_by(tx: &mut Tx, id: &str) -> Result<Option<String>> {
    query("select id from event_types where schedule_id = $1 and deleted_at is null limit 1")
        .bind(id)
        .fetch_optional(tx, |row| row.get("id"))
        .await
}

/// The numbers of event types that use a schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScheduleUses {
    /// Event types whose hosts are all among the requested connections.
    pub own: i64,
    /// Event types with another host, or without hosts.
    pub others: i64,
}

/// How event types use these schedules, by the schedules' ids: event types whose hosts are all among `connection_ids`, and the
/// others. Unused schedules are left out. In a transaction that has locked a schedule no other event type can begin to use it.
pub async fn uses(
    on: impl Into<On<'_>>,
    ids: &[String],
    connection_ids: &[String],
) -> Result<HashMap<String, ScheduleUses>> {
    let on = on.into();
    let uses = query(on.dialect().schedule_uses()).bind(json_text(ids)).bind(json_text(connection_ids));
    let rows = uses
        .fetch_all(on, |row| {
            let uses = ScheduleUses { own: row.get("own")?, others: row.get("others")? };
            Ok((row.get::<String>("schedule_id")?, uses))
        })
        .await?;
    Ok(rows.into_iter().collect())
}

/// Writes a new row.
pub async fn insert(tx: &mut Tx, s: &ScheduleRow) -> Result<()> {
    let sql = "insert into schedules (id, organization_id, application_id, name, body, metadata, bound_to, etag, created_at, \
               updated_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    query(sql)
        .bind(&s.id)
        .bind(&s.tenant.organization_id)
        .bind(&s.tenant.application_id)
        .bind(&s.name)
        .bind(&s.body)
        .bind(&s.metadata)
        .bind(json_text(&s.bound_to))
        .bind(&s.etag)
        .bind(s.created_at)
        .bind(s.updated_at)
        .execute(tx)
        .await?;
    Ok(())
}

/// Writes the changeable columns of a row that `lock` returned in this transaction; a deletion too.
pub async fn update(tx: &mut Tx, s: &ScheduleRow) -> Result<()> {
    let sql = "update schedules set name = $2, body = $3, metadata = $4, etag = $5, deleted_at = $6, updated_at = $7 where id = $1";
    query(sql)
        .bind(&s.id)
        .bind(&s.name)
        .bind(&s.body)
        .bind(&s.metadata)
        .bind(&s.etag)
        .bind(s.deleted_at)
        .bind(s.updated_at)
        .execute(tx)
        .await?;
    Ok(())
}
