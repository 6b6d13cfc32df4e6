//! CORS (the Fetch standard, "HTTP CORS protocol"): the sites whose pages may call the API and read its responses. Before a call, the
//! page's browser sends OPTIONS without the key, so a site is allowed by its host alone, if any valid key lists the host among its allowed
//! domains. The key of the call itself then decides whether the page may read the response. With a key the origin is never `*`, and
//! credentials are never allowed: no cookie authenticates anything here.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use base::error::is_outage;
use compute::named_semaphores::Shares;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use service::app::App;
use storage::api_key_domains;
use storage::api_keys::ApiKey;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use tokio::time::timeout;

use crate::api::access::api_key;
use crate::web::rate_limit::site;

/// Headers that a page may send.
const ALLOWED_HEADERS: &str = "authorization, x-api-key, content-type, idempotency-key, if-match, if-none-match, prefer, cache-control, \
                               range, last-event-id";
/// Response headers that a page may read beside those that are always readable.
const EXPOSED_HEADERS: &str = "x-request-id, x-ratelimit-limit, x-ratelimit-remaining, retry-after, etag, location, idempotent-replayed, \
                               x-data-source, x-data-age, content-range";
/// Time that a browser may cache the response to a preflight, seconds. The call itself is checked each time.
const MAX_AGE_S: u64 = 600;
/// Longest host name in bytes (RFC 1035 section 2.3.4).
const MAX_HOST_BYTES: usize = 255;
/// Concurrent lookups of sites. Anyone can invent sites, so each client address has at most one of these, and its lookups queue.
const MAX_LOOKUPS: usize = 2;
/// Longest wait of a lookup for its permit. After that the site counts as unknown for this request.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// The header `Origin` of a request: the site whose page sends it.
pub struct RequestOrigin {
    /// The header's value.
    value: HeaderValue,
    /// The exact host; none if the origin is not a site's, such as `null`.
    host: Option<String>,
}

impl RequestOrigin {
    /// Returns the origin; none if the request does not come from a page of another site.
    pub fn from_headers(headers: &HeaderMap) -> Option<RequestOrigin> {
        let value = headers.get(header::ORIGIN)?.clone();
        Some(RequestOrigin { host: api_key::host_of_site(&value), value })
    }
}

/// The sites whose pages may read a response.
pub enum Readers<'a> {
    /// All known sites: the response only says why a request without a valid key was refused.
    OfKnownSites,
    /// The sites that the request's key lists; a server's key lists none.
    OfSitesOf(&'a ApiKey),
    /// No site.
    Nobody,
}

impl<'a> Readers<'a> {
    /// Returns the readers of the response to a request with this key, if it is valid. Public operations need no key: browsers navigate to
    /// them, and pages do not call them.
    pub fn for_key(is_public: bool, key: Option<&'a ApiKey>) -> Readers<'a> {
        match key {
            _ if is_public => Readers::Nobody,
            Some(key) => Readers::OfSitesOf(key),
            None => Readers::OfKnownSites,
        }
    }
}

/// The lookup of known sites.
pub struct Sites {
    all: Semaphore,
    of_address: Shares,
}

impl Default for Sites {
    fn default() -> Self {
        Sites { all: Semaphore::new(MAX_LOOKUPS), of_address: Shares::new(1) }
    }
}

impl Sites {
    /// Whether a valid key lists this host, as of at most a second ago. `ip` is the client's address. Also false if the lookup did not
    /// complete.
    async fn is_known(&self, app: &App, host: &str, ip: IpAddr) -> bool {
        if host.len() > MAX_HOST_BYTES {
            return false;
        }
        if let Some(is_known) = app.sites.get(host, app.now()) {
            return *is_known;
        }
        let Ok(_turn) = timeout(LONGEST_WAIT, self.turn(ip)).await else { return false };
        // Another request of the same page may have completed the lookup.
        let now = app.now();
        if let Some(is_known) = app.sites.get(host, now) {
            return *is_known;
        }
        match Box::pin(api_key_domains::is_known(app.db.reader(), host, now)).await {
            Ok(is_known) => {
                app.sites.put(host.to_owned(), Arc::new(is_known), now);
                is_known
            }
            Err(e) => {
                if !is_outage(&e) {
                    tracing::warn!(error = %format!("{e:#}"), "the sites that may call the API could not be read");
                }
                false
            }
        }
    }

    async fn turn(&self, ip: IpAddr) -> (Option<OwnedSemaphorePermit>, Option<SemaphorePermit<'_>>) {
        let of_address = self.of_address.of(&site(ip).to_string());
        // Only a closed semaphore fails, and these are never closed.
        (of_address.acquire_owned().await.ok(), self.all.acquire().await.ok())
    }

    async fn may_read(&self, app: &App, host: &str, ip: IpAddr, readers: &Readers<'_>) -> bool {
        match readers {
            Readers::Nobody => false,
            Readers::OfSitesOf(key) => key.allowed_domains.iter().any(|domain| domain == host),
            Readers::OfKnownSites => self.is_known(app, host, ip).await,
        }
    }
}

/// Answers OPTIONS for a path with these methods. A preflight learns whether a page of its site may call (see `readers`); other requests
/// get the list of methods.
pub async fn options(
    app: &App,
    sites: &Sites,
    headers: &HeaderMap,
    ip: IpAddr,
    methods: &[Method],
    readers: &Readers<'_>,
) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let names: Vec<&str> = methods.iter().map(Method::as_str).collect();
    let is_preflight = headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let Some(origin) = RequestOrigin::from_headers(headers).filter(|_| is_preflight) else {
        set(&mut response, header::ALLOW, &format!("{}, OPTIONS", names.join(", ")));
        return response;
    };
    let varies = "Origin, Access-Control-Request-Method, Access-Control-Request-Headers";
    set(&mut response, header::VARY, varies);
    let Some(host) = &origin.host else { return response };
    if sites.may_read(app, host, ip, readers).await {
        response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.value);
        set(&mut response, header::ACCESS_CONTROL_ALLOW_METHODS, &names.join(", "));
        set(&mut response, header::ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED_HEADERS);
        response.headers_mut().insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from(MAX_AGE_S));
    }
    response
}

/// Lets the pages of `readers` read a response if one of them sent the request; always marks the response as varying by `Origin`.
pub async fn expose(
    app: &App,
    sites: &Sites,
    origin: Option<RequestOrigin>,
    ip: IpAddr,
    readers: &Readers<'_>,
    response: &mut Response,
) {
    let names_origin = |value: &HeaderValue| value.to_str().is_ok_and(|names| names.contains("Origin"));
    if !response.headers().get_all(header::VARY).iter().any(names_origin) {
        // Added to the headers by which it already varies (RFC 9110 section 12.5.5).
        response.headers_mut().append(header::VARY, HeaderValue::from_static("Origin"));
    }
    let Some(RequestOrigin { value, host: Some(host) }) = origin else { return };
    if sites.may_read(app, &host, ip, readers).await {
        response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, value);
        set(response, header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS);
    }
}

fn set(response: &mut Response, name: header::HeaderName, value: &str) {
    // Unreachable: each value is printable ASCII.
    if let Ok(value) = HeaderValue::try_from(value) {
        response.headers_mut().insert(name, value);
    }
}
