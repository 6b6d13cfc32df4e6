//! `wasi:http@0.2`: the same egress, for guests whose toolchain speaks that (`fetch` in JavaScript, Python, many crates). There
//! is no policy here, only translation: a request becomes one of our `http` interface and goes through the same function, under
//! the same budgets. Only `http` has the features that `wasi:http` lacks: naming a credential slot (the guest gets "default"),
//! blobs, and truncated answers (here they are errors).

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HeaderMap, HeaderName, HeaderValue};
use http_body_util::{BodyExt, Full};
use wasmtime::component::Linker;
use wasmtime_wasi_http::{
    Error, ForbiddenHeaderFilter, RequestOptions, WasiBody, WasiHttpCtx, WasiHttpCtxView, WasiHttpHooks,
    WasiHttpView,
};

use crate::bindings::http::{Err, Header, Req, Res, Segment};
use crate::outbound::{CallEgress, Meter, headers};
use crate::state::State;

/// The interfaces that are linked, without `wasi:` and version. Not `incoming-handler`, which a guest would export: connectors
/// are never called over HTTP.
pub(crate) const OFFERED: [&str; 2] = ["http/outgoing-handler", "http/types"];

/// Bytes of one `fields`, with overhead. A guest can make as many as it has handles, and the host needs the memory.
const FIELDS_BYTES: usize = 32 << 10;
/// Bytes of a request body that one write takes. Two of them may wait in each body that the guest has opened.
const WRITE_BYTES: usize = 16 << 10;

/// Links the interfaces in [`OFFERED`].
pub(crate) fn add_to_linker(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    wasmtime_wasi_http::p2::add_only_http_to_linker_async(linker)
}

/// The state of `wasi:http` in a store.
pub(crate) struct WasiHttp {
    ctx: WasiHttpCtx,
    hooks: Hooks,
}

impl WasiHttp {
    pub(crate) fn new(egress: Arc<CallEgress>) -> Self {
        let mut ctx = WasiHttpCtx::new();
        ctx.set_field_size_limit(FIELDS_BYTES);
        WasiHttp { ctx, hooks: Hooks { egress, asked: 0 } }
    }
}

impl WasiHttpView for State {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        let WasiHttp { ctx, hooks } = &mut self.wasi_http;
        WasiHttpCtxView { hooks, table: &mut self.table, ctx }
    }
}

struct Hooks {
    egress: Arc<CallEgress>,
    /// Requests so far, including those that the guest dropped before they were counted as requested.
    asked: u32,
}

/// The guest may set the length of its body: the body must match it, and the host sets the field again. In an answer it is of
/// use.
fn is_forbidden(name: &HeaderName) -> bool {
    *name != CONTENT_LENGTH && headers::forbidden(name.as_str())
}

type Exchange = (http::Response<WasiBody>, TransferFuture);
type TransferFuture = Box<dyn Future<Output = Result<(), Error>> + Send>;

impl WasiHttpHooks for Hooks {
    fn is_forbidden_header(&mut self, name: &HeaderName) -> bool {
        is_forbidden(name)
    }

    fn forbidden_header_filter(&mut self) -> ForbiddenHeaderFilter {
        Arc::new(is_forbidden)
    }

    // The client sets it, from the URL that was checked.
    fn set_host_header(&mut self) -> bool {
        false
    }

    fn p2_outgoing_body_chunk_size(&mut self) -> usize {
        WRITE_BYTES
    }

    fn send_request(
        &mut self,
        request: http::Request<WasiBody>,
        options: Option<RequestOptions>,
        _: TransferFuture,
    ) -> Box<dyn Future<Output = Result<Exchange, Error>> + Send> {
        self.asked = self.asked.saturating_add(1);
        let in_budget = self.asked <= self.egress.shared.limits.http_requests;
        let egress = self.egress.clone();
        Box::new(async move {
            if !in_budget {
                return Err(Error::ConnectionLimitReached);
            }
            let head = options.map_or(Duration::MAX, head_within);
            // It ends with the guest's handle, on which this future depends.
            let work = egress.clone().relay(request, head);
            let answer = egress.spawn(work).await;
            let answer = answer.unwrap_or_else(|| Err(Error::HttpResponseIncomplete));
            answer.map(|response| (response, Box::new(async { Ok(()) }) as TransferFuture))
        })
    }
}

/// The time limit for the head of the answer. The guest cannot choose the time between two pieces of a body: they have all
/// arrived when it gets the answer.
fn head_within(options: RequestOptions) -> Duration {
    let first = options.first_byte_timeout.unwrap_or(Duration::MAX);
    first.saturating_add(options.connect_timeout.unwrap_or_default())
}

