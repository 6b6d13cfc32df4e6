//! Event types whose host was disconnected.

use anyhow::Result;
use base::tenant::Tenant;

use crate::Tx;
use crate::jobs::{self, NewJob};
use crate::sql::{Reader, query};
use crate::wakes::JobClass;

/// The kind of the jobs that take a host out of event types. The key is the connection.
pub const HOST_GONE_JOB: &str = "host_gone";

/// Enqueues the removal of a connection from the event types whose host it is, in the transaction that deletes it. The event
/// types themselves are not changed in it: their locks come before those of connections.
pub async fn enqueue(tx: &mut Tx, tenant: &Tenant, connection_id: &str, now: i64) -> Result<()> {
    let new = NewJob {
        kind: HOST_GONE_JOB,
        key: connection_id,
        class: JobClass::Upkeep,
        tenant,
        // The jobs of the connection are deleted with it.
        connection_id: None,
        target: "",
        due_at: Some(now),
        args: None,
    };
    jobs::enqueue(tx, &new, now).await
}

/// Ids of event types whose host a connection is, in their order, after an id.
pub async fn event_types_of(
    reader: &Reader,
    connection_id: &str,
    after_id: &str,
    limit: i64,
) -> Result<Vec<String>> {
    let sql = "select event_type_id from event_type_hosts where connection_id = $1 and event_type_id > $2 \
               order by event_type_id limit $3";
    query(sql)
        .bind(connection_id)
        .bind(after_id)
        .bind(limit)
        .fetch_all(reader, |row| row.get("event_type_id"))
        .await
}
