//! Writes the deliveries of a replay of a range, step by step, in the order of the log. The job kind `deliver` sends them.

use std::time::{Duration, Instant};

use base::error::Result;
use base::ids::Kind;
use model::webhook::{DeliveryStatus, NewWebhookReplay, ReplayFailure, ReplayStatus, WebhookStatus};
use storage::Tx;
use storage::jobs::{self, Job};
use storage::log::Light;
use storage::wakes::JobClass;
use storage::webhooks::deliveries::{self, Delivery};
use storage::webhooks::replays::{self, Replay, Step};
use storage::webhooks::{self, Webhook};

use crate::app::App;
use crate::job_runner::kind::{JobEnd, JobKind, JobRun, RetryDelay};
use crate::webhooks::replay::search::{ReplayMatches, Search};
use crate::webhooks::subscription;

/// Most unfinished deliveries of one replay: a replay of a million events does not write a million rows at once.
const MAX_WAITING: i64 = 1_000;
/// Most unfinished deliveries of all replays of a subscription, including those from before a pause.
pub const MAX_WAITING_OF_ALL: i64 = 100_000;
/// With less room than this for more deliveries, a replay waits.
const LEAST_ROOM: usize = 100;
/// Most deliveries that one step writes.
const DELIVERIES_PER_STEP: usize = 500;
/// Bounds of the wait for room, ms: half the time since a delivery of the replay last ended.
const SHORTEST_WAIT_MS: i64 = 1_000;
const LONGEST_WAIT_MS: i64 = 60_000;

/// Time during which a run begins further steps; then other jobs of its class run.
const TURN: Duration = Duration::from_secs(2);

/// The job kind; a job's key is the id of the replay.
pub const REPLAY: JobKind = JobKind {
    name: "replay",
    class: JobClass::Deliver,
    deadline_ms: Some(60_000),
    max_attempts: None,
    retry: RetryDelay { first_ms: 1_000, longest_ms: 60_000 },
    run: |turn| Box::pin(run(turn)),
};

/// The end of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepEnd {
    /// There is nothing more to write.
    Finished,
    /// There may be more.
    Advanced,
    /// The replay, or all of the subscription together, have the most waiting deliveries: continue at this time, Unix ms.
    Waiting(i64),
}

/// The result of a step's transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StepWrite {
    /// There may be more.
    Advanced,
    /// The replay is over.
    Over,
    /// Other replays have taken the room in the meantime: nothing was written.
    NoRoom,
}

async fn run(turn: &JobRun) -> Result<JobEnd> {
    let until = Instant::now() + TURN;
    while Instant::now() < until {
        match step(&turn.app, &turn.job).await? {
            StepEnd::Finished => return Ok(JobEnd::Done),
            StepEnd::Waiting(at) => return Ok(JobEnd::Part(at)),
            StepEnd::Advanced => {}
        }
    }
    Ok(JobEnd::Part(turn.app.now()))
}

/// Writes the next deliveries of the job's replay, with the position that it reached, in one transaction. If the subscription is paused or
/// disabled, the replay fails. If it is deleted, nothing is left to do.
pub async fn step(app: &App, job: &Job) -> Result<StepEnd> {
    let reader = app.db.reader();
    let Some(replay) = replays::by_id(reader, &job.tenant, job.key()).await? else {
        return Ok(StepEnd::Finished);
    };
    if replay.status != ReplayStatus::Running || replay.position >= replay.last_sequence {
        return Ok(StepEnd::Finished);
    }
    let Some(webhook) = webhooks::find(reader, &job.tenant, &replay.webhook_id).await? else {
        return Ok(StepEnd::Finished);
    };
    let now = app.now();
    let found = match webhook.status {
        WebhookStatus::Active | WebhookStatus::Failing => {
            let own = MAX_WAITING - (replay.written - replay.sent - replay.failed);
            let of_all = MAX_WAITING_OF_ALL - replays::waiting(reader, &webhook.id).await?;
            let room = usize::try_from(own.min(of_all)).unwrap_or(0);
            if room < LEAST_ROOM {
                return Ok(waits(&replay, now));
            }
            let asked: NewWebhookReplay = serde_json::from_str(&replay.filter)?;
            let search = Search::new(reader, &webhook, &asked, replay.last_sequence);
            search.find(replay.position, room.min(DELIVERIES_PER_STEP)).await?
        }
        // The transaction of the step ends the replay.
        WebhookStatus::Paused | WebhookStatus::Disabled => {
            ReplayMatches { position: replay.position, ..ReplayMatches::default() }
        }
    };
    let later = waits(&replay, now);
    let planned = plan(app, webhook, replay, found, now);
    let job = job.clone();
    let written: Result<StepWrite> =
        app.db.write(move |tx| Box::pin(async move { write(tx, &planned, &job, now).await })).await;
    Ok(match written? {
        StepWrite::Advanced => StepEnd::Advanced,
        StepWrite::Over => StepEnd::Finished,
        StepWrite::NoRoom => later,
    })
}

