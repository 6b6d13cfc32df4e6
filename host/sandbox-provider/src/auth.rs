//! Authentication: the one place where the provider reads credentials.
//!
//! Three ways: HTTP Basic with the account's address and the password `sandbox`, `Bearer sandbox-<name>` for
//! `<name>@sandbox.test`, and an access token of the authorization server. Addresses with a special name simulate one fault each,
//! see `Login::from_headers`.

use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, StatusCode};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::problem::Problem;

/// The password of every account.
pub const PASSWORD: &str = "sandbox";
/// All accounts live here.
pub const DOMAIN: &str = "@sandbox.test";

/// The account that a request acts for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login {
    /// Lower case.
    pub mail: String,
    /// The access token's scopes; none: the login was by password or `sandbox-<name>`, and may do everything.
    pub scopes: Option<Vec<String>>,
}

impl Login {
    /// Reads `Authorization`. Any `<name>@sandbox.test` may log in: `alice`, `bob` and `carol` have a full calendar, others
    /// begin empty. `revoked@` is always answered 401, `throttled@` 429, `down@` 503. `by_token`: the login of an access token.
    pub fn from_headers(
        headers: &HeaderMap,
        by_token: impl FnOnce(&str) -> Option<Login>,
    ) -> Result<Self, Problem> {
        let Some(value) = headers.get(AUTHORIZATION) else {
            return Err(unauthorized("send HTTP Basic or Bearer credentials"));
        };
        let value = value.to_str().map_err(|_| unauthorized("the authorization header is not text"))?;
        let (scheme, rest) = value.split_once(' ').unwrap_or((value, ""));
        let login = match scheme.to_ascii_lowercase().as_str() {
            "basic" => Login { mail: basic(rest.trim())?, scopes: None },
            "bearer" => bearer(rest.trim(), by_token)?,
            _ => return Err(unauthorized("the authorization scheme is neither Basic nor Bearer")),
        };
        let Some(name) = login.mail.strip_suffix(DOMAIN).filter(|n| is_name(n)) else {
            return Err(unauthorized("accounts are called <name>@sandbox.test"));
        };
        match name {
            "revoked" => Err(unauthorized("the account has withdrawn its consent")),
            "throttled" => Err(Problem {
                retry_after_s: Some(1),
                ..Problem::new(StatusCode::TOO_MANY_REQUESTS, "tooManyRequests", "the account asks too often")
            }),
            "down" => Err(Problem {
                retry_after_s: Some(1),
                ..Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", "the account's server is down")
            }),
            _ => Ok(login),
        }
    }
}

/// Whether an account may have this name.
pub fn is_name(name: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._+-".contains(&b);
    (1..=64).contains(&name.len()) && name.bytes().all(allowed)
}

fn basic(encoded: &str) -> Result<String, Problem> {
    let text = STANDARD.decode(encoded).ok().and_then(|b| String::from_utf8(b).ok());
    match text.as_deref().and_then(|t| t.split_once(':')) {
        Some((mail, PASSWORD)) => Ok(mail.trim().to_ascii_lowercase()),
        Some(_) => Err(unauthorized("the password of every account here is \"sandbox\"")),
        None => Err(unauthorized("the Basic credentials cannot be read")),
    }
}

fn bearer(token: &str, by_token: impl FnOnce(&str) -> Option<Login>) -> Result<Login, Problem> {
    match token.strip_prefix("sandbox-") {
        Some(name) => Ok(Login { mail: format!("{}{DOMAIN}", name.to_ascii_lowercase()), scopes: None }),
        None => by_token(token)
            .ok_or_else(|| unauthorized("the access token is not known, was revoked, or has expired")),
    }
}

fn unauthorized(message: &str) -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", message)
}
