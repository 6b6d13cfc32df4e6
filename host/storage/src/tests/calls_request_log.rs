//! Runs every statement on the request log.

use std::collections::BTreeMap;

use anyhow::Result;
use base::tenant::Tenant;

use crate::Db;
use crate::Tx;
use crate::organizations;
use crate::request_log::{
    self, NEWEST, RequestEntry, RequestFilter, RequestLogMode, SealedBodies, StatusClass,
};

/// Rows of a step of the clean-up.
const ROWS_PER_STEP: i64 = 50;

fn tenant() -> Tenant {
    Tenant { organization_id: "org_0".into(), application_id: "app_0".into() }
}

/// Everything, once.
pub async fn all(db: &Db) -> Result<()> {
    read(db).await?;
    db.write(|tx| {
        Box::pin(async move {
            tx.in_any_order();
            write(tx).await?;
            forget(tx).await
        })
    })
    .await?;
    let found = request_log::find(db.reader(), &tenant(), "req_new_0").await?;
    assert_eq!(found, Some(new(0)), "the first one stays");
    let sealed = request_log::sealed_bodies(db.reader(), &tenant(), "req_new_0").await?;
    assert_eq!(sealed.as_deref(), Some("sealed 0"));
    Ok(())
}

fn is_of(class: Option<StatusClass>, status: i64) -> bool {
    match class {
        None => true,
        Some(StatusClass::Success) => status < 400,
        Some(StatusClass::Error) => status >= 400,
        Some(StatusClass::ClientError) => (400..500).contains(&status),
        Some(StatusClass::ServerError) => status >= 500,
    }
}

async fn read(db: &Db) -> Result<()> {
    let (reader, tenant) = (db.reader(), &tenant());
    let classes = StatusClass::ALL.into_iter().map(Some).chain([None]);
    for status in classes {
        for key_id in [None, Some("key_100007".to_owned())] {
            for before in [NEWEST, "req_1040000"] {
                let filter = RequestFilter { status, key_id: key_id.clone() };
                let page = request_log::list(reader, tenant, &filter, before, ROWS_PER_STEP).await?;
                assert!(key_id.is_some() || page.len() == 50, "{filter:?}");
                assert!(page.is_sorted_by(|one, next| one.id > next.id), "{filter:?}");
                for entry in &page {
                    assert!(is_of(status, entry.status) && entry.id.as_str() < before, "{entry:?}");
                    assert!(key_id.as_ref().is_none_or(|key| *key == entry.key_id), "{entry:?}");
                    assert_eq!(entry.application_id, "app_0");
                }
            }
        }
    }
    let of_key = RequestFilter { key_id: Some("key_100007".to_owned()), ..RequestFilter::default() };
    assert_eq!(request_log::list(reader, tenant, &of_key, NEWEST, ROWS_PER_STEP).await?.len(), 50);
    let entry = request_log::find(reader, tenant, "req_1000003").await?.expect("it is in the seed");
    assert_eq!((entry.status, entry.error_code.as_deref(), entry.has_bodies), (404, Some("not_found"), true));
    let other = Tenant { organization_id: "org_1".into(), application_id: "app_1".into() };
    assert!(request_log::find(reader, &other, "req_1000003").await?.is_none());
    assert_eq!(request_log::tenant_of(reader, "req_1000003").await?.as_ref(), Some(tenant));
    for unknown in ["req_none", "1000003", "key_1000003"] {
        assert!(request_log::tenant_of(reader, unknown).await?.is_none(), "{unknown}");
    }
    let sealed = request_log::sealed_bodies(reader, tenant, "req_1000003").await?;
    assert_eq!(sealed.as_deref(), Some("sealed"));
    assert!(request_log::sealed_bodies(reader, &other, "req_1000003").await?.is_none());
    let ids = ["app_0", "app_1", "app_none"].map(str::to_owned);
    let on = (RequestLogMode::On, None);
    let expected = BTreeMap::from([("app_0".to_owned(), on), ("app_1".to_owned(), on)]);
    assert_eq!(request_log::modes(reader, &ids).await?, expected);
    Ok(())
}

fn new(number: i64) -> RequestEntry {
    RequestEntry {
        application_id: "app_0".into(),
        id: format!("req_new_{number}"),
        key_id: "key_100000".into(),
        at: 1_000_000,
        method: "POST".into(),
        route: "/v1/webhooks".into(),
        path: "/v1/webhooks".into(),
        status: 201,
        ms: 7,
        ip: "::1".into(),
        error_code: None,
        error_param: Some("url".into()),
        bytes_in: 20,
        bytes_out: 300,
        has_bodies: number == 0,
    }
}

async fn write(tx: &mut Tx) -> Result<()> {
    request_log::insert(tx, &[new(0), new(1)]).await?;
    let again = RequestEntry { status: 500, ..new(0) };
    request_log::insert(tx, &[again, new(2)]).await?;
    request_log::insert(tx, &[]).await?;
    let bodies = SealedBodies {
        application_id: "app_0".into(),
        id: "req_new_0".into(),
        at: 1_000_000,
        sealed: "sealed 0".into(),
    };
    request_log::insert_bodies(tx, std::slice::from_ref(&bodies)).await?;
    request_log::insert_bodies(tx, &[SealedBodies { sealed: "other".into(), ..bodies }]).await?;

    assert!(request_log::set_mode(tx, &tenant(), RequestLogMode::Shapes, Some(5)).await?);
    let found = organizations::find_application(&mut *tx, "app_0").await?.expect("it is in the seed");
    assert_eq!((found.request_log, found.full_bodies_until), (RequestLogMode::Shapes, Some(5)));
    let modes = request_log::modes(&mut *tx, &["app_0".to_owned()]).await?;
    assert_eq!(modes.get("app_0"), Some(&(RequestLogMode::Shapes, Some(5))));
    let other = Tenant { organization_id: "org_1".into(), application_id: "app_0".into() };
    assert!(!request_log::set_mode(tx, &other, RequestLogMode::Off, None).await?, "it is somebody else's");
    assert!(request_log::set_mode(tx, &tenant(), RequestLogMode::On, None).await?);
    Ok(())
}

async fn forget(tx: &mut Tx) -> Result<()> {
    assert_eq!(request_log::expire(tx, 40, ROWS_PER_STEP).await?, 40);
    assert_eq!(request_log::expire(tx, 400, ROWS_PER_STEP).await?, ROWS_PER_STEP);
    assert_eq!(request_log::expire_bodies(tx, 40, ROWS_PER_STEP).await?, 40);
    assert_eq!(request_log::expire_bodies(tx, 400, ROWS_PER_STEP).await?, ROWS_PER_STEP);
    for (kept, removed) in [(1_000, ROWS_PER_STEP), (100_000, 0)] {
        let application = if removed == 0 { "app_none" } else { "app_0" };
        assert_eq!(request_log::trim(tx, application, kept, ROWS_PER_STEP).await?, removed);
        assert_eq!(request_log::trim_bodies(tx, application, kept, ROWS_PER_STEP).await?, removed);
    }
    Ok(())
}
