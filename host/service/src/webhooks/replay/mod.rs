//! Replays: events that were sent before, or were missed, are sent to a subscription again. The deliveries of events that are named by id
//! are written with the replay (`by_ids`). The events of a time range (`range`) are found in the log (`search`) by a job, which writes
//! their deliveries step by step (`walk`).

mod by_ids;
mod event_filter;
mod range;
mod search;
mod selection;
pub mod walk;

use base::error::{Code, Refusal, Result, not_found};
use base::ids::{self, Kind};
use model::Instant;
use model::webhook::{NewWebhookReplay, ReplayStatus, WebhookReplay};
use serde_json::Value;
use storage::Tx;
use storage::api_keys::ApiKey;
use storage::jobs::{self, NewJob};
use storage::log::Light;
use storage::webhooks::deliveries::{self, Delivery};
use storage::webhooks::replays::Replay;
use storage::webhooks::{Webhook, replays as table};

use crate::app::App;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::webhooks::replay::search::Search;
use crate::webhooks::replay::selection::Period;
use crate::webhooks::replay::walk::{MAX_WAITING_OF_ALL, REPLAY};
use crate::webhooks::{input, subscription};

/// Most running replays of a subscription.
const MAX_RUNNING: i64 = 100;
/// Time after which a retry makes sense, seconds.
const WAIT_S: u64 = 60;
/// A failed replay is continued this long before the time that it reached, ms: event times rise with sequence numbers only up to the clock
/// difference between hosts.
const BACK_MS: i64 = 1_000;
/// Sorts after every replay id.
const AFTER_ALL: &str = "z";

/// Replays events to a subscription: those that it matches as it is now. Its delivery job sends them in the order of the log, each with its
/// own id.
pub async fn start(
    app: &App,
    key: &ApiKey,
    webhook_id: &str,
    asked: NewWebhookReplay,
    mut warnings: Vec<Value>,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let webhook = subscription::find(app, key, webhook_id).await?;
    let period = selection::check(&asked, app.now())?;
    input::check_active(webhook.status)?;
    let mut replay = new(app, key, &webhook, &asked);
    let mut deliveries = Vec::new();
    match period {
        None => {
            let (events, skipped) = by_ids::find(app, key, &webhook, &asked).await?;
            warnings.extend(skipped);
            deliveries = of_events(app, &mut replay, events);
        }
        Some(period) => measure(app, &webhook, &asked, period, &mut replay).await?,
    }
    let planned = PlannedReplay { webhook, replay, deliveries };
    let (held, attempt) = (app.clone(), attempt.clone());
    app.db
        .write(move |tx| Box::pin(async move { write(tx, &held, &planned, &warnings, &attempt).await }))
        .await
}

/// A replay before its events are known.
fn new(app: &App, key: &ApiKey, webhook: &Webhook, asked: &NewWebhookReplay) -> Replay {
    let now = app.now();
    Replay {
        id: app.new_id(Kind::Replay),
        webhook_id: webhook.id.clone(),
        tenant: webhook.tenant.clone(),
        key_id: key.id.clone(),
        filter: storage::json_text(asked),
        event_count: 0,
        is_counted: true,
        position: 0,
        last_sequence: 0,
        reached_at: 0,
        written: 0,
        due_until: 0,
        sent: 0,
        failed: 0,
        status: ReplayStatus::Completed,
        reason: None,
        created_at: now,
        updated_at: now,
    }
}

/// The deliveries of these events, which are written with the replay.
fn of_events(app: &App, replay: &mut Replay, events: Vec<Light>) -> Vec<Delivery> {
    let Some(last) = events.last() else { return Vec::new() };
    let count = i64::try_from(events.len()).unwrap_or(i64::MAX);
    let last_sequence = last.sequence;
    replay.event_count = count;
    (replay.position, replay.last_sequence) = (last_sequence, last_sequence);
    (replay.written, replay.due_until) = (count, replay.created_at - 1);
    replay.status = ReplayStatus::Running;
    // All of them are due, each a millisecond later than the one before, so that they begin in the order of the log.
    let deliveries = (replay.created_at - count..).zip(events);
    deliveries.map(|(due_at, event)| walk::delivery(app, &replay.id, event, due_at)).collect()
}

/// Finds the sequence numbers of a replay's range, and the number of its events as far as that is quickly counted.
async fn measure(
    app: &App,
    webhook: &Webhook,
    asked: &NewWebhookReplay,
    period: Period,
    replay: &mut Replay,
) -> Result<()> {
    let (reader, tenant) = (app.db.reader(), &webhook.tenant);
    range::check_kept(reader, tenant, period.from, replay.created_at).await?;
    let (after, last) = range::bounds(reader, tenant, period).await?;
    (replay.position, replay.last_sequence, replay.reached_at) = (after, last, period.from);
    let search = Search::new(reader, webhook, asked, last);
    (replay.event_count, replay.is_counted) = search.count(after).await?;
    if replay.is_counted && replay.event_count == 0 {
        // There is nothing to send.
        replay.position = last;
    } else {
        replay.status = ReplayStatus::Running;
    }
    Ok(())
}

