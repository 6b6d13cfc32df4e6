//! Remedies: what a caller can do about each error code.

/// The remedies by code, as Markdown.
pub const REMEDIES: &[(&str, &str)] = &[
    (
        "invalid_request",
        "Read `error.message`: parts of the request contradict each other, or are not allowed together.",
    ),
    (
        "invalid_json",
        "Send a JSON object with `Content-Type: application/json`; `error.param` names the part that has another type.",
    ),
    (
        "invalid_parameter",
        "Correct the field or parameter that `error.param` names. `error.details` lists all faults of the request.",
    ),
    ("missing_field", "Add the field or parameter that `error.param` names."),
    (
        "unknown_parameter",
        "Remove the parameter, or correct its name. Without `Prefer: handling=strict` it is a warning.",
    ),
    (
        "unknown_field",
        "Remove the field, or correct its name. Without `Prefer: handling=strict` it is a warning.",
    ),
    ("conflicting_fields", "Send only one of the two fields."),
    (
        "invalid_cursor",
        "Send `next_cursor` of the last page unchanged, with the same filters, or read the list from its beginning.",
    ),
    ("invalid_time_range", "Make the end later than the start."),
    (
        "invalid_time_zone",
        "Send an IANA name, such as `Europe/Berlin`; see [Time zones](/docs/guides/time-zones).",
    ),
    (
        "invalid_recurrence",
        "Send lines of RFC 5545, such as `RRULE:FREQ=WEEKLY;BYDAY=MO`; see [Recurrence](/docs/guides/recurrence).",
    ),
    (
        "invalid_url",
        "Send an absolute URL with the scheme that the field's description names. Only the operator can allow private addresses.",
    ),
    ("invalid_idempotency_key", "Send 1 to 255 printable ASCII characters, such as a UUID."),
    ("range_too_large", "Split the range into shorter ones; the description of the parameter has the limit."),
    (
        "capability_not_supported",
        "Read `GET /v1/connections/{connectionId}/capabilities`, and offer only what the account's provider can do.",
    ),
    (
        "provider_rejected",
        "Read `error.provider`: it has the provider's own code and message. Change the request accordingly.",
    ),
    (
        "provider_not_registered",
        "Ask the operator to register your application at the provider; see [Providers](/docs/guides/providers).",
    ),
    ("expired_state", "Start the authorization again with `POST /v1/auth/connectors/{provider}/authorize`."),
    ("missing_api_key", "Send the key as `Authorization: Bearer <key>` or `X-Api-Key: <key>`."),
    ("invalid_api_key", "Check that the whole key was copied, and that it is a key of this server."),
    ("expired_api_key", "Create another key, or rotate keys before they expire."),
    (
        "revoked_api_key",
        "Use another key. If you did not revoke it, ask the person who manages the keys of your application.",
    ),
    (
        "forbidden",
        "Call from a domain and an IP address on the key's allowlists, or change them; see [Authentication](/docs/guides/authentication).",
    ),
    (
        "insufficient_scope",
        "Use a key with the scope that `error.message` names. A key cannot give itself more scopes.",
    ),
    (
        "scope_not_granted",
        "Authorize the connection again and ask for the scope; `missingScopes` of the connection lists those that are missing.",
    ),
    ("access_denied", "Explain to the user why you need the access, and let them start again."),
    (
        "admin_blocked",
        "Ask an administrator of the user's organization to allow your application, then authorize again.",
    ),
    ("scope_missing", "Let the user authorize again and allow at least one of the requested scopes."),
    (
        "test_key",
        "Use a key of an application without test mode, or connect an account of the [sandbox](/docs/guides/sandbox).",
    ),
    (
        "not_found",
        "Check the id, and that the key may see it: a resource of another application, or of a connection that the key is not \
                   bound to, is not found either. If it existed before, it was deleted.",
    ),
    ("method_not_allowed", "Use a method that the path has; the `Allow` header of `OPTIONS` lists them."),
    (
        "stale_etag",
        "Read the resource again, apply your change to it, and send it with the new etag; see [Versions](/docs/guides/versions).",
    ),
    (
        "idempotency_key_reused",
        "Use another key for another request; see [Idempotency](/docs/guides/idempotency).",
    ),
    (
        "idempotency_in_progress",
        "Wait as many seconds as `Retry-After` says, and repeat the request with the same key to get its answer.",
    ),
    ("slot_unavailable", "Query the free slots again, and offer the user another one."),
    (
        "booking_limit_reached",
        "Choose another day, or ask the host: the event type limits the number of bookings.",
    ),
    ("invalid_state", "Read the resource: its `status` does not allow the operation any more, or not yet."),
    (
        "sync_reset_required",
        "Read the feed without a cursor, and replace what you have stored; see [Sync](/docs/guides/sync).",
    ),
    ("sync_not_started", "Call the `sync/start` operation of the same resource first."),
    ("already_exists", "Use the existing resource; `error.details` has its id where it is known."),
    ("not_empty", "Delete what is in it first, or use `force=true`."),
    ("draft_already_sent", "Read the message instead: the draft was sent."),
    ("already_sent", "The message cannot be taken back. Tell the user that it is on its way."),
    (
        "reauth_required",
        "Let the user authorize the connection again, with its `connectionId`. Ids and data of the connection stay.",
    ),
    ("connection_inactive", "Read the connection: its `status` says why it cannot be used."),
    ("not_an_attendee", "Answer only invitations of events in which the account is an attendee."),
    ("organizer_cannot_rsvp", "Change or delete the event instead: its organizer is not invited."),
    (
        "account_mismatch",
        "Let the user sign in with the account that the connection belongs to, or connect the other one separately.",
    ),
    (
        "outcome_unknown",
        "Read the resource to see whether the change was made. Repeat the write only if it was not.",
    ),
    ("payload_too_large", "Send less; the description of the operation has the limits."),
    ("request_timeout", "Repeat the request over a faster connection, or with a smaller body."),
    ("unsupported_media_type", "Send `Content-Type: application/json`, or a type that the operation lists."),
    (
        "rate_limited",
        "Wait as many seconds as `Retry-After` says. `x-ratelimit-remaining` of every answer shows what is left.",
    ),
    (
        "provider_rate_limited",
        "Wait as many seconds as `Retry-After` says: the provider limits requests to the account.",
    ),
    (
        "internal_error",
        "Repeat the request, a write with the same `Idempotency-Key`. If it fails again, ask the operator and name `error.request_id`.",
    ),
    ("not_implemented", "Do not call the operation: this version of the service does not have it."),
    (
        "provider_error",
        "Read `error.provider`: it has the provider's answer. If the same request fails for long, ask the operator and name \
         `error.request_id`.",
    ),
    (
        "connector_error",
        "Ask the operator and name `error.request_id`: the program that speaks to the provider failed.",
    ),
    (
        "provider_unavailable",
        "Repeat the request later, after `Retry-After` where it is sent. Reads of synced data go on.",
    ),
    (
        "availability_unknown",
        "Repeat the request later: the calendars of a host cannot be read now, and no slot is offered that may be busy.",
    ),
    ("overloaded", "Wait as many seconds as `Retry-After` says, then repeat the request."),
    ("database_unavailable", "Wait as many seconds as `Retry-After` says, then repeat the request."),
    (
        "storage_full",
        "Wait as many seconds as `Retry-After` says. If it continues, ask the operator to free disk space.",
    ),
    (
        "provider_timeout",
        "Repeat the request later, a write with the same `Idempotency-Key`: it is then done once.",
    ),
];

