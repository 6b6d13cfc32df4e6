//! Authorization requests: from the URL that a client of Switchboard's OAuth requests, to the user's return, and to the code that the
//! client exchanges for tokens. Table: `migrations/0042_oauth_clients.sql`.

use anyhow::Result;
use base::tenant::Tenant;
use serde_json::{Map, Value};

use crate::Tx;
use crate::json;
use crate::json_text;
use crate::sql::{On, Row, query};
use crate::token_refresh::Grant;

/// A stored authorization request. `secrets` is sealed. Times are milliseconds since 1970.
#[derive(Clone, Debug)]
pub struct PendingAuthorization {
    /// HMAC of our `state` (RFC 6749, section 4.1.1).
    pub state_hash: String,
    pub tenant: Tenant,
    /// The API key that requested the URL.
    pub api_key_id: String,
    /// The connector's name.
    pub provider: String,
    pub oauth_client_id: String,
    pub oauth_client_version: i64,
    /// The client's registered redirect URI, to which the user returns in the end.
    pub redirect_uri: String,
    /// The address of this host to which the provider redirects the user.
    pub callback_uri: String,
    /// The issuer that the return's `iss` must equal (RFC 9207).
    pub issuer: Option<String>,
    /// Whether a return without `iss` is refused.
    pub requires_iss: bool,
    /// The provider's URLs as they were resolved; the return uses these and no others.
    pub endpoints: Map<String, Value>,
    /// Our scopes that the client requested.
    pub requested_scopes: Vec<String>,
    /// The provider's scopes that were requested.
    pub provider_scopes: Vec<String>,
    /// The connection that is authorized again; none for a new one.
    pub connection_id: Option<String>,
    /// `{tags}` of the connection to be created.
    pub options: Map<String, Value>,
    /// PKCE verifier, nonce, the client's `state`. `finish` empties it.
    pub secrets: String,
    /// The client's PKCE challenge (RFC 7636, method S256); with it the client gets a code.
    pub code_challenge: Option<String>,
    pub created_at: i64,
    pub expires_at: i64,
    pub claimed_by: Option<String>,
    pub claimed_at: Option<i64>,
    /// 0 until the first claim.
    pub fence: i64,
    pub finished_at: Option<i64>,
    /// As `finish` wrote it.
    pub outcome: Option<Value>,
    pub code_expires_at: Option<i64>,
    pub code_used_at: Option<i64>,
    pub grant_id: Option<String>,
    /// The account that waits for the exchange of the client's code, sealed. `release_account` empties it.
    pub account: Option<String>,
}

/// How an authorization request ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// When: milliseconds since 1970.
    pub at: i64,
    /// `{connectionId, status, missingScopes}` or `{error}`.
    pub result: Value,
    /// HMAC of the code that the client may exchange, and its expiry; none where the client requested no code.
    pub code: Option<(String, i64)>,
}

fn authorization(row: &Row<'_>) -> Result<PendingAuthorization> {
    let outcome: Option<String> = row.get("outcome")?;
    Ok(PendingAuthorization {
        state_hash: row.get("state_hash")?,
        tenant: Tenant {
            organization_id: row.get("organization_id")?,
            application_id: row.get("application_id")?,
        },
        api_key_id: row.get("api_key_id")?,
        provider: row.get("provider")?,
        oauth_client_id: row.get("oauth_client_id")?,
        oauth_client_version: row.get("oauth_client_version")?,
        redirect_uri: row.get("redirect_uri")?,
        callback_uri: row.get("callback_uri")?,
        issuer: row.get("issuer")?,
        requires_iss: row.get::<i64>("requires_iss")? != 0,
        endpoints: json(row, "endpoints")?,
        requested_scopes: json(row, "requested_scopes")?,
        provider_scopes: json(row, "provider_scopes")?,
        connection_id: row.get("connection_id")?,
        options: json(row, "options")?,
        secrets: row.get("secrets")?,
        code_challenge: row.get("code_challenge")?,
        created_at: row.get("created_at")?,
        expires_at: row.get("expires_at")?,
        claimed_by: row.get("claimed_by")?,
        claimed_at: row.get("claimed_at")?,
        fence: row.get("fence")?,
        finished_at: row.get("finished_at")?,
        outcome: outcome.map(|_| json(row, "outcome")).transpose()?,
        code_expires_at: row.get("code_expires_at")?,
        code_used_at: row.get("code_used_at")?,
        grant_id: row.get("grant_id")?,
        account: row.get("account")?,
    })
}

/// Inserts a new request: all columns up to `expires_at`. Later steps fill in the others.
pub async fn insert(tx: &mut Tx, a: &PendingAuthorization) -> Result<()> {
    let sql = "insert into authorizations (state_hash, organization_id, application_id, api_key_id, provider, oauth_client_id, \
               oauth_client_version, redirect_uri, callback_uri, issuer, requires_iss, endpoints, requested_scopes, \
               provider_scopes, connection_id, options, secrets, code_challenge, created_at, expires_at) \
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)";
    query(sql)
        .bind(&a.state_hash)
        .bind(&a.tenant.organization_id)
        .bind(&a.tenant.application_id)
        .bind(&a.api_key_id)
        .bind(&a.provider)
        .bind(&a.oauth_client_id)
        .bind(a.oauth_client_version)
        .bind(&a.redirect_uri)
        .bind(&a.callback_uri)
        .bind(&a.issuer)
        .bind(i64::from(a.requires_iss))
        .bind(json_text(&a.endpoints))
        .bind(json_text(&a.requested_scopes))
        .bind(json_text(&a.provider_scopes))
        .bind(&a.connection_id)
        .bind(json_text(&a.options))
        .bind(&a.secrets)
        .bind(&a.code_challenge)
        .bind(a.created_at)
        .bind(a.expires_at)
        .execute(&mut *tx)
        .await?;
    Ok(())
}

