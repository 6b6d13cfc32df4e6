//! `Failure`: the error of a connector's operation.

use serde_json::Value;

use crate::tcp::TcpError;

/// The return type of every operation of a connector.
pub type Outcome<T> = Result<T, Failure>;

/// The codes that the host knows (`wit/types.wit`). The set is open; an unknown one counts as [`code::INTERNAL`].
pub mod code {
    /// No usable credential, or the provider refused the one that was sent.
    pub const AUTH_EXPIRED: &str = "auth-expired";
    pub const FORBIDDEN: &str = "forbidden";
    pub const NOT_FOUND: &str = "not-found";
    /// The item changed since the version that the caller's change is based on.
    pub const CONFLICT: &str = "conflict";
    pub const ALREADY_EXISTS: &str = "already-exists";
    pub const INVALID: &str = "invalid";
    pub const RATE_LIMITED: &str = "rate-limited";
    /// The cursor cannot be continued; the host starts over.
    pub const CURSOR_EXPIRED: &str = "cursor-expired";
    pub const UNSUPPORTED: &str = "unsupported";
    pub const UNAVAILABLE: &str = "unavailable";
    pub const TIMEOUT: &str = "timeout";
    pub const INTERNAL: &str = "internal";
}

/// The reason why there is no answer. `message` is for the API's user: lower case, no full stop, no token, nothing of a provider's body.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// One of [`code`].
    pub code: String,
    pub message: String,
    pub retry_after_ms: Option<u32>,
    /// The provider's status, where there was one.
    pub http_status: Option<u16>,
    /// JSON for the author's log; never shown to the API's user, except the well-known member `reason`.
    pub detail: Option<Box<Value>>,
}

impl Failure {
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Failure {
            code: code.into(),
            message: message.into(),
            retry_after_ms: None,
            http_status: None,
            detail: None,
        }
    }

    pub fn invalid(message: impl Into<String>) -> Self {
        Failure::new(code::INVALID, message)
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Failure::new(code::NOT_FOUND, message)
    }

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
