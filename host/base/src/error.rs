//! `Error`: the error of any part of the host. A refusal carries a code of the public catalogue (model.md, error envelope);
//! everything else is internal and logged once, at the edge. HTTP statuses are known to `api/error.rs` alone.

use std::fmt;

/// The public codes, as sent in the envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    InvalidRequest,
    InvalidJson,
    InvalidParameter,
    MissingField,
    UnknownField,
    UnknownParameter,
    ConflictingFields,
    InvalidCursor,
    InvalidTimeRange,
    InvalidTimeZone,
    InvalidRecurrence,
    InvalidUrl,
    InvalidIdempotencyKey,
    RangeTooLarge,
    CapabilityNotSupported,
    ProviderRejected,
    ProviderNotRegistered,
    ExpiredState,
    MissingApiKey,
    InvalidApiKey,
    ExpiredApiKey,
    RevokedApiKey,
    Forbidden,
    InsufficientScope,
    ScopeNotGranted,
    AccessDenied,
    AdminBlocked,
    ScopeMissing,
    TestKey,
    NotFound,
    MethodNotAllowed,
    StaleEtag,
    IdempotencyKeyReused,
    IdempotencyInProgress,
    InvalidState,
    SyncResetRequired,
    SyncNotStarted,
    AlreadyExists,
    NotEmpty,
    AccountMismatch,
    ReauthRequired,
    /// An operator has to authenticate again before a dangerous action.
    ReauthenticationRequired,
    ConnectionInactive,
    NotAnAttendee,
    OrganizerCannotRsvp,
    DraftAlreadySent,
    AlreadySent,
    SlotUnavailable,
    BookingLimitReached,
    OutcomeUnknown,
    PayloadTooLarge,
    RequestTimeout,
    UnsupportedMediaType,
    RateLimited,
    ProviderRateLimited,
    InternalError,
    NotImplemented,
    ProviderError,
    ConnectorError,
    ProviderUnavailable,
    ProviderTimeout,
    AvailabilityUnknown,
    Overloaded,
    DatabaseUnavailable,
    StorageFull,
}

impl Code {
    /// Whether the database failed as a whole: the same request can succeed when the database is back.
    pub fn is_outage(self) -> bool {
        matches!(self, Code::DatabaseUnavailable | Code::StorageFull)
    }

    /// The code as sent to clients.
    pub fn as_str(self) -> &'static str {
        match self {
            Code::InvalidRequest => "invalid_request",
            Code::InvalidJson => "invalid_json",
            Code::InvalidParameter => "invalid_parameter",
            Code::MissingField => "missing_field",
            Code::UnknownField => "unknown_field",
            Code::UnknownParameter => "unknown_parameter",
            Code::ConflictingFields => "conflicting_fields",
            Code::InvalidCursor => "invalid_cursor",
            Code::InvalidTimeRange => "invalid_time_range",
            Code::InvalidTimeZone => "invalid_time_zone",
            Code::InvalidRecurrence => "invalid_recurrence",
            Code::InvalidUrl => "invalid_url",
            Code::InvalidIdempotencyKey => "invalid_idempotency_key",
            Code::RangeTooLarge => "range_too_large",
            Code::CapabilityNotSupported => "capability_not_supported",
            Code::ProviderRejected => "provider_rejected",
            Code::ProviderNotRegistered => "provider_not_registered",
            Code::ExpiredState => "expired_state",
            Code::MissingApiKey => "missing_api_key",
            Code::InvalidApiKey => "invalid_api_key",
            Code::ExpiredApiKey => "expired_api_key",
            Code::RevokedApiKey => "revoked_api_key",
            Code::Forbidden => "forbidden",
            Code::InsufficientScope => "insufficient_scope",
            Code::ScopeNotGranted => "scope_not_granted",
            Code::AccessDenied => "access_denied",
            Code::AdminBlocked => "admin_blocked",
            Code::ScopeMissing => "scope_missing",
            Code::TestKey => "test_key",
            Code::NotFound => "not_found",
            Code::MethodNotAllowed => "method_not_allowed",
            Code::StaleEtag => "stale_etag",
            Code::IdempotencyKeyReused => "idempotency_key_reused",
            Code::IdempotencyInProgress => "idempotency_in_progress",
            Code::InvalidState => "invalid_state",
            Code::SyncResetRequired => "sync_reset_required",
            Code::SyncNotStarted => "sync_not_started",
            Code::AlreadyExists => "already_exists",
            Code::NotEmpty => "not_empty",
            Code::AccountMismatch => "account_mismatch",
            Code::ReauthRequired => "reauth_required",
            Code::ReauthenticationRequired => "reauthentication_required",
            Code::ConnectionInactive => "connection_inactive",
            Code::NotAnAttendee => "not_an_attendee",
            Code::OrganizerCannotRsvp => "organizer_cannot_rsvp",
            Code::DraftAlreadySent => "draft_already_sent",
            Code::AlreadySent => "already_sent",
            Code::SlotUnavailable => "slot_unavailable",
            Code::BookingLimitReached => "booking_limit_reached",
            Code::OutcomeUnknown => "outcome_unknown",
            Code::PayloadTooLarge => "payload_too_large",
            Code::RequestTimeout => "request_timeout",
            Code::UnsupportedMediaType => "unsupported_media_type",
            Code::RateLimited => "rate_limited",
            Code::ProviderRateLimited => "provider_rate_limited",
            Code::InternalError => "internal_error",
            Code::NotImplemented => "not_implemented",
            Code::ProviderError => "provider_error",
            Code::ConnectorError => "connector_error",
            Code::ProviderUnavailable => "provider_unavailable",
            Code::ProviderTimeout => "provider_timeout",
            Code::AvailabilityUnknown => "availability_unknown",
            Code::Overloaded => "overloaded",
            Code::DatabaseUnavailable => "database_unavailable",
            Code::StorageFull => "storage_full",
        }
    }
}

