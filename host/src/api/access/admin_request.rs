//! `AdminRequest`: a request to administer the installation, with the rights of the scopes that its API key has.

use axum::extract::FromRequestParts;
use base::error::{Code, Result, refuse};
use base::tenant::Tenant;
use http::request::Parts;
use serde::Serialize;
use service::app::App;
use service::app::stored_response::IdempotentAttempt;
use service::manage::acting::{self, Target};
use service::manage::actor::{Act, Actor};
use storage::api_keys::ApiKey;
use storage::operator_organization;

use crate::api::access::api_key::Caller;
use crate::api::response::error::ApiError;
use crate::web::cursor::Binding;

/// A request with an API key of the installation's own organization. The operation's row has checked the scope before.
pub struct AdminRequest {
    pub app: App,
    /// The key, with the acts of its scopes.
    pub actor: Actor,
    /// The tenant of the key itself, to which cursors are bound.
    own: Tenant,
    /// The claim of the Idempotency-Key, where the request is a write.
    claimed: Option<IdempotentAttempt>,
}

impl FromRequestParts<App> for AdminRequest {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let caller = Caller::from_request_parts(parts, app).await?;
        let own_id = operator_organization::id(app.db.reader()).await?;
        check(&caller.key, own_id.as_deref())?;
        let key = &caller.key;
        Ok(AdminRequest {
            app: app.clone(),
            actor: Actor::key(&key.id, &key.name, &key.scopes, Some(caller.ip)),
            own: key.tenant.clone(),
            claimed: parts.extensions.get::<IdempotentAttempt>().cloned(),
        })
    }
}

impl AdminRequest {
    /// Refuses what the key's scopes do not allow.
    ///
    /// # Errors
    /// `not_found`, as if there were no such thing.
    pub fn check(&self, act: Act, organization_id: &str) -> Result<()> {
        self.actor.check(act, organization_id, self.app.now())
    }

    /// The attempt at a write, which writes this act on `target` into the audit log when it stores its answer.
    pub fn attempt(&self, act: &'static str, target: &Target) -> IdempotentAttempt {
        acting::attempt(&self.app, &self.actor, act, target, self.claimed.as_ref())
    }

    /// The binding of a list's cursors. `filters` is everything that decides what is listed.
    pub fn binding(&self, operation: &str, filters: &impl Serialize) -> Binding {
        Binding::new(&self.own, operation, filters)
    }
}

/// Refuses keys of tenants, whatever scopes are stored with them, and access tokens: administration is for keys alone.
fn check(key: &ApiKey, own_organization_id: Option<&str>) -> Result<()> {
    let is_own = own_organization_id == Some(key.tenant.organization_id.as_str());
    match is_own && !key.is_token() {
        true => Ok(()),
        false => {
            let message = "only an API key of the administration itself may do this; `switchboard keys create --operator` makes one";
            Err(refuse(Code::Forbidden, message))
        }
    }
}
