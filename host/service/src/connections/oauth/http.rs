//! The HTTP layer of token requests: the crate `oauth2` over the host's guarded client. Responses as they occur in practice are normalized
//! to the form of RFC 6749, section 5.1.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use oauth2::{AsyncHttpClient, HttpRequest, HttpResponse};
use runtime::{DirectRequest, DirectResponse, ErrorClass};
use serde_json::{Map, Value};

use crate::app::App;
use crate::connections::oauth::OAuthProvider;
use crate::connections::oauth::answer_body;
use crate::connections::oauth::classify::{self, RotatedToken, TokenFailure};

/// Timeout of a token request. The claim of a refresh lasts longer.
pub const TIMEOUT: Duration = Duration::from_secs(20);

/// Most bytes of a response.
pub const MAX_BYTES: usize = 64 << 10;

/// Longest accepted access token, bytes.
const MAX_TOKEN: usize = 16 << 10;

/// A provider's token endpoint. Each request is sent once: there are no retries, and no redirect is followed.
pub struct TokenEndpoint<'a> {
    pub app: &'a App,
    pub provider: &'a OAuthProvider,
}

impl<'c> AsyncHttpClient<'c> for TokenEndpoint<'_> {
    type Error = TokenFailure;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, TokenFailure>> + Send + 'c>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(self.send(request))
    }
}

impl TokenEndpoint<'_> {
    /// Sends a request and returns the normalized successful response. Refusals are errors, so that their status and `Retry-After` are not
    /// lost, and so are unusable tokens. The error contains a refresh token of such a response.
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, TokenFailure> {
        let manifest = &self.provider.connector.manifest;
        let (parts, body) = request.into_parts();
        let request = DirectRequest {
            tenant: self.provider.tenant.application_id.clone(),
            connector: manifest.name.clone(),
            method: parts.method,
            url: self.provider.endpoints.token_url.to_string(),
            headers: parts.headers,
            body,
            timeout: TIMEOUT,
            max_bytes: MAX_BYTES,
        };
        let answer = self.app.runtime.send_direct(request).await.map_err(classify::unanswered)?;
        let body = match classify::token_answer(&manifest.auth, &answer, self.app.now()) {
            Ok(body) => normalize_body(body),
            Err(failure) => return Err(TokenFailure { rotated: beside_error(&answer), ..failure }),
        };
        if let Some(class) = misfit(&body) {
            return Err(TokenFailure {
                rotated: find_refresh_token(&body),
                ..TokenFailure::new(class, true)
            });
        }
        let body = serde_json::to_vec(&body).map_err(|_| TokenFailure::new(ErrorClass::Retry, true))?;
        Ok(HttpResponse::new(body))
    }
}

/// Returns the refresh token of a normalized response.
fn find_refresh_token(body: &Map<String, Value>) -> Option<RotatedToken> {
    body.get("refresh_token").and_then(Value::as_str).map(RotatedToken::new)
}

/// Returns the refresh token of a 2xx response that also has an error.
fn beside_error(answer: &DirectResponse) -> Option<RotatedToken> {
    let text = answer.status.is_success().then(|| answer_body::decoded(&answer.body))?;
    find_refresh_token(&normalize_body(answer_body::parameters(&text)?))
}

/// Returns the reason why the access token of a normalized response is unusable. It has to be a bearer token (RFC 6749, section 7.1) that
/// fits into a header.
fn misfit(body: &Map<String, Value>) -> Option<ErrorClass> {
    let text = |name: &str| body.get(name).and_then(Value::as_str).unwrap_or_default();
    if !text("token_type").trim().eq_ignore_ascii_case("bearer") {
        return Some(ErrorClass::Operator);
    }
    (!is_token(text("access_token"))).then_some(ErrorClass::Retry)
}

