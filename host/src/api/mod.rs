//! Common parts of all operations, one file for each promise of the contract. `promises` below is the order in which they are kept.

pub mod access;
pub mod book;
pub mod callback;
pub mod docs;
pub mod idempotency;
pub mod mcp;
pub mod metrics;
pub mod openapi;
pub mod operation;
pub mod operations;
pub mod pagination;
pub mod request;
pub mod response;
pub mod shared;
pub mod system;
pub mod track;
pub mod v1;

use std::sync::{Arc, LazyLock};
use std::time::Instant;

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::Response;
use base::error::{Code, Error, Result, refuse};
use http::{HeaderMap, Method, StatusCode};
use service::app::App;
use service::app::freshness::ReadTrace;
use service::app::request_log::redaction::KnownWords;
use service::app::usage::RequestKind;
use storage::lane::Lane;
use storage::statement_counts::StatementCounts;

use crate::api::access::api_key::Caller;
use crate::api::access::cors::{Readers, RequestOrigin, Sites};
use crate::api::access::key_lookups::KeyLookups;
use crate::api::operation::{ANY_KEY, Operation};
use crate::api::operations::Operations;
use crate::api::request::body::{Bodies, BodySender, ReadBody};
use crate::api::request::query_names::{refuse_if_strict, unknown_names, with_warnings};
use crate::api::response::doc_links::{with_links, with_same_links};
use crate::api::response::error::ApiError;
use crate::api::response::facts::ResponseFacts;
use crate::api::response::request_log::{self, RequestFacts};
use crate::web::client_ip::{client_ip, peer};
use crate::web::idempotency::{ClaimResult, finish};
use crate::web::rate_limit::{Class, Limiters, RateLimitState, site};
use crate::web::request_id::RequestId;

/// The state of the shared promises.
#[derive(Clone)]
struct Gate {
    app: App,
    operations: Operations,
    limiters: Arc<Limiters>,
    key_lookups: Arc<KeyLookups>,
    sites: Arc<Sites>,
    bodies: Arc<Bodies>,
}

/// The whole service: the contract's operations, the documentation, the probes.
pub fn service(app: App) -> Router {
    let (routes, operations) = operations::router(v1::routes());
    let limiters = Arc::<Limiters>::default();
    let outside = system::routes(&operations, limiters.clone(), &app);
    let track = track::routes(limiters.clone());
    let book = book::routes(limiters.clone());
    let (key_lookups, sites, bodies): (Arc<KeyLookups>, _, _) = Default::default();
    app.request_log.set_known_words(known_words);
    let mcp_limits = (limiters.clone(), key_lookups.clone());
    let gate = Gate { app: app.clone(), operations, limiters, key_lookups, sites, bodies };
    let v1 = routes
        .fallback(unknown_path)
        .method_not_allowed_fallback(unknown_method)
        .layer(from_fn_with_state(gate, promises))
        .layer(from_fn_with_state(Arc::<str>::from(app.config.public_address()), with_links))
        .with_state(app.clone());
    let pages = track.merge(book).layer(from_fn(without_key)).with_state(app.clone());
    let mcp = mcp::routes(&app, v1.clone(), mcp_limits.0, mcp_limits.1);
    v1.merge(outside.with_state(app)).merge(pages).merge(mcp)
}

/// Every operation, for the contract's tests.
pub fn operations() -> Vec<Operation> {
    v1::routes().operations()
}

/// The words of the API's document.
fn known_words() -> &'static KnownWords {
    static WORDS: LazyLock<KnownWords> =
        LazyLock::new(|| KnownWords::from_document(&openapi::document(&operations(), "")));
    &WORDS
}

/// Runs a request without a key: all of these share the database capacity of one application.
async fn without_key(request: Request, next: Next) -> Response {
    Lane::requests().for_application("").scope(next.run(request)).await
}

async fn unknown_path() -> ApiError {
    ApiError(no_operation())
}

fn no_operation() -> Error {
    refuse(Code::NotFound, "there is no operation at this path; see /docs")
}

async fn unknown_method() -> ApiError {
    ApiError(refuse(Code::MethodNotAllowed, "this path does not have this method; see /docs"))
}