/// The codes of RFC 6749 that `POST /v1/oauth/token` returns in addition to those of the table: code, status, meaning, remedy.
pub const OAUTH: &[[&str; 4]] = &[
    [
        "invalid_client",
        "401",
        "there is no such key",
        "Check that the whole API key was copied, and that it is a key of this server.",
    ],
    [
        "invalid_grant",
        "400",
        "the code or refresh token is wrong, has expired or was used before",
        "Let the user authorize again. For `client_credentials` no grant is needed.",
    ],
    [
        "invalid_scope",
        "400",
        "the token cannot have the scope",
        "Ask only for scopes of the key and, for a connection's token, scopes that the user granted.",
    ],
    [
        "server_error",
        "500",
        "our fault; it was logged under the request's id",
        "Repeat the request with the same `Idempotency-Key`. If it fails again, ask the operator and name the answer's `x-request-id`.",
    ],
    [
        "unauthorized_client",
        "400",
        "the key may not use this grant",
        "Read `error_description`, and use another key or another `grant_type`.",
    ],
    [
        "unsupported_grant_type",
        "400",
        "the service does not have this `grant_type`",
        "Send `authorization_code`, `refresh_token` or `client_credentials`.",
    ],
];

/// Returns the remedy for a code.
pub fn remedy(code: &str) -> Option<&'static str> {
    let oauth = OAUTH.iter().map(|[code, _, _, text]| (code, text));
    let mut all = REMEDIES.iter().map(|(code, text)| (code, text)).chain(oauth);
    all.find(|(known, _)| **known == code).map(|(_, text)| *text)
}
