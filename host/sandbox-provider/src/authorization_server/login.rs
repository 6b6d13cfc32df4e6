//! Requests to the provider's API with an access token.

use axum::http::header::WWW_AUTHENTICATE;
use axum::http::{HeaderValue, Method};
use axum::response::{IntoResponse, Response};

use crate::auth::Login;
use crate::authorization_server::scopes::{Need, is_granted, needed};
use crate::problem::Problem;
use crate::sandbox::Sandbox;

/// The login of an access token; none where it is unknown or has expired.
pub fn by_token(sandbox: &Sandbox, token: &str) -> Option<Login> {
    let now_ms = sandbox.now_ms();
    let store = sandbox.store();
    let (family, token) = store.state.grants.of_access_token(token)?;
    let is_good = now_ms < token.expires_at_ms;
    is_good.then(|| Login { mail: family.mail.clone(), scopes: Some(token.scopes.clone()) })
}

/// 403 where the scopes of the login's token do not suffice (RFC 6750, section 3.1).
pub fn refuse(login: &Login, method: &Method, path: &str) -> Option<Response> {
    let scopes = login.scopes.as_ref()?;
    let (message, challenge) = match needed(method, path) {
        Need::Nothing => return None,
        Need::Scope(scope) if is_granted(scopes, scope) => return None,
        Need::Scope(scope) => (
            format!("the access token lacks the scope {scope}"),
            format!("Bearer error=\"insufficient_scope\", scope=\"{scope}\""),
        ),
        Need::Password => (
            "no access token is enough for this: log in with the account's password".to_owned(),
            "Basic realm=\"sandbox\"".to_owned(),
        ),
    };
    let mut response = Problem::forbidden("insufficientScope", message).into_response();
    if let Ok(challenge) = HeaderValue::try_from(challenge) {
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    Some(response)
}
