//! Has the event of a meeting written into a host's calendar (`event_write`), by job.

use base::tenant::Tenant;
use storage::Tx;
use storage::jobs::{self, NewJob};
use storage::scheduling::meeting_events::EVENT_JOB;
use storage::wakes::JobClass;

/// Has the event of a meeting written, in the transaction that changes what is wanted. `now` is in milliseconds since 1970.
pub async fn enqueue(
    tx: &mut Tx,
    tenant: &Tenant,
    (meeting_id, connection_id): (&str, &str),
    now: i64,
) -> anyhow::Result<()> {
    let key = format!("{meeting_id}:{connection_id}");
    let new = NewJob {
        kind: EVENT_JOB,
        key: &key,
        class: JobClass::Send,
        tenant,
        connection_id: Some(connection_id),
        target: "",
        due_at: Some(now),
        args: None,
    };
    jobs::enqueue(tx, &new, now).await
}
