//! `Failure`: why a connector could not do it, and how a provider's status becomes one.

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use serde_json::Value;

use crate::http;
use crate::tcp::TcpError;

/// What every operation of a connector returns.
pub type Outcome<T> = Result<T, Failure>;

/// The codes that the host knows (`wit/types.wit`). The set is open; an unknown one counts as [`code::INTERNAL`].
pub mod code {
    /// No usable credential, or the provider refused the one that was sent.
    pub const AUTH_EXPIRED: &str = "auth-expired";
    pub const FORBIDDEN: &str = "forbidden";
    pub const NOT_FOUND: &str = "not-found";
    /// The item is no longer what the caller based the change on.
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

/// Why there is no answer. `message` is for the API's user: lower case, no full stop, no token, nothing of a provider's body.
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

    /// Adds what the author wants to see in the log.
    pub fn with_detail(mut self, detail: Value) -> Self {
        self.detail = Some(Box::new(detail));
        self
    }

    /// Another code for the same answer, where the provider means something special by a status.
    pub fn with_code(mut self, code: &str) -> Self {
        self.code = code.into();
        self
    }

    /// What a status other than success means when the provider gives no better reason. `doing` completes "the provider
    /// refused ...". `Retry-After` is read as seconds or as an HTTP date against `now_ms`.
    pub fn from_response(response: &http::Response, doing: &str, now_ms: i64) -> Self {
        let (code, what) = match response.status {
            401 => (code::AUTH_EXPIRED, "did not accept the credentials for"),
            403 => (code::FORBIDDEN, "does not allow"),
            404 | 410 => (code::NOT_FOUND, "has nothing there for"),
            409 | 412 | 423 => (code::CONFLICT, "reports a conflict in"),
            405 | 501 => (code::UNSUPPORTED, "does not support"),
            408 | 504 => (code::TIMEOUT, "took too long for"),
            429 => (code::RATE_LIMITED, "asks to wait before"),
            400..=499 => (code::INVALID, "rejected"),
            500..=599 => (code::UNAVAILABLE, "failed at"),
            _ => (code::UNAVAILABLE, "gave an unexpected answer to"),
        };
        Failure {
            code: code.into(),
            message: format!("the provider {what} {doing} (status {})", response.status),
            retry_after_ms: response.header("retry-after").and_then(|value| retry_after_ms(value, now_ms)),
            http_status: Some(response.status),
            detail: None,
        }
    }
}

/// RFC 9110 section 10.2.3: delta seconds or an HTTP date.
fn retry_after_ms(value: &str, now_ms: i64) -> Option<u32> {
    let value = value.trim();
    let ms = match value.parse::<u32>() {
        Ok(seconds) => i64::from(seconds) * 1000,
        Err(_) => rfc2822::parse(value).ok().map(|date| Timestamp::from(date).as_millisecond() - now_ms)?,
    };
    u32::try_from(ms.max(0)).ok()
}

impl From<http::SendError> for Failure {
    fn from(error: http::SendError) -> Self {
        let code = match error.code.as_str() {
            "auth-expired" => code::AUTH_EXPIRED,
            "denied" => code::FORBIDDEN,
            "invalid" => code::INTERNAL,
            "timeout" => code::TIMEOUT,
            "too-many-requests" | "too-large" | "connect" | "unavailable" => code::UNAVAILABLE,
            _ => code::INTERNAL,
        };
        Failure { retry_after_ms: error.retry_after_ms, ..Failure::new(code, error.message) }
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

#[cfg(test)]
mod tests {
    use super::{Failure, code, retry_after_ms};
    use crate::http::Response;

    #[test]
    fn a_status_becomes_a_code() {
        let cases = [
            (401, code::AUTH_EXPIRED),
            (403, code::FORBIDDEN),
            (404, code::NOT_FOUND),
            (412, code::CONFLICT),
            (415, code::INVALID),
            (429, code::RATE_LIMITED),
            (501, code::UNSUPPORTED),
            (503, code::UNAVAILABLE),
            (302, code::UNAVAILABLE),
        ];
        for (status, expected) in cases {
            let failure =
                Failure::from_response(&Response { status, ..Response::default() }, "reading a thing", 0);
            assert_eq!(failure.code, expected, "{status}");
            assert_eq!(failure.http_status, Some(status));
        }
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        assert_eq!(retry_after_ms("3", 0), Some(3000));
        assert_eq!(retry_after_ms("Thu, 01 Jan 1970 00:00:10 GMT", 4000), Some(6000));
        assert_eq!(retry_after_ms("Thu, 01 Jan 1970 00:00:01 GMT", 4000), Some(0));
        assert_eq!(retry_after_ms("soon", 0), None);
    }
}
