//! Writes of a delivery run: results of attempts with the cursor while others are in flight, and the end of the run.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use base::error::{Error, Result};
use futures::future::BoxFuture;
use model::webhook::DeliveryStatus;
use storage::jobs::{self, End, Job};
use storage::webhooks::deliveries::{Delivery, DeliveryProgress, Health, SubscriptionState};
use storage::webhooks::{deliveries as table, feeds, held};
use storage::{Tx, job_claims, usage as usage_table};

use crate::app::{App, event_log, usage};
use crate::webhooks::attempt::OpenSubscription;
use crate::webhooks::ending::disabled_event;
use crate::webhooks::figures::Figures;

/// Time after which a webhook with the most waiting deliveries and none due is checked again, ms.
const LOOK_AGAIN_AFTER_MS: i64 = 60_000;
/// Rows over which the webhooks of an application spread each of its counts.
const SHARDS: u8 = 16;

/// A write in progress.
pub type PendingWrite = BoxFuture<'static, Result<WriteResult>>;

/// The result of a write.
pub struct WriteResult {
    /// The state of the webhook; none if it is deleted, or was disabled by this write.
    pub standing: Option<SubscriptionState>,
    /// Deliveries that waited for an earlier one of their resource, and may be attempted now.
    pub released: Vec<Delivery>,
    /// Resources of the deliveries that were attempted or dropped, except replays.
    pub tried: Vec<String>,
    /// Whether deliveries were written.
    pub has_progressed: bool,
}

/// The data of a write.
#[derive(Clone)]
pub struct WriteFollowUp {
    pub app: App,
    pub job: Job,
    pub to: Arc<OpenSubscription>,
    /// Deliveries that were attempted, and those that have to wait.
    pub outcomes: Vec<Delivery>,
    /// The attempts among them.
    pub figures: Figures,
    /// See `DeliveryProgress`.
    pub cursor: i64,
    pub health: Health,
    /// JSON, stored with the job.
    pub progress: String,
    /// The reason to disable the webhook.
    pub disabled: Option<&'static str>,
    /// Whether deliveries may be waiting for some of these.
    pub releases: bool,
}

/// The webhook was changed since it was opened: an earlier answer of its endpoint does not disable it.
#[derive(Debug)]
struct WebhookChanged;

impl fmt::Display for WebhookChanged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the webhook was changed")
    }
}

impl std::error::Error for WebhookChanged {}

impl WriteFollowUp {
    /// Begins to write.
    pub fn begin(self) -> PendingWrite {
        let (db, now) = (self.app.db.clone(), self.app.now());
        Box::pin(async move {
            // The log is written before the webhook's row is locked. If that row turns out to have changed, the transaction is rolled back
            // and repeated without the log entry.
            let without = self.disabled.is_some().then(|| WriteFollowUp { disabled: None, ..self.clone() });
            let written: Result<WriteResult> = db.write(move |tx| Box::pin(self.write(tx, now))).await;
            match (written, without) {
                (Err(Error::Internal(e)), Some(without)) if e.is::<WebhookChanged>() => {
                    db.write(move |tx| Box::pin(without.write(tx, now))).await
                }
                (written, _) => written,
            }
        })
    }

    async fn write(self, tx: &mut Tx, now: i64) -> Result<WriteResult> {
        let (tenant, id) = (&self.to.endpoint.tenant, self.to.id.as_str());
        if let Some(reason) = self.disabled {
            // The log before the webhook: the application's row is locked first.
            event_log::append(tx, &self.app, tenant, vec![disabled_event(id, reason)]).await?;
        }
        count(tx, &self.to, &self.figures, now).await?;
        if self.disabled.is_some() {
            feeds::note_change(tx, tenant).await?;
        }
        let settled = settled(&self.to, self.cursor, &self.health);
        let mut standing = table::write_outcomes(tx, (id, tenant), &self.outcomes, &settled, now).await?;
        if let Some(reason) = self.disabled {
            if !standing.as_ref().is_some_and(|standing| self.to.is_as(standing)) {
                return Err(anyhow::Error::new(WebhookChanged).into());
            }
            let [random] = self.app.entropy.bytes::<1>();
            let etag = format!("\"{now:x}{random:02x}\"");
            table::disable(tx, id, (reason, &etag), now).await?;
            standing = None;
            tracing::info!(webhook = %id, reason, "a webhook is disabled");
        }
        let over = self.over();
        let released = match self.releases && standing.is_some() && !over.is_empty() {
            true => held::release(tx, id, &over, now).await?,
            false => Vec::new(),
        };
        jobs::check_fence(tx, &self.job, Some(&self.progress), now).await?;
        let is_tried = |d: &&Delivery| {
            d.replay_id.is_empty() && (d.status != DeliveryStatus::Pending || d.next_attempt_at.is_some())
        };
        let tried = self.outcomes.iter().filter(is_tried).map(|d| d.resource_id.clone()).collect();
        Ok(WriteResult { standing, released, tried, has_progressed: !self.outcomes.is_empty() })
    }

