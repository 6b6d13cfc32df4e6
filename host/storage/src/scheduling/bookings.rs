//! Bookings: one invitee's seat in a meeting.

use anyhow::Result;
use base::tenant::Tenant;
use serde_json::{Value, json};

use crate::Tx;
use crate::dialect::each_of;
use crate::json_text;
use crate::sql::{On, Reader, Row, query};

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
    /// JSON: the booking without the data in other columns and tables.
    pub body: String,
    /// JSON.
    pub metadata: String,
    pub etag: String,
    /// 1 at first, increased with every change.
    pub version: i64,
    /// Time at which a pending booking expires.
    pub confirm_by: Option<i64>,
    /// Links of the invitee that name another are invalid.
    pub manage_version: i64,
    /// Hours of the clock that the invitee chose on the booking page, 12 or 24.
    pub clock_hours: Option<i64>,
    /// Time at which the booking was last confirmed or rejected.
    pub decided_at: Option<i64>,
    /// The connection of the host who did that by a link in an email.
    pub decided_by: Option<String>,
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
        clock_hours: row.get("clock_hours")?,
        decided_at: row.get("decided_at")?,
        decided_by: row.get("decided_by")?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}

/// A query for a booking of the tenant.
macro_rules! find {
    () => {
        "select * from bookings where id = $1 and application_id = $2 and organization_id = $3"
    };
}

/// A query for the bookings of a meeting that hold a seat, by their ids.
macro_rules! seated {
    () => {
        "select * from bookings where meeting_id = $1 and status in ('pending', 'confirmed') order by id"
    };
}

/// A booking of the tenant.
pub async fn find(on: impl Into<On<'_>>, tenant: &Tenant, id: &str) -> Result<Option<BookingRow>> {
    query(find!())
        .bind(id)
        .bind(&tenant.application_id)
        .bind(&tenant.organization_id)
        .fetch_optional(on, booking)
        .await
}

/// The same, locked until the transaction ends: after the event type, the connections and the meeting.
pub async fn lock(tx: &mut Tx, tenant: &Tenant, id: &str) -> Result<Option<BookingRow>> {
    let sql = match tx {
        // Its write transactions run one after the other anyway.
        Tx::Sqlite(_) => find!(),
        Tx::Postgres(_) => concat!(find!(), " for no key update"),
    };
    let of = query(sql).bind(id).bind(&tenant.application_id).bind(&tenant.organization_id);
    of.fetch_optional(&mut *tx, booking).await
}

/// The bookings of a meeting that are pending or confirmed, by their ids, locked in the same way. They are at most as many as it has seats.
pub async fn lock_seated(tx: &mut Tx, meeting_id: &str) -> Result<Vec<BookingRow>> {
    let sql = match tx {
        Tx::Sqlite(_) => seated!(),
        Tx::Postgres(_) => concat!(seated!(), " for no key update"),
    };
    query(sql).bind(meeting_id).fetch_all(&mut *tx, booking).await
}

/// The bookings of a meeting that hold a seat, or held one until it was over, by their ids. They are at most as many as it has seats.
pub async fn with_seat(on: impl Into<On<'_>>, meeting_id: &str) -> Result<Vec<BookingRow>> {
    let sql = "select * from bookings where meeting_id = $1 and status in ('pending', 'confirmed', 'completed') order by id";
    query(sql).bind(meeting_id).fetch_all(on, booking).await
}

/// At most `limit` bookings of a meeting in any status, the newest first. A seat can be taken and released any number of times.
pub async fn newest_of_meeting(
    on: impl Into<On<'_>>,
    meeting_id: &str,
    limit: i64,
) -> Result<Vec<BookingRow>> {
    let sql = "select * from bookings where meeting_id = $1 order by id desc limit $2";
    query(sql).bind(meeting_id).bind(limit).fetch_all(on, booking).await
}

/// How many bookings of a folded address are pending or confirmed and not over at `now`.
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

