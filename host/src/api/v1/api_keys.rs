//! `/v1/api-keys`

use axum::extract::State;
use http::HeaderMap;
use model::Instant;
use model::application::{ApiKey, CreatedApiKey, NewApiKey};
use model::resource::Written;
use serde_json::json;

use crate::answer::{Answer, Attempt};
use crate::api::asker::{Params, Path};
use crate::api::caller::{Caller, network};
use crate::api::error::ApiError;
use crate::api::json::{self, Body};
use crate::api::operation::Priority::{Additive, Common};
use crate::api::operation::Routes;
use crate::api::page::{self, Binding};
use crate::app::App;
use crate::error::{Code, Error, Result, invalid, not_found};
use crate::ids::Kind;
use crate::scopes;
use crate::storage::api_keys as table;
use crate::words;

pub fn routes() -> Routes<App> {
    Routes::new("API keys")
        .post("/v1/api-keys", "api_keys.write", Common, create)
        .summary("Create an API key")
        .description("The answer holds `key`, this once; an idempotent replay shows it again. Its scopes can only be scopes of the key that makes it. To rotate a key, make a new one, move to it, and revoke the old one: both work meanwhile.")
        .body::<NewApiKey>()
        .returns::<Written<CreatedApiKey>>()
        .get("/v1/api-keys", "api_keys.write", Additive, list)
        .summary("List the application's API keys")
        .lists::<ApiKey>()
        .get("/v1/api-keys/{keyId}", "api_keys.write", Additive, get)
        .summary("Read an API key")
        .returns::<ApiKey>()
        .delete("/v1/api-keys/{keyId}", "api_keys.write", Additive, revoke)
        .summary("Revoke an API key")
        .description("It is refused within a second, everywhere. The key stays in lists, with `revokedAt`.")
}

async fn create(
    State(app): State<App>,
    caller: Caller,
    attempt: Attempt,
    headers: HeaderMap,
    Body(body): Body,
) -> Result<Answer, ApiError> {
    let (mut new, unknown) = json::typed::<NewApiKey>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    check(&mut new, &caller, app.now())?;
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
        rate_limit_per_minute: new.rate_limit_per_minute,
        expires_at: new.expires_at.map(Instant::as_millis),
        last_used_at: None,
        last_used_ip: None,
        created_by: Some(caller.key.id.clone()),
        revoked_at: None,
        created_at: app.now(),
    };
    let mut body = key.json();
    body["key"] = json!(made.key);
    let answer = Answer::created(body.to_string())
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
    Ok(answer)
}

fn check(new: &mut NewApiKey, caller: &Caller, now: i64) -> Result<()> {
    if new.name.is_empty() || new.name.chars().count() > 100 {
        return Err(invalid(Code::InvalidParameter, "name", "name must have 1 to 100 characters"));
    }
    if new.scopes.is_empty() {
        return Err(invalid(Code::MissingField, "scopes", "scopes needs at least one scope"));
    }
    for (i, scope) in new.scopes.iter().enumerate() {
        let field = format!("scopes[{i}]");
        if !scopes::is_scope(scope) {
            return Err(invalid(
                Code::InvalidParameter,
                field,
                format!("{scope:?} is not a scope; see /docs"),
            ));
        }
        if !caller.has_scope(scope) {
            return Err(invalid(
                Code::InsufficientScope,
                field,
                format!("the key that asks lacks the scope {scope}"),
            ));
        }
    }
    for (i, domain) in new.allowed_domains.iter_mut().enumerate() {
        let Some(host) = words::host_name(domain) else {
            let message = "an allowed domain is an exact host name: no scheme, port or wildcard";
            return Err(invalid(Code::InvalidParameter, format!("allowedDomains[{i}]"), message));
        };
        *domain = host;
    }
    if let Some(i) = new.allowed_ips.iter().position(|ip| network(ip).is_none()) {
        let message = "an allowed IP is an address or a CIDR range, such as 192.0.2.0/24";
        return Err(invalid(Code::InvalidParameter, format!("allowedIps[{i}]"), message));
    }
    if !(1..=1_000_000).contains(&new.rate_limit_per_minute) {
        let message = "rateLimitPerMinute must be from 1 to 1000000";
        return Err(invalid(Code::InvalidParameter, "rateLimitPerMinute", message));
    }
    // A key that is bound to connections cannot make one that reaches more.
    let bound = &caller.key.connection_ids;
    if !bound.is_empty() && new.connection_ids.is_empty() {
        new.connection_ids.clone_from(bound);
    }
    if !bound.is_empty() && new.connection_ids.iter().any(|id| !bound.contains(id)) {
        let message = "the key that asks is bound to other connections";
        return Err(invalid(Code::InvalidParameter, "connectionIds", message));
    }
    if new.expires_at.is_some_and(|at| at.as_millis() <= now) {
        return Err(invalid(Code::InvalidParameter, "expiresAt", "expiresAt must be in the future"));
    }
    Ok(())
}

async fn list(State(app): State<App>, caller: Caller, params: Params) -> Result<Answer, ApiError> {
    let limit = page::limit(params.get("limit"))?;
    let binding = Binding::new(caller.tenant(), "api-keys.list", &());
    let after: String = binding.place(&app.keyring, params.get("cursor"))?.unwrap_or_default();
    let mut keys = table::list(app.db.reader(), caller.tenant(), &after, limit + 1).await?;
    let more = (keys.len() as i64) > limit;
    keys.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let next = keys.last().filter(|_| more).map(|k| binding.cursor(&app.keyring, &k.id));
    let items: Vec<String> = keys.iter().map(|k| k.json().to_string()).collect();
    Ok(Answer::ok(page::page(&items, next.as_deref())))
}

async fn get(State(app): State<App>, caller: Caller, Path(id): Path<String>) -> Result<Answer, ApiError> {
    let key = table::find(app.db.reader(), caller.tenant(), &id).await?;
    Ok(Answer::ok(key.ok_or_else(|| not_found("API key"))?.json().to_string()))
}

async fn revoke(
    State(app): State<App>,
    caller: Caller,
    attempt: Attempt,
    Path(id): Path<String>,
) -> Result<Answer, ApiError> {
    let (tenant, now, keyed) = (caller.tenant().clone(), app.now(), app.clone());
    let answer = Answer::no_content();
    let kept = answer.clone();
    app.db
        .write(move |tx| {
            Box::pin(async move {
                if !table::revoke(tx, &tenant, &id, now).await? {
                    return Err(not_found("API key"));
                }
                attempt.store(tx, &keyed.keyring, &kept, now).await?;
                Ok::<_, Error>(())
            })
        })
        .await?;
    app.keys.clear();
    Ok(answer)
}
