//! The job kind `report`: reads a message that may be a delivery report or a complaint, and applies it to the message that it concerns.
//! `local_copy::mail::replies_and_reports` finds such messages when they are stored.

use ::mail::report::DeliveryReport;
use base::error::{Error, Result};
use runtime::Surface;
use storage::jobs::{self, Job};
use storage::locked::ConnectionLock;
use storage::tracking::Report;
use storage::wakes::JobClass;
use storage::{connections, outbox, tracking as table};

use crate::app::App;
use crate::connections::throttle;
use crate::job_runner::kind::{JobEnd, JobKind, JobRun, RetryDelay};
use crate::tracking::incoming;

/// The job kind.
pub const REPORT: JobKind = JobKind {
    name: crate::local_copy::mail::replies_and_reports::REPORT_JOB,
    class: JobClass::Upkeep,
    deadline_ms: Some(90_000),
    max_attempts: Some(8),
    retry: RetryDelay { first_ms: 60_000, longest_ms: 6 * 3_600_000 },
    run: |turn| Box::pin(run(turn)),
};

async fn run(turn: &JobRun) -> Result<JobEnd> {
    let (app, report) = (&turn.app, report_of(&turn.job));
    if let Some(until) = throttle::until(app, &report.tenant, &report.connection_id, Surface::Email).await? {
        // During the provider's Retry-After no request is sent, and this is no attempt.
        return Ok(JobEnd::PutOff(until));
    }
    let is_connected =
        connections::find(app.db.reader(), &report.tenant, &report.connection_id).await?.is_some();
    let read = if is_connected { incoming::read(app, &report).await } else { Ok(None) };
    match read {
        Ok(read) => {
            commit(app, &turn.job, report, read).await?;
            Ok(JobEnd::Committed)
        }
        Err(e) => {
            if turn.is_last {
                forget(app, report).await?;
            }
            Err(e)
        }
    }
}

fn report_of(job: &Job) -> Report {
    Report {
        item_id: job.key().to_owned(),
        tenant: job.tenant.clone(),
        connection_id: job.connection_id.clone().unwrap_or_default(),
        attempts: job.attempts,
    }
}

/// Stores the report and ends the job, in one transaction.
async fn commit(app: &App, job: &Job, report: Report, read: Option<DeliveryReport>) -> Result<()> {
    let sent = match read.as_ref().and_then(|r| r.message_id.as_deref()) {
        Some(id) => outbox::by_message_id(app.db.reader(), &report.connection_id, id).await?,
        None => None,
    };
    let (app, job) = (app.clone(), job.clone());
    let db = app.db.clone();
    db.write(move |tx| {
        Box::pin(async move {
            // None: the account was disconnected, and no more of it is written.
            let lock = ConnectionLock::take(tx, &report.tenant, &report.connection_id).await?;
            if let (Some(lock), Some(read), Some(sent)) = (&lock, &read, &sent) {
                incoming::apply_report(tx, &app, lock, &sent.id, read).await?;
            }
            table::remove_report(tx, &report.item_id).await?;
            jobs::complete(tx, &job, app.now()).await?;
            Ok::<_, Error>(())
        })
    })
    .await
}

/// Gives the report up. The job stays, as failed, and can be run again without this row.
async fn forget(app: &App, report: Report) -> Result<()> {
    app.db
        .write(move |tx| Box::pin(async move { Ok(table::remove_report(tx, &report.item_id).await?) }))
        .await
}
