//! Acts on webhooks that have no other place for their entry in the audit log.

use base::error::Result;
use base::tenant::Tenant;
use storage::webhooks::Webhook;

use crate::app::App;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::manage::acting::{self, Target};
use crate::manage::actor::Actor;
use crate::webhooks::test_event;

/// How long before its first failure is known an event may have happened, ms: events are sent within seconds, and an attempt takes 15 at most.
const BEFORE_FAILURE_MS: i64 = 60_000;

/// The time from which on events may not have arrived at a webhook: shortly before the first of its failures in a row; where these count no more
/// because it was resumed after it had been disabled, the last success before them. None: it did not fail, or has succeeded since.
pub fn broken_since(webhook: &Webhook) -> Option<i64> {
    if let Some(at) = webhook.first_failure_at {
        return Some(at.saturating_sub(BEFORE_FAILURE_MS));
    }
    let failed_at = webhook.last_failure_at?;
    let worked_at = webhook.last_success_at.unwrap_or(webhook.created_at);
    (failed_at > worked_at).then_some(worked_at)
}

/// Sends a test to a webhook and waits for its first attempt; the answer is the delivery.
///
/// # Errors
/// `not_found`; `invalid_state` while nothing is sent to it; those of the database.
pub async fn send_test(
    app: &App,
    actor: &Actor,
    tenant: &Tenant,
    id: &str,
    claimed: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let answer = test_event::send(app, &acting::key(actor, tenant), id).await?;
    let target = Target::application(tenant, id);
    let attempt = acting::attempt(app, actor, "webhook_tested", &target, Some(claimed));
    let (held, stored, now) = (app.clone(), answer.clone(), app.now());
    let written: Result<()> = app
        .db
        .write(move |tx| {
            Box::pin(async move {
                attempt.store(tx, &held.keyring, &stored, now).await?;
                Ok(())
            })
        })
        .await;
    written?;
    Ok(answer)
}
