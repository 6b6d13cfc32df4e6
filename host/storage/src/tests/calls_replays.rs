//! Runs every statement on replays, at the first subscription of `seed_deliveries`.

use anyhow::Result;
use base::tenant::Tenant;
use model::webhook::{DeliveryStatus, ReplayStatus, WebhookStatus};

use crate::Db;
use crate::Tx;
use crate::log;
use crate::webhooks::cleaning;
use crate::webhooks::deliveries::{self, Delivery, Health};
use crate::webhooks::replays::{self, Replay};

/// A subscription that is active still, whatever the other calls do.
const WEBHOOK: &str = "whc_1";

fn tenant() -> Tenant {
    Tenant { organization_id: "org_0".into(), application_id: "app_0".into() }
}

fn new(id: &str) -> Replay {
    Replay {
        id: id.into(),
        webhook_id: WEBHOOK.into(),
        tenant: tenant(),
        key_id: "key_1".into(),
        filter: "{}".into(),
        event_count: 2,
        last_sequence: 300_001,
        sent: 0,
        failed: 0,
        status: ReplayStatus::Running,
        created_at: 1,
        updated_at: 1,
    }
}

fn delivery(sequence: i64, status: DeliveryStatus) -> Delivery {
    Delivery {
        id: format!("whd_r{sequence}"),
        sequence,
        replay_id: "rpl_new".into(),
        event_id: "ev_1".into(),
        resource_id: "evt_1".into(),
        status,
        attempts: Vec::new(),
        next_attempt_at: (status == DeliveryStatus::Pending).then_some(-1),
    }
}

/// Everything, once.
pub async fn all(db: &Db) -> Result<()> {
    let ids: Vec<String> = (0..1_000).map(|n| format!("not_{}", 97 * n)).collect();
    let found = log::by_ids(db.reader(), &tenant(), &ids).await?;
    assert!((1..1_000).contains(&found.len()), "{} lines of one of ten tenants", found.len());
    assert!(found.is_sorted_by_key(|line| line.sequence));
    db.write(|tx| Box::pin(async move { write(tx).await })).await
}

async fn write(tx: &mut Tx) -> Result<()> {
    let tenant = &tenant();
    assert_eq!(replays::lock(tx, tenant, WEBHOOK).await?, Some(WebhookStatus::Active));
    assert_eq!(replays::lock(tx, tenant, "none").await?, None);
    assert_eq!(replays::running(&mut *tx, WEBHOOK).await?, 0);
    let of = (WEBHOOK, tenant);
    for id in ["rpl_new", "rpl_other"] {
        replays::insert(tx, &new(id)).await?;
    }
    let waiting = [delivery(300_000, DeliveryStatus::Pending), delivery(300_001, DeliveryStatus::Pending)];
    deliveries::insert(tx, of, &waiting, 1).await?;
    assert_eq!(replays::running(&mut *tx, WEBHOOK).await?, 2);
    let kept = replays::find(&mut *tx, tenant, (WEBHOOK, "rpl_new")).await?;
    assert_eq!(kept, Some(new("rpl_new")));

    // One arrives, and then the other one is given up.
    let health = Health::default();
    let outcomes = [delivery(300_000, DeliveryStatus::Delivered), delivery(300_001, DeliveryStatus::Pending)];
    deliveries::write_outcomes(tx, of, &outcomes, (0, &health), 2).await?;
    let kept = replays::find(&mut *tx, tenant, (WEBHOOK, "rpl_new")).await?;
    assert_eq!(kept, Some(Replay { sent: 1, updated_at: 2, ..new("rpl_new") }));
    let outcomes = [delivery(300_001, DeliveryStatus::Failed)];
    deliveries::write_outcomes(tx, of, &outcomes, (0, &health), 3).await?;
    let kept = replays::find(&mut *tx, tenant, (WEBHOOK, "rpl_new")).await?;
    let completed =
        Replay { sent: 1, failed: 1, status: ReplayStatus::Completed, updated_at: 3, ..new("rpl_new") };
    assert_eq!(kept, Some(completed));

    // With nothing left to discard, what is under way is over.
    while deliveries::discard(tx, WEBHOOK, 4, 500).await? > 0 {}
    let kept = replays::find(&mut *tx, tenant, (WEBHOOK, "rpl_other")).await?;
    let failed = Replay { failed: 2, status: ReplayStatus::Failed, updated_at: 4, ..new("rpl_other") };
    assert_eq!(kept, Some(failed));
    assert_eq!(cleaning::replays(tx, 4, 50).await?, 1);
    assert_eq!(cleaning::replays(tx, 5, 50).await?, 1);
    Ok(())
}
