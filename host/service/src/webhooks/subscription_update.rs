//! Changes of a subscription: its fields, its status, and a new secret.

use base::error::{Result, not_found};
use base::input::merge_patch;
use base::input::validate::fault;
use model::webhook::{DisabledReason, WebhookStatus};
use serde_json::{Map, Value, json};
use storage::api_keys::ApiKey;
use storage::jobs;
use storage::webhooks::{Webhook, feeds};
use storage::{Tx, job_claims, log, webhooks as table};

use crate::app::App;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::webhooks::rights::ReachChange;
use crate::webhooks::subscription::{MAX_ATTEMPTS, deliveries, fill, load, too_busy};
use crate::webhooks::{ending, input, masking, reactivation, rights, secrets, view};
use crate::writes::etag::ExpectedEtag;

/// Fields that filter the events.
const FILTERS: [&str; 3] = ["eventTypes", "connectionIds", "includeBackfill"];

/// The effect of a change on the status of a subscription.
#[derive(Clone, Copy, PartialEq)]
enum StatusChange {
    /// No change, or one without an effect.
    None,
    /// Continues from where it was paused.
    Resumed,
    /// Starts from now on.
    Restarted,
    /// Discards pending deliveries.
    Stopped,
}

/// A change that is not written yet.
#[derive(Clone)]
struct PlannedSubscription {
    before: Webhook,
    after: Webhook,
    /// A new secret, to be shown once.
    secret: Option<String>,
    warnings: Vec<Value>,
    turn: StatusChange,
    has_other_filters: bool,
    /// Whether earlier failures of the endpoint are reset.
    is_forgiven: bool,
    /// The sequence number up to which log entries were deleted: the cursor skips them.
    floor: i64,
}

/// Changes a subscription, pauses, resumes or disables it, or rotates its secret.
pub async fn update(
    app: &App,
    key: &ApiKey,
    id: &str,
    (input, expected): (Map<String, Value>, ExpectedEtag),
    strict: bool,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let _one = app.locks.lock(&format!("webhook:{id}")).await;
    for _ in 0..MAX_ATTEMPTS {
        let before = load(app, key, id).await?;
        if let Some(key_id) = ended_key(app, &before) {
            // A client that activates it finds it disabled, and its pending deliveries discarded.
            ending::disable_ended(app, key_id).await?;
            continue;
        }
        expected.check(&before.etag)?;
        let planned = plan(app, key, before, input.clone(), strict).await?;
        if planned.turn == StatusChange::Restarted {
            reactivation::give_up(app, &planned.before).await?;
        }
        let (held, attempt) = (app.clone(), attempt.clone());
        let written: Result<Option<StoredResponse>> =
            app.db.write(move |tx| Box::pin(async move { write(tx, &held, planned, &attempt).await })).await;
        // None: another host changed it in the meantime, so the change is planned again on the current row.
        if let Some(answer) = written? {
            return Ok(answer);
        }
    }
    Err(too_busy())
}

/// The key of a subscription, if the key has ended and the subscription is not disabled yet.
fn ended_key<'w>(app: &App, w: &'w Webhook) -> Option<&'w str> {
    let has_ended = w.has_ended(app.now()) && w.status != WebhookStatus::Disabled;
    w.key_id.as_deref().filter(|_| has_ended)
}

