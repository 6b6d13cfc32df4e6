//! Deliveries of notifications to subscriptions, and the health of their endpoints. Tables: `migrations/0060_webhooks.sql`.
//!
//! The log is the queue: each subscription has a cursor in it, below which every event has a delivery or does not match. A delivery is
//! stored with its first result.

use std::borrow::Cow;
use std::collections::BTreeMap;

use anyhow::Result;
use base::tenant::Tenant;
use model::webhook::{Attempt, DeliveryStatus};
use serde_json::json;

use crate::LockRank;
use crate::Tx;
use crate::dialect::each_of;
use crate::json;
use crate::json_text;
use crate::sql::{On, Reader, Row, query};
use crate::webhooks::matching::{Filters, filters};
use crate::webhooks::replays::{self, ReplayCounts};

/// Highest number up to which waiting deliveries are counted.
const MOST_COUNTED: i64 = 20_000;

/// The health of an endpoint, judged by its answers so far. All times are milliseconds since 1970.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Health {
    /// Time until which the endpoint asked for a pause, or until its next probe.
    pub not_before: Option<i64>,
    /// The first of the failures in a row.
    pub first_failure_at: Option<i64>,
    /// Failures since the last success.
    pub consecutive_failures: i64,
    pub last_success_at: Option<i64>,
    pub last_failure_at: Option<i64>,
    /// JSON of a `model::webhook::DeliveryFailure`.
    pub last_failure: Option<String>,
}

/// A subscription with the columns that deliveries need.
#[derive(Clone, Debug)]
pub struct Endpoint {
    pub tenant: Tenant,
    pub filters: Filters,
    pub url: String,
    /// `full` or `thin`.
    pub payload_mode: String,
    /// `v1`, `v1a`.
    pub signatures: Vec<String>,
    /// Sealed JSON.
    pub headers: String,
    /// Sealed.
    pub secret: String,
    /// Sealed JSON.
    pub previous_secrets: String,
    /// Sealed.
    pub signing_key: Option<String>,
    /// Attempts at a time.
    pub max_concurrent: i64,
    /// Attempts that may begin in a second; none: no limit.
    pub max_per_second: Option<i64>,
    /// Whether an event waits for the earlier ones of its resource.
    pub ordered: bool,
    /// `active`, `paused` or `disabled`.
    pub status: String,
    /// Sequence up to which every event has a delivery or does not match.
    pub cursor: i64,
    /// Sequence from which events for the subscription may exist; none: nothing to deliver.
    pub wake_from: Option<i64>,
    /// Deliveries that wait for an earlier one of their resource; counted up to `MOST_COUNTED`.
    pub held: i64,
    pub health: Health,
    /// Changes with every edit by its owner, and with nothing else.
    pub updated_at: i64,
    /// Expiry of the key that it depends on, ms since 1970; none: not known to expire.
    pub ends_at: Option<i64>,
}

impl Endpoint {
    /// Whether the key that the subscription depends on has expired by `now`: then nothing is sent.
    pub fn has_ended(&self, now: i64) -> bool {
        self.ends_at.is_some_and(|at| at <= now)
    }
}

fn endpoint(row: &Row<'_>) -> Result<Endpoint> {
    Ok(Endpoint {
        tenant: Tenant {
            organization_id: row.get("organization_id")?,
            application_id: row.get("application_id")?,
        },
        filters: filters(row)?,
        url: row.get("url")?,
        payload_mode: row.get("payload_mode")?,
        signatures: json(row, "signatures")?,
        headers: row.get("headers")?,
        secret: row.get("secret")?,
        previous_secrets: row.get("previous_secrets")?,
        signing_key: row.get("signing_key")?,
        max_concurrent: row.get("max_concurrent")?,
        max_per_second: row.get("max_per_second")?,
        ordered: row.get::<i64>("ordered")? != 0,
        status: row.get("status")?,
        cursor: row.get("cursor")?,
        wake_from: row.get("wake_from")?,
        held: row.get("held")?,
        health: Health {
            not_before: row.get("not_before")?,
            first_failure_at: row.get("first_failure_at")?,
            consecutive_failures: row.get("consecutive_failures")?,
            last_success_at: row.get("last_success_at")?,
            last_failure_at: row.get("last_failure_at")?,
            last_failure: row.get("last_failure")?,
        },
        updated_at: row.get("updated_at")?,
        ends_at: row.get("ends_at")?,
    })
}

