//! One attempt at a request: it waits for the limits of its account and of the host, is sent, and its answer's `Retry-After` is
//! recorded.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use http::StatusCode;
use http::header::RETRY_AFTER;
use http_body_util::BodyExt;

use crate::bindings::http::Err;
use crate::manifest::RateLimit;
use crate::outbound::exchange::{CheckedRequest, ProviderResponse};
use crate::outbound::failures::{explain, is_unprocessed};
use crate::outbound::pace::{PacePass, PaceRequest};
use crate::outbound::{CallEgress, Secret, refused};

/// How often a request that the provider has not processed is sent again.
pub(super) const REPEATS: usize = 2;
/// The end of a request's time that is not spent on waiting for the account's limits, so that the guest gets the refusal and not
/// a timeout.
const REFUSAL_MARGIN: Duration = Duration::from_millis(500);

impl CallEgress {
    /// Sends a request once and waits for the head of the answer.
    pub(super) async fn attempt(
        &self,
        p: &CheckedRequest,
        secret: Option<&Secret>,
    ) -> Result<ProviderResponse, Err> {
        let rate = self.pacing.limits.bucket(&p.permit.url);
        let pass = self.enter(p, rate).await?;
        let bucket = rate.map_or("", |rate| rate.name.as_str());
        let _turn = self.shared.total.acquire().await;
        self.meter.note_request(bucket);
        let answered = match &self.shared.transport {
            None => self.over_network(p, secret).await,
            Some(transport) => self.carried(&**transport, p, secret).await,
        };
        if !answered.as_ref().is_ok_and(|response| !is_failure(response.status())) {
            self.meter.failed.fetch_add(1, Ordering::Relaxed);
        }
        let mut response = answered?;
        self.note_retry_after(bucket, &response);
        if let Some(pass) = pass {
            // The request counts as in flight until its answer was read.
            response.extensions_mut().insert(Arc::new(pass));
        }
        tracing::debug!(
            connector = &*self.connector,
            method = %p.method,
            host = p.permit.url.host_str().unwrap_or(""),
            status = response.status().as_u16(),
            "provider answered"
        );
        Ok(response)
    }

    /// Waits until the limits of the account allow the request. None: it is not counted, like long-lived answers.
    async fn enter(&self, p: &CheckedRequest, bucket: Option<&RateLimit>) -> Result<Option<PacePass>, Err> {
        let limits = &self.pacing.limits;
        let Some(until) = p.until.filter(|_| bucket.is_some() || limits.concurrent.is_some()) else {
            return Ok(None);
        };
        let left = until.saturating_duration_since(Instant::now());
        let request = PaceRequest {
            account: &self.connection,
            bucket,
            units: p.wishes.units,
            used: self.meter.used_units(bucket.map_or("", |rate| rate.name.as_str())),
            within: left.saturating_sub(REFUSAL_MARGIN.min(left / 10)),
        };
        let is_hopeless = self.pacing.is_background && request.is_hopeless();
        match self.shared.paces.enter(request, &self.pacing).await {
            Ok(pass) => {
                if let Some(rate) = bucket {
                    self.meter.note_units(&rate.name, p.wishes.units);
                }
                Ok(Some(pass))
            }
            Err(refusal) => {
                // A background call that needs more units than it may use has failed: if it were deferred, it would restart for
                // ever.
                if !is_hopeless {
                    self.meter.note_held(refusal.wait_ms);
                }
                let message = "the provider's limits leave no room for another request of this account now";
                let retry_after_ms = Some(u32::try_from(refusal.wait_ms).unwrap_or(u32::MAX));
                Err(Err { retry_after_ms, ..refused("unavailable", message) })
            }
        }
    }

    /// Sends it to the provider itself.
    pub(super) async fn over_network(
        &self,
        p: &CheckedRequest,
        secret: Option<&Secret>,
    ) -> Result<ProviderResponse, Err> {
        let client = match p.until {
            None => self.shared.clients.lasting(&self.tenant),
            Some(_) => self.shared.clients.get(&self.tenant, &self.connector),
        };
        let mut repeats = 0..REPEATS;
        loop {
            let sent = p.sent(secret)?;
            let answered = match &p.target {
                Some(target) if target.is_confidential => client.send_secret(sent).await,
                _ => client.send(sent).await,
            };
            match answered {
                Ok(response) => return Ok(response.map(BodyExt::boxed_unsync)),
                Err(error) if is_unprocessed(&error) && repeats.next().is_some() => {}
                Err(error) => return Err(explain(&error)),
            }
        }
    }

    fn note_retry_after(&self, bucket: &str, response: &ProviderResponse) {
        // With other statuses `Retry-After` has another meaning, such as when a moved resource may be requested (RFC 9110 section
        // 10.2.3).
        let asks_to_wait =
            response.status() == StatusCode::TOO_MANY_REQUESTS || response.status().is_server_error();
        let value = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        if let Some(value) = value.filter(|_| asks_to_wait) {
            self.meter.note_retry_after(bucket, value);
        }
    }
}

/// Whether the status means that the provider could not process the request now. 507 is not among them: with it a server reports
/// that it truncates a list (RFC 6578, section 3.6).
fn is_failure(status: StatusCode) -> bool {
    matches!(status.as_u16(), 429 | 500 | 502 | 503 | 504)
}
