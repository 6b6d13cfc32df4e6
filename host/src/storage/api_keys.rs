//! Organizations, applications and their API keys. Tables: `migrations/0001_tenants_and_keys.sql`.

use anyhow::Result;
use model::Instant;
use serde_json::Value;
use sqlx::any::AnyRow;
use sqlx::{AnyPool, Row};

use crate::storage::{Tx, json, json_text};
use crate::tenant::Tenant;

/// A stored API key; the key itself is not in it.
#[derive(Clone, Debug)]
pub struct ApiKey {
    pub id: String,
    pub tenant: Tenant,
    pub name: String,
    pub prefix: String,
    pub last4: String,
    pub scopes: Vec<String>,
    pub allowed_domains: Vec<String>,
    pub allowed_ips: Vec<String>,
    pub connection_ids: Vec<String>,
    pub rate_limit_per_minute: i64,
    pub expires_at: Option<i64>,
    pub last_used_at: Option<i64>,
    pub last_used_ip: Option<String>,
    pub created_by: Option<String>,
    pub revoked_at: Option<i64>,
    pub created_at: i64,
}

impl ApiKey {
    /// The key as the API and the `switchboard keys` command print it; the key itself is not in it.
    pub fn json(&self) -> Value {
        let at = |ms: Option<i64>| ms.map(Instant::from_millis);
        serde_json::json!({
            "id": self.id,
            "name": self.name,
            "prefix": self.prefix,
            "last4": self.last4,
            "scopes": self.scopes,
            "applicationId": self.tenant.application_id,
            "organizationId": self.tenant.organization_id,
            "allowedDomains": self.allowed_domains,
            "allowedIps": self.allowed_ips,
            "rateLimitPerMinute": self.rate_limit_per_minute,
            "connectionIds": self.connection_ids,
            "expiresAt": at(self.expires_at),
            "lastUsedAt": at(self.last_used_at),
            "lastUsedIp": self.last_used_ip,
            "createdBy": self.created_by,
            "revokedAt": at(self.revoked_at),
            "createdAt": Instant::from_millis(self.created_at),
        })
    }
}

fn api_key(row: &AnyRow) -> Result<ApiKey> {
    Ok(ApiKey {
        id: row.try_get("id")?,
        tenant: Tenant {
            organization_id: row.try_get("organization_id")?,
            application_id: row.try_get("application_id")?,
        },
        name: row.try_get("name")?,
        prefix: row.try_get("prefix")?,
        last4: row.try_get("last4")?,
        scopes: json(row, "scopes")?,
        allowed_domains: json(row, "allowed_domains")?,
        allowed_ips: json(row, "allowed_ips")?,
        connection_ids: json(row, "connection_ids")?,
        rate_limit_per_minute: row.try_get("rate_limit_per_minute")?,
        expires_at: row.try_get("expires_at")?,
        last_used_at: row.try_get("last_used_at")?,
        last_used_ip: row.try_get("last_used_ip")?,
        created_by: row.try_get("created_by")?,
        revoked_at: row.try_get("revoked_at")?,
        created_at: row.try_get("created_at")?,
    })
}

/// The key with this hash, of whatever tenant: this is how a tenant is found.
pub async fn by_hash(pool: &AnyPool, hash: &str) -> Result<Option<ApiKey>> {
    let row = sqlx::query("select * from api_keys where hash = $1")
        .bind(hash.to_owned())
        .fetch_optional(pool)
        .await?;
    row.as_ref().map(api_key).transpose()
}

pub async fn find(pool: &AnyPool, tenant: &Tenant, id: &str) -> Result<Option<ApiKey>> {
    let row =
        sqlx::query("select * from api_keys where organization_id = $1 and application_id = $2 and id = $3")
            .bind(tenant.organization_id.clone())
            .bind(tenant.application_id.clone())
            .bind(id.to_owned())
            .fetch_optional(pool)
            .await?;
    row.as_ref().map(api_key).transpose()
}

/// Keys of the application, newest last, after an id.
pub async fn list(pool: &AnyPool, tenant: &Tenant, after_id: &str, limit: i64) -> Result<Vec<ApiKey>> {
    let sql = "select * from api_keys where organization_id = $1 and application_id = $2 and id > $3 \
               order by id limit $4";
    let rows = sqlx::query(sql)
        .bind(tenant.organization_id.clone())
        .bind(tenant.application_id.clone())
        .bind(after_id.to_owned())
        .bind(limit)
        .fetch_all(pool)
        .await?;
    rows.iter().map(api_key).collect()
}

