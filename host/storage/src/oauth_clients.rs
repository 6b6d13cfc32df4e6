//! Providers as the operator registered them for an application, and the addresses to which the application's users return.
//! Tables: `migrations/0042_oauth_clients.sql`.

use std::collections::BTreeMap;

use anyhow::Result;
use base::tenant::Tenant;
use serde_json::{Map, Value};

use crate::Tx;
use crate::dialect::one_of;
use crate::json;
use crate::json_text;
use crate::sql::{On, Query, Reader, Row, query};

/// A registration of a provider for one application: an OAuth client (RFC 6749, section 2). `client_secret` is sealed.
#[derive(Clone, Debug, PartialEq)]
pub struct OAuthClient {
    pub id: String,
    pub tenant: Tenant,
    /// The connector's name. An application has at most one registration of each.
    pub provider: String,
    pub client_id: String,
    /// Sealed; none for a public client.
    pub client_secret: Option<String>,
    /// `post`, `basic` or `none`; none: as the connector's manifest says.
    pub client_auth: Option<String>,
    /// Values of the settings that the operator gives, by name.
    pub settings: Map<String, Value>,
    /// URLs that replace the manifest's: `issuer`, `authorizeUrl`, `tokenUrl`, `revokeUrl`, `userinfoUrl`, `callbackUrl`; and `origins`, an
    /// object of servers by the origin that each replaces.
    pub endpoints: Map<String, Value>,
    /// Our scope to an array of the provider's scopes, in place of the manifest's.
    pub scopes: Map<String, Value>,
    /// 1 when it is made; `update` counts it up.
    pub version: i64,
    /// Milliseconds since 1970; none: it is in use.
    pub disabled_at: Option<i64>,
    pub created_at: i64,
    pub updated_at: i64,
}