/// Schedules a replay without room: half the time since a delivery of it last ended, within bounds.
fn waits(replay: &Replay, now: i64) -> StepEnd {
    let idle = now - replay.updated_at;
    StepEnd::Waiting(now + (idle / 2).clamp(SHORTEST_WAIT_MS, LONGEST_WAIT_MS))
}

/// A step that is not written yet.
#[derive(Clone)]
struct PlannedStep {
    webhook: Webhook,
    replay: Replay,
    step: Step,
    deliveries: Vec<Delivery>,
}

fn plan(app: &App, webhook: Webhook, replay: Replay, found: ReplayMatches, now: i64) -> PlannedStep {
    let written = i64::try_from(found.events.len()).unwrap_or(i64::MAX);
    // All of them are due, each a millisecond later than the one before, and after those of the step before, so that they begin in the
    // order of the log.
    let first_due_at = (now - MAX_WAITING).max(replay.due_until + 1);
    let step = Step {
        position: found.position,
        reached_at: found.reached_at.unwrap_or(replay.reached_at),
        written,
        due_until: if written == 0 { replay.due_until } else { first_due_at + written - 1 },
    };
    let deliveries = (first_due_at..).zip(found.events);
    let deliveries = deliveries.map(|(due_at, event)| delivery(app, &replay.id, event, due_at)).collect();
    PlannedStep { webhook, replay, step, deliveries }
}

/// A delivery of a replay, before its first attempt.
pub fn delivery(app: &App, replay_id: &str, event: Light, due_at: i64) -> Delivery {
    Delivery {
        id: app.new_id(Kind::Delivery),
        sequence: event.sequence,
        replay_id: replay_id.to_owned(),
        event_id: event.id,
        resource_id: event.resource_id,
        status: DeliveryStatus::Pending,
        attempts: Vec::new(),
        next_attempt_at: Some(due_at),
    }
}

/// Writes a step. Returns its result.
async fn write(tx: &mut Tx, planned: &PlannedStep, job: &Job, now: i64) -> Result<StepWrite> {
    let PlannedStep { webhook, replay, step, deliveries } = planned;
    // It may have changed since it was read.
    let goes_on = match replays::lock(tx, &webhook.tenant, &webhook.id).await? {
        Some(WebhookStatus::Active | WebhookStatus::Failing) => {
            // While the lock is held, no other replay takes room.
            if replays::waiting(&mut *tx, &webhook.id).await? + step.written > MAX_WAITING_OF_ALL {
                jobs::check_fence(tx, job, None, now).await?;
                return Ok(StepWrite::NoRoom);
            }
            replays::advance(tx, (&replay.id, replay.position), step, now).await?
        }
        Some(WebhookStatus::Paused) => {
            replays::fail(tx, &replay.id, ReplayFailure::WebhookPaused, now).await?;
            false
        }
        Some(WebhookStatus::Disabled) => {
            replays::fail(tx, &replay.id, ReplayFailure::WebhookDisabled, now).await?;
            false
        }
        None => false,
    };
    if goes_on && !deliveries.is_empty() {
        deliveries::insert(tx, (&webhook.id, &webhook.tenant), deliveries, now).await?;
        jobs::enqueue(tx, &subscription::deliveries(webhook, Some(now)), now).await?;
    }
    jobs::check_fence(tx, job, Some("{}"), now).await?;
    Ok(if goes_on { StepWrite::Advanced } else { StepWrite::Over })
}
