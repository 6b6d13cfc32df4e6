//! Replays: events that were sent before, or were missed, are sent to a subscription once more.

use std::collections::BTreeSet;

use base::error::{Code, Detail, Refusal, Result, invalid, not_found, refuse};
use base::ids::{self, Kind};
use base::input::validate;
use model::Instant;
use model::webhook::{DeliveryStatus, NewWebhookReplay, ReplayStatus, WebhookReplay, WebhookStatus};
use serde_json::{Value, json};
use storage::api_keys::ApiKey;
use storage::log::{self, Light};
use storage::webhooks::Webhook;
use storage::webhooks::deliveries::{self, Delivery};
use storage::webhooks::replays::{self as table, Replay};
use storage::{Tx, jobs};

use crate::answer::{Answer, Attempt};
use crate::app::App;
use crate::webhooks::kinds::{Matcher, Wanted};
use crate::webhooks::{input, subscription};

/// Most events of one replay.
const MAX_EVENTS: usize = 1_000;
/// Most replays of a subscription that are under way at a time.
const MAX_RUNNING: i64 = 100;
/// After this time it is worth to ask again, seconds.
const WAIT_S: u64 = 60;
/// Most events that an answer tells one by one.
const MAX_TOLD: usize = 100;
/// What is said of an event that is not there, was forgotten, or is not the caller's.
const UNKNOWN: &str = "is no event of this application that is still kept; events are kept for 30 days";

/// Sends events to a subscription once more: those of them that it wants as it is now. They are sent by the job that sends it everything,
/// in the order of the log, each with its own id.
pub async fn start(
    app: &App,
    key: &ApiKey,
    webhook_id: &str,
    (asked, mut warnings): (NewWebhookReplay, Vec<Value>),
    attempt: &Attempt,
) -> Result<Answer> {
    let webhook = subscription::find(app, key, webhook_id).await?;
    check(&asked.event_ids)?;
    check_active(webhook.status)?;
    let mut events = find_events(app, key, &asked.event_ids).await?;
    let matcher = Matcher::new(&[wanted(&webhook)]);
    let mut others = BTreeSet::new();
    events.retain(|event| {
        let connection_id = event.connection_id.as_deref();
        let mut takers =
            matcher.matching(&event.entry_type, connection_id, &event.origin, &event.resource_id);
        let is_wanted = takers.next().is_some();
        if !is_wanted {
            others.insert(event.id.clone());
        }
        is_wanted
    });
    warnings.extend(skipped(&asked.event_ids, &others));
    let planned = plan(app, key, webhook, (&asked, events));
    let (held, attempt) = (app.clone(), attempt.clone());
    app.db
        .write(move |tx| Box::pin(async move { write(tx, &held, (&planned, &warnings), &attempt).await }))
        .await
}

/// Checks everything that can be told from the ids alone.
fn check(event_ids: &[String]) -> Result<()> {
    if event_ids.is_empty() {
        let message = "eventIds is required: the ids of 1 to 1,000 events, as in the webhook-id header";
        return Err(invalid(Code::MissingField, "eventIds", message));
    }
    validate::length("eventIds", event_ids.len(), MAX_EVENTS)?;
    input::each_once("eventIds", event_ids)
}

fn check_active(status: WebhookStatus) -> Result<()> {
    let word = match status {
        WebhookStatus::Paused => "paused",
        WebhookStatus::Disabled => "disabled",
        WebhookStatus::Active | WebhookStatus::Failing => return Ok(()),
    };
    let message =
        format!("the webhook is {word}, so that nothing is sent to it; set its status to active first");
    Err(refuse(Code::InvalidState, message))
}

/// The place of an id in the request.
fn place(n: usize) -> String {
    format!("eventIds[{n}]")
}

/// The lines of the log with these ids, in their order. Refuses ids of which the caller may know nothing.
async fn find_events(app: &App, key: &ApiKey, event_ids: &[String]) -> Result<Vec<Light>> {
    let plausible: Vec<String> = event_ids.iter().filter(|id| ids::is_plausible(id)).cloned().collect();
    let mut found = log::by_ids(app.db.reader(), &key.tenant, &plausible).await?;
    found.retain(|event| {
        let is_its_own = |id: &String| key.connection_ids.contains(id);
        key.connection_ids.is_empty() || event.connection_id.as_ref().is_some_and(is_its_own)
    });
    let known: BTreeSet<&str> = found.iter().map(|event| event.id.as_str()).collect();
    let is_unknown = |n: &usize| event_ids.get(*n).is_some_and(|id| !known.contains(id.as_str()));
    let unknown: Vec<usize> = (0..event_ids.len()).filter(is_unknown).collect();
    let Some(first) = unknown.first() else { return Ok(found) };
    let mut refusal =
        Refusal::new(Code::InvalidParameter, format!("{} {UNKNOWN}", place(*first))).param(place(*first));
    let detail =
        |n: &usize| Detail { field: place(*n), code: Code::InvalidParameter, message: UNKNOWN.to_owned() };
    refusal.details = unknown.iter().take(MAX_TOLD).map(detail).collect();
    Err(refusal.into())
}

