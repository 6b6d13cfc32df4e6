//! `/v1/auth/connectors/{provider}`: sends a user to a provider, and takes the user back.

use axum::body::Body as HttpBody;
use axum::extract::{Extension, FromRequestParts, Request, State};
use axum::response::Response;
use base::error::{Code, Error, Result, invalid, refuse};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use model::bounds::connection as bounds;
use model::connection::{Authorization, AuthorizationResult, NewAuthorization};
use schemars::JsonSchema;
use serde::Deserialize;
use service::app::App;
use service::app::stored_response::StoredResponse;
use service::connections::authorization::{
    self, CallbackOutcome, CallbackParams, PageReason, ReturnTo, StartOptions,
};
use service::connections::request_context::RequestContext;
use service::connections::write_context::WriteContext;
use url::form_urlencoded;

use crate::api::access::api_key::Caller;
use crate::api::callback;
use crate::api::operation::Priority::Mvp;
use crate::api::operation::{ANY_KEY, Routes};
use crate::api::request::extractors::{Extract, Params, Path};
use crate::api::request::json::{self, Body};
use crate::api::response::error::ApiError;
use crate::api::response::reply::{self, ApiResponse, ApiResult};
use crate::web::error;
use crate::web::request_id::RequestId;

const CONNECTIONS_WRITE: &str = "connections.write";

/// The query string of an authorization.
#[derive(Debug, Deserialize, JsonSchema)]
struct AuthorizeQuery {
    /// Whether the application may have another connection of the same account.
    #[serde(default)]
    allow_duplicate: bool,
}

/// The query string of a user's return from a provider.
#[derive(Default, JsonSchema)]
#[schemars(extend("required" = ["state"]))]
struct CallbackQuery {
    /// The provider's code, unless the provider refused.
    #[schemars(length(max = bounds::MAX_CALLBACK_CODE))]
    code: Option<String>,
    /// The `state` of the authorization.
    #[schemars(length(max = bounds::MAX_CALLBACK_STATE))]
    state: Option<String>,
    /// The provider's issuer (RFC 9207).
    #[schemars(length(max = bounds::MAX_CALLBACK_ISSUER))]
    iss: Option<String>,
    /// The provider's error code, if the provider refused.
    #[schemars(length(max = bounds::MAX_CALLBACK_STATE))]
    error: Option<String>,
    /// The provider's answer to an administrator who approved the application.
    #[schemars(length(max = bounds::MAX_CALLBACK_STATE))]
    admin_consent: Option<String>,
}

pub fn routes() -> Routes<App> {
    Routes::new("Authorization")
        .post("/v1/auth/connectors/{provider}/authorize", CONNECTIONS_WRITE, Mvp, authorize)
        .summary("Start connecting an account")
        .description("Send the user to `authorizationUrl`, which works once and for ten minutes. With `codeChallenge`, the account is connected when you exchange its code. If the application already has a connection by OAuth of the same account at the same server, that connection gets the new credentials and the scopes of this authorization, and keeps its id and its tags, unless it works and would lose scopes; `allow_duplicate=true` makes another connection instead. \"Connecting by OAuth\" above describes every step.")
        .query::<AuthorizeQuery>()
        .body::<NewAuthorization>()
        .returns::<Authorization>()
        .status(201)
        // Contract, Endpoints: every operation needs a key. A browser that comes back from the provider has none, so the
        // single-use `state` that the authorization made stands for it.
        .get("/v1/auth/connectors/{provider}/callback", ANY_KEY, Mvp, callback)
        .summary("Return from the provider")
        .description("For browsers: the provider redirects the user here, and the answer redirects them to the application's `redirectUri` with `connection_id`, `status` and `state`, or with `error`. `status` is `active`. After an authorization with `codeChallenge` it is `pending` and comes with a `code`: exchange it at `POST /v1/oauth/token` within 60 seconds to connect the account. `state` authenticates the request and works once. With an API key (scope `connections.write`), or with `Accept: application/json`, the answer is JSON. If the request cannot be redirected, the user sees a page.")
        .query::<CallbackQuery>()
        .returns::<AuthorizationResult>()
        .return_type("text/html")
        .optional_key()
}

async fn authorize(
    Extract(cx): Extract<WriteContext>,
    caller: Caller,
    headers: HeaderMap,
    params: Params,
    Path(provider): Path<String>,
    Body(body): Body,
) -> ApiResult {
    let (new, unknown) = json::typed::<NewAuthorization>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    let AuthorizeQuery { allow_duplicate } = params.read()?;
    let options = StartOptions { return_to: ReturnTo::Registered(new.redirect_uri.clone()), allow_duplicate };
    Ok(ApiResponse(
        authorization::start(&cx, caller.key.budget_id(), &provider, new, options, &warnings).await?,
    ))
}

