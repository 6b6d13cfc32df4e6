//! The API of the administration: what its keys may do, and what nobody else may.

mod applications;
pub mod jobs;
mod keys;
mod operators;
mod organizations;
mod providers;
mod requests;
mod system;

use base::ids::Kind;
use base::tenant::Tenant;
use harness::{Actor, TestServer};
use service::manage::keys::unsaved;
use storage::api_keys::{self, ApiKey};
use storage::audit_log::{self, AuditEntry};
use storage::operator_organization;

/// A client with a new key of the administration that has these scopes.
pub async fn admin(server: &TestServer, scopes: &[&str]) -> Actor {
    let app = &server.app;
    let new = app.keyring.new_api_key();
    let tenant = Tenant {
        organization_id: app.new_id(Kind::Organization),
        application_id: app.new_id(Kind::Application),
    };
    let mut key = ApiKey {
        tenant,
        scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(),
        rate_limit_per_minute: 1_000_000,
        ..unsaved(&app.clock, &app.entropy, &new, "deployment".to_owned())
    };
    let hash = new.hash.clone();
    let stored: anyhow::Result<()> = app
        .db
        .write(move |tx| {
            Box::pin(async move {
                key.tenant = operator_organization::ensure(tx, &key.tenant, key.created_at).await?;
                api_keys::insert(tx, &key, &hash).await
            })
        })
        .await;
    stored.expect("the key is stored");
    let mut client = server.anonymous();
    client.key = Some(new.key);
    client
}

/// The entries of the audit log, the newest one first.
async fn audit(server: &TestServer) -> Vec<AuditEntry> {
    audit_log::list_all(server.app.db.reader(), i64::MAX, audit_log::NEWEST, 1_000).await.expect("the log")
}

/// The acts of the audit log with their targets, the first one first. Each is by a key of the administration.
async fn acts(server: &TestServer) -> Vec<(String, String)> {
    let entries = audit(server).await;
    assert!(entries.iter().all(|entry| entry.actor.kind == "key" && entry.actor.name == "deployment"));
    assert!(entries.iter().all(|entry| entry.actor.ip.is_some()));
    entries.into_iter().rev().map(|entry| (entry.act, entry.target)).collect()
}
