//! Maps Graph's errors to failures by their codes, because one status has many meanings. The most specific code may be in `innerError`, at
//! any depth. Responses of a front end (HTML or empty) have no code and are mapped by status.

use connector_sdk::http::Response;
use connector_sdk::{Context, Failure, code};
use serde_json::{Value, json};

/// The wait after a rate limit without `Retry-After`, in milliseconds.
const LIMIT_WAIT_MS: u32 = 30_000;
/// The wait after a temporary error of the service, in milliseconds.
const SERVICE_WAIT_MS: u32 = 10_000;
/// The maximum depth of nested errors that are searched.
const MAX_DEPTH: usize = 8;
/// The maximum length of a code in the detail of a failure, in characters.
const MAX_CODE_CHARS: usize = 60;

/// The codes for an expired or invalid delta token.
const EXPIRED: [&str; 8] = [
    "SyncStateNotFound",
    "SyncStateInvalid",
    "InvalidSyncStateData",
    "ErrorInvalidSyncStateData",
    "resyncRequired",
    "fullSyncRequired",
    "ErrorInvalidIdMalformed",
    "ErrorExecuteSearchStaleData",
];

/// Returns the failure for an error status. `doing` completes "the provider rejected …". `detail.providerReason` is Graph's code.
pub fn of(context: &Context, response: &Response, doing: &str) -> Failure {
    let failure = context.failure(response, doing);
    let codes = codes_of(response);
    let known =
        codes.iter().find_map(|code| ErrorMeaning::find(response.status, code).map(|found| (code, found)));
    let shown = known.as_ref().map(|(code, _)| *code).or(codes.last());
    let failure = match shown {
        Some(code) => {
            let shown: String = code.chars().take(MAX_CODE_CHARS).collect();
            failure.with_detail(json!({ "providerReason": shown }))
        }
        None => failure,
    };
    let failure = match known {
        Some((_, meaning)) => meaning.apply(failure, doing),
        None => by_status(failure, doing),
    };
    with_wait(failure)
}

/// Returns the failure for a request with a token of a delta or search: `cursor-expired` if the token is no longer valid.
pub fn of_delta(context: &Context, response: &Response, doing: &str) -> Failure {
    let failure = of(context, response, doing);
    let is_expired = response.status == 410
        || matches!(response.status, 400 | 404)
            && codes_of(response).iter().any(|code| EXPIRED.iter().any(|one| one.eq_ignore_ascii_case(code)));
    if !is_expired {
        return failure;
    }
    let message = "the provider no longer knows the cursor".to_owned();
    Failure { message, retry_after_ms: None, ..failure.with_code(code::CURSOR_EXPIRED) }
}

/// The wait in milliseconds before the same request can be retried; none if a retry would not help.
pub fn held(response: &Response) -> Option<u32> {
    let is_held = matches!(response.status, 429 | 503 | 509)
        || codes_of(response)
            .iter()
            .any(|code| matches!(code.as_str(), "ErrorServerBusy" | "ApplicationThrottled"));
    let seconds = response.header("retry-after").and_then(|text| text.trim().parse::<u32>().ok());
    is_held.then(|| seconds.map_or(LIMIT_WAIT_MS, |seconds| seconds.saturating_mul(1_000)))
}

/// Whether the failure has this code of Graph's.
pub fn has_code(failure: &Failure, name: &str) -> bool {
    let reason = failure.detail.as_ref().and_then(|detail| detail["providerReason"].as_str());
    reason.is_some_and(|reason| reason.eq_ignore_ascii_case(name))
}

/// Whether the same request may succeed later, though nothing else has changed.
pub fn is_passing(failure: &Failure) -> bool {
    [code::RATE_LIMITED, code::UNAVAILABLE, code::TIMEOUT].contains(&failure.code.as_str())
}

/// Whether Graph itself reports that the resource does not exist. A 404 of a front end has no code and does not count.
pub fn is_gone(failure: &Failure) -> bool {
    failure.code == code::NOT_FOUND && failure.detail.is_some()
}

