//! Finds what was to happen to bookings and did not, and has it done: events that are not in their calendars, or still are, bookings that are
//! over or were not confirmed in time, and messages and reminders that nobody was sent. What is due has a job already; this is for jobs that
//! were lost or given up.

use base::error::{Error, Result};
use storage::jobs::{self, NewJob};
use storage::scheduling::bookings::{self, Overdue};
use storage::scheduling::meeting_events::{self, EVENT_JOB, MeetingHost};
use storage::scheduling::notices::{self, Notice};
use storage::wakes::JobClass;

use crate::app::App;
use crate::bookings::timed_transitions;

/// Rows of each kind that are found at a time; the rest is found an hour later.
const AT_A_TIME: i64 = 500;
/// What has been due for less than this is under way, ms.
const LATE_MS: i64 = 3_600_000;
/// What was to be told by so long ago and has no job lost it, ms. Both go in one transaction: nothing is under way without a job.
const LOST_MS: i64 = 60_000;
/// Most steps of `AT_A_TIME` rows in which it is looked for what is still to be told.
const MAX_STEPS: usize = 200;

/// Has everything done that is late.
pub async fn run(app: &App) -> Result<()> {
    changes(app).await?;
    messages(app).await
}

/// Has people told what they were not told because the job was lost. Whether the message was sent after all its turn finds in the outbox, by
/// the Message-ID that every message of the same change has.
async fn messages(app: &App) -> Result<()> {
    let now = app.now();
    // What is older tells nobody anything, and goes.
    let mut after = (now - notices::KEPT_MS, String::new());
    for _ in 0..MAX_STEPS {
        let of = (after.0, after.1.as_str());
        let found = notices::late(app.db.reader(), now - LOST_MS, of, AT_A_TIME).await?;
        let Some(last) = found.last() else { break };
        after = (last.due_at, last.job_id.clone());
        let is_all = i64::try_from(found.len()).is_ok_and(|count| count < AT_A_TIME);
        let lost: Vec<Notice> = found.into_iter().filter(|notice| !notice.has_job).collect();
        if !lost.is_empty() {
            tracing::info!(messages = lost.len(), "what people were not told of bookings is told now");
            enqueue(app, lost, now).await?;
        }
        if is_all {
            break;
        }
    }
    Ok(())
}

async fn enqueue(app: &App, lost: Vec<Notice>, now: i64) -> Result<()> {
    app.db
        .write(move |tx| {
            Box::pin(async move {
                let jobs = lost.iter().filter_map(|notice| {
                    let (kind, key) = notice.job_id.split_once(':')?;
                    Some(NewJob {
                        kind,
                        key,
                        class: JobClass::Send,
                        tenant: &notice.tenant,
                        connection_id: None,
                        target: "",
                        due_at: Some(now),
                        args: notice.args.as_deref(),
                    })
                });
                let new: Vec<NewJob<'_>> = jobs.collect();
                Ok::<_, Error>(jobs::enqueue_all(tx, &new, now).await?)
            })
        })
        .await
}

/// Has events written, and bookings ended.
async fn changes(app: &App) -> Result<()> {
    let (reader, now) = (app.db.reader(), app.now());
    let late = now - LATE_MS;
    let events = meeting_events::overdue(reader, late, AT_A_TIME).await?;
    let mut ended = bookings::over(reader, late, AT_A_TIME).await?;
    ended.extend(bookings::unconfirmed(reader, late, AT_A_TIME).await?);
    if events.is_empty() && ended.is_empty() {
        return Ok(());
    }
    tracing::info!(events = events.len(), bookings = ended.len(), "what is late of bookings is done now");
    app.db
        .write(move |tx| {
            Box::pin(async move {
                let hosts: Vec<MeetingHost<'_>> = events.iter().map(MeetingHost::from).collect();
                meeting_events::enqueue(tx, EVENT_JOB, &hosts, now).await?;
                let ends = ended.iter().map(|Overdue { id, tenant, status }| match status.as_str() {
                    "pending" => timed_transitions::expire_at(id, tenant, now),
                    _ => timed_transitions::complete_at(id, tenant, now),
                });
                let new: Vec<NewJob<'_>> = ends.collect();
                Ok::<_, Error>(jobs::enqueue_all(tx, &new, now).await?)
            })
        })
        .await
}
