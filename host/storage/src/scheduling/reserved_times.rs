//! Reserved times of hosts. The database refuses a row that would put a host in two places at a time
//! (`migrations/0071_reserved_times.*.sql`), whatever the code above lets through.

use anyhow::Result;

use crate::Tx;
use crate::dialect::{insert_rows, one_of};
use crate::json_text;
use crate::locked::ConnectionLock;
use crate::scheduling::meetings::MeetingRow;
use crate::sql::{On, Query, Row, query};
use crate::statement_rows::{self, RowValues};

/// The maximum length of a row; rows that overlap an instant start at most this long before it.
pub const MAX_LENGTH_MS: i64 = 24 * 60 * 60_000;

/// The part of a meeting that a row reserves: the meeting, or the buffer before or after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Meeting,
    Before,
    After,
}

impl Part {
    fn number(self) -> i64 {
        match self {
            Part::Meeting => 0,
            Part::Before => 1,
            Part::After => 2,
        }
    }
}

/// A stretch of time of a host to be reserved, from `start_at` to `end_at` in milliseconds since 1970; at most `MAX_LENGTH_MS`.
#[derive(Clone, Debug)]
pub struct NewReserved<'a> {
    /// The host's connection, which is locked.
    pub host: &'a ConnectionLock,
    pub meeting_id: &'a str,
    pub part: Part,
    /// The calendar that the meeting is written to.
    pub calendar_id: &'a str,
    pub start_at: i64,
    pub end_at: i64,
    pub now: i64,
}

/// A reserved stretch of time.
#[derive(Clone, Debug, PartialEq)]
pub struct ReservedRow {
    pub meeting_id: String,
    pub connection_id: String,
    pub calendar_id: String,
    pub start_at: i64,
    pub end_at: i64,
    pub is_buffer: bool,
}

fn read_reserved(row: &Row<'_>) -> Result<ReservedRow> {
    Ok(ReservedRow {
        meeting_id: row.get("meeting_id")?,
        connection_id: row.get("connection_id")?,
        calendar_id: row.get("calendar_id")?,
        start_at: row.get("start_at")?,
        end_at: row.get("end_at")?,
        is_buffer: row.get::<i64>("is_buffer")? != 0,
    })
}

impl<'a> NewReserved<'a> {
    /// A host's time for a meeting and its buffers, which are at most three stretches.
    pub fn of_meeting(
        meeting: &'a MeetingRow,
        host: &'a ConnectionLock,
        calendar_id: &'a str,
        now: i64,
    ) -> impl Iterator<Item = NewReserved<'a>> {
        let (meeting_id, start, end) = (&meeting.id, meeting.start_at, meeting.end_at);
        let parts = [
            (Part::Meeting, start, end),
            (Part::Before, start - meeting.buffer_before_ms, start),
            (Part::After, end, end + meeting.buffer_after_ms),
        ];
        let parts = parts.into_iter().filter(|(_, start, end)| start < end);
        parts.map(move |(part, start_at, end_at)| NewReserved {
            host,
            meeting_id,
            part,
            calendar_id,
            start_at,
            end_at,
            now,
        })
    }
}

/// Reserves time with one statement; false: some of it is taken. The rest is then reserved all the same. `do nothing` also
/// prevents a deadlock: on PostgreSQL two plain inserts that exclude each other could wait for each other, while these insert
/// speculatively and do not.
pub async fn reserve(tx: &mut Tx, new: &[NewReserved<'_>]) -> Result<bool> {
    let sql = insert_rows!(
        tx,
        "reserved_times",
        [
            id "$1" "text", organization_id "$2" "text", application_id "$3" "text", meeting_id "$4" "text",
            connection_id "$5" "text", calendar_id "$6" "text", start_at "$7" "bigint", end_at "$8" "bigint",
            is_buffer "$9" "bigint", created_at "$10" "bigint", updated_at "$10" "bigint",
        ],
        " on conflict do nothing"
    );
    let rows = new.iter().map(|new| {
        RowValues::new()
            .bind(format!("{}/{}/{}", new.meeting_id, new.host.id, new.part.number()))
            .bind(&new.host.tenant.organization_id)
            .bind(&new.host.tenant.application_id)
            .bind(new.meeting_id)
            .bind(&new.host.id)
            .bind(new.calendar_id)
            .bind(new.start_at)
            .bind(new.end_at)
            .bind(i64::from(new.part != Part::Meeting))
            .bind(new.now)
    });
    let changed = statement_rows::execute(tx, sql, rows.collect()).await?;
    Ok(usize::try_from(changed).is_ok_and(|changed| changed == new.len()))
}

/// Frees all time that a meeting has reserved.
pub async fn release(tx: &mut Tx, meeting_id: &str) -> Result<()> {
    query("delete from reserved_times where meeting_id = $1").bind(meeting_id).execute(tx).await?;
    Ok(())
}

/// Whether a meeting has reserved any time.
pub async fn is_reserved(on: impl Into<On<'_>>, meeting_id: &str) -> Result<bool> {
    let sql = "select count(*) as n from reserved_times where meeting_id = $1";
    let rows: i64 = query(sql).bind(meeting_id).fetch_one(on, |row| row.get("n")).await?;
    Ok(rows > 0)
}

/// The reserved times of these connections that overlap [`from`, `to`).
pub async fn of_connections(
    on: impl Into<On<'_>>,
    connection_ids: &[String],
    from: i64,
    to: i64,
) -> Result<Vec<ReservedRow>> {
    let on = on.into();
    let sql = one_of!(
        on,
        "select * from reserved_times where start_at < $2 and start_at >= $3 and end_at > $4 and connection_id",
        "$1"
    );
    overlapping(sql, connection_ids, from, to).fetch_all(on, read_reserved).await
}

/// The reserved times in these calendars of other connections than these that overlap [`from`, `to`).
pub async fn of_calendars(
    on: impl Into<On<'_>>,
    (calendar_ids, but): (&[String], &[String]),
    from: i64,
    to: i64,
) -> Result<Vec<ReservedRow>> {
    let on = on.into();
    let sql = on.dialect().reserved_of_calendars();
    overlapping(sql, calendar_ids, from, to).bind(json_text(but)).fetch_all(on, read_reserved).await
}

/// The parameters of both statements.
fn overlapping(sql: &'static str, ids: &[String], from: i64, to: i64) -> Query<'static> {
    query(sql).bind(json_text(ids)).bind(to).bind(from.saturating_sub(MAX_LENGTH_MS)).bind(from)
}