/// Finds a subscription that is not deleted.
pub async fn find_endpoint(on: impl Into<On<'_>>, webhook_id: &str) -> Result<Option<Endpoint>> {
    let sql = "select *, (select count(*) from (select 1 from webhook_deliveries where webhook_id = $1 and status = 'pending' \
               and next_attempt_at is null limit $2) as h) as held from webhooks where id = $1 and deleted_at is null";
    query(sql).bind(webhook_id).bind(MOST_COUNTED).fetch_optional(on, endpoint).await
}

/// The state of a subscription that is not deleted, and the bytes of the resource in the log entry with this number; 0: there is
/// no such entry, or it has no resource.
pub async fn standing_at(
    reader: &Reader,
    (tenant, webhook_id): (&Tenant, &str),
    sequence: i64,
) -> Result<Option<(SubscriptionState, i64)>> {
    // `octet_length` knows the length of a stored text without reading the text.
    let sql = "select status, updated_at, restarted_at, ends_at, coalesce((select cast(octet_length(l.resource) as bigint) from log l \
               where l.application_id = $2 and l.organization_id = $3 and l.sequence = $4), 0) as bytes \
               from webhooks where id = $1 and deleted_at is null";
    query(sql)
        .bind(webhook_id)
        .bind(&tenant.application_id)
        .bind(&tenant.organization_id)
        .bind(sequence)
        .fetch_optional(reader, |row| Ok((standing_of(row)?, row.get("bytes")?)))
        .await
}

/// The state of one notification to one subscription, or of one replay of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Delivery {
    pub id: String,
    /// The number of the event in the log.
    pub sequence: i64,
    /// Empty: it is no replay.
    pub replay_id: String,
    pub event_id: String,
    /// The resource of the event: events of one resource are delivered one after the other.
    pub resource_id: String,
    pub status: DeliveryStatus,
    /// At most 12.
    pub attempts: Vec<Attempt>,
    /// Milliseconds since 1970, if the delivery is `pending`.
    pub next_attempt_at: Option<i64>,
}

pub(crate) fn delivery(row: &Row<'_>) -> Result<Delivery> {
    Ok(Delivery {
        id: row.get("id")?,
        sequence: row.get("sequence")?,
        replay_id: row.get("replay_id")?,
        event_id: row.get("event_id")?,
        resource_id: row.get("resource_id")?,
        status: serde_json::from_value(row.get::<String>("status")?.into())?,
        attempts: json(row, "attempts")?,
        next_attempt_at: row.get("next_attempt_at")?,
    })
}

/// Deliveries whose next attempt is due at `now`: by due time, then by the event.
pub async fn due(reader: &Reader, webhook_id: &str, now: i64, limit: i64) -> Result<Vec<Delivery>> {
    let sql = "select id, sequence, replay_id, event_id, resource_id, status, attempts, next_attempt_at from webhook_deliveries \
               where webhook_id = $1 and status = 'pending' and next_attempt_at is not null and next_attempt_at <= $2 \
               order by next_attempt_at, sequence limit $3";
    query(sql).bind(webhook_id).bind(now).bind(limit).fetch_all(reader, delivery).await
}

/// When the next attempt of a subscription is due, in milliseconds since 1970.
pub async fn next_due(on: impl Into<On<'_>>, webhook_id: &str) -> Result<Option<i64>> {
    let sql = "select next_attempt_at from webhook_deliveries \
               where webhook_id = $1 and status = 'pending' and next_attempt_at is not null order by next_attempt_at limit 1";
    query(sql).bind(webhook_id).fetch_optional(on, |row| row.get("next_attempt_at")).await
}

/// The sequences after `after`, up to `last`, that already have a delivery.
pub async fn written(reader: &Reader, webhook_id: &str, after: i64, last: i64) -> Result<Vec<i64>> {
    let sql = "select sequence from webhook_deliveries \
               where webhook_id = $1 and sequence > $2 and sequence <= $3 and replay_id = '' order by sequence";
    let statement = query(sql).bind(webhook_id).bind(after).bind(last);
    statement.fetch_all(reader, |row| row.get("sequence")).await
}

