//! The failures for JMAP's errors: of a request, of a method, of one object.

use connector_sdk::{Failure, code, http};
use serde::Deserialize;
use serde_json::json;

use crate::protocol::answers::{MethodError, SetError};

/// A request that the server refused as a whole (RFC 8620 section 3.6.1): problem details (RFC 7807).
#[derive(Default, Deserialize)]
#[serde(default)]
struct Problem {
    #[serde(rename = "type")]
    kind: String,
    limit: Option<String>,
}

/// A failed HTTP request. `failure` is what the status alone says.
pub fn of_response(response: &http::Response, failure: Failure) -> Failure {
    let Ok(problem) = serde_json::from_slice::<Problem>(&response.body) else { return failure };
    let Some(kind) = problem.kind.strip_prefix("urn:ietf:params:jmap:error:") else { return failure };
    let (code, message) = match (kind, problem.limit.as_deref()) {
        ("limit", Some("maxSizeRequest" | "maxCallsInRequest" | "maxSizeUpload")) => {
            (code::INVALID, "the request is larger than the provider takes")
        }
        ("limit", _) => (code::RATE_LIMITED, "the provider asks to wait before the next request"),
        ("unknownCapability", _) => (code::UNSUPPORTED, "the provider does not have what this needs"),
        _ => (code::INTERNAL, "the provider did not understand the request"),
    };
    let detail = json!({ "type": kind, "limit": problem.limit });
    Failure {
        retry_after_ms: failure.retry_after_ms,
        http_status: Some(response.status),
        ..Failure::new(code, message)
    }
    .with_detail(detail)
}

/// A method that did nothing.
pub fn of_method(error: &MethodError) -> Failure {
    let (code, message) = match error.kind.as_str() {
        "cannotCalculateChanges" => {
            (code::CURSOR_EXPIRED, "the provider does not know any more what changed since then")
        }
        "stateMismatch" => (code::CONFLICT, "the mailbox has changed since it was read"),
        "accountNotFound" => (code::NOT_FOUND, "the provider does not have this account any more"),
        "accountReadOnly" => (code::FORBIDDEN, "the account can only be read"),
        "accountNotSupportedByMethod" | "unknownMethod" => {
            (code::UNSUPPORTED, "the provider does not support this for the account")
        }
        "unsupportedFilter" => (code::UNSUPPORTED, "the provider cannot look for this"),
        "unsupportedSort" => {
            (code::UNSUPPORTED, "the provider cannot sort messages by the time they were received")
        }
        "invalidArguments" => (code::INVALID, "the provider does not accept these values"),
        "requestTooLarge" => (code::INVALID, "the request is larger than the provider takes"),
        "serverFail" | "serverPartialFail" | "serverUnavailable" => {
            (code::UNAVAILABLE, "the provider failed at this and may not later")
        }
        kind => return of_kind(kind).with_detail(json!({ "type": kind, "description": error.description })),
    };
    Failure::new(code, message).with_detail(json!({ "type": error.kind, "description": error.description }))
}

/// One object that was not made, changed or destroyed.
pub fn of_object(error: &SetError) -> Failure {
    let detail = json!({
        "type": error.kind,
        "description": error.description,
        "properties": error.properties,
        "maxSize": error.max_size,
        "maxRecipients": error.max_recipients,
    });
    of_kind(&error.kind).with_detail(detail)
}

fn of_kind(kind: &str) -> Failure {
    let (code, message) = match kind {
        "forbidden" => (code::FORBIDDEN, "the provider does not allow this"),
        "notFound" => (code::NOT_FOUND, "there is nothing with this id at the provider"),
        "overQuota" => (code::FORBIDDEN, "the mailbox is full"),
        "tooLarge" => (code::INVALID, "the message is larger than the provider takes"),
        "rateLimit" => (code::RATE_LIMITED, "the provider asks to wait before the next change"),
        "willDestroy" | "stateMismatch" => (code::CONFLICT, "the message has changed since it was read"),
        "alreadyExists" => (code::ALREADY_EXISTS, "the provider has this already"),
        "invalidPatch" | "invalidProperties" => {
            (code::INVALID, "the provider does not accept these values; does the folder still exist?")
        }
        "tooManyKeywords" => (code::INVALID, "the message would have more keywords than the provider allows"),
        "tooManyMailboxes" => {
            (code::INVALID, "the message would be in more folders than the provider allows")
        }
        "invalidEmail" => (code::INVALID, "the provider does not accept this as a message"),
        "noRecipients" => (code::INVALID, "the message has no recipients"),
        "invalidRecipients" => (code::INVALID, "the provider refuses the recipients"),
        "tooManyRecipients" => (code::INVALID, "the message has more recipients than the provider allows"),
        "forbiddenFrom" | "forbiddenMailFrom" => {
            (code::FORBIDDEN, "the provider does not allow this account to send from that address")
        }
        "forbiddenToSend" => (code::FORBIDDEN, "the provider does not allow this account to send"),
        "blobNotFound" => (code::UNAVAILABLE, "the provider lost what was uploaded"),
        "" => (code::UNAVAILABLE, "the provider did not report the outcome"),
        _ => (code::UNAVAILABLE, "the provider refused this without a known reason"),
    };
    Failure::new(code, message)
}

#[cfg(test)]
mod tests {
    use connector_sdk::{Failure, code, testing};

    use super::{of_method, of_object, of_response};
    use crate::protocol::answers::{MethodError, SetError};

    #[test]
    fn errors_of_methods_and_objects_have_codes() {
        let method = |kind: &str| of_method(&MethodError { kind: kind.into(), description: None }).code;
        assert_eq!(method("cannotCalculateChanges"), code::CURSOR_EXPIRED);
        assert_eq!(method("stateMismatch"), code::CONFLICT);
        assert_eq!(method("accountReadOnly"), code::FORBIDDEN);
        assert_eq!(method("unsupportedFilter"), code::UNSUPPORTED);
        assert_eq!(method("serverUnavailable"), code::UNAVAILABLE);
        assert_eq!(method("forbidden"), code::FORBIDDEN);
        assert_eq!(method("somethingNew"), code::UNAVAILABLE);
        let object = |kind: &str| of_object(&SetError { kind: kind.into(), ..SetError::default() }).code;
        assert_eq!(object("rateLimit"), code::RATE_LIMITED);
        assert_eq!(object("forbiddenFrom"), code::FORBIDDEN);
        assert_eq!(object("tooLarge"), code::INVALID);
        assert_eq!(object(""), code::UNAVAILABLE);
    }

    #[test]
    fn a_request_over_a_limit_is_told_apart_from_one_that_comes_too_early() {
        let refused = |kind: &str, limit: &str| {
            let body = format!(
                "{{\"type\":\"urn:ietf:params:jmap:error:{kind}\",\"status\":400,\"limit\":\"{limit}\"}}"
            );
            let response = testing::response(400, &[("retry-after", "7")], &body);
            of_response(&response, Failure::from_response(&response, "reading", 0))
        };
        let busy = refused("limit", "maxConcurrentRequests");
        assert_eq!((busy.code.as_str(), busy.retry_after_ms), (code::RATE_LIMITED, Some(7000)));
        assert_eq!(refused("limit", "maxSizeRequest").code, code::INVALID);
        assert_eq!(refused("unknownCapability", "").code, code::UNSUPPORTED);
        assert_eq!(refused("notJSON", "").code, code::INTERNAL);
        let html = testing::response(500, &[], "<html>");
        assert_eq!(of_response(&html, Failure::from_response(&html, "reading", 0)).code, code::UNAVAILABLE);
    }
}
