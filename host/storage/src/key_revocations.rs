//! The end of API keys: a revocation, with everything that depends on the key. Its access tokens and grants end with it; its
//! webhooks pass to a key with the same rights, or end too.

use std::collections::BTreeSet;

use anyhow::Result;
use base::tenant::Tenant;

use crate::Tx;
use crate::api_key_domains;
use crate::api_keys::{self, ApiKey, api_key};
use crate::old_secrets;
use crate::sql::query;
use crate::token_grants;
use crate::webhooks::keys::{self, KeyEnd};

/// The newest keys, among which a successor is searched.
const MAX_CANDIDATES: i64 = 1_000;

/// The fate of the webhooks that depend on a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyWebhooks {
    /// They pass to a later key with the same rights; they end where there is none.
    PassOn,
    /// They end.
    End,
}

/// Revokes a key of the tenant, with the access tokens and grants issued for it; false when there is none. Revoking again changes
/// nothing.
pub async fn revoke(tx: &mut Tx, tenant: &Tenant, id: &str, webhooks: KeyWebhooks, now: i64) -> Result<bool> {
    let sql = "update api_keys set revoked_at = $1 where organization_id = $2 and application_id = $3 and id = $4 \
               and revoked_at is null";
    let revoked = query(sql)
        .bind(now)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(id)
        .execute(&mut *tx)
        .await?;
    if revoked == 0 {
        return Ok(api_keys::find(&mut *tx, tenant, None, id).await?.is_some());
    }
    revoke_dependents(tx, id, webhooks, now).await?;
    Ok(true)
}

/// Revokes any key, with its access tokens and grants, for the operator's command; false when there is none.
pub async fn revoke_any(tx: &mut Tx, id: &str, webhooks: KeyWebhooks, now: i64) -> Result<bool> {
    let sql = "update api_keys set revoked_at = $1 where id = $2 and revoked_at is null";
    if query(sql).bind(now).bind(id).execute(&mut *tx).await? == 0 {
        return Ok(api_keys::find_any(&mut *tx, id).await?.is_some());
    }
    revoke_dependents(tx, id, webhooks, now).await?;
    Ok(true)
}

/// Ends everything that depends on a key that is revoked in the same transaction. The rows of keys are locked before those of
/// webhooks.
async fn revoke_dependents(tx: &mut Tx, id: &str, webhooks: KeyWebhooks, now: i64) -> Result<()> {
    api_key_domains::remove_of_key(tx, id).await?;
    old_secrets::remove_of_key(tx, id).await?;
    let sql = "update api_keys set revoked_at = coalesce(revoked_at, $1) where kind <> 'key' and created_by = $2 \
               and application_id = (select application_id from api_keys where id = $2)";
    query(sql).bind(now).bind(id).execute(&mut *tx).await?;
    api_key_domains::remove_of_tokens(tx, id).await?;
    token_grants::revoke_of_key(tx, id, now).await?;
    let mut ends: Vec<KeyEnd> = Vec::new();
    if webhooks == KeyWebhooks::PassOn
        && let Some(key) = api_keys::find_any(&mut *tx, id).await?
    {
        ends.extend(pass_on(tx, &key, now).await?);
    }
    ends.extend(keys::end(tx, id, &etag(id, now), now).await?);
    schedule(tx, &ends, now).await
}

/// Passes the webhooks of a key that has expired by `now` to a key with the same rights, where there is one. Those of a revoked
/// key were passed on, or not, when it was revoked; those of an access token never are.
pub async fn pass_on_expired(tx: &mut Tx, id: &str, now: i64) -> Result<()> {
    let Some(key) = api_keys::find_any(&mut *tx, id).await? else { return Ok(()) };
    if key.revoked_at.is_some() || key.expires_at.is_none_or(|at| at > now) {
        return Ok(());
    }
    let end = pass_on(tx, &key, now).await?;
    schedule(tx, end.as_slice(), now).await
}

/// Passes the webhooks of a key to a key with the same rights. Returns when they end there, if they do.
async fn pass_on(tx: &mut Tx, key: &ApiKey, now: i64) -> Result<Option<KeyEnd>> {
    if key.is_token() || !keys::is_used(&mut *tx, &key.id).await? {
        return Ok(None);
    }
    let heir = loop {
        let Some(heir) = successor(tx, key, now).await? else { return Ok(None) };
        // Locked: a revocation of that key on another host waits, and then finds these webhooks. If it was faster, another
        // successor is searched.
        if api_keys::hold(tx, &heir.tenant, &heir.id).await? {
            break heir;
        }
    };
    keys::pass_on(tx, &key.id, &heir.id, heir.expires_at, &etag(&heir.id, now)).await?;
    Ok(heir.expires_at.map(|at| KeyEnd { tenant: heir.tenant.clone(), key_id: heir.id.clone(), at }))
}

/// The new version of webhooks that a key's end changes.
fn etag(key_id: &str, now: i64) -> String {
    format!("\"{now:x}{key_id}\"")
}

async fn schedule(tx: &mut Tx, ends: &[KeyEnd], now: i64) -> Result<()> {
    for end in ends {
        keys::schedule(tx, end, now).await?;
    }
    Ok(())
}

/// The successor to which a key was rotated: the newest key that works, was made after this one and has its rights.
// Contract silent: a key is rotated by making another one, moving to it, and revoking the old one. The webhooks of an application outlive
// that. So they pass to a later key with the very same scopes and connections, and to no other: what a key with fewer or other rights made
// ends with it, and so does what a key made that was given out beside an older one like it.
async fn successor(tx: &mut Tx, key: &ApiKey, now: i64) -> Result<Option<ApiKey>> {
    let sql = "select * from api_keys where organization_id = $1 and application_id = $2 and kind = 'key' and id <> $3 \
               and created_at >= $4 and revoked_at is null and (expires_at is null or expires_at > $5) order by id desc limit $6";
    let candidates = query(sql)
        .bind(&key.tenant.organization_id)
        .bind(&key.tenant.application_id)
        .bind(&key.id)
        .bind(key.created_at)
        .bind(now)
        .bind(MAX_CANDIDATES)
        .fetch_all(&mut *tx, api_key)
        .await?;
    Ok(candidates.into_iter().find(|other| rights(other) == rights(key)))
}

/// Scopes and connections; no connections means all of them.
fn rights(key: &ApiKey) -> (BTreeSet<&str>, BTreeSet<&str>) {
    (distinct(&key.scopes), distinct(&key.connection_ids))
}

fn distinct(texts: &[String]) -> BTreeSet<&str> {
    texts.iter().map(String::as_str).collect()
}
