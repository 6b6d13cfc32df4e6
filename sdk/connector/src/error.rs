//! `Failure`: the error of a connector's operation.

use serde_json::Value;

use crate::tcp::TcpError;

/// The return type of every operation of a connector.
pub type Outcome<T> = Result<T, Failure>;

/// The codes that the host knows (`wit/types.wit`). The set is open; an unknown one counts as [`code::INTERNAL`].
pub mod code {
    /// No usable credential, or the provider refused the one that was sent.
    pub const AUTH_EXPIRED: &str = "auth-expired";
    /// The account lacks the right, or its scopes do not allow the operation.
    pub const FORBIDDEN: &str = "forbidden";
    /// The item does not exist at the provider.
    pub const NOT_FOUND: &str = "not-found";
    /// The item changed since the version that the caller's change is based on.
    pub const CONFLICT: &str = "conflict";
    /// An item with this identity exists already.
    pub const ALREADY_EXISTS: &str = "already-exists";
    /// The arguments are not acceptable to the connector or the provider.
    pub const INVALID: &str = "invalid";
    /// The provider's limit is reached; the failure's `retry_after_ms` says how long to wait.
    pub const RATE_LIMITED: &str = "rate-limited";
    /// The cursor cannot be continued; the host starts over.
    pub const CURSOR_EXPIRED: &str = "cursor-expired";
    /// The provider or the connector has no such operation.
    pub const UNSUPPORTED: &str = "unsupported";
    /// The provider fails for the moment, or its answer cannot be read.
    pub const UNAVAILABLE: &str = "unavailable";
    /// The provider did not answer in time.
    pub const TIMEOUT: &str = "timeout";
    /// A fault of the connector.
    pub const INTERNAL: &str = "internal";
}

/// The reason why there is no answer. `message` is for the API's user: lower case, no full stop, no token, nothing of a provider's body.
///
/// ```
/// use connector_sdk::{Failure, code};
///
/// let failure = Failure::new(code::RATE_LIMITED, "the provider asks to wait");
/// let failure = Failure { retry_after_ms: Some(30_000), ..failure };
/// assert_eq!(failure.code, "rate-limited");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// One of [`code`].
    pub code: String,
    /// A sentence for the API's user.
    pub message: String,
    /// Milliseconds to wait before the next attempt, if the provider named a time.
    pub retry_after_ms: Option<u32>,
    /// The provider's status, where there was one.
    pub http_status: Option<u16>,
    /// JSON for the author's log; never shown to the API's user, except the well-known member `reason`.
    pub detail: Option<Box<Value>>,
}

impl Failure {
    /// Returns a failure with this code (one of [`code`]) and message.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Failure {
            code: code.into(),
            message: message.into(),
            retry_after_ms: None,
            http_status: None,
            detail: None,
        }
    }

    /// Returns a failure [`code::INVALID`].
    pub fn invalid(message: impl Into<String>) -> Self {
        Failure::new(code::INVALID, message)
    }

    /// Returns a failure [`code::NOT_FOUND`].
    pub fn not_found(message: impl Into<String>) -> Self {
        Failure::new(code::NOT_FOUND, message)
    }

    /// Returns a failure [`code::CONFLICT`].
    pub fn conflict(message: impl Into<String>) -> Self {
        Failure::new(code::CONFLICT, message)
    }

    /// The provider or this connector has no such operation.
    pub fn unsupported(what: &str) -> Self {
        Failure::new(code::UNSUPPORTED, format!("this connector does not support {what}"))
    }

    /// The provider's answer makes no sense.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Failure::new(code::UNAVAILABLE, message)
    }

    /// Adds details for the author's log.
    pub fn with_detail(mut self, detail: Value) -> Self {
        self.detail = Some(Box::new(detail));
        self
    }

    /// Another code for the same answer, where the provider means something special by a status.
    pub fn with_code(mut self, code: &str) -> Self {
        self.code = code.into();
        self
    }
}

impl From<TcpError> for Failure {
    fn from(error: TcpError) -> Self {
        let code = match error.code.as_str() {
            "auth-expired" => code::AUTH_EXPIRED,
            "no-server" => code::INVALID,
            "denied" => code::FORBIDDEN,
            "unsupported" => code::UNSUPPORTED,
            "timeout" => code::TIMEOUT,
            "connect" | "tls" | "closed" | "too-large" | "unavailable" => code::UNAVAILABLE,
            _ => code::INTERNAL,
        };
        Failure::new(code, error.message)
    }
}
