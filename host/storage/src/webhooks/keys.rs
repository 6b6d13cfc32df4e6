//! Subscriptions and the API keys that they depend on: a subscription ends with the key, or access token, that last set its
//! content and URL. Table: `migrations/0082_webhook_keys.sql`.

use anyhow::Result;
use base::tenant::Tenant;

use crate::LockRank;
use crate::Tx;
use crate::dialect::in_order_among;
use crate::jobs::{self, NewJob};
use crate::json_text;
use crate::sql::{On, Row, query};
use crate::wakes::JobClass;

/// The kind of the jobs that disable subscriptions whose key has ended; a job's key is the API key's id.
pub const JOB: &str = "webhook_key";

/// The time at which subscriptions of a key end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyEnd {
    pub tenant: Tenant,
    pub key_id: String,
    /// Milliseconds since 1970.
    pub at: i64,
}

/// A subscription that has ended and is not disabled yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedWebhook {
    pub id: String,
    pub tenant: Tenant,
    /// host:port of the URL.
    pub target: String,
}

fn tenant(row: &Row<'_>) -> Result<Tenant> {
    Ok(Tenant { organization_id: row.get("organization_id")?, application_id: row.get("application_id")? })
}

/// Enqueues the job that disables the subscriptions of a key when they end.
pub async fn schedule(tx: &mut Tx, end: &KeyEnd, now: i64) -> Result<()> {
    let job = NewJob {
        kind: JOB,
        key: &end.key_id,
        class: JobClass::Upkeep,
        tenant: &end.tenant,
        connection_id: None,
        target: "",
        due_at: Some(end.at),
        args: None,
    };
    jobs::enqueue(tx, &job, now).await
}

/// Whether a subscription depends on this key.
pub async fn is_used(on: impl Into<On<'_>>, key_id: &str) -> Result<bool> {
    let sql = "select id from webhooks where key_id = $1 and deleted_at is null limit 1";
    Ok(query(sql).bind(key_id).fetch_optional(on, |row| row.get::<String>("id")).await?.is_some())
}

/// Moves the subscriptions of one key to another one, which ends at `ends_at` (milliseconds since 1970). `etag` is their new
/// version.
pub async fn pass_on(tx: &mut Tx, from: &str, to: &str, ends_at: Option<i64>, etag: &str) -> Result<()> {
    tx.takes(LockRank::Webhook)?;
    let sql =
        "update webhooks set key_id = $2, ends_at = $3, etag = $4 where key_id = $1 and deleted_at is null";
    query(sql).bind(from).bind(to).bind(ends_at).bind(etag).execute(tx).await?;
    Ok(())
}

/// Ends the subscriptions that depend on a key, and on the access tokens that were issued for it: nothing is sent from `now` on.
/// `etag` is their new version, so that a change that is being planned is planned again. Returns the keys and tokens whose
/// subscriptions are to be disabled.
pub async fn end(tx: &mut Tx, key_id: &str, etag: &str, now: i64) -> Result<Vec<KeyEnd>> {
    tx.takes(LockRank::Webhook)?;
    let mut ended: Vec<KeyEnd> = Vec::new();
    for sql in [
        "update webhooks set ends_at = $2, etag = $3 where key_id = $1 and (ends_at is null or ends_at > $2) \
         and deleted_at is null returning key_id, organization_id, application_id",
        "update webhooks set ends_at = $2, etag = $3 where key_id in (select id from api_keys where kind <> 'key' and created_by = $1 \
         and application_id = (select application_id from api_keys where id = $1)) \
         and (ends_at is null or ends_at > $2) and deleted_at is null returning key_id, organization_id, application_id",
    ] {
        let end = |row: &Row<'_>| Ok(KeyEnd { tenant: tenant(row)?, key_id: row.get("key_id")?, at: now });
        let rows = query(sql).bind(key_id).bind(now).bind(etag).fetch_all(&mut *tx, end).await?;
        ended.extend(rows);
    }
    ended.sort_by(|a, b| a.key_id.cmp(&b.key_id));
    ended.dedup();
    Ok(ended)
}

/// At most `limit` subscriptions of a key that have ended by `now` and are not disabled, in the order of their ids, after an id.
pub async fn ended(
    on: impl Into<On<'_>>,
    key_id: &str,
    after_id: &str,
    now: i64,
    limit: i64,
) -> Result<Vec<EndedWebhook>> {
    let sql = "select id, organization_id, application_id, target from webhooks where key_id = $1 and id > $2 \
               and ends_at <= $3 and status <> 'disabled' and deleted_at is null order by id limit $4";
    let webhook = |row: &Row<'_>| {
        Ok(EndedWebhook { id: row.get("id")?, tenant: tenant(row)?, target: row.get("target")? })
    };
    query(sql).bind(key_id).bind(after_id).bind(now).bind(limit).fetch_all(on, webhook).await
}

/// The earliest end of the subscriptions of a key that are not disabled, in milliseconds since 1970.
pub async fn next_end(on: impl Into<On<'_>>, key_id: &str) -> Result<Option<i64>> {
    let sql = "select min(ends_at) as at from webhooks where key_id = $1 and status <> 'disabled' and deleted_at is null";
    query(sql).bind(key_id).fetch_one(on, |row| row.get("at")).await
}

/// Disables subscriptions with these ids that have ended by `now` and are not disabled. `etag` is their new version. Returns how many they
/// are.
pub async fn disable(tx: &mut Tx, ids: &[String], etag: &str, now: i64) -> Result<usize> {
    tx.takes(LockRank::Webhook)?;
    let sql = in_order_among!(
        tx,
        "webhooks",
        "update webhooks set status = 'disabled', disabled_reason = 'key_ended', etag = $2, \
         updated_at = case when updated_at < $3 then $3 else updated_at + 1 end, wake_from = null, not_before = null \
         where ends_at <= $3 and status <> 'disabled' and deleted_at is null and id",
        "$1"
    );
    let disabled = query(sql).bind(json_text(ids)).bind(etag).bind(now).execute(tx).await?;
    Ok(usize::try_from(disabled).unwrap_or(usize::MAX))
}
