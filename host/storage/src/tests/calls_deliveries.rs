//! Runs every statement on what subscriptions want and on deliveries.

use anyhow::Result;
use base::tenant::Tenant;
use model::webhook::DeliveryStatus;

use crate::Db;
use crate::Tx;
use crate::log;
use crate::sql::query;
use crate::webhooks::cleaning;
use crate::webhooks::deliveries::{self, Delivery, Health, Settled};
use crate::webhooks::matching;

const FIRST: &str = "whc_0";

fn tenant() -> Tenant {
    Tenant { organization_id: "org_0".into(), application_id: "app_0".into() }
}

/// Everything, once.
pub async fn all(db: &Db) -> Result<()> {
    let (reader, tenant) = (db.reader(), &tenant());
    assert!(matching::cursor(reader, tenant).await?.is_some());
    matching::behind(reader, None).await?;
    matching::behind(reader, Some(&["app_0".to_owned(), "none".to_owned()])).await?;
    assert!(matching::filters_of(reader, tenant).await?.len() > 1_000);
    let endpoint = deliveries::find_endpoint(reader, FIRST).await?.expect("it is there");
    let standing = deliveries::standing(reader, FIRST).await?.expect("it is there");
    assert_eq!((endpoint.status, endpoint.updated_at), (standing.status, standing.updated_at));
    assert_eq!(endpoint.held, 0);
    assert_eq!(deliveries::due(reader, FIRST, 50_000, 64).await?.len(), 64);
    assert_eq!(deliveries::next_due(reader, FIRST).await?, Some(0));
    assert!(!deliveries::written(reader, FIRST, 50_000, 50_100).await?.is_empty());
    assert_eq!(log::light_after(reader, tenant, 50_000, 100).await?.len(), 100);
    assert!(log::resource_of(reader, tenant, 50_000).await?.is_some());
    db.write(|tx| {
        Box::pin(async move {
            tx.in_any_order();
            write(tx).await
        })
    })
    .await
}

async fn write(tx: &mut Tx) -> Result<()> {
    let tenant = &tenant();
    matching::advance(tx, tenant, 200_000).await?;
    matching::wake(tx, &[FIRST.to_owned(), "whc_1".to_owned(), "none".to_owned()], 7, 1).await?;
    let mut outcome = Delivery {
        id: "whd_new".into(),
        sequence: 200_000,
        replay_id: String::new(),
        event_id: "ev_1".into(),
        resource_id: "evt_1".into(),
        status: DeliveryStatus::Pending,
        attempts: Vec::new(),
        next_attempt_at: Some(-1),
    };
    let health = Health { consecutive_failures: 3, last_failure: Some("{}".into()), ..Health::default() };
    let settled = Settled { cursor: 9, health: &health, updated_at: 0 };
    let of = (FIRST, tenant);
    // It was changed meanwhile: only what became of the delivery is written.
    let other = Settled { updated_at: -1, ..settled };
    assert!(deliveries::write_outcomes(tx, of, std::slice::from_ref(&outcome), &other, 1).await?.is_some());
    let endpoint = deliveries::find_endpoint(&mut *tx, FIRST).await?.expect("it is there");
    assert_eq!((endpoint.cursor, endpoint.health), (0, Health::default()));
    assert_eq!(deliveries::next_due(&mut *tx, FIRST).await?, Some(-1));
    outcome.status = DeliveryStatus::Delivered;
    outcome.next_attempt_at = None;
    deliveries::write_outcomes(tx, of, &[outcome], &settled, 1).await?;
    assert_eq!(deliveries::next_due(&mut *tx, FIRST).await?, Some(0));
    deliveries::rest(tx, FIRST).await?;
    let endpoint = deliveries::find_endpoint(&mut *tx, FIRST).await?.expect("it is there");
    assert_eq!((endpoint.cursor, endpoint.wake_from, endpoint.health), (9, None, health));
    assert!(deliveries::disable(tx, FIRST, ("gone_410", "e"), 1).await?);
    assert!(!deliveries::disable(tx, FIRST, ("gone_410", "e"), 1).await?);
    assert_eq!(deliveries::discard(tx, FIRST, 1, 50).await?, 50);
    assert_eq!(cleaning::delivered(tx, 90_000, 50).await?, 50);
    assert_eq!(cleaning::given_up(tx, 90_000, 50).await?, 50);
    query("update webhooks set deleted_at = 1 where id = 'whc_9'").execute(&mut *tx).await?;
    while cleaning::deleted(tx, 500).await? > 0 {}
    assert!(deliveries::find_endpoint(&mut *tx, "whc_9").await?.is_none());
    Ok(())
}
