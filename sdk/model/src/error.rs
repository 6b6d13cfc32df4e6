//! The error envelope, the body of every answer that is not a success.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The body of every answer that is not a success.
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
    /// The class of the error, which follows from the HTTP status.
    #[serde(rename = "type")]
    pub kind: ErrorType,
    /// A stable code of the error, to branch on, such as `stale_etag`.
    pub code: String,
    /// A sentence for people, which may change.
    pub message: String,
    /// The field or parameter at fault, such as `attendees[0].email`; null if there is none.
    pub param: Option<String>,
    /// All faults of the request, if there are several, at most 20; empty otherwise.
    pub details: Vec<ErrorDetail>,
    /// The id of the request, which is also in the `x-request-id` header.
    pub request_id: String,
    /// Whether the same request may succeed later, unchanged.
    pub retryable: bool,
    /// The page that explains the code; null if there is none.
    pub doc_url: Option<String>,
    /// The provider's answer; null unless the provider refused the call.
    pub provider: Option<ProviderError>,
    /// The current version of the resource; only with `stale_etag`.
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

/// One fault of a request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default)]
pub struct ErrorDetail {
    /// The path of the field, such as `attendees[0].email`.
    pub field: String,
    /// A stable code of the fault, to branch on.
    pub code: String,
    /// A sentence for people, which may change.
    pub message: String,
}

/// The provider's answer to a call that it refused.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default)]
pub struct ProviderError {
    /// The name of the provider.
    pub name: String,
    /// The HTTP status of the provider's answer; null if there was none.
    pub status: Option<i64>,
    /// The provider's own code of the error; null if there was none.
    pub code: Option<String>,
    /// The provider's own message; null if there was none.
    pub message: Option<String>,
}