/// The codes of an error, innermost first.
fn codes_of(response: &Response) -> Vec<String> {
    if response.is_success() || response.body.trim_ascii_start().first() != Some(&b'{') {
        return Vec::new();
    }
    let body: Value = response.json().unwrap_or_default();
    let mut codes = Vec::new();
    let mut next = body.get("error");
    while let Some(error) = next.filter(|_| codes.len() < MAX_DEPTH) {
        codes.extend(
            error.get("code").and_then(Value::as_str).filter(|code| !code.is_empty()).map(str::to_owned),
        );
        let inner = ["innerError", "innererror"].into_iter().find_map(|name| error.get(name));
        // Each step goes one level down; a string has no levels.
        next = inner.filter(|inner| inner.is_object());
    }
    codes.reverse();
    codes
}

/// The meaning of a code.
#[derive(Clone, Copy)]
enum ErrorMeaning {
    /// The account or its token may not do this.
    Refused,
    /// The mailbox is not available through Graph.
    NoMailbox,
    Gone,
    Exists,
    Changed,
    Limit,
    Passing,
    /// The request is invalid, for this reason.
    Invalid(&'static str),
    /// The account may not do this, for this reason.
    Forbidden(&'static str),
}

impl ErrorMeaning {
    /// The meaning of a code in a response with this status; none for a code that adds nothing to the status.
    fn find(status: u16, name: &str) -> Option<ErrorMeaning> {
        let meaning = match name {
            "ErrorAccessDenied" | "Authorization_RequestDenied" | "accessDenied" if status == 403 => {
                ErrorMeaning::Refused
            }
            "MailboxNotEnabledForRESTAPI" | "MailboxNotSupportedForRESTAPI" | "ErrorNonExistentMailbox" => {
                ErrorMeaning::NoMailbox
            }
            "ErrorItemNotFound"
            | "ErrorCannotDeleteObject"
            | "ErrorInvalidIdMalformed"
            | "ErrorObjectTypeChanged" => ErrorMeaning::Gone,
            "ErrorFolderExists" | "nameAlreadyExists" | "ErrorDuplicateTransactionId" => ErrorMeaning::Exists,
            "ErrorIrresolvableConflict" | "ErrorChangeKeyRequired" => ErrorMeaning::Changed,
            "ErrorServerBusy" | "ApplicationThrottled" | "TooManyRequests" | "activityLimitReached" => {
                ErrorMeaning::Limit
            }
            "ErrorTimeoutExpired" | "ErrorMailboxStoreUnavailable" | "MailboxStoreUnavailable" => {
                ErrorMeaning::Passing
            }
            "InefficientFilter" | "ErrorInefficientFilter" => {
                ErrorMeaning::Invalid("the provider cannot combine these filters with this order")
            }
            "ErrorInvalidRecipients" => ErrorMeaning::Invalid("an address of the recipients is not valid"),
            "ErrorOccurrenceCrossingBoundary" => {
                ErrorMeaning::Invalid("an instance cannot be moved to or across the day of its neighbour")
            }
            "ErrorOccurrenceTimeSpanTooBig" => {
                ErrorMeaning::Invalid("the event is longer than the time between its instances")
            }
            "ErrorAttachmentSizeShouldNotBeLessThanMinimumSize" => {
                ErrorMeaning::Invalid("the attachment is too small for an upload session")
            }
            "ErrorMessageSizeExceeded" => {
                ErrorMeaning::Invalid("the message is larger than the mailbox allows")
            }
            "ErrorSendAsDenied" => ErrorMeaning::Forbidden("the account may not send from this address"),
            "ErrorQuotaExceeded" => ErrorMeaning::Forbidden("the mailbox is full"),
            "ErrorAccountSuspend" => ErrorMeaning::Forbidden(
                "Microsoft has suspended sending from this account: sign in at outlook.com and verify the account",
            ),
            _ => return None,
        };
        Some(meaning)
    }

    fn apply(self, failure: Failure, doing: &str) -> Failure {
        let said = |code: &str, message: &str| Failure {
            message: message.to_owned(),
            ..failure.clone().with_code(code)
        };
        match self {
            ErrorMeaning::Refused => {
                let message = format!(
                    "the provider does not allow {doing}: the account has not granted the scope, or lacks the right"
                );
                said(code::FORBIDDEN, &message)
            }
            ErrorMeaning::NoMailbox => {
                said(code::UNSUPPORTED, "this account has no mailbox in Microsoft's cloud")
            }
            ErrorMeaning::Gone => {
                said(code::NOT_FOUND, &format!("the provider has nothing there for {doing}"))
            }
            ErrorMeaning::Exists => failure.with_code(code::ALREADY_EXISTS),
            ErrorMeaning::Changed => failure.with_code(code::CONFLICT),
            ErrorMeaning::Limit => {
                said(code::RATE_LIMITED, &format!("the provider asks to wait before {doing}"))
            }
            ErrorMeaning::Passing => failure.with_code(code::UNAVAILABLE),
            ErrorMeaning::Invalid(message) => said(code::INVALID, message),
            ErrorMeaning::Forbidden(message) => said(code::FORBIDDEN, message),
        }
    }
}

/// Returns the failure for a response without a specific code.
fn by_status(failure: Failure, doing: &str) -> Failure {
    match failure.http_status {
        Some(509) => failure.with_code(code::RATE_LIMITED),
        Some(507) => {
            Failure { message: "the mailbox is full".to_owned(), ..failure.with_code(code::FORBIDDEN) }
        }
        Some(413) => {
            Failure { message: format!("the content is too large for {doing}: send less at once"), ..failure }
        }
        _ => failure,
    }
}

/// Adds the default wait to a temporary failure without one.
fn with_wait(failure: Failure) -> Failure {
    let wait = match failure.code.as_str() {
        code::RATE_LIMITED => LIMIT_WAIT_MS,
        code::UNAVAILABLE if failure.http_status == Some(503) => SERVICE_WAIT_MS,
        _ => return failure,
    };
    Failure { retry_after_ms: failure.retry_after_ms.or(Some(wait)), ..failure }
}

#[cfg(test)]
mod tests {
    use connector_sdk::testing::{Recorded, response};
    use connector_sdk::{Context, Failure, code};
    use model::wire::Connection;
    use serde_json::{Value, json};

    use super::{has_code, held, is_gone, of, of_delta};

    fn read(status: u16, headers: &[(&str, &str)], body: &str, is_delta: bool) -> Failure {
        let provider = Recorded::new();
        let context = Context::new(&provider, Connection::default());
        let answer = response(status, headers, body);
        if is_delta { of_delta(&context, &answer, "reading") } else { of(&context, &answer, "reading") }
    }

    fn error(code: &str) -> String {
        json!({ "error": { "code": code, "message": "no", "innerError": { "request-id": "r" } } }).to_string()
    }

    #[test]
    fn an_error_counts_by_its_code() {
        let rows = [
            (401, "InvalidAuthenticationToken", code::AUTH_EXPIRED),
            (403, "ErrorAccessDenied", code::FORBIDDEN),
            (403, "Authorization_RequestDenied", code::FORBIDDEN),
            (404, "MailboxNotEnabledForRESTAPI", code::UNSUPPORTED),
            (403, "ErrorNonExistentMailbox", code::UNSUPPORTED),
            (404, "ErrorItemNotFound", code::NOT_FOUND),
            (400, "ErrorInvalidIdMalformed", code::NOT_FOUND),
            // The second deletion of an item, with immutable ids (microsoftgraph/msgraph-sdk-dotnet#3047).
            (403, "ErrorCannotDeleteObject", code::NOT_FOUND),
            (409, "ErrorFolderExists", code::ALREADY_EXISTS),
            (409, "nameAlreadyExists", code::ALREADY_EXISTS),
            (412, "ErrorIrresolvableConflict", code::CONFLICT),
            (429, "ApplicationThrottled", code::RATE_LIMITED),
            (503, "ErrorServerBusy", code::RATE_LIMITED),
            (509, "", code::RATE_LIMITED),
            (503, "UnknownError", code::UNAVAILABLE),
            (500, "ErrorTimeoutExpired", code::UNAVAILABLE),
            (503, "MailboxStoreUnavailable", code::UNAVAILABLE),
            (504, "UnknownError", code::TIMEOUT),
            (400, "InefficientFilter", code::INVALID),
            (400, "ErrorInvalidRecipients", code::INVALID),
            (400, "ErrorOccurrenceCrossingBoundary", code::INVALID),
            (400, "ErrorOccurrenceTimeSpanTooBig", code::INVALID),
            (400, "ErrorAttachmentSizeShouldNotBeLessThanMinimumSize", code::INVALID),
            (413, "", code::INVALID),
            (400, "ErrorMessageSizeExceeded", code::INVALID),
            (403, "ErrorSendAsDenied", code::FORBIDDEN),
            (403, "ErrorQuotaExceeded", code::FORBIDDEN),
            (507, "", code::FORBIDDEN),
            (403, "ErrorAccountSuspend", code::FORBIDDEN),
        ];
        for (status, name, expected) in rows {
            let failure = read(status, &[], &error(name), false);
            assert_eq!(
                (failure.code.as_str(), failure.http_status),
                (expected, Some(status)),
                "{status} {name}"
            );
            assert_eq!(has_code(&failure, name), !name.is_empty(), "{status} {name}");
        }
    }

    #[test]
    fn the_code_that_says_most_may_be_within() {
        let within = json!({ "error": { "code": "BadRequest", "innerError": { "code": "x", "innererror": { "code": "ErrorItemNotFound" } } } });
        let failure = read(404, &[], &within.to_string(), false);
        assert_eq!(failure.code, code::NOT_FOUND);
        assert!(has_code(&failure, "erroritemnotfound") && is_gone(&failure));
        let outside = json!({ "error": { "code": "ErrorQuotaExceeded", "innerError": { "code": "other" } } });
        assert!(has_code(&read(403, &[], &outside.to_string(), false), "ErrorQuotaExceeded"));
    }

    /// A front end answers in HTML, which says nothing about the item.
    #[test]
    fn a_page_has_a_status_alone() {
        for body in ["", "<html>404</html>", "[]", "{}", r#"{"error":"x"}"#, r#"{"error":{"code":7}}"#] {
            let failure = read(404, &[], body, false);
            assert_eq!((failure.code.as_str(), is_gone(&failure)), (code::NOT_FOUND, false), "{body}");
        }
        let mut deep = json!({ "code": "z" });
        for _ in 0..100 {
            deep = json!({ "code": "y", "innerError": deep });
        }
        assert!(has_code(&read(400, &[], &json!({ "error": deep }).to_string(), false), "y"));
    }

    #[test]
    fn an_expired_token_of_a_delta_starts_over() {
        let codes = [
            "SyncStateNotFound",
            "SyncStateInvalid",
            "resyncRequired",
            "InvalidSyncStateData",
            "ErrorInvalidIdMalformed",
        ];
        for name in codes {
            for status in [400, 404, 410] {
                assert_eq!(
                    read(status, &[], &error(name), true).code,
                    code::CURSOR_EXPIRED,
                    "{status} {name}"
                );
            }
        }
        assert_eq!(read(410, &[], "", true).code, code::CURSOR_EXPIRED);
        assert_eq!(read(400, &[], &error("BadRequest"), true).code, code::INVALID);
        assert_eq!(read(404, &[], &error("ErrorItemNotFound"), true).code, code::NOT_FOUND);
        assert_eq!(read(503, &[], &error("SyncStateInvalid"), true).code, code::UNAVAILABLE);
    }

    #[test]
    fn a_limit_has_a_wait() {
        let wait = |status: u16, headers: &[(&str, &str)], name: &str| {
            read(status, headers, &error(name), false).retry_after_ms
        };
        assert_eq!(wait(429, &[("retry-after", "12")], "ApplicationThrottled"), Some(12_000));
        assert_eq!(wait(429, &[], "ApplicationThrottled"), Some(30_000));
        assert_eq!(wait(503, &[], "UnknownError"), Some(10_000));
        assert_eq!(wait(500, &[], "UnknownError"), None);
        let held_for = |status: u16, headers: &[(&str, &str)], body: Value| {
            held(&response(status, headers, &body.to_string()))
        };
        assert_eq!(held_for(429, &[("retry-after", "3")], json!({})), Some(3_000));
        assert_eq!(held_for(503, &[], json!({})), Some(30_000));
        assert_eq!(held_for(500, &[], json!({ "error": { "code": "ErrorServerBusy" } })), Some(30_000));
        assert_eq!(held_for(404, &[("retry-after", "3")], json!({})), None);
    }
}
