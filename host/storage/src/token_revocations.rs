//! Tokens that are to be revoked at their provider (RFC 7009). Table: `migrations/0043_token_refresh.sql`.

use anyhow::Result;
use base::tenant::Tenant;

use crate::Tx;
use crate::sql::{Reader, Row, query};
use crate::token_refresh::Grant;

/// A token to be revoked. `token` is sealed.
#[derive(Clone, Debug)]
pub struct Revocation {
    pub id: String,
    pub tenant: Tenant,
    /// The connector's name.
    pub provider: String,
    pub grant: Grant,
    /// Sealed.
    pub token: String,
    pub created_at: i64,
}

fn revocation(row: &Row<'_>) -> Result<Revocation> {
    Ok(Revocation {
        id: row.get("id")?,
        tenant: Tenant {
            organization_id: row.get("organization_id")?,
            application_id: row.get("application_id")?,
        },
        provider: row.get("provider")?,
        grant: Grant { client: row.get("grant_client")?, key: row.get("grant_key")? },
        token: row.get("token")?,
        created_at: row.get("created_at")?,
    })
}

/// Writes a new one.
pub async fn insert(tx: &mut Tx, r: &Revocation) -> Result<()> {
    let sql = "insert into token_revocations (id, organization_id, application_id, provider, grant_client, grant_key, token, \
               created_at) values ($1, $2, $3, $4, $5, $6, $7, $8)";
    query(sql)
        .bind(&r.id)
        .bind(&r.tenant.organization_id)
        .bind(&r.tenant.application_id)
        .bind(&r.provider)
        .bind(&r.grant.client)
        .bind(&r.grant.key)
        .bind(&r.token)
        .bind(r.created_at)
        .execute(tx)
        .await?;
    Ok(())
}

/// The one with this id.
pub async fn find(reader: &Reader, id: &str) -> Result<Option<Revocation>> {
    query("select * from token_revocations where id = $1").bind(id).fetch_optional(reader, revocation).await
}

/// Removes a revocation: the token is revoked, or all attempts failed.
pub async fn remove(tx: &mut Tx, id: &str) -> Result<()> {
    query("delete from token_revocations where id = $1").bind(id).execute(tx).await?;
    Ok(())
}
