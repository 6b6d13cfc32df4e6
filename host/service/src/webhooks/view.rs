//! The API's representation of a subscription.

use base::error::Result;
use model::Instant;
use model::resource::Resource;
use model::webhook::{WebhookStatus, WebhookSubscription};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use storage::webhooks::Webhook;

use crate::app::App;
use crate::webhooks::health::PROBING_AFTER;
use crate::webhooks::masking::MASK;
use crate::webhooks::secrets;

/// The etag of a subscription: it changes with everything that its owner changes, not with the state of deliveries.
pub fn etag(w: &Webhook) -> String {
    let seen = json!([
        w.url,
        w.description,
        w.metadata,
        w.event_types,
        w.connection_ids,
        w.families,
        w.key_id,
        w.payload_mode,
        w.ordered,
        w.include_backfill,
        w.signatures,
        w.headers,
        w.secret,
        w.public_key,
        w.max_per_second,
        w.max_concurrent,
        w.status,
        w.disabled_reason,
        w.created_at
    ]);
    let hash = Sha256::digest(seen.to_string());
    format!("\"{}\"", hex::encode(&hash[..8]))
}

/// The status for clients: one whose endpoint is being probed is `failing`.
pub fn status(w: &Webhook) -> WebhookStatus {
    match w.status {
        WebhookStatus::Active if w.consecutive_failures >= PROBING_AFTER => WebhookStatus::Failing,
        status => status,
    }
}

/// The fields of the model without the secret, but with the header values: for changes, not to be shown.
pub fn body(app: &App, w: &Webhook) -> Result<WebhookSubscription> {
    Ok(WebhookSubscription {
        url: w.url.clone(),
        event_types: w.event_types.clone(),
        connection_ids: w.connection_ids.clone(),
        description: w.description.clone(),
        status: status(w),
        disabled_reason: w.disabled_reason,
        key_id: w.key_id.clone(),
        payload_mode: w.payload_mode,
        ordered: w.ordered,
        include_backfill: w.include_backfill,
        signatures: w.signatures.clone(),
        secret: None,
        public_key: w.public_key.clone(),
        headers: secrets::headers(app, w)?,
        max_per_second: w.max_per_second,
        max_concurrent: w.max_concurrent,
        last_success_at: w.last_success_at.map(Instant::from_millis),
        last_failure_at: w.last_failure_at.map(Instant::from_millis),
        last_failure: w.last_failure.clone(),
        consecutive_failures: w.consecutive_failures,
        cursor: w.cursor,
    })
}

/// All fields as they are shown: without the secret, and without the header values.
pub fn json(app: &App, w: &Webhook) -> Result<Value> {
    let mut body = body(app, w)?;
    for value in body.headers.values_mut() {
        MASK.clone_into(value);
    }
    Ok(serde_json::to_value(Resource {
        id: w.id.clone(),
        etag: w.etag.clone(),
        created_at: Instant::from_millis(w.created_at),
        updated_at: Instant::from_millis(w.updated_at),
        metadata: w.metadata.clone(),
        body,
        ..Resource::default()
    })?)
}

/// The answer to a write, with the secret if it is shown this once.
pub fn written(app: &App, w: &Webhook, secret: Option<&str>, warnings: &[Value]) -> Result<String> {
    let mut printed = json(app, w)?;
    if let Some(secret) = secret {
        printed["secret"] = secret.into();
    }
    printed["warnings"] = Value::from(warnings);
    Ok(printed.to_string())
}
