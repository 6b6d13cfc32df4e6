//! Runs every statement on subscriptions and on what is known of their feeds, among the subscriptions of `seed_deliveries`.

use anyhow::Result;
use base::tenant::Tenant;
use model::webhook::{DeliveryFailure, DisabledReason, PayloadMode, SignatureVersion, WebhookStatus};

use crate::Db;
use crate::Tx;
use crate::jobs;
use crate::webhooks::{self, Webhook, feeds};

fn tenant() -> Tenant {
    Tenant { organization_id: "org_0".into(), application_id: "app_0".into() }
}

/// A subscription that was just made.
pub fn new() -> Webhook {
    Webhook {
        id: "wh_new".into(),
        tenant: tenant(),
        url: "https://example.test/".into(),
        target: "example.test:443".into(),
        description: None,
        metadata: [("a".to_owned(), "b".to_owned())].into(),
        event_types: vec!["*".into()],
        connection_ids: Vec::new(),
        bound_to: vec!["conn_0_0".into()],
        families: vec!["calendar".into()],
        key_id: Some("key_of_wh".into()),
        ends_at: None,
        payload_mode: PayloadMode::Full,
        ordered: true,
        include_backfill: false,
        signatures: vec![SignatureVersion::V1, SignatureVersion::V1a],
        headers: "sealed".into(),
        secret: "sealed".into(),
        previous_secrets: "sealed".into(),
        signing_key: Some("sealed".into()),
        public_key: Some("whpk_".into()),
        max_per_second: None,
        max_concurrent: 8,
        status: WebhookStatus::Active,
        disabled_reason: None,
        cursor: 0,
        consecutive_failures: 0,
        first_failure_at: None,
        last_success_at: None,
        last_failure_at: None,
        last_failure: None,
        etag: "\"1\"".into(),
        created_at: 1,
        updated_at: 1,
    }
}

/// Everything, once.
pub async fn all(db: &Db) -> Result<()> {
    let reader = db.reader();
    let page = webhooks::list(reader, &tenant(), "whc_100", 50).await?;
    assert_eq!(page.len(), 50);
    let known = webhooks::find(reader, &tenant(), &page[0].id).await?;
    assert_eq!(known.as_ref(), page.first());
    assert_eq!(webhooks::tenant_of(reader, &page[0].id).await?, Some(tenant()));
    assert_eq!(webhooks::tenant_of(reader, "wh_none").await?, None);
    assert!(webhooks::count(reader, &tenant()).await? > 5_000);
    db.write(|tx| {
        Box::pin(async move {
            tx.in_any_order();
            write(tx).await
        })
    })
    .await
}

async fn found(tx: &mut Tx) -> Result<Webhook> {
    Ok(webhooks::find(&mut *tx, &tenant(), "wh_new").await?.expect("it is there"))
}

async fn write(tx: &mut Tx) -> Result<()> {
    let tenant = tenant();
    feeds::note_change(tx, &tenant).await?;
    let cursor = webhooks::insert(tx, &new()).await?;
    assert!(cursor >= 100_000, "{cursor}");
    let kept = found(tx).await?;
    assert_eq!(kept, Webhook { cursor, ..new() });

    let changed = Webhook {
        status: WebhookStatus::Disabled,
        disabled_reason: Some(DisabledReason::Failures5d),
        payload_mode: PayloadMode::Thin,
        max_per_second: Some(5),
        signing_key: None,
        key_id: None,
        ends_at: Some(9),
        etag: "\"2\"".into(),
        updated_at: 2,
        // Not its owner's to change.
        consecutive_failures: 7,
        last_failure: Some(DeliveryFailure::default()),
        ..kept.clone()
    };
    assert!(!webhooks::update(tx, &changed, "\"0\"").await?);
    assert!(webhooks::update(tx, &changed, "\"1\"").await?);
    let kept = found(tx).await?;
    assert_eq!(kept, Webhook { consecutive_failures: 0, last_failure: None, ..changed });

    webhooks::settle(tx, "wh_new", cursor + 5).await?;
    assert_eq!(found(tx).await?.cursor, cursor + 5);
    webhooks::settle(tx, "wh_new", cursor).await?;
    assert_eq!(found(tx).await?.cursor, cursor + 5);
    webhooks::resume(tx, "wh_new", cursor + 9).await?;
    assert_eq!(found(tx).await?.cursor, cursor + 9);
    // Now it has something to do from the next number on, and no later one is settled.
    webhooks::settle(tx, "wh_new", cursor + 20).await?;
    assert_eq!(found(tx).await?.cursor, cursor + 9);
    webhooks::forgive(tx, "wh_new").await?;
    webhooks::restart(tx, "wh_new").await?;
    assert_eq!(found(tx).await?.cursor, cursor);

    assert!(!webhooks::delete(tx, &tenant, ("wh_new", "\"1\""), 3).await?);
    assert!(webhooks::delete(tx, &tenant, ("wh_new", "\"2\""), 3).await?);
    assert!(webhooks::find(&mut *tx, &tenant, "wh_new").await?.is_none());
    jobs::remove(tx, "deliver:wh_new").await
}
