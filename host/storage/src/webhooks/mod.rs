//! Subscriptions to notifications (this file), their filters (`matching`), how far the log has been matched (`feeds`), deliveries
//! (`deliveries`, `delivery_list`) and replays (`replays`, `replay_lines`). Tables: `migrations/0060_webhooks.sql`.

pub mod cleaning;
pub mod deliveries;
pub mod delivery_list;
pub mod feeds;
pub mod held;
pub mod keys;
pub mod matching;
pub mod replay_lines;
pub mod replays;

use std::collections::BTreeMap;

use anyhow::Result;
use base::tenant::Tenant;
use model::webhook::{DeliveryFailure, DisabledReason, PayloadMode, SignatureVersion, WebhookStatus};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::LockRank;
use crate::Tx;
use crate::json;
use crate::json_text;
use crate::sql::{On, Query, Reader, Row, Value, query};

/// A subscription that is not deleted. All times are milliseconds since 1970.
#[derive(Clone, Debug, PartialEq)]
pub struct Webhook {
    pub id: String,
    pub tenant: Tenant,
    pub url: String,
    /// host:port of the URL.
    pub target: String,
    pub description: Option<String>,
    pub metadata: BTreeMap<String, String>,
    pub event_types: Vec<String>,
    /// Empty: all.
    pub connection_ids: Vec<String>,
    /// The connections of the key that created it; empty: all. Never changed.
    pub bound_to: Vec<String>,
    /// Families that the key may read which last set the event types or the URL.
    pub families: Vec<String>,
    /// The key or access token that last set the event types or the URL. None: the subscription is older than this column.
    pub key_id: Option<String>,
    /// When that key ends; none: it does not, as far as is known.
    pub ends_at: Option<i64>,
    pub payload_mode: PayloadMode,
    pub ordered: bool,
    pub include_backfill: bool,
    pub signatures: Vec<SignatureVersion>,
    /// Sealed JSON.
    pub headers: String,
    /// Sealed.
    pub secret: String,
    /// Sealed JSON: `[{secret, until}]`, newest first.
    pub previous_secrets: String,
    /// Sealed.
    pub signing_key: Option<String>,
    pub public_key: Option<String>,
    pub max_per_second: Option<i64>,
    pub max_concurrent: i64,
    /// `Active`, `Paused` or `Disabled`.
    pub status: WebhookStatus,
    pub disabled_reason: Option<DisabledReason>,
    /// Up to here in the log everything has an outcome, or is not for it.
    pub cursor: i64,
    pub consecutive_failures: i64,
    /// The first of these failures; none after a success.
    pub first_failure_at: Option<i64>,
    pub last_success_at: Option<i64>,
    pub last_failure_at: Option<i64>,
    pub last_failure: Option<DeliveryFailure>,
    pub etag: String,
    pub created_at: i64,
    pub updated_at: i64,
}

impl Webhook {
    /// Whether the key that it rests on has ended by `now`: then nothing is sent, and a job disables it.
    pub fn has_ended(&self, now: i64) -> bool {
        self.ends_at.is_some_and(|at| at <= now)
    }
}

