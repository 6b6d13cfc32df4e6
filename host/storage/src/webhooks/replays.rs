//! Replays of notifications: the key that requested them, the number of events, and the progress. Their deliveries are in
//! `deliveries`, under the replay's id. Deliveries of a range of the log are written step by step. Tables:
//! `migrations/0060_webhooks.sql`, `migrations/0063_webhook_replay_filters.sql` and `migrations/0077_replay_rows.sql`.

use std::collections::BTreeMap;

use anyhow::Result;
use base::tenant::Tenant;
use model::webhook::{ReplayFailure, ReplayStatus, WebhookStatus};
use serde_json::json;

use crate::LockRank;
use crate::Tx;
use crate::dialect::each_of;
use crate::json_text;
use crate::sql::{On, Row, Value, query};
use crate::webhooks::{of_word, word};

/// A replay. All times are milliseconds since 1970.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    pub id: String,
    pub webhook_id: String,
    pub tenant: Tenant,
    /// The API key that requested the replay.
    pub key_id: String,
    /// JSON: the filter of the request.
    pub filter: String,
    /// Events that are sent again; where `is_counted` is false, those that were found so far.
    pub event_count: i64,
    /// Whether the whole range was read at least once.
    pub is_counted: bool,
    /// Everything up to this number of the log has its delivery, or gets none.
    pub position: i64,
    /// The last sequence of the replay: when `position` has reached it, all deliveries are written.
    pub last_sequence: i64,
    /// When the event at `position` happened.
    pub reached_at: i64,
    /// Deliveries that were written so far.
    pub written: i64,
    /// The latest of the times at which they were due for the first time.
    pub due_until: i64,
    /// Number of deliveries that have arrived.
    pub sent: i64,
    /// Number of deliveries that failed for good.
    pub failed: i64,
    pub status: ReplayStatus,
    /// Why it failed.
    pub reason: Option<ReplayFailure>,
    pub created_at: i64,
    pub updated_at: i64,
}

fn replay(row: &Row<'_>) -> Result<Replay> {
    let reason: Option<String> = row.get("reason")?;
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
        is_counted: row.get::<i64>("is_counted")? != 0,
        position: row.get("position")?,
        last_sequence: row.get("last_sequence")?,
        reached_at: row.get("reached_at")?,
        written: row.get("written")?,
        due_until: row.get("due_until")?,
        sent: row.get("sent")?,
        failed: row.get("failed")?,
        status: of_word(row.get("status")?)?,
        reason: reason.map(of_word).transpose()?,
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

/// A replay of the application by its id alone.
pub async fn by_id(on: impl Into<On<'_>>, tenant: &Tenant, id: &str) -> Result<Option<Replay>> {
    let sql = "select * from webhook_replays where id = $1 and organization_id = $2 and application_id = $3";
    query(sql)
        .bind(id)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .fetch_optional(on, replay)
        .await
}

/// At most `limit` replays of a subscription with ids before `before_id`, newest first.
pub async fn list(
    on: impl Into<On<'_>>,
    tenant: &Tenant,
    (webhook_id, before_id): (&str, &str),
    limit: i64,
) -> Result<Vec<Replay>> {
    let sql = "select * from webhook_replays where organization_id = $1 and application_id = $2 and webhook_id = $3 \
               and id < $4 order by id desc limit $5";
    query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(webhook_id)
        .bind(before_id)
        .bind(limit)
        .fetch_all(on, replay)
        .await
}

/// Locks a subscription until the commit, so that until then it is not paused, disabled or deleted, and no other replay of it
/// begins. Returns its status; none where there is none.
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

/// The number of deliveries of a subscription's replays that are written and have not ended: of running replays, and of those
/// that a pause interrupted. Each of these replays has its own row, so that no delivery is read.
pub async fn waiting(on: impl Into<On<'_>>, webhook_id: &str) -> Result<i64> {
    let sql = "select cast(coalesce(sum(written - sent - failed), 0) as bigint) as n from webhook_replays \
               where webhook_id = $1 and written > sent + failed";
    query(sql).bind(webhook_id).fetch_one(on, |row| row.get("n")).await
}

/// Writes a new replay.
pub async fn insert(tx: &mut Tx, r: &Replay) -> Result<()> {
    tx.takes(LockRank::Delivery)?;
    let sql = "insert into webhook_replays (id, webhook_id, organization_id, application_id, key_id, filter, event_count, is_counted, \
               position, last_sequence, reached_at, written, due_until, sent, failed, status, reason, created_at, updated_at) \
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)";
    query(sql)
        .bind(&r.id)
        .bind(&r.webhook_id)
        .bind(&r.tenant.organization_id)
        .bind(&r.tenant.application_id)
        .bind(&r.key_id)
        .bind(&r.filter)
        .bind(r.event_count)
        .bind(i64::from(r.is_counted))
        .bind(r.position)
        .bind(r.last_sequence)
        .bind(r.reached_at)
        .bind(r.written)
        .bind(r.due_until)
        .bind(r.sent)
        .bind(r.failed)
        .bind(word(&r.status))
        .bind(Value::Text(r.reason.map(|reason| word(&reason).into())))
        .bind(r.created_at)
        .bind(r.updated_at)
        .execute(tx)
        .await?;
    Ok(())
}

/// The result of one step of a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Number up to which the log was read.
    pub position: i64,
    /// When the event there happened, in milliseconds since 1970.
    pub reached_at: i64,
    /// Deliveries that were written in the transaction of the step.
    pub written: i64,
    /// The latest of the times at which deliveries of the replay are due for the first time, in milliseconds since 1970.
    pub due_until: i64,
}

