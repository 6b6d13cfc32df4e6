//! Links for setting a password: for the first operator, invited ones, and those who need a new password. Table:
//! `migrations/0094_operators.sql`. A link works once; its token is stored as an HMAC alone.

use std::collections::BTreeMap;

use anyhow::Result;

use crate::Tx;
use crate::json;
use crate::json_text;
use crate::sql::{On, Reader, Row, query};

/// A link as stored.
#[derive(Clone, Debug)]
pub struct OperatorLink {
    /// HMAC of the token.
    pub hash: String,
    pub id: String,
    /// `first`, `invite` or `reset`.
    pub kind: String,
    /// The address that it is for; none for the first operator.
    pub email: Option<String>,
    pub email_key: Option<String>,
    pub is_admin: bool,
    /// Roles by organization.
    pub roles: BTreeMap<String, String>,
    /// Whether a reset also removes the second factor.
    pub drops_factor: bool,
    /// The operator who made it, by id.
    pub created_by: Option<String>,
    pub created_by_name: Option<String>,
    pub created_at: i64,
    /// Milliseconds since 1970.
    pub expires_at: i64,
}

fn link(row: &Row<'_>) -> Result<OperatorLink> {
    Ok(OperatorLink {
        hash: row.get("hash")?,
        id: row.get("id")?,
        kind: row.get("kind")?,
        email: row.get("email")?,
        email_key: row.get("email_key")?,
        is_admin: row.get::<i64>("is_admin")? == 1,
        roles: json(row, "roles")?,
        drops_factor: row.get::<i64>("drops_factor")? == 1,
        created_by: row.get("created_by")?,
        created_by_name: row.get("created_by_name")?,
        created_at: row.get("created_at")?,
        expires_at: row.get("expires_at")?,
    })
}

/// Writes a new link.
pub async fn insert(tx: &mut Tx, l: &OperatorLink) -> Result<()> {
    let sql = "insert into operator_links (hash, id, kind, email, email_key, is_admin, roles, drops_factor, created_by, created_by_name, \
               created_at, expires_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    query(sql)
        .bind(&l.hash)
        .bind(&l.id)
        .bind(&l.kind)
        .bind(&l.email)
        .bind(&l.email_key)
        .bind(i64::from(l.is_admin))
        .bind(json_text(&l.roles))
        .bind(i64::from(l.drops_factor))
        .bind(&l.created_by)
        .bind(&l.created_by_name)
        .bind(l.created_at)
        .bind(l.expires_at)
        .execute(tx)
        .await?;
    Ok(())
}

/// The link with this hash, even if it has expired.
pub async fn find(on: impl Into<On<'_>>, hash: &str) -> Result<Option<OperatorLink>> {
    query("select * from operator_links where hash = $1").bind(hash).fetch_optional(on, link).await
}

/// Uses a link up and returns it; none when it is used already: of two concurrent callers one gets it.
pub async fn take(tx: &mut Tx, hash: &str) -> Result<Option<OperatorLink>> {
    query("delete from operator_links where hash = $1 returning *").bind(hash).fetch_optional(tx, link).await
}

/// Links that have not expired at `now`, without invitations to one organization alone, in the order of their expiry.
pub async fn list(reader: &Reader, now: i64, limit: i64) -> Result<Vec<OperatorLink>> {
    let sql = "select * from operator_links where expires_at > $1 \
               and (kind <> 'invite' or is_admin = 1 or roles = '{}' or roles like '%,%') order by expires_at limit $2";
    query(sql).bind(now).bind(limit).fetch_all(reader, link).await
}

/// Invitations to an organization and to no other one, which have not expired at `now`, in the order of their expiry.
pub async fn list_of_organization(
    on: impl Into<On<'_>>,
    organization_id: &str,
    now: i64,
    limit: i64,
) -> Result<Vec<OperatorLink>> {
    let sql = "select * from operator_links where expires_at > $1 and kind = 'invite' and roles like $2 \
               order by expires_at limit $3";
    // The `_` of an id stands for any character here.
    let roles = format!("{{\"{organization_id}\":%");
    let mut found = query(sql).bind(now).bind(roles).bind(limit).fetch_all(on, link).await?;
    found.retain(|link| link.roles.len() == 1 && link.roles.contains_key(organization_id));
    Ok(found)
}

/// The link with this id.
pub async fn by_id(on: impl Into<On<'_>>, id: &str) -> Result<Option<OperatorLink>> {
    query("select * from operator_links where id = $1").bind(id).fetch_optional(on, link).await
}

/// Withdraws a link. Returns false when there is none.
pub async fn remove(tx: &mut Tx, id: &str) -> Result<bool> {
    Ok(query("delete from operator_links where id = $1").bind(id).execute(tx).await? == 1)
}

/// Withdraws the links of a kind for an address.
pub async fn remove_of_address(tx: &mut Tx, email_key: &str, kind: &str) -> Result<()> {
    let sql = "delete from operator_links where email_key = $1 and kind = $2";
    query(sql).bind(email_key).bind(kind).execute(tx).await?;
    Ok(())
}

/// Withdraws all links for creating the first operator.
pub async fn remove_first(tx: &mut Tx) -> Result<()> {
    query("delete from operator_links where kind = 'first'").execute(tx).await?;
    Ok(())
}

/// Removes at most `limit` links that expired before then. Returns how many it removed.
pub async fn expire(tx: &mut Tx, before: i64, limit: i64) -> Result<i64> {
    let sql = "delete from operator_links where hash in \
               (select hash from operator_links where expires_at < $1 order by expires_at limit $2)";
    let done = query(sql).bind(before).bind(limit).execute(tx).await?;
    Ok(i64::try_from(done).unwrap_or(i64::MAX))
}
