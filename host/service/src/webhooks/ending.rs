//! The job kind `webhook_key`: disables subscriptions whose API key or access token has ended. Nothing is sent to them from the end of the
//! key on (`attempt`): the job reports this to their owner and discards pending deliveries.

use base::error::{Code, Error, Result, refuse};
use base::tenant::Tenant;
use serde_json::json;
use storage::jobs::{self, NewJob};
use storage::key_revocations;
use storage::wakes::JobClass;
use storage::webhooks::feeds;
use storage::webhooks::keys::{self, EndedWebhook};

use crate::app::App;
use crate::app::event_log::{self, NewLogEntry, Origin};
use crate::job_runner::kind::{JobEnd, JobKind, JobRun, RetryDelay};

/// The job kind; a job's key is the id of the API key.
pub const END: JobKind = JobKind {
    name: keys::JOB,
    class: JobClass::Upkeep,
    deadline_ms: Some(60_000),
    max_attempts: None,
    retry: RetryDelay { first_ms: 1_000, longest_ms: 5 * 60_000 },
    run: |turn| Box::pin(run(turn)),
};

/// The `disabledReason` of such a subscription.
const REASON: &str = "key_ended";
/// Subscriptions that one transaction disables.
const WEBHOOKS_PER_TRANSACTION: i64 = 100;

async fn run(turn: &JobRun) -> Result<JobEnd> {
    let (app, key_id) = (&turn.app, turn.job.key());
    disable_ended(app, key_id).await?;
    Ok(keys::next_end(app.db.reader(), key_id).await?.map_or(JobEnd::Done, JobEnd::At))
}

/// Disables the subscriptions of a key that has ended. If the key has expired and another key has the same rights, they are bound to that
/// one instead.
pub async fn disable_ended(app: &App, key_id: &str) -> Result<()> {
    let (reader, mut after) = (app.db.reader(), String::new());
    let mut found = keys::ended(reader, key_id, &after, app.now(), WEBHOOKS_PER_TRANSACTION).await?;
    if !found.is_empty() {
        let (id, now) = (key_id.to_owned(), app.now());
        let passed: Result<()> = app
            .db
            .write(move |tx| {
                Box::pin(async move { Ok(key_revocations::pass_on_expired(tx, &id, now).await?) })
            })
            .await;
        passed?;
        found = keys::ended(reader, key_id, &after, app.now(), WEBHOOKS_PER_TRANSACTION).await?;
    }
    while let Some(last) = found.last() {
        after = last.id.clone();
        disable(app, found).await?;
        found = keys::ended(reader, key_id, &after, app.now(), WEBHOOKS_PER_TRANSACTION).await?;
    }
    Ok(())
}

/// Disables subscriptions of one application, with an event for each. Fails if another host changes one of them at the same time.
async fn disable(app: &App, ended: Vec<EndedWebhook>) -> Result<()> {
    let Some(tenant) = ended.first().map(|webhook| webhook.tenant.clone()) else { return Ok(()) };
    let held = app.clone();
    app.db
        .write(move |tx| {
            Box::pin(async move {
                let now = held.now();
                // The log before the subscriptions: the application's row is locked first.
                let notes = ended.iter().map(|webhook| disabled_event(&webhook.id, REASON)).collect();
                event_log::append(tx, &held, &tenant, notes).await?;
                feeds::note_change(tx, &tenant).await?;
                let ids: Vec<String> = ended.iter().map(|webhook| webhook.id.clone()).collect();
                let etag = format!("\"{now:x}{}\"", hex::encode(held.entropy.bytes::<2>()));
                if keys::disable(tx, &ids, &etag, now).await? != ids.len() {
                    return Err(refuse(
                        Code::Overloaded,
                        "the webhook is being changed all the time; try again",
                    ));
                }
                let new: Vec<NewJob<'_>> =
                    ended.iter().map(|webhook| deliveries(webhook, &tenant, now)).collect();
                jobs::enqueue_all(tx, &new, now).await?;
                for webhook in &ended {
                    tracing::info!(webhook = %webhook.id, reason = REASON, "a webhook is disabled");
                }
                Ok::<_, Error>(())
            })
        })
        .await
}

/// The delivery job of a subscription, which discards its pending deliveries.
fn deliveries<'a>(webhook: &'a EndedWebhook, tenant: &'a Tenant, now: i64) -> NewJob<'a> {
    NewJob {
        kind: "deliver",
        key: &webhook.id,
        class: JobClass::Deliver,
        tenant,
        connection_id: None,
        target: &webhook.target,
        due_at: Some(now),
        args: None,
    }
}

/// The event about a subscription that the service disabled.
pub fn disabled_event(webhook_id: &str, reason: &str) -> NewLogEntry {
    NewLogEntry {
        connection_id: None,
        account_ids: None,
        entry_type: "webhook.disabled".to_owned(),
        change_type: "state",
        resource_type: "webhook",
        resource_id: webhook_id.to_owned(),
        parent_id: String::new(),
        changed_fields: None,
        etag: None,
        origin: Origin::System,
        resource: Some(json!({ "id": webhook_id, "disabledReason": reason }).to_string()),
    }
}
