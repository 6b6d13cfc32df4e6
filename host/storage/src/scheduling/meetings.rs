//! Meetings of hosts: one row for each slot that was taken.

use anyhow::Result;
use base::tenant::Tenant;

use crate::Tx;
use crate::json;
use crate::json_text;
use crate::sql::{On, Row, query};

/// A meeting. Times are milliseconds since 1970.
#[derive(Clone, Debug, PartialEq)]
pub struct MeetingRow {
    pub id: String,
    pub tenant: Tenant,
    pub event_type_id: String,
    pub start_at: i64,
    pub end_at: i64,
    pub buffer_before_ms: i64,
    pub buffer_after_ms: i64,
    /// Connection ids, the organizer first.
    pub hosts: Vec<String>,
    pub seats: i64,
    pub seats_taken: i64,
    pub i_cal_uid: String,
    /// Goes up with every move.
    pub sequence: i64,
    /// When the meeting was released: it does not take place, and blocks no time.
    pub released_at: Option<i64>,
    pub created_at: i64,
    pub updated_at: i64,
}

fn meeting(row: &Row<'_>) -> Result<MeetingRow> {
    Ok(MeetingRow {
        id: row.get("id")?,
        tenant: Tenant {
            organization_id: row.get("organization_id")?,
            application_id: row.get("application_id")?,
        },
        event_type_id: row.get("event_type_id")?,
        start_at: row.get("start_at")?,
        end_at: row.get("end_at")?,
        buffer_before_ms: row.get("buffer_before_ms")?,
        buffer_after_ms: row.get("buffer_after_ms")?,
        hosts: json(row, "hosts")?,
        seats: row.get("seats")?,
        seats_taken: row.get("seats_taken")?,
        i_cal_uid: row.get("i_cal_uid")?,
        sequence: row.get("sequence")?,
        released_at: row.get("released_at")?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}

/// A query for a meeting.
macro_rules! find {
    () => {
        "select * from meetings where id = $1"
    };
}

/// A meeting by its id, including released ones.
pub async fn find(on: impl Into<On<'_>>, id: &str) -> Result<Option<MeetingRow>> {
    query(find!()).bind(id).fetch_optional(on, meeting).await
}

/// The same, locked until the transaction ends: after the event type and the connections, before its bookings.
pub async fn lock(tx: &mut Tx, id: &str) -> Result<Option<MeetingRow>> {
    let sql = match tx {
        // Its write transactions run one after the other anyway.
        Tx::Sqlite(_) => find!(),
        Tx::Postgres(_) => concat!(find!(), " for no key update"),
    };
    query(sql).bind(id).fetch_optional(&mut *tx, meeting).await
}

/// The meetings of an event type that take place and start in [`from`, `to`), by their start.
pub async fn of_event_type(
    on: impl Into<On<'_>>,
    event_type_id: &str,
    from: i64,
    to: i64,
) -> Result<Vec<MeetingRow>> {
    let sql = "select * from meetings where event_type_id = $1 and start_at >= $2 and start_at < $3 and released_at is null \
               order by start_at";
    query(sql).bind(event_type_id).bind(from).bind(to).fetch_all(on, meeting).await
}

/// Writes a new row.
pub async fn insert(tx: &mut Tx, m: &MeetingRow) -> Result<()> {
    let sql = "insert into meetings (id, organization_id, application_id, event_type_id, start_at, end_at, buffer_before_ms, \
               buffer_after_ms, hosts, seats, seats_taken, i_cal_uid, sequence, created_at, updated_at) \
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)";
    query(sql)
        .bind(&m.id)
        .bind(&m.tenant.organization_id)
        .bind(&m.tenant.application_id)
        .bind(&m.event_type_id)
        .bind(m.start_at)
        .bind(m.end_at)
        .bind(m.buffer_before_ms)
        .bind(m.buffer_after_ms)
        .bind(json_text(&m.hosts))
        .bind(m.seats)
        .bind(m.seats_taken)
        .bind(&m.i_cal_uid)
        .bind(m.sequence)
        .bind(m.created_at)
        .bind(m.updated_at)
        .execute(tx)
        .await?;
    Ok(())
}

/// Takes a seat in a meeting that takes place; false: no seat is left.
pub async fn take_seat(tx: &mut Tx, id: &str, now: i64) -> Result<bool> {
    let sql = "update meetings set seats_taken = seats_taken + 1, updated_at = $2 where id = $1 and seats_taken < seats \
               and released_at is null";
    Ok(query(sql).bind(id).bind(now).execute(tx).await? == 1)
}

/// Writes the changeable columns of a row that `lock` returned in this transaction.
pub async fn update(tx: &mut Tx, m: &MeetingRow) -> Result<()> {
    let sql = "update meetings set start_at = $2, end_at = $3, buffer_before_ms = $4, buffer_after_ms = $5, hosts = $6, \
               seats_taken = $7, i_cal_uid = $8, sequence = $9, released_at = $10, updated_at = $11 where id = $1";
    query(sql)
        .bind(&m.id)
        .bind(m.start_at)
        .bind(m.end_at)
        .bind(m.buffer_before_ms)
        .bind(m.buffer_after_ms)
        .bind(json_text(&m.hosts))
        .bind(m.seats_taken)
        .bind(&m.i_cal_uid)
        .bind(m.sequence)
        .bind(m.released_at)
        .bind(m.updated_at)
        .execute(tx)
        .await?;
    Ok(())
}
