//! One attempt to deliver a notification: the request, what its answer means, and when the next attempt is.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Context;
use base::error::Result;
use http::{HeaderMap, HeaderName, HeaderValue};
use model::Instant;
use model::webhook::{Attempt, AttemptError, DeliveryFailure, DeliveryStatus, PayloadMode};
use runtime::{Post, PostError, Posted};
use serde::Deserialize;
use storage::log;
use storage::webhooks::deliveries::{Delivery, Endpoint, Health};
use url::Url;

use crate::app::App;
use crate::webhooks::{payload, sign};

/// An attempt takes no longer than this: lookup, connection, request and the head of the answer.
const DEADLINE: Duration = Duration::from_secs(15);
/// The waits after the first failed attempt, after the second, and so on, in ms: 12 attempts in 83.6 hours.
const WAITS_MS: [i64; 11] = [
    5_000,
    5 * MINUTE_MS,
    30 * MINUTE_MS,
    2 * HOUR_MS,
    5 * HOUR_MS,
    10 * HOUR_MS,
    10 * HOUR_MS,
    14 * HOUR_MS,
    14 * HOUR_MS,
    14 * HOUR_MS,
    14 * HOUR_MS,
];
const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
/// An endpoint is left alone no longer than this for one answer.
const LONGEST_RETRY_AFTER_MS: i64 = 24 * HOUR_MS;
/// Most bytes that are kept of an answer.
const SNIPPET: usize = 1_024;
/// After so many failures in a row an endpoint is probed: one attempt, then a pause.
pub const PROBING_AFTER: i64 = 10;
const FIRST_PROBE_MS: i64 = 30_000;
const FIRST_OVERLOAD_MS: i64 = 60_000;
const LONGEST_PAUSE_MS: i64 = 15 * MINUTE_MS;
/// An endpoint that only failed for so long is disabled.
const FAILING_FOR_MS: i64 = 5 * 24 * HOUR_MS;
/// But not before it had so many chances.
const FEWEST_FAILURES: i64 = 3;

/// A subscription with its secrets open.
pub struct OpenSubscription {
    pub id: String,
    pub endpoint: Endpoint,
    url: Url,
    headers: HeaderMap,
    keys: sign::SigningKeys,
}

/// A secret that signs beside the present one until a time, in ms since 1970.
#[derive(Deserialize)]
struct Previous {
    secret: String,
    until: i64,
}

impl OpenSubscription {
    /// Opens the secrets of a subscription.
    pub fn open(app: &App, endpoint: Endpoint) -> Result<OpenSubscription> {
        let id = endpoint.filters.id.clone();
        let opened = |column: &str, sealed: &str| {
            let text = app.keyring.open(&format!("webhooks.{column}:{id}"), sealed)?;
            String::from_utf8(text.to_vec()).context("a sealed column holds no text")
        };
        let mut secrets = vec![opened("secret", &endpoint.secret)?];
        let previous: Vec<Previous> =
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
            id,
            endpoint,
        })
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

/// What an answer means, or that there was none.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    Delivered,
    /// The endpoint is gone for good.
    Gone,
    /// To be tried again.
    Failed {
        error: AttemptError,
        pause: Pause,
    },
}

/// For how long the endpoint wants to be left alone.
#[derive(Clone, Debug, PartialEq)]
pub enum Pause {
    None,
    /// As the endpoint said: seconds or an HTTP date.
    Asked(String),
    /// It is overloaded, and did not say.
    Overloaded,
}

/// What an answer means, or that there was none.
pub fn classify(answer: &Result<Posted, PostError>) -> Verdict {
    let posted = match answer {
        Ok(posted) => posted,
        Err(e) => {
            let error = match e {
                PostError::Dns => AttemptError::Dns,
                PostError::Connect => AttemptError::Connect,
                PostError::Tls => AttemptError::Tls,
                PostError::Timeout => AttemptError::Timeout,
                PostError::BlockedAddress => AttemptError::BlockedAddress,
                PostError::Http(_) => AttemptError::Http,
            };
            return Verdict::Failed { error, pause: Pause::None };
        }
    };
    let failed = |error, pause| Verdict::Failed { error, pause };
    match (posted.status, &posted.retry_after) {
        (200..=299, _) => Verdict::Delivered,
        (410, _) => Verdict::Gone,
        (429 | 503, Some(asked)) => failed(AttemptError::Http, Pause::Asked(asked.clone())),
        (429 | 502 | 503 | 504, _) => failed(AttemptError::Http, Pause::Overloaded),
        (300..=399, _) => failed(AttemptError::Redirect, Pause::None),
        _ => failed(AttemptError::Http, Pause::None),
    }
}

