//! The kind `fanout`: holds the events of an application against what its webhooks want, and wakes the deliveries of those that want one.
//! There is one job for each application that has webhooks. The log itself is the queue: what lies above the feed's cursor is to be looked at.

use std::collections::BTreeSet;
use std::time::Duration;

use base::error::{Error, Result};
use base::tenant::Tenant;
use storage::jobs::{self, Job, NewJob};
use storage::log::{self, Light};
use storage::wakes::{Grown, JobClass};
use storage::webhooks::matching::{self, Filters};
use tokio::sync::watch;

use crate::app::App;
use crate::jobs::kind::{JobKind, Next, RetryDelay, Turn};
use crate::webhooks::kinds::{Matcher, Wanted};

/// The kind.
pub const FANOUT: JobKind = JobKind {
    name: "fanout",
    class: JobClass::Fanout,
    deadline_ms: Some(60_000),
    max_attempts: None,
    retry: RetryDelay { first_ms: 1_000, longest_ms: 60_000 },
    run: |turn| Box::pin(run(turn)),
};

/// How often all applications are looked at: for events that another host wrote, and wakes that were lost.
const SWEEP: Duration = Duration::from_secs(5);
/// How long to wait after a failure of the database.
const AFTER_FAILURE: Duration = Duration::from_secs(1);
/// Events that one turn looks at.
const PAGE: i64 = 500;
/// Subscriptions that one transaction wakes.
const CHUNK: usize = 500;

/// Enqueues the jobs of applications whose log grows, as soon as it has, until `stop` says that the process ends.
pub async fn look(app: &App, mut stop: watch::Receiver<bool>) {
    // What was written before the start, and by other hosts.
    let mut grown = None;
    while !*stop.borrow() {
        if let Err(e) = wake(app, grown.take()).await {
            tracing::error!(error = %format!("{e:#}"), "new events cannot be looked for");
            tokio::time::sleep(AFTER_FAILURE).await;
        }
        tokio::select! {
            some = app.db.wakes().grown() => grown = match some {
                Grown::These(ids) => Some(ids),
                Grown::Any => None,
            },
            () = tokio::time::sleep(SWEEP) => {}
            // An error: whoever could say stop is gone.
            changed = stop.changed() => if changed.is_err() { return },
        }
    }
}

/// Enqueues the job of each application that has webhooks and events that were not held against them; of these applications, or of all.
/// Returns how many.
pub async fn wake(app: &App, among: Option<BTreeSet<String>>) -> anyhow::Result<usize> {
    let among: Option<Vec<String>> = among.map(|ids| ids.into_iter().collect());
    let mut behind = matching::behind(app.db.reader(), among.as_deref()).await?;
    // In one order, so that two hosts do not wait for each other's rows.
    behind.sort_by(|a, b| a.application_id.cmp(&b.application_id));
    if behind.is_empty() {
        return Ok(0);
    }
    let (count, now) = (behind.len(), app.now());
    let done: anyhow::Result<()> = app
        .db
        .write(move |tx| {
            Box::pin(async move {
                for tenant in &behind {
                    jobs::enqueue(tx, &job_of(tenant, Some(now)), now).await?;
                }
                Ok(())
            })
        })
        .await;
    done.map(|()| count)
}

/// The job of an application.
fn job_of(tenant: &Tenant, due_at: Option<i64>) -> NewJob<'_> {
    NewJob {
        kind: FANOUT.name,
        key: &tenant.application_id,
        class: FANOUT.class,
        tenant,
        connection_id: None,
        target: "",
        due_at,
        args: None,
    }
}

async fn run(turn: &Turn) -> Result<Next> {
    let (app, tenant) = (&turn.app, &turn.job.tenant);
    let reader = app.db.reader();
    let Some(cursor) = matching::cursor(reader, tenant).await? else { return Ok(Next::Done) };
    // Numbers without a line exist, and those up to this one that have a line are there to be read.
    let last = log::last_sequence(reader, tenant).await?;
    let mut lines = log::light_after(reader, tenant, cursor, PAGE).await?;
    lines.retain(|line| line.sequence <= last);
    let is_full = i64::try_from(lines.len()).is_ok_and(|count| count >= PAGE);
    let up_to = lines.last().filter(|_| is_full).map_or(last, |line| line.sequence);
    // Read after the lines: whoever subscribed before one of them is among these.
    let wanted = matching::filters_of(reader, tenant).await?;
    let woken = first_of_each(wanted, &lines);
    commit(app, &turn.job, woken, up_to).await?;
    Ok(if is_full { Next::At(app.now()) } else { Next::Park })
}

/// The subscriptions that want one of these lines, each with the number of the first that it wants, in the order of these numbers.
fn first_of_each(wanted: Vec<Filters>, lines: &[Light]) -> Vec<(i64, String)> {
    let wanted: Vec<Wanted> = wanted.into_iter().map(wanted_of).collect();
    let matcher = Matcher::new(&wanted);
    let mut seen = BTreeSet::new();
    let mut first = Vec::new();
    for line in lines {
        let connection_id = line.connection_id.as_deref();
        for id in matcher.matching(&line.entry_type, connection_id, &line.origin, &line.resource_id) {
            if seen.insert(id.to_owned()) {
                first.push((line.sequence, id.to_owned()));
            }
        }
    }
    first
}

/// What a subscription wants, as the matcher takes it.
pub fn wanted_of(filters: Filters) -> Wanted {
    Wanted {
        id: filters.id,
        event_types: filters.event_types,
        connection_ids: filters.connection_ids,
        bound_to: filters.bound_to,
        families: filters.families,
        include_backfill: filters.include_backfill,
    }
}

/// Wakes the subscriptions, and moves the cursor in the last transaction: when one before it is lost, the next turn wakes some of them again,
/// which does no harm.
async fn commit(app: &App, job: &Job, woken: Vec<(i64, String)>, up_to: i64) -> Result<()> {
    let mut chunks: Vec<(i64, Vec<String>)> = woken
        .chunks(CHUNK)
        .map(|chunk| {
            // The earliest number is good for all of them: each looks for itself what it wants of the lines from there on.
            let first = chunk.first().map_or(up_to, |(sequence, _)| *sequence);
            (first, chunk.iter().map(|(_, id)| id.clone()).collect())
        })
        .collect();
    let last = chunks.pop().unwrap_or_default();
    for chunk in chunks {
        commit_one(app, job, chunk, None).await?;
    }
    commit_one(app, job, last, Some(up_to)).await
}

async fn commit_one(
    app: &App,
    job: &Job,
    (first, ids): (i64, Vec<String>),
    cursor: Option<i64>,
) -> Result<()> {
    let (job, now) = (job.clone(), app.now());
    app.db
        .write(move |tx| {
            Box::pin(async move {
                if let Some(cursor) = cursor {
                    matching::advance(tx, &job.tenant, cursor).await?;
                }
                if !ids.is_empty() {
                    matching::wake(tx, &ids, first, now).await?;
                }
                jobs::check_fence(tx, &job, None, now).await?;
                Ok::<_, Error>(())
            })
        })
        .await
}
