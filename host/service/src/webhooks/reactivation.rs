//! A webhook that was disabled is activated: what waited for it is given up before. The job that discards it may not have had its turn yet,
//! or be in the middle of an attempt.

use base::error::{Code, Refusal, Result};
use base::tenant::Tenant;
use model::webhook::WebhookStatus;
use storage::Tx;
use storage::webhooks::{Webhook, deliveries, replays};

use crate::app::App;

/// Deliveries that one transaction gives up.
const STEP: i64 = 500;
/// Most transactions of one request: then its sender is asked to come again, and goes on where this one stopped.
const STEPS: usize = 200;
/// After this time it is worth to ask again, seconds.
const WAIT_S: u64 = 5;

/// Gives up what waits for a subscription that is disabled. Fails where that is more than one request can give up.
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

/// Gives up some of it, in the transaction of a change of the subscription or in one of its own. True: nothing is left, or the subscription
/// is not disabled any more.
pub async fn step(tx: &mut Tx, tenant: &Tenant, id: &str, now: i64) -> Result<bool> {
    if replays::lock(tx, tenant, id).await? != Some(WebhookStatus::Disabled) {
        return Ok(true);
    }
    let discarded = deliveries::discard(tx, id, now, STEP).await?;
    Ok(i64::try_from(discarded).is_ok_and(|discarded| discarded < STEP))
}
