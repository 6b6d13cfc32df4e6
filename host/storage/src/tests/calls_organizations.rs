//! Runs every statement on organizations and the applications that they own.

use anyhow::Result;
use base::tenant::Tenant;

use crate::Db;
use crate::Tx;
use crate::operator_organization;
use crate::operators;
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
    let page = organizations::all_applications(reader, "", 2).await?;
    let next = organizations::all_applications(reader, &page[1].tenant.application_id, 1).await?;
    assert!(page[0].tenant.application_id < page[1].tenant.application_id);
    assert!(page[1].tenant.application_id < next[0].tenant.application_id);
    assert!(operator_organization::id(reader).await?.is_none());
    assert!(operator_organization::tenant(reader).await?.is_none());
    db.write(|tx| {
        Box::pin(async move {
            tx.in_any_order();
            write(tx).await
        })
    })
    .await?;
    let own = operator_organization::tenant(reader).await?.expect("it was made");
    assert_eq!((own.organization_id.as_str(), own.application_id.as_str()), ("org_own", "app_own"));
    let listed = organizations::list(reader, &OrganizationPosition::default(), 100).await?;
    assert!(listed.iter().all(|organization| organization.id != "org_own"), "nothing lists it");
    let applications = organizations::all_applications(reader, "", 100).await?;
    assert!(applications.iter().all(|application| application.tenant != own));
    assert!(
        operators::organization_names(reader, &[own.organization_id]).await?.is_empty(),
        "nobody has a role in it"
    );
    Ok(())
}

/// The installation's own organization is made once, and is found by nothing that finds tenants.
async fn write_own(tx: &mut Tx) -> Result<()> {
    let new = |number: &str| Tenant {
        organization_id: format!("org_own{number}"),
        application_id: format!("app_own{number}"),
    };
    let own = operator_organization::ensure(tx, &new(""), 1).await?;
    assert_eq!(own, new(""));
    assert_eq!(operator_organization::ensure(tx, &new("_2"), 2).await?, own);
    assert!(organizations::find(&mut *tx, "org_own").await?.is_none());
    assert!(organizations::find_application(&mut *tx, "app_own").await?.is_none());
    assert!(organizations::find_by_name(&mut *tx, "operators").await?.is_none());
    Ok(())
}

async fn write(tx: &mut Tx) -> Result<()> {
    write_own(tx).await?;
    let new = Organization { id: "org_acme".into(), name: "Acme".into(), created_at: 1 };
    organizations::insert(tx, &new).await?;
    assert_eq!(organizations::find_by_name(&mut *tx, "Acme").await?.as_ref(), Some(&new));
    assert!(organizations::lock(tx, "org_acme").await? && !organizations::lock(tx, "org_none").await?);
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
    assert!(organizations::lock_application(tx, "app_shop").await?);
    assert!(!organizations::lock_application(tx, "app_none").await?);
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

    assert!(!found.is_test && !organizations::is_test_application(&mut *tx, "app_shop").await?);
    organizations::mark_test_application(tx, &tenant("app_office")).await?;
    assert!(organizations::is_test_application(&mut *tx, "app_office").await?);
    assert!(!organizations::is_test_application(&mut *tx, "app_none").await?);
    Ok(())
}