/// RFC 6749, appendix A.12, without the space.
fn is_token(text: &str) -> bool {
    (1..=MAX_TOKEN).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Whether a text can be a refresh token: it is sent back in a form, which can carry any text. Text that was no UTF-8 is not what the
/// server sent.
fn is_refresh_token(text: &str) -> bool {
    !text.is_empty() && !text.chars().any(|c| c.is_control() || c == char::REPLACEMENT_CHARACTER)
}

/// Returns the response with numbers instead of texts, scopes separated by spaces, and the token type `bearer` if none is named. Members of
/// a wrong type are left out, so that they do not make valid tokens unreadable.
fn normalize_body(mut body: Map<String, Value>) -> Map<String, Value> {
    for name in ["expires_in", "refresh_token_expires_in"] {
        if let Some(seconds) = body.remove(name).as_ref().and_then(seconds) {
            body.insert(name.to_owned(), seconds.into());
        }
    }
    let scope = match body.remove("scope") {
        Some(Value::String(text)) => Some(text.replace(',', " ")),
        Some(Value::Array(scopes)) => {
            let scopes: Vec<&str> = scopes.iter().filter_map(Value::as_str).collect();
            Some(scopes.join(" "))
        }
        _ => None,
    };
    if let Some(scope) = scope {
        body.insert("scope".to_owned(), scope.into());
    }
    let is_named = |kind: &Value| kind.as_str().is_some_and(|kind| !kind.trim().is_empty());
    if !body.get("token_type").is_some_and(is_named) {
        body.insert("token_type".to_owned(), "bearer".into());
    }
    body.retain(|name, value| match name.as_str() {
        "refresh_token" => value.as_str().is_some_and(is_refresh_token),
        "id_token" => value.is_string(),
        _ => true,
    });
    body
}

/// Parses whole seconds, written as a number or as a text.
fn seconds(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        // Fractions of a second are dropped.
        other => other.as_u64().or_else(|| other.as_f64().filter(|s| *s >= 0.0).map(|s| s as u64)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answers_are_normalized() {
        for (answer, wanted) in [
            (json!({ "expires_in": "3600" }), json!({ "expires_in": 3600, "token_type": "bearer" })),
            (json!({ "expires_in": 3599.7 }), json!({ "expires_in": 3599, "token_type": "bearer" })),
            (json!({ "expires_in": null }), json!({ "token_type": "bearer" })),
            (json!({ "expires_in": -1 }), json!({ "token_type": "bearer" })),
            (json!({ "expires_in": "soon" }), json!({ "token_type": "bearer" })),
            (
                json!({ "scope": "a,b c", "token_type": "Bearer" }),
                json!({ "scope": "a b c", "token_type": "Bearer" }),
            ),
            (
                json!({ "scope": ["a", "b"], "token_type": "mac" }),
                json!({ "scope": "a b", "token_type": "mac" }),
            ),
            (json!({ "scope": null, "token_type": null }), json!({ "token_type": "bearer" })),
            (json!({ "scope": "" }), json!({ "scope": "", "token_type": "bearer" })),
            (json!({ "id_token": {}, "refresh_token": 7 }), json!({ "token_type": "bearer" })),
            (json!({ "refresh_token": "", "token_type": 7 }), json!({ "token_type": "bearer" })),
            (
                json!({ "refresh_token": "a b\u{e9}", "id_token": "" }),
                json!({ "refresh_token": "a b\u{e9}", "id_token": "", "token_type": "bearer" }),
            ),
        ] {
            let shown = answer.to_string();
            let Value::Object(answer) = answer else { panic!("{shown}") };
            assert_eq!(Value::Object(normalize_body(answer)), wanted, "{shown}");
        }
    }

    #[test]
    fn an_access_token_is_a_bearer_token_that_fits_into_a_header() {
        let class = |answer: Value| misfit(&normalize_body(answer.as_object().unwrap().clone()));
        assert_eq!(class(json!({ "access_token": "a.b-c/d+e=", "token_type": "BEARER" })), None);
        assert_eq!(class(json!({ "access_token": "a", "token_type": "" })), None);
        assert_eq!(class(json!({ "access_token": "a", "token_type": "Bearer " })), None);
        for token in
            [json!(""), json!("a b"), json!("a\n"), json!("\u{e9}"), json!(7), json!("x".repeat(16_385))]
        {
            assert_eq!(class(json!({ "access_token": token })), Some(ErrorClass::Retry), "{token}");
        }
        assert_eq!(class(json!({ "refresh_token": "r" })), Some(ErrorClass::Retry));
        for kind in ["mac", "DPoP", "bearer x"] {
            let answer = json!({ "access_token": "a", "token_type": kind });
            assert_eq!(class(answer), Some(ErrorClass::Operator), "{kind}");
        }
    }
}
