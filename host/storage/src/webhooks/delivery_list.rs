//! Deliveries as their owner reads them. Table: `migrations/0060_webhooks.sql`.

use anyhow::Result;
use model::webhook::{Attempt, DeliveryStatus};

use crate::dialect::each_of;
use crate::json;
use crate::json_text;
use crate::sql::{Chunk, Reader, Row, query};
use crate::webhooks::of_word;

/// A delivery.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedDelivery {
    pub id: String,
    /// The number of the event in the log.
    pub sequence: i64,
    /// Empty: it is no replay.
    pub replay_id: String,
    pub event_id: String,
    pub status: DeliveryStatus,
    pub attempts: Vec<Attempt>,
    /// Milliseconds since 1970.
    pub next_attempt_at: Option<i64>,
}

fn read_listed(row: &Row<'_>) -> Result<ListedDelivery> {
    Ok(ListedDelivery {
        id: row.get("id")?,
        sequence: row.get("sequence")?,
        replay_id: row.get("replay_id")?,
        event_id: row.get("event_id")?,
        status: of_word(row.get("status")?)?,
        attempts: json(row, "attempts")?,
        next_attempt_at: row.get("next_attempt_at")?,
    })
}

/// A subset of deliveries that has an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    All,
    /// Deliveries that wait for an attempt.
    Pending,
    /// Deliveries that failed or were discarded.
    GivenUp,
}

/// A query for deliveries of a subscription with this condition more, newest first.
macro_rules! select {
    ($condition:literal) => {
        concat!(
            "select id, sequence, replay_id, event_id, status, attempts, next_attempt_at from webhook_deliveries ",
            "where webhook_id = $1 and (sequence, replay_id) < ($2, $3) and sequence >= $4 ",
            $condition,
            "order by sequence desc, replay_id desc limit $5"
        )
    };
}

/// Deliveries of a subscription, newest first by the event's number and the replay's id: those before `before`, of events with numbers from
/// `first` on. As many as a chunk holds.
pub async fn before(
    reader: &Reader,
    (webhook_id, which): (&str, Which),
    (before, first): ((i64, &str), i64),
    limit: i64,
) -> Result<Chunk<ListedDelivery>> {
    let sql = match which {
        Which::All => select!(""),
        Which::Pending => select!("and status = 'pending' "),
        Which::GivenUp => select!("and status in ('failed', 'discarded') "),
    };
    query(sql)
        .bind(webhook_id)
        .bind(before.0)
        .bind(before.1)
        .bind(first)
        .bind(limit)
        .fetch_chunk(reader, limit, read_listed)
        .await
}

/// The first delivery, which is no replay, of the event with this number at a subscription.
pub async fn find(reader: &Reader, webhook_id: &str, sequence: i64) -> Result<Option<ListedDelivery>> {
    let sql = "select id, sequence, replay_id, event_id, status, attempts, next_attempt_at from webhook_deliveries \
               where webhook_id = $1 and sequence = $2 and replay_id = ''";
    query(sql).bind(webhook_id).bind(sequence).fetch_optional(reader, read_listed).await
}

/// A delivery with the subscription that it is of.
#[derive(Clone, Debug, PartialEq)]
pub struct EventDelivery {
    pub webhook_id: String,
    pub delivery: ListedDelivery,
}

/// At most `limit` deliveries of the event with this number at these subscriptions, those of replays among them, by the ids of subscriptions
/// and replays.
pub async fn of_event(
    reader: &Reader,
    webhook_ids: &[String],
    sequence: i64,
    limit: i64,
) -> Result<Vec<EventDelivery>> {
    // `cross join` as in `replay_lines::statuses`: each subscription is looked up.
    let sql = each_of!(
        reader,
        "select d.webhook_id, d.id, d.sequence, d.replay_id, d.event_id, d.status, d.attempts, d.next_attempt_at \
         from (select value ->> 'id' as webhook_id",
        "$1",
        ") as s cross join webhook_deliveries d where d.webhook_id = s.webhook_id and d.sequence = $2 \
         order by d.webhook_id, d.replay_id limit $3"
    );
    let wanted: Vec<_> = webhook_ids.iter().map(|id| serde_json::json!({ "id": id })).collect();
    query(sql)
        .bind(json_text(&wanted))
        .bind(sequence)
        .bind(limit)
        .fetch_all(reader, |row| {
            Ok(EventDelivery { webhook_id: row.get("webhook_id")?, delivery: read_listed(row)? })
        })
        .await
}
