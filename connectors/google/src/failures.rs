//! The meaning of Google's errors: by their reason, because one status stands for many. An answer of a front end (HTML, or nothing) has
//! no reason; its status counts.

use connector_sdk::http::Response;
use connector_sdk::{Context, Failure, code};
use model::Instant;
use serde::Deserialize;
use serde_json::json;

const MINUTE_MS: i64 = 60_000;
/// The wait after `dailyLimitExceeded`, milliseconds.
const HOUR_MS: u32 = 3_600_000;

/// The body of an error, as all of Google's JSON APIs have it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ErrorBody {
    error: ErrorInfo,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ErrorInfo {
    message: String,
    status: String,
    errors: Vec<ErrorItem>,
    details: Vec<ErrorItem>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ErrorItem {
    reason: String,
}

impl ErrorInfo {
    /// The reason of the newer form (`google.rpc.ErrorInfo`), else of the older one, else the status's name; empty where there is none.
    fn reason(&self) -> &str {
        let items = self.details.iter().chain(&self.errors).map(|item| item.reason.as_str());
        items.chain([self.status.as_str()]).find(|reason| !reason.is_empty()).unwrap_or_default()
    }
}

/// Returns the failure that a bad status means. `doing` completes "the provider rejected …". `detail.providerReason` is Google's reason,
/// `detail.reason` the public code where there is one.
pub fn from_response(context: &Context, response: &Response, doing: &str) -> Failure {
    let failure = context.failure(response, doing);
    let error = response.json::<ErrorBody>().unwrap_or_default().error;
    let reason = error.reason();
    let detail = json!({ "providerReason": reason.chars().take(60).collect::<String>() });
    let failure = if reason.is_empty() { failure } else { failure.with_detail(detail) };
    match response.status {
        401 => failure,
        403 | 429 if is_limit(reason) || response.status == 429 => {
            rate_limit_failure(context, failure, &error, doing)
        }
        403 if error.message.to_ascii_lowercase().contains("person.etag") => {
            failure.with_code(code::CONFLICT)
        }
        403 => forbidden_failure(failure, reason, doing),
        400 | 404 | 409 | 410 | 412 => rejection_failure(failure, reason, &error.message),
        413 => {
            Failure { message: format!("the content is too large for {doing}: send less at once"), ..failure }
        }
        _ => failure,
    }
}

/// Whether the failure has this reason of Google's.
pub fn has_reason(failure: &Failure, reason: &str) -> bool {
    failure.detail.as_ref().is_some_and(|detail| detail["providerReason"] == reason)
}

/// Whether the provider itself says that there is no such thing. A front end that answers 404 gives no reason, and says nothing of it.
pub fn is_gone(failure: &Failure) -> bool {
    failure.code == code::NOT_FOUND && failure.detail.is_some()
}

fn is_limit(reason: &str) -> bool {
    matches!(
        reason,
        "rateLimitExceeded"
            | "userRateLimitExceeded"
            | "RATE_LIMIT_EXCEEDED"
            | "RESOURCE_EXHAUSTED"
            | "dailyLimitExceeded"
            | "quotaExceeded"
    )
}

/// The wait is what the answer says, in its header or its text, else until the limit's next minute. `quotaExceeded` is Calendar's
/// protection against spam: it shuts writes for hours, for an unknown number, so it has no wait that would hold up reads.
fn rate_limit_failure(context: &Context, failure: Failure, error: &ErrorInfo, doing: &str) -> Failure {
    let now = context.now_ms();
    let wait = match error.reason() {
        "quotaExceeded" => None,
        "dailyLimitExceeded" => failure.retry_after_ms.or(Some(HOUR_MS)),
        _ => failure
            .retry_after_ms
            .or_else(|| find_wait_ms(&error.message, now))
            .or_else(|| u32::try_from(MINUTE_MS - now.rem_euclid(MINUTE_MS)).ok()),
    };
    let message = format!("the provider asks to wait before {doing}");
    Failure { message, retry_after_ms: wait, ..failure.with_code(code::RATE_LIMITED) }
}

/// The wait that a text such as "User-rate limit exceeded.  Retry after 2026-03-01T09:00:00.000Z" tells.
fn find_wait_ms(message: &str, now_ms: i64) -> Option<u32> {
    let (_, rest) = message.split_once("Retry after ")?;
    let at: Instant = rest.split_whitespace().next()?.trim_end_matches('.').parse().ok()?;
    u32::try_from(at.as_millis().saturating_sub(now_ms).max(0)).ok()
}

fn forbidden_failure(failure: Failure, reason: &str, doing: &str) -> Failure {
    let named = |name: &str, message: String| {
        let detail = json!({ "reason": name, "providerReason": reason });
        Failure { message, ..failure.clone() }.with_detail(detail)
    };
    match reason {
        "insufficientPermissions" | "ACCESS_TOKEN_SCOPE_INSUFFICIENT" | "insufficientScopes" => {
            named("scope_not_granted", format!("the account has not granted the scope for {doing}"))
        }
        "accessNotConfigured" | "SERVICE_DISABLED" => {
            let message =
                "the API is not enabled in the Google Cloud project of the OAuth client: enable it there";
            Failure { message: message.to_owned(), ..failure }
        }
        "domainPolicy" => {
            named("admin_blocked", "an administrator of the account's domain does not allow this".to_owned())
        }
        "notACalendarUser" => {
            let message = "this account has no Google Calendar".to_owned();
            Failure { message, ..failure.with_code(code::UNSUPPORTED) }
        }
        _ => failure,
    }
}

fn rejection_failure(failure: Failure, reason: &str, message: &str) -> Failure {
    let says = |text: &str| message.to_ascii_lowercase().contains(text);
    let is_expired = says("sync token is expired") || says("invalid sync token value");
    match (failure.http_status, reason) {
        (Some(400), _) if is_expired || reason == "EXPIRED_SYNC_TOKEN" => expiry_failure(failure),
        (Some(410), "fullSyncRequired" | "updatedMinTooLongAgo") => expiry_failure(failure),
        // People: another one has changed the contact since it was read.
        (Some(400), _) if says("person.etag") || says("etag is different") => {
            failure.with_code(code::CONFLICT)
        }
        // People: another write of the same account is under way.
        (Some(409), "ABORTED") => failure.with_code(code::UNAVAILABLE),
        (Some(400), _) if says("mail service not enabled") => {
            let message = "this account has no Gmail".to_owned();
            Failure { message, ..failure.with_code(code::UNSUPPORTED) }
        }
        (Some(400), _) if says("invalid sequence value") => failure.with_code(code::CONFLICT),
        (Some(400), _) if says("invalid conference type value") => {
            let message = "the provider makes no conferences of this type in the calendar".to_owned();
            Failure { message, ..failure.with_code(code::UNSUPPORTED) }
        }
        (Some(409), "duplicate" | "ALREADY_EXISTS") => failure.with_code(code::ALREADY_EXISTS),
        _ => failure,
    }
}

fn expiry_failure(failure: Failure) -> Failure {
    let message = "the provider no longer knows the cursor".to_owned();
    Failure { message, ..failure.with_code(code::CURSOR_EXPIRED) }
}
