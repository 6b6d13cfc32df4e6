//! Claims and failures of the token refresh of a connection: columns of `connections` that nothing else reads or writes. Table:
//! `migrations/0043_token_refresh.sql`.

use anyhow::Result;
use base::tenant::Tenant;

use crate::Tx;
use crate::locked::ConnectionLock;
use crate::sql::{On, Reader, Row, query};

/// The refresh state of a live connection's tokens. All times are milliseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefreshState {
    /// The version of the credentials, increased with each change.
    pub version: i64,
    /// Expiry of the claim of a host that requests new tokens.
    pub claimed_until: Option<i64>,
    /// Time before which the authorization server gets no request.
    pub blocked_until: Option<i64>,
    /// In a row.
    pub failures: i64,
    /// Expiry of the refresh token, where the provider reports it.
    pub refresh_token_expires_at: Option<i64>,
    /// None: this host has received no tokens for the connection by OAuth.
    pub grant: Option<Grant>,
}

/// The grant of an account to one of our OAuth clients, as far as it can be distinguished from others: most providers have one
/// for all tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Hash of the authorization server and the client id.
    pub client: String,
    /// Hash of these and the account; none: the account is unknown.
    pub key: Option<String>,
}

fn refresh_state(row: &Row<'_>) -> Result<RefreshState> {
    let client: Option<String> = row.get("grant_client")?;
    let key = row.get("grant_key")?;
    Ok(RefreshState {
        version: row.get("credentials_version")?,
        claimed_until: row.get("refresh_claimed_until")?,
        blocked_until: row.get("refresh_blocked_until")?,
        failures: row.get("refresh_failures")?,
        refresh_token_expires_at: row.get("refresh_token_expires_at")?,
        grant: client.map(|client| Grant { client, key }),
    })
}

/// The state of a live connection.
pub async fn find(on: impl Into<On<'_>>, tenant: &Tenant, id: &str) -> Result<Option<RefreshState>> {
    let sql = "select credentials_version, refresh_claimed_until, refresh_blocked_until, refresh_failures, \
               refresh_token_expires_at, grant_client, grant_key from connections \
               where organization_id = $1 and application_id = $2 and id = $3 and deleted_at is null";
    let of = query(sql).bind(&tenant.organization_id).bind(&tenant.application_id).bind(id);
    of.fetch_optional(on, refresh_state).await
}

/// The owner and expiry of a claim to request new tokens.
#[derive(Clone, Debug)]
pub struct RefreshClaim {
    /// A host's boot.
    pub owner: String,
    /// Milliseconds since 1970.
    pub now: i64,
    pub until: i64,
}

/// Claims the right to request tokens that replace those of `version`. False: another host has the claim, or the credentials have
/// changed.
pub async fn claim(tx: &mut Tx, tenant: &Tenant, id: &str, version: i64, by: &RefreshClaim) -> Result<bool> {
    let sql = "update connections set refresh_claimed_by = $1, refresh_claimed_until = $2 \
               where organization_id = $3 and application_id = $4 and id = $5 and deleted_at is null \
               and credentials_version = $6 and coalesce(refresh_claimed_until, 0) <= $7";
    let claimed = query(sql)
        .bind(&by.owner)
        .bind(by.until)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(id)
        .bind(version)
        .bind(by.now)
        .execute(tx)
        .await?;
    Ok(claimed == 1)
}

/// Releases a claim; one of another owner stays.
pub async fn release(tx: &mut Tx, tenant: &Tenant, id: &str, owner: &str) -> Result<()> {
    let sql = "update connections set refresh_claimed_by = null, refresh_claimed_until = null \
               where organization_id = $1 and application_id = $2 and id = $3 and refresh_claimed_by = $4";
    let of = query(sql).bind(&tenant.organization_id).bind(&tenant.application_id).bind(id).bind(owner);
    of.execute(tx).await?;
    Ok(())
}

/// Records a failure, the `failures`th in a row: the authorization server gets no request before `until`, in milliseconds since
/// 1970. Ends the claim.
pub async fn block(tx: &mut Tx, lock: &ConnectionLock, until: i64, failures: i64) -> Result<()> {
    let sql = "update connections set refresh_blocked_until = $1, refresh_failures = $2, refresh_claimed_by = null, \
               refresh_claimed_until = null where id = $3 and deleted_at is null";
    query(sql).bind(until).bind(failures).bind(&lock.id).execute(tx).await?;
    Ok(())
}

/// Clears failures and a claim: new tokens were stored, in the same transaction. `refresh_token_expires_at` in milliseconds since
/// 1970; none: the stored value stays.
pub async fn renewed(
    tx: &mut Tx,
    lock: &ConnectionLock,
    refresh_token_expires_at: Option<i64>,
) -> Result<()> {
    let sql = "update connections set refresh_blocked_until = null, refresh_failures = 0, refresh_claimed_by = null, \
               refresh_claimed_until = null, refresh_token_expires_at = coalesce($1, refresh_token_expires_at) \
               where id = $2 and deleted_at is null";
    query(sql).bind(refresh_token_expires_at).bind(&lock.id).execute(tx).await?;
    Ok(())
}

/// Stores the grant that a connection has from now on, and deletes the record of an earlier one.
pub async fn set_grant(
    tx: &mut Tx,
    tenant: &Tenant,
    id: &str,
    grant: &Grant,
    refresh_token_expires_at: Option<i64>,
) -> Result<()> {
    let sql = "update connections set grant_client = $1, grant_key = $2, refresh_token_expires_at = $3, \
               refresh_blocked_until = null, refresh_failures = 0, refresh_claimed_by = null, refresh_claimed_until = null \
               where organization_id = $4 and application_id = $5 and id = $6 and deleted_at is null";
    query(sql)
        .bind(&grant.client)
        .bind(&grant.key)
        .bind(refresh_token_expires_at)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(id)
        .execute(tx)
        .await?;
    Ok(())
}

/// Whether a live connection of any tenant has this grant, or an account that waits for its code. Where the account is unknown:
/// whether one has the same client.
pub async fn is_in_use(reader: &Reader, grant: &Grant) -> Result<bool> {
    let (statements, value) = match &grant.key {
        Some(key) => (
            [
                "select id from connections where grant_key = $1 and deleted_at is null limit 1",
                "select state_hash as id from authorizations where grant_key = $1 limit 1",
            ],
            key,
        ),
        None => (
            [
                "select id from connections where grant_client = $1 and deleted_at is null limit 1",
                "select state_hash as id from authorizations where grant_client = $1 limit 1",
            ],
            &grant.client,
        ),
    };
    for sql in statements {
        let found = query(sql).bind(value).fetch_optional(reader, |row| row.get::<String>("id")).await?;
        if found.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}
