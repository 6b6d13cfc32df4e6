//! Runs every statement on the end of API keys, and on the webhooks that depend on them.

use anyhow::Result;
use base::keyring::NewApiKey;
use base::tenant::Tenant;
use model::agent::{AgentPolicy, AgentSend};
use model::webhook::{DisabledReason, WebhookStatus};

use crate::Db;
use crate::Tx;
use crate::agent_sends;
use crate::api_keys::{self, ApiKey, KeyKind};
use crate::jobs;
use crate::key_revocations::{self, KeyWebhooks};
use crate::old_secrets;
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
        agent: None,
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
    let ids = ["key_ends", "key_like_it", "key_of_it", "key_with_less", "key_none"].map(str::to_owned);
    let live = async |now| {
        let mut live = old_secrets::live_among(db.reader(), &ids, now).await?;
        live.sort();
        let names = live.into_iter().map(|secret| format!("{} {}", secret.key_id, secret.last4));
        Ok::<_, anyhow::Error>(names.collect::<Vec<_>>())
    };
    assert_eq!(live(99).await?, ["key_like_it 0000", "key_with_less 0000", "key_with_less new4"]);
    assert_eq!(live(100).await?, ["key_like_it 0000", "key_with_less new4"]);
    assert_eq!(live(1_000).await?, ["key_with_less new4"]);
    read_old_secrets(db).await
}

/// The secret that a key had before its rotation leads to it until it is removed.
async fn read_old_secrets(db: &Db) -> Result<()> {
    let found = async |hash: &str| old_secrets::find_key(db.reader(), hash).await;
    let old = found("hash of an ending key 2").await?.expect("it is kept");
    assert_eq!((old.key.id.as_str(), old.secret_expires_at), ("key_with_less", Some(100)));
    assert_eq!(old.key.last4, "0000", "that of the presented secret");
    let present = found("hash of key_with_less").await?.expect("it is the present one");
    assert_eq!((present.key.last4.as_str(), present.secret_expires_at), ("new4", None));
    assert!(found("hash of an ending key 0").await?.is_none(), "its key is revoked");
    let removed = db.write(|tx| Box::pin(async move { old_secrets::expire(tx, 101, 10).await })).await?;
    assert_eq!((removed, found("hash of an ending key 2").await?.is_none()), (1, true));
    Ok(())
}

/// Gives a key another secret, beside which the present one works until 100.
async fn rotate(tx: &mut Tx, id: &str) -> Result<()> {
    let (prefix, last4) = ("uc_live_newkey".to_owned(), "new4".to_owned());
    let new = NewApiKey { key: String::new(), prefix, last4, hash: format!("hash of {id}") };
    assert!(old_secrets::find(&mut *tx, id, 3).await?.is_none());
    old_secrets::keep_present(tx, id, 3, 100).await?;
    api_keys::set_secret(tx, id, &new).await?;
    let old = old_secrets::find(&mut *tx, id, 99).await?.expect("it works");
    assert_eq!((old.last4.as_str(), old.created_at, old.expires_at), ("0000", 3, 100));
    assert!(old_secrets::find(&mut *tx, id, 100).await?.is_none());
    let key = api_keys::find_any(&mut *tx, id).await?.expect("it is there");
    assert_eq!((key.prefix, key.last4), (new.prefix, new.last4));
    Ok(())
}

/// Takes sends of assistants: as many as an hour has, for each hour.
async fn take_sends(tx: &mut Tx) -> Result<()> {
    let policy = AgentPolicy { writes: true, send: AgentSend::Ask, ..AgentPolicy::default() };
    let key = ApiKey { scopes: Vec::new(), agent: Some(policy.clone()), ..key("key_of_assistant") };
    api_keys::insert(tx, &key, "hash of an assistant's key").await?;
    let stored = api_keys::find_any(&mut *tx, &key.id).await?.expect("it is there");
    assert_eq!(stored.agent, Some(policy));
    for (act, hour, is_taken) in [
        ("a", 7, true),
        ("b", 7, true),
        ("c", 7, false),
        // A repeated act counts once.
        ("a", 7, true),
        ("d", 8, true),
        ("e", 7, true),
        ("f", 7, false),
        ("g", 8, false),
        ("b", 8, true),
    ] {
        assert_eq!(agent_sends::take(tx, &key.id, act, hour, 2).await?, is_taken, "{act} in hour {hour}");
    }
    let none = agent_sends::take(tx, &key.id, "h", 9, 0).await?;
    assert!(!none && !agent_sends::take(tx, "key_none", "a", 9, 2).await?);
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
    for id in ["key_ends", "key_with_less"] {
        rotate(tx, id).await?;
    }
    take_sends(tx).await?;
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
