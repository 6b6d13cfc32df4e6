//! Idempotency-Key: runs a write once, or replays its answer (`web::idempotency`). The key is claimed before the work.

use axum::response::Response;
use base::error::{Code, Result, invalid};
use http::{HeaderMap, HeaderName, HeaderValue, header};
use service::app::App;
use service::app::stored_response::{IdempotentAttempt, StoredResponse};

use crate::api::access::api_key::Caller;
use crate::api::response::reply;
use crate::web::fingerprint::of_parts;
use crate::web::idempotency::{ClaimResult, claim_scope};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const IDEMPOTENT_REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// The request of a claim: claims are identified by API key, method and path, and compared by the other fields.
pub struct ClaimedRequest<'a> {
    pub method: &'a str,
    pub path: &'a str,
    pub query: &'a str,
    pub headers: &'a HeaderMap,
    /// Fingerprint of the body.
    pub body: &'a str,
}

/// Claims the request's key, or finds its stored answer.
pub async fn begin(app: &App, caller: &Caller, request: &ClaimedRequest<'_>) -> Result<ClaimResult> {
    let Some(key) = key(request.headers)? else {
        return Ok(ClaimResult::Run(IdempotentAttempt::new(
            hex::encode(app.entropy.bytes::<16>()),
            false,
            None,
        )));
    };
    let application_id = caller.tenant().application_id.as_str();
    // By API key, or by grant: an answer can contain data that only its own key may see, such as a key that it created.
    let scope = of_parts(&[request.method, request.path, caller.key.idempotency_scope(), key]);
    claim_scope(app, application_id, scope, fingerprint(request)).await
}

/// The response for the stored answer of an earlier request with the same key.
pub fn replayed(answer: StoredResponse) -> Response {
    let mut response = reply::response(answer);
    response.headers_mut().insert(IDEMPOTENT_REPLAYED, HeaderValue::from_static("true"));
    response
}

/// Returns the key: 1 to 255 printable ASCII characters.
fn key(headers: &HeaderMap) -> Result<Option<&str>> {
    let mut values = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(first) = values.next() else { return Ok(None) };
    let text = first.to_str().unwrap_or_default();
    let fits = (1..=255).contains(&text.len()) && text.bytes().all(|b| (0x20..0x7f).contains(&b));
    if !fits || values.next().is_some() {
        let message = "Idempotency-Key must be given once, with 1 to 255 printable ASCII characters";
        return Err(invalid(Code::InvalidIdempotencyKey, "Idempotency-Key", message));
    }
    Ok(Some(text))
}

/// The fingerprint of a request, equal for requests with the same meaning.
fn fingerprint(request: &ClaimedRequest<'_>) -> String {
    let if_match = request.headers.get(header::IF_MATCH).and_then(|v| v.to_str().ok()).unwrap_or_default();
    of_parts(&[request.query, if_match, request.body])
}
