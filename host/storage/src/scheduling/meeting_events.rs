//! The meeting in each host's calendar: what is wanted there, and how far it has got.

use anyhow::Result;
use base::tenant::Tenant;

use crate::Tx;
use crate::sql::{On, Query, Row, query};

/// One meeting in one host's calendar. Times are milliseconds since 1970.
#[derive(Clone, Debug, PartialEq)]
pub struct MeetingEventRow {
    pub meeting_id: String,
    pub connection_id: String,
    pub tenant: Tenant,
    pub calendar_id: String,
    /// The event's id, once it is written.
    pub event_id: Option<String>,
    pub i_cal_uid: String,
    /// Otherwise the event is to be gone.
    pub is_wanted: bool,
    /// `pending`, `written`, `failed` or `deleted`.
    pub status: String,
    /// The meeting's sequence that the calendar has; -1 before the first write.
    pub written_sequence: i64,
    pub attempts: i64,
    pub error: Option<String>,
    pub next_attempt_at: Option<i64>,
    pub created_at: i64,
    pub updated_at: i64,
}

fn meeting_event(row: &Row<'_>) -> Result<MeetingEventRow> {
    Ok(MeetingEventRow {
        meeting_id: row.get("meeting_id")?,
        connection_id: row.get("connection_id")?,
        tenant: Tenant {
            organization_id: row.get("organization_id")?,
            application_id: row.get("application_id")?,
        },
        calendar_id: row.get("calendar_id")?,
        event_id: row.get("event_id")?,
        i_cal_uid: row.get("i_cal_uid")?,
        is_wanted: row.get::<i64>("is_wanted")? != 0,
        status: row.get("status")?,
        written_sequence: row.get("written_sequence")?,
        attempts: row.get("attempts")?,
        error: row.get("error")?,
        next_attempt_at: row.get("next_attempt_at")?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}

/// The row of one host of a meeting.
pub async fn find(
    on: impl Into<On<'_>>,
    meeting_id: &str,
    connection_id: &str,
) -> Result<Option<MeetingEventRow>> {
    let sql = "select * from meeting_events where meeting_id = $1 and connection_id = $2";
    query(sql).bind(meeting_id).bind(connection_id).fetch_optional(on, meeting_event).await
}

/// The rows of a meeting, by the hosts' ids.
pub async fn of_meeting(on: impl Into<On<'_>>, meeting_id: &str) -> Result<Vec<MeetingEventRow>> {
    let sql = "select * from meeting_events where meeting_id = $1 order by connection_id";
    query(sql).bind(meeting_id).fetch_all(on, meeting_event).await
}

/// Writes a new row.
pub async fn insert(tx: &mut Tx, e: &MeetingEventRow) -> Result<()> {
    let sql = "insert into meeting_events (calendar_id, event_id, i_cal_uid, is_wanted, status, written_sequence, attempts, error, \
               next_attempt_at, updated_at, meeting_id, connection_id, organization_id, application_id, created_at) \
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)";
    changeable(sql, e)
        .bind(&e.tenant.organization_id)
        .bind(&e.tenant.application_id)
        .bind(e.created_at)
        .execute(tx)
        .await?;
    Ok(())
}

/// Writes what can change of a row.
pub async fn update(tx: &mut Tx, e: &MeetingEventRow) -> Result<()> {
    let sql = "update meeting_events set calendar_id = $1, event_id = $2, i_cal_uid = $3, is_wanted = $4, status = $5, \
               written_sequence = $6, attempts = $7, error = $8, next_attempt_at = $9, updated_at = $10 \
               where meeting_id = $11 and connection_id = $12";
    changeable(sql, e).execute(tx).await?;
    Ok(())
}

/// The statement with the columns that can change and the key as its first 12 parameters.
fn changeable<'q>(sql: &'static str, e: &'q MeetingEventRow) -> Query<'q> {
    query(sql)
        .bind(&e.calendar_id)
        .bind(&e.event_id)
        .bind(&e.i_cal_uid)
        .bind(i64::from(e.is_wanted))
        .bind(&e.status)
        .bind(e.written_sequence)
        .bind(e.attempts)
        .bind(&e.error)
        .bind(e.next_attempt_at)
        .bind(e.updated_at)
        .bind(&e.meeting_id)
        .bind(&e.connection_id)
}
