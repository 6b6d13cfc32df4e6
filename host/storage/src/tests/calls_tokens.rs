//! Runs every statement on access tokens and their grants.

use anyhow::Result;
use base::tenant::Tenant;

use crate::Db;
use crate::Tx;
use crate::api_keys::{self, ApiKey, KeyKind};
use crate::authorizations;
use crate::key_revocations::{self, KeyWebhooks};
use crate::token_grants::{self, TokenGrant};

/// Everything, once.
pub async fn all(db: &Db) -> Result<()> {
    db.write(|tx| {
        Box::pin(async move {
            tx.in_any_order();
            write_tokens(tx).await
        })
    })
    .await
}

async fn write_tokens(tx: &mut Tx) -> Result<()> {
    let tenant = Tenant { organization_id: "org_0".into(), application_id: "app_0".into() };
    let grant = TokenGrant {
        id: "grt_new".into(),
        tenant: tenant.clone(),
        connection_id: "conn_new".into(),
        api_key_id: "key_100000".into(),
        scopes: vec!["email.read".into()],
        refresh_hash: "first".into(),
        generation: 0,
        created_at: 0,
        last_used_at: 0,
        expires_at: 1,
        revoked_at: None,
    };
    token_grants::insert(tx, &grant).await?;
    assert!(token_grants::rotate(tx, &grant, "second", 1, 2).await?);
    assert!(!token_grants::rotate(tx, &grant, "third", 1, 2).await?, "it is not the newest");
    let found = token_grants::find(&mut *tx, &tenant, "grt_new").await?.expect("it was written");
    assert_eq!((found.generation, found.refresh_hash.as_str(), found.expires_at), (1, "second", 2));
    authorizations::set_grant(tx, "state-10", "grt_new").await?;

    assert!(api_keys::hold(tx, &tenant, "key_100000").await?);
    api_keys::insert(tx, &token(&tenant), "hash of a token").await?;
    token_grants::revoke(tx, "grt_new", "reason", 3).await?;
    let token = api_keys::find(&mut *tx, &tenant, None, "key_token").await?.expect("it was written");
    assert_eq!(
        (token.revoked_at, token.kind, token.budget_id()),
        (Some(3), KeyKind::AccessToken, "key_100000")
    );
    token_grants::revoke_of_connection(tx, &tenant, "conn_100000", 4).await?;
    assert!(key_revocations::revoke(tx, &tenant, "key_100000", KeyWebhooks::End, 5).await?);
    assert!(!api_keys::hold(tx, &tenant, "key_100000").await?, "it is revoked");
    assert_eq!(api_keys::expire_tokens(tx, 2, 500).await?, 1);
    assert_eq!(token_grants::clean(tx, i64::MAX, 500).await?, 500);
    Ok(())
}

fn token(tenant: &Tenant) -> ApiKey {
    ApiKey {
        id: "key_token".into(),
        tenant: tenant.clone(),
        name: "token".into(),
        prefix: "uc_tok_".into(),
        last4: "0000".into(),
        scopes: Vec::new(),
        allowed_domains: Vec::new(),
        allowed_ips: Vec::new(),
        connection_ids: Vec::new(),
        rate_limit_per_minute: 1,
        expires_at: Some(1),
        last_used_at: None,
        last_used_ip: None,
        created_by: Some("key_100000".into()),
        revoked_at: None,
        created_at: 0,
        kind: KeyKind::AccessToken,
        grant_id: Some("grt_new".into()),
        agent: None,
    }
}