/// What the subscription wants, as the matcher takes it.
fn wanted(w: &Webhook) -> Wanted {
    Wanted {
        id: w.id.clone(),
        event_types: w.event_types.clone(),
        connection_ids: w.connection_ids.clone(),
        bound_to: w.bound_to.clone(),
        families: w.families.clone(),
        include_backfill: w.include_backfill,
    }
}

/// A warning for each event that is left out.
fn skipped(event_ids: &[String], others: &BTreeSet<String>) -> Vec<Value> {
    let places = event_ids.iter().enumerate().filter(|(_, id)| others.contains(*id));
    let warning = |(n, _): (usize, &String)| {
        let field = place(n);
        let message = format!("{field} is not sent: the webhook does not ask for events such as this one");
        json!({ "code": "event_skipped", "message": message, "target": field, "field": field })
    };
    places.take(MAX_TOLD).map(warning).collect()
}

/// A replay that is not written yet.
#[derive(Clone)]
struct Planned {
    webhook: Webhook,
    replay: Replay,
    deliveries: Vec<Delivery>,
}

fn plan(
    app: &App,
    key: &ApiKey,
    webhook: Webhook,
    (asked, events): (&NewWebhookReplay, Vec<Light>),
) -> Planned {
    let now = app.now();
    let event_count = i64::try_from(events.len()).unwrap_or(i64::MAX);
    let replay = Replay {
        id: app.new_id(Kind::Replay),
        webhook_id: webhook.id.clone(),
        tenant: webhook.tenant.clone(),
        key_id: key.id.clone(),
        filter: storage::json_text(asked),
        event_count,
        last_sequence: events.last().map_or(0, |event| event.sequence),
        sent: 0,
        failed: 0,
        status: if event_count == 0 { ReplayStatus::Completed } else { ReplayStatus::Running },
        created_at: now,
        updated_at: now,
    };
    // All of them are due, each a millisecond later than the one before: they are begun in the order of the log.
    let deliveries = (now - event_count..).zip(events).map(|(due_at, event)| Delivery {
        id: app.new_id(Kind::Delivery),
        sequence: event.sequence,
        replay_id: replay.id.clone(),
        event_id: event.id,
        resource_id: event.resource_id,
        status: DeliveryStatus::Pending,
        attempts: Vec::new(),
        next_attempt_at: Some(due_at),
    });
    Planned { deliveries: deliveries.collect(), webhook, replay }
}

async fn write(
    tx: &mut Tx,
    app: &App,
    (planned, warnings): (&Planned, &[Value]),
    attempt: &Attempt,
) -> Result<Answer> {
    let Planned { webhook, replay, deliveries } = planned;
    let now = replay.created_at;
    // It may have been changed since it was looked at.
    let status = table::lock(tx, &webhook.tenant, &webhook.id).await?;
    check_active(status.ok_or_else(|| not_found("webhook"))?)?;
    if table::running(&mut *tx, &webhook.id).await? >= MAX_RUNNING {
        let message = format!(
            "the webhook has {MAX_RUNNING} replays under way, which is the most; wait until one has ended"
        );
        return Err(Refusal::new(Code::RateLimited, message).retry_after_s(WAIT_S).into());
    }
    table::insert(tx, replay).await?;
    if !deliveries.is_empty() {
        deliveries::insert(tx, (&webhook.id, &webhook.tenant), deliveries, now).await?;
        jobs::enqueue(tx, &subscription::deliveries(webhook, Some(now)), now).await?;
    }
    let mut printed = json(replay)?;
    printed["warnings"] = Value::from(warnings);
    let location = format!("/v1/webhooks/{}/replays/{}", webhook.id, replay.id);
    let answer = Answer::accepted(printed.to_string()).header("location", location);
    attempt.store(tx, &app.keyring, &answer, now).await?;
    Ok(answer)
}

/// How a replay of a subscription stands.
pub async fn read(app: &App, key: &ApiKey, webhook_id: &str, id: &str) -> Result<Answer> {
    let webhook = subscription::find(app, key, webhook_id).await?;
    if !ids::is_plausible(id) {
        return Err(not_found("replay"));
    }
    let found = table::find(app.db.reader(), &webhook.tenant, (&webhook.id, id)).await?;
    let replay = found.ok_or_else(|| not_found("replay"))?;
    Ok(Answer::ok(json(&replay)?.to_string()))
}

fn json(r: &Replay) -> Result<Value> {
    Ok(serde_json::to_value(WebhookReplay {
        replay_id: r.id.clone(),
        webhook_id: r.webhook_id.clone(),
        status: r.status,
        event_count: r.event_count,
        sent: r.sent,
        failed: r.failed,
        created_at: Instant::from_millis(r.created_at),
        updated_at: Instant::from_millis(r.updated_at),
    })?)
}
