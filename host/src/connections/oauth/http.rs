//! The HTTP of token requests: the crate `oauth2` over the host's guarded client, and answers as they are in practice made into answers as
//! RFC 6749, section 5.1 has them.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use oauth2::{AsyncHttpClient, HttpRequest, HttpResponse};
use runtime::{DirectRequest, ErrorClass};
use serde_json::{Map, Value};

use crate::app::App;
use crate::connections::oauth::OAuthProvider;
use crate::connections::oauth::classify::{self, TokenFailure};

/// Longest time that a token request may take. The lease of a refresh is longer.
pub const TIMEOUT: Duration = Duration::from_secs(20);

/// Most bytes of an answer.
pub const MAX_BYTES: usize = 64 << 10;

/// A provider's token endpoint. One request is one try: nothing is sent again, and no redirect is followed.
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
    /// A successful answer, normalized. Refusals are errors here, so that their status and `Retry-After` are not lost.
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
        let body = normalized(classify::token_answer(&manifest.auth, &answer)?);
        let body = serde_json::to_vec(&body).map_err(|_| TokenFailure::new(ErrorClass::Retry, true))?;
        Ok(HttpResponse::new(body))
    }
}

/// The answer with numbers where they are texts, scopes separated by spaces, and the one token type that is used where none is named.
fn normalized(mut body: Map<String, Value>) -> Map<String, Value> {
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
    if body.get("token_type").is_none_or(Value::is_null) {
        body.insert("token_type".to_owned(), "bearer".into());
    }
    body
}

/// Whole seconds, written as a number or as a text.
fn seconds(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        // A fraction of a second is of no account.
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
        ] {
            let shown = answer.to_string();
            let Value::Object(answer) = answer else { panic!("{shown}") };
            assert_eq!(Value::Object(normalized(answer)), wanted, "{shown}");
        }
    }
}
