//! Removes a deleted connection from event types; one without hosts can no longer be booked. Bookings stay.

use base::error::Result;
use model::scheduling::event_type::{EventType, Host, HostRole};
use storage::Tx;
use storage::jobs::Job;
use storage::scheduling::event_types;
use storage::scheduling::host_gone::{HOST_GONE_JOB, event_types_of};
use storage::wakes::JobClass;

use crate::app::App;
use crate::app::event_log::{self, NewLogEntry, Origin};
use crate::bookings::view;
use crate::job_runner::kind::{JobEnd, JobKind, RetryDelay};

/// Event types that are read at a time.
const AT_A_TIME: i64 = 100;

/// The job kind that removes a deleted connection from the event types whose host it is; the key is the connection's id.
pub const HOST_GONE: JobKind = JobKind {
    name: HOST_GONE_JOB,
    class: JobClass::Upkeep,
    deadline_ms: Some(60_000),
    max_attempts: None,
    retry: RetryDelay { first_ms: 1_000, longest_ms: 10 * 60_000 },
    run: |turn| Box::pin(run(&turn.app, &turn.job)),
};

/// Removes a connection (the key of the job) from the event types whose host it is, each in its own transaction.
async fn run(app: &App, job: &Job) -> Result<JobEnd> {
    let mut after = String::new();
    loop {
        let found = event_types_of(app.db.reader(), job.key(), &after, AT_A_TIME).await?;
        let Some(last) = found.last() else { return Ok(JobEnd::Done) };
        after.clone_from(last);
        for id in found {
            let (held, job) = (app.clone(), job.clone());
            let done: Result<()> =
                app.db.write(move |tx| Box::pin(async move { take_out(tx, &held, &job, &id).await })).await;
            done?;
        }
    }
}

async fn take_out(tx: &mut Tx, app: &App, job: &Job, id: &str) -> Result<()> {
    let Some(mut row) = event_types::lock(tx, &job.tenant, id).await? else { return Ok(()) };
    let mut body: EventType = serde_json::from_str(&row.body)?;
    let is_gone = |host: &Host| host.connection_id == job.key();
    let took_turns = body.hosts.iter().any(|host| is_gone(host) && host.role == HostRole::Rotation);
    body.hosts.retain(|host| !is_gone(host));
    body.active &= !body.hosts.is_empty();
    let hosts: Vec<String> = body.hosts.iter().map(|host| host.connection_id.clone()).collect();
    row.body = serde_json::to_string(&body)?;
    row.version += 1;
    row.updated_at = app.now().max(row.updated_at);
    if took_turns {
        // As with any change of a rotation: the hosts' loads are counted from now on.
        row.rotation_since = app.now();
    }
    row.etag = view::etag(&(&row.id, row.version, &row.body, &row.metadata))?;
    event_types::update(tx, &row).await?;
    event_types::set_hosts(tx, &row, &hosts).await?;
    let note = NewLogEntry {
        connection_id: None,
        account_ids: Some(view::accounts_of_event_type(&body).cloned().collect()),
        entry_type: "event_type.updated".to_owned(),
        change_type: "updated",
        resource_type: "event_type",
        resource_id: row.id.clone(),
        parent_id: String::new(),
        changed_fields: Some(vec!["hosts".to_owned(), "active".to_owned()]),
        etag: Some(row.etag.clone()),
        origin: Origin::System,
        resource: Some(view::event_type(&row, &body)?.to_string()),
    };
    event_log::append(tx, app, &row.tenant, vec![note]).await?;
    Ok(())
}
