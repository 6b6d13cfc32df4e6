//! API keys of the administration of the installation. They belong to the installation's own organization, and only administrators make,
//! rotate and revoke them. A key of an application never has their scopes.

use base::error::{Error, Result};
use base::ids::Kind;
use base::scopes;
use base::tenant::Tenant;
use model::Instant;
use model::application::NewApiKey;
use serde_json::json;
use storage::api_keys::{self, ApiKey};
use storage::operator_organization;
use storage::sql::On;

use crate::app::App;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::manage::acting;
use crate::manage::actor::{Act, Actor};
use crate::manage::keys::restrictions::restrict_admin;
use crate::manage::keys::{RATE_LIMIT, unsaved};

/// The tenant of these keys. None: there is no such key yet.
pub async fn tenant(app: &App) -> Result<Option<Tenant>> {
    Ok(operator_organization::tenant(app.db.reader()).await?)
}

/// A key that stands for an administrator among these keys: it is never stored, and has all of their scopes.
///
/// # Errors
/// As `Actor::check`.
pub fn asker(app: &App, actor: &Actor, tenant: &Tenant) -> Result<ApiKey> {
    actor.check(Act::ManageAdminKeys, "", app.now())?;
    let scopes = scopes::ADMIN.iter().chain(&scopes::ALL).map(|scope| (*scope).to_owned()).collect();
    Ok(ApiKey { scopes, ..ApiKey::clone(&acting::key(actor, tenant)) })
}

/// Makes a key of the administration, and the organization that it belongs to with the first one. The answer's JSON has the secret in `key`.
///
/// # Errors
/// As `Actor::check`; names the field that is wrong.
pub async fn create(
    app: &App,
    actor: &Actor,
    mut new: NewApiKey,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let now = app.now();
    actor.check(Act::ManageAdminKeys, "", now)?;
    restrict_admin(&mut new, now)?;
    let made = app.keyring.new_api_key();
    let key = ApiKey {
        scopes: new.scopes,
        allowed_ips: new.allowed_ips,
        rate_limit_per_minute: new.rate_limit_per_minute.unwrap_or(RATE_LIMIT),
        expires_at: new.expires_at.map(Instant::as_millis),
        created_by: Some(actor.id.clone()),
        ..unsaved(&app.clock, &app.entropy, &made, new.name)
    };
    let first = Tenant {
        organization_id: app.new_id(Kind::Organization),
        application_id: app.new_id(Kind::Application),
    };
    let (keyed, attempt) = (app.clone(), attempt.about(&key.id));
    app.db
        .write(move |tx| {
            Box::pin(async move {
                let tenant = operator_organization::ensure(tx, &first, now).await?;
                let key = ApiKey { tenant, ..key };
                api_keys::insert(tx, &key, &made.hash).await?;
                let mut body = key.json();
                body["key"] = json!(made.key);
                let answer = StoredResponse::created(body.to_string());
                attempt.store(tx, &keyed.keyring, &answer, now).await?;
                Ok::<_, Error>(answer)
            })
        })
        .await
}

/// Whether this is the id of a key that was revoked. Its invitations end with it: whoever stole the key keeps no way in.
pub(crate) async fn is_of_revoked_key(on: impl Into<On<'_>>, id: &str) -> Result<bool> {
    if !id.starts_with(Kind::ApiKey.prefix()) {
        return Ok(false);
    }
    let key = api_keys::find_any(on, id).await?;
    Ok(key.is_none_or(|key| key.revoked_at.is_some()))
}
