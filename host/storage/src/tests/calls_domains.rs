//! Runs every statement on the domains of keys, and on when bookings were made.

use anyhow::Result;
use base::tenant::Tenant;

use crate::Db;
use crate::Tx;
use crate::api_key_domains::{self, is_known};
use crate::api_keys::{self, ApiKey, KeyKind};
use crate::key_revocations::{self, KeyWebhooks};
use crate::scheduling::made::{self, BookingAddress};

const SITE: &str = "site.example.test";
const OTHER: &str = "other.example.test";

fn tenant() -> Tenant {
    Tenant { organization_id: "org_0".into(), application_id: "app_0".into() }
}

/// Everything, once.
pub async fn all(db: &Db) -> Result<()> {
    let reader = db.reader();
    let of = ["guest1@example.com", "nobody@example.com"];
    let newest = made::newest_but(reader, &tenant(), &of, 3).await?;
    assert_eq!(newest, [("guest1@example.com".to_owned(), 0)]);
    assert!(is_known(reader, "host-100001.example.test", i64::MAX - 1).await?);
    assert!(!is_known(reader, SITE, 0).await?);
    db.write(|tx| {
        Box::pin(async move {
            tx.in_any_order();
            let new = BookingAddress { address: "new+x@example.com", mailbox: "new@example.com" };
            let known = BookingAddress { address: "guest1@example.com", mailbox: "guest1@example.com" };
            made::insert(tx, &tenant(), "bk_new", &[new, known], 7).await?;
            assert_eq!(made::newest_but(&mut *tx, &tenant(), &["new@example.com"], 0).await?.len(), 1);
            assert_eq!(made::forget(tx, 7, 10).await?, 10);
            write_keys(tx).await
        })
    })
    .await?;
    // Of the key without an end; the token has the one domain that its key does not have.
    assert!(is_known(reader, SITE, 1_000).await?);
    assert!(is_known(reader, OTHER, 99).await? && !is_known(reader, OTHER, 100).await?);
    db.write(|tx| {
        Box::pin(async move {
            tx.in_any_order();
            assert_eq!(api_key_domains::remove_expired(tx, 100, 10).await?, 0);
            assert_eq!(api_key_domains::remove_expired(tx, 101, 10).await?, 1, "the token's");
            assert!(key_revocations::revoke(tx, &tenant(), "key_domains", KeyWebhooks::End, 5).await?);
            Ok::<_, anyhow::Error>(())
        })
    })
    .await?;
    assert!(!is_known(reader, SITE, 1_000).await? && !is_known(reader, OTHER, 0).await?);
    Ok(())
}

async fn write_keys(tx: &mut Tx) -> Result<()> {
    // A domain that occurs twice counts once.
    let key = ApiKey {
        id: "key_domains".into(),
        tenant: tenant(),
        name: "new".into(),
        prefix: "sk".into(),
        last4: "0000".into(),
        scopes: Vec::new(),
        allowed_domains: vec![SITE.into(), SITE.into()],
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
    };
    api_keys::insert(tx, &key, "hash of a key with domains").await?;
    let token = ApiKey {
        id: "key_domains_token".into(),
        allowed_domains: vec![SITE.into(), OTHER.into()],
        expires_at: Some(100),
        created_by: Some(key.id.clone()),
        kind: KeyKind::AccessToken,
        ..key
    };
    api_keys::insert(tx, &token, "hash of a token with domains").await
}
