//! The error codes that each operation may answer: those of its kind, and those of the table `ROWS`.
//!
//! Tests check every answer against it and report missing codes as rows: append such a row to `ROWS`.

use base::error::Code::{self, *};
use http::Method;

use crate::api::operation::Operation;

/// Codes of every operation.
const ALWAYS: &[Code] = &[
    InvalidRequest,
    InvalidParameter,
    MissingField,
    ConflictingFields,
    RateLimited,
    InternalError,
    Overloaded,
    DatabaseUnavailable,
    StorageFull,
];
/// Codes of operations that take an API key.
const WITH_KEY: &[Code] =
    &[MissingApiKey, InvalidApiKey, ExpiredApiKey, RevokedApiKey, Forbidden, InsufficientScope];
/// Codes of operations that read a body.
const WITH_BODY: &[Code] =
    &[InvalidJson, UnknownField, PayloadTooLarge, RequestTimeout, UnsupportedMediaType];
/// Codes of operations that take an Idempotency-Key.
const WRITE: &[Code] = &[InvalidIdempotencyKey, IdempotencyKeyReused, IdempotencyInProgress];
/// Codes of operations that use an account at a provider.
const PROVIDER: &[Code] = &[
    NotFound,
    ReauthRequired,
    ConnectionInactive,
    ScopeNotGranted,
    AdminBlocked,
    CapabilityNotSupported,
    ProviderNotRegistered,
    ProviderRejected,
    ProviderRateLimited,
    ProviderError,
    ConnectorError,
    ProviderUnavailable,
    ProviderTimeout,
];
/// Codes of operations that take times.
const TIMES: &[Code] = &[InvalidTimeRange, InvalidTimeZone, RangeTooLarge];
/// Codes of change feeds.
const FEED: &[Code] = &[InvalidCursor, SyncNotStarted, SyncResetRequired];
/// Codes of answers to an invitation.
const ANSWER: &[Code] = &[NotAnAttendee, OrganizerCannotRsvp];
/// Codes of operations that take a slot.
const SLOT: &[Code] = &[SlotUnavailable, BookingLimitReached, InvalidState, StaleEtag, AvailabilityUnknown];

/// Families of operations that use an account at a provider.
const PROVIDER_FAMILIES: [&str; 9] = [
    "auth.*",
    "calendars.*",
    "connections.*",
    "contactBooks.*",
    "contactGroups.*",
    "contacts.*",
    "email.*",
    "scheduling.*",
    "taskLists.*",
];

/// Families of operations whose writes change an item at a provider, which may know another version, or have such an item already.
const WRITTEN_FAMILIES: [&str; 6] =
    ["calendars.*", "contactBooks.*", "contactGroups.*", "contacts.*", "email.*", "taskLists.*"];

/// Codes beside those of the kind. The first text is an `operationId`, or the beginning of some with `*` for the rest; several rows may
/// name the same operation.
const ROWS: &[(&str, &[Code])] = &[
    ("admin.*", &[NotFound, InvalidTimeRange]),
    ("admin.applications.apiKeys.create", &[InvalidState]),
    ("admin.applications.apiKeys.rotate", &[InvalidState]),
    ("admin.applications.create", &[AlreadyExists, InvalidUrl]),
    ("admin.applications.update", &[AlreadyExists, InvalidState, InvalidUrl]),
    ("admin.applications.providers.delete", &[InvalidState, NotEmpty]),
    ("admin.applications.providers.replace", &[InvalidState, InvalidUrl, NotEmpty, TestKey]),
    ("admin.invitations.create", &[AlreadyExists, InvalidState]),
    ("admin.jobs.cancel", &[InvalidState]),
    ("admin.jobs.retry", &[InvalidState]),
    ("admin.operators.create", &[AlreadyExists, InvalidState]),
    ("admin.operators.delete", &[InvalidState]),
    ("admin.operators.update", &[AlreadyExists, InvalidState]),
    ("admin.organizations.create", &[AlreadyExists]),
    ("admin.organizations.update", &[AlreadyExists]),
    ("apiKeys.*", &[NotFound]),
    ("apiKeys.create", &[InvalidState]),
    ("apiKeys.rotate", &[InvalidState]),
    ("auth.connectors.authorize", &[InvalidUrl, TestKey]),
    (
        "auth.connectors.callback",
        &[AccessDenied, AccountMismatch, ExpiredState, InvalidState, MethodNotAllowed, ScopeMissing],
    ),
    ("calendars.*", TIMES),
    ("calendars.delete", &[InvalidState, NotEmpty]),
    ("calendars.events.*", &[InvalidRecurrence, InvalidUrl]),
    ("calendars.events.accept", ANSWER),
    ("calendars.events.decline", ANSWER),
    ("calendars.events.tentative", ANSWER),
    ("calendars.sync.changes", FEED),
    ("connections.create", &[AlreadyExists, InvalidUrl, TestKey]),
    ("contactBooks.delete", &[InvalidState, NotEmpty]),
    ("contacts.*", TIMES),
    ("contacts.*", &[InvalidUrl]),
    ("contacts.mergeSuggestions.query", &[InvalidCursor]),
    ("contacts.sync.changes", FEED),
    ("email.*", TIMES),
    ("email.drafts.delete", &[DraftAlreadySent, InvalidState]),
    ("email.drafts.send", &[DraftAlreadySent, InvalidState]),
    ("email.drafts.update", &[DraftAlreadySent, InvalidState]),
    ("email.messages.attachments.get", &[PayloadTooLarge]),
    ("email.messages.delete", &[AlreadySent, InvalidState]),
    ("email.messages.update", &[AlreadySent, InvalidState]),
    ("email.sync.changes", FEED),
    ("events.*", &[NotFound, SyncResetRequired, InvalidTimeRange]),
    ("oauth.token", &[NotFound]),
    ("providers.*", &[NotFound, MissingApiKey, InvalidApiKey]),
    ("scheduling.*", TIMES),
    ("scheduling.*", &[InvalidUrl]),
    ("scheduling.availability.query", &[AvailabilityUnknown]),
    ("scheduling.bookings.cancel", &[InvalidState, StaleEtag]),
    ("scheduling.bookings.confirm", SLOT),
    ("scheduling.bookings.create", SLOT),
    ("scheduling.bookings.reject", &[InvalidState, StaleEtag]),
    ("scheduling.bookings.reschedule", SLOT),
    ("scheduling.bookings.update", SLOT),
    ("scheduling.eventTypes.create", &[AlreadyExists, InvalidState, InvalidUrl]),
    ("scheduling.eventTypes.delete", &[InvalidState]),
    ("scheduling.eventTypes.links.create", &[AlreadyExists, InvalidState]),
    ("scheduling.eventTypes.links.delete", &[InvalidState]),
    ("scheduling.eventTypes.update", &[AlreadyExists, InvalidState, InvalidUrl]),
    ("scheduling.schedules.delete", &[InvalidState]),
    ("taskLists.*", TIMES),
    ("taskLists.delete", &[InvalidState, NotEmpty]),
    ("taskLists.sync.changes", FEED),
    ("taskLists.tasks.*", &[InvalidRecurrence, InvalidUrl]),
    ("test.*", &[InvalidState, NotFound, ProviderRejected, ProviderUnavailable]),
    ("usage.get", TIMES),
    ("webhooks.*", &[NotFound]),
    ("webhooks.create", &[InvalidState, InvalidUrl]),
    ("webhooks.replay", &[InvalidState, InvalidTimeRange, RangeTooLarge, SyncResetRequired]),
    ("webhooks.test", &[InvalidState]),
    ("webhooks.update", &[InvalidState, InvalidUrl]),
    ("scheduling.availability.query", &[InvalidCursor]),
];

