//! The meaning of Google's errors, and of opening an account.

use connector_google::Google;
use connector_sdk::http::Response;
use connector_sdk::testing::{Recorded, response};
use connector_sdk::{Calendar, Context, Failure, Lifecycle, Outcome, code};
use model::wire::{Account, ChangesRequest, Connection, SourceRef};
use serde_json::{Value, json};

const EVENT: &str = "https://www.googleapis.com/calendar/v3/calendars/work/events/abcde";
/// 2026-03-02T10:00:20Z.
const NOW_MS: i64 = 1_772_445_620_000;

fn failure_of(answer: Response) -> Failure {
    let provider = Recorded::new().expect("GET", EVENT, answer);
    provider.surroundings.now_ms.set(NOW_MS);
    let context = Context::new(&provider, Connection::default());
    let args = SourceRef { collection: "work".to_owned(), source: "abcde".to_owned(), time_zone: None };
    Google::get_event(&context, args).expect_err("the request is rejected")
}

/// An error of the older form.
fn error(status: u16, reason: &str, message: &str) -> Response {
    let errors = json!([{ "domain": "global", "reason": reason, "message": message }]);
    let body = json!({ "error": { "code": status, "message": message, "errors": errors } });
    response(status, &[], &body.to_string())
}

/// An error of the newer form.
fn error_info(status: u16, name: &str, reason: &str) -> Response {
    let details = json!([
        { "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "googleapis.com" },
        { "@type": "type.googleapis.com/google.rpc.Help", "links": [] },
    ]);
    let body = json!({ "error": { "code": status, "message": "no", "status": name, "details": details } });
    response(status, &[], &body.to_string())
}

#[test]
fn an_error_counts_by_its_reason() {
    let rows = [
        (error(401, "authError", "Invalid Credentials"), code::AUTH_EXPIRED),
        (error(429, "rateLimitExceeded", "Rate Limit Exceeded"), code::RATE_LIMITED),
        (error(403, "rateLimitExceeded", "Rate Limit Exceeded"), code::RATE_LIMITED),
        (error(403, "userRateLimitExceeded", "User Rate Limit Exceeded"), code::RATE_LIMITED),
        (error_info(403, "RESOURCE_EXHAUSTED", "RATE_LIMIT_EXCEEDED"), code::RATE_LIMITED),
        (error(403, "dailyLimitExceeded", "Daily Limit Exceeded"), code::RATE_LIMITED),
        (error(403, "quotaExceeded", "Calendar usage limits exceeded."), code::RATE_LIMITED),
        (error(403, "insufficientPermissions", "Insufficient Permission"), code::FORBIDDEN),
        (error_info(403, "PERMISSION_DENIED", "ACCESS_TOKEN_SCOPE_INSUFFICIENT"), code::FORBIDDEN),
        (error(403, "accessNotConfigured", "Not enabled"), code::FORBIDDEN),
        (error(403, "domainPolicy", "The domain administrators have disabled it"), code::FORBIDDEN),
        (error(403, "forbiddenForNonOrganizer", "Shared properties"), code::FORBIDDEN),
        (
            error(403, "notACalendarUser", "The user must be signed up for Google Calendar."),
            code::UNSUPPORTED,
        ),
        (error(400, "failedPrecondition", "Mail service not enabled"), code::UNSUPPORTED),
        (error_info(409, "ABORTED", ""), code::UNAVAILABLE),
        (error(412, "conditionNotMet", "Precondition Failed"), code::CONFLICT),
        (
            error(400, "invalid", "Invalid sequence value. The specified sequence number is below"),
            code::CONFLICT,
        ),
        (error_info(400, "FAILED_PRECONDITION", "EXPIRED_SYNC_TOKEN"), code::CURSOR_EXPIRED),
        (error(400, "failedPrecondition", "Sync token is expired. Clear local cache."), code::CURSOR_EXPIRED),
        (error(400, "invalid", "Invalid sync token value."), code::CURSOR_EXPIRED),
        (error(410, "fullSyncRequired", "Sync token is no longer valid"), code::CURSOR_EXPIRED),
        (error(410, "updatedMinTooLongAgo", "The requested minimum"), code::CURSOR_EXPIRED),
        (error(409, "duplicate", "The requested identifier already exists."), code::ALREADY_EXISTS),
        (error(404, "notFound", "Not Found"), code::NOT_FOUND),
        (error(410, "deleted", "Resource has been deleted"), code::NOT_FOUND),
        (error(400, "invalid", "Invalid conference type value."), code::UNSUPPORTED),
        (error(400, "timeRangeEmpty", "The specified time range is empty."), code::INVALID),
        (error(413, "uploadTooLarge", "Request entity too large."), code::INVALID),
        (response(413, &[], "<html><title>Error 413 (Request Entity Too Large)"), code::INVALID),
        (error(500, "backendError", "Backend Error"), code::UNAVAILABLE),
        (error(503, "backendError", "Backend Error"), code::UNAVAILABLE),
        (error(504, "backendError", "Backend Error"), code::TIMEOUT),
    ];
    for (answer, expected) in rows {
        let text = answer.text().into_owned();
        let failure = failure_of(answer);
        assert_eq!(failure.code, expected, "{text}");
        assert!(failure.message.len() < 200 && !failure.message.contains('{'), "{}", failure.message);
    }
}

/// Answers of front ends have no reason: HTML, half of a JSON, nothing, another form.
#[test]
fn without_a_reason_the_status_counts() {
    for body in
        ["<html><title>Error 502</title>", "{\"error\":{\"co", "", "[]", "{\"error\":\"invalid_grant\"}"]
    {
        assert_eq!(failure_of(response(502, &[], body)).code, code::UNAVAILABLE, "{body}");
        assert_eq!(failure_of(response(403, &[], body)).code, code::FORBIDDEN, "{body}");
        assert_eq!(failure_of(response(429, &[], body)).code, code::RATE_LIMITED, "{body}");
    }
    let failure = failure_of(response(200, &[], "<html>"));
    assert_eq!(failure.code, code::UNAVAILABLE);
}

#[test]
fn a_limit_tells_how_long_to_wait() {
    let text = "User-rate limit exceeded.  Retry after 2026-03-02T10:05:20.000Z";
    let header = Response {
        headers: vec![("retry-after".to_owned(), "7".to_owned())],
        ..error(429, "rateLimitExceeded", text)
    };
    for (answer, expected) in [
        (header, Some(7_000)),
        (error(403, "userRateLimitExceeded", text), Some(300_000)),
        // Until the limit's next minute.
        (error(403, "rateLimitExceeded", "Rate Limit Exceeded"), Some(40_000)),
        (error(403, "dailyLimitExceeded", "Daily Limit Exceeded"), Some(3_600_000)),
        (error(403, "quotaExceeded", "Calendar usage limits exceeded."), None),
    ] {
        assert_eq!(failure_of(answer).retry_after_ms, expected);
    }
}

/// Content that is too large has a message that says so, also where a front end refuses it.
#[test]
fn too_large_says_so() {
    for answer in [error(413, "uploadTooLarge", "Request entity too large."), response(413, &[], "<html>")] {
        let failure = failure_of(answer);
        assert!(failure.message.contains("too large"), "{}", failure.message);
    }
}

/// A value of the wrong type is personal: the error names its place alone.
#[test]
fn an_unreadable_event_is_told_without_its_content() {
    let event = json!({ "id": "abcde", "sequence": "a private note", "start": { "date": "2026-03-02" } });
    let body = json!({ "items": [event], "nextSyncToken": "t" });
    let url = "https://www.googleapis.com/calendar/v3/calendars/work/events?maxResults=250&singleEvents=false&showDeleted=true";
    let provider = Recorded::new().expect("GET", url, response(200, &[], &body.to_string()));
    let args = ChangesRequest { collection: Some("work".to_owned()), ..ChangesRequest::default() };
    let context = Context::new(&provider, Connection::default());
    let page = <Google as Calendar>::changes(&context, args).expect("a page");
    let error = page.body.sources.first().and_then(|source| source.error.clone()).expect("an error");
    assert!(!error.message.contains("private"), "{}", error.message);
}

#[test]
fn a_reason_of_the_catalogue_is_named() {
    let reason = |answer: Response| failure_of(answer).detail.map(|detail| detail["reason"].clone());
    assert_eq!(reason(error(403, "insufficientPermissions", "no")), Some(json!("scope_not_granted")));
    assert_eq!(reason(error(403, "domainPolicy", "no")), Some(json!("admin_blocked")));
    assert_eq!(reason(error(403, "forbiddenForNonOrganizer", "no")), Some(Value::Null));
}

fn check(identity: Response, primary: Response, colors: Response) -> Outcome<Account> {
    check_with(identity, primary, colors, |_| {
        error(403, "insufficientPermissions", "Insufficient Permission")
    })
}

/// `others`: the answer for each URL of another surface.
fn check_with(
    identity: Response,
    primary: Response,
    colors: Response,
    others: impl Fn(&str) -> Response + 'static,
) -> Outcome<Account> {
    let provider = Recorded::answering(move |request| {
        Ok(match request.url.as_str() {
            "https://openidconnect.googleapis.com/v1/userinfo" => identity.clone(),
            "https://www.googleapis.com/calendar/v3/users/me/calendarList/primary" => primary.clone(),
            "https://www.googleapis.com/calendar/v3/colors" => colors.clone(),
            url => others(url),
        })
    });
    let account = Google::check(&Context::new(&provider, Connection::default()));
    let requests = provider.requests.borrow();
    let (reads, sends): (Vec<_>, Vec<_>) = requests.iter().partition(|request| request.method == "GET");
    assert_eq!((reads.len(), sends.len() < 2), (8, true));
    account
}

fn identity() -> Response {
    let claims = json!({ "sub": "1098", "email": "ada@example.test", "name": "Ada", "email_verified": true });
    response(200, &[], &claims.to_string())
}

fn primary() -> Response {
    let entry = json!({
        "id": "ada@example.test", "summary": "Ada", "timeZone": "Europe/Berlin", "primary": true,
        "accessRole": "owner",
    });
    response(200, &[], &entry.to_string())
}

fn colors() -> Response {
    let table = json!({ "event": { "1": { "background": "#aabbcc", "foreground": "#000000" }, "2": {} } });
    response(200, &[], &table.to_string())
}

#[test]
fn an_account_is_who_the_token_is_for() {
    let account = check(identity(), primary(), colors()).expect("an account");
    assert_eq!(
        (account.external_account_id.as_str(), account.email.as_deref()),
        ("1098", Some("ada@example.test"))
    );
    assert_eq!(
        (account.display_name.as_deref(), account.time_zone.as_deref()),
        (Some("Ada"), Some("Europe/Berlin"))
    );
    assert_eq!(account.surfaces, ["calendar"]);
    assert!(account.aliases.is_empty());
    assert_eq!(Value::Object(account.settings), json!({ "eventColors": { "1": "#aabbcc" } }));
}

/// A pasted token may have no identity: the primary calendar's id is the account's address.
#[test]
fn without_an_identity_the_primary_calendar_tells() {
    let refused = || error(401, "authError", "Invalid Credentials");
    let account = check(refused(), primary(), refused()).expect("an account");
    assert_eq!(account.external_account_id, "ada@example.test");
    assert_eq!(account.email.as_deref(), Some("ada@example.test"));
    assert!(account.settings.is_empty());
    // Another failure must not make it another account.
    let failure = check(error(503, "backendError", "no"), primary(), colors()).expect_err("no account");
    assert_eq!(failure.code, code::UNAVAILABLE);
}

#[test]
fn an_account_without_calendars_has_no_calendar_surface() {
    for answer in [error(403, "insufficientPermissions", "no"), error(403, "notACalendarUser", "no")] {
        let account =
            check(identity(), answer, error(403, "insufficientPermissions", "no")).expect("an account");
        assert!(account.surfaces.is_empty() && account.external_account_id == "1098");
    }
    // Busy times alone were granted: neither the list of calendars nor its entries can be read.
    let account =
        check(identity(), error(403, "insufficientPermissions", "no"), colors()).expect("an account");
    assert_eq!((account.surfaces, account.time_zone), (vec!["calendar".to_owned()], None));
    for (answer, expected) in [
        (error(401, "authError", "no"), code::AUTH_EXPIRED),
        (error(403, "accessNotConfigured", "no"), code::FORBIDDEN),
        (error(500, "backendError", "no"), code::UNAVAILABLE),
    ] {
        assert_eq!(check(identity(), answer, colors()).expect_err("no account").code, expected);
    }
}

const PROFILE: &str = "https://gmail.googleapis.com/gmail/v1/users/me/profile";
const SEND_AS: &str = "https://gmail.googleapis.com/gmail/v1/users/me/settings/sendAs";

fn mailbox(url: &str) -> Response {
    let send_as = json!({ "sendAs": [
        { "sendAsEmail": "ada@example.test", "isPrimary": true, "isDefault": true },
        { "sendAsEmail": "sales@example.test", "verificationStatus": "accepted" },
        { "sendAsEmail": "later@example.test", "verificationStatus": "pending" },
    ] });
    let body = match url {
        PROFILE => json!({ "emailAddress": "Ada@example.test", "historyId": "7" }),
        SEND_AS => send_as,
        _ => return error(403, "insufficientPermissions", "Insufficient Permission"),
    };
    response(200, &[], &body.to_string())
}

#[test]
fn a_surface_is_there_where_its_small_read_succeeds() {
    let refused = || error(403, "insufficientPermissions", "no");
    let account = check_with(identity(), refused(), refused(), mailbox).expect("an account");
    assert_eq!(
        (account.surfaces.as_slice(), account.aliases.as_slice()),
        (&["email".to_owned()][..], &["sales@example.test".to_owned()][..],)
    );
    assert_eq!(account.email.as_deref(), Some("ada@example.test"));
    let all = |url: &str| match url {
        url if url.contains("/otherContacts") => error(403, "insufficientPermissions", "no"),
        url if url.starts_with("https://gmail.") => mailbox(url),
        _ => response(200, &[], "{}"),
    };
    let account = check_with(identity(), primary(), colors(), all).expect("an account");
    assert_eq!(account.surfaces, ["calendar", "email", "contacts", "tasks"]);
    assert_eq!(account.settings.get("otherContacts"), Some(&json!(false)));
    // The mailbox identifies the account, where the token has no identity.
    let account =
        check_with(error(401, "authError", "no"), refused(), refused(), mailbox).expect("an account");
    assert_eq!(account.external_account_id, "Ada@example.test");
}

/// A grant to send reads nothing, not even the mailbox's address. A message without content shows it: it is refused as such.
#[test]
fn an_account_that_only_sends_has_mail() {
    let only_sends = |url: &str| match url.ends_with("/gmail/v1/users/me/messages/send") {
        true => error(400, "invalidArgument", "'raw' RFC822 payload message string required"),
        false => error(403, "insufficientPermissions", "no"),
    };
    let account = check_with(identity(), primary(), colors(), only_sends).expect("an account");
    assert_eq!(account.surfaces, ["calendar", "email"]);
    assert_eq!(account.email.as_deref(), Some("ada@example.test"));
    let sends_badly = |url: &str| match url.ends_with("/messages/send") {
        true => error(503, "backendError", "no"),
        false => error(403, "insufficientPermissions", "no"),
    };
    let failure = check_with(identity(), primary(), colors(), sends_badly).expect_err("no account");
    assert_eq!(failure.code, code::UNAVAILABLE);
}

/// An API that the operator's project has not enabled, or an account without Gmail, costs the surface and not the account.
#[test]
fn a_surface_that_cannot_be_had_is_left_out() {
    for answer in [
        error(403, "accessNotConfigured", "Not enabled"),
        error_info(403, "PERMISSION_DENIED", "SERVICE_DISABLED"),
        error(403, "domainPolicy", "The domain administrators have disabled it"),
        error(400, "failedPrecondition", "Mail service not enabled"),
    ] {
        let account =
            check_with(identity(), primary(), colors(), move |_| answer.clone()).expect("an account");
        assert_eq!(account.surfaces, ["calendar"]);
    }
    for (answer, expected) in [
        (error(401, "authError", "no"), code::AUTH_EXPIRED),
        (error(503, "backendError", "no"), code::UNAVAILABLE),
        (response(403, &[], "<html>"), code::FORBIDDEN),
    ] {
        let failure =
            check_with(identity(), primary(), colors(), move |_| answer.clone()).expect_err("no account");
        assert_eq!(failure.code, expected);
    }
}
