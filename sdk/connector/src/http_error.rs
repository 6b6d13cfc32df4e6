//! The conversion of a provider's status, or of a request without an answer, to a `Failure`.

use jiff::Timestamp;
use jiff::fmt::rfc2822;

use crate::error::{Failure, code};
use crate::http;

impl Failure {
    /// Returns the failure for a status other than success when the provider gives no better reason. `doing` completes "the provider
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

/// RFC 9110 section 10.2.3: delta seconds or an HTTP date. A wait longer than the type can hold, 49 days, is cut to that.
fn retry_after_ms(value: &str, now_ms: i64) -> Option<u32> {
    let value = value.trim();
    let ms = match value.parse::<u64>() {
        Ok(seconds) => i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1000),
        Err(_) => rfc2822::parse(value).ok().map(|date| Timestamp::from(date).as_millisecond() - now_ms)?,
    };
    Some(u32::try_from(ms.max(0)).unwrap_or(u32::MAX))
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

#[cfg(test)]
mod tests {
    use super::retry_after_ms;
    use crate::error::{Failure, code};
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
        for far in ["5000000", "18446744073709551615", "Wed, 01 Jan 2200 00:00:00 GMT"] {
            assert_eq!(retry_after_ms(far, 0), Some(u32::MAX), "{far}");
        }
    }
}
