//! Errors of the token and the revocation endpoint (RFC 6749, section 5.2).

use std::borrow::Cow;

use axum::Json;
use axum::http::header::{CACHE_CONTROL, PRAGMA, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::problem::Problem;

/// A refusal of a token request.
#[derive(Clone, Debug)]
pub struct OAuthError {
    status: StatusCode,
    /// The error code that clients branch on.
    error: Cow<'static, str>,
    /// For the developer.
    description: String,
    retry_after_s: Option<u32>,
}

impl OAuthError {
    /// 400.
    pub fn new(error: impl Into<Cow<'static, str>>, description: impl Into<String>) -> Self {
        let (error, description) = (error.into(), description.into());
        OAuthError { status: StatusCode::BAD_REQUEST, error, description, retry_after_s: None }
    }

    /// The request lacks a parameter, or has one twice.
    pub fn invalid_request(description: impl Into<String>) -> Self {
        OAuthError::new("invalid_request", description)
    }

    /// The code or the token is not valid, or no longer.
    pub fn invalid_grant(description: impl Into<String>) -> Self {
        OAuthError::new("invalid_grant", description)
    }

    /// 401: the client is unknown, or its authentication failed.
    pub fn invalid_client(description: impl Into<String>) -> Self {
        OAuthError { status: StatusCode::UNAUTHORIZED, ..OAuthError::new("invalid_client", description) }
    }
}

impl From<Problem> for OAuthError {
    /// The provider itself has failed.
    fn from(problem: Problem) -> Self {
        OAuthError {
            status: problem.status,
            retry_after_s: problem.retry_after_s,
            ..OAuthError::new("temporarily_unavailable", problem.message)
        }
    }
}

impl IntoResponse for OAuthError {
    fn into_response(self) -> Response {
        let body = json!({ "error": self.error, "error_description": self.description });
        let mut response = unstored((self.status, Json(body)).into_response());
        let headers = response.headers_mut();
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"sandbox\""));
        }
        if let Some(seconds) = self.retry_after_s {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// A response with `no-store` (RFC 6749, section 5.1).
pub fn unstored(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(PRAGMA, HeaderValue::from_static("no-cache"));
    response
}
