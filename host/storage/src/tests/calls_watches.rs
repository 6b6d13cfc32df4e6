//! Runs every statement on watches, at connections of the seed.

use anyhow::Result;
use base::tenant::Tenant;

use crate::Db;
use crate::Tx;
use crate::jobs::{self, NewJob};
use crate::locked::ConnectionLock;
use crate::wakes::JobClass;
use crate::watches::{self, PlannedRun, Status, Watch};

const CONNECTION: &str = "conn_0_2";
const NOW: i64 = 1_000_000;

fn tenant() -> Tenant {
    Tenant { organization_id: "org_0".into(), application_id: "app_0".into() }
}

fn new(id: &str) -> Watch {
    Watch {
        id: id.into(),
        tenant: tenant(),
        connection_id: CONNECTION.into(),
        provider: "sandbox".into(),
        surface: "tasks".into(),
        scope_id: "lbl_0_0".into(),
        external_id: None,
        resource: None,
        account: None,
        token_hash: "hash".into(),
        status: Status::Starting,
        expires_at: None,
        renewed_at: None,
        due_at: None,
        last_notified_at: None,
        created_at: NOW,
        updated_at: NOW,
    }
}

fn active(id: &str) -> Watch {
    Watch {
        external_id: Some(format!("external {id}")),
        resource: Some("resource".into()),
        account: Some("alice@example.test".into()),
        status: Status::Active,
        expires_at: Some(NOW + 100_000),
        renewed_at: Some(NOW),
        due_at: Some(NOW + 50_000),
        updated_at: NOW + 1,
        ..new(id)
    }
}

/// Everything, once.
pub async fn all(db: &Db) -> Result<()> {
    db.write(|tx| Box::pin(async move { write(tx).await })).await?;
    let reader = db.reader();
    let collections = ["lbl_0_0".to_owned()];
    assert_eq!(watches::of_collections(reader, "tasks", &collections).await?.len(), 2);
    let ids = ["external wat_1".to_owned(), "external wat_2".to_owned(), "none".to_owned()];
    assert_eq!(watches::by_external_ids(reader, "sandbox", &ids).await?.len(), 2);
    assert!(watches::by_external_ids(reader, "other", &ids).await?.is_empty());
    let accounts = ["alice@example.test".to_owned(), "none".to_owned()];
    assert_eq!(watches::by_accounts(reader, "sandbox", &accounts).await?.len(), 2);
    db.write(|tx| {
        Box::pin(async move {
            tx.in_any_order();
            wake(tx).await
        })
    })
    .await?;
    let jobs = ["pull:waits", "pull:parked", "pull:none"].map(str::to_owned);
    let planned = watches::planned(reader, &jobs).await?;
    let waits = PlannedRun {
        id: "pull:waits".into(),
        is_running: false,
        next_at: Some(NOW + 5),
        is_failing: false,
        began_at: None,
    };
    assert!(planned.contains(&waits), "{planned:?}");
    assert_eq!(planned.len(), 2);
    db.write(|tx| {
        Box::pin(async move {
            tx.in_any_order();
            remove(tx).await
        })
    })
    .await
}

async fn write(tx: &mut Tx) -> Result<()> {
    for id in ["wat_1", "wat_2", "wat_3"] {
        watches::insert(tx, &new(id)).await?;
        assert!(watches::update(tx, &active(id)).await?);
    }
    assert!(!watches::update(tx, &active("wat_none")).await?);
    watches::delete(tx, &["wat_3".to_owned(), "wat_none".to_owned()]).await?;
    let of_scope = watches::of_scope(&mut *tx, CONNECTION, ("tasks", "lbl_0_0")).await?;
    assert_eq!(of_scope, [active("wat_1"), active("wat_2")]);
    assert_eq!(watches::of_connection(&mut *tx, CONNECTION).await?, of_scope);
    assert!(watches::of_scope(&mut *tx, CONNECTION, ("tasks", "")).await?.is_empty());
    let ids = ["lbl_0_0", "lbl_0_1", "cal_0_0", "lbl_none"].map(str::to_owned);
    assert_eq!(watches::of_collections(&mut *tx, "tasks", &ids).await?, of_scope);
    assert!(watches::of_collections(&mut *tx, "calendar", &ids).await?.is_empty());
    assert!(watches::of_collections(&mut *tx, "tasks", &ids[1..]).await?.is_empty());
    assert!(active("wat_1").is_active(NOW) && !active("wat_1").is_active(NOW + 100_000));
    assert!(!new("wat_1").is_active(NOW));

    let both = ["wat_1".to_owned(), "wat_2".to_owned()];
    watches::note_notified(tx, &both, NOW, NOW - 10_000).await?;
    watches::note_notified(tx, &both, NOW + 1, NOW - 9_999).await?;
    watches::hurry(tx, &["wat_1".to_owned()], NOW + 2).await?;
    watches::expire(tx, &["wat_2".to_owned()], NOW + 2).await?;
    let changed = watches::of_connection(&mut *tx, CONNECTION).await?;
    let notified = |watch: Watch| Watch { last_notified_at: Some(NOW), updated_at: NOW + 2, ..watch };
    let hurried = Watch { due_at: Some(NOW + 2), ..notified(active("wat_1")) };
    let expired = Watch { expires_at: Some(NOW + 2), ..notified(active("wat_2")) };
    assert_eq!(changed, [hurried, expired]);
    Ok(())
}

async fn wake(tx: &mut Tx) -> Result<()> {
    let tenant = tenant();
    for (key, due_at) in [("waits", Some(NOW + 5)), ("parked", None)] {
        let job = NewJob {
            kind: "pull",
            key,
            class: JobClass::Pull,
            tenant: &tenant,
            connection_id: Some(CONNECTION),
            target: "",
            due_at,
            args: None,
        };
        jobs::enqueue(tx, &job, NOW).await?;
    }
    let ids = ["pull:waits", "pull:parked", "pull:none"].map(str::to_owned);
    watches::wake(tx, &ids, (NOW + 10, false), NOW).await?;
    let at = |job: Option<jobs::Job>| job.and_then(|job| job.due_at);
    assert_eq!(at(jobs::find(&mut *tx, "pull:waits").await?), Some(NOW + 5), "it is due before");
    assert_eq!(at(jobs::find(&mut *tx, "pull:parked").await?), Some(NOW + 10));
    Ok(())
}

async fn remove(tx: &mut Tx) -> Result<()> {
    let lock = ConnectionLock::take(tx, &tenant(), CONNECTION).await?.expect("it is in the seed");
    watches::remove_of_connection(tx, &lock).await?;
    assert!(watches::of_connection(&mut *tx, CONNECTION).await?.is_empty());
    for id in ["pull:waits", "pull:parked"] {
        jobs::remove(tx, id).await?;
    }
    Ok(())
}
