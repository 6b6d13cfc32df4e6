//! The accounts that users connected. Table: `migrations/0002_connections.sql`.

use std::collections::BTreeMap;

use anyhow::Result;
use serde_json::{Map, Value};
use sqlx::any::AnyRow;
use sqlx::{AnyPool, Row};

use crate::storage::{Tx, json, json_text};
use crate::tenant::Tenant;

/// A stored connection. `credentials` is sealed.
#[derive(Clone, Debug)]
pub struct Connection {
    pub id: String,
    pub tenant: Tenant,
    pub provider: String,
    pub connector_version: String,
    /// `pending`, `active`, `degraded`, `reauth_required` or `revoked`.
    pub status: String,
    pub status_reason: Option<String>,
    pub status_changed_at: i64,
    pub display_name: Option<String>,
    pub email: Option<String>,
    pub external_account_id: String,
    pub username: Option<String>,
    pub addresses: Vec<String>,
    pub surfaces: Vec<String>,
    pub requested_scopes: Vec<String>,
    pub granted_scopes: Vec<String>,
    pub provider_scopes: Vec<String>,
    pub time_zone: Option<String>,
    pub settings: Map<String, Value>,
    pub credentials: String,
    pub credentials_version: i64,
    pub token_expires_at: Option<i64>,
    pub last_refresh_at: Option<i64>,
    /// JSON `{code, message, at}`.
    pub last_refresh_error: Option<String>,
    pub failing_since: Option<i64>,
    pub tags: BTreeMap<String, String>,
    pub metadata: BTreeMap<String, String>,
    pub etag: String,
    pub created_at: i64,
    pub updated_at: i64,
}

fn connection(row: &AnyRow) -> Result<Connection> {
    Ok(Connection {
        id: row.try_get("id")?,
        tenant: Tenant {
            organization_id: row.try_get("organization_id")?,
            application_id: row.try_get("application_id")?,
        },
        provider: row.try_get("provider")?,
        connector_version: row.try_get("connector_version")?,
        status: row.try_get("status")?,
        status_reason: row.try_get("status_reason")?,
        status_changed_at: row.try_get("status_changed_at")?,
        display_name: row.try_get("display_name")?,
        email: row.try_get("email")?,
        external_account_id: row.try_get("external_account_id")?,
        username: row.try_get("username")?,
        addresses: json(row, "addresses")?,
        surfaces: json(row, "surfaces")?,
        requested_scopes: json(row, "requested_scopes")?,
        granted_scopes: json(row, "granted_scopes")?,
        provider_scopes: json(row, "provider_scopes")?,
        time_zone: row.try_get("time_zone")?,
        settings: json(row, "settings")?,
        credentials: row.try_get("credentials")?,
        credentials_version: row.try_get("credentials_version")?,
        token_expires_at: row.try_get("token_expires_at")?,
        last_refresh_at: row.try_get("last_refresh_at")?,
        last_refresh_error: row.try_get("last_refresh_error")?,
        failing_since: row.try_get("failing_since")?,
        tags: json(row, "tags")?,
        metadata: json(row, "metadata")?,
        etag: row.try_get("etag")?,
        created_at: row.try_get("created_at")?,
        updated_at: row.try_get("updated_at")?,
    })
}

/// A live connection of the tenant.
pub async fn find(pool: &AnyPool, tenant: &Tenant, id: &str) -> Result<Option<Connection>> {
    let sql = "select * from connections where organization_id = $1 and application_id = $2 and id = $3 \
               and deleted_at is null";
    let row = sqlx::query(sql)
        .bind(tenant.organization_id.clone())
        .bind(tenant.application_id.clone())
        .bind(id.to_owned())
        .fetch_optional(pool)
        .await?;
    row.as_ref().map(connection).transpose()
}

/// Live connections of the tenant, in id order, after an id; `provider` and `status` empty: any.
pub async fn list(
    pool: &AnyPool,
    tenant: &Tenant,
    filter: (&str, &str),
    after_id: &str,
    limit: i64,
) -> Result<Vec<Connection>> {
    let sql = "select * from connections where organization_id = $1 and application_id = $2 and deleted_at is null \
               and ($3 = '' or provider = $3) and ($4 = '' or status = $4) and id > $5 order by id limit $6";
    let rows = sqlx::query(sql)
        .bind(tenant.organization_id.clone())
        .bind(tenant.application_id.clone())
        .bind(filter.0.to_owned())
        .bind(filter.1.to_owned())
        .bind(after_id.to_owned())
        .bind(limit)
        .fetch_all(pool)
        .await?;
    rows.iter().map(connection).collect()
}

/// How many there are, by status.
pub async fn count_by_status(pool: &AnyPool, tenant: &Tenant) -> Result<BTreeMap<String, i64>> {
    let sql = "select status, count(*) as n from connections where organization_id = $1 and application_id = $2 \
               and deleted_at is null group by status";
    let rows = sqlx::query(sql)
        .bind(tenant.organization_id.clone())
        .bind(tenant.application_id.clone())
        .fetch_all(pool)
        .await?;
    rows.iter().map(|row| Ok((row.try_get("status")?, row.try_get("n")?))).collect()
}

