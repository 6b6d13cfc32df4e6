//! Errors of the People API: the newer form alone.

use serde_json::json;

use crate::google::errors::ApiError;

pub fn invalid(message: &str) -> ApiError {
    ApiError::rpc_only(400, "INVALID_ARGUMENT", message, json!([]))
}

pub fn not_found() -> ApiError {
    ApiError::rpc_only(404, "NOT_FOUND", "Requested entity was not found.", json!([]))
}

pub fn already_exists(message: &str) -> ApiError {
    ApiError::rpc_only(409, "ALREADY_EXISTS", message, json!([]))
}

/// A write while another one of the same user is under way.
pub fn aborted() -> ApiError {
    ApiError::rpc_only(409, "ABORTED", "The operation was aborted.", json!([]))
}

/// The version that a change is based on is not the present one; `code` is one of the two that occur.
pub fn etag_differs(code: u16, kind: &str) -> ApiError {
    let message = format!(
        "Request {kind}.etag is different than the current {kind}.etag. Clear local cache and get the latest {kind}."
    );
    ApiError::rpc_only(code, "FAILED_PRECONDITION", &message, json!([]))
}

/// The sync token is too old; integrators saw the answer with and without its reason.
pub fn sync_token_expired(has_reason: bool) -> ApiError {
    let details = match has_reason {
        true => json!([{
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": "EXPIRED_SYNC_TOKEN",
            "domain": "people.googleapis.com",
            "metadata": { "service": "people.googleapis.com" },
        }]),
        false => json!([]),
    };
    let message = "Sync token is expired. Clear local cache and retry call without the sync token.";
    ApiError::rpc_only(400, "FAILED_PRECONDITION", message, details)
}

/// A limit of calls of this kind in a minute.
pub fn quota(metric: &str) -> ApiError {
    let limit = format!("{metric} per minute per user");
    let message = format!(
        "Quota exceeded for quota metric '{metric}' and limit '{limit}' of service 'people.googleapis.com' for consumer \
         'project_number:1'."
    );
    let details = json!([{
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": "RATE_LIMIT_EXCEEDED",
        "domain": "googleapis.com",
        "metadata": { "quota_limit": limit, "service": "people.googleapis.com" },
    }]);
    ApiError::rpc_only(429, "RESOURCE_EXHAUSTED", &message, details)
}