fn oauth_client(row: &Row<'_>) -> Result<OAuthClient> {
    Ok(OAuthClient {
        id: row.get("id")?,
        tenant: Tenant {
            organization_id: row.get("organization_id")?,
            application_id: row.get("application_id")?,
        },
        provider: row.get("provider")?,
        client_id: row.get("client_id")?,
        client_secret: row.get("client_secret")?,
        client_auth: row.get("client_auth")?,
        settings: json(row, "settings")?,
        endpoints: json(row, "endpoints")?,
        scopes: json(row, "scopes")?,
        version: row.get("version")?,
        disabled_at: row.get("disabled_at")?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}

/// The statement with the columns that an update can change, as its first 8 parameters.
fn changeable<'q>(sql: &'static str, c: &'q OAuthClient) -> Query<'q> {
    query(sql)
        .bind(&c.client_id)
        .bind(&c.client_secret)
        .bind(&c.client_auth)
        .bind(json_text(&c.settings))
        .bind(json_text(&c.endpoints))
        .bind(json_text(&c.scopes))
        .bind(c.disabled_at)
        .bind(c.updated_at)
}

/// Writes a new registration. Returns false if the application has one of this provider: another request made it, perhaps at the same moment.
pub async fn insert(tx: &mut Tx, c: &OAuthClient) -> Result<bool> {
    let sql = "insert into oauth_clients (client_id, client_secret, client_auth, settings, endpoints, scopes, disabled_at, \
               updated_at, id, organization_id, application_id, provider, version, created_at) \
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) \
               on conflict (application_id, provider) do nothing";
    let done = changeable(sql, c)
        .bind(&c.id)
        .bind(&c.tenant.organization_id)
        .bind(&c.tenant.application_id)
        .bind(&c.provider)
        .bind(c.version)
        .bind(c.created_at)
        .execute(&mut *tx)
        .await?;
    Ok(done > 0)
}

/// Writes the changeable columns of the registration with this id, and the version after `c.version`. False when the stored
/// version is not `c.version`: another command has changed or removed the registration, and nothing is written.
pub async fn update(tx: &mut Tx, c: &OAuthClient) -> Result<bool> {
    let sql = "update oauth_clients set client_id = $1, client_secret = $2, client_auth = $3, settings = $4, endpoints = $5, \
               scopes = $6, disabled_at = $7, updated_at = $8, version = version + 1 \
               where id = $9 and organization_id = $10 and application_id = $11 and version = $12";
    let done = changeable(sql, c)
        .bind(&c.id)
        .bind(&c.tenant.organization_id)
        .bind(&c.tenant.application_id)
        .bind(c.version)
        .execute(&mut *tx)
        .await?;
    Ok(done > 0)
}

/// The application's registration of this provider, disabled or not.
pub async fn find(on: impl Into<On<'_>>, tenant: &Tenant, provider: &str) -> Result<Option<OAuthClient>> {
    let sql =
        "select * from oauth_clients where organization_id = $1 and application_id = $2 and provider = $3";
    query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(provider)
        .fetch_optional(on, oauth_client)
        .await
}

/// All registrations of an application, in the order of their providers' names.
pub async fn list(on: impl Into<On<'_>>, application_id: &str) -> Result<Vec<OAuthClient>> {
    query("select * from oauth_clients where application_id = $1 order by provider")
        .bind(application_id)
        .fetch_all(on, oauth_client)
        .await
}

/// Values that operators gave under this name with registrations of a provider, disabled ones too: ids of applications, each with its value.
pub async fn settings_named(
    on: impl Into<On<'_>>,
    provider: &str,
    name: &str,
) -> Result<Vec<(String, Value)>> {
    let settings = |row: &Row<'_>| Ok((row.get::<String>("application_id")?, json(row, "settings")?));
    let sql =
        "select application_id, settings from oauth_clients where provider = $1 order by application_id";
    let all: Vec<(String, Map<String, Value>)> = query(sql).bind(provider).fetch_all(on, settings).await?;
    Ok(all.into_iter().filter_map(|(id, mut settings)| Some((id, settings.remove(name)?))).collect())
}

/// Removes the application's registration of this provider; false when there is none.
pub async fn remove(tx: &mut Tx, tenant: &Tenant, provider: &str) -> Result<bool> {
    let sql =
        "delete from oauth_clients where organization_id = $1 and application_id = $2 and provider = $3";
    let done = query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(provider)
        .execute(&mut *tx)
        .await?;
    Ok(done > 0)
}

/// The redirect URIs of the application, byte for byte as they were registered, in their order as text.
pub async fn redirects(on: impl Into<On<'_>>, tenant: &Tenant) -> Result<Vec<String>> {
    let sql = "select uri from application_redirects where organization_id = $1 and application_id = $2 order by uri";
    query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .fetch_all(on, |row| row.get("uri"))
        .await
}

/// The redirect URIs of each of these applications, in their order as text.
pub async fn redirects_of(
    reader: &Reader,
    application_ids: &[String],
) -> Result<BTreeMap<String, Vec<String>>> {
    let sql = one_of!(
        reader,
        "select application_id, uri from application_redirects where application_id",
        "$1",
        " order by application_id, uri"
    );
    let pair = |row: &Row<'_>| Ok((row.get::<String>("application_id")?, row.get::<String>("uri")?));
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (id, uri) in query(sql).bind(json_text(application_ids)).fetch_all(reader, pair).await? {
        found.entry(id).or_default().push(uri);
    }
    Ok(found)
}

/// Registers a redirect URI, which the caller has checked; false when the application has it already.
pub async fn add_redirect(tx: &mut Tx, tenant: &Tenant, uri: &str, now: i64) -> Result<bool> {
    let sql = "insert into application_redirects (organization_id, application_id, uri, created_at) values ($1, $2, $3, $4) \
               on conflict (application_id, uri) do nothing";
    let done = query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(uri)
        .bind(now)
        .execute(&mut *tx)
        .await?;
    Ok(done > 0)
}

/// Removes a redirect URI; false when the application has no such one.
pub async fn remove_redirect(tx: &mut Tx, tenant: &Tenant, uri: &str) -> Result<bool> {
    let sql =
        "delete from application_redirects where organization_id = $1 and application_id = $2 and uri = $3";
    let done = query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(uri)
        .execute(&mut *tx)
        .await?;
    Ok(done > 0)
}
