//! `/v1/api-keys`

use axum::extract::State;
use base::error::not_found;
use http::HeaderMap;
use model::application::{ApiKey, CreatedApiKey, KeyRotation, NewApiKey, RotatedApiKey};
use model::resource::Written;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use service::app::App;
use service::app::stored_response::{IdempotentAttempt, StoredResponse};
use service::manage::keys::{self, KeyRequest, KeyTarget, SecretRotation};
use storage::api_keys as table;

use crate::api::access::api_key::Caller;
use crate::api::operation::Priority::{Additive, Common};
use crate::api::operation::Routes;
use crate::api::pagination;
use crate::api::request::extractors::{Extract, Params, Path};
use crate::api::request::json::{self, Body};
use crate::api::response::reply::{ApiResponse, ApiResult};
use crate::api::shared::key_revocation::KeyRevocationQuery;
use crate::web::cursor::Binding;

/// The query string of a list of API keys.
#[derive(Debug, Deserialize, JsonSchema)]
struct KeyListQuery {
    /// The kind of keys that the list has.
    #[serde(default)]
    kind: KeyKindFilter,
}

/// The kinds of keys to filter by.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum KeyKindFilter {
    #[default]
    Key,
    AccessToken,
}

pub fn routes() -> Routes<App> {
    Routes::new("API keys")
        .post("/v1/api-keys", "api_keys.write", Common, create)
        .summary("Create an API key")
        .description("The answer holds the secret in `key`. It is shown only once; an idempotent replay shows it again. The new key can do no more than the key that creates it: its scopes are among those of that key, and every restriction of that key (domains, addresses, connections, rate, expiry, policy for assistants) applies to it too, or is narrower. To replace a key's secret, rotate it (`POST /v1/api-keys/{keyId}/rotate`).")
        .body::<NewApiKey>()
        .returns::<Written<CreatedApiKey>>()
        .get("/v1/api-keys", "api_keys.write", Additive, list)
        .summary("List the application's API keys")
        .description("A key that is bound to connections sees itself and the keys that descend from it. Access tokens are listed with `kind=access_token`, until an hour after they expire.")
        .query::<KeyListQuery>()
        .lists::<ApiKey>()
        .get("/v1/api-keys/{keyId}", "api_keys.write", Additive, get)
        .summary("Read an API key")
        .returns::<ApiKey>()
        .post("/v1/api-keys/{keyId}/rotate", "api_keys.write", Additive, rotate)
        .summary("Give an API key a new secret")
        .description("The answer holds the new secret in `key`. It is shown only once; an idempotent replay shows it again. The key keeps its id, and with it its scopes, restrictions, usage, webhooks, access tokens and the keys that it created. The old secret works until `previousExpiresAt`, `overlapSeconds` from now, so that clients can switch one after the other. Then it is refused everywhere within a second (401 `expired_api_key`), and event streams that it opened end. With `0` it ends at once, and so does one that an earlier rotation left. 409 `invalid_state`: the key is revoked or expired, it is an access token, or the overlap of an earlier rotation is not over and another overlap is requested. A key can rotate itself and keys that may do no more than it: for a key with a scope that it lacks the answer is 403 `insufficient_scope`, for a less restricted one 403 `forbidden`.")
        .body::<KeyRotation>()
        .returns::<Written<RotatedApiKey>>()
        .delete("/v1/api-keys/{keyId}", "api_keys.write", Additive, revoke)
        .summary("Revoke an API key")
        .description("The key and its access tokens are refused everywhere within a second, and event streams that they opened end. Its webhooks pass to the newest valid key that was created later and has exactly its scopes and connections, so that a newer key can replace this one. If there is none, they are disabled (`key_ended`); webhooks of its access tokens are always disabled. The key stays in lists, with `revokedAt`.")
        .query::<KeyRevocationQuery>()
}

async fn create(
    State(app): State<App>,
    caller: Caller,
    Extract(attempt): Extract<IdempotentAttempt>,
    headers: HeaderMap,
    Body(body): Body,
) -> ApiResult {
    let (new, unknown) = json::typed::<NewApiKey>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    Ok(ApiResponse(keys::create(&app, &caller.key, KeyRequest { new, warnings }, &attempt).await?.answer))
}

/// The key whose descendants this one manages: a key that is bound to connections manages those that it created, and those that they
/// created; any other one all of the application (none).
fn family(caller: &Caller) -> Option<&str> {
    Some(caller.key.id.as_str()).filter(|_| !caller.key.connection_ids.is_empty())
}

async fn list(State(app): State<App>, caller: Caller, params: Params) -> ApiResult {
    let limit = pagination::limit(params.get("limit"))?;
    let query: KeyListQuery = params.read()?;
    let kind = match query.kind {
        KeyKindFilter::AccessToken => table::KeyKind::AccessToken,
        KeyKindFilter::Key => table::KeyKind::Key,
    };
    let binding = Binding::new(caller.tenant(), "api-keys.list", &kind.as_str());
    let after: String = binding.place(&app.keyring, params.get("cursor"))?.unwrap_or_default();
    let mut keys =
        table::list(app.db.reader(), caller.tenant(), family(&caller), kind, (&after, limit + 1)).await?;
    let more = (keys.len() as i64) > limit;
    keys.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let items: Vec<String> = keys.iter().map(|k| k.json().to_string()).collect();
    let cursor = |last: usize| binding.cursor(&app.keyring, &keys.get(last).map(|k| &k.id));
    Ok(ApiResponse(StoredResponse::ok(pagination::cut(&items, more, cursor))))
}

async fn get(State(app): State<App>, caller: Caller, Path(id): Path<String>) -> ApiResult {
    let key = table::find(app.db.reader(), caller.tenant(), family(&caller), &id).await?;
    Ok(ApiResponse(StoredResponse::ok(key.ok_or_else(|| not_found("API key"))?.json().to_string())))
}

async fn revoke(
    State(app): State<App>,
    caller: Caller,
    Extract(attempt): Extract<IdempotentAttempt>,
    params: Params,
    Path(id): Path<String>,
) -> ApiResult {
    let query: KeyRevocationQuery = params.read()?;
    Ok(ApiResponse(keys::revoke(&app, &target(&caller, id), query.webhooks(), &attempt).await?))
}

async fn rotate(
    State(app): State<App>,
    caller: Caller,
    Extract(attempt): Extract<IdempotentAttempt>,
    headers: HeaderMap,
    Path(id): Path<String>,
    Body(body): Body,
) -> ApiResult {
    let (wish, unknown) = json::typed::<KeyRotation>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    let rotation =
        SecretRotation { overlap_s: wish.overlap_seconds.unwrap_or(keys::DEFAULT_OVERLAP_S), warnings };
    Ok(ApiResponse(keys::rotate(&app, &caller.key, &target(&caller, id), rotation, &attempt).await?.answer))
}

/// The key with this id, among those that the caller manages.
fn target(caller: &Caller, id: String) -> KeyTarget {
    KeyTarget { tenant: caller.tenant().clone(), family: family(caller).map(str::to_owned), id }
}
