//! The installation's own organization, to which the API keys of its administration belong. It is made with the first of them. `organizations`
//! does not list or find it, so that nothing which is done to a tenant can be done to it.

use anyhow::Result;
use base::tenant::Tenant;

use crate::Tx;
use crate::installation;
use crate::organizations;
use crate::sql::{On, Reader, query};

/// The name under which the installation keeps the organization's id, as `of_tenants!` has it.
const VALUE: &str = "operator_organization";
/// The name of the organization, and of its application.
const NAME: &str = "operators";

/// The organization's id. None: there is no key of the administration yet.
pub async fn id(on: impl Into<On<'_>>) -> Result<Option<String>> {
    installation::find(on, VALUE).await
}

/// The organization with its application. None: there is no key of the administration yet.
pub async fn tenant(reader: &Reader) -> Result<Option<Tenant>> {
    let Some(organization_id) = id(reader).await? else { return Ok(None) };
    let sql = "select id from applications where organization_id = $1 and name = $2";
    let found =
        query(sql).bind(&organization_id).bind(NAME).fetch_optional(reader, |row| row.get("id")).await?;
    Ok(found.map(|application_id| Tenant { organization_id, application_id }))
}

/// Returns the organization with its application. Creates what is missing, with the ids of `new`.
pub async fn ensure(tx: &mut Tx, new: &Tenant, now: i64) -> Result<Tenant> {
    let organization_id = installation::settle(tx, VALUE, &new.organization_id).await?;
    let insert =
        "insert into organizations (id, name, created_at) values ($1, $2, $3) on conflict (id) do nothing";
    query(insert).bind(&organization_id).bind(NAME).bind(now).execute(&mut *tx).await?;
    let made = Tenant { organization_id, application_id: new.application_id.clone() };
    organizations::insert_application(tx, &made, NAME, now).await?;
    let application_id = query("select id from applications where organization_id = $1 and name = $2")
        .bind(&made.organization_id)
        .bind(NAME)
        .fetch_one(tx, |row| row.get("id"))
        .await?;
    Ok(Tenant { application_id, ..made })
}
