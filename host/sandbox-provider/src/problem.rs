//! Errors of the provider's API, in one JSON shape: `{"error":{"code","message","field"}}`.

use axum::Json;
use axum::http::header::{ETAG, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// A refusal: status, a code to branch on, a sentence for the developer.
#[derive(Clone, Debug)]
pub struct Problem {
    pub status: StatusCode,
    pub code: &'static str,
    pub message: String,
    /// The body field or query parameter that it is about, as a dotted path.
    pub field: Option<String>,
    /// Seconds for `Retry-After`.
    pub retry_after_s: Option<u32>,
    /// The whole value of `Retry-After`, instead of seconds.
    pub retry_after: Option<Box<str>>,
    /// The current ETag, where the given one is stale.
    pub etag: Option<String>,
}

impl Problem {
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Problem {
            status,
            code,
            message: message.into(),
            field: None,
            retry_after_s: None,
            retry_after: None,
            etag: None,
        }
    }

    /// 404.
    pub fn not_found(what: &str, id: &str) -> Self {
        Problem::new(StatusCode::NOT_FOUND, "notFound", format!("there is no {what} {id:?}"))
    }

    /// 422: one field has a wrong value.
    pub fn field(field: &str, message: impl Into<String>) -> Self {
        Problem {
            field: Some(field.to_owned()),
            ..Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "invalidField", message)
        }
    }

    /// 400: the request itself cannot be parsed.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Problem::new(StatusCode::BAD_REQUEST, "badRequest", message)
    }

    /// 403: the account may not do that.
    pub fn forbidden(code: &'static str, message: impl Into<String>) -> Self {
        Problem::new(StatusCode::FORBIDDEN, code, message)
    }

    /// 409: not as things are.
    pub fn conflict(code: &'static str, message: impl Into<String>) -> Self {
        Problem::new(StatusCode::CONFLICT, code, message)
    }

    /// 412: `If-Match` names another version; the answer carries the current one.
    pub fn stale(current: &str) -> Self {
        Problem {
            etag: Some(current.to_owned()),
            ..Problem::new(
                StatusCode::PRECONDITION_FAILED,
                "stale",
                format!("it has changed: the current etag is {current}"),
            )
        }
    }

    /// 410: the sync token cannot be continued; list everything again.
    pub fn gone(message: &str) -> Self {
        Problem::new(StatusCode::GONE, "syncTokenExpired", message)
    }

    /// 507: a bound of this sandbox is reached.
    pub fn full(message: impl Into<String>) -> Self {
        Problem::new(StatusCode::INSUFFICIENT_STORAGE, "quotaExceeded", message)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = json!({ "error": { "code": self.code, "message": self.message, "field": self.field } });
        let mut answer = (self.status, Json(body)).into_response();
        let headers = answer.headers_mut();
        if let Some(seconds) = self.retry_after_s {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if let Some(value) = self.retry_after.and_then(|text| HeaderValue::from_str(&text).ok()) {
            headers.insert(RETRY_AFTER, value);
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"sandbox\", Bearer"));
        }
        if let Some(etag) = self.etag.and_then(|e| HeaderValue::try_from(e).ok()) {
            headers.insert(ETAG, etag);
        }
        answer
    }
}
