//! `/sandbox/oauth/authorize` (RFC 6749, section 4.1): the request of a client, the consent page, and the user's answer to it.

use axum::body::Bytes;
use axum::extract::{RawQuery, State as AxumState};
use axum::http::header::{CACHE_CONTROL, LOCATION, REFERRER_POLICY};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use url::form_urlencoded::Serializer;

use crate::auth::{DOMAIN, is_name};
use crate::authorization_server::clients;
use crate::authorization_server::consent::ConsentRequest;
use crate::authorization_server::grants::{Code, GrantChange, hashed};
use crate::authorization_server::origin::Origin;
use crate::authorization_server::page;
use crate::authorization_server::params::Params;
use crate::authorization_server::scopes;
use crate::ops::Op;
use crate::problem::Problem;
use crate::sandbox::Sandbox;

/// Lifetime of a code, in milliseconds.
const CODE_MS: i64 = 60_000;
/// The longest `state`, in bytes.
const MAX_STATE: usize = 1_024;

/// The reason why a request gets no consent page.
enum Refusal {
    /// An error page: the client or its redirect URI is not trusted, so there is no redirect.
    Page(String),
    /// An error that is redirected to the client (RFC 6749, section 4.1.2.1).
    Client { redirect_uri: String, state: Option<String>, error: &'static str, description: &'static str },
}

impl Refusal {
    fn into_response(self, origin: &Origin) -> Response {
        match self {
            Refusal::Page(message) => page::error(StatusCode::BAD_REQUEST, &message),
            Refusal::Client { redirect_uri, state, error, description } => {
                let answer = [("error", error), ("error_description", description)];
                back(origin, &redirect_uri, state.as_deref(), &answer)
            }
        }
    }
}

/// `GET`: checks the request and shows the consent page.
pub async fn ask(
    AxumState(sandbox): AxumState<Sandbox>,
    origin: Origin,
    RawQuery(query): RawQuery,
) -> Response {
    let params = Params::read(query.unwrap_or_default().as_bytes());
    let request = match validate_request(&sandbox, &origin, &params) {
        Ok(request) => request,
        Err(refusal) => return refusal.into_response(&origin),
    };
    let id = match sandbox.new_secret() {
        Ok(id) => id,
        Err(problem) => return page::error(problem.status, &problem.message),
    };
    let token = sandbox.0.forms.seal(request.clone(), id, sandbox.now_ms());
    page::consent(&request, params.get("login_hint"), &token)
}

/// Validates the parameters. Returns the request for which a user may be asked for consent.
fn validate_request(sandbox: &Sandbox, origin: &Origin, params: &Params) -> Result<ConsentRequest, Refusal> {
    if let Some(name) = params.repeated() {
        return Err(Refusal::Page(format!("The parameter {name} is there more than once.")));
    }
    let client = params.get("client_id").and_then(|id| clients::find(&sandbox.store().state.grants, id));
    let Some(client) = client else {
        return Err(Refusal::Page("The client_id is missing, or no client has it.".to_owned()));
    };
    let uri = params.get("redirect_uri").filter(|uri| clients::may_return_to(sandbox, origin, &client, uri));
    let Some(uri) = uri else {
        let message = "The redirect_uri is missing, or is not one that the client has registered.";
        return Err(Refusal::Page(message.to_owned()));
    };
    let state = params.get("state").filter(|state| state.len() <= MAX_STATE).map(str::to_owned);
    let refuse = |error, description| Refusal::Client {
        redirect_uri: uri.to_owned(),
        state: state.clone(),
        error,
        description,
    };
    if params.get("state").is_some() && state.is_none() {
        return Err(refuse("invalid_request", "state has at most 1024 characters"));
    }
    match params.get("response_type") {
        Some("code") => {}
        Some(_) => return Err(refuse("unsupported_response_type", "response_type must be code")),
        None => return Err(refuse("invalid_request", "response_type is required: code")),
    }
    let challenge = params.get("code_challenge").filter(|challenge| is_challenge(challenge));
    let Some(challenge) = challenge else {
        return Err(refuse("invalid_request", "code_challenge is required: 43 characters of base64url"));
    };
    if params.get("code_challenge_method") != Some("S256") {
        return Err(refuse("invalid_request", "code_challenge_method must be S256"));
    }
    let mut asked: Vec<String> = Vec::new();
    for scope in params.get("scope").unwrap_or_default().split(' ').filter(|scope| !scope.is_empty()) {
        if scopes::find(scope).is_none() {
            return Err(refuse("invalid_scope", "scope has one that does not exist here"));
        }
        if !asked.iter().any(|known| known == scope) {
            asked.push(scope.to_owned());
        }
    }
    if asked.is_empty() {
        return Err(refuse("invalid_scope", "scope is required"));
    }
    Ok(ConsentRequest {
        client: client.id,
        redirect_uri: uri.to_owned(),
        challenge: challenge.to_owned(),
        scopes: asked,
        state,
    })
}

