//! Who renews the tokens of a connection, and when that may be tried again: columns of `connections` that nothing else reads or writes.
//! Table: `migrations/0043_token_refresh.sql`.

use anyhow::Result;
use base::tenant::Tenant;

use crate::Tx;
use crate::locked::ConnectionLock;
use crate::sql::{On, Reader, Row, query};

/// What is known of the tokens of a live connection. All times are milliseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefreshState {
    /// Of the credentials: counted up with each change.
    pub version: i64,
    /// A host asks for new tokens until then at most.
    pub claimed_until: Option<i64>,
    /// The authorization server is not asked before then.
    pub blocked_until: Option<i64>,
    /// In a row.
    pub failures: i64,
    /// Where the provider tells.
    pub refresh_token_expires_at: Option<i64>,
    /// None: the connection has none that this host was given by OAuth.
    pub grant: Option<Grant>,
}

/// What an account has allowed to a client of ours, as far as it can be told from others: most providers have one for all tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Hash of the authorization server and the client id.
    pub client: String,
    /// Hash of these and the account; none: the account is not known.
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

/// Who claims the right to ask for new tokens, and for how long.
#[derive(Clone, Debug)]
pub struct Claim {
    /// A host's boot.
    pub owner: String,
    /// Milliseconds since 1970.
    pub now: i64,
    pub until: i64,
}

/// Claims the right to ask for tokens in the place of those of `version`. False: another host has it, or the credentials are others by now.
pub async fn claim(tx: &mut Tx, tenant: &Tenant, id: &str, version: i64, by: &Claim) -> Result<bool> {
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

/// Gives a claim back; one of another owner stays.
pub async fn release(tx: &mut Tx, tenant: &Tenant, id: &str, owner: &str) -> Result<()> {
    let sql = "update connections set refresh_claimed_by = null, refresh_claimed_until = null \
               where organization_id = $1 and application_id = $2 and id = $3 and refresh_claimed_by = $4";
    let of = query(sql).bind(&tenant.organization_id).bind(&tenant.application_id).bind(id).bind(owner);
    of.execute(tx).await?;
    Ok(())
}

/// Notes a failure, the `failures`th in a row: the authorization server is not asked before `until`, in milliseconds since 1970. A claim
/// ends with it.
pub async fn block(tx: &mut Tx, lock: &ConnectionLock, until: i64, failures: i64) -> Result<()> {
    let sql = "update connections set refresh_blocked_until = $1, refresh_failures = $2, refresh_claimed_by = null, \
               refresh_claimed_until = null where id = $3 and deleted_at is null";
    query(sql).bind(until).bind(failures).bind(&lock.id).execute(tx).await?;
    Ok(())
}

/// Forgets failures and a claim: new tokens were stored, in the same transaction. `refresh_token_expires_at` in milliseconds since 1970;
/// none: what was known of it stays.
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

/// Notes the grant that a connection has from now on, and forgets what was known of an earlier one.
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

/// Whether a live connection of whatever tenant has this grant, or an account that waits for its code. Where the account is not known:
/// whether one is of the same client.
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
