//! Common steps of outgoing answers: the envelope of errors, the headers, and the surface for usage.

use axum::response::Response;
use http::{HeaderName, HeaderValue};
use service::app::freshness::ReadTrace;

use crate::api::response::error::{self, PendingError};
use crate::web::rate_limit::RateLimitState;
use crate::web::request_id::X_REQUEST_ID;

const X_RATELIMIT_LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const X_RATELIMIT_REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const X_DATA_SOURCE: HeaderName = HeaderName::from_static("x-data-source");
const X_DATA_AGE: HeaderName = HeaderName::from_static("x-data-age");

/// Adds the source and the age of the data to the answer to a read.
pub fn aged(mut response: Response, reading: &ReadTrace, now: i64) -> Response {
    let Some(age) = reading.age().filter(|_| response.status().is_success()) else { return response };
    let source = if age.waited { "provider" } else { "local" };
    response.headers_mut().insert(X_DATA_SOURCE, HeaderValue::from_static(source));
    if let Some(read_at) = age.read_at {
        response.headers_mut().insert(X_DATA_AGE, HeaderValue::from((now - read_at).max(0) / 1000));
    }
    response
}

/// Converts a handler's error to the envelope, now that the request's id is known.
pub fn with_envelope(response: Response, request_id: &str) -> Response {
    match response.extensions().get::<PendingError>().and_then(PendingError::take) {
        Some(e) => error::response(e, request_id),
        None => response,
    }
}

/// Adds the headers of every answer.
pub fn settle(mut response: Response, request_id: &str, standing: RateLimitState) -> Response {
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::from_str(request_id) {
        headers.insert(X_REQUEST_ID, id);
    }
    // None if an operation counts by itself.
    if standing.limit > 0 {
        headers.insert(X_RATELIMIT_LIMIT, HeaderValue::from(standing.limit));
        headers.insert(X_RATELIMIT_REMAINING, HeaderValue::from(standing.remaining));
    }
    headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    headers.entry("cache-control").or_insert(HeaderValue::from_static("private, no-store"));
    response
}

/// The surface of a path for usage.
pub fn surface_of(route: &str) -> &'static str {
    match route.split('/').nth(2).unwrap_or_default() {
        "email" => "email",
        "calendars" => "calendar",
        "contacts" | "contact-books" | "contact-groups" => "contacts",
        "task-lists" => "tasks",
        "scheduling" => "scheduling",
        "webhooks" | "events" => "webhooks",
        "" => "unknown",
        _ => "management",
    }
}
