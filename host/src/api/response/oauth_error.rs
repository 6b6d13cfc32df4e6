//! Errors of the token endpoint, in the form of RFC 6749, section 5.2, instead of the envelope.

use axum::body::{Body, to_bytes};
use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use serde_json::{Value, json};
use service::access_tokens::TokenError;

use crate::web::error::FailedCode;

/// Most bytes of an envelope, which is far smaller.
const MAX_ENVELOPE: usize = 64 << 10;

/// The response of a refusal.
pub fn response(error: &TokenError) -> Response {
    let status = match error.error {
        "invalid_client" => StatusCode::UNAUTHORIZED,
        _ => StatusCode::BAD_REQUEST,
    };
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    set_body(&mut response, error.error, &error.description);
    response
}

fn set_body(response: &mut Response, error: &str, description: &str) {
    let body = json!({ "error": error, "error_description": printable(description) });
    *response.body_mut() = Body::from(body.to_string());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
}

/// The characters that RFC 6749, section 5.2, allows in a description; others become `'` or `?`.
fn printable(text: &str) -> String {
    let allowed = |c: char| match c {
        '"' | '`' | '\\' => '\'',
        ' '..='~' => c,
        '…' => '.',
        _ => '?',
    };
    text.chars().map(allowed).collect()
}

/// Converts an answer of the token endpoint: errors without the envelope, a challenge if the client is unknown, and headers that forbid
/// caching (RFC 6749, section 5.1).
pub async fn translated(response: Response, challenge: &'static str) -> Response {
    let mut response = match response.extensions().get::<FailedCode>() {
        Some(_) => without_envelope(response).await,
        None => response,
    };
    let is_unknown = response.status() == StatusCode::UNAUTHORIZED;
    let headers = response.headers_mut();
    if is_unknown {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::PRAGMA, HeaderValue::from_static("no-cache"));
    response
}

/// Converts an error: an invalid request to `invalid_request`, an invalid key to `invalid_client`; others keep their status and their code.
async fn without_envelope(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    let bytes = to_bytes(body, MAX_ENVELOPE).await.unwrap_or_default();
    let envelope: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let (code, message) = (envelope["error"]["code"].as_str(), envelope["error"]["message"].as_str());
    let error = match parts.status {
        StatusCode::BAD_REQUEST | StatusCode::UNSUPPORTED_MEDIA_TYPE => {
            parts.status = StatusCode::BAD_REQUEST;
            "invalid_request"
        }
        StatusCode::UNAUTHORIZED => "invalid_client",
        _ => code.unwrap_or("server_error"),
    };
    let mut response = Response::from_parts(parts, Body::empty());
    set_body(&mut response, error, message.unwrap_or_default());
    response
}