/// Returns the SHA-256 in base64url without padding (RFC 7636, section 4.2).
fn is_challenge(text: &str) -> bool {
    text.len() == 43 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

/// Handles the form of the consent page (`POST`). Redirects to the client, with a code or an error; a forged, used or expired form gets a
/// page with status 400.
pub async fn decide(
    AxumState(sandbox): AxumState<Sandbox>,
    origin: Origin,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let wrong = |message: &str| page::error(StatusCode::BAD_REQUEST, message);
    let params = match Params::of_form(&headers, &body) {
        Ok(params) => params,
        Err(message) => return wrong(message),
    };
    let now_ms = sandbox.now_ms();
    let Some(form) = params.get("token").and_then(|token| sandbox.0.forms.open(token, now_ms)) else {
        return wrong("This form is not one of this provider, or is older than ten minutes. Start again.");
    };
    let (request, action) = (&form.request, params.get("action"));
    let mail = account(&params);
    if action == Some("allow") && mail.is_none() {
        return wrong("Choose an account. Accounts are called <name>@sandbox.test.");
    }
    if !matches!(action, Some("allow" | "deny")) {
        return wrong("Choose Allow or Deny.");
    }
    if !sandbox.0.forms.spend(&form, now_ms) {
        return wrong("This form was used already. Start again.");
    }
    let refuse =
        |error: &str| back(&origin, &request.redirect_uri, request.state.as_deref(), &[("error", error)]);
    let Some(mail) = mail.filter(|_| action == Some("allow")) else { return refuse("access_denied") };
    match mail.strip_suffix(DOMAIN) {
        Some("denied") => return refuse("access_denied"),
        Some("admin") => return refuse("admin_policy_enforced"),
        _ => {}
    }
    let ticked = request.scopes.iter().filter(|scope| params.all("scope").any(|name| name == **scope));
    let scopes = ticked.cloned().collect();
    match issue(&sandbox, request, (mail, scopes), now_ms).await {
        Ok(code) => {
            back(&origin, &request.redirect_uri, request.state.as_deref(), &[("code", code.as_str())])
        }
        Err(problem) => page::error(problem.status, &problem.message),
    }
}

/// Returns the account that the form selects: by a radio button, or in the field beside the last one.
fn account(params: &Params) -> Option<String> {
    let name = match params.get("account") {
        Some("other") => params.get("name").unwrap_or("other"),
        other => other?,
    };
    let name = name.trim().to_ascii_lowercase();
    let name = name.strip_suffix(DOMAIN).unwrap_or(&name);
    is_name(name).then(|| format!("{name}{DOMAIN}"))
}

/// Creates a code for the scopes that the account has granted.
async fn issue(
    sandbox: &Sandbox,
    request: &ConsentRequest,
    (mail, scopes): (String, Vec<String>),
    now_ms: i64,
) -> Result<String, Problem> {
    let code = format!("sbx_ac_{}", sandbox.new_secret()?);
    let issued = Code {
        hash: hashed(&code),
        client: request.client.clone(),
        redirect_uri: request.redirect_uri.clone(),
        challenge: request.challenge.clone(),
        mail,
        scopes,
        expires_at_ms: now_ms.saturating_add(CODE_MS),
        is_used: false,
        family: None,
    };
    sandbox
        .write(|state| {
            state.commit(Op::Grant(GrantChange::Code(issued)));
            Ok(())
        })
        .await?;
    Ok(code)
}

/// Redirects the browser to the client by GET, whatever the previous method (RFC 9700, section 4.12), with the issuer (RFC 9207).
fn back(origin: &Origin, redirect_uri: &str, state: Option<&str>, answer: &[(&str, &str)]) -> Response {
    let mut query = Serializer::new(String::new());
    query.extend_pairs(answer);
    if let Some(state) = state {
        query.append_pair("state", state);
    }
    query.append_pair("iss", &origin.issuer());
    let separator = if redirect_uri.contains('?') { '&' } else { '?' };
    let Ok(location) = HeaderValue::try_from(format!("{redirect_uri}{separator}{}", query.finish())) else {
        return page::error(StatusCode::BAD_REQUEST, "The redirect_uri cannot be written into a header.");
    };
    let mut response = StatusCode::SEE_OTHER.into_response();
    let headers = response.headers_mut();
    headers.insert(LOCATION, location);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}
