//! The job kind `deliver`: sends the events that match a webhook to its endpoint. There is one job for each webhook, so that one host at a
//! time works on an endpoint. A run first retries deliveries that are due, then continues in the log from the webhook's cursor (`work`); it
//! makes attempts concurrently (`sending`, `rate`), and writes their results while others are in flight (`outcomes`).

pub mod concurrency;
mod outcomes;
mod rate;
mod sending;
mod work;

use base::error::{Error, Result};
use base::tenant::Tenant;
use model::webhook::WebhookStatus;
use storage::jobs::{self, End};
use storage::wakes::JobClass;
use storage::webhooks::{deliveries as table, held, replays};

use crate::app::App;
use crate::job_runner::kind::{JobEnd, JobKind, JobRun, RetryDelay};
use crate::webhooks::attempt::OpenSubscription;
use crate::webhooks::compiled_filters::wanted_of;
use crate::webhooks::delivery::rate::Rate;
use crate::webhooks::delivery::sending::DeliveryRun;
use crate::webhooks::notification_types::Matcher;

/// The job kind.
pub const DELIVER: JobKind = JobKind {
    name: "deliver",
    class: JobClass::Deliver,
    deadline_ms: Some(90_000),
    max_attempts: None,
    retry: RetryDelay { first_ms: 1_000, longest_ms: 5 * 60_000 },
    run: |turn| Box::pin(run(turn)),
};

/// Deliveries that one step discards when a webhook is disabled, or releases when it is no longer ordered.
const DELIVERIES_PER_STEP: i64 = 500;
/// Time after which a subscription whose key has ended is checked again, ms.
const ENDED_MS: i64 = 5_000;

async fn run(turn: &JobRun) -> Result<JobEnd> {
    let (app, webhook_id) = (&turn.app, turn.job.key());
    let Some(endpoint) = table::find_endpoint(app.db.reader(), webhook_id).await? else {
        return Ok(JobEnd::Done);
    };
    let now = app.now();
    match endpoint.status.as_str() {
        // Its key has ended: a job disables it, or binds it to another key.
        "active" if endpoint.has_ended(now) => return put_off(turn, Some(now + ENDED_MS)).await,
        "active" => {}
        "disabled" => return discard(app, &endpoint.tenant, webhook_id).await,
        // It keeps its cursor, and is woken when it is resumed.
        _ => return put_off(turn, None).await,
    }
    let rate = Rate::new(endpoint.max_per_second, turn.job.progress.as_deref(), now);
    let begins_at = endpoint.health.not_before.unwrap_or(now).max(rate.next_at(now));
    if begins_at > now {
        return put_off(turn, Some(begins_at)).await;
    }
    if endpoint.held > 0 && !endpoint.ordered {
        let_go(turn).await?;
    }
    let matcher = Matcher::new(&[wanted_of(endpoint.filters.clone())]);
    let work = work::find(app, &endpoint, &matcher, turn.job.is_slow).await?;
    let mut sending = DeliveryRun::new(turn, OpenSubscription::open(app, endpoint, matcher)?, work, rate);
    sending.run(turn).await?;
    sending.end().await
}

/// Ends a run in which no attempt may begin before this time (Unix ms; none: until it is woken). Does not record how long attempts take, so
/// that a slow endpoint stays marked as slow.
async fn put_off(turn: &JobRun, until: Option<i64>) -> Result<JobEnd> {
    let (job, now) = (turn.job.clone(), turn.app.now());
    let end = End { due_at: until, done_at: Some(now), ..End::default() };
    turn.app
        .db
        .write(move |tx| {
            Box::pin(async move {
                jobs::reschedule(tx, &job, &end, now).await?;
                Ok::<_, Error>(())
            })
        })
        .await?;
    Ok(JobEnd::Committed)
}

/// Discards the pending deliveries of a disabled webhook, step by step.
async fn discard(app: &App, tenant: &Tenant, webhook_id: &str) -> Result<JobEnd> {
    let (id, tenant, now) = (webhook_id.to_owned(), tenant.clone(), app.now());
    let goes_on: Result<bool> = app
        .db
        .write(move |tx| {
            Box::pin(async move {
                if replays::lock(tx, &tenant, &id).await? != Some(WebhookStatus::Disabled) {
                    // It was activated in the meantime: the next run reads it again.
                    return Ok(true);
                }
                Ok(table::discard(tx, &id, now, DELIVERIES_PER_STEP).await? > 0)
            })
        })
        .await;
    Ok(if goes_on? { JobEnd::At(now) } else { JobEnd::Park })
}

/// Releases deliveries that waited for an earlier one while the webhook was ordered, some with each run.
async fn let_go(turn: &JobRun) -> Result<()> {
    let (job, now) = (turn.job.clone(), turn.app.now());
    turn.app
        .db
        .write(move |tx| {
            Box::pin(async move {
                held::release_all(tx, job.key(), now, DELIVERIES_PER_STEP).await?;
                jobs::check_fence(tx, &job, None, now).await?;
                Ok::<_, Error>(())
            })
        })
        .await
}