/// The promises of the contract, in order: id, key, allowlists, budget, scope, idempotency; then the work; then the headers
/// that every answer carries, and whose pages may read it. What browsers ask beforehand (OPTIONS) is answered before all of that.
async fn promises(State(gate): State<Gate>, request: Request, next: Next) -> Response {
    let app = &gate.app;
    let (started, arrived) = (app.now(), Instant::now());
    let request_id = crate::web::request_id::new(&app.clock, &app.entropy);
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str).to_owned();
    let anonymous = RateLimitState { limit: 0, remaining: 0, retry_after_s: None };
    let public = || gate.operations.find(&Method::GET, &route).filter(|o| o.public);
    // A method that a public path does not have is refused as that, and not for a missing key.
    let operation = gate.operations.find_matched(&request).or_else(public);
    let ip = client_ip(peer(&request), request.headers(), &app.config.trusted_proxies);
    let mut seen = ResponseFacts::new(request_id, ip, started, anonymous);
    let (uri, bytes_in) = (request.uri().clone(), request_log::declared_bytes(&request));
    let is_oauth = operation.as_deref().is_some_and(|o| o.oauth_errors);
    let challenge = is_oauth.then(|| crate::api::access::client_auth::challenge(request.headers()));
    let (origin, is_options) = (RequestOrigin::from_headers(request.headers()), method == Method::OPTIONS);
    let is_public = operation.as_deref().is_some_and(|o| o.public);
    let (request, rest) = crate::web::unread_body::lend(request);
    let counts = StatementCounts::default();
    let counted = Lane::requests().counted(&counts);
    let response = if is_options {
        let answered = options(&gate, &route, request.headers(), is_public, &mut seen);
        let response = counted.scope(answered).await;
        drop(request);
        response
    } else {
        let admitted = admit(&gate, operation.as_deref(), request.headers(), &mut seen);
        match counted.scope(admitted).await {
            Ok(()) => {
                seen.recorder = request_log::recorder(app, seen.key.as_deref(), started);
                let lane = lane(seen.caller.as_ref()).counted(&counts);
                lane.scope(run_known(&gate, operation, &seen, request, next)).await
            }
            Err(e) => {
                drop(request);
                crate::api::response::error::response(e, &seen.request_id)
            }
        }
    };
    let response = match challenge {
        Some(challenge) => crate::api::response::oauth_error::translated(response, challenge).await,
        None => response,
    };
    let mut response = crate::api::response::finish::settle(response, &seen.request_id, seen.standing);
    let readers = Readers::for_key(is_public || is_options, seen.key.as_deref());
    crate::api::access::cors::expose(app, &gate.sites, origin, ip, &readers, &mut response).await;
    count(&gate, &seen, &route, response.status());
    app.metrics.observe(&route, &method, response.status().as_u16(), arrived.elapsed());
    app.metrics.count_request_statements(&route, &method, &counts);
    // By the clock that never steps.
    let ms = i64::try_from(arrived.elapsed().as_millis()).unwrap_or(i64::MAX);
    let facts = RequestFacts { method: &method, route: &route, uri: &uri, bytes_in, ms };
    let response = request_log::record_request(app, &seen, &facts, response).await;
    // Of a body that came too slowly nothing waits that could keep the answer from arriving.
    if response.status() != StatusCode::REQUEST_TIMEOUT {
        rest.take().await;
    }
    response
}

/// The answer to OPTIONS, which is no operation: the methods of a path, and whether a page may call them. No key is asked for, or charged.
async fn options(
    gate: &Gate,
    route: &str,
    headers: &HeaderMap,
    is_public: bool,
    seen: &mut ResponseFacts,
) -> Response {
    let (app, ip) = (&gate.app, seen.ip);
    let limit = app.config.anonymous_per_minute;
    seen.standing = gate.limiters.take_of_address(Class::Anonymous, ip, limit, seen.started);
    match within(seen.standing).and_then(|()| gate.operations.methods(route).ok_or_else(no_operation)) {
        Err(e) => crate::api::response::error::response(e, &seen.request_id),
        Ok(methods) => {
            let readers = Readers::for_key(is_public, None);
            crate::api::access::cors::options(app, &gate.sites, headers, ip, &methods, &readers).await
        }
    }
}

