//! One exchange with a provider: permit, credentials, send, at most one retry after a refresh, a bounded read of the answer.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::StreamExt;
use http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{Method, Request, Response, StatusCode, Uri};
use http_body_util::BodyExt;

use crate::bindings::http::{BlobInfo, Err, Req, Res};
use crate::extra::{self, RequestWishes};
use crate::outbound::body::{ClientBody, Decode, RequestBody, decode_json};
use crate::outbound::failures::{explain, unusable};
use crate::outbound::policy::{Permit, Refusal};
use crate::outbound::redirect::RedirectTarget;
use crate::outbound::transport::AnswerBody;
use crate::outbound::{CallEgress, CredentialsError, Secret, headers, refused};

/// Bytes of a body that are searched for credentials at a time, on its way to a blob.
const REDACTED: usize = 256 << 10;

/// The provider's answer, its body not yet read.
pub(super) type ProviderResponse = Response<AnswerBody>;

/// A consumer of answers: returns the body to the guest, or stores it in a blob.
trait Reading: Send {
    type Read: Send;

    fn read(
        self,
        egress: &CallEgress,
        answer: ProviderResponse,
    ) -> impl Future<Output = Result<Self::Read, Err>> + Send;
}

/// Returns the body to the guest.
struct Whole {
    max: u64,
}

impl Reading for Whole {
    type Read = Res;

    async fn read(self, egress: &CallEgress, answer: ProviderResponse) -> Result<Res, Err> {
        egress.read(answer, self.max).await
    }
}

/// Stores the body in a blob.
struct ToBlob {
    decode: Decode,
    max: u64,
}

impl Reading for ToBlob {
    type Read = BlobInfo;

    async fn read(self, egress: &CallEgress, answer: ProviderResponse) -> Result<BlobInfo, Err> {
        egress.read_to_blob(answer, &self.decode, self.max).await
    }
}

/// A checked request that can be sent again.
pub(super) struct CheckedRequest {
    pub(super) method: Method,
    uri: Uri,
    pub(super) permit: Permit,
    /// The server that the request is sent to in place of the one in its URL.
    pub(super) target: Option<RedirectTarget>,
    headers: HeaderMap,
    body: RequestBody,
    /// The end of the time for the request. None: its answer is long-lived, on its own connection.
    pub(super) until: Option<Instant>,
    pub(super) wishes: RequestWishes,
}

impl CheckedRequest {
    /// The request as it is sent, with these credentials.
    pub(super) fn request(&self, secret: Option<&Secret>) -> Result<Request<ClientBody>, Err> {
        let body = self.body.to_client().map_err(|_| refused("unavailable", "the host lost a blob"))?;
        let mut request = Request::new(body);
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = self.headers.clone();
        if let Some(secret) = secret {
            let mut value = HeaderValue::from_str(secret.expose())
                .map_err(|_| refused("auth-expired", "the connection has no usable credentials"))?;
            value.set_sensitive(true);
            request.headers_mut().insert(AUTHORIZATION, value);
        }
        Ok(request)
    }

    /// The same as it is sent over the network.
    pub(super) fn sent(&self, secret: Option<&Secret>) -> Result<Request<ClientBody>, Err> {
        let mut request = self.request(secret)?;
        if let Some(target) = &self.target {
            target.apply(&mut request);
        }
        Ok(request)
    }
}

impl CallEgress {
    pub(super) async fn send(self: Arc<Self>, r: Req) -> Result<Res, Err> {
        self.send_within(r, Duration::MAX).await
    }

    /// Sends the request. `head` is the time limit for the head of the answer.
    pub(super) async fn send_within(self: Arc<Self>, r: Req, head: Duration) -> Result<Res, Err> {
        let max = r.max_bytes.map_or(u64::MAX, u64::from).min(self.shared.limits.http_response_bytes);
        self.timed(r, head, Whole { max }).await
    }

    pub(super) async fn send_many(self: Arc<Self>, rs: Vec<Req>, at_once: u8) -> Vec<Result<Res, Err>> {
        let at_once = usize::from(at_once).clamp(1, self.shared.limits.http_concurrent);
        futures::stream::iter(rs).map(|r| self.clone().send(r)).buffered(at_once).collect().await
    }

    pub(super) async fn send_to_blob(
        self: Arc<Self>,
        r: Req,
        decode: &str,
        max: u64,
    ) -> Result<BlobInfo, Err> {
        let decode = Decode::parse(decode).ok_or_else(|| {
            refused(
                "invalid",
                "decode: write \"raw\", \"json-base64:/pointer\" or \"json-base64url:/pointer\"",
            )
        })?;
        let max = max.min(self.shared.limits.blob_bytes);
        self.timed(r, Duration::MAX, ToBlob { decode, max }).await
    }