/// Every key of every application, for the operator's command.
pub async fn list_all(pool: &AnyPool) -> Result<Vec<ApiKey>> {
    let rows = sqlx::query("select * from api_keys order by id").fetch_all(pool).await?;
    rows.iter().map(api_key).collect()
}

pub async fn insert(tx: &mut Tx, key: &ApiKey, hash: &str) -> Result<()> {
    let sql = "insert into api_keys (id, organization_id, application_id, name, prefix, last4, hash, scopes, \
               allowed_domains, allowed_ips, connection_ids, rate_limit_per_minute, expires_at, created_by, created_at) \
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)";
    sqlx::query(sql)
        .bind(key.id.clone())
        .bind(key.tenant.organization_id.clone())
        .bind(key.tenant.application_id.clone())
        .bind(key.name.clone())
        .bind(key.prefix.clone())
        .bind(key.last4.clone())
        .bind(hash.to_owned())
        .bind(json_text(&key.scopes))
        .bind(json_text(&key.allowed_domains))
        .bind(json_text(&key.allowed_ips))
        .bind(json_text(&key.connection_ids))
        .bind(key.rate_limit_per_minute)
        .bind(key.expires_at)
        .bind(key.created_by.clone())
        .bind(key.created_at)
        .execute(&mut *tx)
        .await?;
    Ok(())
}

/// Revokes a key of the tenant; false when there is none. Revoking again keeps the first time.
pub async fn revoke(tx: &mut Tx, tenant: &Tenant, id: &str, now: i64) -> Result<bool> {
    let sql = "update api_keys set revoked_at = coalesce(revoked_at, $1) where organization_id = $2 \
               and application_id = $3 and id = $4";
    let done = sqlx::query(sql)
        .bind(now)
        .bind(tenant.organization_id.clone())
        .bind(tenant.application_id.clone())
        .bind(id.to_owned())
        .execute(&mut *tx)
        .await?;
    Ok(done.rows_affected() > 0)
}

/// Revokes any key, for the operator's command.
pub async fn revoke_any(tx: &mut Tx, id: &str, now: i64) -> Result<bool> {
    let done = sqlx::query("update api_keys set revoked_at = coalesce(revoked_at, $1) where id = $2")
        .bind(now)
        .bind(id.to_owned())
        .execute(&mut *tx)
        .await?;
    Ok(done.rows_affected() > 0)
}

/// Notes when and from where a key was last used.
pub async fn note_use(tx: &mut Tx, id: &str, at: i64, ip: &str) -> Result<()> {
    sqlx::query("update api_keys set last_used_at = $1, last_used_ip = $2 where id = $3")
        .bind(at)
        .bind(ip.to_owned())
        .bind(id.to_owned())
        .execute(&mut *tx)
        .await?;
    Ok(())
}

/// The application with this name in an organization with this name, both made if they are missing.
/// `ids` are used for what has to be made: organization, application.
pub async fn ensure_application(
    tx: &mut Tx,
    names: (&str, &str),
    ids: (&str, &str),
    now: i64,
) -> Result<Tenant> {
    let found = sqlx::query("select id from organizations where name = $1 order by id limit 1")
        .bind(names.0.to_owned())
        .fetch_optional(&mut *tx)
        .await?;
    let organization_id: String = match found {
        Some(row) => row.try_get("id")?,
        None => {
            sqlx::query("insert into organizations (id, name, created_at) values ($1, $2, $3)")
                .bind(ids.0.to_owned())
                .bind(names.0.to_owned())
                .bind(now)
                .execute(&mut *tx)
                .await?;
            ids.0.to_owned()
        }
    };
    let insert = "insert into applications (id, organization_id, name, created_at) values ($1, $2, $3, $4) \
                  on conflict (organization_id, name) do nothing";
    sqlx::query(insert)
        .bind(ids.1.to_owned())
        .bind(organization_id.clone())
        .bind(names.1.to_owned())
        .bind(now)
        .execute(&mut *tx)
        .await?;
    let row = sqlx::query("select id from applications where organization_id = $1 and name = $2")
        .bind(organization_id.clone())
        .bind(names.1.to_owned())
        .fetch_one(&mut *tx)
        .await?;
    Ok(Tenant { organization_id, application_id: row.try_get("id")? })
}

/// Every application's tenant.
pub async fn tenants(pool: &AnyPool) -> Result<Vec<Tenant>> {
    let rows =
        sqlx::query("select id, organization_id from applications order by id").fetch_all(pool).await?;
    rows.iter()
        .map(|row| {
            Ok(Tenant {
                organization_id: row.try_get("organization_id")?,
                application_id: row.try_get("id")?,
            })
        })
        .collect()
}