/// A replay that is not written yet.
#[derive(Clone)]
struct PlannedReplay {
    webhook: Webhook,
    replay: Replay,
    deliveries: Vec<Delivery>,
}

async fn write(
    tx: &mut Tx,
    app: &App,
    planned: &PlannedReplay,
    warnings: &[Value],
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let PlannedReplay { webhook, replay, deliveries } = planned;
    let now = replay.created_at;
    // It may have changed since it was read.
    let status = table::lock(tx, &webhook.tenant, &webhook.id).await?;
    input::check_active(status.ok_or_else(|| not_found("webhook"))?)?;
    if table::running(&mut *tx, &webhook.id).await? >= MAX_RUNNING {
        let message = format!(
            "the webhook has {MAX_RUNNING} replays under way, which is the most; wait until one has ended"
        );
        return Err(Refusal::new(Code::RateLimited, message).retry_after_s(WAIT_S).into());
    }
    check_room(tx, replay).await?;
    table::insert(tx, replay).await?;
    if !deliveries.is_empty() {
        deliveries::insert(tx, (&webhook.id, &webhook.tenant), deliveries, now).await?;
        jobs::enqueue(tx, &subscription::deliveries(webhook, Some(now)), now).await?;
    }
    if replay.position < replay.last_sequence {
        jobs::enqueue(tx, &job_of(replay, now), now).await?;
    }
    let mut rendered = json(replay)?;
    rendered["warnings"] = Value::from(warnings);
    let location = format!("/v1/webhooks/{}/replays/{}", webhook.id, replay.id);
    let answer = StoredResponse::accepted(rendered.to_string()).header("location", location);
    attempt.store(tx, &app.keyring, &answer, now).await?;
    Ok(answer)
}

/// Refuses a replay without room for its deliveries beside those that are waiting. Those of a range are written as room becomes free.
async fn check_room(tx: &mut Tx, replay: &Replay) -> Result<()> {
    let is_over = replay.status == ReplayStatus::Completed;
    if is_over || table::waiting(tx, &replay.webhook_id).await? + replay.written.max(1) <= MAX_WAITING_OF_ALL
    {
        return Ok(());
    }
    // Contract silent: how much may wait. It is answered like other momentary limits.
    let message = "at a webhook at most 100,000 deliveries of replays wait, and with this replay there would be more; wait until \
                   some of them have ended";
    Err(Refusal::new(Code::RateLimited, message).retry_after_s(WAIT_S).into())
}

/// The job that writes the deliveries of a range.
fn job_of(replay: &Replay, due_at: i64) -> NewJob<'_> {
    NewJob {
        kind: REPLAY.name,
        key: &replay.id,
        class: REPLAY.class,
        tenant: &replay.tenant,
        connection_id: None,
        target: "",
        due_at: Some(due_at),
        args: None,
    }
}

/// The state of a replay of a subscription.
pub async fn read(app: &App, key: &ApiKey, webhook_id: &str, id: &str) -> Result<StoredResponse> {
    let webhook = subscription::find(app, key, webhook_id).await?;
    if !ids::is_plausible(id) {
        return Err(not_found("replay"));
    }
    let found = table::find(app.db.reader(), &webhook.tenant, (&webhook.id, id)).await?;
    let replay = found.ok_or_else(|| not_found("replay"))?;
    Ok(StoredResponse::ok(json(&replay)?.to_string()))
}

/// At most `limit` replays of a subscription, newest first, each with its id: those before the replay with the id `before`.
pub async fn list(
    app: &App,
    key: &ApiKey,
    webhook_id: &str,
    before: Option<&str>,
    limit: i64,
) -> Result<Vec<(String, Value)>> {
    let webhook = subscription::find(app, key, webhook_id).await?;
    let place = (webhook.id.as_str(), before.unwrap_or(AFTER_ALL));
    let replays = table::list(app.db.reader(), &webhook.tenant, place, limit).await?;
    let mut rendered = Vec::with_capacity(replays.len());
    for replay in replays {
        let value = json(&replay)?;
        rendered.push((replay.id, value));
    }
    Ok(rendered)
}

fn json(r: &Replay) -> Result<Value> {
    let asked: NewWebhookReplay = serde_json::from_str(&r.filter)?;
    let from = asked.from.map_or(0, Instant::as_millis);
    let is_cut_short = r.status == ReplayStatus::Failed && r.position < r.last_sequence;
    let continue_from = is_cut_short.then(|| Instant::from_millis((r.reached_at - BACK_MS).max(from)));
    Ok(serde_json::to_value(WebhookReplay {
        replay_id: r.id.clone(),
        webhook_id: r.webhook_id.clone(),
        status: r.status,
        reason: r.reason,
        event_count: r.event_count,
        counted: r.is_counted,
        sent: r.sent,
        failed: r.failed,
        from: asked.from,
        to: asked.to,
        event_types: asked.event_types,
        only_failed: asked.only_failed,
        continue_from,
        created_by: r.key_id.clone(),
        created_at: Instant::from_millis(r.created_at),
        updated_at: Instant::from_millis(r.updated_at),
    })?)
}
