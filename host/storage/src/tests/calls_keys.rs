//! Runs every statement on the end of API keys, and on the webhooks that rest on them.

use anyhow::Result;
use base::tenant::Tenant;
use model::webhook::{DisabledReason, WebhookStatus};

use crate::Db;
use crate::Tx;
use crate::api_keys::{self, ApiKey, KeyKind};
use crate::jobs;
use crate::key_revocations::{self, KeyWebhooks};
use crate::tests::calls_webhooks;
use crate::webhooks::{self, Webhook, keys};

fn tenant() -> Tenant {
    Tenant { organization_id: "org_0".into(), application_id: "app_0".into() }
}

fn key(id: &str) -> ApiKey {
    ApiKey {
        id: id.into(),
        tenant: tenant(),
        name: "key".into(),
        prefix: "uc_live_".into(),
        last4: "0000".into(),
        scopes: vec!["webhooks.write".into(), "calendar.read".into()],
        allowed_domains: Vec::new(),
        allowed_ips: Vec::new(),
        connection_ids: Vec::new(),
        rate_limit_per_minute: 1,
        expires_at: None,
        last_used_at: None,
        last_used_ip: None,
        created_by: None,
        revoked_at: None,
        created_at: 0,
        kind: KeyKind::Key,
        grant_id: None,
    }
}

/// Everything, once.
pub async fn all(db: &Db) -> Result<()> {
    db.write(|tx| {
        Box::pin(async move {
            tx.in_any_order();
            write(tx).await
        })
    })
    .await?;
    let ids = ["key_ends", "key_like_it", "key_of_it", "key_none"].map(str::to_owned);
    let mut ended = key_revocations::ended_among(db.reader(), &ids, 999).await?;
    ended.sort();
    assert_eq!(ended, ["key_ends", "key_of_it"]);
    assert_eq!(key_revocations::ended_among(db.reader(), &ids, 1_000).await?.len(), 3);
    Ok(())
}

async fn found(tx: &mut Tx, id: &str) -> Result<Webhook> {
    Ok(webhooks::find(&mut *tx, &tenant(), id).await?.expect("it is there"))
}

async fn write(tx: &mut Tx) -> Result<()> {
    let scopes = vec!["calendar.read".to_owned(), "webhooks.write".to_owned()];
    let token = ApiKey {
        kind: KeyKind::AccessToken,
        created_by: Some("key_ends".into()),
        expires_at: Some(2_000),
        ..key("key_of_it")
    };
    let heir = ApiKey { scopes, expires_at: Some(1_000), ..key("key_like_it") };
    let other = ApiKey { scopes: vec!["webhooks.write".into()], ..key("key_with_less") };
    for (number, key) in [key("key_ends"), heir, other, token].into_iter().enumerate() {
        api_keys::insert(tx, &key, &format!("hash of an ending key {number}")).await?;
    }
    for (id, key_id) in [("wh_of_key", "key_ends"), ("wh_of_token", "key_of_it")] {
        let new = Webhook { id: id.into(), key_id: Some(key_id.into()), ..calls_webhooks::new() };
        webhooks::insert(tx, &new).await?;
    }
    assert!(keys::is_used(&mut *tx, "key_ends").await? && !keys::is_used(&mut *tx, "key_like_it").await?);

    assert!(key_revocations::revoke(tx, &tenant(), "key_ends", KeyWebhooks::PassOn, 5).await?);
    assert!(key_revocations::revoke(tx, &tenant(), "key_ends", KeyWebhooks::End, 6).await?, "it is there");
    assert!(!key_revocations::revoke_any(tx, "key_none", KeyWebhooks::End, 6).await?);
    let passed = found(tx, "wh_of_key").await?;
    assert_eq!((passed.key_id.as_deref(), passed.ends_at), (Some("key_like_it"), Some(1_000)));
    assert_ne!(passed.etag, calls_webhooks::new().etag);
    let ended = found(tx, "wh_of_token").await?;
    assert_eq!((ended.key_id.as_deref(), ended.ends_at), (Some("key_of_it"), Some(5)));
    assert!(ended.has_ended(5) && !ended.has_ended(4) && !passed.has_ended(999));
    for job in ["webhook_key:key_like_it", "webhook_key:key_of_it"] {
        assert!(jobs::find(&mut *tx, job).await?.is_some(), "{job}");
        jobs::remove(tx, job).await?;
    }

    key_revocations::pass_on_expired(tx, "key_like_it", 1_000).await?;
    assert_eq!(found(tx, "wh_of_key").await?, passed, "no other key has its rights");
    assert!(keys::ended(&mut *tx, "key_of_it", "", 4, 10).await?.is_empty());
    let due = keys::ended(&mut *tx, "key_of_it", "", 5, 10).await?;
    assert_eq!(due.iter().map(|webhook| webhook.id.as_str()).collect::<Vec<_>>(), ["wh_of_token"]);
    assert_eq!(keys::next_end(&mut *tx, "key_of_it").await?, Some(5));
    assert_eq!(keys::disable(tx, &["wh_of_token".to_owned()], "\"ended\"", 6).await?, 1);
    assert_eq!(keys::next_end(&mut *tx, "key_of_it").await?, None);
    let disabled = found(tx, "wh_of_token").await?;
    let standing = (disabled.status, disabled.disabled_reason);
    assert_eq!(standing, (WebhookStatus::Disabled, Some(DisabledReason::KeyEnded)));
    for webhook in [passed, disabled] {
        assert!(webhooks::delete(tx, &tenant(), (&webhook.id, &webhook.etag), 7).await?);
    }
    Ok(())
}
