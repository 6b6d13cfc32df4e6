//! Runs the statements behind the panel's pages of accounts.

use anyhow::Result;
use base::tenant::Tenant;

use crate::Db;
use crate::connection_accounts;
use crate::connections::{self, AddressSearch};
use crate::job_admin;
use crate::sync_states;

const EVENTS: &str = "conn_0_0";

/// Everything, once.
pub async fn all(db: &Db) -> Result<()> {
    let reader = db.reader();
    let tenant = Tenant { organization_id: "org_0".into(), application_id: "app_0".into() };
    let degraded = connections::list_of_status(reader, &tenant, "degraded", "", "conn_100100", 50).await?;
    assert!(degraded.len() == 50 && degraded.iter().all(|c| c.status == "degraded"));
    assert!(
        connections::list_of_status(reader, &tenant, "reauth_required", "", "", 50).await?.is_empty(),
        "the seed has none"
    );
    assert_eq!(connections::tenant_of(reader, EVENTS).await?, Some(tenant.clone()));
    assert_eq!(connections::tenant_of(reader, "conn_none").await?, None);
    let search = AddressSearch { prefix: "ada", ..AddressSearch::default() };
    assert!(connections::list_of_address(reader, &tenant, &search, 50).await?.is_empty(), "nor addresses");
    assert!(connection_accounts::of_account(reader, &tenant, "sandbox", "nobody").await?.is_empty());
    assert_eq!(connection_accounts::of_account(reader, &tenant, "sandbox", "account").await?.len(), 50);
    assert_eq!(connection_accounts::all_of_account(reader, &tenant, "sandbox", "account").await?.len(), 50);
    assert!(!sync_states::of_connections(reader, &[EVENTS, "conn_100040"]).await?.is_empty());
    assert_eq!(sync_states::item_errors_of_connection(reader, EVENTS, 50).await?.len(), 50);
    assert!(!job_admin::of_connection(reader, "conn_100040", 50).await?.is_empty());
    Ok(())
}