    /// Resources with a delivery that has ended.
    fn over(&self) -> Vec<String> {
        let is_over = |d: &&Delivery| d.replay_id.is_empty() && d.status != DeliveryStatus::Pending;
        let resources: BTreeSet<&String> =
            self.outcomes.iter().filter(is_over).map(|d| &d.resource_id).collect();
        resources.into_iter().cloned().collect()
    }
}

/// Adds attempts to the usage of the application, in one statement. The usage counts are locked before the webhook's row.
async fn count(tx: &mut Tx, to: &OpenSubscription, figures: &Figures, now: i64) -> Result<()> {
    if figures.is_empty() {
        return Ok(());
    }
    // Webhooks of one application share few of the rows, so that they rarely wait for each other's commits.
    let shard = to.id.bytes().next_back().map_or(0, |byte| byte % SHARDS).to_string();
    let day = usage::day(now);
    usage_table::add_each(tx, &to.endpoint.tenant, (&day, &shard), &figures.outcomes()).await?;
    Ok(())
}

fn settled<'h>(to: &OpenSubscription, cursor: i64, health: &'h Health) -> DeliveryProgress<'h> {
    DeliveryProgress { cursor, health, updated_at: to.endpoint.updated_at }
}

/// The end of a run.
#[derive(Clone)]
pub struct TurnEnd {
    pub job: Job,
    pub to: Arc<OpenSubscription>,
    /// The last attempted deliveries, if none waits for one of them.
    pub outcomes: Vec<Delivery>,
    /// The attempts among them.
    pub figures: Figures,
    /// JSON, stored with the job.
    pub progress: String,
    /// See `DeliveryProgress`.
    pub cursor: i64,
    pub health: Health,
    /// The earliest time of the next attempt, Unix ms.
    pub begins_at: i64,
    /// Whether nothing is left to do now.
    pub is_done: bool,
    /// Whether the log was not read to its end because the most deliveries are waiting.
    pub is_stopped: bool,
    /// Whether its attempts are slow.
    pub is_slow: bool,
}

impl TurnEnd {
    /// Writes the results of the last deliveries and the cursor, and schedules the job.
    pub async fn write(self, tx: &mut Tx, now: i64) -> Result<()> {
        let (tenant, id) = (&self.to.endpoint.tenant, self.to.id.as_str());
        count(tx, &self.to, &self.figures, now).await?;
        let settled = settled(&self.to, self.cursor, &self.health);
        let standing = table::write_outcomes(tx, (id, tenant), &self.outcomes, &settled, now).await?;
        let due_at = match standing.is_some_and(|standing| self.to.is_as(&standing)) {
            true => self.due_at(tx, now).await?.map(|at| at.max(self.begins_at)),
            // The next run handles the changed webhook.
            false => Some(now),
        };
        if self.is_slow != self.job.is_slow {
            job_claims::set_slow(tx, &self.job, self.is_slow).await?;
        }
        if !self.outcomes.is_empty() {
            jobs::check_fence(tx, &self.job, Some(&self.progress), now).await?;
        }
        let end = End { due_at, done_at: Some(now), ..End::default() };
        jobs::reschedule(tx, &self.job, &end, now).await?;
        Ok(())
    }

    /// The time of the next work; none: when the job is woken.
    async fn due_at(&self, tx: &mut Tx, now: i64) -> Result<Option<i64>> {
        if !self.is_done {
            return Ok(Some(now));
        }
        if !self.is_stopped {
            table::rest(tx, &self.to.id).await?;
        }
        let due_at = table::next_due(&mut *tx, &self.to.id).await?;
        Ok(due_at.or(self.is_stopped.then_some(now + LOOK_AGAIN_AFTER_MS)))
    }
}
