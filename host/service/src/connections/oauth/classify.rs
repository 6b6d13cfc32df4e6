//! Classifies refusals of authorization servers, and requests that got no response. Only the `error` word of a response's body is kept: the
//! rest can hold tokens.

use std::fmt;

use base::retry_after::retry_at;
use http::header::RETRY_AFTER;
use http::{HeaderMap, StatusCode};
use runtime::{Auth, DirectError, DirectResponse, ErrorClass, ErrorPlace};
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use crate::connections::oauth::answer_body::{self, ENDED_GRANTS};

/// Longest `Retry-After` that is respected, in milliseconds.
const MAX_RETRY_AFTER_MS: i64 = 3_600_000;

/// Longest `error` that is kept, bytes.
const MAX_ERROR: usize = 64;

/// A failed request to an authorization server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenFailure {
    pub class: ErrorClass,
    /// `error` of the response (RFC 6749, section 5.2), if it is one word.
    pub error: Option<String>,
    /// The wait that the provider asks for, milliseconds from now; at most an hour.
    pub retry_after_ms: Option<i64>,
    /// The server may have acted on the request.
    pub sent: bool,
    /// The server may have acted on the request, and its response did not arrive.
    pub lost: bool,
    /// The refresh token of an otherwise unusable response. At many servers it is the only one that is valid from now on.
    pub rotated: Option<RotatedToken>,
}

/// A refresh token that a server issued to replace the one in the request.
#[derive(Clone, PartialEq, Eq)]
pub struct RotatedToken(Zeroizing<String>);

impl RotatedToken {
    pub fn new(token: &str) -> RotatedToken {
        RotatedToken(Zeroizing::new(token.to_owned()))
    }

    /// Returns the token itself, for sealing.
    pub fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for RotatedToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RotatedToken(..)")
    }
}

impl TokenFailure {
    /// Creates a failure without an error code. `sent`: the server may have acted on the request.
    pub fn new(class: ErrorClass, sent: bool) -> Self {
        TokenFailure { class, error: None, retry_after_ms: None, sent, lost: false, rotated: None }
    }
}

impl fmt::Display for TokenFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let error = self.error.as_deref().unwrap_or("no OAuth error");
        write!(f, "the authorization server refused or did not answer ({:?}, {error})", self.class)
    }
}

impl std::error::Error for TokenFailure {}

/// Returns the failure for a request without a response.
pub fn unanswered(error: DirectError) -> TokenFailure {
    match error {
        // The operator has registered, or the metadata names, an address that the operator does not allow.
        DirectError::Denied => TokenFailure::new(ErrorClass::Operator, false),
        DirectError::Connect => TokenFailure::new(ErrorClass::Retry, false),
        DirectError::Timeout { sent } | DirectError::Unavailable { sent } => {
            TokenFailure { lost: sent, ..TokenFailure::new(ErrorClass::Retry, sent) }
        }
        DirectError::TooLarge => TokenFailure::new(ErrorClass::Retry, true),
    }
}

/// Returns the parameters of a successful response of the token endpoint, else its refusal (RFC 6749, section 5.2). Any 2xx with a token is
/// a success, however it is encoded; one with `error` is a refusal. `now`: the time of the response, in milliseconds since 1970.
pub fn token_answer(
    auth: &Auth,
    answer: &DirectResponse,
    now: i64,
) -> Result<Map<String, Value>, TokenFailure> {
    let text = answer_body::decoded(&answer.body);
    let body = answer_body::parameters(&text);
    let has_token = |body: &Map<String, Value>| {
        ["access_token", "refresh_token"]
            .iter()
            .any(|name| body.get(*name).is_some_and(|token| !token.is_null()))
    };
    if answer.status.is_success()
        && let Some(body) = body.as_ref().filter(|body| has_token(body) && !answer_body::is_refusal(body))
    {
        return Ok(body.clone());
    }
    let word = answer_body::error_code(&text, body.as_ref());
    let ruled = word.as_deref().and_then(|word| {
        let codes = body.as_ref().map(|body| codes(auth, body)).unwrap_or_default();
        auth.error_class(ErrorPlace::Token, Some(word), &codes)
    });
    Err(TokenFailure {
        class: ruled.unwrap_or_else(|| usual(answer.status, word.as_deref())),
        error: word.as_deref().and_then(clean),
        retry_after_ms: retry_after_ms(&answer.headers, now),
        ..TokenFailure::new(ErrorClass::Retry, true)
    })
}

/// Returns the class of the `error` in a user's return (RFC 6749, section 4.1.2.1).
pub fn of_return(auth: &Auth, error: &str) -> ErrorClass {
    let usual = match error {
        "access_denied" => ErrorClass::Denied,
        "temporarily_unavailable" | "server_error" => ErrorClass::Retry,
        _ => ErrorClass::Operator,
    };
    auth.error_class(ErrorPlace::Authorize, Some(error), &[]).unwrap_or(usual)
}

