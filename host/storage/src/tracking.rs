//! Tracked messages and their events: opens, clicks, replies, bounces and complaints. Tables: `migrations/0014_tracking.sql`.

use std::collections::HashMap;

use anyhow::Result;
use base::tenant::Tenant;

use crate::Tx;
use crate::dialect::{insert_rows, one_of};
use crate::json_text;
use crate::sql::{On, Reader, Row, query};
use crate::statement_rows::{self, RowValues};

/// A tracked message.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    pub id: String,
    pub tenant: Tenant,
    pub connection_id: String,
    pub message_id: String,
    pub label: Option<String>,
    pub opens: bool,
    pub links: bool,
    pub replies: bool,
    /// JSON array.
    pub urls: String,
    pub sent_at: Option<i64>,
    pub expires_at: i64,
    pub created_at: i64,
}

fn record(row: &Row<'_>) -> Result<Record> {
    Ok(Record {
        id: row.get("id")?,
        tenant: Tenant {
            organization_id: row.get("organization_id")?,
            application_id: row.get("application_id")?,
        },
        connection_id: row.get("connection_id")?,
        message_id: row.get("message_id")?,
        label: row.get("label")?,
        opens: row.get::<i64>("opens")? != 0,
        links: row.get::<i64>("links")? != 0,
        replies: row.get::<i64>("replies")? != 0,
        urls: row.get("urls")?,
        sent_at: row.get("sent_at")?,
        expires_at: row.get("expires_at")?,
        created_at: row.get("created_at")?,
    })
}

/// An event of a tracked message: an open, click, reply, bounce or complaint.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub id: String,
    pub kind: String,
    pub at: i64,
    pub link_index: Option<i64>,
    pub ip: Option<String>,
    pub user_agent: Option<String>,
    pub classification: String,
    pub reason: Option<String>,
    /// JSON.
    pub detail: Option<String>,
}

fn event(row: &Row<'_>) -> Result<Event> {
    Ok(Event {
        id: row.get("id")?,
        kind: row.get("kind")?,
        at: row.get("at")?,
        link_index: row.get("link_index")?,
        ip: row.get("ip")?,
        user_agent: row.get("user_agent")?,
        classification: row.get("classification")?,
        reason: row.get("reason")?,
        detail: row.get("detail")?,
    })
}

pub async fn insert(tx: &mut Tx, r: &Record) -> Result<()> {
    let sql = "insert into tracking (id, organization_id, application_id, connection_id, message_id, label, opens, links, \
               replies, urls, sent_at, expires_at, created_at) \
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";
    query(sql)
        .bind(&r.id)
        .bind(&r.tenant.organization_id)
        .bind(&r.tenant.application_id)
        .bind(&r.connection_id)
        .bind(&r.message_id)
        .bind(&r.label)
        .bind(i64::from(r.opens))
        .bind(i64::from(r.links))
        .bind(i64::from(r.replies))
        .bind(&r.urls)
        .bind(r.sent_at)
        .bind(r.expires_at)
        .bind(r.created_at)
        .execute(&mut *tx)
        .await?;
    Ok(())
}

/// A record by its id, of any tenant: the caller checks access, by a signature or the tenant.
pub async fn any(on: impl Into<On<'_>>, id: &str) -> Result<Option<Record>> {
    query("select * from tracking where id = $1").bind(id).fetch_optional(on, record).await
}

/// A record of the tenant.
pub async fn find(reader: &Reader, tenant: &Tenant, id: &str) -> Result<Option<Record>> {
    Ok(any(reader, id).await?.filter(|r| r.tenant == *tenant))
}

/// The record of a message.
pub async fn of_message(on: impl Into<On<'_>>, message_id: &str) -> Result<Option<Record>> {
    query("select * from tracking where message_id = $1 limit 1")
        .bind(message_id)
        .fetch_optional(on, record)
        .await
}

/// The records of these messages, by message.
pub async fn of_messages(on: impl Into<On<'_>>, message_ids: &[&str]) -> Result<HashMap<String, Record>> {
    let on = on.into();
    let sql = one_of!(on, "select * from tracking where message_id", "$1");
    let found = query(sql).bind(json_text(message_ids)).fetch_all(on, record).await?;
    Ok(found.into_iter().map(|record| (record.message_id.clone(), record)).collect())
}

/// Records when the message was sent.
pub async fn set_sent(tx: &mut Tx, message_id: &str, at: i64) -> Result<()> {
    query("update tracking set sent_at = $1 where message_id = $2 and sent_at is null")
        .bind(at)
        .bind(message_id)
        .execute(&mut *tx)
        .await?;
    Ok(())
}

/// Events that a record stores of each of two sorts: hits (opens, clicks), which any recipient can cause, and arrivals (replies,
/// bounces, complaints). Neither can crowd out the other.
pub const MAX_HITS: i64 = 10_000;
pub const MAX_ARRIVALS: i64 = 1_000;

