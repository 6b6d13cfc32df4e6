//! Runs every statement on organizations and the applications that they own.

use anyhow::Result;
use base::tenant::Tenant;

use crate::Db;
use crate::Tx;
use crate::organizations::{self, Organization, OrganizationPosition};

fn tenant(application_id: &str) -> Tenant {
    Tenant { organization_id: "org_acme".into(), application_id: application_id.into() }
}

/// Everything, once.
pub async fn all(db: &Db) -> Result<()> {
    let reader = db.reader();
    let before = OrganizationPosition { name: "organization".into(), id: String::new() };
    let first = organizations::list(reader, &before, 2).await?;
    let names = |found: &[Organization]| found.iter().map(|o| o.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&first), ["organization 0", "organization 1"]);
    let after = OrganizationPosition { name: first[1].name.clone(), id: first[1].id.clone() };
    assert_eq!(names(&organizations::list(reader, &after, 1).await?), ["organization 2"]);
    let ids = ["org_3", "org_1", "org_none"].map(str::to_owned);
    assert_eq!(names(&organizations::of_ids(reader, &ids).await?), ["organization 1", "organization 3"]);
    assert_eq!(organizations::applications(reader, "org_1", "", 10).await?.len(), 1);
    assert!(organizations::applications(reader, "org_1", "application", 10).await?.is_empty());
    db.write(|tx| {
        Box::pin(async move {
            tx.in_any_order();
            write(tx).await
        })
    })
    .await
}

async fn write(tx: &mut Tx) -> Result<()> {
    let new = Organization { id: "org_acme".into(), name: "Acme".into(), created_at: 1 };
    organizations::insert(tx, &new).await?;
    assert_eq!(organizations::find_by_name(&mut *tx, "Acme").await?.as_ref(), Some(&new));
    assert!(organizations::rename(tx, "org_acme", "Acme Ltd").await?);
    assert!(!organizations::rename(tx, "org_none", "Acme").await?);
    let renamed = organizations::find(&mut *tx, "org_acme").await?.expect("it is there");
    assert_eq!(renamed.name, "Acme Ltd");

    assert!(organizations::insert_application(tx, &tenant("app_shop"), "Shop", 1).await?);
    assert!(organizations::insert_application(tx, &tenant("app_office"), "Office", 1).await?);
    assert!(
        !organizations::insert_application(tx, &tenant("app_third"), "Shop", 1).await?,
        "the name is taken"
    );
    assert!(
        !organizations::rename_application(tx, &tenant("app_office"), "Shop").await?,
        "the name is taken"
    );
    assert!(organizations::rename_application(tx, &tenant("app_shop"), "Store").await?);
    assert!(
        organizations::rename_application(tx, &tenant("app_shop"), "Store").await?,
        "the same name again"
    );
    let found = organizations::find_application(&mut *tx, "app_shop").await?.expect("it is there");
    assert_eq!((found.name.as_str(), found.organization.as_str()), ("Store", "Acme Ltd"));
    Ok(())
}