    /// Sends and reads within the time of the request, of the host and of the call.
    async fn timed<R: Reading>(&self, r: Req, head: Duration, reading: R) -> Result<R::Read, Err> {
        let late = || refused("timeout", "the provider did not answer in time");
        let host = Duration::from_millis(self.shared.limits.http_timeout_ms);
        let own = r.timeout_ms.map_or(host, |ms| Duration::from_millis(ms.into()));
        let _waiting = self.meter.waiting();
        // `http` itself never has more in flight than this; of `wasi:http` a guest may start any number.
        let _turn = self.turns.acquire().await;
        let time = own.min(host).min(self.remaining());
        let until = Instant::now() + time.min(head);
        let work = async {
            let response =
                tokio::time::timeout(head, self.exchange(r, Some(until))).await.map_err(|_| late())??;
            reading.read(self, response).await
        };
        tokio::time::timeout(time, work).await.unwrap_or_else(|_| Err(late()))
    }

    /// Sends a request with a long-lived answer, on its own connection, and waits for the head of the answer. The caller
    /// sets the time.
    pub(super) async fn open(&self, r: Req) -> Result<ProviderResponse, Err> {
        let _waiting = self.meter.waiting();
        self.exchange(r, None).await
    }

    async fn exchange(&self, r: Req, until: Option<Instant>) -> Result<ProviderResponse, Err> {
        let auth_is_named = r.auth.is_some();
        let prepared = CheckedRequest { until, ..self.prepare(r)? };
        let slot = prepared.permit.slot.as_deref();
        // Once per call: a second renewal would return the same credentials as the first.
        let is_renewed = slot.is_some()
            && prepared.wishes.has_renewed_token
            && !self.meter.has_renewed.swap(true, Ordering::Relaxed);
        let fresh = match slot {
            Some(slot) if is_renewed => self.secret(self.credentials.refreshed(slot).await, slot)?,
            _ => None,
        };
        let secret = match slot {
            Some(slot) if fresh.is_none() => self.secret(self.credentials.authorization(slot).await, slot)?,
            _ => fresh,
        };
        if slot.is_some() && secret.is_none() && auth_is_named {
            return Err(refused("auth-expired", "the connection has no credentials in this slot"));
        }
        let response = self.attempt(&prepared, secret.as_ref()).await?;
        // If the credentials were renewed on request, the connector reads the 401 itself.
        if response.status() != StatusCode::UNAUTHORIZED || secret.is_none() || is_renewed {
            return Ok(response);
        }
        let slot = slot.unwrap_or("default");
        match self.secret(self.credentials.refreshed(slot).await, slot)? {
            Some(fresh) => {
                drop(response);
                self.attempt(&prepared, Some(&fresh)).await
            }
            // Nothing to refresh: the connector reads the 401 itself.
            None => Ok(response),
        }
    }

    /// Checks the request against every rule that can be checked before it is sent.
    fn prepare(&self, r: Req) -> Result<CheckedRequest, Err> {
        let limits = &self.shared.limits;
        if self.meter.asked.fetch_add(1, Ordering::Relaxed) >= u64::from(limits.http_requests) {
            let message = format!("more than {} requests in one call", limits.http_requests);
            return Err(refused("too-many-requests", message));
        }
        let by_policy = |refusal: Refusal| match refusal {
            Refusal::Invalid(message) => refused("invalid", message),
            Refusal::Denied(message) => refused("denied", message),
        };
        let permit = self.policy.permit(&r.method, &r.url, r.auth.as_deref()).map_err(by_policy)?;
        let target = self.target(&permit).map_err(by_policy)?;
        extra::ensure_bounded(&r.extra).map_err(|message| refused("invalid", message))?;
        let wishes = RequestWishes::read(&r.extra).map_err(|message| refused("invalid", message))?;
        let uri = Uri::try_from(permit.url.as_str())
            .map_err(|_| refused("invalid", "url: it has characters that are not for URLs"))?;
        let method = Method::from_bytes(r.method.as_bytes()).ok().filter(|m| m.as_str().len() <= 32);
        let method = method.filter(|m| !m.as_str().bytes().any(|b| b.is_ascii_lowercase()));
        let method = method.ok_or_else(|| refused("invalid", "method: write it in upper case"))?;
        if let Some(address) = permit.literal {
            let port = permit.url.port_or_known_default().unwrap_or_default();
            if !self.shared.permits_literal(&self.connector, SocketAddr::new(address, port)) {
                return Err(refused("denied", "the operator does not allow requests to this address"));
            }
        }
        let mut headers = headers::outgoing(&r.headers, limits.http_header_bytes)
            .map_err(|message| refused("invalid", message))?;
        let body = RequestBody::new(r.body, &self.blobs)
            .ok_or_else(|| refused("invalid", "body: no blob of this call has this id"))?;
        let sent = self.meter.sent_bytes.fetch_add(body.size, Ordering::Relaxed).saturating_add(body.size);
        if sent > limits.http_request_bytes {
            let message = format!("body: more than {} bytes sent in one call", limits.http_request_bytes);
            return Err(refused("too-large", message));
        }
        // Servers may insist on a length where a method has a content (RFC 9110, section 8.6).
        if body.size > 0 || [Method::POST, Method::PUT, Method::PATCH].contains(&method) {
            headers.insert(CONTENT_LENGTH, HeaderValue::from(body.size));
        }
        Ok(CheckedRequest { method, uri, permit, target, headers, body, until: None, wishes })
    }

