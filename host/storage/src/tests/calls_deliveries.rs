//! Runs every statement on the filters of subscriptions and on deliveries.

use anyhow::Result;
use base::tenant::Tenant;
use model::webhook::DeliveryStatus;

use crate::Db;
use crate::Tx;
use crate::log;
use crate::sql::query;
use crate::webhooks;
use crate::webhooks::cleaning;
use crate::webhooks::deliveries::{self, Delivery, DeliveryProgress, Health};
use crate::webhooks::matching;

const FIRST: &str = "whc_0";

fn tenant() -> Tenant {
    Tenant { organization_id: "org_0".into(), application_id: "app_0".into() }
}

/// Everything, once.
pub async fn all(db: &Db) -> Result<()> {
    let (reader, tenant) = (db.reader(), &tenant());
    assert!(matching::cursor(reader, tenant).await?.is_some());
    assert!(matching::version(reader, tenant).await?.is_some());
    matching::behind(reader, None).await?;
    matching::behind(reader, Some(&["app_0".to_owned(), "none".to_owned()])).await?;
    assert!(matching::filters_of(reader, tenant).await?.len() > 1_000);
    let endpoint = deliveries::find_endpoint(reader, FIRST).await?.expect("it is there");
    let at = deliveries::standing_at(reader, (tenant, FIRST), 50_000).await?;
    let (standing, bytes) = at.expect("it is there");
    assert_eq!((endpoint.status, endpoint.updated_at), (standing.status, standing.updated_at));
    assert_eq!(endpoint.held, 0);
    assert_eq!(deliveries::due(reader, FIRST, 50_000, 64).await?.len(), 64);
    assert_eq!(deliveries::next_due(reader, FIRST).await?, Some(0));
    assert!(!deliveries::written(reader, FIRST, 50_000, 50_100).await?.is_empty());
    assert_eq!(log::light_after(reader, tenant, 50_000, 100).await?.len(), 100);
    let line = log::resource_of(reader, tenant, 50_000).await?.expect("it is there");
    assert_eq!(usize::try_from(bytes)?, line.resource.map_or(0, |resource| resource.len()));
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
    assert!(matching::advance(tx, tenant, 200_000).await?);
    assert!(!matching::advance(tx, tenant, 200_000).await?, "it is there already");
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
    let settled = DeliveryProgress { cursor: 9, health: &health, updated_at: 0 };
    let of = (FIRST, tenant);
    // It was changed meanwhile: only the results of the delivery are written.
    let other = DeliveryProgress { updated_at: -1, ..settled };
    assert!(deliveries::write_outcomes(tx, of, std::slice::from_ref(&outcome), &other, 1).await?.is_some());
    let endpoint = deliveries::find_endpoint(&mut *tx, FIRST).await?.expect("it is there");
    assert_eq!((endpoint.cursor, endpoint.health), (0, Health::default()));
    assert_eq!(deliveries::next_due(&mut *tx, FIRST).await?, Some(-1));
    // It was restarted meanwhile: a delivery to be retried is not written.
    webhooks::restart(tx, "whc_3").await?;
    assert!(
        deliveries::write_outcomes(tx, ("whc_3", tenant), std::slice::from_ref(&outcome), &other, 1)
            .await?
            .is_some()
    );
    assert_eq!(deliveries::next_due(&mut *tx, "whc_3").await?, None);
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
    clean(tx).await?;
    assert_eq!(cleaning::given_up(tx, 90_000, 50).await?, 50);
    query("update webhooks set deleted_at = 1 where id = 'whc_9'").execute(&mut *tx).await?;
    while cleaning::deleted(tx, 500).await? > 0 {}
    assert!(deliveries::find_endpoint(&mut *tx, "whc_9").await?.is_none());
    Ok(())
}

/// Deletes the 50 oldest deliveries but those above the cursor of their subscription, which do not block the next ones.
async fn clean(tx: &mut Tx) -> Result<()> {
    query("update webhooks set cursor = 30 where id = 'whc_0'").execute(&mut *tx).await?;
    assert_eq!(cleaning::delivered(tx, 90_000, 50).await?, 50);
    let below = "select count(*) as n from webhook_deliveries where webhook_id = 'whc_0' and sequence <= 30 and replay_id = ''";
    let left: i64 = query(below).fetch_one(&mut *tx, |row| row.get("n")).await?;
    assert_eq!(left, 2, "the first one waited, and the second one failed");
    let above = "select updated_at from webhook_deliveries where webhook_id = 'whc_0' and sequence = 31 and replay_id = ''";
    let looked_at: i64 = query(above).fetch_one(&mut *tx, |row| row.get("updated_at")).await?;
    assert_eq!(looked_at, 90_000 + 3_600_000);
    // An hour later it is the oldest one, and the cursor has passed it.
    let oldest = "update webhook_deliveries set updated_at = 0 where webhook_id = 'whc_0' and sequence = 31 and replay_id = ''";
    query(oldest).execute(&mut *tx).await?;
    query("update webhooks set cursor = 31 where id = 'whc_0'").execute(&mut *tx).await?;
    assert_eq!(cleaning::delivered(tx, 1, 50).await?, 1);
    let gone: Option<i64> = query(above).fetch_optional(&mut *tx, |row| row.get("updated_at")).await?;
    assert_eq!(gone, None);
    Ok(())
}
