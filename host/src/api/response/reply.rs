//! Answers as HTTP responses.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use base::error::Result;
use http::{HeaderName, HeaderValue, StatusCode, header};
use serde::Serialize;
use serde_json::Value;
use service::app::stored_response::StoredResponse;
use service::connections::request_context::RequestContext;

use crate::api::response::error::ApiError;

/// The response of an answer.
pub fn response(answer: StoredResponse) -> Response {
    let is_empty = answer.body.is_empty();
    let mut response = Response::new(Body::from(answer.body));
    // Capacity for these and for the headers of every answer.
    response.headers_mut().reserve(12);
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if !is_empty {
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    for (name, value) in answer.headers {
        if let Ok(value) = HeaderValue::try_from(value) {
            response.headers_mut().insert(HeaderName::from_static(name), value);
        }
    }
    response
}

/// A page of a list over several connections. If some of them could not be read, it has `complete: false`, and a warning for each, with the
/// connection's id as its `target`.
pub fn over_connections(answer: StoredResponse, asker: &RequestContext) -> StoredResponse {
    let missing = asker.reading.missing();
    if missing.is_empty() {
        return answer;
    }
    let object = answer.body.strip_suffix(b"}").unwrap_or(&answer.body);
    let body = [object, b",\"complete\":false}".as_slice()].concat();
    StoredResponse { body: body.into(), ..answer }.warned(&missing)
}

/// An answer with the warnings about its query before its own.
pub fn with_warnings<T: Serialize>(answer: &T, warnings: Vec<Value>) -> Result<StoredResponse> {
    let mut value = serde_json::to_value(answer)?;
    let own = value["warnings"].take();
    let own = own.as_array().into_iter().flatten().cloned();
    value["warnings"] = warnings.into_iter().chain(own).collect();
    Ok(StoredResponse::ok(value.to_string()))
}

/// The answer of an operation.
pub struct ApiResponse(pub StoredResponse);

/// The answer of an operation, or the error that the caller gets.
pub type ApiResult = Result<ApiResponse, ApiError>;

impl IntoResponse for ApiResponse {
    fn into_response(self) -> Response {
        response(self.0)
    }
}
