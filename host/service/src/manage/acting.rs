//! Acting on an application: the rights of an actor in the form that the rest of the host asks for, and the attempt that writes the audit log.

use std::sync::Arc;

use base::error::{Error, Result};
use base::ids::Kind;
use base::scopes;
use base::tenant::Tenant;
use serde_json::{Map, Value};
use storage::api_keys::{ApiKey, KeyKind};
use storage::audit_log::{AuditEntry, INSTALLATION};

use crate::app::App;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::connections::request_context::RequestContext;
use crate::manage::actor::{Actor, Role};

/// Requests per minute of a key that stands for an actor, and so of the keys that it makes at most. Pages are limited by the panel itself.
pub const RATE_LIMIT: i64 = 1_000_000;

/// An API key that stands for the actor in an application: it is never stored, its id is the actor's, and it has the scopes of the role. So
/// every check of the API holds for the panel too.
pub fn key(actor: &Actor, tenant: &Tenant) -> Arc<ApiKey> {
    let scopes = match actor.role(&tenant.organization_id) {
        Some(Role::Owner | Role::Developer) => scopes::ALL.iter().map(|scope| (*scope).to_owned()).collect(),
        Some(Role::Viewer) => {
            let reading = scopes::ALL.iter().filter(|scope| scope.ends_with(".read"));
            reading.map(|scope| (*scope).to_owned()).collect()
        }
        None => Vec::new(),
    };
    Arc::new(ApiKey {
        id: actor.id.clone(),
        tenant: tenant.clone(),
        name: actor.name.clone(),
        prefix: String::new(),
        last4: String::new(),
        scopes,
        allowed_domains: Vec::new(),
        allowed_ips: Vec::new(),
        connection_ids: Vec::new(),
        rate_limit_per_minute: RATE_LIMIT,
        expires_at: None,
        last_used_at: None,
        last_used_ip: None,
        created_by: None,
        revoked_at: None,
        created_at: 0,
        kind: KeyKind::Key,
        grant_id: None,
        agent: None,
    })
}

/// The context of a request of the actor to an application.
pub fn context(actor: &Actor, tenant: &Tenant, request_id: String) -> RequestContext {
    RequestContext::for_key(key(actor, tenant), request_id)
}

/// The thing that an act changes, as the audit log names it.
#[derive(Clone, Debug)]
pub struct Target {
    pub organization_id: String,
    pub application_id: Option<String>,
    /// The id of the changed thing.
    pub id: String,
    /// Names of changed fields; never a secret.
    pub details: Value,
}

impl Target {
    /// A thing of an application.
    pub fn application(tenant: &Tenant, id: impl Into<String>) -> Target {
        let application_id = Some(tenant.application_id.clone());
        Target { application_id, ..Target::organization(&tenant.organization_id, id) }
    }

    /// A thing of an organization that belongs to none of its applications.
    pub fn organization(organization_id: &str, id: impl Into<String>) -> Target {
        Target {
            organization_id: organization_id.to_owned(),
            application_id: None,
            id: id.into(),
            details: Value::Object(Map::new()),
        }
    }

    /// A thing of the installation.
    pub fn installation(id: impl Into<String>) -> Target {
        Target::organization(INSTALLATION, id)
    }

    /// The same with details: an object.
    pub fn details(self, details: Value) -> Target {
        Target { details, ..self }
    }

    /// The entry of an act on it.
    pub fn entry(&self, actor: &Actor, act: &str, id: String, at: i64) -> AuditEntry {
        AuditEntry {
            id,
            at,
            actor: actor.audited(),
            organization_id: self.organization_id.clone(),
            application_id: self.application_id.clone(),
            act: act.to_owned(),
            target: self.id.clone(),
            details: self.details.clone(),
        }
    }
}

/// An attempt at an act, whose `store` writes the entry of the audit log in the transaction of the effect. `claimed` is the attempt that holds
/// the claim of the form's nonce or of the Idempotency-Key; without one nothing is claimed.
pub fn attempt(
    app: &App,
    actor: &Actor,
    act: &'static str,
    target: &Target,
    claimed: Option<&IdempotentAttempt>,
) -> IdempotentAttempt {
    let entry = target.entry(actor, act, app.new_id(Kind::AuditEntry), app.now());
    match claimed {
        Some(claimed) => claimed.audited(entry),
        None => {
            let connector_key = hex::encode(app.entropy.bytes::<16>());
            IdempotentAttempt::new(connector_key, false, None).audited(entry)
        }
    }
}

/// Stores the answer of an act whose effect is outside the database, with its entry of the audit log.
///
/// # Errors
/// Those of the database, and `idempotency_in_progress` where another attempt took the claim over.
pub async fn record(app: &App, attempt: &IdempotentAttempt, answer: &StoredResponse) -> Result<()> {
    let (held, attempt, answer, now) = (app.clone(), attempt.clone(), answer.clone(), app.now());
    app.db
        .write(move |tx| {
            Box::pin(async move {
                attempt.store(tx, &held.keyring, &answer, now).await?;
                Ok::<_, Error>(())
            })
        })
        .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manage::actor::tests::operator;

    fn tenant() -> Tenant {
        Tenant { organization_id: "org_1".to_owned(), application_id: "app_1".to_owned() }
    }

    fn holds(role: Option<Role>, is_admin: bool, scope: &str) -> bool {
        context(&operator(role, is_admin), &tenant(), String::new()).holds(scope)
    }

    #[test]
    fn a_role_has_the_scopes_of_its_acts() {
        for scope in scopes::ALL {
            assert!(holds(Some(Role::Owner), false, scope), "{scope}");
            assert!(holds(Some(Role::Developer), false, scope), "{scope}");
            assert!(holds(None, true, scope), "{scope}");
            assert!(!holds(None, false, scope), "{scope}");
        }
        assert!(holds(Some(Role::Viewer), false, "webhooks.read"));
        for scope in ["webhooks.write", "connections.write", "api_keys.write", "email.send"] {
            assert!(!holds(Some(Role::Viewer), false, scope), "{scope}");
        }
    }

    #[test]
    fn a_key_that_stands_for_somebody_names_them() {
        let key = key(&operator(Some(Role::Owner), false), &tenant());
        assert_eq!((key.id.as_str(), key.name.as_str(), &key.tenant), ("opr_1", "Ada", &tenant()));
    }

    #[test]
    fn an_entry_names_actor_and_target() {
        let target =
            Target::application(&tenant(), "key_1").details(serde_json::json!({ "fields": ["name"] }));
        let entry = target.entry(&Actor::command("switchboard"), "key_renamed", "aud_1".to_owned(), 7);
        assert_eq!(
            (entry.organization_id.as_str(), entry.application_id.as_deref()),
            ("org_1", Some("app_1"))
        );
        assert_eq!((entry.actor.kind.as_str(), entry.target.as_str(), entry.at), ("command", "key_1", 7));
        assert_eq!(Target::installation("opr_1").organization_id, "");
    }
}
