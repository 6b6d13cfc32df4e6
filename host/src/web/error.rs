//! Errors on their way out: which HTTP status a code has, and what clients see of an internal error, which is logged once.

use base::error::{Code, Error, Refusal};
use http::StatusCode;

/// The status of a code.
// Contract silent: which status `forbidden` has and which other codes there are. 403 for permission, 409 for every conflict
// (never 410, 412 or 422), 5xx only for what is not the caller's doing.
pub fn status(code: Code) -> StatusCode {
    use Code::*;
    match code {
        InvalidRequest
        | InvalidJson
        | InvalidParameter
        | MissingField
        | UnknownField
        | UnknownParameter
        | ConflictingFields
        | InvalidCursor
        | InvalidTimeRange
        | InvalidTimeZone
        | InvalidRecurrence
        | InvalidUrl
        | InvalidIdempotencyKey
        | RangeTooLarge
        | CapabilityNotSupported
        | ProviderRejected
        | ProviderNotRegistered
        | ExpiredState => StatusCode::BAD_REQUEST,
        MissingApiKey | InvalidApiKey | ExpiredApiKey | RevokedApiKey => StatusCode::UNAUTHORIZED,
        Forbidden
        | InsufficientScope
        | ScopeNotGranted
        | AccessDenied
        | AdminBlocked
        | ScopeMissing
        | TestKey
        | ReauthenticationRequired => StatusCode::FORBIDDEN,
        NotFound => StatusCode::NOT_FOUND,
        MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        StaleEtag
        | IdempotencyKeyReused
        | IdempotencyInProgress
        | InvalidState
        | DraftAlreadySent
        | AlreadySent
        | SlotUnavailable
        | BookingLimitReached
        | SyncResetRequired
        | SyncNotStarted
        | AlreadyExists
        | NotEmpty
        | AccountMismatch
        | ReauthRequired
        | ConnectionInactive
        | NotAnAttendee
        | OrganizerCannotRsvp
        | OutcomeUnknown => StatusCode::CONFLICT,
        PayloadTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        RequestTimeout => StatusCode::REQUEST_TIMEOUT,
        UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        RateLimited | ProviderRateLimited => StatusCode::TOO_MANY_REQUESTS,
        InternalError => StatusCode::INTERNAL_SERVER_ERROR,
        NotImplemented => StatusCode::NOT_IMPLEMENTED,
        ProviderError | ConnectorError => StatusCode::BAD_GATEWAY,
        ProviderUnavailable | AvailabilityUnknown | Overloaded | DatabaseUnavailable | StorageFull => {
            StatusCode::SERVICE_UNAVAILABLE
        }
        ProviderTimeout => StatusCode::GATEWAY_TIMEOUT,
    }
}

/// The code of a response that is an error, for the layers outside.
#[derive(Clone, Copy, Debug)]
pub struct FailedCode(pub Code);

/// The field or parameter at fault of a response that is an error, for the layers outside.
#[derive(Clone, Debug)]
pub struct FailedParam(pub String);

/// Whether a conflict is about the moment and not about the request: the same request may succeed later. The other conflicts are what
/// the work came to.
pub fn is_of_the_moment(code: Code) -> bool {
    matches!(
        code,
        Code::ReauthRequired | Code::ConnectionInactive | Code::SyncNotStarted | Code::IdempotencyInProgress
    )
}

/// An internal error as the refusal that clients see; the cause goes to the log only.
pub fn public(error: Error, request_id: &str) -> Refusal {
    match error {
        Error::Refused(refusal) => {
            // An outage of the database has its own lines in the log, and not one for each request.
            if status(refusal.code).is_server_error() && !refusal.code.is_outage() {
                tracing::warn!(request_id, code = refusal.code.as_str(), error = %refusal.message, "request failed");
            }
            *refusal
        }
        Error::Internal(cause) => {
            tracing::error!(request_id, error = %format!("{cause:#}"), "internal error");
            Refusal::new(Code::InternalError, "something went wrong on our side; it has been logged")
        }
    }
}
