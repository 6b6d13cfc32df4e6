//! The desired event of a meeting in each host's calendar, and the progress of writing it.

use anyhow::Result;
use base::tenant::Tenant;

use crate::Tx;
use crate::dialect::{insert_rows, one_of};
use crate::jobs::{self, NewJob};
use crate::json_text;
use crate::sql::{On, Query, Reader, Row, query};
use crate::statement_rows::{self, RowValues};
use crate::wakes::JobClass;

/// The kind of the jobs that write events. The key is the meeting and the connection, with a colon between them.
pub const EVENT_JOB: &str = "booking_event";
/// The kind of the jobs that check whether a host has changed the event of a meeting. The key is the meeting and the connection,
/// with a colon between them.
pub const RECHECK_JOB: &str = "booking_recheck";
/// Meetings that are checked for one calendar that is back.
const MAX_RETURNED: i64 = 1_000;

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
    /// Whether the event is desired; otherwise it is to be deleted.
    pub is_wanted: bool,
    /// `pending`, `written`, `failed` or `deleted`.
    pub status: String,
    /// The meeting's sequence that the calendar has; -1 before the first write of a meeting that a host has confirmed.
    pub written_sequence: i64,
    pub attempts: i64,
    pub error: Option<String>,
    /// When the calendar is, or was, to be written next; none: there is nothing to be written.
    pub next_attempt_at: Option<i64>,
    /// When the event was first desired; later if one that was gone is desired again.
    pub created_at: i64,
    /// When the desired event last changed. Two changes never have the same time.
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

/// The rows of these meetings.
pub async fn of_meetings(reader: &Reader, meeting_ids: &[String]) -> Result<Vec<MeetingEventRow>> {
    let sql = one_of!(reader, "select * from meeting_events where meeting_id", "$1");
    query(sql).bind(json_text(meeting_ids)).fetch_all(reader, meeting_event).await
}

/// Ids of events in the calendars of these connections that are to be deleted and are still there.
pub async fn unwanted(reader: &Reader, connection_ids: &[String]) -> Result<Vec<String>> {
    let sql = one_of!(
        reader,
        "select event_id from meeting_events where is_wanted = 0 and event_id is not null and connection_id",
        "$1"
    );
    query(sql).bind(json_text(connection_ids)).fetch_all(reader, |row| row.get("event_id")).await
}

/// Rows that were to be written before then, the oldest first.
pub async fn overdue(reader: &Reader, before: i64, limit: i64) -> Result<Vec<MeetingEventRow>> {
    let sql = "select * from meeting_events where next_attempt_at < $1 order by next_attempt_at limit $2";
    query(sql).bind(before).bind(limit).fetch_all(reader, meeting_event).await
}

/// A host of a meeting: the target of a job of `EVENT_JOB` or `RECHECK_JOB`.
#[derive(Clone, Copy, Debug)]
pub struct MeetingHost<'a> {
    pub tenant: &'a Tenant,
    pub meeting_id: &'a str,
    pub connection_id: &'a str,
}

impl<'a> From<&'a MeetingEventRow> for MeetingHost<'a> {
    fn from(row: &'a MeetingEventRow) -> Self {
        MeetingHost { tenant: &row.tenant, meeting_id: &row.meeting_id, connection_id: &row.connection_id }
    }
}

