//! `/mcp`: the API for assistants, by the Model Context Protocol. A request is authenticated by its API key as an operation is. The calls
//! of its tools go through the router of the operations with the same key, where scopes, allowlists, budgets, idempotency and log hold.

mod caller_api;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use base::error::{Code, Error, Refusal, Result, refuse};
use compute::named_semaphores::Shares;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use mcp::policy::Policy;
use mcp::server::{ApiAccess, Server};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;
use service::app::App;
use storage::lane::Lane;
use tokio::time::timeout;
use url::Url;

use crate::api::access::api_key::{Caller, authenticate, check_allowlists, host_of_site};
use crate::api::access::key_lookups::KeyLookups;
use crate::api::docs::remedies::remedy;
use crate::api::mcp::caller_api::CallerApi;
use crate::api::response::finish;
use crate::web::client_ip::{client_ip, peer};
use crate::web::error::{public, status};
use crate::web::rate_limit::{Class, Limiters, RateLimitState};
use crate::web::small_body::BodyRoom;
use crate::web::{request_id, unread_body};

/// The path of the endpoint.
const PATH: &str = "/mcp";
/// Largest body of a request, in bytes.
const MAX_BODY_BYTES: usize = 256 << 10;
/// Most bytes of bodies in memory, of all clients and of one address.
const MAX_BODIES_BYTES: usize = 32 << 20;
const MAX_BODIES_BYTES_OF_ADDRESS: usize = 4 << 20;
/// Time in which a body has to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);
/// Concurrent requests of one key. A tool call runs one request to the API at a time.
const MAX_CONCURRENT_OF_KEY: usize = 8;
/// Longest time of a request: some operations wait for a provider.
const LONGEST_CALL: Duration = Duration::from_secs(120);
/// The code of JSON-RPC for errors that the server defines itself.
const SERVER_ERROR: i32 = -32000;
/// Names of this machine in a `Host` header. A page that rebinds its own name to this address sends that name.
const LOOPBACK_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// The state of the endpoint.
#[derive(Clone)]
struct Endpoint {
    app: App,
    /// The operations of the API alone: a tool cannot call `/mcp`.
    operations: Router,
    limiters: Arc<Limiters>,
    key_lookups: Arc<KeyLookups>,
    bodies: Arc<BodyRoom>,
    running: Arc<Shares>,
    server: StreamableHttpService<Server<CallerApi>, NeverSessionManager>,
}

/// `/mcp`. `operations` serves the requests of tools.
pub fn routes(
    app: &App,
    operations: Router,
    limiters: Arc<Limiters>,
    key_lookups: Arc<KeyLookups>,
) -> Router {
    let config = StreamableHttpServerConfig::default()
        .with_json_response(true)
        .with_legacy_session_mode(false)
        .with_allowed_hosts(allowed_hosts(&app.config.public_address()))
        .with_max_request_body_bytes(MAX_BODY_BYTES);
    let sessions = Arc::<NeverSessionManager>::default();
    let endpoint = Endpoint {
        app: app.clone(),
        operations,
        limiters,
        key_lookups,
        bodies: Arc::new(BodyRoom::new(MAX_BODIES_BYTES, MAX_BODIES_BYTES_OF_ADDRESS)),
        running: Arc::new(Shares::new(MAX_CONCURRENT_OF_KEY)),
        server: StreamableHttpService::new(|| Ok(Server::default()), sessions, config),
    };
    Router::new().route(PATH, any(answer)).with_state(endpoint)
}

/// The hosts that a request may be sent to: that of the public address, and this machine. The port does not matter.
fn allowed_hosts(public_address: &str) -> Vec<String> {
    let public = Url::parse(public_address).ok().and_then(|url| Some(url.host_str()?.to_owned()));
    public.into_iter().chain(LOOPBACK_HOSTS.map(str::to_owned)).collect()
}

async fn answer(State(endpoint): State<Endpoint>, request: Request) -> Response {
    let app = &endpoint.app;
    let (started, arrived) = (app.now(), Instant::now());
    let request_id = request_id::new(&app.clock, &app.entropy);
    let method = request.method().clone();
    let ip = client_ip(peer(&request), request.headers(), &app.config.trusted_proxies);
    let (request, rest) = unread_body::lend(request);
    let mut standing = RateLimitState { limit: 0, remaining: 0, retry_after_s: None };
    let admitted = endpoint.admit(request.headers(), ip, started, &mut standing);
    let served = match Lane::requests().scope(admitted).await {
        Ok(caller) => endpoint.serve(caller, &request_id, request).await,
        Err(e) => {
            drop(request);
            Err(e)
        }
    };
    let response = served.unwrap_or_else(|e| refused(e, &request_id));
    let status = response.status();
    app.metrics.observe(PATH, &method, status.as_u16(), arrived.elapsed());
    tracing::debug!(request_id, %method, route = PATH, status = status.as_u16(), "request");
    let response = finish::settle(response, &request_id, standing);
    // Of a body that came too slowly nothing waits that could keep the answer from arriving.
    if status != StatusCode::REQUEST_TIMEOUT {
        rest.take().await;
    }
    response
}

