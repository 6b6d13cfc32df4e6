//! The parts of the document that operations share: security, parameters, headers, responses.

use base::error::Code;
use model::bounds::list;
use model::formats;
use serde_json::{Map, Value, json};

use crate::api::openapi::schemas::SCHEMAS;

/// Statuses that some operations answer beside their usual one. The first text is the `operationId`.
const OTHER_ANSWERS: &[(&str, u16, &str)] = &[
    (
        "auth.connectors.callback",
        204,
        "A browser fetched the address before its user went there: nothing was done",
    ),
    ("auth.connectors.callback", 302, "The browser goes to your address, which has the result in its query"),
    ("email.messages.attachments.get", 206, "The bytes that `Range` names"),
    ("email.messages.attachments.get", 416, "The attachment has no bytes where `Range` says"),
    ("providers.notifications", 200, "The provider only tested the address"),
    ("providers.notificationsOfKind", 200, "The provider only tested the address"),
    (
        "calendars.events.delete",
        200,
        "The event is deleted; `warnings` say what could not be done, such as `notify_not_supported`",
    ),
    ("calendars.sync.start", 200, "The sync had been started before"),
    ("contacts.sync.start", 200, "The sync had been started before"),
    ("email.sync.start", 200, "The sync had been started before"),
    ("taskLists.sync.start", 200, "The sync had been started before"),
];

/// A response that many operations share.
pub fn shared_response(name: &str) -> Value {
    json!({ "$ref": format!("#/components/responses/{name}") })
}

/// A shared response with the error codes that this operation has there.
pub fn listed_response(name: &str, codes: &[Code]) -> Value {
    let mut response = shared_response(name);
    if !codes.is_empty() {
        let codes: Vec<String> = codes.iter().map(|code| format!("`{}`", code.as_str())).collect();
        response["description"] = json!(format!("{}: {}", outline(name), codes.join(", ")));
    }
    response
}

/// The beginning of the description of a response that lists its codes.
fn outline(name: &str) -> &'static str {
    match name {
        "BadRequest" => "The request is wrong",
        "Conflict" => "A conflict with the current state",
        _ => "Any other error",
    }
}

/// Statuses that an operation answers beside its usual one, by status.
pub fn other_answers(id: &str) -> impl Iterator<Item = (String, Value)> {
    let answers = OTHER_ANSWERS.iter().filter(move |(operation, _, _)| *operation == id);
    answers.map(|(_, status, description)| {
        (status.to_string(), json!({ "description": description, "headers": common_headers() }))
    })
}

/// Fields that answers have beside those of their types: the schema's name, the field's name, and its schema.
pub fn further_fields() -> [(&'static str, &'static str, Value); 3] {
    let warnings = json!({
        "type": "array",
        "items": { "$ref": format!("#{SCHEMAS}/Warning") },
        "description": "Warnings of a call that succeeded, such as fields of the request that the operation does not have.",
    });
    let last_sequence = json!({
        "type": "integer",
        "format": "int64",
        "description": "The `sequence` up to which the log was read. Pass it as `after_sequence` to continue later.",
    });
    [
        ("Authorization", "warnings", warnings.clone()),
        ("SlotAnswer", "warnings", warnings),
        ("NotificationPage", "last_sequence", last_sequence),
    ]
}

/// The headers that every response carries.
pub fn common_headers() -> Value {
    json!({
        "x-request-id": { "$ref": "#/components/headers/RequestId" },
        "x-ratelimit-limit": { "$ref": "#/components/headers/RateLimitLimit" },
        "x-ratelimit-remaining": { "$ref": "#/components/headers/RateLimitRemaining" },
    })
}

/// The description of a webhook notification.
pub fn webhook(notification: &Value) -> Value {
    json!({ "post": {
        "operationId": "notification",
        "summary": "What a webhook subscription is sent",
        "description": "Signed as Standard Webhooks describe: `webhook-id`, `webhook-timestamp`, `webhook-signature`. \
                        Delivered at least once and in no promised order: `sequence` tells what is older.",
        "security": [],
        "requestBody": { "required": true, "content": { "application/json": { "schema": notification } } },
        "responses": { "2XX": { "description": "Taken" } },
    } })
}

