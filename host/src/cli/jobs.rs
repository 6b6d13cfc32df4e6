//! `switchboard jobs`: shows the work in the background, and repeats or cancels single jobs, beside a running server or without one.

use std::process::ExitCode;

use anyhow::Result;
use base::clock::Clock;
use clap::{Args, Subcommand, ValueEnum};
use jiff::Span;
use model::Instant;
use serde_json::{Value, json};
use service::app::database_clock;
use service::manage;
use service::manage::jobs::{HostedJob, host_name};
use storage::Db;
use storage::hosts::{self, Host};
use storage::job_admin::{self, JobFilter};
use storage::jobs::Job;

use crate::cli::output::{answer, table};
use crate::cli::refusal::{command_error, failure};
use crate::cli::store;
use crate::cli::store_options::StoreOptions;

/// A server that runs meanwhile reads the table at least so often.
const SEEN_AFTER: &str = "a running server begins it within five seconds";

/// Show background jobs; run or cancel one
///
/// Works on the database directly: no server has to run, and a running one needs no restart.
#[derive(Subcommand)]
pub enum Jobs {
    List(ListJobs),
    /// Show a job
    #[command(after_help = "Example:\n  switchboard jobs show report:msg_01JQ8Z6V9C4T7R2M5N8P3K1W0X")]
    Show(One),
    /// Run a job now
    #[command(after_help = "Example:\n  switchboard jobs retry report:msg_01JQ8Z6V9C4T7R2M5N8P3K1W0X")]
    Retry(One),
    /// Cancel a queued job
    #[command(after_help = "Example:\n  switchboard jobs cancel report:msg_01JQ8Z6V9C4T7R2M5N8P3K1W0X")]
    Cancel(One),
}

/// A state of a job.
#[derive(Clone, Copy, ValueEnum)]
enum State {
    Queued,
    Running,
    Failed,
    Cancelled,
}

impl State {
    fn as_str(self) -> &'static str {
        match self {
            State::Queued => "queued",
            State::Running => "running",
            State::Failed => "failed",
            State::Cancelled => "cancelled",
        }
    }
}

/// List jobs, those that are due first at the top
#[derive(Args)]
#[command(after_help = "\
Examples:
  switchboard jobs list --state failed
  switchboard jobs list --kind deliver --due --json | jq -r '.[].id'")]
pub struct ListJobs {
    /// Only jobs in this state
    #[arg(long, value_enum)]
    state: Option<State>,
    /// Only jobs of this kind, for example report or deliver
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
    /// Only jobs of this application, by its id
    #[arg(long, value_name = "APP")]
    application: Option<String>,
    /// Only jobs of this connection, by its id
    #[arg(long, value_name = "CONN")]
    connection: Option<String>,
    /// Only queued jobs that are due
    #[arg(long)]
    due: bool,
    /// Maximum number of jobs to show
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(i64).range(1..=10_000))]
    limit: i64,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: StoreOptions,
}

/// A job, by its id.
#[derive(Args)]
pub struct One {
    /// The job's id, as `jobs list` shows it
    #[arg(value_name = "ID")]
    id: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: StoreOptions,
}