/// A filter for lists of an application's bookings.
#[derive(Clone, Copy, Debug)]
pub enum Of<'a> {
    All,
    /// The address is folded.
    Invitee(&'a str),
    EventType(&'a str),
    Status(&'a str),
}

/// A range of a list. Times are milliseconds since 1970.
#[derive(Clone, Copy, Debug)]
pub struct Stretch<'a> {
    /// The first start.
    pub from: i64,
    /// The id after which the list begins among the bookings that start at `from`.
    pub after_id: &'a str,
    /// They start before.
    pub until: i64,
    pub limit: i64,
}

/// A query for a range of bookings with `$1`.
macro_rules! stretch {
    ($of:literal) => {
        concat!(
            "select * from bookings where ",
            $of,
            " and start_at >= $2 and start_at < $3 and (start_at > $2 or id > $4) order by start_at, id limit $5"
        )
    };
}

/// A range of the tenant's bookings in the order of start and id.
pub async fn list(
    reader: &Reader,
    tenant: &Tenant,
    of: Of<'_>,
    stretch: Stretch<'_>,
) -> Result<Vec<BookingRow>> {
    let application_id = tenant.application_id.as_str();
    // The expressions of `bookings_by_invitee` and `bookings_by_status`.
    let (sql, key) = match of {
        Of::All => (stretch!("application_id = $1"), application_id.to_owned()),
        Of::Invitee(email) => {
            (stretch!("application_id || '/' || invitee_email = $1"), format!("{application_id}/{email}"))
        }
        Of::EventType(id) => (stretch!("event_type_id = $1"), id.to_owned()),
        Of::Status(status) => {
            (stretch!("application_id || '/' || status = $1"), format!("{application_id}/{status}"))
        }
    };
    let found = query(sql)
        .bind(key)
        .bind(stretch.from)
        .bind(stretch.until)
        .bind(stretch.after_id)
        .bind(stretch.limit)
        .fetch_all(reader, booking);
    let mut found = found.await?;
    // An event type's id is unique, and can be another tenant's.
    found.retain(|row| row.tenant == *tenant);
    Ok(found)
}

/// A booking on which an action is overdue.
#[derive(Clone, Debug, PartialEq)]
pub struct Overdue {
    pub id: String,
    pub tenant: Tenant,
    /// `pending` or `confirmed`.
    pub status: String,
}

fn overdue(row: &Row<'_>) -> Result<Overdue> {
    Ok(Overdue {
        id: row.get("id")?,
        tenant: Tenant {
            organization_id: row.get("organization_id")?,
            application_id: row.get("application_id")?,
        },
        status: row.get("status")?,
    })
}

/// Bookings that are pending or confirmed and were over at `now`, the oldest first.
pub async fn over(reader: &Reader, now: i64, limit: i64) -> Result<Vec<Overdue>> {
    let sql = "select id, organization_id, application_id, status from bookings where status in ('pending', 'confirmed') \
               and end_at <= $1 order by end_at limit $2";
    query(sql).bind(now).bind(limit).fetch_all(reader, overdue).await
}

/// Bookings that are pending though they had to be confirmed by `now`, the oldest first.
pub async fn unconfirmed(reader: &Reader, now: i64, limit: i64) -> Result<Vec<Overdue>> {
    let sql = "select id, organization_id, application_id, status from bookings where status = 'pending' and confirm_by <= $1 \
               order by confirm_by limit $2";
    query(sql).bind(now).bind(limit).fetch_all(reader, overdue).await
}

/// Writes the changeable columns of rows, with one statement; the version of each has to be the next one. False: one of them has
/// changed since it was read.
pub async fn update(tx: &mut Tx, rows: &[&BookingRow]) -> Result<bool> {
    let sql = each_of!(
        tx,
        "update bookings set meeting_id = c.meeting_id, status = c.status, start_at = c.start_at, end_at = c.end_at, body = c.body, \
         metadata = c.metadata, etag = c.etag, version = c.version, confirm_by = c.confirm_by, updated_at = c.updated_at, \
         decided_at = c.decided_at, decided_by = c.decided_by from (select value ->> 'id' as id, \
         value ->> 'meeting_id' as meeting_id, value ->> 'status' as status, cast(value ->> 'start_at' as bigint) as start_at, \
         cast(value ->> 'end_at' as bigint) as end_at, value ->> 'body' as body, value ->> 'metadata' as metadata, \
         value ->> 'etag' as etag, cast(value ->> 'version' as bigint) as version, \
         cast(value ->> 'confirm_by' as bigint) as confirm_by, cast(value ->> 'updated_at' as bigint) as updated_at, \
         cast(value ->> 'decided_at' as bigint) as decided_at, value ->> 'decided_by' as decided_by",
        "$1",
        ") as c where bookings.id = c.id and bookings.version = c.version - 1"
    );
    let row = |b: &&BookingRow| {
        json!({
            "id": b.id,
            "meeting_id": b.meeting_id,
            "status": b.status,
            "start_at": b.start_at,
            "end_at": b.end_at,
            "body": b.body,
            "metadata": b.metadata,
            "etag": b.etag,
            "version": b.version,
            "confirm_by": b.confirm_by,
            "updated_at": b.updated_at,
            "decided_at": b.decided_at,
            "decided_by": b.decided_by,
        })
    };
    let values: Vec<Value> = rows.iter().map(row).collect();
    let changed = query(sql).bind(json_text(&values)).execute(tx).await?;
    Ok(usize::try_from(changed).is_ok_and(|changed| changed == rows.len()))
}

/// Writes a new row.
pub async fn insert(tx: &mut Tx, b: &BookingRow) -> Result<()> {
    let sql = "insert into bookings (id, organization_id, application_id, event_type_id, meeting_id, status, start_at, end_at, \
               invitee_email, body, metadata, etag, version, confirm_by, manage_version, clock_hours, decided_at, decided_by, \
               created_at, updated_at) \
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)";
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
        .bind(b.clock_hours)
        .bind(b.decided_at)
        .bind(&b.decided_by)
        .bind(b.created_at)
        .bind(b.updated_at)
        .execute(tx)
        .await?;
    Ok(())
}
