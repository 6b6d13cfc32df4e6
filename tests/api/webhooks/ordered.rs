//! Subscriptions with `ordered`: an event waits until the earlier ones of its resource have ended.

use harness::receiver::Received;
use serde_json::{Value, json};
use storage::sql::query;

use crate::webhooks::changes::{UPDATED, attempts, log, log_as, sequence};
use crate::webhooks::desk::{Desk, id};

const DELETED: &str = "calendar.event.deleted";
const MINUTE_MS: i64 = 60_000;

/// The path of a subscription that gets one attempt at a time, so that it is known which one fails.
async fn subscribe(desk: &Desk, ordered: bool) -> String {
    let made = desk
        .subscription(json!({ "eventTypes": [UPDATED, DELETED], "ordered": ordered, "maxConcurrent": 1 }))
        .await;
    format!("/v1/webhooks/{}", made["id"].as_str().expect("an id"))
}

/// Sends all due deliveries, and returns what the endpoint received.
async fn deliver(desk: &mut Desk) -> Vec<Received> {
    desk.server.deliver().await;
    desk.receiver.taken()
}

/// Lets this time pass, and sends all due deliveries.
async fn after(desk: &mut Desk, wait_ms: i64) -> Vec<Received> {
    desk.server.clock.advance_ms(wait_ms);
    deliver(desk).await
}

async fn statuses(desk: &Desk, webhook: &str) -> Vec<Value> {
    let deliveries = desk.api.all(&format!("{webhook}/deliveries")).await;
    deliveries.iter().rev().map(|delivery| delivery["status"].clone()).collect()
}

#[tokio::test]
async fn ordered_waits_for_the_earlier_one() {
    let mut desk = Desk::start().await;
    let webhook = subscribe(&desk, true).await;
    desk.receiver.answer(500, &[]);
    log(&desk, &["a", "a", "b", "a"]).await;
    assert_eq!(attempts(&deliver(&mut desk).await), ["a 1", "b 1"]);
    log(&desk, &["a"]).await;
    assert!(deliver(&mut desk).await.is_empty(), "one that comes later waits too");
    assert_eq!(statuses(&desk, &webhook).await, ["pending", "pending", "delivered", "pending", "pending"]);
    let received = after(&mut desk, 6_000).await;
    assert_eq!(attempts(&received), ["a 2", "a 1", "a 1", "a 1"]);
    assert!(received.is_sorted_by_key(sequence));
    assert!(statuses(&desk, &webhook).await.iter().all(|status| status == "delivered"));
}

#[tokio::test]
async fn without_order_one_that_fails_holds_nothing() {
    let mut desk = Desk::start().await;
    subscribe(&desk, false).await;
    desk.receiver.answer(500, &[]);
    log(&desk, &["a", "a", "b", "a"]).await;
    assert_eq!(attempts(&deliver(&mut desk).await), ["a 1", "a 1", "b 1", "a 1"]);
    assert_eq!(attempts(&after(&mut desk, 6_000).await), ["a 2"]);
}

/// The twelfth attempt is the last one.
#[tokio::test]
async fn what_waits_goes_on_when_the_earlier_one_is_given_up() {
    let mut desk = Desk::start().await;
    let webhook = subscribe(&desk, true).await;
    desk.receiver.answer_always(500);
    log(&desk, &["a", "a"]).await;
    assert_eq!(attempts(&deliver(&mut desk).await), ["a 1"]);
    // Each wait with the fifth that it may be longer.
    let waits_min = [1, 6, 36, 144, 360, 720, 720, 1_008, 1_008, 1_008, 1_008];
    for (wait_min, n) in waits_min.into_iter().zip(2..) {
        let received = after(&mut desk, wait_min * MINUTE_MS).await;
        assert_eq!(attempts(&received), [format!("a {n}")]);
    }
    assert_eq!(statuses(&desk, &webhook).await, ["failed", "pending"]);
    desk.receiver.answer_always(204);
    // The endpoint is being probed.
    assert_eq!(attempts(&after(&mut desk, 15 * MINUTE_MS).await), ["a 1"]);
    assert_eq!(statuses(&desk, &webhook).await, ["failed", "delivered"]);
}

/// A queued event is sent, or not, by the subscription's filter at the time of its delivery.
#[tokio::test]
async fn what_waits_keeps_to_the_filters() {
    let mut desk = Desk::start().await;
    let webhook = subscribe(&desk, true).await;
    desk.receiver.answer(500, &[]);
    log_as(&desk, &[("a", UPDATED), ("a", DELETED), ("a", UPDATED)]).await;
    let first = deliver(&mut desk).await;
    assert_eq!(first[0].json()["data"]["resource"]["title"], "a");
    let change = json!({ "eventTypes": [UPDATED], "payloadMode": "thin" });
    desk.api.patch(webhook.as_str(), change).send().await.expect(200);
    let received = after(&mut desk, 6_000).await;
    assert_eq!(attempts(&received), ["a 2", "a 1"]);
    assert_eq!(id(&received[0]), id(&first[0]));
    assert!(received.iter().all(|r| r.json()["data"]["resource"].is_null() && r.json()["type"] == UPDATED));
    assert_eq!(statuses(&desk, &webhook).await, ["delivered", "discarded", "delivered"]);
}