/// Returns the class of a refusal for which the manifest has no rule.
fn usual(status: StatusCode, error: Option<&str>) -> ErrorClass {
    let passes = status.is_server_error()
        || status.is_redirection()
        || matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT);
    match error {
        _ if passes => ErrorClass::Retry,
        Some("temporarily_unavailable" | "server_error") | None => ErrorClass::Retry,
        Some(word) if ENDED_GRANTS.iter().any(|code| word.eq_ignore_ascii_case(code)) => {
            ErrorClass::Reauthorize
        }
        Some(_) => ErrorClass::Operator,
    }
}

/// Returns the provider's own numeric codes of an error.
fn codes(auth: &Auth, body: &Map<String, Value>) -> Vec<i64> {
    let Some(pointer) = &auth.codes_at else { return Vec::new() };
    let body = Value::Object(body.clone());
    match body.pointer(pointer) {
        Some(Value::Array(codes)) => codes.iter().filter_map(Value::as_i64).collect(),
        Some(code) => code.as_i64().into_iter().collect(),
        None => Vec::new(),
    }
}

/// Returns `error` for logs, if it is one word of the characters that RFC 6749, appendix A.7 allows.
pub fn clean(error: &str) -> Option<String> {
    let fits = (1..=MAX_ERROR).contains(&error.len())
        && error.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'));
    fits.then(|| error.to_owned())
}

