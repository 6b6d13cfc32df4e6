//! Former secrets of an API key, which work for a time after its rotation beside the present one. Table:
//! `migrations/0096_api_key_old_secrets.sql`.

use std::sync::Arc;

use anyhow::Result;

use crate::Tx;
use crate::api_keys::{self, ApiKey, api_key};
use crate::dialect::one_of;
use crate::json_text;
use crate::sql::{On, Reader, Row, query};

/// An old secret that still works, without the secret itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldSecret {
    pub prefix: String,
    pub last4: String,
    /// When another secret replaced it, milliseconds since 1970.
    pub created_at: i64,
    pub expires_at: i64,
}

/// A key, found by one of its secrets.
#[derive(Clone, Debug)]
pub struct PresentedKey {
    /// The key, with the beginning and the end of the presented secret, even if that is an old one.
    pub key: Arc<ApiKey>,
    /// The end of the secret, milliseconds since 1970; none: it is the present one, which ends with the key.
    pub secret_expires_at: Option<i64>,
}

/// The key whose present or earlier secret has this hash, of any tenant.
pub async fn find_key(reader: &Reader, hash: &str) -> Result<Option<PresentedKey>> {
    if let Some(key) = api_keys::by_hash(reader, hash).await? {
        return Ok(Some(PresentedKey { key: Arc::new(key), secret_expires_at: None }));
    }
    let sql = "select k.*, s.prefix as secret_prefix, s.last4 as secret_last4, s.expires_at as secret_expires_at \
               from api_key_old_secrets s cross join api_keys k where s.hash = $1 and k.id = s.key_id";
    let presented = |row: &Row<'_>| {
        let (prefix, last4) = (row.get("secret_prefix")?, row.get("secret_last4")?);
        Ok(PresentedKey {
            key: Arc::new(ApiKey { prefix, last4, ..api_key(row)? }),
            secret_expires_at: Some(row.get("secret_expires_at")?),
        })
    };
    query(sql).bind(hash).fetch_optional(reader, presented).await
}

/// The old secret of a key that works at `now`.
pub async fn find(on: impl Into<On<'_>>, key_id: &str, now: i64) -> Result<Option<OldSecret>> {
    let sql = "select prefix, last4, created_at, expires_at from api_key_old_secrets where key_id = $1 and expires_at > $2 \
               order by expires_at desc limit 1";
    let old_secret = |row: &Row<'_>| {
        Ok(OldSecret {
            prefix: row.get("prefix")?,
            last4: row.get("last4")?,
            created_at: row.get("created_at")?,
            expires_at: row.get("expires_at")?,
        })
    };
    query(sql).bind(key_id).bind(now).fetch_optional(on, old_secret).await
}

/// A working secret: its key, and the columns that lists show.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LiveSecret {
    pub key_id: String,
    pub prefix: String,
    pub last4: String,
}

/// The secrets of these keys that work at `now`: present ones, and old ones within their overlap.
pub async fn live_among(reader: &Reader, key_ids: &[String], now: i64) -> Result<Vec<LiveSecret>> {
    let sql = one_of!(
        reader,
        "select id as key_id, prefix, last4 from api_keys \
         where revoked_at is null and (expires_at is null or expires_at > $2) and id",
        "$1",
        " union all select s.key_id, s.prefix, s.last4 from api_key_old_secrets s cross join api_keys k \
         where k.id = s.key_id and k.revoked_at is null and (k.expires_at is null or k.expires_at > $2) \
         and s.expires_at > $2 and s.key_id",
        "$1",
        ""
    );
    let secret = |row: &Row<'_>| {
        Ok(LiveSecret { key_id: row.get("key_id")?, prefix: row.get("prefix")?, last4: row.get("last4")? })
    };
    query(sql).bind(json_text(key_ids)).bind(now).fetch_all(reader, secret).await
}

/// Stores the present secret of a key as an old one until then. The row gets another secret in the same transaction.
pub async fn keep_present(tx: &mut Tx, key_id: &str, now: i64, expires_at: i64) -> Result<()> {
    let sql = "insert into api_key_old_secrets (hash, key_id, prefix, last4, created_at, expires_at) \
               select hash, id, prefix, last4, cast($2 as bigint), cast($3 as bigint) from api_keys where id = $1";
    query(sql).bind(key_id).bind(now).bind(expires_at).execute(tx).await?;
    Ok(())
}

/// Ends the old secrets of a key. Returns how many there were.
pub async fn remove_of_key(tx: &mut Tx, key_id: &str) -> Result<u64> {
    query("delete from api_key_old_secrets where key_id = $1").bind(key_id).execute(tx).await
}

/// Removes at most `limit` secrets that expired before then. Returns how many it removed.
pub async fn expire(tx: &mut Tx, before: i64, limit: i64) -> Result<i64> {
    let sql = "delete from api_key_old_secrets where hash in \
               (select hash from api_key_old_secrets where expires_at < $1 order by expires_at limit $2)";
    let done = query(sql).bind(before).bind(limit).execute(tx).await?;
    Ok(i64::try_from(done).unwrap_or(i64::MAX))
}
