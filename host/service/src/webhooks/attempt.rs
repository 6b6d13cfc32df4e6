//! One attempt to deliver a notification: the check that it is still due, the request, and its result.

use std::collections::BTreeMap;

use anyhow::Context;
use base::error::Result;
use http::{HeaderMap, HeaderName, HeaderValue};
use model::Instant;
use model::webhook::{Attempt, AttemptError, DeliveryFailure, DeliveryStatus, PayloadMode};
use runtime::{Post, PostError, PostResponse};
use serde::Deserialize;
use storage::log::{self, Entry};
use storage::webhooks::deliveries::{self, Delivery, Endpoint, SubscriptionState};
use url::Url;

use crate::app::App;
use crate::webhooks::health::{self, AttemptEnd, HealthVerdict};
use crate::webhooks::notification_types::Matcher;
use crate::webhooks::{body_budget, payload, sign};

/// Most bytes of an answer that are stored.
const SNIPPET: usize = 1_024;

/// A subscription with decrypted secrets, as it was at `endpoint.updated_at`.
pub struct OpenSubscription {
    pub id: String,
    pub endpoint: Endpoint,
    /// The filters of this subscription alone.
    matcher: Matcher,
    url: Url,
    headers: HeaderMap,
    keys: sign::SigningKeys,
}

/// A previous secret, which signs beside the current one until a time (Unix ms).
#[derive(Deserialize)]
struct PreviousSecret {
    secret: String,
    until: i64,
}

impl OpenSubscription {
    /// Decrypts the secrets of a subscription. `matcher` holds its filters.
    pub fn open(app: &App, endpoint: Endpoint, matcher: Matcher) -> Result<OpenSubscription> {
        let id = endpoint.filters.id.clone();
        let opened = |column: &str, sealed: &str| {
            let text = app.keyring.open(&format!("webhooks.{column}:{id}"), sealed)?;
            String::from_utf8(text.to_vec()).context("a sealed column holds no text")
        };
        let mut secrets = vec![opened("secret", &endpoint.secret)?];
        let previous: Vec<PreviousSecret> =
            serde_json::from_str(&opened("previous_secrets", &endpoint.previous_secrets)?)?;
        secrets.extend(previous.into_iter().filter(|p| p.until > app.now()).map(|p| p.secret));
        let custom: BTreeMap<String, String> = serde_json::from_str(&opened("headers", &endpoint.headers)?)?;
        let signing_key = match &endpoint.signing_key {
            Some(sealed) => Some(opened("signing_key", sealed)?),
            None => None,
        };
        Ok(OpenSubscription {
            url: Url::parse(&endpoint.url).context("the URL of a subscription")?,
            headers: headers(&custom)?,
            keys: sign::SigningKeys::new(&secrets, signing_key.as_deref())?,
            matcher,
            id,
            endpoint,
        })
    }

    /// Whether the subscription is unchanged since it was opened.
    pub fn is_as(&self, standing: &SubscriptionState) -> bool {
        standing.status == self.endpoint.status && standing.updated_at == self.endpoint.updated_at
    }

    /// Whether the subscription's filters match this event.
    fn wants(&self, entry: &Entry) -> bool {
        self.matcher.matching(entry.into()).next().is_some()
    }
}

fn headers(custom: &BTreeMap<String, String>) -> anyhow::Result<HeaderMap> {
    let mut headers = HeaderMap::new();
    for (name, value) in custom {
        headers.insert(HeaderName::try_from(name)?, HeaderValue::try_from(value)?);
    }
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    headers
        .insert("user-agent", HeaderValue::from_static(concat!("Switchboard/", env!("CARGO_PKG_VERSION"))));
    Ok(headers)
}

/// An attempt and its delivery.
pub struct AttemptRecord {
    /// The delivery after the attempt.
    pub delivery: Delivery,
    pub outcome: AttemptOutcome,
}

/// The outcome of an attempt.
pub enum AttemptOutcome {
    /// The attempt was made, and is the last one in the delivery.
    Made(AttemptEnd),
    /// No request was sent, and the delivery is discarded: the log no longer has the event, or the subscription no longer matches it.
    Dropped,
    /// No request was sent, and the delivery is unchanged: the subscription was changed, paused, disabled or deleted since it was opened,
    /// or its key has ended.
    Superseded,
    /// No request was sent, and the delivery is unchanged: the budget for bodies in flight has no room for this one.
    Parked,
}

