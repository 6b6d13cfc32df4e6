//! The accounts that users connected. Table: `migrations/0002_connections.sql`.

use std::collections::BTreeMap;

use crate::storage::sql::{Reader, Row, query};
use anyhow::Result;
use serde_json::{Map, Value};

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

fn connection(row: &Row<'_>) -> Result<Connection> {
    Ok(Connection {
        id: row.get("id")?,
        tenant: Tenant {
            organization_id: row.get("organization_id")?,
            application_id: row.get("application_id")?,
        },
        provider: row.get("provider")?,
        connector_version: row.get("connector_version")?,
        status: row.get("status")?,
        status_reason: row.get("status_reason")?,
        status_changed_at: row.get("status_changed_at")?,
        display_name: row.get("display_name")?,
        email: row.get("email")?,
        external_account_id: row.get("external_account_id")?,
        username: row.get("username")?,
        addresses: json(row, "addresses")?,
        surfaces: json(row, "surfaces")?,
        requested_scopes: json(row, "requested_scopes")?,
        granted_scopes: json(row, "granted_scopes")?,
        provider_scopes: json(row, "provider_scopes")?,
        time_zone: row.get("time_zone")?,
        settings: json(row, "settings")?,
        credentials: row.get("credentials")?,
        credentials_version: row.get("credentials_version")?,
        token_expires_at: row.get("token_expires_at")?,
        last_refresh_at: row.get("last_refresh_at")?,
        last_refresh_error: row.get("last_refresh_error")?,
        failing_since: row.get("failing_since")?,
        tags: json(row, "tags")?,
        metadata: json(row, "metadata")?,
        etag: row.get("etag")?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}

/// A live connection of the tenant.
pub async fn find(reader: &Reader, tenant: &Tenant, id: &str) -> Result<Option<Connection>> {
    let sql = "select * from connections where organization_id = $1 and application_id = $2 and id = $3 \
               and deleted_at is null";
    query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(id)
        .fetch_optional(reader, connection)
        .await
}

/// Live connections of the tenant, in id order, after an id; `provider` and `status` empty: any.
pub async fn list(
    reader: &Reader,
    tenant: &Tenant,
    filter: (&str, &str),
    after_id: &str,
    limit: i64,
) -> Result<Vec<Connection>> {
    let sql = "select * from connections where organization_id = $1 and application_id = $2 and deleted_at is null \
               and ($3 = '' or provider = $3) and ($4 = '' or status = $4) and id > $5 order by id limit $6";
    query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(filter.0)
        .bind(filter.1)
        .bind(after_id)
        .bind(limit)
        .fetch_all(reader, connection)
        .await
}

/// How many there are, by status.
pub async fn count_by_status(reader: &Reader, tenant: &Tenant) -> Result<BTreeMap<String, i64>> {
    let sql = "select status, count(*) as n from connections where organization_id = $1 and application_id = $2 \
               and deleted_at is null group by status";
    let counts = query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .fetch_all(reader, |row| Ok((row.get("status")?, row.get("n")?)))
        .await?;
    Ok(counts.into_iter().collect())
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
    query(sql)
        .bind(&c.id)
        .bind(&c.tenant.organization_id)
        .bind(&c.tenant.application_id)
        .bind(&c.provider)
        .bind(&c.connector_version)
        .bind(&c.status)
        .bind(&c.status_reason)
        .bind(c.status_changed_at)
        .bind(&c.display_name)
        .bind(&c.email)
        .bind(&c.external_account_id)
        .bind(&c.username)
        .bind(json_text(&c.addresses))
        .bind(json_text(&c.surfaces))
        .bind(json_text(&c.requested_scopes))
        .bind(json_text(&c.granted_scopes))
        .bind(json_text(&c.provider_scopes))
        .bind(&c.time_zone)
        .bind(json_text(&c.settings))
        .bind(&c.credentials)
        .bind(c.credentials_version)
        .bind(c.token_expires_at)
        .bind(c.last_refresh_at)
        .bind(&c.last_refresh_error)
        .bind(c.failing_since)
        .bind(json_text(&c.tags))
        .bind(json_text(&c.metadata))
        .bind(&c.etag)
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
    let done = query(sql)
        .bind(&c.status)
        .bind(&c.status_reason)
        .bind(c.status_changed_at)
        .bind(c.failing_since)
        .bind(&c.last_refresh_error)
        .bind(&c.etag)
        .bind(c.updated_at)
        .bind(&c.id)
        .execute(&mut *tx)
        .await?;
    Ok(done > 0)
}

/// Whether it is still there: what is read from a provider must not outlive the connection that it was read through. The row
/// is the transaction's from here on: two that store what they read of one account do so one after the other.
pub async fn hold(tx: &mut Tx, id: &str) -> Result<bool> {
    let sql = match tx {
        // Its write transactions are one after the other anyway.
        Tx::Sqlite(_) => "select id from connections where id = $1 and deleted_at is null",
        Tx::Postgres(_) => "select id from connections where id = $1 and deleted_at is null for update",
    };
    let found = query(sql).bind(id).fetch_optional(&mut *tx, |row| row.get::<String>("id")).await?;
    Ok(found.is_some())
}

/// Makes a tombstone: secrets and settings go, the id stays taken. False when there is no live one.
pub async fn delete(tx: &mut Tx, tenant: &Tenant, id: &str, now: i64) -> Result<bool> {
    let sql = "update connections set status = 'revoked', deleted_at = $1, updated_at = $1, credentials = '', \
               settings = '{}', addresses = '[]', username = null, email = null, display_name = null, \
               metadata = '{}', tags = '{}' \
               where organization_id = $2 and application_id = $3 and id = $4 and deleted_at is null";
    let done = query(sql)
        .bind(now)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(id)
        .execute(&mut *tx)
        .await?;
    Ok(done > 0)
}