async fn plan(
    app: &App,
    key: &ApiKey,
    before: Webhook,
    mut input: Map<String, Value>,
    strict: bool,
) -> Result<PlannedSubscription> {
    let options = input::options(&mut input)?;
    let (named, stored) = (rights::named_growth(&input), view::body(app, &before)?);
    let given_headers = masking::take_masked(&mut input, &stored.headers);
    let write = merge_patch::over(&stored, &view::json(app, &before)?, input, &[])?;
    let mut warnings = merge_patch::warnings(&write.unknown, strict)?;
    let is_new = |field: &str| write.changed.iter().any(|f| f == field);
    let turn = if is_new("status") { turn(before.status, write.body.status)? } else { StatusChange::None };
    let is_forgiven = is_new("url")
        || turn == StatusChange::Restarted
        || (is_new("status") && before.status == write.body.status);
    input::check(&write.body)?;
    let mut after = before.clone();
    let change = ReachChange {
        named,
        changed: &write.changed,
        event_types: &write.body.event_types,
        widens: rights::widens(&before, &write.body),
        is_revived: turn == StatusChange::Restarted && before.has_ended(app.now()),
    };
    rights::settle(&mut after, &change, key)?;
    warnings.extend((after.key_id != before.key_id).then(|| rights::end_warning(&after)).flatten());
    let has_other_filters = FILTERS.into_iter().any(is_new) || after.families != before.families;
    if is_new("connectionIds") {
        let bound_to = if before.bound_to.is_empty() { &key.connection_ids } else { &before.bound_to };
        input::check_connections(app, &key.tenant, &write.body.connection_ids, bound_to).await?;
    }
    if is_new("url") {
        warnings.extend(input::set_url(app, &mut after, &write.body.url).await?);
        if !masking::is_same_server(&before.url, &after.url) {
            masking::check_moved(&stored.headers, &given_headers, &write.body.headers)?;
        }
    }
    if is_new("headers") {
        secrets::set_headers(app, &mut after, &write.body.headers)?;
    }
    let given = write.body.secret.clone();
    let secret = match options.rotate_secret || given.is_some() {
        true => Some(secrets::rotate(app, &mut after, given, options.secret_grace_seconds)?),
        false => None,
    };
    if secret.is_none() && options.secret_grace_seconds == 0 {
        secrets::end_previous(app, &mut after)?;
    }
    let mut floor = 0;
    if turn == StatusChange::Resumed {
        floor = log::floor(app.db.reader(), &before.tenant).await?;
        warnings.extend((before.cursor < floor).then(|| missed_events_warning("status")));
    }
    fill(app, &mut after, write)?;
    if turn != StatusChange::None {
        after.disabled_reason = (turn == StatusChange::Stopped).then_some(DisabledReason::Manual);
    }
    if after != before || turn != StatusChange::None || is_forgiven {
        // Later than before on every clock, so that hosts that work on it notice the change.
        after.updated_at = app.now().max(before.updated_at + 1);
        after.etag = view::etag(&after);
    }
    Ok(PlannedSubscription { before, after, secret, warnings, turn, has_other_filters, is_forgiven, floor })
}

/// Returns the effect of setting the status.
fn turn(before: WebhookStatus, wanted: WebhookStatus) -> Result<StatusChange> {
    match (before, wanted) {
        (_, WebhookStatus::Failing) => Err(fault("status", "must be active, paused or disabled")),
        (_, WebhookStatus::Disabled) => Ok(StatusChange::Stopped),
        (WebhookStatus::Disabled, _) => Ok(StatusChange::Restarted),
        (WebhookStatus::Paused, _) => Ok(StatusChange::Resumed),
        _ => Ok(StatusChange::None),
    }
}

fn missed_events_warning(field: &str) -> Value {
    let message = "it was paused for longer than events are kept: the oldest of what it missed is not sent";
    json!({ "code": "events_missed", "message": message, "target": field, "field": field })
}

/// Writes a change and its answer; none if the subscription has changed since the change was planned.
async fn write(
    tx: &mut Tx,
    app: &App,
    planned: PlannedSubscription,
    attempt: &IdempotentAttempt,
) -> Result<Option<StoredResponse>> {
    let (before, after, now) = (&planned.before, &planned.after, app.now());
    let rests_anew = (&after.key_id, after.ends_at) != (&before.key_id, before.ends_at);
    if rests_anew {
        rights::hold_key(tx, after).await?;
    }
    if after != before {
        let looked_at = feeds::note_change(tx, &after.tenant).await?;
        if planned.turn == StatusChange::Restarted
            && !reactivation::step(tx, &after.tenant, &after.id, now).await?
        {
            return Ok(None);
        }
        if !table::update(tx, after, &before.etag).await? {
            return Ok(None);
        }
        if planned.has_other_filters && before.status == WebhookStatus::Active {
            table::settle(tx, &after.id, looked_at).await?;
        }
        match planned.turn {
            StatusChange::Resumed => table::resume(tx, &after.id, planned.floor).await?,
            StatusChange::Restarted => table::restart(tx, &after.id).await?,
            StatusChange::None | StatusChange::Stopped => {}
        }
        if planned.is_forgiven {
            table::forgive(tx, &after.id).await?;
            job_claims::begin_slow(tx, &format!("deliver:{}", after.id)).await?;
        }
        // Without ordering, no delivery waits for an earlier event any more.
        let lets_go = before.ordered && !after.ordered;
        if planned.turn != StatusChange::None || planned.is_forgiven || lets_go {
            jobs::enqueue(tx, &deliveries(after, Some(now)), now).await?;
        }
        if rests_anew {
            rights::schedule_end(tx, after, now).await?;
        }
    }
    let stored = table::find(&mut *tx, &after.tenant, &after.id).await?;
    let stored = stored.ok_or_else(|| not_found("webhook"))?;
    let text = view::written(app, &stored, planned.secret.as_deref(), &planned.warnings)?;
    let answer = StoredResponse::ok(text).etag(&stored.etag);
    attempt.store(tx, &app.keyring, &answer, now).await?;
    Ok(Some(answer))
}