/// Adds an event; false when the record has the maximum number of its sort.
pub async fn add_event(tx: &mut Tx, tracking_id: &str, e: &Event) -> Result<bool> {
    let (count, most) = match e.kind.as_str() {
        "open" | "click" => ("update tracking set hits = hits + 1 where id = $1 and hits < $2", MAX_HITS),
        _ => ("update tracking set arrivals = arrivals + 1 where id = $1 and arrivals < $2", MAX_ARRIVALS),
    };
    if query(count).bind(tracking_id).bind(most).execute(&mut *tx).await? == 0 {
        return Ok(false);
    }
    let sql = "insert into tracking_events (id, tracking_id, kind, at, link_index, ip, user_agent, classification, \
               reason, detail) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    query(sql)
        .bind(&e.id)
        .bind(tracking_id)
        .bind(&e.kind)
        .bind(e.at)
        .bind(e.link_index)
        .bind(&e.ip)
        .bind(&e.user_agent)
        .bind(&e.classification)
        .bind(&e.reason)
        .bind(&e.detail)
        .execute(&mut *tx)
        .await?;
    Ok(true)
}

/// Reclassifies events of a kind since a time from one network as a machine's.
pub async fn reclassify(
    tx: &mut Tx,
    tracking_id: &str,
    (kind, since, ip): (&str, i64, Option<&str>),
    (classification, reason): (&str, &str),
) -> Result<()> {
    let sql = "update tracking_events set classification = $1, reason = $2 where tracking_id = $3 and kind = $4 \
               and at >= $5 and coalesce(ip, '') = $6";
    query(sql)
        .bind(classification)
        .bind(reason)
        .bind(tracking_id)
        .bind(kind)
        .bind(since)
        .bind(ip.unwrap_or_default())
        .execute(&mut *tx)
        .await?;
    Ok(())
}

/// The newest events, newest first.
pub async fn newest(reader: &Reader, tracking_id: &str, limit: i64) -> Result<Vec<Event>> {
    query("select * from tracking_events where tracking_id = $1 order by at desc, id desc limit $2")
        .bind(tracking_id)
        .bind(limit)
        .fetch_all(reader, event)
        .await
}

/// Replies, bounces and complaints, oldest first.
pub async fn arrivals(reader: &Reader, tracking_id: &str) -> Result<Vec<Event>> {
    query(
        "select * from tracking_events where tracking_id = $1 and kind in ('reply', 'bounce', 'complaint') \
         order by at, id limit $2",
    )
    .bind(tracking_id)
    .bind(MAX_ARRIVALS)
    .fetch_all(reader, event)
    .await
}

/// Events of a kind from one network since a time, newest first.
pub async fn of_network(
    on: impl Into<On<'_>>,
    tracking_id: &str,
    (kind, since, ip): (&str, i64, Option<&str>),
    limit: i64,
) -> Result<Vec<Event>> {
    let sql = "select * from tracking_events where tracking_id = $1 and kind = $2 and at >= $3 \
               and coalesce(ip, '') = $4 order by at desc limit $5";
    query(sql)
        .bind(tracking_id)
        .bind(kind)
        .bind(since)
        .bind(ip.unwrap_or_default())
        .bind(limit)
        .fetch_all(on, event)
        .await
}

/// How often something happened, and when first and last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrackingCount {
    /// -1: no link.
    pub link_index: i64,
    pub total: i64,
    pub human: i64,
    pub first_at: Option<i64>,
    pub last_at: Option<i64>,
}

/// Counts of a kind, by link.
pub async fn counts(reader: &Reader, tracking_id: &str, kind: &str) -> Result<Vec<TrackingCount>> {
    let sql = "select coalesce(link_index, -1) as link, count(*) as total, \
               cast(coalesce(sum(case when classification = 'human' then 1 else 0 end), 0) as bigint) as human, \
               min(at) as first_at, max(at) as last_at from tracking_events where tracking_id = $1 and kind = $2 \
               group by coalesce(link_index, -1) order by link";
    let count = |row: &Row<'_>| {
        Ok(TrackingCount {
            link_index: row.get("link")?,
            total: row.get("total")?,
            human: row.get("human")?,
            first_at: row.get("first_at")?,
            last_at: row.get("last_at")?,
        })
    };
    query(sql).bind(tracking_id).bind(kind).fetch_all(reader, count).await
}

/// A message that may be a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    pub item_id: String,
    pub tenant: Tenant,
    pub connection_id: String,
    pub attempts: i64,
}

/// Adds messages that are to be read as reports.
pub async fn add_reports(tx: &mut Tx, reports: &[Report], at: i64) -> Result<()> {
    let sql = insert_rows!(
        tx,
        "email_reports",
        [
            item_id "$1" "text",
            organization_id "$2" "text",
            application_id "$3" "text",
            connection_id "$4" "text",
            attempts "$5" "bigint",
            next_attempt_at "$6" "bigint",
        ],
        " on conflict (item_id) do update set attempts = excluded.attempts, next_attempt_at = excluded.next_attempt_at"
    );
    let rows = reports.iter().map(|report| {
        RowValues::new()
            .bind(&report.item_id)
            .bind(&report.tenant.organization_id)
            .bind(&report.tenant.application_id)
            .bind(&report.connection_id)
            .bind(report.attempts)
            .bind(at)
    });
    statement_rows::execute(tx, sql, rows.collect()).await?;
    Ok(())
}

/// It was read.
pub async fn remove_report(tx: &mut Tx, item_id: &str) -> Result<()> {
    query("delete from email_reports where item_id = $1").bind(item_id).execute(&mut *tx).await?;
    Ok(())
}