/// The lane of a request: its application has a share of the database's connections, and so have all who have no key.
fn lane(caller: Option<&Caller>) -> Lane {
    let requests = Lane::requests();
    requests.for_application(caller.map_or("", |caller| caller.tenant().application_id.as_str()))
}

/// Key, allowlists, budget, scope: everything that is decided before any work.
async fn admit(
    gate: &Gate,
    operation: Option<&Operation>,
    headers: &HeaderMap,
    seen: &mut ResponseFacts,
) -> Result<()> {
    let (app, ip, now) = (&gate.app, seen.ip, seen.started);
    let anonymous =
        || gate.limiters.take_of_address(Class::Anonymous, ip, app.config.anonymous_per_minute, now);
    if operation.is_some_and(|o| o.own_budget) {
        return Ok(());
    }
    let may_be_anonymous = |o: &Operation| o.public && !(o.optional_key && sends_key(headers));
    if operation.is_some_and(may_be_anonymous) {
        seen.standing = anonymous();
        return within(seen.standing);
    }
    let with_password =
        operation.filter(|o| o.oauth_errors).map(|_| crate::api::access::client_auth::as_key(headers));
    let headers = with_password.as_deref().unwrap_or(headers);
    let caller = match crate::api::access::api_key::authenticate(app, &gate.key_lookups, headers, ip).await {
        Ok(caller) => caller,
        // The store says nothing of this key now, which is nobody's failure.
        Err(e) if e.code() == Some(Code::Overloaded) || e.is_outage() => return Err(e),
        Err(e) => {
            // Floods without a valid key are limited by address; the headers tell that budget. It is asked when the key has failed, and
            // so costs keys that are valid nothing, whoever else sends from there.
            seen.standing = anonymous();
            within(seen.standing)?;
            return Err(e);
        }
    };
    seen.key = Some(caller.key.clone());
    if let Err(e) = crate::api::access::api_key::check_allowlists(&caller, headers) {
        // Contract, Authentication 5: before any work, so it does not touch the key's budget either.
        seen.standing = anonymous();
        within(seen.standing)?;
        return Err(e);
    }
    let limit = u64::try_from(caller.key.rate_limit_per_minute).unwrap_or(0);
    let is_public = caller.is_public();
    seen.standing = match is_public {
        true => gate.limiters.take_of_visitor(caller.key.budget_id(), ip, limit, now),
        false => gate.limiters.keys.take(caller.key.budget_id(), limit, now),
    };
    let scope = operation.map_or("", |o| o.scope);
    let may = caller.has_scope(scope);
    seen.caller = Some(caller);
    if is_public {
        within_share(seen.standing)?
    } else {
        within(seen.standing)?
    }
    if !may {
        return Err(refuse(Code::InsufficientScope, format!("this API key lacks the scope {scope}")));
    }
    Ok(())
}

/// Whether the request carries a key, right or wrong. Another scheme in `Authorization`, such as the `Basic` of a browser behind a
/// proxy, is none.
fn sends_key(headers: &HeaderMap) -> bool {
    !matches!(crate::api::access::api_key::presented(headers), Ok(None | Some("")))
}

/// Refuses what is over a budget.
fn within(standing: RateLimitState) -> Result<()> {
    match standing.retry_after_s {
        None => Ok(()),
        Some(seconds) => {
            let message = format!("the budget of {} requests per minute is used up", standing.limit);
            Err(base::error::Refusal::new(Code::RateLimited, message).retry_after_s(seconds).into())
        }
    }
}

/// Refuses what is over the budget of a key that stands in pages, or over the visitor's share of it.
fn within_share(standing: RateLimitState) -> Result<()> {
    let Some(seconds) = standing.retry_after_s else { return Ok(()) };
    let limit = standing.limit;
    let message =
        format!("the key's {limit} requests per minute, or this address's share of them, are used up");
    Err(base::error::Refusal::new(Code::RateLimited, message).retry_after_s(seconds).into())
}