/// Errors of RFC 6749, section 5.2, which the token endpoint answers with the statuses 400, 401 and 500.
const OAUTH_ERRORS: [&str; 7] = [
    "invalid_client",
    "invalid_grant",
    "invalid_request",
    "invalid_scope",
    "server_error",
    "unauthorized_client",
    "unsupported_grant_type",
];

/// Whether a row's first text names this operation.
fn matches(pattern: &str, id: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => id.starts_with(beginning),
        None => id == pattern,
    }
}

/// The codes that the operation may answer, in alphabetical order.
pub fn codes(operation: &Operation) -> Vec<Code> {
    let id = operation.id();
    let is_among = |families: &[&str]| families.iter().any(|family| matches(family, &id));
    // Operations of feeds write nothing but the feed's own state.
    let writes_item = operation.is_write() && is_among(&WRITTEN_FAMILIES) && !id.contains(".sync.");
    let of_kind: [(bool, &[Code]); 12] = [
        (true, ALWAYS),
        (!operation.public, &[UnknownParameter]),
        (!operation.public || operation.optional_key, WITH_KEY),
        (!operation.method.is_safe(), WITH_BODY),
        (operation.is_write(), WRITE),
        (operation.takes_etag(), &[StaleEtag]),
        (operation.paged, &[InvalidCursor]),
        (operation.path_parameters().next().is_some(), &[NotFound]),
        (!operation.built, &[NotImplemented]),
        (is_among(&PROVIDER_FAMILIES), PROVIDER),
        (writes_item, &[StaleEtag]),
        (writes_item && operation.method != Method::DELETE, &[AlreadyExists]),
    ];
    let of_kind = of_kind.into_iter().filter(|(applies, _)| *applies).map(|(_, codes)| codes);
    let of_rows = ROWS.iter().filter(|(pattern, _)| matches(pattern, &id)).map(|(_, codes)| *codes);
    let mut codes: Vec<Code> = of_kind.chain(of_rows).flatten().copied().collect();
    codes.sort_by_key(|code| code.as_str());
    codes.dedup();
    codes
}

/// The codes as clients see them. The token endpoint has those of RFC 6749 in place of its own 400, 401 and 415.
pub fn names(operation: &Operation) -> Vec<&'static str> {
    let codes = codes(operation);
    let mut names: Vec<&str> = match operation.oauth_errors {
        false => codes.into_iter().map(Code::as_str).collect(),
        true => {
            let others = codes.into_iter().filter(|code| !matches!(status(*code), 400 | 401 | 415));
            others.map(Code::as_str).chain(OAUTH_ERRORS).collect()
        }
    };
    names.sort_unstable();
    names
}

/// The status of a code.
pub fn status(code: Code) -> u16 {
    crate::web::error::status(code).as_u16()
}

#[cfg(test)]
mod tests {
    use super::{PROVIDER_FAMILIES, ROWS, WRITTEN_FAMILIES, matches};
    use crate::api;

    #[test]
    fn every_row_names_an_operation() {
        let ids: Vec<String> = api::operations().iter().map(|o| o.id()).collect();
        let patterns =
            ROWS.iter().map(|(pattern, _)| *pattern).chain(PROVIDER_FAMILIES).chain(WRITTEN_FAMILIES);
        let unused: Vec<&str> = patterns.filter(|p| !ids.iter().any(|id| matches(p, id))).collect();
        assert!(unused.is_empty(), "error_codes.rs names operations that there are not: {unused:?}");
    }
}
