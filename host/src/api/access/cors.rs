//! CORS (the Fetch standard, "HTTP CORS protocol"): the pages of which sites may call the API, and read its answers. Before a page calls,
//! its browser asks with OPTIONS and without the key; so a site is known by its host alone, where any key that works names it among its
//! allowed domains. What the page may read of an answer is decided by the key of its own call. There is never a `*` beside a key, and never
//! leave to send cookies: nothing here is authenticated by one.

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
/// Headers of an answer that a page may read beside those that are always readable.
const EXPOSED_HEADERS: &str = "x-request-id, x-ratelimit-limit, x-ratelimit-remaining, retry-after, etag, location, idempotent-replayed, \
                               x-data-source, x-data-age, content-range";
/// How long a browser may remember a preflight's answer, in seconds. The call itself is checked each time.
const MAX_AGE_S: u64 = 600;
/// Longest host name in bytes (RFC 1035 section 2.3.4).
const MAX_HOST_BYTES: usize = 255;
/// Lookups of sites at one moment. Anybody can invent sites, so each address has one turn of these, and they come in order.
const MAX_LOOKUPS: usize = 2;
/// How long a lookup waits for its turn. After that the site counts as unknown for this request.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// The header `RequestOrigin` of a request: the site whose page sends it.
pub struct RequestOrigin {
    /// As it came.
    value: HeaderValue,
    /// Its exact host; none where the origin is not a site's, such as `null`.
    host: Option<String>,
}

impl RequestOrigin {
    /// None: no page of another site sent the request.
    pub fn of(headers: &HeaderMap) -> Option<RequestOrigin> {
        let value = headers.get(header::ORIGIN)?.clone();
        Some(RequestOrigin { host: api_key::host_of_site(&value), value })
    }
}

/// The pages of which sites may read an answer.
pub enum Readers<'a> {
    /// Of all sites that are known: the answer says no more than why a request without a valid key was refused.
    OfKnownSites,
    /// Of the sites that the request's key names; of none where it names none, because it is a server's key.
    OfSitesOf(&'a ApiKey),
    /// Of no site.
    Nobody,
}

impl<'a> Readers<'a> {
    /// Of the answer to a request with this key, if it is valid. What is public needs no key: browsers go there by themselves, and no page
    /// calls it.
    pub fn of(is_public: bool, key: Option<&'a ApiKey>) -> Readers<'a> {
        match key {
            _ if is_public => Readers::Nobody,
            Some(key) => Readers::OfSitesOf(key),
            None => Readers::OfKnownSites,
        }
    }
}

/// Finds out whether sites are known.
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
    /// Whether a key that works names this host, as it was at most a second ago. `ip` is who asks. False also where nobody can tell now.
    async fn is_known(&self, app: &App, host: &str, ip: IpAddr) -> bool {
        if host.len() > MAX_HOST_BYTES {
            return false;
        }
        if let Some(is_known) = app.sites.get(host, app.now()) {
            return *is_known;
        }
        let Ok(_turn) = timeout(LONGEST_WAIT, self.turn(ip)).await else { return false };
        // Another request of the same page may have found out meanwhile.
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
                    tracing::warn!(error = %format!("{e:#}"), "whether a site may call could not be read");
                }
                false
            }
        }
    }

    async fn turn(&self, ip: IpAddr) -> (Option<OwnedSemaphorePermit>, Option<SemaphorePermit<'_>>) {
        let of_address = self.of_address.of(&site(ip).to_string());
        // Only a closed semaphore fails, and nobody closes these.
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

/// The answer to OPTIONS for a path that has these methods. To a preflight it says whether a page of its site may call, which those of
/// `readers` may; to anything else which methods there are.
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
    let Some(origin) = RequestOrigin::of(headers).filter(|_| is_preflight) else {
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

/// Lets the pages of `readers` read an answer, if one of them asked for it, and tells caches in every case that it depends on `RequestOrigin`.
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
        // Beside what it depends on already (RFC 9110 section 12.5.5).
        response.headers_mut().append(header::VARY, HeaderValue::from_static("Origin"));
    }
    let Some(RequestOrigin { value, host: Some(host) }) = origin else { return };
    if sites.may_read(app, &host, ip, readers).await {
        response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, value);
        set(response, header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS);
    }
}

fn set(response: &mut Response, name: header::HeaderName, value: &str) {
    // Not reached otherwise: each value is printable ASCII.
    if let Ok(value) = HeaderValue::try_from(value) {
        response.headers_mut().insert(name, value);
    }
}
