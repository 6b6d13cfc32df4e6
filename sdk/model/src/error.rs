//! The error envelope, the body of every answer that is not a success.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `{ "error": { … } }`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default)]
pub struct ErrorEnvelope {
    /// The error.
    pub error: ErrorBody,
}

/// An error, for a program (`code`) and for a person (`message`). Keys are snake_case, like all of the envelope.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default)]
pub struct ErrorBody {
    /// The class of the error.
    #[serde(rename = "type")]
    pub kind: ErrorType,
    /// Stable: branch on this, such as `stale_etag`.
    pub code: String,
    /// A sentence for people; it may change.
    pub message: String,
    /// The field or parameter at fault.
    pub param: Option<String>,
    /// Each fault, where there are several.
    pub details: Vec<ErrorDetail>,
    /// The same as the `x-request-id` header.
    pub request_id: String,
    /// The same request may succeed later, unchanged.
    pub retryable: bool,
    /// The page that explains the code.
    pub doc_url: Option<String>,
    /// The provider's answer, if the provider refused the call.
    pub provider: Option<ProviderError>,
    /// The current version; only with `stale_etag`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_etag: Option<String>,
}

/// The class of an error, which follows from its HTTP status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ErrorType {
    /// The request is wrong.
    InvalidRequestError,
    /// The key is missing or invalid.
    AuthenticationError,
    /// The key may not do this.
    PermissionError,
    /// The resource does not exist.
    NotFoundError,
    /// The request conflicts with the resource's state.
    ConflictError,
    /// Too many requests.
    RateLimitError,
    /// The provider failed or refused the call.
    ProviderError,
    /// A fault of this service.
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
    /// A stable code of the fault.
    pub code: String,
    /// A sentence for people.
    pub message: String,
}

/// The provider's answer to a call that it refused.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default)]
pub struct ProviderError {
    /// The provider's name.
    pub name: String,
    /// The HTTP status.
    pub status: Option<i64>,
    /// The provider's code.
    pub code: Option<String>,
    /// The provider's words.
    pub message: Option<String>,
}
