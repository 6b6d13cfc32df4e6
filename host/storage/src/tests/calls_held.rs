//! Runs every statement on deliveries that wait for an earlier one of their resource.

use std::collections::BTreeMap;

use anyhow::Result;
use base::tenant::Tenant;
use model::webhook::DeliveryStatus;

use crate::Db;
use crate::Tx;
use crate::webhooks::deliveries::{self, Delivery};
use crate::webhooks::held;

/// A subscription of which nothing waits in `seed_deliveries`.
const WEBHOOK: &str = "whc_7";

fn delivery(sequence: i64, resource_id: &str, next_attempt_at: Option<i64>) -> Delivery {
    Delivery {
        id: format!("whd_h{sequence}"),
        sequence,
        replay_id: String::new(),
        event_id: "ev_1".into(),
        resource_id: resource_id.into(),
        status: DeliveryStatus::Pending,
        attempts: Vec::new(),
        next_attempt_at,
    }
}

/// Everything, once.
pub async fn all(db: &Db) -> Result<()> {
    db.write(|tx| Box::pin(async move { write(tx).await })).await?;
    let ids = ["evt_1".to_owned(), "evt_2".to_owned(), "none".to_owned()];
    let earliest = held::earliest(db.reader(), WEBHOOK, &ids).await?;
    let expected = [("evt_1".to_owned(), 400_002), ("evt_2".to_owned(), 400_003)];
    assert_eq!(earliest, BTreeMap::from(expected));
    let endpoint = deliveries::find_endpoint(db.reader(), WEBHOOK).await?.expect("it is there");
    assert_eq!(endpoint.held, 3);
    let released = db.write(|tx| Box::pin(async move { held::release_all(tx, WEBHOOK, 6, 2).await }));
    assert_eq!(released.await?, 2);
    Ok(())
}

async fn write(tx: &mut Tx) -> Result<()> {
    let tenant = Tenant { organization_id: "org_0".into(), application_id: "app_0".into() };
    let replay = Delivery { replay_id: "rpl_1".into(), ..delivery(400_000, "evt_1", Some(1)) };
    let first = delivery(400_001, "evt_1", Some(1));
    let held = [(400_002, "evt_1"), (400_003, "evt_2"), (400_004, "evt_1"), (400_005, "evt_2")];
    let mut waiting = vec![replay, first.clone()];
    waiting.extend(held.map(|(sequence, resource_id)| delivery(sequence, resource_id, None)));
    deliveries::insert(tx, (WEBHOOK, &tenant), &waiting, 1).await?;
    // The search for the earliest delivery of their resource does not visit them.
    let replay = |n: i64| Delivery { replay_id: "rpl_1".into(), ..delivery(300_000 + n, "evt_1", Some(1)) };
    let replays: Vec<Delivery> = (0..1_000).map(replay).collect();
    deliveries::insert(tx, (WEBHOOK, &tenant), &replays, 1).await?;

    // One still waits for its first attempt, and the other one waits for nothing.
    let ids = ["evt_1".to_owned(), "evt_2".to_owned()];
    let released = held::release(tx, WEBHOOK, &ids, 5).await?;
    assert_eq!(released, [delivery(400_003, "evt_2", Some(5))]);
    let over = Delivery { status: DeliveryStatus::Failed, next_attempt_at: None, ..first };
    deliveries::insert(tx, (WEBHOOK, &tenant), &[over], 2).await
}