/// A retry follows the current filter too: the owner no longer wants the event.
#[tokio::test]
async fn what_is_tried_again_keeps_to_the_filters() {
    let mut desk = Desk::start().await;
    let webhook = subscribe(&desk, false).await;
    desk.receiver.answer_always(500);
    log_as(&desk, &[("a", UPDATED), ("b", DELETED)]).await;
    assert_eq!(attempts(&deliver(&mut desk).await), ["a 1", "b 1"]);
    desk.receiver.answer_always(204);
    desk.api.patch(webhook.as_str(), json!({ "eventTypes": [DELETED] })).send().await.expect(200);
    assert_eq!(attempts(&after(&mut desk, 6_000).await), ["b 2"]);
    assert_eq!(statuses(&desk, &webhook).await, ["discarded", "delivered"]);
}

#[tokio::test]
async fn what_waits_is_let_go_when_order_is_given_up() {
    let mut desk = Desk::start().await;
    let webhook = subscribe(&desk, true).await;
    desk.receiver.answer(500, &[]);
    log(&desk, &["a", "a", "a"]).await;
    assert_eq!(attempts(&deliver(&mut desk).await), ["a 1"]);
    desk.api.patch(webhook.as_str(), json!({ "ordered": false })).send().await.expect(200);
    let received = deliver(&mut desk).await;
    assert_eq!(attempts(&received), ["a 1", "a 1"]);
    assert!(received.is_sorted_by_key(sequence));
    assert_eq!(attempts(&after(&mut desk, 6_000).await), ["a 2"]);
}

/// Two events of one resource failed while the webhook was unordered. Now the later one waits, although it is due first.
#[tokio::test]
async fn what_failed_without_order_waits_when_there_is_one() {
    let mut desk = Desk::start().await;
    let webhook = subscribe(&desk, false).await;
    desk.receiver.answer_always(500);
    log(&desk, &["a"]).await;
    assert_eq!(attempts(&deliver(&mut desk).await), ["a 1"]);
    assert_eq!(attempts(&after(&mut desk, 6_000).await), ["a 2"]);
    log(&desk, &["a"]).await;
    assert_eq!(attempts(&deliver(&mut desk).await), ["a 1"]);
    desk.receiver.answer_always(204);
    desk.api.patch(webhook.as_str(), json!({ "ordered": true })).send().await.expect(200);
    // The first one is due after five minutes, the second one after five seconds.
    assert!(after(&mut desk, 6_000).await.is_empty());
    assert_eq!(attempts(&after(&mut desk, 6 * MINUTE_MS).await), ["a 3", "a 2"]);
}

/// Ten thousand deliveries wait beside the only one of the subscription.
const FULL: &str = "insert into webhook_deliveries (webhook_id, sequence, replay_id, id, organization_id, application_id, event_id, \
     resource_id, status, attempts, next_attempt_at, created_at, updated_at) \
     with recursive n(i) as (select 1 union all select i + 1 from n where i < 10000) \
     select d.webhook_id, 1000000 + i, '', 'whd_' || i, d.organization_id, d.application_id, 'ev_' || i, 'other ' || i, 'pending', '[]', \
     cast(null as bigint), 0, 0 from n, webhook_deliveries d where d.webhook_id = $1";

/// Behind them the log waits, and no more rows are written.
#[tokio::test]
async fn at_most_ten_thousand_wait() {
    let mut desk = Desk::start().await;
    let webhook = subscribe(&desk, true).await;
    desk.receiver.answer(500, &[]);
    log(&desk, &["a"]).await;
    assert_eq!(attempts(&deliver(&mut desk).await), ["a 1"]);
    let webhook_id = webhook.rsplit('/').next().expect("an id").to_owned();
    let filled: anyhow::Result<u64> = desk
        .server
        .app
        .db
        .write(move |tx| Box::pin(async move { query(FULL).bind(&webhook_id).execute(tx).await }))
        .await;
    assert_eq!(filled.expect("the rows are written"), 10_000);
    let before = desk.api.get(webhook.as_str()).send().await.expect(200);
    log(&desk, &["a", "b"]).await;
    assert!(deliver(&mut desk).await.is_empty());
    let stopped = desk.api.get(webhook.as_str()).send().await.expect(200);
    assert_eq!(stopped["cursor"], before["cursor"]);
    assert_eq!(attempts(&after(&mut desk, 6_000).await), ["a 2", "a 1", "b 1"]);
}
