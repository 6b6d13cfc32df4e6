//! Whose event types the address of a booking page names: the one place where a tenant is found without a key.

use anyhow::Result;
use base::tenant::Tenant;

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

/// The tenant of the application that was made first; ids sort by the time at which they were made.
pub async fn oldest(on: impl Into<On<'_>>) -> Result<Option<Tenant>> {
    query("select id, organization_id from applications order by id limit 1").fetch_optional(on, tenant).await
}
