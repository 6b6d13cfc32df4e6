//! Webhooks in words: their names, their states and why, and what came of attempts.

use model::webhook::{Attempt, AttemptError, DeliveryStatus, DisabledReason, WebhookStatus};
use service::locale::html::Html;
use service::webhooks::view;
use storage::webhooks::Webhook;
use storage::webhooks::delivery_list::ListedDelivery;
use url::Url;

use crate::admin::parts::badge::{BadgeTone, badge};
use crate::admin::parts::head::short_name;
use crate::admin::parts::icon::PanelIcon;
use crate::admin::texts::{WebhookTexts, fill};
use crate::admin::visit::Visit;

/// The name of a webhook: the host of its URL.
pub fn host_of(webhook: &Webhook) -> String {
    let url = Url::parse(&webhook.url).ok();
    let host = url.as_ref().and_then(Url::host_str);
    short_name(host.unwrap_or(&webhook.url))
}

/// Adds the state of a webhook.
pub fn add_state(visit: &Visit, webhook: &Webhook, html: &mut Html) {
    let t = visit.texts.webhooks;
    let (tone, shape, word) = match view::status(webhook) {
        WebhookStatus::Active => (BadgeTone::Good, PanelIcon::Dot, t.active),
        WebhookStatus::Failing => (BadgeTone::Bad, PanelIcon::Cross, t.failing),
        WebhookStatus::Paused => (BadgeTone::Neutral, PanelIcon::Pause, t.paused),
        WebhookStatus::Disabled => (BadgeTone::Bad, PanelIcon::Ring, t.disabled),
    };
    badge(html, tone, shape, word);
}

/// Why a webhook is not active; none of one that is.
pub fn reason(visit: &Visit, webhook: &Webhook) -> Option<String> {
    let t = visit.texts.webhooks;
    match view::status(webhook) {
        WebhookStatus::Active => None,
        WebhookStatus::Paused => Some(t.paused_text.to_owned()),
        WebhookStatus::Failing => {
            let failure = webhook.last_failure.as_ref();
            let why = failure.map_or_else(
                || t.unknown.to_owned(),
                |failure| failure_words(t, failure.status, failure.error),
            );
            let n = webhook.consecutive_failures.to_string();
            Some(fill(t.failing_text, &[("n", &n), ("why", &why)]))
        }
        WebhookStatus::Disabled => {
            let text = match webhook.disabled_reason.unwrap_or_default() {
                DisabledReason::Manual => t.manual,
                DisabledReason::Gone410 => t.gone,
                DisabledReason::Failures5d => t.failures_5d,
                DisabledReason::KeyEnded => t.key_ended,
            };
            Some(text.to_owned())
        }
    }
}

/// Why an attempt failed: what the server answered, or why it could not be asked.
pub fn failure_words(t: &WebhookTexts, status: Option<i64>, error: Option<AttemptError>) -> String {
    let code = status.map(|status| status.to_string()).unwrap_or_default();
    let text = match error {
        Some(AttemptError::Dns) => t.dns,
        Some(AttemptError::Tls) => t.tls,
        Some(AttemptError::Connect) => t.connect,
        Some(AttemptError::Timeout) => t.timeout,
        Some(AttemptError::BlockedAddress) => t.blocked,
        Some(AttemptError::Redirect) => t.redirect,
        Some(AttemptError::Http) | None if status.is_some() => t.answered,
        Some(AttemptError::Http) | None => t.unknown,
    };
    fill(text, &[("status", &code)])
}

/// Words for the outcome of an attempt, with the time that it took.
pub fn outcome_words(t: &WebhookTexts, attempt: &Attempt) -> String {
    let ms = attempt.duration_ms.to_string();
    match (attempt.error, attempt.status_code) {
        (None, Some(status)) => fill(t.success, &[("status", &status.to_string()), ("ms", &ms)]),
        (error, status) => fill(t.failure, &[("why", &failure_words(t, status, error)), ("ms", &ms)]),
    }
}

/// Adds the state of a delivery.
pub fn add_delivery_state(t: &WebhookTexts, delivery: &ListedDelivery, html: &mut Html) {
    let (tone, shape, word) = match delivery.status {
        DeliveryStatus::Pending if delivery.attempts.is_empty() => {
            (BadgeTone::Neutral, PanelIcon::Clock, t.waits)
        }
        DeliveryStatus::Pending => (BadgeTone::Warn, PanelIcon::Half, t.will_retry),
        DeliveryStatus::Delivered => (BadgeTone::Good, PanelIcon::Check, t.delivered),
        DeliveryStatus::Failed => (BadgeTone::Bad, PanelIcon::Cross, t.failed),
        DeliveryStatus::Discarded => (BadgeTone::Neutral, PanelIcon::Ring, t.discarded),
    };
    badge(html, tone, shape, word);
}
