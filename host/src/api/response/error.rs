//! The public error envelope: every failed request leaves with the same shape.

use axum::response::{IntoResponse, Response};
use base::error::{Code, Error, Refusal};
use http::{HeaderValue, StatusCode, header};
use serde_json::{Value, json};

use crate::api::response::doc_links::error_page;
use crate::web::error::{FailedCode, FailedParam, public, status};

/// An error on its way out.
#[derive(Debug)]
pub struct ApiError(pub Error);

impl<E: Into<Error>> From<E> for ApiError {
    fn from(e: E) -> Self {
        ApiError(e.into())
    }
}

/// Codes that a client may retry as they are.
fn is_retryable(code: Code) -> bool {
    matches!(
        code,
        Code::RateLimited
            | Code::ProviderRateLimited
            | Code::IdempotencyInProgress
            | Code::ProviderUnavailable
            | Code::ProviderTimeout
            | Code::AvailabilityUnknown
            | Code::Overloaded
            | Code::DatabaseUnavailable
            | Code::StorageFull
            | Code::RequestTimeout
            | Code::InternalError
    )
}

/// The family of a code, for clients that do not know the code itself.
fn family(code: Code) -> &'static str {
    match status(code).as_u16() {
        _ if matches!(code, Code::ProviderError | Code::ProviderUnavailable | Code::ProviderTimeout) => {
            "provider_error"
        }
        400 | 405 | 408 | 413 | 415 => "invalid_request_error",
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        409 => "conflict_error",
        429 => "rate_limit_error",
        _ => "api_error",
    }
}

/// The envelope of a refusal.
pub fn envelope(refusal: &Refusal, request_id: &str) -> Value {
    let details: Vec<Value> = refusal
        .details
        .iter()
        .map(|d| json!({ "field": d.field, "code": d.code.as_str(), "message": d.message }))
        .collect();
    let provider = refusal
        .provider
        .as_ref()
        .map(|p| json!({ "name": p.name, "status": p.status, "code": p.code, "message": p.message }));
    let mut error = json!({
        "type": family(refusal.code),
        "code": refusal.code.as_str(),
        "message": refusal.message,
        "param": refusal.param,
        "details": details,
        "request_id": request_id,
        "retryable": is_retryable(refusal.code),
        "doc_url": error_page(refusal.code),
        "provider": provider,
    });
    if let Some(etag) = &refusal.current_etag {
        error["current_etag"] = json!(etag);
    }
    json!({ "error": error })
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        // The request id is not known here: the outermost layer finds the error on the response and prints the envelope.
        let mut response = StatusCode::INTERNAL_SERVER_ERROR.into_response();
        response
            .extensions_mut()
            .insert(PendingError(std::sync::Arc::new(std::sync::Mutex::new(Some(self.0)))));
        response
    }
}

/// An error that waits for its request id.
#[derive(Clone)]
pub struct PendingError(std::sync::Arc<std::sync::Mutex<Option<Error>>>);

impl PendingError {
    /// The error; once.
    pub fn take(&self) -> Option<Error> {
        self.0.lock().ok().and_then(|mut slot| slot.take())
    }
}

/// The response of an error.
pub fn response(error: Error, request_id: &str) -> Response {
    let refusal = public(error, request_id);
    let code = refusal.code;
    let body = envelope(&refusal, request_id).to_string();
    let mut response = (status(refusal.code), body).into_response();
    response.extensions_mut().insert(FailedCode(code));
    let param = refusal.param.or_else(|| refusal.details.into_iter().next().map(|detail| detail.field));
    if let Some(param) = param {
        response.extensions_mut().insert(FailedParam(param));
    }
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some(seconds) = refusal.retry_after_s {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}
