//! Sends requests to the provider and maps its errors to failures.

use connector_sdk::http::{Request, Response};
use connector_sdk::{Context, Failure, Outcome, code};
use serde::de::DeserializeOwned;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::native::Refusal;

/// Builds a URL of the provider. Path segments are escaped, so that an id cannot change the path.
pub fn url(context: &Context, segments: &[&str], query: &[(&str, &str)]) -> Outcome<String> {
    let base = context.setting("serverUrl").ok_or_else(|| {
        Failure::invalid("settings.serverUrl is missing: give the sandbox provider's address")
    })?;
    let mut url = format!("{}/v1", base.trim_end_matches('/'));
    for segment in segments {
        // `.` and `..` have no escaped form (WHATWG URL, section 4.4).
        if matches!(*segment, "." | "..") {
            return Err(Failure::not_found("an id cannot be \".\" or \"..\""));
        }
        url.push('/');
        escape(segment, &mut url);
    }
    for (number, (name, value)) in query.iter().enumerate() {
        url.push(if number == 0 { '?' } else { '&' });
        url.push_str(name);
        url.push('=');
        escape(value, &mut url);
    }
    Ok(url)
}

/// Escapes a path segment: all but unreserved characters (RFC 3986 section 2.3) and others that a segment may contain.
fn escape(text: &str, into: &mut String) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~:@".contains(&byte) {
            into.push(char::from(byte));
        } else {
            into.push_str(&format!("%{byte:02X}"));
        }
    }
}

/// Sends a request and fails unless the status is 2xx.
pub fn send(context: &Context, request: Request, doing: &str) -> Outcome<Response> {
    let response = context.send(request)?;
    if response.is_success() { Ok(response) } else { Err(failure(context, &response, doing)) }
}

/// Sends a request and parses its answer as JSON.
pub fn ask<T: DeserializeOwned>(context: &Context, request: Request, doing: &str) -> Outcome<T> {
    object(&send(context, request, doing)?)
}

/// Parses an answer that must be a JSON object. The check is explicit, because most types have defaults for all members and would accept a
/// list.
pub fn object<T: DeserializeOwned>(response: &Response) -> Outcome<T> {
    match response.body.trim_ascii_start().first() {
        Some(b'{') => response.json(),
        _ => Err(Failure::unavailable("the provider's answer is not a JSON object")),
    }
}

/// Sends a change with its idempotency key, so that the provider recognizes repetitions.
pub fn change(context: &Context, request: Request, doing: &str) -> Outcome<Response> {
    let request = match &context.idempotency_key {
        Some(key) => request.header("idempotency-key", digest(key)),
        None => request,
    };
    let request = match context.attempt() {
        1 => request,
        attempt => request.header("x-attempt", attempt.to_string()),
    };
    send(context, request, doing)
}

/// The provider's id for a new item: derived from the idempotency key, else random.
pub fn new_id(context: &Context) -> String {
    match &context.idempotency_key {
        Some(key) => format!("sw{:.30}", digest(key)),
        None => format!("sw{}", hex(&context.random_bytes(15))),
    }
}

fn digest(key: &str) -> String {
    hex(&Sha256::digest(key.as_bytes()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// Maps some of the provider's error codes to the host's, with a message for the user.
fn reason(code: &str) -> Option<(&'static str, &'static str)> {
    Some(match code {
        "notInvited" => ("not_an_attendee", "the account is not an attendee of this event"),
        "hostCannotAnswer" => ("organizer_cannot_rsvp", "the organizer cannot answer the own invitation"),
        "notEmpty" => ("not_empty", "the address book is not empty"),
        "mainBook" => ("invalid_state", "the main address book cannot be deleted"),
        "mainList" => ("invalid_state", "the main task list cannot be deleted"),
        _ => return None,
    })
}

/// Returns the failure for an error response: by the provider's code, else by its status.
pub fn failure(context: &Context, response: &Response, doing: &str) -> Failure {
    let failure = context.failure(response, doing);
    let Ok(Refusal { error }) = response.json::<Refusal>() else { return failure };
    if let Some((reason, message)) = reason(&error.code) {
        return Failure { message: message.to_owned(), ..failure }.with_detail(json!({ "reason": reason }));
    }
    let failure = match (error.code.as_str(), response.status) {
        ("exists", 409) => failure.with_code(code::ALREADY_EXISTS),
        (_, 410) => failure.with_code(code::CURSOR_EXPIRED),
        ("quotaExceeded", _) => failure.with_code(code::FORBIDDEN),
        _ => failure,
    };
    // The provider is Switchboard's own, and its message says what to fix.
    let message = match response.status {
        400 | 403 | 422 | 507 => format!("the provider rejected {doing}: {}", error.message),
        _ => failure.message.clone(),
    };
    Failure { message, ..failure }.with_detail(json!({ "code": error.code, "field": error.field }))
}