/// When an endpoint that said `Retry-After` may be asked again, in ms since 1970: seconds, or a date (RFC 9110, section 10.2.3). None: it is
/// neither.
pub fn retry_at(asked: &str, now: i64) -> Option<i64> {
    let asked = asked.trim();
    let at = match asked.parse::<i64>() {
        Ok(seconds) => now.saturating_add(seconds.max(0).saturating_mul(1_000)),
        Err(_) => jiff::fmt::rfc2822::parse(asked).ok()?.timestamp().as_millisecond(),
    };
    Some(at.clamp(now, now + LONGEST_RETRY_AFTER_MS))
}

/// When the attempt after the failed one with this number, from 1, is due; none: there is none. `random` makes it up to a fifth later, so
/// that deliveries that failed together do not come back together.
pub fn next_attempt_at(n: i64, now: i64, random: u8) -> Option<i64> {
    let wait = WAITS_MS.get(usize::try_from(n - 1).ok()?)?;
    Some(now + wait + wait / 5 * i64::from(random) / i64::from(u8::MAX))
}

/// How an endpoint stands after an attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct After {
    pub health: Health,
    /// Why it is disabled: `gone_410` or `failures_5d`.
    pub disabled: Option<&'static str>,
}

/// How an endpoint stands after an attempt that ended `now`.
pub fn after(health: &Health, (verdict, failure): (&Verdict, Option<String>), now: i64) -> After {
    let (error, pause) = match verdict {
        Verdict::Delivered => {
            let health = Health {
                not_before: None,
                first_failure_at: None,
                consecutive_failures: 0,
                last_success_at: Some(now),
                ..health.clone()
            };
            return After { health, disabled: None };
        }
        Verdict::Gone => (AttemptError::Http, &Pause::None),
        Verdict::Failed { error, pause } => (*error, pause),
    };
    let failures = health.consecutive_failures + 1;
    let first_failure_at = health.first_failure_at.unwrap_or(now);
    let asked = match pause {
        Pause::None => None,
        Pause::Asked(text) => retry_at(text, now).or(Some(now + FIRST_OVERLOAD_MS)),
        Pause::Overloaded => Some(now + doubled(FIRST_OVERLOAD_MS, failures - 1)),
    };
    let probe = (failures >= PROBING_AFTER).then(|| now + doubled(FIRST_PROBE_MS, failures - PROBING_AFTER));
    tracing::debug!(?error, failures, "a notification was not delivered");
    let disabled = match verdict {
        Verdict::Gone => Some("gone_410"),
        _ if failures >= FEWEST_FAILURES && now - first_failure_at >= FAILING_FOR_MS => Some("failures_5d"),
        _ => None,
    };
    let health = Health {
        // Of attempts that ran together one may ask for less than another.
        not_before: health.not_before.max(asked).max(probe),
        first_failure_at: Some(first_failure_at),
        consecutive_failures: failures,
        last_success_at: health.last_success_at,
        last_failure_at: Some(now),
        last_failure: failure,
    };
    After { health, disabled }
}

fn doubled(first_ms: i64, times: i64) -> i64 {
    first_ms.saturating_mul(1 << times.clamp(0, 20)).min(LONGEST_PAUSE_MS)
}

/// What one attempt came to.
pub struct AttemptOutcome {
    /// The delivery with the attempt.
    pub delivery: Delivery,
    /// None: the log does not have the event any more, and nothing was sent.
    pub verdict: Option<Verdict>,
    /// JSON of a `DeliveryFailure`, where it failed.
    pub failure: Option<String>,
}

