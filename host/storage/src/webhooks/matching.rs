//! Filters of subscriptions, and the position up to which an application's log was matched with them. Tables:
//! `migrations/0060_webhooks.sql`.

use anyhow::Result;
use base::tenant::Tenant;

use crate::Tx;
use crate::dialect::{in_order_among, one_of};
use crate::json;
use crate::json_text;
use crate::sql::{Reader, Row, query};
use crate::transaction::{self, LockRank};
use crate::wakes::JobClass;

/// The sequence up to which the log of an application was matched with its subscriptions; none when it never had one.
pub async fn cursor(reader: &Reader, tenant: &Tenant) -> Result<Option<i64>> {
    let sql = "select cursor from webhook_feeds where application_id = $1 and organization_id = $2";
    query(sql)
        .bind(&tenant.application_id)
        .bind(&tenant.organization_id)
        .fetch_optional(reader, |row| row.get("cursor"))
        .await
}

/// The version of an application's subscriptions, which rises with every change of them; none when it never had one. A reader
/// that sees the version of a change, and then reads the subscriptions, gets them as of this change or a later one.
pub async fn version(reader: &Reader, tenant: &Tenant) -> Result<Option<i64>> {
    let sql = "select version from webhook_feeds where application_id = $1 and organization_id = $2";
    query(sql)
        .bind(&tenant.application_id)
        .bind(&tenant.organization_id)
        .fetch_optional(reader, |row| row.get("version"))
        .await
}

/// Records that the log of an application was matched with its subscriptions up to `cursor`. False: it had been already.
pub async fn advance(tx: &mut Tx, tenant: &Tenant, cursor: i64) -> Result<bool> {
    tx.takes(LockRank::Feed)?;
    let sql = "update webhook_feeds set cursor = $3 where application_id = $1 and organization_id = $2 and cursor < $3";
    let statement = query(sql).bind(&tenant.application_id).bind(&tenant.organization_id);
    Ok(statement.bind(cursor).execute(tx).await? == 1)
}

/// The applications that have, or had, subscriptions and whose log reaches beyond the cursor: among those with these ids, or
/// among all.
pub async fn behind(reader: &Reader, among: Option<&[String]>) -> Result<Vec<Tenant>> {
    let sql = match among {
        None => {
            "select f.application_id, f.organization_id from webhook_feeds f join applications a on a.id = f.application_id \
             where a.last_sequence > f.cursor"
        }
        Some(_) => one_of!(
            reader,
            "select a.id as application_id, a.organization_id from applications a join webhook_feeds f on f.application_id = a.id \
             where a.last_sequence > f.cursor and a.id",
            "$1"
        ),
    };
    let statement = among.into_iter().fold(query(sql), |statement, ids| statement.bind(json_text(ids)));
    let tenant = |row: &Row<'_>| {
        Ok(Tenant {
            organization_id: row.get("organization_id")?,
            application_id: row.get("application_id")?,
        })
    };
    statement.fetch_all(reader, tenant).await
}

/// The conditions under which a subscription gets an event.
#[derive(Clone, Debug, PartialEq)]
pub struct Filters {
    /// The subscription's id.
    pub id: String,
    /// Exact names, `family.*` or `*`.
    pub event_types: Vec<String>,
    /// Only these connections; empty for all.
    pub connection_ids: Vec<String>,
    /// The connections of the key that made it; empty for all.
    pub bound_to: Vec<String>,
    /// Families that this key may read: `email`, `calendar`, …
    pub families: Vec<String>,
    pub include_backfill: bool,
}

pub(crate) fn filters(row: &Row<'_>) -> Result<Filters> {
    Ok(Filters {
        id: row.get("id")?,
        event_types: json(row, "event_types")?,
        connection_ids: json(row, "connection_ids")?,
        bound_to: json(row, "bound_to")?,
        families: json(row, "families")?,
        include_backfill: row.get::<i64>("include_backfill")? != 0,
    })
}

/// The filters of an application's active subscriptions.
pub async fn filters_of(reader: &Reader, tenant: &Tenant) -> Result<Vec<Filters>> {
    let sql = "select id, event_types, connection_ids, bound_to, families, include_backfill from webhooks \
               where application_id = $1 and organization_id = $2 and status = 'active' and deleted_at is null order by id";
    query(sql).bind(&tenant.application_id).bind(&tenant.organization_id).fetch_all(reader, filters).await
}

/// Marks that the subscriptions with these ids may have events from `first` on, and enqueues their jobs. Their rows, and those of
/// their jobs, are locked in the order of their ids: two hosts may wake the same ones at a time without a deadlock.
pub async fn wake(tx: &mut Tx, webhook_ids: &[String], first: i64, now: i64) -> Result<()> {
    tx.takes(LockRank::Webhook)?;
    let ids = json_text(webhook_ids);
    // Rows that keep their mark are changed too, so that this waits for a run that ends right now and may remove it
    // (`deliveries::rest`).
    let sql = in_order_among!(
        tx,
        "webhooks",
        "update webhooks set wake_from = coalesce(wake_from, $2) where id",
        "$1"
    );
    query(sql).bind(&ids).bind(first).execute(&mut *tx).await?;
    tx.takes(LockRank::Job)?;
    // As `jobs::enqueue` does it, for many at a time; an endpoint with a pause is tried after it.
    let sql = one_of!(
        tx,
        "insert into jobs (id, kind, class, organization_id, application_id, target, state, due_at, created_at, updated_at) \
         select 'deliver:' || id, 'deliver', 'deliver', organization_id, application_id, target, 'queued', \
         case when not_before > $2 then not_before else $2 end, $2, $2 \
         from webhooks where deleted_at is null and id",
        "$1",
        " order by id on conflict (id) do update set \
         due_at = case when jobs.state = 'running' then jobs.due_at else excluded.due_at end, \
         again_at = case when jobs.state = 'running' then $2 else jobs.again_at end, \
         attempts = case when jobs.state in ('failed', 'cancelled') then 0 else jobs.attempts end, \
         crashes = case when jobs.state in ('failed', 'cancelled') then 0 else jobs.crashes end, \
         state = case when jobs.state = 'running' then 'running' else 'queued' end, \
         target = excluded.target, updated_at = excluded.updated_at \
         where (jobs.state = 'queued' and (jobs.due_at is null or jobs.due_at > excluded.due_at)) \
         or (jobs.state = 'running' and (jobs.again_at is null or jobs.again_at > $2)) \
         or jobs.state in ('failed', 'cancelled')"
    );
    query(sql).bind(&ids).bind(now).execute(tx).await?;
    transaction::enqueued(JobClass::Deliver);
    Ok(())
}
