//! Subscriptions to notifications: made, changed and deleted, each with its jobs and its idempotent answer in one transaction.

use std::collections::BTreeMap;

use base::error::{Code, Error, Result, not_found, refuse};
use base::ids::{self, Kind};
use base::input::merge_patch::{self, Write};
use base::input::validate::fault;
use model::webhook::{DisabledReason, PayloadMode, WebhookStatus, WebhookSubscription};
use serde_json::{Map, Value};
use storage::api_keys::ApiKey;
use storage::jobs::{self, NewJob};
use storage::wakes::JobClass;
use storage::webhooks::{Webhook, feeds};
use storage::{Tx, job_claims, webhooks as table};

use crate::app::App;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::webhooks::{input, rights, secrets, view};
use crate::writes::etag::ExpectedEtag;

/// Most subscriptions of an application.
const MAX: i64 = 10_000;
/// How often a change is tried again that another one came before.
pub const MAX_ATTEMPTS: usize = 5;

/// Whether the key sees a subscription: a key that is bound to connections sees the subscriptions that get events of these connections
/// only.
fn may_see(key: &ApiKey, w: &Webhook) -> bool {
    let is_within = || w.bound_to.iter().all(|id| key.connection_ids.contains(id));
    key.connection_ids.is_empty() || (!w.bound_to.is_empty() && is_within())
}

/// A subscription that the key sees, as it is shown.
pub async fn find(app: &App, key: &ApiKey, id: &str) -> Result<Webhook> {
    Ok(as_of(app.now(), load(app, key, id).await?))
}

/// A subscription that the key sees, as it is stored.
pub async fn load(app: &App, key: &ApiKey, id: &str) -> Result<Webhook> {
    if !ids::is_plausible(id) {
        return Err(not_found("webhook"));
    }
    let found = table::find(app.db.reader(), &key.tenant, id).await?;
    found.filter(|w| may_see(key, w)).ok_or_else(|| not_found("webhook"))
}

/// The subscription at this time: once its key has ended it is disabled, also before the job has stored that.
fn as_of(now: i64, w: Webhook) -> Webhook {
    if !w.has_ended(now) || w.status == WebhookStatus::Disabled {
        return w;
    }
    let disabled_reason = Some(DisabledReason::KeyEnded);
    Webhook { status: WebhookStatus::Disabled, disabled_reason, ..w }
}

/// At most `limit` subscriptions that the key sees, in the order of their ids, after an id.
pub async fn list(app: &App, key: &ApiKey, after_id: &str, limit: usize) -> Result<Vec<Webhook>> {
    let rows_at_a_time = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut found = Vec::new();
    let mut after = after_id.to_owned();
    while found.len() < limit {
        let rows = table::list(app.db.reader(), &key.tenant, &after, rows_at_a_time).await?;
        let is_last = rows.len() < limit;
        after = rows.last().map_or(after, |w| w.id.clone());
        found.extend(rows.into_iter().filter(|w| may_see(key, w)).map(|w| as_of(app.now(), w)));
        if is_last {
            break;
        }
    }
    found.truncate(limit);
    Ok(found)
}

/// Makes a subscription. Everything that comes into the log after it is matched against it.
pub async fn create(
    app: &App,
    key: &ApiKey,
    mut input: Map<String, Value>,
    strict: bool,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    // Nothing is there to be rotated.
    input::options(&mut input)?;
    let write = merge_patch::over(&WebhookSubscription::default(), &Value::Null, input, &[])?;
    let mut warnings = merge_patch::warnings(&write.unknown, strict)?;
    input::check(&write.body)?;
    if !matches!(write.body.status, WebhookStatus::Active | WebhookStatus::Paused) {
        return Err(fault("status", "must be active or paused"));
    }
    input::check_scopes(&write.body.event_types, key)?;
    input::check_connections(app, &key.tenant, &write.body.connection_ids, &key.connection_ids).await?;
    let mut new = empty(app, key);
    warnings.extend(input::set_url(app, &mut new, &write.body.url).await?);
    let secret = secrets::begin(app, &mut new, write.body.secret.clone())?;
    secrets::set_headers(app, &mut new, &write.body.headers)?;
    fill(app, &mut new, write)?;
    rights::rest_on(&mut new, key);
    warnings.extend(rights::end_warning(&new));
    new.etag = view::etag(&new);
    let (held, attempt) = (app.clone(), attempt.clone());
    app.db
        .write(move |tx| Box::pin(async move { insert(tx, &held, new, &secret, &warnings, &attempt).await }))
        .await
}

