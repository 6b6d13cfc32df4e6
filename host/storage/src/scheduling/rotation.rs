//! Assignments of an event type's meetings to hosts, for round-robin. Meetings that do not take place do not count.

use anyhow::Result;

use crate::json;
use crate::sql::{On, Row, query};

/// A meeting that was assigned to hosts.
#[derive(Clone, Debug, PartialEq)]
pub struct HostAssignment {
    /// Connection ids.
    pub hosts: Vec<String>,
    /// Milliseconds since 1970.
    pub created_at: i64,
}

fn read_assignment(row: &Row<'_>) -> Result<HostAssignment> {
    Ok(HostAssignment { hosts: json(row, "hosts")?, created_at: row.get("created_at")? })
}

/// Meetings that start in [`from`, `to`) and were created at `since` or later.
pub async fn starting_in(
    on: impl Into<On<'_>>,
    event_type_id: &str,
    (from, to): (i64, i64),
    since: i64,
) -> Result<Vec<HostAssignment>> {
    let sql = "select hosts, created_at from meetings where event_type_id = $1 and start_at >= $2 and start_at < $3 and created_at >= $4 \
               and released_at is null";
    query(sql).bind(event_type_id).bind(from).bind(to).bind(since).fetch_all(on, read_assignment).await
}

/// The meetings that were created last, the latest first.
pub async fn latest(on: impl Into<On<'_>>, event_type_id: &str, limit: i64) -> Result<Vec<HostAssignment>> {
    let sql = "select hosts, created_at from meetings where event_type_id = $1 and released_at is null order by created_at desc \
               limit $2";
    query(sql).bind(event_type_id).bind(limit).fetch_all(on, read_assignment).await
}
