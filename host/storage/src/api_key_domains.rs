//! Sites that may call the API from a browser: the allowed domains of the keys that work. Table:
//! `migrations/0074_api_key_domains.*.sql`. Rows are written and removed with their key, in its transaction, so that a check need
//! not read the key itself.

use anyhow::Result;
use base::tenant::Tenant;

use crate::Tx;
use crate::dialect::each_text_of;
use crate::json_text;
use crate::sql::{Reader, query};

/// Whether a key that works at `now` (milliseconds since 1970) names this site's host, in lower case.
pub async fn is_known(reader: &Reader, domain: &str, now: i64) -> Result<bool> {
    let sql = "select key_id from api_key_domains where domain = $1 and live_until > $2 limit 1";
    let found = query(sql).bind(domain).bind(now).fetch_optional(reader, |row| row.get::<String>("key_id"));
    Ok(found.await?.is_some())
}

/// Writes the domains of a new key. For an access token, the domains of its key (`parent`) are left out: a token never works when
/// its key does not.
pub(crate) async fn insert(
    tx: &mut Tx,
    (key_id, parent): (&str, Option<&str>),
    domains: &[String],
    expires_at: Option<i64>,
) -> Result<()> {
    if domains.is_empty() {
        return Ok(());
    }
    let sql = each_text_of!(
        tx,
        "insert into api_key_domains (key_id, domain, live_until) select $1, value, $2",
        "$3",
        " where not exists (select 1 from api_key_domains o where o.key_id = $4 and o.domain = value) \
         on conflict do nothing"
    );
    query(sql)
        .bind(key_id)
        .bind(expires_at.unwrap_or(i64::MAX))
        .bind(json_text(domains))
        .bind(parent.unwrap_or_default())
        .execute(tx)
        .await?;
    Ok(())
}

/// Removes the domains of a key that is revoked.
pub(crate) async fn remove_of_key(tx: &mut Tx, key_id: &str) -> Result<()> {
    query("delete from api_key_domains where key_id = $1").bind(key_id).execute(tx).await?;
    Ok(())
}

/// Removes the domains of the access tokens of a key, which are revoked with it.
pub(crate) async fn remove_of_tokens(tx: &mut Tx, key_id: &str) -> Result<()> {
    let sql = "delete from api_key_domains where key_id in (select id from api_keys where kind <> 'key' and created_by = $1 \
               and application_id = (select application_id from api_keys where id = $1))";
    query(sql).bind(key_id).execute(tx).await?;
    Ok(())
}

/// Removes the domains of the access tokens of a grant, which are revoked with it.
pub(crate) async fn remove_of_grant(tx: &mut Tx, grant_id: &str) -> Result<()> {
    let sql = "delete from api_key_domains where key_id in (select id from api_keys where grant_id = $1)";
    query(sql).bind(grant_id).execute(tx).await?;
    Ok(())
}

/// Removes the domains of the access tokens of a connection, which are revoked with it.
pub(crate) async fn remove_of_connection(tx: &mut Tx, tenant: &Tenant, connection_id: &str) -> Result<()> {
    let sql = "delete from api_key_domains where key_id in (select id from api_keys where grant_id in \
               (select id from token_grants where organization_id = $1 and application_id = $2 and connection_id = $3))";
    query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(connection_id)
        .execute(tx)
        .await?;
    Ok(())
}

/// Removes at most `limit` rows of keys that expired before then. Returns how many it removed.
pub(crate) async fn remove_expired(tx: &mut Tx, before: i64, limit: i64) -> Result<i64> {
    let sql = "delete from api_key_domains where (key_id, domain) in \
               (select key_id, domain from api_key_domains where live_until < $1 order by live_until limit $2)";
    let done = query(sql).bind(before).bind(limit).execute(tx).await?;
    Ok(i64::try_from(done).unwrap_or(i64::MAX))
}