/// Writes the whole row.
pub async fn upsert(tx: &mut Tx, c: &Connection) -> Result<()> {
    let sql = "insert into connections (id, organization_id, application_id, provider, connector_version, status, \
               status_reason, status_changed_at, display_name, email, external_account_id, username, addresses, \
               surfaces, requested_scopes, granted_scopes, provider_scopes, time_zone, settings, credentials, \
               credentials_version, token_expires_at, last_refresh_at, last_refresh_error, failing_since, tags, metadata, \
               etag, created_at, updated_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, \
               $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30) \
               on conflict (id) do update set connector_version = excluded.connector_version, \
               status = excluded.status, status_reason = excluded.status_reason, \
               status_changed_at = excluded.status_changed_at, display_name = excluded.display_name, \
               email = excluded.email, username = excluded.username, addresses = excluded.addresses, \
               surfaces = excluded.surfaces, granted_scopes = excluded.granted_scopes, \
               provider_scopes = excluded.provider_scopes, time_zone = excluded.time_zone, \
               settings = excluded.settings, credentials = excluded.credentials, \
               credentials_version = excluded.credentials_version, token_expires_at = excluded.token_expires_at, \
               last_refresh_at = excluded.last_refresh_at, last_refresh_error = excluded.last_refresh_error, \
               failing_since = excluded.failing_since, tags = excluded.tags, metadata = excluded.metadata, \
               etag = excluded.etag, updated_at = excluded.updated_at";
    sqlx::query(sql)
        .bind(c.id.clone())
        .bind(c.tenant.organization_id.clone())
        .bind(c.tenant.application_id.clone())
        .bind(c.provider.clone())
        .bind(c.connector_version.clone())
        .bind(c.status.clone())
        .bind(c.status_reason.clone())
        .bind(c.status_changed_at)
        .bind(c.display_name.clone())
        .bind(c.email.clone())
        .bind(c.external_account_id.clone())
        .bind(c.username.clone())
        .bind(json_text(&c.addresses))
        .bind(json_text(&c.surfaces))
        .bind(json_text(&c.requested_scopes))
        .bind(json_text(&c.granted_scopes))
        .bind(json_text(&c.provider_scopes))
        .bind(c.time_zone.clone())
        .bind(json_text(&c.settings))
        .bind(c.credentials.clone())
        .bind(c.credentials_version)
        .bind(c.token_expires_at)
        .bind(c.last_refresh_at)
        .bind(c.last_refresh_error.clone())
        .bind(c.failing_since)
        .bind(json_text(&c.tags))
        .bind(json_text(&c.metadata))
        .bind(c.etag.clone())
        .bind(c.created_at)
        .bind(c.updated_at)
        .execute(&mut *tx)
        .await?;
    Ok(())
}

/// Writes how a live connection stands and nothing else: the rest of the row may be somebody else's to change at the same
/// moment. False when it is gone.
pub async fn set_state(tx: &mut Tx, c: &Connection) -> Result<bool> {
    let sql = "update connections set status = $1, status_reason = $2, status_changed_at = $3, failing_since = $4, \
               last_refresh_error = $5, etag = $6, updated_at = $7 where id = $8 and deleted_at is null";
    let done = sqlx::query(sql)
        .bind(c.status.clone())
        .bind(c.status_reason.clone())
        .bind(c.status_changed_at)
        .bind(c.failing_since)
        .bind(c.last_refresh_error.clone())
        .bind(c.etag.clone())
        .bind(c.updated_at)
        .bind(c.id.clone())
        .execute(&mut *tx)
        .await?;
    Ok(done.rows_affected() > 0)
}

/// Whether it is still there: what is read from a provider must not outlive the connection that it was read through.
pub async fn is_live(tx: &mut Tx, id: &str) -> Result<bool> {
    let row = sqlx::query("select 1 as live from connections where id = $1 and deleted_at is null")
        .bind(id.to_owned())
        .fetch_optional(&mut *tx)
        .await?;
    Ok(row.is_some())
}

/// Makes a tombstone: secrets and settings go, the id stays taken. False when there is no live one.
pub async fn delete(tx: &mut Tx, tenant: &Tenant, id: &str, now: i64) -> Result<bool> {
    let sql = "update connections set status = 'revoked', deleted_at = $1, updated_at = $1, credentials = '', \
               settings = '{}', addresses = '[]', username = null, email = null, display_name = null, \
               metadata = '{}', tags = '{}' \
               where organization_id = $2 and application_id = $3 and id = $4 and deleted_at is null";
    let done = sqlx::query(sql)
        .bind(now)
        .bind(tenant.organization_id.clone())
        .bind(tenant.application_id.clone())
        .bind(id.to_owned())
        .execute(&mut *tx)
        .await?;
    Ok(done.rows_affected() > 0)
}
