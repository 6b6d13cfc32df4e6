//! Errors in the forms in which Google's APIs answer them.

use serde_json::{Value, json};

use crate::door::Reply;

/// An error answer.
#[derive(Clone, Debug)]
pub struct ApiError {
    pub status: u16,
    pub reason: String,
    pub message: String,
    domain: &'static str,
    /// Kind and name of the place in the request.
    location: Option<(&'static str, String)>,
    /// `status` and `details` of the newer form, which some errors have beside the older one.
    rpc: Option<Box<RpcStatus>>,
    /// The newer form stands alone.
    is_rpc_alone: bool,
}

/// `status` and `details` of the newer form of an error.
#[derive(Clone, Debug)]
struct RpcStatus {
    status: &'static str,
    details: Value,
}

impl RpcStatus {
    fn boxed(status: &'static str, details: Value) -> Option<Box<RpcStatus>> {
        Some(Box::new(RpcStatus { status, details }))
    }
}

impl ApiError {
    pub fn new(status: u16, reason: &str, message: &str) -> ApiError {
        ApiError {
            status,
            reason: reason.to_owned(),
            message: message.to_owned(),
            domain: "global",
            location: None,
            rpc: None,
            is_rpc_alone: false,
        }
    }

    /// An error in both forms, as the Gmail API answers it: the older one, with the status's name beside it.
    pub fn named(status: u16, reason: &str, message: &str) -> ApiError {
        let rpc = RpcStatus::boxed(status_name(status), Value::Null);
        ApiError { rpc, ..ApiError::new(status, reason, message) }
    }

    /// An error in the newer form alone, as the People API answers it: no `errors`, a status in capitals, and details.
    pub fn rpc_only(code: u16, status: &'static str, message: &str, details: Value) -> ApiError {
        let reason = details[0]["reason"].as_str().unwrap_or(status).to_owned();
        let rpc = RpcStatus::boxed(status, details);
        ApiError { rpc, is_rpc_alone: true, ..ApiError::new(code, &reason, message) }
    }

    pub fn not_found() -> ApiError {
        ApiError::new(404, "notFound", "Not Found")
    }

    /// The event is deleted already.
    pub fn gone() -> ApiError {
        ApiError::new(410, "deleted", "Resource has been deleted")
    }

    pub fn invalid(message: &str) -> ApiError {
        ApiError::new(400, "invalid", message)
    }

    pub fn required(message: &str) -> ApiError {
        ApiError::new(400, "required", message)
    }

    pub fn forbidden(message: &str) -> ApiError {
        ApiError::new(403, "forbidden", message)
    }

    pub fn duplicate() -> ApiError {
        ApiError::new(409, "duplicate", "The requested identifier already exists.")
    }

    pub fn condition_not_met() -> ApiError {
        ApiError::new(412, "conditionNotMet", "Precondition Failed").at("header", "If-Match")
    }

    /// The sync token is too old; `reason` is one of the two spellings.
    pub fn sync_token_expired(reason: &str) -> ApiError {
        let message = match reason {
            "updatedMinTooLongAgo" => "The requested minimum modification time lies too far in the past.",
            _ => "Sync token is no longer valid, a full sync is required.",
        };
        ApiError { domain: "calendar", ..ApiError::new(410, reason, message).at("parameter", "syncToken") }
    }

    pub fn unauthenticated() -> ApiError {
        let message = "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid \
                       authentication credential.";
        ApiError {
            rpc: RpcStatus::boxed("UNAUTHENTICATED", json!([])),
            ..ApiError::new(401, "authError", message).at("header", "Authorization")
        }
    }

    /// The token has none of the scopes that `method` needs.
    pub fn scope_insufficient(method: &str) -> ApiError {
        let service = match method.split('.').next() {
            Some("gmail") => "gmail.googleapis.com",
            Some("people") => "people.googleapis.com",
            Some("tasks") => "tasks.googleapis.com",
            _ => "calendar-json.googleapis.com",
        };
        let details = json!([{
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": "ACCESS_TOKEN_SCOPE_INSUFFICIENT",
            "domain": "googleapis.com",
            "metadata": { "service": service, "method": method },
        }]);
        ApiError {
            rpc: RpcStatus::boxed("PERMISSION_DENIED", details),
            ..ApiError::new(403, "insufficientPermissions", "Request had insufficient authentication scopes.")
        }
    }

    /// A limit of calls, in one of its spellings.
    pub fn limit(status: u16, reason: &str, message: &str) -> ApiError {
        ApiError { domain: "usageLimits", ..ApiError::new(status, reason, message) }
    }

    /// The limit of queries per minute as the newer front end answers it.
    pub fn queries_per_minute() -> ApiError {
        let message = "Quota exceeded for quota metric 'Queries' and limit 'Queries per minute per user' of service \
                       'calendar-json.googleapis.com' for consumer 'project_number:1'.";
        let details = json!([{
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": "RATE_LIMIT_EXCEEDED",
            "domain": "googleapis.com",
            "metadata": { "quota_limit": "defaultPerMinutePerUser", "service": "calendar-json.googleapis.com" },
        }]);
        ApiError {
            rpc: RpcStatus::boxed("RESOURCE_EXHAUSTED", details),
            ..ApiError::limit(429, "rateLimitExceeded", message)
        }
    }

    /// The units of a user's minute are spent, in the spelling of the Gmail API.
    pub fn units_spent(status: u16) -> ApiError {
        let (reason, message) = match status {
            403 => ("userRateLimitExceeded", "User-rate limit exceeded."),
            _ => (
                "rateLimitExceeded",
                "Quota exceeded for quota metric 'Queries' and limit 'Units per minute per user' of service \
                 'gmail.googleapis.com' for consumer 'project_number:1'.",
            ),
        };
        ApiError { domain: "usageLimits", ..ApiError::named(status, reason, message) }
    }

    /// The same error with the place in the request that it is about.
    pub fn at(mut self, kind: &'static str, name: &str) -> ApiError {
        self.location = Some((kind, name.to_owned()));
        self
    }

    pub fn reply(&self) -> Reply {
        let mut one = json!({ "domain": self.domain, "reason": self.reason, "message": self.message });
        if let Some((kind, name)) = &self.location {
            one["locationType"] = (*kind).into();
            one["location"] = name.clone().into();
        }
        let mut error = json!({ "code": self.status, "message": self.message });
        if !self.is_rpc_alone {
            error["errors"] = json!([one]);
        }
        if let Some(rpc) = &self.rpc {
            error["status"] = rpc.status.into();
            if rpc.details.as_array().is_some_and(|details| !details.is_empty()) {
                error["details"] = rpc.details.clone();
            }
        }
        let reply = Reply::json(self.status, &json!({ "error": error }));
        match self.status {
            401 => reply.header(
                "www-authenticate",
                "Bearer realm=\"https://accounts.google.com/\", error=\"invalid_token\"",
            ),
            _ => reply,
        }
    }
}

/// The name of a status in the newer form.
fn status_name(status: u16) -> &'static str {
    match status {
        400 | 413 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        409 => "ABORTED",
        412 => "FAILED_PRECONDITION",
        429 => "RESOURCE_EXHAUSTED",
        501 => "UNIMPLEMENTED",
        503 => "UNAVAILABLE",
        _ => "INTERNAL",
    }
}