async fn callback(
    State(app): State<App>,
    Path(provider): Path<String>,
    caller: Option<Extension<Caller>>,
    request: Request,
) -> Result<Response, ApiError> {
    let (mut parts, _) = request.into_parts();
    // RFC 9110 §9.3.2: HEAD has no effect, and this GET has one; the router would take one for the other.
    if parts.method != Method::GET {
        return Err(ApiError(refuse(Code::MethodNotAllowed, "the callback takes GET only")));
    }
    if is_fetched_ahead(&parts.headers) {
        return Ok(empty(StatusCode::NO_CONTENT));
    }
    let asker = match &caller {
        Some(_) => Some(Extract::<RequestContext>::from_request_parts(&mut parts, &()).await?.0),
        None => None,
    };
    if caller.is_some_and(|Extension(caller)| !caller.has_scope(CONNECTIONS_WRITE)) {
        let message = format!("this API key lacks the scope {CONNECTIONS_WRITE}");
        return Err(ApiError(refuse(Code::InsufficientScope, message)));
    }
    let wants_json = asker.is_some() || accepts_json(&parts.headers);
    let request_id = parts.extensions.get::<RequestId>().map(|id| id.0.clone()).unwrap_or_default();
    let page = |reason| callback::render(reason, &parts.headers, &request_id);
    let params = match params(parts.uri.query().unwrap_or_default(), wants_json) {
        Ok(params) => params,
        Err(e) if wants_json => return Err(ApiError(e)),
        Err(_) => return Ok(page(PageReason::Malformed)),
    };
    match authorization::callback(&app, &provider, params, asker.as_ref()).await {
        Ok(CallbackOutcome::Redirect(location)) => redirect(&location),
        Ok(CallbackOutcome::Page(reason)) => Ok(page(reason)),
        Ok(CallbackOutcome::Json(result)) => {
            Ok(without_cache(reply::response(StoredResponse::ok(serde_json::to_string(&result)?))))
        }
        Ok(CallbackOutcome::Refused(e)) => Err(ApiError(e)),
        Err(e) if wants_json => Err(ApiError(e)),
        Err(e) => {
            // Logs what it is; the page says that it is not the user's doing.
            error::public(e, &request_id);
            Ok(page(PageReason::Unavailable))
        }
    }
}

/// Whether a browser fetches the address before its user goes there (Sec-Purpose of the Fetch standard, and its older names).
fn is_fetched_ahead(headers: &HeaderMap) -> bool {
    let says = |name: &str| {
        let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
        values.map(str::to_ascii_lowercase).any(|v| v.contains("prefetch") || v.contains("prerender"))
    };
    ["sec-purpose", "purpose", "x-moz", "x-purpose"].into_iter().any(says)
}

/// Whether the client asks for JSON by name: browsers do not, programs do.
fn accepts_json(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|range| {
        range.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json")
    })
}

/// The provider's answer in the query (RFC 6749 §4.1.2, RFC 9207). Of each parameter there is one at most (RFC 6749 §3.1), and none is
/// longer than its limit; names that mean nothing here are skipped.
fn params(query: &str, wants_json: bool) -> Result<CallbackParams> {
    let mut given = CallbackQuery::default();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let (place, limit) = match &*name {
            "code" => (&mut given.code, bounds::MAX_CALLBACK_CODE),
            "state" => (&mut given.state, bounds::MAX_CALLBACK_STATE),
            "iss" => (&mut given.iss, bounds::MAX_CALLBACK_ISSUER),
            "error" => (&mut given.error, bounds::MAX_CALLBACK_STATE),
            "admin_consent" => (&mut given.admin_consent, bounds::MAX_CALLBACK_STATE),
            _ => continue,
        };
        if value.len() > limit {
            let message = format!("{name} has {} bytes, at most {limit} are taken", value.len());
            return Err(invalid(Code::InvalidParameter, name, message));
        }
        if place.replace(value.into_owned()).is_some() {
            let message = format!("{name} is given twice");
            return Err(invalid(Code::InvalidParameter, name, message));
        }
    }
    let CallbackQuery { code, state, iss, error, admin_consent } = given;
    Ok(CallbackParams { code, state, iss, error, admin_consent, wants_json })
}

/// Leads the browser on to the application.
fn redirect(location: &str) -> Result<Response, ApiError> {
    let location = HeaderValue::try_from(location)
        .map_err(|_| Error::Internal(anyhow::anyhow!("a redirect URI that is no header value")))?;
    let mut response = empty(StatusCode::FOUND);
    response.headers_mut().insert(header::LOCATION, location);
    Ok(response)
}

fn empty(status: StatusCode) -> Response {
    let mut response = Response::new(HttpBody::empty());
    *response.status_mut() = status;
    without_cache(response)
}

/// The address of the request holds the provider's code: nobody keeps the answer, and no page is told where the browser came from
/// (RFC 9700 §4.2.4).
fn without_cache(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}
