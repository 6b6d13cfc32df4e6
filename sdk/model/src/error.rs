//! The error envelope, the body of every answer that is not a success.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `{ "error": { … } }`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default)]
pub struct ErrorEnvelope {
    pub error: ErrorBody,
}

/// An error, for a program (`code`) and for a person (`message`). Keys are snake_case, like all of the envelope.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default)]
pub struct ErrorBody {
    #[serde(rename = "type")]
    pub kind: ErrorType,
    /// Stable: branch on this, such as `stale_etag`.
    pub code: String,
    pub message: String,
    /// The field or parameter at fault.
    pub param: Option<String>,
    /// Each fault, where there are several.
    pub details: Vec<ErrorDetail>,
    /// The same as the `x-request-id` header.
    pub request_id: String,
    /// The same request may succeed later, unchanged.
    pub retryable: bool,
    pub doc_url: Option<String>,
    /// The provider's answer, if the provider refused the call.
    pub provider: Option<ProviderError>,
    /// The current version; only with `stale_etag`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_etag: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ErrorType {
    InvalidRequestError,
    AuthenticationError,
    PermissionError,
    NotFoundError,
    ConflictError,
    RateLimitError,
    ProviderError,
    #[default]
    ApiError,
}

/// One fault.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default)]
pub struct ErrorDetail {
    /// Path of the field, such as `attendees[0].email`.
    pub field: String,
    pub code: String,
    pub message: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default)]
pub struct ProviderError {
    pub name: String,
    pub status: Option<i64>,
    pub code: Option<String>,
    pub message: Option<String>,
}
