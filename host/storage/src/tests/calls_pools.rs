//! Runs every statement on schedules, links and hosts who take turns.

use anyhow::Result;
use base::tenant::Tenant;

use crate::Db;
use crate::Tx;
use crate::scheduling::links::{self, LinkRow};
use crate::scheduling::rotation;
use crate::scheduling::schedules::{self, ScheduleRow, ScheduleUses};
use crate::scheduling::{event_types, pending};
use crate::tests::seed::START_MS;

const HOUR: i64 = 3_600_000;
const EVENT_TYPE: &str = "et_100000";
const SCHEDULE: &str = "sch_1";
/// The host of the event type that comes to use it.
const HOST: &str = "conn_100040";

fn tenant() -> Tenant {
    Tenant { organization_id: "org_0".into(), application_id: "app_0".into() }
}

/// Everything, once.
pub async fn all(db: &Db) -> Result<()> {
    let (reader, day) = (db.reader(), (START_MS + 100 * HOUR, START_MS + 124 * HOUR));
    assert_eq!(rotation::starting_in(reader, EVENT_TYPE, day, 0).await?.len(), 24);
    assert_eq!(rotation::latest(reader, EVENT_TYPE, 50).await?.len(), 50);
    assert!(pending::unreserved(reader, EVENT_TYPE, day.0, day.1).await?.is_empty());
    db.write(|tx| {
        Box::pin(async move {
            tx.in_any_order();
            write_schedules(tx).await?;
            write_links(tx).await
        })
    })
    .await?;
    assert!(schedules::find(reader, &tenant(), SCHEDULE).await?.is_some());
    assert_eq!(schedules::list(reader, &tenant(), "", 10).await?.len(), 1);
    for (connection, own) in [(HOST, 1), ("conn_0_0", 0)] {
        let uses = schedules::uses(reader, &[SCHEDULE.into()], &[connection.into()]).await?;
        assert_eq!(uses.get(SCHEDULE), Some(&ScheduleUses { own, others: 1 - own }), "{connection}");
    }
    assert!(schedules::uses(reader, &["sch_2".into()], &[HOST.into()]).await?.is_empty());
    assert!(links::list(reader, EVENT_TYPE, "a", 10).await?.iter().any(|link| link.slug == "twice"));
    Ok(())
}

async fn write_schedules(tx: &mut Tx) -> Result<()> {
    let new = ScheduleRow {
        id: SCHEDULE.into(),
        tenant: tenant(),
        name: "Office".into(),
        body: "{}".into(),
        metadata: "{}".into(),
        bound_to: Vec::new(),
        etag: "e".into(),
        deleted_at: None,
        created_at: 0,
        updated_at: 0,
    };
    schedules::insert(tx, &new).await?;
    assert_eq!(schedules::used_by(tx, SCHEDULE).await?, None);
    let found = event_types::lock(tx, &tenant(), "et_100001").await?.expect("it is in the seed");
    let using = event_types::EventTypeRow { schedule_id: Some(SCHEDULE.into()), ..found };
    event_types::update(tx, &using).await?;
    assert_eq!(schedules::used_by(tx, SCHEDULE).await?.as_deref(), Some("et_100001"));
    let locked = schedules::lock(tx, &tenant(), SCHEDULE).await?.expect("it was made");
    schedules::update(tx, &ScheduleRow { name: "Shop".into(), updated_at: 1, ..locked }).await
}

async fn write_links(tx: &mut Tx) -> Result<()> {
    let twice = LinkRow {
        slug: "twice".into(),
        tenant: tenant(),
        event_type_id: EVENT_TYPE.into(),
        is_primary: false,
        uses_left: Some(2),
        expires_at: Some(100),
        created_at: 0,
    };
    assert!(links::insert(tx, &twice).await?);
    assert!(!links::take_use(tx, &twice, 100).await?, "it has expired");
    for is_left in [true, true, false] {
        assert_eq!(links::take_use(tx, &twice, 99).await?, is_left);
    }
    let other = LinkRow { slug: "other".into(), uses_left: None, expires_at: None, ..twice.clone() };
    assert!(links::insert(tx, &other).await? && links::take_use(tx, &other, 1_000).await?);
    links::delete(tx, &other).await?;
    let expired = LinkRow { slug: "expired".into(), expires_at: Some(49), ..twice.clone() };
    let used_up = LinkRow { slug: "used-up".into(), uses_left: Some(1), expires_at: None, ..twice };
    assert!(links::insert(tx, &expired).await? && links::insert(tx, &used_up).await?);
    assert!(links::take_use(tx, &used_up, 49).await?);
    for forgotten in [1, 1, 0] {
        assert_eq!(links::forget(tx, 50, 10).await?, forgotten);
    }
    Ok(())
}
