//! Authentication of an OAuth client at the token endpoint (RFC 6749, section 2.3): by its API key, which may also be the password of
//! HTTP's Basic scheme (RFC 7617).

use std::borrow::Cow;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::{HeaderMap, HeaderValue, header};
use service::access_tokens::TokenError;

use crate::api::access::api_key::{Caller, X_API_KEY};

/// The headers, with the key in the header that all operations read. A key in `X-Api-Key` takes precedence over a password; that there are
/// two is reported once the client is authenticated.
pub fn as_key(headers: &HeaderMap) -> Cow<'_, HeaderMap> {
    let Some((_, password)) = basic(headers) else { return Cow::Borrowed(headers) };
    let Ok(mut bearer) = HeaderValue::try_from(format!("Bearer {password}")) else {
        return Cow::Borrowed(headers);
    };
    bearer.set_sensitive(true);
    let mut changed = headers.clone();
    if changed.contains_key(X_API_KEY) {
        changed.remove(header::AUTHORIZATION);
    } else {
        changed.insert(header::AUTHORIZATION, bearer);
    }
    Cow::Owned(changed)
}

/// User name and password of the Basic scheme.
fn basic(headers: &HeaderMap) -> Option<(String, String)> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, encoded) = value.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let text = String::from_utf8(BASE64_STANDARD.decode(encoded.trim()).ok()?).ok()?;
    let (user, password) = text.split_once(':')?;
    Some((user.to_owned(), password.to_owned()))
}

/// The challenge for a client that failed to authenticate, in the scheme that it used (RFC 6749, section 5.2).
pub fn challenge(headers: &HeaderMap) -> &'static str {
    let value = headers.get(header::AUTHORIZATION).and_then(|v| v.to_str().ok()).unwrap_or_default();
    let scheme = value.split(' ').next().unwrap_or_default();
    if scheme.eq_ignore_ascii_case("basic") { "Basic realm=\"switchboard\"" } else { "Bearer" }
}

/// Refuses a client that authenticated in two ways, under another name, or by a token.
///
/// # Errors
/// `invalid_request`, `invalid_client` or `unauthorized_client`.
pub fn check(headers: &HeaderMap, caller: &Caller) -> Result<(), TokenError> {
    if headers.contains_key(header::AUTHORIZATION) && headers.contains_key(X_API_KEY) {
        let message = "authenticate in one way: either Authorization or X-Api-Key";
        return Err(TokenError::invalid_request(message));
    }
    if basic(headers).is_some_and(|(user, _)| !user.is_empty() && user != caller.key.id) {
        let message = "the user name must be empty or the id of the API key that is the password";
        return Err(TokenError::new("invalid_client", message));
    }
    if caller.key.is_token() {
        let message = "an access token cannot be exchanged for others; authenticate by an API key";
        return Err(TokenError::new("unauthorized_client", message));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(authorization: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, authorization.parse().unwrap());
        headers
    }

    #[test]
    fn the_password_of_basic_is_the_key() {
        let sent = headers(&format!("basic {}", BASE64_STANDARD.encode(":uc_live_x")));
        assert_eq!(as_key(&sent).get(header::AUTHORIZATION).unwrap(), "Bearer uc_live_x");
        for other in ["Bearer uc_live_x", "Basic", "Basic %%%", "Basic eA=="] {
            assert_eq!(as_key(&headers(other)).get(header::AUTHORIZATION).unwrap(), other);
        }
    }
}
