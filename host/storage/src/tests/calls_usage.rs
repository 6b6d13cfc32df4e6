//! Runs the statements behind the panel's figures of an application.

use anyhow::Result;
use base::tenant::Tenant;

use crate::Db;
use crate::key_relatives;
use crate::provider_units::DayRange;
use crate::usage;

/// Everything, once.
pub async fn all(db: &Db) -> Result<()> {
    let reader = db.reader();
    let tenant = Tenant { organization_id: "org_0".into(), application_id: "app_0".into() };
    let day = DayRange { from: "2025-11-12", to: "2025-11-12" };
    let days = usage::by_day(reader, &tenant, day).await?;
    assert_eq!(days.len(), 1);
    let of_day = &days[0];
    let figure = (of_day.day.as_str(), of_day.surface.as_str(), of_day.outcome.as_str());
    assert_eq!(figure, ("2025-11-12", "email", "success"));
    assert!(of_day.requests > 100 && of_day.rows == of_day.requests, "one of each key: {of_day:?}");
    let keys = usage::by_key(reader, &tenant, day, 20).await?;
    assert_eq!(keys.len(), 20);
    assert!(keys.iter().all(|key| (key.requests, key.failed) == (1, 0)), "{keys:?}");
    let of_key = usage::of_key(reader, &tenant, &keys[0].key_id, day).await?;
    assert_eq!((of_key.len(), of_key[0].requests), (1, 1));
    let newest = usage::newest(reader, &tenant, day, 50).await?;
    assert_eq!(newest.len(), 50);
    assert!(newest.iter().all(|(bucket, _)| bucket.tenant == tenant && bucket.day == "2025-11-12"));
    let other = Tenant { organization_id: "org_1".into(), ..tenant.clone() };
    assert!(usage::of_key(reader, &other, &keys[0].key_id, day).await?.is_empty());
    let ids = ["key_100000", "key_100001", "key_none"];
    let names = key_relatives::names_of(reader, &tenant, &ids).await?;
    assert_eq!(names.len(), 2);
    assert_eq!(names["key_100000"], "key");
    assert!(key_relatives::names_of(reader, &other, &ids).await?.is_empty());
    assert!(key_relatives::made_by(reader, &tenant, "key_100000", 200).await?.is_empty());
    Ok(())
}