impl Jobs {
    pub async fn run(self) -> Result<ExitCode> {
        match self {
            Jobs::List(list) => list.run().await?,
            Jobs::Show(one) => one.show().await?,
            Jobs::Retry(one) => one.retry().await?,
            Jobs::Cancel(one) => one.cancel().await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl ListJobs {
    async fn run(self) -> Result<()> {
        let now = Clock::system().now_ms();
        let filter = JobFilter {
            state: self.state.map(|state| state.as_str().to_owned()),
            kind: self.kind,
            application_id: self.application,
            connection_id: self.connection,
            due_by: self.due.then_some(now),
        };
        let db = store::open(&self.place.resolve()?).await?;
        let found = list(&db, &filter, self.limit).await;
        db.close().await;
        let (jobs, hosts) = found?;
        if self.json {
            let shown: Vec<Value> = jobs.iter().map(|job| render_job(job, &hosts)).collect();
            return answer(&serde_json::to_string_pretty(&shown)?);
        }
        let head = ["ID", "STATE", "DUE", "ATTEMPTS", "HOST", "LAST ERROR"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        rows.extend(jobs.iter().map(|job| row(job, &hosts, now)));
        answer(&table(&rows))
    }
}

async fn list(db: &Db, filter: &JobFilter, limit: i64) -> Result<(Vec<Job>, Vec<Host>)> {
    store::ensure_schema(db).await?;
    Ok((job_admin::list(db.reader(), filter, limit).await?, hosts::list(db.reader()).await?))
}

impl One {
    async fn show(self) -> Result<()> {
        let db = store::open(&self.place.resolve()?).await?;
        let found = find(&db, &self.id).await;
        db.close().await;
        let HostedJob { job, hosts } = found?;
        let shown = render_job(&job, &hosts);
        if self.json {
            return answer(&serde_json::to_string_pretty(&shown)?);
        }
        let fields = shown.as_object().into_iter().flatten();
        let rows: Vec<Vec<String>> = fields
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| vec![name.clone(), text(value)])
            .collect();
        answer(&table(&rows))
    }

    async fn retry(self) -> Result<()> {
        let db = store::open(&self.place.clone().resolve()?).await?;
        let changed = self.retry_in(&db).await;
        db.close().await;
        changed?;
        match self.json {
            true => answer(&serde_json::to_string_pretty(&json!({ "id": self.id, "state": "queued" }))?),
            false => answer(&format!("{} is due now; {SEEN_AFTER}", self.id)),
        }
    }

    async fn retry_in(&self, db: &Db) -> Result<()> {
        let (found, now) = (find(db, &self.id).await?, database_clock::present_ms(db).await?);
        let changed =
            db.write(move |tx| Box::pin(async move { manage::jobs::retry_in(tx, &found, now).await }));
        changed.await.map_err(command_error)
    }

    async fn cancel(self) -> Result<()> {
        let db = store::open(&self.place.clone().resolve()?).await?;
        let changed = self.cancel_in(&db).await;
        db.close().await;
        changed?;
        match self.json {
            true => answer(&serde_json::to_string_pretty(&json!({ "id": self.id, "state": "cancelled" }))?),
            false => answer(&format!("cancelled {}; `switchboard jobs retry` queues it again", self.id)),
        }
    }

    async fn cancel_in(&self, db: &Db) -> Result<()> {
        let (found, now) = (find(db, &self.id).await?, database_clock::present_ms(db).await?);
        let changed =
            db.write(move |tx| Box::pin(async move { manage::jobs::cancel_in(tx, &found, now).await }));
        changed.await.map_err(command_error)
    }
}

async fn find(db: &Db, id: &str) -> Result<HostedJob> {
    store::ensure_schema(db).await?;
    let found = manage::jobs::find(db, id).await.map_err(command_error)?;
    found.ok_or_else(|| {
        failure(
            format!("there is no job {id}"),
            "`switchboard jobs list` shows jobs that are queued, running or failed; completed ones are removed",
        )
    })
}

fn instant(at: Option<i64>) -> Option<String> {
    at.map(|at| Instant::from_millis(at).to_string())
}

/// The JSON that a column has; null where there is none.
fn parse_json(text: Option<&str>) -> Value {
    text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A job as `--json` prints it.
fn render_job(job: &Job, hosts: &[Host]) -> Value {
    let tenant = |id: &str| (!id.is_empty()).then(|| id.to_owned());
    json!({
        "id": job.id,
        "kind": job.kind,
        "state": job.state,
        "dueAt": instant(job.due_at),
        "againAt": instant(job.again_at),
        "attempts": job.attempts,
        "crashes": job.crashes,
        "organizationId": tenant(&job.tenant.organization_id),
        "applicationId": tenant(&job.tenant.application_id),
        "connectionId": job.connection_id,
        "hostId": job.owner,
        "host": job.owner.is_some().then(|| host_name(job, hosts)),
        "args": parse_json(job.args.as_deref()),
        "progress": parse_json(job.progress.as_deref()),
        "lastError": parse_json(job.last_error.as_deref()),
    })
}

fn row(job: &Job, hosts: &[Host], now: i64) -> Vec<String> {
    let due = match job.due_at {
        Some(at) => time_until(at - now),
        None if job.state == "queued" => "when woken".to_owned(),
        None => "-".to_owned(),
    };
    let error = parse_json(job.last_error.as_deref());
    let error = match error["code"].as_str() {
        Some(code) => format!("{code}: {}", error["message"].as_str().unwrap_or_default()),
        None => "-".to_owned(),
    };
    let attempts = job.attempts.to_string();
    vec![job.id.clone(), job.state.clone(), due, attempts, host_name(job, hosts).to_owned(), error]
}

/// `in 2m 5s`, or `12s ago`.
fn time_until(ms: i64) -> String {
    let seconds = ms.unsigned_abs() / 1_000;
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    let span = Span::new()
        .days(i64::try_from(days.min(100_000)).unwrap_or_default())
        .hours(i64::try_from(hours).unwrap_or_default())
        .minutes(i64::try_from(minutes).unwrap_or_default())
        .seconds(i64::try_from(seconds % 60).unwrap_or_default());
    if ms > 0 { format!("in {span:#}") } else { format!("{span:#} ago") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_from_now() {
        assert_eq!(time_until(125_000), "in 2m 5s");
        assert_eq!(time_until(-12_300), "12s ago");
        assert_eq!(time_until(90_000_000), "in 1d 1h");
        assert_eq!(time_until(0), "0s ago");
    }
}