/// The work of a request, after a look at the names in its query string.
async fn run_known(
    gate: &Gate,
    operation: Option<Arc<Operation>>,
    seen: &ResponseFacts,
    request: Request,
    next: Next,
) -> Response {
    let unknown = operation.as_deref().map(|o| unknown_names(o, request.uri())).unwrap_or_default();
    match refuse_if_strict(&unknown, request.headers()) {
        Err(e) => crate::api::response::error::response(e, &seen.request_id),
        Ok(()) => with_warnings(run(gate, operation, seen, request, next).await, &unknown).await,
    }
}

/// The work itself, once per Idempotency-Key.
async fn run(
    gate: &Gate,
    operation: Option<Arc<Operation>>,
    seen: &ResponseFacts,
    mut request: Request,
    next: Next,
) -> Response {
    let app = &gate.app;
    request.extensions_mut().insert(RequestId(seen.request_id.clone()));
    request.extensions_mut().insert(seen.standing);
    if let Some(recorder) = &seen.recorder {
        request.extensions_mut().insert(recorder.clone());
    }
    if operation.as_ref().is_some_and(|o| o.own_budget) {
        request.extensions_mut().insert(gate.limiters.clone());
    }
    let Some(caller) = &seen.caller else { return finish_response(next.run(request).await, seen) };
    request.extensions_mut().insert(caller.clone());
    let Some(operation) = operation.filter(|o| o.built && !o.method.is_safe()) else {
        let reading = ReadTrace::default();
        request.extensions_mut().insert(reading.clone());
        return crate::api::response::finish::aged(
            finish_response(next.run(request).await, seen),
            &reading,
            app.now(),
        );
    };
    // What else such a key may do is the page's own work, with bodies as large as the operation takes.
    let is_visitors = caller.is_public() && matches!(operation.scope, "scheduling.book" | ANY_KEY);
    let sender =
        BodySender { tenant: &caller.tenant().application_id, visitor: is_visitors.then(|| site(caller.ip)) };
    match crate::api::request::body::read(&gate.bodies, &app.compute, sender, operation.max_body, request)
        .await
    {
        Err(e) => crate::api::response::error::response(e, &seen.request_id),
        Ok(read) if operation.is_write() => Box::pin(write(app, caller, seen, read, next)).await,
        Ok(ReadBody { request, held, .. }) => {
            let response = finish_response(next.run(request).await, seen);
            drop(held);
            response
        }
    }
}

async fn write(app: &App, caller: &Caller, seen: &ResponseFacts, read: ReadBody, next: Next) -> Response {
    let ReadBody { mut request, fingerprint, held } = read;
    let claim = idempotency::ClaimedRequest {
        method: request.method().as_str(),
        path: request.uri().path(),
        query: request.uri().query().unwrap_or_default(),
        headers: request.headers(),
        body: &fingerprint,
    };
    match idempotency::begin(app, caller, &claim).await {
        Err(e) => crate::api::response::error::response(e, &seen.request_id),
        Ok(ClaimResult::Replay(answer)) => idempotency::replayed(answer),
        Ok(ClaimResult::Run(attempt)) => {
            request.extensions_mut().insert(attempt.clone());
            // The work goes on when the client hangs up: a provider write must not be cut in the middle.
            let (app, attempt, id) = (app.clone(), attempt, seen.request_id.clone());
            let work = Lane::current().spawn(with_same_links(async move {
                let response = crate::api::response::finish::with_envelope(next.run(request).await, &id);
                drop(held);
                finish(&app, &attempt, response).await
            }));
            work.await.unwrap_or_else(|_| panicked(&seen.request_id))
        }
    }
}

fn panicked(request_id: &str) -> Response {
    crate::api::response::error::response(
        Error::Internal(anyhow::anyhow!("the handler panicked")),
        request_id,
    )
}

fn finish_response(response: Response, seen: &ResponseFacts) -> Response {
    crate::api::response::finish::with_envelope(response, &seen.request_id)
}

fn count(gate: &Gate, seen: &ResponseFacts, route: &str, status: StatusCode) {
    let Some(caller) = &seen.caller else { return };
    let outcome = match status.as_u16() {
        429 => "rateLimited",
        500.. => "serverError",
        400.. => "clientError",
        _ => "success",
    };
    gate.app.usage.add(
        &caller.key,
        caller.ip,
        seen.started,
        RequestKind::at(seen.started, crate::api::response::finish::surface_of(route), outcome),
    );
}