/// Enqueues the jobs of this kind of these hosts of meetings, with one statement. To be called after the log was written.
pub async fn enqueue(tx: &mut Tx, kind: &str, hosts: &[MeetingHost<'_>], now: i64) -> Result<()> {
    let keys: Vec<String> =
        hosts.iter().map(|host| format!("{}:{}", host.meeting_id, host.connection_id)).collect();
    let jobs = hosts.iter().zip(&keys).map(|(host, key)| NewJob {
        kind,
        key,
        class: JobClass::Send,
        tenant: host.tenant,
        connection_id: Some(host.connection_id),
        target: "",
        due_at: Some(now),
        args: None,
    });
    let new: Vec<NewJob<'_>> = jobs.collect();
    jobs::enqueue_all(tx, &new, now).await
}

/// Enqueues checks whether hosts changed the events of meetings, for rows of a meeting and a connection.
async fn enqueue_rechecks(tx: &mut Tx, tenant: &Tenant, found: Query<'_>, now: i64) -> Result<()> {
    let read = |row: &Row<'_>| Ok((row.get::<String>("meeting_id")?, row.get::<String>("connection_id")?));
    let found = found.fetch_all(&mut *tx, read).await?;
    let hosts =
        found.iter().map(|(meeting_id, connection_id)| MeetingHost { tenant, meeting_id, connection_id });
    let hosts: Vec<MeetingHost<'_>> = hosts.collect();
    enqueue(tx, RECHECK_JOB, &hosts, now).await
}

/// Enqueues checks whether the host changed one of these events, which were changed in this transaction, if they belong to
/// meetings. To be called after the log was written.
pub async fn events_changed(tx: &mut Tx, tenant: &Tenant, event_ids: &[String], now: i64) -> Result<()> {
    let sql = one_of!(
        tx,
        "select meeting_id, connection_id from meeting_events where event_id is not null and is_wanted = 1 and event_id",
        "$1",
        " order by meeting_id, connection_id"
    );
    enqueue_rechecks(tx, tenant, query(sql).bind(json_text(event_ids)), now).await
}

/// The same for future meetings whose events did not come back with this calendar, which was completely read in this transaction:
/// as they had been deleted with it, no change reports that the host deleted them. Belongs after the log, as `events_changed`.
pub async fn calendar_returned(tx: &mut Tx, tenant: &Tenant, calendar_id: &str, now: i64) -> Result<()> {
    let sql = "select meeting_id, connection_id from meeting_events join meetings on meetings.id = meeting_events.meeting_id \
               where calendar_id = $1 and is_wanted = 1 and event_id is not null and released_at is null and end_at > $2 \
               and not exists (select 1 from items where items.id = meeting_events.event_id and items.deleted_at is null) \
               order by meeting_id, connection_id limit $3";
    let of_calendar = query(sql).bind(calendar_id).bind(now).bind(MAX_RETURNED);
    enqueue_rechecks(tx, tenant, of_calendar, now).await
}

/// Writes rows, new ones and others, with one statement. New ones that are pending are to be written at once.
pub async fn upsert(tx: &mut Tx, events: &[MeetingEventRow]) -> Result<()> {
    let sql = insert_rows!(
        tx,
        "meeting_events",
        [
            meeting_id "$1" "text", connection_id "$2" "text", organization_id "$3" "text", application_id "$4" "text",
            calendar_id "$5" "text", event_id "$6" "text", i_cal_uid "$7" "text", is_wanted "$8" "bigint", status "$9" "text",
            written_sequence "$10" "bigint", attempts "$11" "bigint", error "$12" "text", next_attempt_at "$13" "bigint",
            created_at "$14" "bigint", updated_at "$15" "bigint",
        ],
        " on conflict (meeting_id, connection_id) do update set calendar_id = excluded.calendar_id, event_id = excluded.event_id, \
         i_cal_uid = excluded.i_cal_uid, is_wanted = excluded.is_wanted, status = excluded.status, \
         written_sequence = excluded.written_sequence, attempts = excluded.attempts, error = excluded.error, \
         next_attempt_at = excluded.next_attempt_at, created_at = excluded.created_at, updated_at = excluded.updated_at"
    );
    let rows = events.iter().map(|e| {
        let at_once = (e.status == "pending").then_some(e.created_at);
        RowValues::new()
            .bind(&e.meeting_id)
            .bind(&e.connection_id)
            .bind(&e.tenant.organization_id)
            .bind(&e.tenant.application_id)
            .bind(&e.calendar_id)
            .bind(&e.event_id)
            .bind(&e.i_cal_uid)
            .bind(i64::from(e.is_wanted))
            .bind(&e.status)
            .bind(e.written_sequence)
            .bind(e.attempts)
            .bind(&e.error)
            .bind(e.next_attempt_at.or(at_once))
            .bind(e.created_at)
            .bind(e.updated_at)
    });
    statement_rows::execute(tx, sql, rows.collect()).await?;
    Ok(())
}

/// Writes the changeable columns of an existing row.
pub async fn update(tx: &mut Tx, e: &MeetingEventRow) -> Result<()> {
    let sql = "update meeting_events set calendar_id = $1, event_id = $2, i_cal_uid = $3, is_wanted = $4, status = $5, \
               written_sequence = $6, attempts = $7, error = $8, next_attempt_at = $9, updated_at = $10, created_at = $13 \
               where meeting_id = $11 and connection_id = $12";
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
        .bind(e.created_at)
        .execute(tx)
        .await?;
    Ok(())
}