/// A query for the request with a hash of its `state`.
macro_rules! of_state {
    () => {
        "select * from authorizations where state_hash = $1"
    };
}

/// The request with this hash of its `state`, of any tenant: only the client that began it can know the `state`.
pub async fn find(on: impl Into<On<'_>>, hash: &str) -> Result<Option<PendingAuthorization>> {
    query(of_state!()).bind(hash).fetch_optional(on, authorization).await
}

/// The same, locked until the transaction ends.
pub async fn lock(tx: &mut Tx, hash: &str) -> Result<Option<PendingAuthorization>> {
    let sql = match tx {
        // SQLite runs write transactions one after the other anyway.
        Tx::Sqlite(_) => of_state!(),
        Tx::Postgres(_) => concat!(of_state!(), " for no key update"),
    };
    query(sql).bind(hash).fetch_optional(&mut *tx, authorization).await
}

/// Claims an unfinished request for `owner` and returns the fence of the claim. None: the request is finished, or another owner claimed it
/// at or after `stale` (Unix ms); an older claim is taken over.
pub async fn claim(tx: &mut Tx, hash: &str, owner: &str, now: i64, stale: i64) -> Result<Option<i64>> {
    let sql = "update authorizations set claimed_by = $1, claimed_at = $2, fence = fence + 1 \
               where state_hash = $3 and finished_at is null and (claimed_at is null or claimed_at < $4) returning fence";
    let claimed = query(sql).bind(owner).bind(now).bind(hash).bind(stale);
    claimed.fetch_optional(&mut *tx, |row| row.get("fence")).await
}

/// Ends the request and empties its secrets. False: it is finished already, or the fence is no longer this one; then the
/// transaction must not be committed. Where nothing is claimed (SQLite) the fence is that of the row: 0.
pub async fn finish(tx: &mut Tx, hash: &str, fence: i64, outcome: &Outcome) -> Result<bool> {
    let sql = "update authorizations set finished_at = $1, outcome = $2, code_hash = $3, code_expires_at = $4, secrets = '' \
               where state_hash = $5 and fence = $6 and finished_at is null";
    let (code_hash, code_expires_at) = outcome.code.clone().unzip();
    let done = query(sql)
        .bind(outcome.at)
        .bind(json_text(&outcome.result))
        .bind(&code_hash)
        .bind(code_expires_at)
        .bind(hash)
        .bind(fence)
        .execute(&mut *tx)
        .await?;
    Ok(done > 0)
}

/// A query for the request to which a code belongs.
macro_rules! of_code {
    () => {
        "select * from authorizations where code_hash = $1"
    };
}

/// Marks a code as used and returns its request, locked, as it was before: if `code_used_at` is set, the code had been used before (RFC
/// 6749, section 4.1.2). None: no code has this hash. The caller checks the client and the expiry: a rollback leaves the code usable, a
/// commit uses it up.
pub async fn use_code(tx: &mut Tx, code_hash: &str, now: i64) -> Result<Option<PendingAuthorization>> {
    let sql = match tx {
        // SQLite runs write transactions one after the other anyway.
        Tx::Sqlite(_) => of_code!(),
        Tx::Postgres(_) => concat!(of_code!(), " for no key update"),
    };
    let found = query(sql).bind(code_hash).fetch_optional(&mut *tx, authorization).await?;
    if let Some(found) = &found {
        query("update authorizations set code_used_at = $1 where state_hash = $2 and code_used_at is null")
            .bind(now)
            .bind(&found.state_hash)
            .execute(&mut *tx)
            .await?;
    }
    Ok(found)
}

/// Stores a sealed account until the code of its request is exchanged or expires. `grant` belongs to its tokens.
pub async fn hold_account(tx: &mut Tx, state_hash: &str, account: &str, grant: &Grant) -> Result<()> {
    let sql =
        "update authorizations set account = $1, grant_client = $2, grant_key = $3 where state_hash = $4";
    query(sql).bind(account).bind(&grant.client).bind(&grant.key).bind(state_hash).execute(tx).await?;
    Ok(())
}

/// Deletes the stored account of a request: it was connected, or dropped.
pub async fn release_account(tx: &mut Tx, state_hash: &str) -> Result<()> {
    let sql = "update authorizations set account = null, grant_client = null, grant_key = null where state_hash = $1";
    query(sql).bind(state_hash).execute(tx).await?;
    Ok(())
}

/// Records the grant for which a code was exchanged.
pub async fn set_grant(tx: &mut Tx, state_hash: &str, grant_id: &str) -> Result<()> {
    query("update authorizations set grant_id = $1 where state_hash = $2")
        .bind(grant_id)
        .bind(state_hash)
        .execute(&mut *tx)
        .await?;
    Ok(())
}

/// Removes at most `limit` requests that were created before this time and have no waiting account. Returns how many.
pub async fn clean(tx: &mut Tx, before: i64, limit: i64) -> Result<i64> {
    let sql = "delete from authorizations where state_hash in \
               (select state_hash from authorizations where created_at < $1 and account is null order by created_at limit $2)";
    let done = query(sql).bind(before).bind(limit).execute(tx).await?;
    Ok(i64::try_from(done).unwrap_or(i64::MAX))
}