/// Returns `Retry-After` as a wait from `now` on: it holds seconds, or a date by this host's clock.
fn retry_after_ms(headers: &HeaderMap, now: i64) -> Option<i64> {
    let at = retry_at(headers.get(RETRY_AFTER)?.to_str().ok()?, now)?;
    Some(at.saturating_sub(now).min(MAX_RETRY_AFTER_MS))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn answer(status: u16, body: &str) -> DirectResponse {
        let status = StatusCode::from_u16(status).unwrap();
        DirectResponse { status, headers: HeaderMap::new(), body: body.as_bytes().to_vec() }
    }

    /// Sun, 06 Nov 1994 08:48:37 GMT.
    const NOW: i64 = 784_111_717_000;

    fn class(auth: &Auth, status: u16, body: &str) -> ErrorClass {
        token_answer(auth, &answer(status, body), NOW).unwrap_err().class
    }

    #[test]
    fn each_answer_of_the_token_endpoint_has_its_class() {
        let auth = Auth::default();
        for (status, body, wanted) in [
            (400, r#"{"error":"invalid_grant"}"#, ErrorClass::Reauthorize),
            (401, r#"{"error":"invalid_grant"}"#, ErrorClass::Reauthorize),
            (200, r#"{"error":"invalid_grant","access_token":"x"}"#, ErrorClass::Reauthorize),
            (401, r#"{"error":"invalid_client"}"#, ErrorClass::Operator),
            (400, r#"{"error":"unauthorized_client"}"#, ErrorClass::Operator),
            (400, r#"{"error":"unsupported_grant_type"}"#, ErrorClass::Operator),
            (400, r#"{"error":"invalid_scope"}"#, ErrorClass::Operator),
            (400, r#"{"error":"invalid_request"}"#, ErrorClass::Operator),
            (400, r#"{"error":"redirect_uri_mismatch"}"#, ErrorClass::Operator),
            (418, r#"{"error":"teapot"}"#, ErrorClass::Operator),
            (400, r#"{"error":"temporarily_unavailable"}"#, ErrorClass::Retry),
            (400, r#"{"error":"server_error"}"#, ErrorClass::Retry),
            (429, r#"{"error":"invalid_request"}"#, ErrorClass::Retry),
            (503, r#"{"error":"invalid_grant"}"#, ErrorClass::Retry),
            (500, "", ErrorClass::Retry),
            (408, "", ErrorClass::Retry),
            (307, "", ErrorClass::Retry),
            (200, "<html>", ErrorClass::Retry),
            (200, "[]", ErrorClass::Retry),
            (401, "<html>", ErrorClass::Retry),
            (403, "<html>", ErrorClass::Retry),
            (400, r#"{"access_token":"x"}"#, ErrorClass::Retry),
            (302, r#"{"access_token":"x"}"#, ErrorClass::Retry),
            (204, "", ErrorClass::Retry),
            (200, r#"{"ok":true}"#, ErrorClass::Retry),
            (200, r#"{"error":{"message":"x"}}"#, ErrorClass::Retry),
            (400, "invalid_grant", ErrorClass::Reauthorize),
            (401, "Error: invalid_grant", ErrorClass::Reauthorize),
            (400, "<h1>invalid_grant</h1>", ErrorClass::Reauthorize),
            (200, r#"{"ok":false,"message":"invalid_grant"}"#, ErrorClass::Reauthorize),
            (200, "error=bad_refresh_token&error_description=x", ErrorClass::Reauthorize),
            (400, r#"{"error":"bad_refresh_token"}"#, ErrorClass::Reauthorize),
            (401, r#"{"error":"Invalid_Token"}"#, ErrorClass::Reauthorize),
            (401, r#"{"error":{"code":"invalid_token"}}"#, ErrorClass::Reauthorize),
            (401, "<p>invalid_token</p>", ErrorClass::Retry),
            (502, "invalid_grant", ErrorClass::Retry),
            (400, "error=incorrect_client_credentials", ErrorClass::Operator),
        ] {
            assert_eq!(class(&auth, status, body), wanted, "{status} {body}");
        }
    }

    #[test]
    fn any_2xx_with_a_token_is_good() {
        for (status, body) in [
            (200, r#"{"access_token":"x","error":null}"#),
            (200, r#"{"access_token":"x","error":""}"#),
            (201, r#"{"access_token":"x"}"#),
            (202, "\u{feff}{\"access_token\":\"x\"}\r\n"),
            (206, "access_token=x&scope=&token_type=bearer"),
        ] {
            let good = token_answer(&Auth::default(), &answer(status, body), NOW).unwrap();
            assert_eq!(good.get("access_token"), Some(&Value::from("x")), "{status} {body}");
        }
    }

    #[test]
    fn the_manifests_rules_go_first() {
        let auth: Auth = toml::from_str(
            r#"
            codes_at = "/error_codes"
            errors = [
                { at = "token", codes = [50196, 90033], is = "retry" },
                { at = "token", codes = [65001], is = "consent_missing" },
                { at = "token", error = "interaction_required", is = "reauthorize" },
                { at = "authorize", error = "admin_policy_enforced", is = "admin_blocked" },
            ]
            "#,
        )
        .unwrap();
        for (body, wanted) in [
            (r#"{"error":"invalid_grant","error_codes":[1,90033]}"#, ErrorClass::Retry),
            (r#"{"error":"invalid_grant","error_codes":65001}"#, ErrorClass::ConsentMissing),
            (r#"{"error":"invalid_grant","error_codes":[700]}"#, ErrorClass::Reauthorize),
            (r#"{"error":"interaction_required"}"#, ErrorClass::Reauthorize),
            (r#"{"error":"admin_policy_enforced"}"#, ErrorClass::Operator),
        ] {
            assert_eq!(class(&auth, 400, body), wanted, "{body}");
        }
        assert_eq!(of_return(&auth, "admin_policy_enforced"), ErrorClass::AdminBlocked);
        assert_eq!(of_return(&auth, "interaction_required"), ErrorClass::Operator);
    }

    #[test]
    fn a_users_refusal_is_told_from_others() {
        let auth = Auth::default();
        for (error, wanted) in [
            ("access_denied", ErrorClass::Denied),
            ("temporarily_unavailable", ErrorClass::Retry),
            ("server_error", ErrorClass::Retry),
            ("invalid_scope", ErrorClass::Operator),
            ("<script>", ErrorClass::Operator),
        ] {
            assert_eq!(of_return(&auth, error), wanted, "{error}");
        }
    }

    #[test]
    fn what_was_not_answered_passes_or_is_the_operators() {
        for (error, class, sent, lost) in [
            (DirectError::Denied, ErrorClass::Operator, false, false),
            (DirectError::Connect, ErrorClass::Retry, false, false),
            (DirectError::Timeout { sent: true }, ErrorClass::Retry, true, true),
            (DirectError::Unavailable { sent: false }, ErrorClass::Retry, false, false),
            (DirectError::TooLarge, ErrorClass::Retry, true, false),
        ] {
            assert_eq!(unanswered(error), TokenFailure { lost, ..TokenFailure::new(class, sent) });
        }
    }

    #[test]
    fn nothing_but_a_word_and_a_wait_is_kept() {
        for (header, wanted) in [
            ("7", Some(7_000)),
            ("0", Some(0)),
            ("86400", Some(3_600_000)),
            ("-1", None),
            ("soon", None),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(60_000)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", Some(60_000)),
            ("Wed, 21 Oct 2026 07:28:00 GMT", Some(3_600_000)),
            ("Sat, 05 Nov 1994 08:49:37 GMT", Some(0)),
        ] {
            let mut refused = answer(503, r#"{"error":"a b","error_description":"secret"}"#);
            refused.headers.insert(RETRY_AFTER, HeaderValue::from_static(header));
            let failure = token_answer(&Auth::default(), &refused, NOW).unwrap_err();
            assert_eq!((failure.retry_after_ms, &failure.error), (wanted, &None), "{header}");
            assert!(!format!("{failure} {failure:?}").contains("secret"));
        }
        let rotated = Some(RotatedToken::new("secret"));
        let failure = TokenFailure { rotated, ..TokenFailure::new(ErrorClass::Retry, true) };
        assert!(!format!("{failure} {failure:?}").contains("secret"));
    }
}
