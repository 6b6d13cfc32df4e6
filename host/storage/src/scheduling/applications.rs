//! The application whose event types a booking page's address names: the one place that finds a tenant without a key.

use anyhow::Result;
use base::tenant::Tenant;

use crate::LockRank;
use crate::Tx;
use crate::installation::of_tenants;
use crate::sql::{On, Row, query};

fn tenant(row: &Row<'_>) -> Result<Tenant> {
    Ok(Tenant { organization_id: row.get("organization_id")?, application_id: row.get("id")? })
}

/// The tenant of an application.
pub async fn by_id(on: impl Into<On<'_>>, id: &str) -> Result<Option<Tenant>> {
    query("select id, organization_id from applications where id = $1")
        .bind(id)
        .fetch_optional(on, tenant)
        .await
}

/// The tenant of the application that has this name in the addresses of booking pages.
pub async fn by_handle(on: impl Into<On<'_>>, handle: &str) -> Result<Option<Tenant>> {
    query("select id, organization_id from applications where handle = $1")
        .bind(handle)
        .fetch_optional(on, tenant)
        .await
}

/// The name that an application was given for the addresses of its booking pages; none: it has none, or there is no such application.
pub async fn handle(on: impl Into<On<'_>>, id: &str) -> Result<Option<String>> {
    let found = query("select handle from applications where id = $1")
        .bind(id)
        .fetch_optional(on, |row| row.get::<Option<String>>("handle"))
        .await?;
    Ok(found.flatten())
}

/// Gives an application such a name, or takes it away. Returns false, and changes nothing, where another application has the name, or where
/// there is no such application.
pub async fn set_handle(tx: &mut Tx, id: &str, handle: Option<&str>) -> Result<bool> {
    tx.takes(LockRank::Application)?;
    let sql = "update applications set handle = $2 where id = $1 \
               and not exists (select 1 from applications where handle = $2 and id <> $1)";
    Ok(query(sql).bind(id).bind(handle).execute(tx).await? == 1)
}

/// The tenant of the application that was made first; ids sort by the time at which they were made.
pub async fn oldest(on: impl Into<On<'_>>) -> Result<Option<Tenant>> {
    let sql = concat!(
        "select id, organization_id from applications where id > '' and ",
        of_tenants!("organization_id"),
        " order by id limit 1"
    );
    query(sql).fetch_optional(on, tenant).await
}
