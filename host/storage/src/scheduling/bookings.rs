//! Bookings: one invitee's seat in a meeting.

use anyhow::Result;
use base::tenant::Tenant;

use crate::Tx;
use crate::sql::{On, Row, query};

/// A booking as it is stored. Times are milliseconds since 1970.
#[derive(Clone, Debug, PartialEq)]
pub struct BookingRow {
    pub id: String,
    pub tenant: Tenant,
    pub event_type_id: String,
    pub meeting_id: String,
    /// `pending`, `confirmed`, `rejected`, `cancelled`, `expired` or `completed`.
    pub status: String,
    pub start_at: i64,
    pub end_at: i64,
    /// In lower case.
    pub invitee_email: String,
    /// JSON: the booking without what other columns and tables hold.
    pub body: String,
    /// JSON.
    pub metadata: String,
    pub etag: String,
    /// 1 when it is made, counted up with every change.
    pub version: i64,
    /// A pending one expires then.
    pub confirm_by: Option<i64>,
    /// Links of the invitee that name another are invalid.
    pub manage_version: i64,
    pub created_at: i64,
    pub updated_at: i64,
}

fn booking(row: &Row<'_>) -> Result<BookingRow> {
    Ok(BookingRow {
        id: row.get("id")?,
        tenant: Tenant {
            organization_id: row.get("organization_id")?,
            application_id: row.get("application_id")?,
        },
        event_type_id: row.get("event_type_id")?,
        meeting_id: row.get("meeting_id")?,
        status: row.get("status")?,
        start_at: row.get("start_at")?,
        end_at: row.get("end_at")?,
        invitee_email: row.get("invitee_email")?,
        body: row.get("body")?,
        metadata: row.get("metadata")?,
        etag: row.get("etag")?,
        version: row.get("version")?,
        confirm_by: row.get("confirm_by")?,
        manage_version: row.get("manage_version")?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}

/// A booking of the tenant.
pub async fn find(on: impl Into<On<'_>>, tenant: &Tenant, id: &str) -> Result<Option<BookingRow>> {
    query("select * from bookings where id = $1 and application_id = $2 and organization_id = $3")
        .bind(id)
        .bind(&tenant.application_id)
        .bind(&tenant.organization_id)
        .fetch_optional(on, booking)
        .await
}

/// The bookings of a meeting, by their ids.
pub async fn of_meeting(on: impl Into<On<'_>>, meeting_id: &str) -> Result<Vec<BookingRow>> {
    query("select * from bookings where meeting_id = $1 order by id")
        .bind(meeting_id)
        .fetch_all(on, booking)
        .await
}

/// How many bookings of an address, which is in lower case, are pending or confirmed and not over at `now`.
pub async fn active_of_invitee(
    on: impl Into<On<'_>>,
    event_type_id: &str,
    invitee_email: &str,
    now: i64,
) -> Result<i64> {
    let sql = "select count(*) as n from bookings where event_type_id = $1 and invitee_email = $2 and end_at > $3 \
               and status in ('pending', 'confirmed')";
    query(sql).bind(event_type_id).bind(invitee_email).bind(now).fetch_one(on, |row| row.get("n")).await
}

/// Writes a new row.
pub async fn insert(tx: &mut Tx, b: &BookingRow) -> Result<()> {
    let sql = "insert into bookings (id, organization_id, application_id, event_type_id, meeting_id, status, start_at, end_at, \
               invitee_email, body, metadata, etag, version, confirm_by, manage_version, created_at, updated_at) \
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)";
    query(sql)
        .bind(&b.id)
        .bind(&b.tenant.organization_id)
        .bind(&b.tenant.application_id)
        .bind(&b.event_type_id)
        .bind(&b.meeting_id)
        .bind(&b.status)
        .bind(b.start_at)
        .bind(b.end_at)
        .bind(&b.invitee_email)
        .bind(&b.body)
        .bind(&b.metadata)
        .bind(&b.etag)
        .bind(b.version)
        .bind(b.confirm_by)
        .bind(b.manage_version)
        .bind(b.created_at)
        .bind(b.updated_at)
        .execute(tx)
        .await?;
    Ok(())
}
