//! Finds every hour overdue work of bookings whose jobs were lost or given up, and enqueues it: events to write or delete, bookings to
//! complete or expire, and messages and reminders to send. Subscribes to hosts' calendars that are due.

use base::error::{Error, Result};
use base::tenant::Tenant;
use storage::Tx;
use storage::jobs::{self, NewJob};
use storage::scheduling::bookings::{self, Overdue};
use storage::scheduling::meeting_events::{self, EVENT_JOB, MeetingHost};
use storage::scheduling::notices::{self, Notice};
use storage::wakes::JobClass;

use crate::app::App;
use crate::bookings::{calendar_subscriptions, timed_transitions};
use crate::job_runner::kind::{JobEnd, JobKind, RetryDelay};

/// Rows of each kind that are found at a time; the rest is found an hour later.
const AT_A_TIME: i64 = 500;
/// Age from which due work counts as late, ms; younger work is in progress.
const LATE_MS: i64 = 3_600_000;
/// Age from which a notice without a job has lost it, ms. Both are written in one transaction, so none is in progress without a job.
const LOST_MS: i64 = 60_000;
/// Most steps of `AT_A_TIME` rows in the search for unsent notices.
const MAX_STEPS: usize = 200;

/// Interval between runs, ms.
const EVERY_MS: i64 = 3_600_000;
/// Time until it continues after a run that left work, ms.
const GOES_ON_MS: i64 = 1_000;

/// The job kind. There is one job of it.
pub const BOOKING_RECONCILE: JobKind = JobKind {
    name: "booking_reconcile",
    class: JobClass::Upkeep,
    deadline_ms: Some(60_000),
    max_attempts: None,
    retry: RetryDelay { first_ms: 60_000, longest_ms: EVERY_MS },
    run: |turn| Box::pin(run(&turn.app)),
};

/// Enqueues the job if there is none.
pub async fn ensure(tx: &mut Tx, installation: &Tenant, now: i64) -> anyhow::Result<()> {
    let job = NewJob {
        kind: BOOKING_RECONCILE.name,
        key: "all",
        class: BOOKING_RECONCILE.class,
        tenant: installation,
        connection_id: None,
        target: "",
        due_at: Some(now),
        args: None,
    };
    jobs::ensure(tx, &job, now).await
}

/// Enqueues everything that is late.
async fn run(app: &App) -> Result<JobEnd> {
    changes(app).await?;
    messages(app).await?;
    let is_over = calendar_subscriptions::catch_up(app).await?;
    let now = app.now();
    Ok(if is_over { JobEnd::At(now + EVERY_MS) } else { JobEnd::Part(now + GOES_ON_MS) })
}

/// Enqueues messages whose job was lost. If a message was sent after all, its job finds it in the outbox, by the Message-ID that every
/// message of the same change has.
async fn messages(app: &App) -> Result<()> {
    let now = app.now();
    // Older notices are no longer useful, and are deleted.
    let mut after = (now - notices::KEPT_MS, String::new());
    for _ in 0..MAX_STEPS {
        let of = (after.0, after.1.as_str());
        let found = notices::late(app.db.reader(), now - LOST_MS, of, AT_A_TIME).await?;
        let Some(last) = found.last() else { break };
        after = (last.due_at, last.job_id.clone());
        let is_all = i64::try_from(found.len()).is_ok_and(|count| count < AT_A_TIME);
        let lost: Vec<Notice> = found.into_iter().filter(|notice| !notice.has_job).collect();
        if !lost.is_empty() {
            tracing::info!(messages = lost.len(), "sending messages about bookings whose jobs were lost");
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

/// Enqueues event writes and status transitions.
async fn changes(app: &App) -> Result<()> {
    let (reader, now) = (app.db.reader(), app.now());
    let late = now - LATE_MS;
    let events = meeting_events::overdue(reader, late, AT_A_TIME).await?;
    let mut ended = bookings::over(reader, late, AT_A_TIME).await?;
    ended.extend(bookings::unconfirmed(reader, late, AT_A_TIME).await?);
    if events.is_empty() && ended.is_empty() {
        return Ok(());
    }
    tracing::info!(events = events.len(), bookings = ended.len(), "completing overdue changes of bookings");
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