/// The provider's own error, as far as clients may see it.
#[derive(Clone, Debug, Default)]
pub struct ProviderAnswer {
    pub name: String,
    pub status: Option<u16>,
    pub code: Option<String>,
    pub message: Option<String>,
}

/// One error of the input, where there can be several.
#[derive(Clone, Debug)]
pub struct Detail {
    pub field: String,
    pub code: Code,
    pub message: String,
}

/// A request that is refused, with all fields of the envelope.
#[derive(Clone, Debug)]
pub struct Refusal {
    pub code: Code,
    /// One sentence, lower case, no full stop; names the field and the fix. Never a token, a body, SQL or a trap.
    pub message: String,
    pub param: Option<String>,
    pub details: Vec<Detail>,
    pub current_etag: Option<String>,
    pub retry_after_s: Option<u64>,
    pub provider: Option<ProviderAnswer>,
}

impl Refusal {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Refusal {
            code,
            message: message.into(),
            param: None,
            details: Vec::new(),
            current_etag: None,
            retry_after_s: None,
            provider: None,
        }
    }

    /// Sets the parameter or field at fault.
    pub fn param(mut self, param: impl Into<String>) -> Self {
        self.param = Some(param.into());
        self
    }

    pub fn current_etag(mut self, etag: impl Into<String>) -> Self {
        self.current_etag = Some(etag.into());
        self
    }

    /// Sets the seconds that the client should wait; at least 1.
    pub fn retry_after_s(mut self, seconds: u64) -> Self {
        self.retry_after_s = Some(seconds.max(1));
        self
    }
}

/// A refusal, or an internal error.
#[derive(Debug)]
pub enum Error {
    Refused(Box<Refusal>),
    Internal(anyhow::Error),
}

/// The host's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A refusal as an error, for `return Err(refuse(..))`.
pub fn refuse(code: Code, message: impl Into<String>) -> Error {
    Refusal::new(code, message).into()
}

/// A refusal that names a field: `invalid(Code::MissingField, "start", "start is required")`.
pub fn invalid(code: Code, param: impl Into<String>, message: impl Into<String>) -> Error {
    Refusal::new(code, message).param(param).into()
}

/// Returns the error for a missing object; the same as for another tenant's object.
pub fn not_found(what: &str) -> Error {
    refuse(Code::NotFound, format!("no such {what}"))
}

impl Error {
    /// Returns the same refusal with this field or parameter.
    pub fn with_param(self, param: impl Into<String>) -> Error {
        match self {
            Error::Refused(refusal) => refusal.param(param).into(),
            internal => internal,
        }
    }

    /// The code, if it is a refusal.
    pub fn code(&self) -> Option<Code> {
        match self {
            Error::Refused(r) => Some(r.code),
            Error::Internal(_) => None,
        }
    }

    /// Whether the database failed as a whole. Such an outage is logged separately, so that callers need not log it.
    pub fn is_outage(&self) -> bool {
        self.code().is_some_and(Code::is_outage)
    }
}

/// Whether an error that may wrap a refusal says that the database failed as a whole.
pub fn is_outage(e: &anyhow::Error) -> bool {
    e.downcast_ref::<Refusal>().is_some_and(|refusal| refusal.code.is_outage())
}

impl From<Refusal> for Error {
    fn from(r: Refusal) -> Self {
        Error::Refused(Box::new(r))
    }
}

impl std::error::Error for Refusal {}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.as_str(), self.message)
    }
}

/// Keeps a refusal that was passed on as an `anyhow::Error`.
impl From<anyhow::Error> for Error {
    fn from(e: anyhow::Error) -> Self {
        match e.downcast::<Refusal>() {
            Ok(refusal) => refusal.into(),
            Err(e) => Error::Internal(e),
        }
    }
}

impl From<serde_json::Error> for Error {
    fn from(e: serde_json::Error) -> Self {
        Error::Internal(anyhow::Error::new(e).context("stored JSON"))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Refused(r) => r.fmt(f),
            Error::Internal(e) => write!(f, "{e:#}"),
        }
    }
}
