//! Organizations and their applications, as the people who run the installation see them. Tables:
//! `migrations/0001_tenants_and_keys.sql`.

use anyhow::Result;
use base::tenant::Tenant;
use serde::{Deserialize, Serialize};

use crate::Tx;
use crate::api_keys::Application;
use crate::dialect::one_of;
use crate::installation::of_tenants;
use crate::json_text;
use crate::request_log;
use crate::sql::{On, Reader, Row, query};
use crate::transaction::LockRank;

/// An organization, which owns applications.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Organization {
    pub id: String,
    pub name: String,
    /// Milliseconds since 1970.
    pub created_at: i64,
}

/// A place in the list of organizations, which is sorted by name and id; the default is before all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrganizationPosition {
    pub name: String,
    pub id: String,
}

fn organization(row: &Row<'_>) -> Result<Organization> {
    Ok(Organization { id: row.get("id")?, name: row.get("name")?, created_at: row.get("created_at")? })
}

/// At most `limit` organizations after a place.
pub async fn list(reader: &Reader, after: &OrganizationPosition, limit: i64) -> Result<Vec<Organization>> {
    let sql = concat!(
        "select id, name, created_at from organizations where (name, id) > ($1, $2) and ",
        of_tenants!("id"),
        " order by name, id limit $3"
    );
    query(sql).bind(&after.name).bind(&after.id).bind(limit).fetch_all(reader, organization).await
}

/// The organizations among these ids, sorted by name.
pub async fn of_ids(reader: &Reader, ids: &[String]) -> Result<Vec<Organization>> {
    let sql = one_of!(
        reader,
        "select id, name, created_at from organizations where id",
        "$1",
        " order by name, id"
    );
    query(sql).bind(json_text(ids)).fetch_all(reader, organization).await
}

/// The organization with this id.
pub async fn find(on: impl Into<On<'_>>, id: &str) -> Result<Option<Organization>> {
    let sql = concat!("select id, name, created_at from organizations where id = $1 and ", of_tenants!("id"));
    query(sql).bind(id).fetch_optional(on, organization).await
}

/// The organization with this name; the one that was made first, where several have it.
pub async fn find_by_name(on: impl Into<On<'_>>, name: &str) -> Result<Option<Organization>> {
    let sql = concat!(
        "select id, name, created_at from organizations where name = $1 and ",
        of_tenants!("id"),
        " order by id limit 1"
    );
    query(sql).bind(name).fetch_optional(on, organization).await
}

/// Adds an organization.
pub async fn insert(tx: &mut Tx, new: &Organization) -> Result<()> {
    query("insert into organizations (id, name, created_at) values ($1, $2, $3)")
        .bind(&new.id)
        .bind(&new.name)
        .bind(new.created_at)
        .execute(tx)
        .await?;
    Ok(())
}

/// Locks an organization until the transaction ends; false where there is none with this id.
pub async fn lock(tx: &mut Tx, id: &str) -> Result<bool> {
    let sql = match tx {
        // Its write transactions are one after the other anyway.
        Tx::Sqlite(_) => "select id from organizations where id = $1",
        Tx::Postgres(_) => "select id from organizations where id = $1 for no key update",
    };
    Ok(query(sql).bind(id).fetch_optional(tx, |row| row.get::<String>("id")).await?.is_some())
}

/// Gives an organization another name; false where there is none with this id.
pub async fn rename(tx: &mut Tx, id: &str, name: &str) -> Result<bool> {
    let sql = "update organizations set name = $2 where id = $1";
    Ok(query(sql).bind(id).bind(name).execute(tx).await? == 1)
}

fn application(row: &Row<'_>) -> Result<Application> {
    let (request_log, full_bodies_until) = request_log::mode_and_window(row)?;
    Ok(Application {
        tenant: Tenant { organization_id: row.get("organization_id")?, application_id: row.get("id")? },
        name: row.get("name")?,
        organization: row.get("organization")?,
        handle: row.get("handle")?,
        request_log,
        full_bodies_until,
        is_test: row.get::<i64>("is_test")? != 0,
    })
}

