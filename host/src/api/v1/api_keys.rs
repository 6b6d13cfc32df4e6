//! `/v1/api-keys`

use axum::extract::State;
use base::error::{Error, not_found};
use base::ids::Kind;
use http::HeaderMap;
use model::Instant;
use model::application::{ApiKey, CreatedApiKey, NewApiKey};
use model::resource::Written;
use serde_json::json;
use storage::api_keys as table;
use storage::key_revocations::{self, KeyWebhooks};

use crate::api::access::api_key::Caller;
use crate::api::access::key_restrictions::restrict;
use crate::api::operation::Priority::{Additive, Common};
use crate::api::operation::Routes;
use crate::api::pagination::{self, Binding};
use crate::api::request::extractors::{Params, Path};
use crate::api::request::json::{self, Body};
use crate::api::response::error::ApiError;
use crate::app::App;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};

pub fn routes() -> Routes<App> {
    Routes::new("API keys")
        .post("/v1/api-keys", "api_keys.write", Common, create)
        .summary("Create an API key")
        .description("The answer holds `key`, this once; an idempotent replay shows it again. It can do no more than the key that makes it: its scopes are among those, and every restriction of that key (domains, addresses, connections, rate, expiry) holds for it too, or is narrowed. To rotate a key, create a new one with the same scopes and connections, switch to it, and revoke the old one: both work until then, and the webhooks of the old one pass to the new one.")
        .body::<NewApiKey>()
        .returns::<Written<CreatedApiKey>>()
        .get("/v1/api-keys", "api_keys.write", Additive, list)
        .summary("List the application's API keys")
        .description("To a key that is bound to connections: itself, and the keys that descend from it. Access tokens are listed by themselves, until an hour after they expire.")
        .param("kind", "string", "`key` (the default) or `access_token`")
        .lists::<ApiKey>()
        .get("/v1/api-keys/{keyId}", "api_keys.write", Additive, get)
        .summary("Read an API key")
        .returns::<ApiKey>()
        .delete("/v1/api-keys/{keyId}", "api_keys.write", Additive, revoke)
        .summary("Revoke an API key")
        .description("The key and its access tokens are refused everywhere within a second, and event streams that they opened end. Its webhooks pass to the newest valid key that was created later and has exactly its scopes and connections, as after a rotation. If there is none, they are disabled (`key_ended`); webhooks of its access tokens always are. The key stays in lists, with `revokedAt`.")
        .param("webhooks", "string", "`disable`: disables its webhooks instead of passing them to another key. Use it for a stolen key: webhooks that the thief created end with it")
}

async fn create(
    State(app): State<App>,
    caller: Caller,
    attempt: IdempotentAttempt,
    headers: HeaderMap,
    Body(body): Body,
) -> Result<StoredResponse, ApiError> {
    let (mut new, unknown) = json::typed::<NewApiKey>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    restrict(&mut new, &caller.key, app.now())?;
    let made = app.keyring.new_api_key();
    let key = table::ApiKey {
        id: app.new_id(Kind::ApiKey),
        tenant: caller.tenant().clone(),
        name: new.name,
        prefix: made.prefix,
        last4: made.last4,
        scopes: new.scopes,
        allowed_domains: new.allowed_domains,
        allowed_ips: new.allowed_ips,
        connection_ids: new.connection_ids,
        rate_limit_per_minute: new.rate_limit_per_minute.unwrap_or(caller.key.rate_limit_per_minute),
        expires_at: new.expires_at.map(Instant::as_millis),
        last_used_at: None,
        last_used_ip: None,
        created_by: Some(caller.key.id.clone()),
        revoked_at: None,
        created_at: app.now(),
        kind: table::KeyKind::Key,
        grant_id: None,
    };
    let mut body = key.json();
    body["key"] = json!(made.key);
    let answer = StoredResponse::created(body.to_string())
        .warned(&warnings)
        .header("location", format!("/v1/api-keys/{}", key.id));
    let (hash, kept, at, keyed) = (made.hash, answer.clone(), app.now(), app.clone());
    app.db
        .write(move |tx| {
            Box::pin(async move {
                table::insert(tx, &key, &hash).await?;
                attempt.store(tx, &keyed.keyring, &kept, at).await?;
                Ok::<_, Error>(())
            })
        })
        .await?;
    app.sites.clear();
    Ok(answer)
}

/// Whose keys this one manages: a key that is bound to connections those that it made, and those that they made; any other one all of
/// the application.
fn family(caller: &Caller) -> Option<&str> {
    Some(caller.key.id.as_str()).filter(|_| !caller.key.connection_ids.is_empty())
}

async fn list(State(app): State<App>, caller: Caller, params: Params) -> Result<StoredResponse, ApiError> {
    let limit = pagination::limit(params.get("limit"))?;
    let kind = match params.word("kind", &["key", "access_token"])?.as_deref() {
        Some("access_token") => table::KeyKind::AccessToken,
        _ => table::KeyKind::Key,
    };
    let binding = Binding::new(caller.tenant(), "api-keys.list", &kind.as_str());
    let after: String = binding.place(&app.keyring, params.get("cursor"))?.unwrap_or_default();
    let mut keys =
        table::list(app.db.reader(), caller.tenant(), family(&caller), kind, (&after, limit + 1)).await?;
    let more = (keys.len() as i64) > limit;
    keys.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let items: Vec<String> = keys.iter().map(|k| k.json().to_string()).collect();
    let cursor = |last: usize| binding.cursor(&app.keyring, &keys.get(last).map(|k| &k.id));
    Ok(StoredResponse::ok(pagination::cut(&items, more, cursor)))
}

async fn get(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<StoredResponse, ApiError> {
    let key = table::find(app.db.reader(), caller.tenant(), family(&caller), &id).await?;
    Ok(StoredResponse::ok(key.ok_or_else(|| not_found("API key"))?.json().to_string()))
}

async fn revoke(
    State(app): State<App>,
    caller: Caller,
    attempt: IdempotentAttempt,
    params: Params,
    Path(id): Path<String>,
) -> Result<StoredResponse, ApiError> {
    let webhooks = match params.word("webhooks", &["disable"])? {
        Some(_) => KeyWebhooks::End,
        None => KeyWebhooks::PassOn,
    };
    let (tenant, now, keyed) = (caller.tenant().clone(), app.now(), app.clone());
    let family = family(&caller).map(str::to_owned);
    let answer = StoredResponse::no_content();
    let kept = answer.clone();
    app.db
        .write(move |tx| {
            Box::pin(async move {
                let is_known = table::find(&mut *tx, &tenant, family.as_deref(), &id).await?.is_some();
                if !is_known || !key_revocations::revoke(tx, &tenant, &id, webhooks, now).await? {
                    return Err(not_found("API key"));
                }
                attempt.store(tx, &keyed.keyring, &kept, now).await?;
                Ok::<_, Error>(())
            })
        })
        .await?;
    app.keys.clear();
    app.sites.clear();
    Ok(answer)
}
