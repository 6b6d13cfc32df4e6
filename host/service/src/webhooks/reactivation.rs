//! Discards the pending deliveries of a disabled webhook before it is activated: the job that discards them may not have run yet, or be in
//! the middle of an attempt.

use base::error::{Code, Refusal, Result};
use base::tenant::Tenant;
use model::webhook::WebhookStatus;
use storage::Tx;
use storage::webhooks::{Webhook, deliveries, replays};

use crate::app::App;

/// Deliveries that one transaction discards.
const DISCARDS_PER_TRANSACTION: i64 = 500;
/// Most transactions of one request; beyond it the client is asked to retry, and the retry continues here.
const STEPS: usize = 200;
/// Time after which a retry makes sense, seconds.
const WAIT_S: u64 = 5;

/// Discards the pending deliveries of a disabled subscription. Fails if there are more than one request can discard.
pub async fn give_up(app: &App, webhook: &Webhook) -> Result<()> {
    for _ in 0..STEPS {
        let (id, tenant, now) = (webhook.id.clone(), webhook.tenant.clone(), app.now());
        let is_over: Result<bool> =
            app.db.write(move |tx| Box::pin(async move { step(tx, &tenant, &id, now).await })).await;
        if is_over? {
            return Ok(());
        }
    }
    let message = "what waited for the webhook is still being discarded; try again in a few seconds";
    Err(Refusal::new(Code::Overloaded, message).retry_after_s(WAIT_S).into())
}

/// Discards some of them, in the transaction of a change of the subscription or in a separate one. Returns true if none is left, or the
/// subscription is no longer disabled.
pub async fn step(tx: &mut Tx, tenant: &Tenant, id: &str, now: i64) -> Result<bool> {
    if replays::lock(tx, tenant, id).await? != Some(WebhookStatus::Disabled) {
        return Ok(true);
    }
    let discarded = deliveries::discard(tx, id, now, DISCARDS_PER_TRANSACTION).await?;
    Ok(i64::try_from(discarded).is_ok_and(|discarded| discarded < DISCARDS_PER_TRANSACTION))
}