/// The state of a subscription: `updated_at` changes with everything that its owner changes.
#[derive(Clone, Debug, PartialEq)]
pub struct SubscriptionState {
    /// `active`, `paused` or `disabled`.
    pub status: String,
    /// See `Endpoint`.
    pub updated_at: i64,
    /// The `updated_at` of its last activation after it was disabled; none: it never was.
    pub restarted_at: Option<i64>,
    /// See `Endpoint`.
    pub ends_at: Option<i64>,
}

impl SubscriptionState {
    /// See `Endpoint::has_ended`.
    pub fn has_ended(&self, now: i64) -> bool {
        self.ends_at.is_some_and(|at| at <= now)
    }
}

fn standing_of(row: &Row<'_>) -> Result<SubscriptionState> {
    Ok(SubscriptionState {
        status: row.get("status")?,
        updated_at: row.get("updated_at")?,
        restarted_at: row.get("restarted_at")?,
        ends_at: row.get("ends_at")?,
    })
}

/// The progress of a run that worked on the version of a subscription from `updated_at`.
#[derive(Clone, Copy, Debug)]
pub struct DeliveryProgress<'a> {
    /// Up to here in the log everything has a delivery, or is not for the subscription.
    pub cursor: i64,
    /// The health of the endpoint.
    pub health: &'a Health,
    /// See `Endpoint`.
    pub updated_at: i64,
}

/// Writes the results of attempts, and the progress of the run. If the subscription was edited during the run, only the results are
/// written: answers of the old URL say nothing about the new one, and events that the old filters excluded may match now. If it was
/// disabled and activated again during the run, deliveries to be retried are discarded, like everything else that waited. Returns the state
/// of the subscription; none, and nothing is written, if it was deleted.
pub async fn write_outcomes(
    tx: &mut Tx,
    (webhook_id, tenant): (&str, &Tenant),
    outcomes: &[Delivery],
    settled: &DeliveryProgress<'_>,
    now: i64,
) -> Result<Option<SubscriptionState>> {
    // The subscription first: its row is locked before those of its deliveries.
    let sql = "update webhooks set cursor = case when updated_at = $9 and cursor < $2 then $2 else cursor end, \
               not_before = case when updated_at = $9 then $3 else not_before end, \
               first_failure_at = case when updated_at = $9 then $4 else first_failure_at end, \
               consecutive_failures = case when updated_at = $9 then $5 else consecutive_failures end, \
               last_success_at = case when updated_at = $9 then $6 else last_success_at end, \
               last_failure_at = case when updated_at = $9 then $7 else last_failure_at end, \
               last_failure = case when updated_at = $9 then $8 else last_failure end \
               where id = $1 and deleted_at is null returning status, updated_at, restarted_at, ends_at";
    let health = settled.health;
    let standing = query(sql)
        .bind(webhook_id)
        .bind(settled.cursor)
        .bind(health.not_before)
        .bind(health.first_failure_at)
        .bind(health.consecutive_failures)
        .bind(health.last_success_at)
        .bind(health.last_failure_at)
        .bind(&health.last_failure)
        .bind(settled.updated_at)
        .fetch_optional(&mut *tx, standing_of)
        .await?;
    if let Some(standing) = standing.as_ref().filter(|_| !outcomes.is_empty()) {
        let outcomes =
            still_wanted(outcomes, standing.restarted_at.is_some_and(|at| at > settled.updated_at));
        insert(tx, (webhook_id, tenant), &outcomes, now).await?;
        let ended = ended_replays(&outcomes);
        if !ended.is_empty() {
            replays::count(tx, &ended, now).await?;
        }
    }
    Ok(standing)
}

/// Returns the deliveries to write: all of them; pending ones as discarded if the subscription was restarted since the run began.
fn still_wanted(outcomes: &[Delivery], is_restarted: bool) -> Cow<'_, [Delivery]> {
    if !is_restarted {
        return Cow::Borrowed(outcomes);
    }
    let mut outcomes = outcomes.to_vec();
    for delivery in outcomes.iter_mut().filter(|d| d.status == DeliveryStatus::Pending) {
        delivery.status = DeliveryStatus::Discarded;
        delivery.next_attempt_at = None;
    }
    Cow::Owned(outcomes)
}