/// At most `limit` applications of an organization, sorted by name, after one with the name `after`.
pub async fn applications(
    reader: &Reader,
    organization_id: &str,
    after: &str,
    limit: i64,
) -> Result<Vec<Application>> {
    let sql = "select a.id, a.organization_id, a.name, o.name as organization, a.handle, a.request_log, a.full_bodies_until, a.is_test from applications a \
               join organizations o on o.id = a.organization_id where a.organization_id = $1 and a.name > $2 \
               order by a.name limit $3";
    query(sql).bind(organization_id).bind(after).bind(limit).fetch_all(reader, application).await
}

/// At most `limit` applications of all organizations, in the order in which they were made, after an id.
pub async fn all_applications(reader: &Reader, after_id: &str, limit: i64) -> Result<Vec<Application>> {
    let sql = "select a.id, a.organization_id, a.name, o.name as organization, a.handle, a.request_log, a.full_bodies_until, a.is_test from applications a \
               join organizations o on o.id = a.organization_id where a.id > $1 \
               and a.organization_id <> coalesce((select value from installation where name = 'operator_organization'), '') \
               order by a.id limit $2";
    query(sql).bind(after_id).bind(limit).fetch_all(reader, application).await
}

/// The application with this id.
pub async fn find_application(on: impl Into<On<'_>>, id: &str) -> Result<Option<Application>> {
    let sql = "select a.id, a.organization_id, a.name, o.name as organization, a.handle, a.request_log, a.full_bodies_until, a.is_test from applications a \
               join organizations o on o.id = a.organization_id where a.id = $1 \
               and a.organization_id <> coalesce((select value from installation where name = 'operator_organization'), '')";
    query(sql).bind(id).fetch_optional(on, application).await
}

/// Adds an application; false, and nothing is changed, where its organization has one of this name.
pub async fn insert_application(tx: &mut Tx, tenant: &Tenant, name: &str, now: i64) -> Result<bool> {
    let sql = "insert into applications (id, organization_id, name, created_at) values ($1, $2, $3, $4) \
               on conflict (organization_id, name) do nothing";
    let done = query(sql).bind(&tenant.application_id).bind(&tenant.organization_id).bind(name).bind(now);
    Ok(done.execute(tx).await? == 1)
}

/// Makes a new application a test application, whose keys reach the sandbox alone.
pub async fn mark_test_application(tx: &mut Tx, tenant: &Tenant) -> Result<()> {
    tx.takes(LockRank::Application)?;
    let sql = "update applications set is_test = 1 where id = $1 and organization_id = $2";
    query(sql).bind(&tenant.application_id).bind(&tenant.organization_id).execute(tx).await?;
    Ok(())
}

/// Whether there is a test application with this id.
pub async fn is_test_application(on: impl Into<On<'_>>, id: &str) -> Result<bool> {
    let sql = "select is_test from applications where id = $1";
    let flag = query(sql).bind(id).fetch_optional(on, |row| row.get::<i64>("is_test")).await?;
    Ok(flag.is_some_and(|flag| flag != 0))
}

/// Locks an application until the transaction ends; false where there is none with this id.
pub async fn lock_application(tx: &mut Tx, id: &str) -> Result<bool> {
    tx.takes(LockRank::Application)?;
    let sql = match tx {
        // Its write transactions are one after the other anyway.
        Tx::Sqlite(_) => "select id from applications where id = $1",
        Tx::Postgres(_) => "select id from applications where id = $1 for no key update",
    };
    Ok(query(sql).bind(id).fetch_optional(tx, |row| row.get::<String>("id")).await?.is_some())
}

/// Gives an application another name; false, and nothing is changed, where another one of its organization has the name, or where there is
/// none with this id.
pub async fn rename_application(tx: &mut Tx, tenant: &Tenant, name: &str) -> Result<bool> {
    tx.takes(LockRank::Application)?;
    let sql = "update applications set name = $3 where id = $1 and organization_id = $2 \
               and not exists (select 1 from applications where organization_id = $2 and name = $3 and id <> $1)";
    let done = query(sql).bind(&tenant.application_id).bind(&tenant.organization_id).bind(name);
    Ok(done.execute(tx).await? == 1)
}