/// Sends a notification once, with the subscription's current settings, and adds the attempt to the delivery. Fails only if the database or
/// the decryption of a secret fails.
pub async fn attempt(app: &App, to: &OpenSubscription, mut delivery: Delivery) -> Result<AttemptRecord> {
    let (reader, tenant) = (app.db.reader(), &to.endpoint.tenant);
    let found = deliveries::standing_at(reader, (tenant, &to.id), delivery.sequence).await?;
    let may_be_sent = |standing: &SubscriptionState| to.is_as(standing) && !standing.has_ended(app.now());
    let Some((_, bytes)) = found.filter(|(standing, _)| may_be_sent(standing)) else {
        return Ok(AttemptRecord { delivery, outcome: AttemptOutcome::Superseded });
    };
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    let Some(mut room) = body_budget::take(&tenant.application_id, bytes) else {
        return Ok(AttemptRecord { delivery, outcome: AttemptOutcome::Parked });
    };
    let entry = log::resource_of(reader, tenant, delivery.sequence).await?;
    let Some(entry) = entry.filter(|entry| to.wants(entry)) else {
        delivery.status = DeliveryStatus::Discarded;
        delivery.next_attempt_at = None;
        return Ok(AttemptRecord { delivery, outcome: AttemptOutcome::Dropped });
    };
    let n = i64::try_from(delivery.attempts.len()).unwrap_or(i64::MAX) + 1;
    let began = app.now();
    let post = post(to, &delivery, &entry, n, began)?;
    // A hanging endpoint keeps this attempt open for long, so the rendered body is not held twice.
    drop(entry);
    room.shrink_to(post.body.len());
    let answer = app.runtime.post(post, app.config.webhook_deadline).await;
    drop(room);
    let ended = app.now();
    let verdict = health::classify(&answer, ended);
    let error = match verdict {
        HealthVerdict::Delivered => None,
        HealthVerdict::Gone => Some(AttemptError::Http),
        HealthVerdict::Failed { error, .. } => Some(error),
    };
    let (attempt, failure) = stored_attempt(answer, error, n, began, ended);
    delivery.attempts.push(attempt);
    let [random] = app.entropy.bytes::<1>();
    (delivery.status, delivery.next_attempt_at) = health::delivery_after(n, verdict, ended, random);
    Ok(AttemptRecord {
        delivery,
        outcome: AttemptOutcome::Made(AttemptEnd { began, ended, verdict, failure }),
    })
}

/// Builds the request of attempt `n`, which begins at this time (Unix ms).
fn post<'t>(
    to: &'t OpenSubscription,
    delivery: &Delivery,
    entry: &Entry,
    n: i64,
    began: i64,
) -> Result<Post<'t>> {
    let tenant = &to.endpoint.tenant;
    let mode = if to.endpoint.payload_mode == "thin" { PayloadMode::Thin } else { PayloadMode::Full };
    let body = payload::render(entry, tenant, mode, 1);
    let at_s = began.div_euclid(1_000);
    let mut headers = to.headers.clone();
    headers.insert("webhook-id", HeaderValue::try_from(&entry.id).context("an id")?);
    headers.insert("webhook-timestamp", HeaderValue::from(at_s));
    headers.insert("webhook-signature", sign::signatures(&to.keys, &entry.id, at_s, &body));
    headers.insert("webhook-attempt", HeaderValue::from(n));
    if !delivery.replay_id.is_empty() {
        headers.insert("webhook-replay", HeaderValue::try_from(&delivery.replay_id).context("an id")?);
    }
    Ok(Post { tenant: &tenant.application_id, url: &to.url, headers, body })
}

/// Returns the stored form of an attempt, and of its failure as JSON of a `DeliveryFailure`. `error`: the reason of the failure.
fn stored_attempt(
    answer: Result<PostResponse, PostError>,
    error: Option<AttemptError>,
    n: i64,
    began: i64,
    ended: i64,
) -> (Attempt, Option<String>) {
    let posted = answer.ok();
    let status_code = posted.as_ref().map(|posted| i64::from(posted.status));
    let failure = error.map(|error| {
        let at = Some(Instant::from_millis(ended));
        storage::json_text(&DeliveryFailure { status: status_code, error: Some(error), at })
    });
    let attempt = Attempt {
        n,
        at: Instant::from_millis(began),
        status_code,
        error,
        // The clock may have been set back in between.
        duration_ms: (ended - began).max(0),
        response_snippet: error.and(posted).map(|posted| snippet(&posted.snippet)),
    };
    (attempt, failure)
}

/// The beginning of an answer, as text.
fn snippet(bytes: &[u8]) -> String {
    let mut text = String::from_utf8_lossy(bytes).into_owned();
    text.truncate(text.floor_char_boundary(SNIPPET));
    // PostgreSQL takes no zero bytes in texts.
    text.replace('\0', "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_an_answer_the_beginning_is_kept_as_text() {
        assert_eq!(snippet(b"no \xffsuch\0 thing"), "no \u{fffd}such\u{fffd} thing");
        assert_eq!(snippet("ü".repeat(1_000).as_bytes()).len(), SNIPPET);
        let long = snippet(format!("x{}", "ü".repeat(1_000)).as_bytes());
        assert_eq!(long.len(), SNIPPET - 1);
    }
}