/// Sends a notification once, and adds the attempt to the delivery. Fails only where the database or a secret of ours does.
pub async fn attempt(app: &App, to: &OpenSubscription, mut delivery: Delivery) -> Result<AttemptOutcome> {
    let tenant = &to.endpoint.tenant;
    let Some(entry) = log::resource_of(app.db.reader(), tenant, delivery.sequence).await? else {
        delivery.status = DeliveryStatus::Discarded;
        delivery.next_attempt_at = None;
        return Ok(AttemptOutcome { delivery, verdict: None, failure: None });
    };
    let mode = if to.endpoint.payload_mode == "thin" { PayloadMode::Thin } else { PayloadMode::Full };
    let body = payload::render(&entry, tenant, mode, 1);
    let n = i64::try_from(delivery.attempts.len()).unwrap_or(i64::MAX) + 1;
    let began = app.now();
    let at_s = began.div_euclid(1_000);
    let mut headers = to.headers.clone();
    headers.insert("webhook-id", HeaderValue::try_from(&entry.id).context("an id")?);
    headers.insert("webhook-timestamp", HeaderValue::from(at_s));
    headers.insert("webhook-signature", sign::signatures(&to.keys, &entry.id, at_s, &body));
    headers.insert("webhook-attempt", HeaderValue::from(n));
    if !delivery.replay_id.is_empty() {
        headers.insert("webhook-replay", HeaderValue::try_from(&delivery.replay_id).context("an id")?);
    }
    let post = Post { tenant: &tenant.application_id, url: &to.url, headers, body };
    let answer = app.runtime.post(post, DEADLINE).await;
    let ended = app.now();
    let verdict = classify(&answer);
    let error = match &verdict {
        Verdict::Delivered => None,
        Verdict::Gone => Some(AttemptError::Http),
        Verdict::Failed { error, .. } => Some(*error),
    };
    let posted = answer.ok();
    let status_code = posted.as_ref().map(|posted| i64::from(posted.status));
    let failure = error.map(|error| {
        let at = Some(Instant::from_millis(ended));
        storage::json_text(&DeliveryFailure { status: status_code, error: Some(error), at })
    });
    delivery.attempts.push(Attempt {
        n,
        at: Instant::from_millis(began),
        status_code,
        error,
        duration_ms: ended - began,
        response_snippet: error.and(posted).map(|posted| snippet(&posted.snippet)),
    });
    let [random] = app.entropy.bytes::<1>();
    (delivery.status, delivery.next_attempt_at) = match &verdict {
        Verdict::Delivered => (DeliveryStatus::Delivered, None),
        Verdict::Gone => (DeliveryStatus::Discarded, None),
        Verdict::Failed { pause, .. } => match next_attempt_at(n, ended, random) {
            Some(at) => {
                let asked = if let Pause::Asked(text) = pause { retry_at(text, ended) } else { None };
                (DeliveryStatus::Pending, Some(at.max(asked.unwrap_or(at))))
            }
            None => (DeliveryStatus::Failed, None),
        },
    };
    Ok(AttemptOutcome { delivery, verdict: Some(verdict), failure })
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

    fn answer(status: u16, retry_after: Option<&str>) -> Result<Posted, PostError> {
        Ok(Posted { status, retry_after: retry_after.map(str::to_owned), snippet: Vec::new() })
    }

    #[test]
    fn an_answer_has_one_meaning() {
        let failed = |error, pause| Verdict::Failed { error, pause };
        let asked = Pause::Asked("7".to_owned());
        assert_eq!(classify(&answer(204, None)), Verdict::Delivered);
        assert_eq!(classify(&answer(410, None)), Verdict::Gone);
        assert_eq!(classify(&answer(429, Some("7"))), failed(AttemptError::Http, asked));
        assert_eq!(classify(&answer(504, None)), failed(AttemptError::Http, Pause::Overloaded));
        assert_eq!(classify(&answer(302, None)), failed(AttemptError::Redirect, Pause::None));
        assert_eq!(classify(&answer(500, Some("7"))), failed(AttemptError::Http, Pause::None));
        let refused = failed(AttemptError::BlockedAddress, Pause::None);
        assert_eq!(classify(&Err(PostError::BlockedAddress)), refused);
    }

    #[test]
    fn twelve_attempts_take_more_than_eighty_hours() {
        let mut now = 0;
        for n in 1..12 {
            now = next_attempt_at(n, now, 0).unwrap();
        }
        assert!((80 * HOUR_MS..84 * HOUR_MS).contains(&now), "{now}");
        assert_eq!(next_attempt_at(12, now, 0), None);
        assert_eq!(next_attempt_at(1, 0, u8::MAX), Some(6_000));
    }

    #[test]
    fn retry_after_is_seconds_or_a_date_and_at_most_a_day() {
        assert_eq!(retry_at("120", 1_000), Some(121_000));
        assert_eq!(retry_at("999999999", 0), Some(24 * HOUR_MS));
        assert_eq!(retry_at("Thu, 01 Jan 1970 00:01:00 GMT", 0), Some(60_000));
        assert_eq!(retry_at("soon", 0), None);
    }

    #[test]
    fn an_endpoint_that_fails_is_probed_and_then_disabled() {
        let failed = Verdict::Failed { error: AttemptError::Connect, pause: Pause::None };
        let mut health = Health::default();
        for now in 1..10 {
            health = after(&health, (&failed, None), now).health;
        }
        assert_eq!((health.consecutive_failures, health.not_before), (9, None));
        health = after(&health, (&failed, None), 10).health;
        assert_eq!(health.not_before, Some(10 + FIRST_PROBE_MS));
        let late = after(&health, (&failed, None), FAILING_FOR_MS + 1);
        assert_eq!(late.disabled, Some("failures_5d"));
        let well = after(&late.health, (&Verdict::Delivered, None), FAILING_FOR_MS + 2);
        assert_eq!(
            (well.health.consecutive_failures, well.health.not_before, well.disabled),
            (0, None, None)
        );
    }
}