/// All components that operations refer to, with these schemas.
pub fn components(schemas: Map<String, Value>) -> Value {
    let error = |description: &str| {
        json!({
            "description": description,
            "headers": common_headers(),
            "content": { "application/json": { "schema": { "$ref": format!("#{SCHEMAS}/ErrorEnvelope") } } },
        })
    };
    let oauth_error = |description: &str| {
        let mut response = error(description);
        response["content"]["application/json"]["schema"] =
            json!({ "$ref": format!("#{SCHEMAS}/OAuthError") });
        response
    };
    let unknown = "`invalid_client`: the API key is missing, wrong, expired or revoked";
    let mut unknown_client = oauth_error(unknown);
    unknown_client["headers"]["WWW-Authenticate"] = json!({ "$ref": "#/components/headers/WwwAuthenticate" });
    let mut limited =
        error("The key's budget, or the provider's, is used up: `rate_limited`, `provider_rate_limited`");
    limited["headers"]["Retry-After"] = json!({ "$ref": "#/components/headers/RetryAfter" });
    json!({
        // The contract asks for one API-key scheme of this name; OpenAPI's type for that can name one header only.
        "securitySchemes": { "ServiceApiKey": {
            "type": "apiKey", "in": "header", "name": "X-Api-Key",
            "description": "The API key. `Authorization: Bearer <key>` is equivalent.",
        } },
        "parameters": {
            "Limit": {
                "name": "limit", "in": "query",
                "description": "The number of items on a page, from 1; more than 200 is taken as 200. A page has fewer items if together they have more than 4 MiB: only `next_cursor` says whether it is the last page.",
                "schema": { "type": "integer", "minimum": 1, "default": list::DEFAULT_LIMIT },
            },
            "Cursor": {
                "name": "cursor", "in": "query",
                "description": "The `next_cursor` of the page before; absent for the first page. Keep the other parameters of the first request.",
                "schema": { "type": "string", "pattern": formats::Cursor::PATTERN },
            },
            "IdempotencyKey": {
                "name": "Idempotency-Key", "in": "header",
                "description": "A text of your own that is new for this write, of printable ASCII characters. Send the same text when you repeat the write: it is then done once.",
                "schema": { "type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$" },
            },
            "IfMatch": {
                "name": "If-Match", "in": "header",
                "description": "The etag of the version that the change is based on, with its quotes; `*` for any version. An outdated etag answers 409 `stale_etag`.",
                "schema": { "type": "string", "pattern": formats::Etag::PATTERN },
            },
            "Fresh": {
                "name": "fresh", "in": "query",
                "description": "With `true`, the service asks the provider before it answers, as with `Cache-Control: no-cache`. Otherwise it answers from its copy as long as that is up to date.",
                "schema": { "type": "boolean", "default": false },
            },
        },
        "headers": headers(),
        "responses": {
            "BadRequest": error("The request is wrong: `error.code` and `error.param` say how"),
            "Unauthorized": error("The API key is missing, wrong, expired or revoked: `missing_api_key`, `invalid_api_key`, `expired_api_key`, `revoked_api_key`"),
            "Conflict": error("A conflict with the current state, such as `stale_etag`"),
            "RateLimited": limited,
            "OAuthError": oauth_error("The request is refused: `error` says why (RFC 6749, section 5.2)"),
            "OAuthUnknownClient": unknown_client,
            "Error": error("Any other error: 403, 404, 405, 413, 415, and 5xx"),
            "NotUsed": { "description": "Declared on every operation; this one does not answer it", "headers": common_headers() },
        },
        "schemas": schemas,
    })
}

/// The response headers.
fn headers() -> Value {
    let header = |text: &str, kind: &str| json!({ "description": text, "schema": { "type": kind } });
    json!({
        "DataSource": header("The source of the data: `local` is the service's own copy; `provider` means that the request waited for the provider.", "string"),
        "DataAge": header("The age of the data in seconds: the time since the service last compared it with the provider, of several parts the longest. Absent until a mailbox is read for the first time.", "integer"),
        "RequestId": header("The id of the request. Name it when you ask for help.", "string"),
        "RateLimitLimit": header("The number of requests that the key may make in a minute.", "integer"),
        "RateLimitRemaining": header("The number of requests that the key may still make in the current minute.", "integer"),
        "RetryAfter": header("The number of seconds to wait before the request is repeated.", "integer"),
        "WwwAuthenticate": header("The way in which the client can authenticate (RFC 6749, section 5.2).", "string"),
        "ETag": header("The version of the resource, with its quotes. Send it back as `If-Match` with a change.", "string"),
        "IdempotentReplayed": header("`true` if this is the answer to an earlier request with the same `Idempotency-Key`.", "string"),
    })
}