impl CallEgress {
    async fn relay(
        self: Arc<Self>,
        request: http::Request<WasiBody>,
        head: Duration,
    ) -> Result<http::Response<WasiBody>, Error> {
        let (parts, body) = request.into_parts();
        // Held until the answer is here: the client may have to send it again.
        let (body, _held) = self.collect(body).await?;
        let field = |(name, value): (&HeaderName, &HeaderValue)| Header {
            name: name.as_str().to_owned(),
            value: value.as_bytes().to_vec(),
        };
        let r = Req {
            method: parts.method.as_str().to_owned(),
            url: parts.uri.to_string(),
            headers: parts.headers.iter().filter(|(name, _)| *name != CONTENT_LENGTH).map(field).collect(),
            body: vec![Segment::Bytes(body)],
            auth: None,
            timeout_ms: None,
            max_bytes: None,
            extra: Vec::new(),
        };
        let most = self.shared.limits.http_response_bytes;
        let res = self.clone().send_within(r, head).await.map_err(translate)?;
        if res.truncated {
            return Err(Error::HttpResponseBodySize(Some(most)));
        }
        response(res).ok_or(Error::HttpProtocolError)
    }

    /// The request's body, which the guest may still be writing. All bodies that the call has in memory together are bounded like
    /// the body of a request in one call of `http`.
    async fn collect(&self, mut body: WasiBody) -> Result<(Vec<u8>, BodyReservation<'_>), Error> {
        let most = self.shared.limits.output_bytes as u64;
        let mut held = BodyReservation { meter: &self.meter, bytes: 0 };
        let mut bytes = Vec::new();
        while let Some(frame) = body.frame().await {
            // The only other kind of frame is trailers, which no provider needs and `http` does not have.
            let data = frame?.into_data().map_err(|_| Error::HttpRequestTrailerSectionSize(Some(0)))?;
            if held.more(data.len() as u64) > most {
                return Err(Error::HttpRequestBodySize(Some(most)));
            }
            bytes.extend_from_slice(&data);
        }
        Ok((bytes, held))
    }
}

/// Bytes of request bodies in memory; released when dropped.
struct BodyReservation<'a> {
    meter: &'a Meter,
    bytes: u64,
}

impl BodyReservation<'_> {
    /// Counts more bytes; returns how many the whole call has in memory now.
    fn more(&mut self, bytes: u64) -> u64 {
        self.bytes += bytes;
        self.meter.held_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes
    }
}

impl Drop for BodyReservation<'_> {
    fn drop(&mut self) {
        self.meter.held_bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

fn response(res: Res) -> Option<http::Response<WasiBody>> {
    let mut fields = HeaderMap::with_capacity(res.headers.len());
    for Header { name, value } in res.headers {
        fields.append(HeaderName::try_from(name).ok()?, HeaderValue::try_from(value).ok()?);
    }
    let body = Full::new(Bytes::from(res.body)).map_err(|never| match never {}).boxed_unsync();
    let mut response = http::Response::new(body);
    *response.status_mut() = http::StatusCode::from_u16(res.status).ok()?;
    *response.headers_mut() = fields;
    Some(response)
}

/// An error of `http` as one of `wasi:http`. Its message is the host's own, so the guest may have it where there is no matching
/// code.
fn translate(error: Err) -> Error {
    let about = |part: &str| error.message.starts_with(part);
    match error.code.as_str() {
        "denied" => Error::HttpRequestDenied,
        "invalid" if about("method") => Error::HttpRequestMethodInvalid,
        "invalid" if about("headers") => Error::HttpRequestHeaderSectionSize(None),
        "invalid" => Error::HttpRequestUriInvalid,
        "connect" => Error::DestinationUnavailable,
        "timeout" => Error::HttpResponseTimeout,
        "too-many-requests" => Error::ConnectionLimitReached,
        "too-large" if about("body") => Error::HttpRequestBodySize(None),
        "too-large" => Error::HttpResponseBodySize(None),
        "unavailable" => Error::HttpResponseIncomplete,
        code => Error::InternalError(Some(format!("{code}: {}", error.message))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outbound::refused;

    #[test]
    fn every_error_of_http_has_its_word() {
        let said = |code: &str, message: &str| translate(refused(code, message)).to_string();
        for (code, message, expected) in [
            ("denied", "the method is never allowed", "HTTP request denied"),
            ("invalid", "method: write it in upper case", "invalid HTTP request method"),
            ("invalid", "headers: more than 9 bytes", "HTTP request header section size exceeds limit"),
            ("invalid", "not an absolute URL", "invalid HTTP request URI"),
            ("connect", "", "destination unavailable"),
            ("timeout", "", "HTTP response timeout"),
            ("too-many-requests", "", "connection limit reached"),
            ("too-large", "body: more than 9 bytes", "HTTP request body size exceeds limit"),
            ("too-large", "the provider's headers", "HTTP response body size exceeds limit"),
            ("unavailable", "", "incomplete HTTP response"),
            ("auth-expired", "no usable credentials", "internal error: auth-expired: no usable credentials"),
        ] {
            assert_eq!(said(code, message), expected, "{code}: {message}");
        }
    }

    #[test]
    fn the_hosts_fields_are_forbidden_here_too() {
        for name in
            ["authorization", "host", "cookie", "transfer-encoding", "x-forwarded-for", "accept-encoding"]
        {
            assert!(is_forbidden(&HeaderName::from_static(name)), "{name}");
        }
        assert!(!is_forbidden(&CONTENT_LENGTH) && !is_forbidden(&HeaderName::from_static("depth")));
    }
}