/// A subscription before anything is known of it but whose it is.
fn empty(app: &App, key: &ApiKey) -> Webhook {
    let now = app.now();
    Webhook {
        id: app.new_id(Kind::Webhook),
        tenant: key.tenant.clone(),
        url: String::new(),
        target: String::new(),
        description: None,
        metadata: BTreeMap::new(),
        event_types: Vec::new(),
        connection_ids: Vec::new(),
        bound_to: key.connection_ids.clone(),
        families: input::families(key),
        key_id: None,
        ends_at: None,
        payload_mode: PayloadMode::default(),
        ordered: false,
        include_backfill: false,
        signatures: Vec::new(),
        headers: String::new(),
        secret: String::new(),
        previous_secrets: String::new(),
        signing_key: None,
        public_key: None,
        max_per_second: None,
        max_concurrent: 0,
        status: WebhookStatus::Active,
        disabled_reason: None,
        cursor: 0,
        consecutive_failures: 0,
        first_failure_at: None,
        last_success_at: None,
        last_failure_at: None,
        last_failure: None,
        etag: String::new(),
        created_at: now,
        updated_at: now,
    }
}

/// Copies the fields of a write into a subscription, except URL, secret and headers.
pub fn fill(app: &App, w: &mut Webhook, write: Write<WebhookSubscription>) -> Result<()> {
    let body = write.body;
    w.description = body.description;
    w.metadata = write.metadata.unwrap_or_else(|| w.metadata.clone());
    w.event_types = body.event_types;
    w.connection_ids = body.connection_ids;
    w.payload_mode = body.payload_mode;
    w.ordered = body.ordered;
    w.include_backfill = body.include_backfill;
    w.signatures = body.signatures;
    w.max_per_second = body.max_per_second;
    w.max_concurrent = body.max_concurrent;
    if body.status != WebhookStatus::Failing {
        w.status = body.status;
        w.disabled_reason = body.disabled_reason;
    }
    secrets::set_key_pair(app, w)
}

async fn insert(
    tx: &mut Tx,
    app: &App,
    mut new: Webhook,
    secret: &str,
    warnings: &[Value],
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let now = app.now();
    rights::hold_key(tx, &new).await?;
    feeds::note_change(tx, &new.tenant).await?;
    if table::count(&mut *tx, &new.tenant).await? >= MAX {
        let message = format!("the application has {MAX} webhooks, which is the most; delete one first");
        return Err(refuse(Code::InvalidState, message));
    }
    new.cursor = table::insert(tx, &new).await?;
    // They wait for the first event.
    jobs::enqueue(tx, &deliveries(&new, None), now).await?;
    job_claims::begin_slow(tx, &format!("deliver:{}", new.id)).await?;
    let fanout =
        NewJob { kind: "fanout", key: &new.tenant.application_id, target: "", ..deliveries(&new, None) };
    jobs::enqueue(tx, &fanout, now).await?;
    rights::schedule_end(tx, &new, now).await?;
    let answer = StoredResponse::created(view::written(app, &new, Some(secret), warnings)?)
        .etag(&new.etag)
        .header("location", format!("/v1/webhooks/{}", new.id));
    attempt.store(tx, &app.keyring, &answer, now).await?;
    Ok(answer)
}

/// The job that delivers to a subscription.
pub fn deliveries(w: &Webhook, due_at: Option<i64>) -> NewJob<'_> {
    NewJob {
        kind: "deliver",
        key: &w.id,
        class: JobClass::Deliver,
        tenant: &w.tenant,
        connection_id: None,
        target: &w.target,
        due_at,
        args: None,
    }
}

/// Deletes a subscription: attempts under way are no longer recorded, and nothing more is sent.
pub async fn delete(
    app: &App,
    key: &ApiKey,
    id: &str,
    expected: ExpectedEtag,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let _one = app.locks.lock(&format!("webhook:{id}")).await;
    for _ in 0..MAX_ATTEMPTS {
        let before = find(app, key, id).await?;
        expected.check(&before.etag)?;
        let (held, attempt, now) = (app.clone(), attempt.clone(), app.now());
        let deleted: Result<Option<StoredResponse>> = app
            .db
            .write(move |tx| {
                Box::pin(async move {
                    feeds::note_change(tx, &before.tenant).await?;
                    if !table::delete(tx, &before.tenant, (&before.id, &before.etag), now).await? {
                        return Ok(None);
                    }
                    jobs::remove(tx, &format!("deliver:{}", before.id)).await?;
                    let answer = StoredResponse::no_content();
                    attempt.store(tx, &held.keyring, &answer, now).await?;
                    Ok(Some(answer))
                })
            })
            .await;
        if let Some(answer) = deleted? {
            return Ok(answer);
        }
    }
    Err(too_busy())
}

/// The refusal of a change before which other changes came each time.
pub fn too_busy() -> Error {
    refuse(Code::Overloaded, "the webhook is being changed all the time; try again")
}
