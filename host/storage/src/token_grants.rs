//! Grants of our OAuth clients: the refresh tokens that renew their access tokens. Table: `migrations/0044_access_tokens.sql`.

use anyhow::Result;
use base::tenant::Tenant;

use crate::Tx;
use crate::api_key_domains;
use crate::json;
use crate::json_text;
use crate::sql::{On, Row, query};

/// A stored grant. Times are milliseconds since 1970.
#[derive(Clone, Debug)]
pub struct TokenGrant {
    pub id: String,
    pub tenant: Tenant,
    pub connection_id: String,
    /// The API key that authenticates the client.
    pub api_key_id: String,
    pub scopes: Vec<String>,
    /// HMAC of the newest refresh token.
    pub refresh_hash: String,
    /// The number of refresh tokens before the newest one.
    pub generation: i64,
    pub created_at: i64,
    pub last_used_at: i64,
    pub expires_at: i64,
    pub revoked_at: Option<i64>,
}

fn token_grant(row: &Row<'_>) -> Result<TokenGrant> {
    Ok(TokenGrant {
        id: row.get("id")?,
        tenant: Tenant {
            organization_id: row.get("organization_id")?,
            application_id: row.get("application_id")?,
        },
        connection_id: row.get("connection_id")?,
        api_key_id: row.get("api_key_id")?,
        scopes: json(row, "scopes")?,
        refresh_hash: row.get("refresh_hash")?,
        generation: row.get("generation")?,
        created_at: row.get("created_at")?,
        last_used_at: row.get("last_used_at")?,
        expires_at: row.get("expires_at")?,
        revoked_at: row.get("revoked_at")?,
    })
}

pub async fn insert(tx: &mut Tx, g: &TokenGrant) -> Result<()> {
    let sql = "insert into token_grants (id, organization_id, application_id, connection_id, api_key_id, scopes, refresh_hash, \
               generation, created_at, last_used_at, expires_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
    query(sql)
        .bind(&g.id)
        .bind(&g.tenant.organization_id)
        .bind(&g.tenant.application_id)
        .bind(&g.connection_id)
        .bind(&g.api_key_id)
        .bind(json_text(&g.scopes))
        .bind(&g.refresh_hash)
        .bind(g.generation)
        .bind(g.created_at)
        .bind(g.last_used_at)
        .bind(g.expires_at)
        .execute(&mut *tx)
        .await?;
    Ok(())
}

/// A grant of the application.
pub async fn find(on: impl Into<On<'_>>, tenant: &Tenant, id: &str) -> Result<Option<TokenGrant>> {
    query("select * from token_grants where organization_id = $1 and application_id = $2 and id = $3")
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(id)
        .fetch_optional(on, token_grant)
        .await
}

/// Replaces the newest refresh token, which must be that of `old`, by the next one. `hash` is that of the next one. False: `old`
/// is no longer the newest, or the grant was revoked.
pub async fn rotate(tx: &mut Tx, old: &TokenGrant, hash: &str, now: i64, expires_at: i64) -> Result<bool> {
    let sql = "update token_grants set generation = generation + 1, refresh_hash = $1, last_used_at = $2, expires_at = $3 \
               where id = $4 and refresh_hash = $5 and revoked_at is null";
    let done = query(sql)
        .bind(hash)
        .bind(now)
        .bind(expires_at)
        .bind(&old.id)
        .bind(&old.refresh_hash)
        .execute(&mut *tx)
        .await?;
    Ok(done > 0)
}

/// Revokes a grant and its access tokens. `reason` is a word for the operator.
pub async fn revoke(tx: &mut Tx, id: &str, reason: &str, now: i64) -> Result<()> {
    query(
        "update token_grants set revoked_at = $1, revoked_reason = $2 where id = $3 and revoked_at is null",
    )
    .bind(now)
    .bind(reason)
    .bind(id)
    .execute(&mut *tx)
    .await?;
    query("update api_keys set revoked_at = coalesce(revoked_at, $1) where grant_id = $2")
        .bind(now)
        .bind(id)
        .execute(&mut *tx)
        .await?;
    api_key_domains::remove_of_grant(tx, id).await
}

/// Revokes the grants of a key. Its access tokens are for the caller to revoke.
pub(crate) async fn revoke_of_key(tx: &mut Tx, api_key_id: &str, now: i64) -> Result<()> {
    let sql = "update token_grants set revoked_at = $1, revoked_reason = 'key_revoked' \
               where api_key_id = $2 and revoked_at is null";
    query(sql).bind(now).bind(api_key_id).execute(&mut *tx).await?;
    Ok(())
}

/// Revokes the grants of a connection, and their access tokens.
pub async fn revoke_of_connection(tx: &mut Tx, tenant: &Tenant, connection_id: &str, now: i64) -> Result<()> {
    let grants = "update token_grants set revoked_at = $1, revoked_reason = 'connection_deleted' \
                  where organization_id = $2 and application_id = $3 and connection_id = $4 and revoked_at is null";
    let tokens = "update api_keys set revoked_at = coalesce(revoked_at, $1) where grant_id in \
                  (select id from token_grants where organization_id = $2 and application_id = $3 and connection_id = $4)";
    for sql in [grants, tokens] {
        query(sql)
            .bind(now)
            .bind(&tenant.organization_id)
            .bind(&tenant.application_id)
            .bind(connection_id)
            .execute(&mut *tx)
            .await?;
    }
    api_key_domains::remove_of_connection(tx, tenant, connection_id).await
}

/// Removes at most `limit` grants that ended before then. Returns how many it removed.
pub async fn clean(tx: &mut Tx, before: i64, limit: i64) -> Result<i64> {
    let sql = "delete from token_grants where id in \
               (select id from token_grants where expires_at < $1 order by expires_at limit $2)";
    let done = query(sql).bind(before).bind(limit).execute(tx).await?;
    Ok(i64::try_from(done).unwrap_or(i64::MAX))
}