/// The number of ended deliveries of each replay, by the replays' ids.
fn ended_replays(outcomes: &[Delivery]) -> BTreeMap<&str, ReplayCounts> {
    let mut replays: BTreeMap<&str, ReplayCounts> = BTreeMap::new();
    let is_over = |d: &&Delivery| !d.replay_id.is_empty() && d.status != DeliveryStatus::Pending;
    for delivery in outcomes.iter().filter(is_over) {
        let ended = replays.entry(&delivery.replay_id).or_default();
        match delivery.status {
            DeliveryStatus::Delivered => ended.sent += 1,
            _ => ended.failed += 1,
        }
    }
    replays
}

/// Inserts new deliveries, and updates existing ones with their results.
pub async fn insert(
    tx: &mut Tx,
    (webhook_id, tenant): (&str, &Tenant),
    outcomes: &[Delivery],
    now: i64,
) -> Result<()> {
    let sql = each_of!(
        tx,
        "insert into webhook_deliveries (webhook_id, sequence, replay_id, id, organization_id, application_id, event_id, resource_id, \
         status, attempts, next_attempt_at, created_at, updated_at) \
         select $1, cast(value ->> 'sequence' as bigint), value ->> 'replay_id', value ->> 'id', $2, $3, value ->> 'event_id', \
         value ->> 'resource_id', value ->> 'status', value ->> 'attempts', cast(value ->> 'next_attempt_at' as bigint), $4, $4",
        "$5",
        " where true on conflict (webhook_id, sequence, replay_id) do update set status = excluded.status, \
         attempts = excluded.attempts, next_attempt_at = excluded.next_attempt_at, updated_at = excluded.updated_at"
    );
    let rows: Vec<_> = outcomes
        .iter()
        .map(|d| {
            json!({
                "sequence": d.sequence,
                "replay_id": d.replay_id,
                "id": d.id,
                "event_id": d.event_id,
                "resource_id": d.resource_id,
                "status": d.status,
                "attempts": json_text(&d.attempts),
                "next_attempt_at": d.next_attempt_at,
            })
        })
        .collect();
    query(sql)
        .bind(webhook_id)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(now)
        .bind(json_text(&rows))
        .execute(tx)
        .await?;
    Ok(())
}

/// Records that nothing is left to deliver up to the cursor: at the end of a run, before its job is rescheduled. `wake_from` stays if the
/// job was woken during the run: that event may be above the cursor, and if `wake_from` were cleared, the next wake would set it to a later
/// event and the next run would skip this one.
pub async fn rest(tx: &mut Tx, webhook_id: &str) -> Result<()> {
    let sql = "update webhooks set wake_from = null where id = $1 and wake_from <= cursor + 1 \
               and not exists (select 1 from jobs where jobs.id = 'deliver:' || $1 and again_at is not null)";
    query(sql).bind(webhook_id).execute(tx).await?;
    Ok(())
}

/// Disables an active subscription: nothing is delivered until its owner activates it. `etag` is its new version. Returns whether
/// it was active.
pub async fn disable(tx: &mut Tx, webhook_id: &str, (reason, etag): (&str, &str), now: i64) -> Result<bool> {
    let sql = "update webhooks set status = 'disabled', disabled_reason = $2, etag = $3, updated_at = $4, wake_from = null, \
               not_before = null where id = $1 and status = 'active' and deleted_at is null";
    let changed = query(sql).bind(webhook_id).bind(reason).bind(etag).bind(now).execute(tx).await?;
    Ok(changed == 1)
}

/// Discards at most `limit` waiting deliveries of a subscription; returns how many. The first of them ends its replays. The subscription
/// must be locked (`replays::lock`) and disabled.
pub async fn discard(tx: &mut Tx, webhook_id: &str, now: i64, limit: i64) -> Result<u64> {
    tx.takes(LockRank::Delivery)?;
    // By resource: replays first, then the latest event first, so that no remaining delivery waits for a discarded one.
    let sql = "update webhook_deliveries set status = 'discarded', next_attempt_at = null, updated_at = $2 \
               where status = 'pending' and (webhook_id, sequence, replay_id) in (select webhook_id, sequence, replay_id \
               from webhook_deliveries where webhook_id = $1 and status = 'pending' \
               order by resource_id desc, replay_id desc, sequence desc limit $3)";
    // If it is activated between two steps, no replay waits for discarded deliveries.
    replays::give_up(&mut *tx, webhook_id, now).await?;
    query(sql).bind(webhook_id).bind(now).bind(limit).execute(tx).await
}
