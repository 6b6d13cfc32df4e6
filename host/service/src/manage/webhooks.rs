//! Acts on webhooks that have no other place for their entry in the audit log.

use base::error::Result;
use base::tenant::Tenant;

use crate::app::App;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::manage::acting::{self, Target};
use crate::manage::actor::Actor;
use crate::webhooks::test_event;

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
