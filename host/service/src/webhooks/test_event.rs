//! Tests an endpoint: sends an event that only its subscription gets, and reports the result.

use std::time::Duration;

use base::error::{Error, Result, not_found};
use base::ids::Kind;
use model::webhook::DeliveryStatus;
use serde_json::json;
use storage::api_keys::ApiKey;
use storage::webhooks::deliveries::Delivery;
use storage::webhooks::delivery_list::{self, ListedDelivery};
use storage::webhooks::{Webhook, deliveries as table, replay_lines, replays};
use storage::{Tx, jobs};
use tokio::time::{Instant, sleep};

use crate::app::App;
use crate::app::event_log::{self, NewLogEntry, Origin};
use crate::app::stored_response::StoredResponse;
use crate::webhooks::{deliveries, input, notification_types, subscription};

/// Intervals at which the delivery is polled: at first, and later for a slow endpoint.
const SHORTEST_STEP: Duration = Duration::from_millis(20);
const LONGEST_STEP: Duration = Duration::from_millis(250);

/// Sends the event `webhook.test` to a subscription and waits for the first attempt. Returns the delivery, also if the attempt failed or
/// has not ended in time. The delivery is then retried like any other.
pub async fn send(app: &App, key: &ApiKey, webhook_id: &str) -> Result<StoredResponse> {
    let webhook = subscription::find(app, key, webhook_id).await?;
    input::check_active(webhook.status)?;
    let (held, id) = (app.clone(), webhook.id.clone());
    let sequence: Result<i64> =
        app.db.write(move |tx| Box::pin(async move { write(tx, &held, &webhook).await })).await;
    let delivery = first_attempt(app, &id, sequence?).await?;
    Ok(StoredResponse::ok(deliveries::json(&id, &delivery)?))
}

/// Writes the event with its delivery, which is due at once. Returns the sequence number of the event.
async fn write(tx: &mut Tx, app: &App, webhook: &Webhook) -> Result<i64> {
    let (tenant, now) = (&webhook.tenant, app.now());
    // The log before the webhook: the application's row is locked first.
    let sequence = event_log::append(tx, app, tenant, vec![log_entry(webhook)]).await?;
    let status = replays::lock(tx, tenant, &webhook.id).await?;
    input::check_active(status.ok_or_else(|| not_found("webhook"))?)?;
    let event = replay_lines::first_after(&mut *tx, tenant, sequence - 1).await?;
    let event =
        event.ok_or_else(|| Error::Internal(anyhow::anyhow!("the log has no line of the test event")))?;
    let delivery = Delivery {
        id: app.new_id(Kind::Delivery),
        sequence,
        replay_id: String::new(),
        event_id: event.line.id.clone(),
        // Contract silent: a test waits for no earlier one, also where the subscription is ordered. Who tests again has changed something.
        resource_id: event.line.id,
        status: DeliveryStatus::Pending,
        attempts: Vec::new(),
        next_attempt_at: Some(now),
    };
    table::insert(tx, (&webhook.id, tenant), &[delivery], now).await?;
    jobs::enqueue(tx, &subscription::deliveries(webhook, Some(now)), now).await?;
    Ok(sequence)
}

/// The log entry. The id of the webhook selects its receiver.
fn log_entry(webhook: &Webhook) -> NewLogEntry {
    NewLogEntry {
        connection_id: None,
        account_ids: None,
        entry_type: notification_types::TEST.to_owned(),
        change_type: "state",
        resource_type: "webhook",
        resource_id: webhook.id.clone(),
        parent_id: String::new(),
        changed_fields: None,
        etag: None,
        origin: Origin::Api,
        resource: Some(json!({ "id": webhook.id }).to_string()),
    }
}

/// The delivery after its first attempt, or in its current state at the timeout. Polls the row, because another host may make the attempt.
async fn first_attempt(app: &App, webhook_id: &str, sequence: i64) -> Result<ListedDelivery> {
    let began = Instant::now();
    loop {
        let found = delivery_list::find(app.db.reader(), webhook_id, sequence).await?;
        // The delivery was deleted with its subscription.
        let delivery = found.ok_or_else(|| not_found("webhook"))?;
        let is_tried = !delivery.attempts.is_empty() || delivery.status != DeliveryStatus::Pending;
        if is_tried || began.elapsed() >= app.config.webhook_test_wait {
            return Ok(delivery);
        }
        sleep((began.elapsed() / 8).clamp(SHORTEST_STEP, LONGEST_STEP)).await;
    }
}