fn webhook(row: &Row<'_>) -> Result<Webhook> {
    let disabled_reason: Option<String> = row.get("disabled_reason")?;
    let last_failure: Option<String> = row.get("last_failure")?;
    Ok(Webhook {
        id: row.get("id")?,
        tenant: Tenant {
            organization_id: row.get("organization_id")?,
            application_id: row.get("application_id")?,
        },
        url: row.get("url")?,
        target: row.get("target")?,
        description: row.get("description")?,
        metadata: json(row, "metadata")?,
        event_types: json(row, "event_types")?,
        connection_ids: json(row, "connection_ids")?,
        bound_to: json(row, "bound_to")?,
        families: json(row, "families")?,
        key_id: row.get("key_id")?,
        ends_at: row.get("ends_at")?,
        payload_mode: of_word(row.get("payload_mode")?)?,
        ordered: row.get::<i64>("ordered")? != 0,
        include_backfill: row.get::<i64>("include_backfill")? != 0,
        signatures: json(row, "signatures")?,
        headers: row.get("headers")?,
        secret: row.get("secret")?,
        previous_secrets: row.get("previous_secrets")?,
        signing_key: row.get("signing_key")?,
        public_key: row.get("public_key")?,
        max_per_second: row.get("max_per_second")?,
        max_concurrent: row.get("max_concurrent")?,
        status: of_word(row.get("status")?)?,
        disabled_reason: disabled_reason.map(of_word).transpose()?,
        cursor: row.get("cursor")?,
        consecutive_failures: row.get("consecutive_failures")?,
        first_failure_at: row.get("first_failure_at")?,
        last_success_at: row.get("last_success_at")?,
        last_failure_at: row.get("last_failure_at")?,
        last_failure: last_failure.map(|text| serde_json::from_str(&text)).transpose()?,
        etag: row.get("etag")?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}

/// A value of an enum of the model by the word that it is in JSON.
fn of_word<T: DeserializeOwned>(word: String) -> Result<T> {
    Ok(serde_json::from_value(serde_json::Value::String(word))?)
}

/// The word that a value of an enum is in JSON.
fn word<T: Serialize>(value: &T) -> String {
    json_text(value).trim_matches('"').to_owned()
}

/// A subscription of the application.
pub async fn find(on: impl Into<On<'_>>, tenant: &Tenant, id: &str) -> Result<Option<Webhook>> {
    let sql = "select * from webhooks where organization_id = $1 and application_id = $2 and id = $3 and deleted_at is null";
    query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(id)
        .fetch_optional(on, webhook)
        .await
}

/// The tenant of a subscription. For search alone, which checks afterwards whether its reader may see it.
pub async fn tenant_of(reader: &Reader, id: &str) -> Result<Option<Tenant>> {
    query("select organization_id, application_id from webhooks where id = $1 and deleted_at is null")
        .bind(id)
        .fetch_optional(reader, |row| {
            Ok(Tenant {
                organization_id: row.get("organization_id")?,
                application_id: row.get("application_id")?,
            })
        })
        .await
}

/// Subscriptions of the application in the order of their ids, after an id.
pub async fn list(reader: &Reader, tenant: &Tenant, after_id: &str, limit: i64) -> Result<Vec<Webhook>> {
    let sql = "select * from webhooks where organization_id = $1 and application_id = $2 and deleted_at is null \
               and id > $3 order by id limit $4";
    query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(after_id)
        .bind(limit)
        .fetch_all(reader, webhook)
        .await
}

/// How many subscriptions the application has.
pub async fn count(on: impl Into<On<'_>>, tenant: &Tenant) -> Result<i64> {
    query("select count(*) as n from webhooks where application_id = $1 and deleted_at is null")
        .bind(&tenant.application_id)
        .fetch_one(on, |row| row.get("n"))
        .await
}

/// The statement with the columns that its owner changes, as its first 24 parameters.
fn changeable<'q>(sql: &'static str, w: &'q Webhook) -> Query<'q> {
    query(sql)
        .bind(&w.url)
        .bind(&w.target)
        .bind(&w.description)
        .bind(json_text(&w.metadata))
        .bind(json_text(&w.event_types))
        .bind(json_text(&w.connection_ids))
        .bind(json_text(&w.families))
        .bind(word(&w.payload_mode))
        .bind(i64::from(w.ordered))
        .bind(i64::from(w.include_backfill))
        .bind(json_text(&w.signatures))
        .bind(&w.headers)
        .bind(&w.secret)
        .bind(&w.previous_secrets)
        .bind(&w.signing_key)
        .bind(&w.public_key)
        .bind(w.max_per_second)
        .bind(w.max_concurrent)
        .bind(word(&w.status))
        .bind(Value::Text(w.disabled_reason.map(|reason| word(&reason).into())))
        .bind(&w.etag)
        .bind(w.updated_at)
        .bind(&w.key_id)
        .bind(w.ends_at)
}

/// Writes a new subscription, which gets every event that is logged from now on. Returns its cursor; `w.cursor` and the outcomes in `w` are
/// ignored.
pub async fn insert(tx: &mut Tx, w: &Webhook) -> Result<i64> {
    let sql = "insert into webhooks (url, target, description, metadata, event_types, connection_ids, families, payload_mode, ordered, \
               include_backfill, signatures, headers, secret, previous_secrets, signing_key, public_key, max_per_second, max_concurrent, \
               status, disabled_reason, etag, updated_at, key_id, ends_at, id, organization_id, application_id, bound_to, created_at, \
               consecutive_failures, cursor) \
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, \
               $25, $26, $27, $28, $29, 0, (select last_sequence from applications where id = $27)) returning cursor";
    changeable(sql, w)
        .bind(&w.id)
        .bind(&w.tenant.organization_id)
        .bind(&w.tenant.application_id)
        .bind(json_text(&w.bound_to))
        .bind(w.created_at)
        .fetch_one(tx, |row| row.get("cursor"))
        .await
}

/// Writes the columns that its owner changes, and none of those that deliveries change. False when the stored version is not
/// `etag` any more, or the subscription is deleted: nothing is written.
pub async fn update(tx: &mut Tx, w: &Webhook, etag: &str) -> Result<bool> {
    tx.takes(LockRank::Webhook)?;
    let sql = "update webhooks set url = $1, target = $2, description = $3, metadata = $4, event_types = $5, connection_ids = $6, \
               families = $7, payload_mode = $8, ordered = $9, include_backfill = $10, signatures = $11, headers = $12, secret = $13, \
               previous_secrets = $14, signing_key = $15, public_key = $16, max_per_second = $17, max_concurrent = $18, status = $19, \
               disabled_reason = $20, etag = $21, updated_at = $22, key_id = $23, ends_at = $24 \
               where id = $25 and organization_id = $26 and application_id = $27 and etag = $28 and deleted_at is null";
    let changed = changeable(sql, w)
        .bind(&w.id)
        .bind(&w.tenant.organization_id)
        .bind(&w.tenant.application_id)
        .bind(etag)
        .execute(tx)
        .await?;
    Ok(changed == 1)
}

/// For a subscription whose filters change: events that the old filters did not match stay unsent. `looked_at` is the sequence up to which
/// the log has been matched with all subscriptions.
pub async fn settle(tx: &mut Tx, id: &str, looked_at: i64) -> Result<()> {
    tx.takes(LockRank::Webhook)?;
    let sql = "update webhooks set cursor = coalesce(wake_from - 1, $2) where id = $1 and cursor < coalesce(wake_from - 1, $2)";
    query(sql).bind(id).bind(looked_at).execute(tx).await?;
    Ok(())
}

/// Resumes a paused subscription where it stopped, but not before `floor`, up to which the log has been deleted.
pub async fn resume(tx: &mut Tx, id: &str, floor: i64) -> Result<()> {
    tx.takes(LockRank::Webhook)?;
    let sql = "update webhooks set cursor = case when cursor < $2 then $2 else cursor end, \
               wake_from = case when cursor < $2 then $2 + 1 else cursor + 1 end where id = $1";
    query(sql).bind(id).bind(floor).execute(tx).await?;
    Ok(())
}

/// Starts a disabled subscription again at the end of the log, with `updated_at` as the time of the restart: a run that works on its
/// earlier state has nothing more to send.
pub async fn restart(tx: &mut Tx, id: &str) -> Result<()> {
    tx.takes(LockRank::Webhook)?;
    let sql = "update webhooks set wake_from = null, restarted_at = updated_at, \
               cursor = (select last_sequence from applications where applications.id = webhooks.application_id) where id = $1";
    query(sql).bind(id).execute(tx).await?;
    Ok(())
}

/// Resets the health of its endpoint: earlier failures no longer count.
pub async fn forgive(tx: &mut Tx, id: &str) -> Result<()> {
    tx.takes(LockRank::Webhook)?;
    let sql = "update webhooks set consecutive_failures = 0, first_failure_at = null, not_before = null where id = $1";
    query(sql).bind(id).execute(tx).await?;
    Ok(())
}

/// Makes a tombstone: removes secrets, keeps the id. Returns false when the stored version is no longer `etag`, or it was deleted.
pub async fn delete(tx: &mut Tx, tenant: &Tenant, (id, etag): (&str, &str), now: i64) -> Result<bool> {
    tx.takes(LockRank::Webhook)?;
    let sql = "update webhooks set deleted_at = $1, updated_at = $1, headers = '', secret = '', previous_secrets = '', \
               signing_key = null, wake_from = null \
               where id = $2 and organization_id = $3 and application_id = $4 and etag = $5 and deleted_at is null";
    let deleted = query(sql)
        .bind(now)
        .bind(id)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(etag)
        .execute(tx)
        .await?;
    Ok(deleted == 1)
}
