//! Meetings that block no time as long as their booking is not confirmed.

use anyhow::Result;

use crate::sql::{On, query};

/// Ids of the meetings of an event type that start in [`from`, `to`), whose booking is pending, and for which no time is
/// reserved. Times are milliseconds since 1970.
pub async fn unreserved(
    on: impl Into<On<'_>>,
    event_type_id: &str,
    from: i64,
    to: i64,
) -> Result<Vec<String>> {
    let sql = "select b.meeting_id from bookings b where b.event_type_id = $1 and b.status = 'pending' and b.start_at >= $2 \
               and b.start_at < $3 and not exists (select 1 from reserved_times r where r.meeting_id = b.meeting_id)";
    query(sql).bind(event_type_id).bind(from).bind(to).fetch_all(on, |row| row.get("meeting_id")).await
}
