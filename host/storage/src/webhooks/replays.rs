//! Notifications that were asked for again: who asked, for how many, and how far they got. Their deliveries are in `deliveries`, under the
//! replay's id. Tables: `migrations/0060_webhooks.sql`.

use std::collections::BTreeMap;

use anyhow::Result;
use base::tenant::Tenant;
use model::webhook::{ReplayStatus, WebhookStatus};
use serde_json::json;

use crate::LockRank;
use crate::Tx;
use crate::dialect::each_of;
use crate::json_text;
use crate::sql::{On, Row, query};
use crate::webhooks::{of_word, word};

/// A replay. All times are milliseconds since 1970.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    pub id: String,
    pub webhook_id: String,
    pub tenant: Tenant,
    /// The API key that asked for it.
    pub key_id: String,
    /// JSON: what was asked for.
    pub filter: String,
    /// Events that are sent again.
    pub event_count: i64,
    /// The number in the log of the last of them; 0 where there is none.
    pub last_sequence: i64,
    /// How many of them have arrived.
    pub sent: i64,
    /// How many of them were given up.
    pub failed: i64,
    pub status: ReplayStatus,
    pub created_at: i64,
    pub updated_at: i64,
}

fn replay(row: &Row<'_>) -> Result<Replay> {
    Ok(Replay {
        id: row.get("id")?,
        webhook_id: row.get("webhook_id")?,
        tenant: Tenant {
            organization_id: row.get("organization_id")?,
            application_id: row.get("application_id")?,
        },
        key_id: row.get("key_id")?,
        filter: row.get("filter")?,
        event_count: row.get("event_count")?,
        last_sequence: row.get("last_sequence")?,
        sent: row.get("sent")?,
        failed: row.get("failed")?,
        status: of_word(row.get("status")?)?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}

/// A replay of a subscription of the application.
pub async fn find(
    on: impl Into<On<'_>>,
    tenant: &Tenant,
    (webhook_id, id): (&str, &str),
) -> Result<Option<Replay>> {
    let sql = "select * from webhook_replays where organization_id = $1 and application_id = $2 and webhook_id = $3 and id = $4";
    query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(webhook_id)
        .bind(id)
        .fetch_optional(on, replay)
        .await
}

/// Locks a subscription until the commit, so that it is not paused, disabled or deleted meanwhile, and no other replay of it begins. Returns
/// how it stands; none where there is none.
pub async fn lock(tx: &mut Tx, tenant: &Tenant, webhook_id: &str) -> Result<Option<WebhookStatus>> {
    tx.takes(LockRank::Webhook)?;
    let sql = "update webhooks set cursor = cursor where id = $1 and organization_id = $2 and application_id = $3 \
               and deleted_at is null returning status";
    query(sql)
        .bind(webhook_id)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .fetch_optional(tx, |row| of_word(row.get("status")?))
        .await
}

/// How many replays of a subscription are under way.
pub async fn running(on: impl Into<On<'_>>, webhook_id: &str) -> Result<i64> {
    let sql = "select count(*) as n from webhook_replays where webhook_id = $1 and status = 'running'";
    query(sql).bind(webhook_id).fetch_one(on, |row| row.get("n")).await
}

/// Writes a new replay, of which all deliveries are written in the same transaction.
pub async fn insert(tx: &mut Tx, r: &Replay) -> Result<()> {
    tx.takes(LockRank::Delivery)?;
    let sql = "insert into webhook_replays (id, webhook_id, organization_id, application_id, key_id, filter, event_count, position, \
               last_sequence, sent, failed, status, created_at, updated_at) \
               values ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9, $10, $11, $12, $13)";
    query(sql)
        .bind(&r.id)
        .bind(&r.webhook_id)
        .bind(&r.tenant.organization_id)
        .bind(&r.tenant.application_id)
        .bind(&r.key_id)
        .bind(&r.filter)
        .bind(r.event_count)
        .bind(r.last_sequence)
        .bind(r.sent)
        .bind(r.failed)
        .bind(word(&r.status))
        .bind(r.created_at)
        .bind(r.updated_at)
        .execute(tx)
        .await?;
    Ok(())
}

/// Deliveries of one replay that have ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    pub sent: i64,
    pub failed: i64,
}

/// Adds deliveries that have ended to their replays, by the replays' ids: with its last one a replay is completed.
pub async fn count(tx: &mut Tx, ended: &BTreeMap<&str, Ended>, now: i64) -> Result<()> {
    let sql = each_of!(
        tx,
        "update webhook_replays set sent = webhook_replays.sent + c.sent, failed = webhook_replays.failed + c.failed, \
         status = case when webhook_replays.sent + c.sent + webhook_replays.failed + c.failed >= webhook_replays.event_count \
         then 'completed' else webhook_replays.status end, updated_at = $2 \
         from (select value ->> 'id' as id, cast(value ->> 'sent' as bigint) as sent, cast(value ->> 'failed' as bigint) as failed",
        "$1",
        ") as c where webhook_replays.id = c.id and webhook_replays.status = 'running'"
    );
    let rows: Vec<_> =
        ended.iter().map(|(id, e)| json!({ "id": id, "sent": e.sent, "failed": e.failed })).collect();
    query(sql).bind(json_text(&rows)).bind(now).execute(tx).await?;
    Ok(())
}

/// Ends the replays of a subscription that are under way: what has not arrived was given up.
pub async fn give_up(tx: &mut Tx, webhook_id: &str, now: i64) -> Result<()> {
    let sql = "update webhook_replays set status = 'failed', failed = event_count - sent, updated_at = $2 \
               where webhook_id = $1 and status = 'running'";
    query(sql).bind(webhook_id).bind(now).execute(tx).await?;
    Ok(())
}