/// Records a step of a replay that was at `from`, in the transaction of the step's deliveries. The last step sets the final
/// number of events, and completes a replay whose deliveries have all ended. False when the replay is over, or no longer at
/// `from`: nothing is written.
pub async fn advance(tx: &mut Tx, (id, from): (&str, i64), step: &Step, now: i64) -> Result<bool> {
    tx.takes(LockRank::Delivery)?;
    let sql = "update webhook_replays set position = $3, reached_at = $4, written = written + $5, due_until = $6, \
               is_counted = case when $3 >= last_sequence then 1 else is_counted end, \
               event_count = case when $3 >= last_sequence or event_count < written + $5 then written + $5 else event_count end, \
               status = case when $3 >= last_sequence and sent + failed >= written + $5 then 'completed' else status end, \
               updated_at = $7 where id = $1 and position = $2 and status = 'running'";
    let advanced = query(sql)
        .bind(id)
        .bind(from)
        .bind(step.position)
        .bind(step.reached_at)
        .bind(step.written)
        .bind(step.due_until)
        .bind(now)
        .execute(tx)
        .await?;
    Ok(advanced == 1)
}

/// Ends a running replay, because its subscription is paused or disabled. Deliveries that were written wait until a paused
/// subscription is resumed; those of a disabled one are discarded.
pub async fn fail(tx: &mut Tx, id: &str, reason: ReplayFailure, now: i64) -> Result<()> {
    tx.takes(LockRank::Delivery)?;
    let sql = "update webhook_replays set status = 'failed', reason = $2, \
               failed = case when $2 = 'webhook_disabled' then written - sent else failed end, updated_at = $3 \
               where id = $1 and status = 'running'";
    query(sql).bind(id).bind(word(&reason)).bind(now).execute(tx).await?;
    Ok(())
}

/// Deliveries of one replay that have ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplayCounts {
    pub sent: i64,
    pub failed: i64,
}

/// Adds ended deliveries to the counts of their replays, by the replays' ids. A replay is completed when all of its deliveries
/// are written and have ended. One that failed because of a pause still counts the deliveries that it had written.
pub async fn count(tx: &mut Tx, ended: &BTreeMap<&str, ReplayCounts>, now: i64) -> Result<()> {
    let sql = each_of!(
        tx,
        "update webhook_replays set sent = webhook_replays.sent + c.sent, failed = webhook_replays.failed + c.failed, \
         status = case when webhook_replays.status = 'running' and webhook_replays.position >= webhook_replays.last_sequence \
         and webhook_replays.sent + c.sent + webhook_replays.failed + c.failed >= webhook_replays.written \
         then 'completed' else webhook_replays.status end, updated_at = $2 \
         from (select value ->> 'id' as id, cast(value ->> 'sent' as bigint) as sent, cast(value ->> 'failed' as bigint) as failed",
        "$1",
        ") as c where webhook_replays.id = c.id and (webhook_replays.status = 'running' or webhook_replays.reason = 'webhook_paused')"
    );
    let rows: Vec<_> =
        ended.iter().map(|(id, e)| json!({ "id": id, "sent": e.sent, "failed": e.failed })).collect();
    query(sql).bind(json_text(&rows)).bind(now).execute(tx).await?;
    Ok(())
}

/// Ends the running replays of a subscription, because it is disabled: the deliveries that had not arrived were discarded,
/// including those that a pause had left.
pub async fn give_up(tx: &mut Tx, webhook_id: &str, now: i64) -> Result<()> {
    for sql in [
        "update webhook_replays set status = 'failed', reason = 'webhook_disabled', failed = written - sent, updated_at = $2 \
         where webhook_id = $1 and status = 'running'",
        "update webhook_replays set reason = 'webhook_disabled', failed = written - sent, updated_at = $2 \
         where webhook_id = $1 and written > sent + failed and reason = 'webhook_paused'",
    ] {
        query(sql).bind(webhook_id).bind(now).execute(&mut *tx).await?;
    }
    Ok(())
}
