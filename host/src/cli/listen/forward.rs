//! Forwards events from `listen` to the user's program: signed and posted like deliveries to webhooks.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use base::clock::Clock;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use runtime::{OperatorClient, PostError};
use service::webhooks::sign::{self, SigningKeys};
use url::Url;

use crate::cli::refusal::failure;
use crate::cli::server_options;

/// Most attempts to post an event.
const MAX_TRIES: i64 = 3;
/// The wait after the first failed attempt; doubled after each.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// Time limit of an attempt: lookup, connection, request and the head of the answer.
const DEADLINE: Duration = Duration::from_secs(15);
/// The status of an endpoint that is gone for good.
const GONE: u16 = 410;

/// The target of forwarded events, with its signing keys.
pub struct Forward {
    client: OperatorClient,
    url: Url,
    keys: SigningKeys,
    clock: Clock,
}

/// The result of forwarding an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForwardResult {
    /// The status of the last answer, or the kind of the failure: dns, connect, tls, timeout or http.
    pub status: String,
    pub is_delivered: bool,
    /// Attempts, from 1.
    pub tries: i64,
    /// Duration of the last attempt.
    pub took: Duration,
}

impl Forward {
    /// `secret` is `whsec_…`; the error gives the required form.
    pub fn new(client: OperatorClient, url: Url, secret: &str) -> Result<Forward> {
        sign::parse_secret(secret).map_err(|why| {
            failure(format!("the secret {why}"), "leave the secret out to have one generated")
        })?;
        let keys = SigningKeys::new(&[secret.to_owned()], None)?;
        Ok(Forward { client, url, keys, clock: Clock::system() })
    }

    /// Posts an event until the answer is 2xx or 410, at most three times. `body` is sent as it is.
    pub async fn send(&self, event_id: &str, body: &Bytes) -> Result<ForwardResult> {
        let mut wait = FIRST_WAIT;
        let mut n = 1;
        loop {
            let headers = self.headers(event_id, n, body)?;
            let began = Instant::now();
            let answer = self.client.post(&self.url, headers, body.clone(), DEADLINE).await;
            let took = began.elapsed();
            let is_delivered = matches!(answer, Ok(200..=299));
            if is_delivered || n == MAX_TRIES || answer == Ok(GONE) {
                let status = answer.map_or_else(|error| kind(&error).to_owned(), |status| status.to_string());
                return Ok(ForwardResult { status, is_delivered, tries: n, took });
            }
            tokio::time::sleep(wait).await;
            wait *= 2;
            n += 1;
        }
    }

    /// The headers of one attempt; its time is signed, so each attempt has its own.
    fn headers(&self, event_id: &str, n: i64, body: &[u8]) -> Result<HeaderMap> {
        let at_s = self.clock.now_ms().div_euclid(1_000);
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        headers.insert("user-agent", HeaderValue::from_static(server_options::USER_AGENT));
        headers
            .insert("webhook-id", HeaderValue::try_from(event_id).context("the id of an event is no text")?);
        headers.insert("webhook-timestamp", HeaderValue::from(at_s));
        headers.insert("webhook-signature", sign::signatures(&self.keys, event_id, at_s, body));
        headers.insert("webhook-attempt", HeaderValue::from(n));
        Ok(headers)
    }
}

/// The name of a failure, as in the attempts of a delivery.
fn kind(error: &PostError) -> &'static str {
    match error {
        PostError::Dns => "dns",
        PostError::Connect => "connect",
        PostError::Tls => "tls",
        PostError::Timeout => "timeout",
        PostError::BlockedAddress => "blocked_address",
        PostError::Http(_) => "http",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_that_is_none_is_refused() {
        let client = OperatorClient::new(&[]).unwrap();
        let url = Url::parse("http://127.0.0.1:9/").unwrap();
        let refused = |secret: &str| match Forward::new(client.clone(), url.clone(), secret) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        };
        assert_eq!(refused("hunter2"), "the secret must begin with \"whsec_\"");
        assert_eq!(refused("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), "");
    }

    #[test]
    fn each_try_is_signed_anew() {
        let client = OperatorClient::new(&[]).unwrap();
        let url = Url::parse("http://127.0.0.1:9/").unwrap();
        let forward = Forward::new(client, url, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let headers = forward.headers("ev_1", 2, b"{}").unwrap();
        let at_s: i64 = headers["webhook-timestamp"].to_str().unwrap().parse().unwrap();
        assert_eq!(headers["webhook-signature"], sign::signatures(&forward.keys, "ev_1", at_s, b"{}"));
        assert_eq!(headers["webhook-attempt"], "2");
        assert_eq!(headers["webhook-id"], "ev_1");
    }
}