    fn secret(
        &self,
        found: Result<Option<Secret>, CredentialsError>,
        slot: &str,
    ) -> Result<Option<Secret>, Err> {
        let secret = found.map_err(|error| {
            tracing::info!(connector = &*self.connector, slot, "no usable credentials: {error}");
            unusable(error)
        })?;
        if let Some(secret) = &secret
            && !self.redactor.lock().expect("no panic while redacting").add(secret.expose())
        {
            return Err(refused("unavailable", "the credentials changed too often in one call"));
        }
        Ok(secret)
    }

    /// Counts response bytes; false when the call has used up its budget.
    fn receives(&self, bytes: usize) -> bool {
        let total = self.meter.received_bytes.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64;
        total <= self.shared.limits.http_total_response_bytes
    }

    fn incoming_headers(
        &self,
        response: &ProviderResponse,
    ) -> Result<Vec<crate::bindings::http::Header>, Err> {
        let redactor = self.redactor.lock().expect("no panic while redacting");
        headers::incoming(response.headers(), &redactor, self.shared.limits.http_header_bytes)
            .ok_or_else(|| refused("too-large", "the provider's headers are too large"))
    }

    async fn read(&self, mut response: ProviderResponse, max: u64) -> Result<Res, Err> {
        let status = response.status().as_u16();
        let headers = self.incoming_headers(&response)?;
        let max = usize::try_from(max).unwrap_or(usize::MAX);
        // A little more than the cap, so that a credential across the end is seen whole.
        let overlap = self.redactor.lock().expect("no panic while redacting").overlap();
        let mut body: Vec<u8> = Vec::new();
        while body.len() <= max.saturating_add(overlap) {
            let Some(piece) = chunk(response.body_mut()).await? else { break };
            if !self.receives(piece.len()) {
                return Err(refused("too-large", "the responses of this call are too large together"));
            }
            body.extend_from_slice(&piece);
        }
        self.redactor.lock().expect("no panic while redacting").redact(&mut body);
        let truncated = body.len() > max;
        body.truncate(max);
        Ok(Res { status, headers, body, truncated, extra: Vec::new() })
    }

    async fn read_to_blob(
        &self,
        mut response: ProviderResponse,
        decode: &Decode,
        max: u64,
    ) -> Result<BlobInfo, Err> {
        let status = response.status().as_u16();
        let headers = self.incoming_headers(&response)?;
        let content_type =
            response.headers().get(CONTENT_TYPE).and_then(|v| v.to_str().ok()).map(str::to_owned);
        let mut writer = self.blobs.writer();
        let full =
            || refused("too-large", "the content is larger than the cap, or the call's blob budget is spent");
        // JSON with base64 inside is a third larger than its content, and has other members.
        let cap = if *decode == Decode::Raw { max } else { max.saturating_mul(4) / 3 + (1 << 20) };
        let mut pending: Vec<u8> = Vec::new();
        let mut received = 0;
        while let Some(piece) = chunk(response.body_mut()).await? {
            received += piece.len() as u64;
            if received > cap {
                return Err(full());
            }
            pending.extend_from_slice(&piece);
            // In pieces much larger than the overlap that is searched twice, however small the received ones are.
            if *decode == Decode::Raw && pending.len() >= REDACTED {
                let redactor = self.redactor.lock().expect("no panic while redacting");
                redactor.redact(&mut pending);
                let done = pending.len().saturating_sub(redactor.overlap());
                writer.write(&pending[..done]).ok_or_else(full)?;
                pending.drain(..done);
            }
        }
        self.redactor.lock().expect("no panic while redacting").redact(&mut pending);
        match decode {
            Decode::Raw => writer.write(&pending).ok_or_else(full)?,
            Decode::Json(pointer, alphabet) => {
                let content = decode_json(&pending, pointer, alphabet)
                    .ok_or_else(|| refused("invalid", "decode: the response has no base64 text there"))?;
                let content = Some(content).filter(|c| c.len() as u64 <= max).ok_or_else(full)?;
                writer.write(&content).ok_or_else(full)?;
            }
        }
        let size = Some(writer.size());
        let id = writer.finish(content_type.clone()).ok_or_else(full)?;
        Ok(BlobInfo { id, size, content_type, status, headers })
    }
}

/// The next piece of an answer's body.
pub(super) async fn chunk(body: &mut AnswerBody) -> Result<Option<Bytes>, Err> {
    while let Some(frame) = body.frame().await {
        // Trailers are not shown to guests.
        if let Ok(piece) = frame.map_err(|error| explain(&*error))?.into_data() {
            return Ok(Some(piece));
        }
    }
    Ok(None)
}