impl Endpoint {
    /// Returns the caller of a request, by the rules of the operations: key, allowlists, budget. The request counts for the budget, and so
    /// does each request that its tools make.
    async fn admit(
        &self,
        headers: &HeaderMap,
        ip: IpAddr,
        now: i64,
        standing: &mut RateLimitState,
    ) -> Result<Caller> {
        let anonymous_per_minute = self.app.config.anonymous_per_minute;
        let anonymous = || self.limiters.take_of_address(Class::Anonymous, ip, anonymous_per_minute, now);
        let authenticated = authenticate(&self.app, &self.key_lookups, headers, ip).await;
        let allowed = authenticated.and_then(|caller| {
            check_allowlists(&caller, headers)?;
            check_origin(&caller, headers)?;
            Ok(caller)
        });
        let caller = match allowed {
            Ok(caller) => caller,
            // The store says nothing of this key now.
            Err(e) if e.code() == Some(Code::Overloaded) || e.is_outage() => return Err(e),
            Err(e) => {
                *standing = anonymous();
                ensure_within(*standing)?;
                return Err(e);
            }
        };
        let limit = u64::try_from(caller.key.rate_limit_per_minute).unwrap_or(0);
        *standing = match caller.is_public() {
            true => self.limiters.take_of_visitor(caller.key.budget_id(), ip, limit, now),
            false => self.limiters.keys.take(caller.key.budget_id(), limit, now),
        };
        ensure_within(*standing)?;
        Ok(caller)
    }

    /// Answers a request of this caller.
    async fn serve(&self, caller: Caller, request_id: &str, request: Request) -> Result<Response> {
        let running = self.running.of(caller.key.budget_id());
        let Ok(permit) = running.try_acquire_owned() else {
            let message = format!(
                "this key has {MAX_CONCURRENT_OF_KEY} requests to {PATH} running, as many as it may have at a time"
            );
            return Err(Refusal::new(Code::Overloaded, message).retry_after_s(1).into());
        };
        let (mut parts, body) = request.into_parts();
        let body = self.bodies.read(body, caller.ip, MAX_BODY_BYTES, BODY_TIMEOUT).await?;
        let policy = Policy::for_key(caller.key.agent.as_ref());
        let operations = self.operations.clone();
        let api = CallerApi::new(&self.app, operations, caller, permit, request_id, &parts);
        parts.extensions.insert(Arc::new(ApiAccess { api, policy }));
        let request = Request::from_parts(parts, Body::from(body.bytes().to_vec()));
        match timeout(LONGEST_CALL, self.server.handle(request)).await {
            Ok(response) => Ok(response.map(Body::new)),
            Err(_) => {
                let message = format!("no result within {} s", LONGEST_CALL.as_secs());
                Err(refuse(Code::ProviderTimeout, message))
            }
        }
    }
}

/// Refuses the request of a page, unless the key names its site. Programs send no `Origin`.
fn check_origin(caller: &Caller, headers: &HeaderMap) -> Result<()> {
    let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
    match host_of_site(origin).is_some_and(|host| caller.key.allowed_domains.contains(&host)) {
        true => Ok(()),
        false => {
            let message = "this API key may not be used from pages of this origin: its `allowedDomains` do not name the host";
            Err(refuse(Code::Forbidden, message))
        }
    }
}

/// Refuses a request over a budget.
fn ensure_within(standing: RateLimitState) -> Result<()> {
    let Some(seconds) = standing.retry_after_s else { return Ok(()) };
    let message = format!("the budget of {} requests per minute is used up", standing.limit);
    Err(Refusal::new(Code::RateLimited, message).retry_after_s(seconds).into())
}

/// The response to a request that was refused before it reached the protocol: an error of JSON-RPC with the code of the API.
fn refused(error: Error, request_id: &str) -> Response {
    let refusal = public(error, request_id);
    let code = refusal.code.as_str();
    let body = json!({
        "jsonrpc": "2.0",
        "id": null,
        "error": {
            "code": SERVER_ERROR,
            "message": refusal.message,
            "data": { "code": code, "remedy": remedy(code), "request_id": request_id },
        },
    });
    let mut response = (status(refusal.code), body.to_string()).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some(challenge) = challenge(refusal.code) {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
    }
    if let Some(seconds) = refusal.retry_after_s {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// The challenge of RFC 6750 for a request without a valid key; none for other refusals.
fn challenge(code: Code) -> Option<&'static str> {
    match code {
        Code::MissingApiKey => Some("Bearer"),
        Code::InvalidApiKey | Code::ExpiredApiKey | Code::RevokedApiKey => {
            Some("Bearer error=\"invalid_token\"")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_that_of_the_public_address_or_this_machine() {
        let hosts = allowed_hosts("https://api.example.com:8443/base");
        assert_eq!(hosts, ["api.example.com", "localhost", "127.0.0.1", "::1"]);
        assert!(!allowed_hosts("").is_empty(), "an empty list would allow every host");
    }
}
