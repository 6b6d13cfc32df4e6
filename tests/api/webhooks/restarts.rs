//! Webhooks that are paused or disabled and activated again, during attempts and after a long time.

use serde_json::{Value, json};
use service::retention;
use storage::sql::query;

use crate::webhooks::changes::{UPDATED, attempts, log};
use crate::webhooks::desk::Desk;

const HOUR_MS: i64 = 3_600_000;

/// Makes a subscription with this number of simultaneous attempts, and returns its path.
async fn subscribe(desk: &Desk, at_a_time: usize) -> String {
    let made = desk.subscription(json!({ "eventTypes": [UPDATED], "maxConcurrent": at_a_time })).await;
    format!("/v1/webhooks/{}", made["id"].as_str().expect("an id"))
}

/// Sends all due deliveries, and returns the attempts that the endpoint received.
async fn deliver(desk: &mut Desk) -> Vec<String> {
    desk.server.deliver().await;
    attempts(&desk.receiver.taken())
}

async fn statuses(desk: &Desk, webhook: &str) -> Vec<Value> {
    let deliveries = desk.api.all(&format!("{webhook}/deliveries")).await;
    deliveries.iter().rev().map(|delivery| delivery["status"].clone()).collect()
}

/// One delivery waits for a retry, and another is being attempted, when the owner disables the webhook and activates it before the next
/// run.
#[tokio::test]
async fn what_waited_is_discarded_when_a_disabled_webhook_is_activated_at_once() {
    let mut desk = Desk::start().await;
    let webhook = subscribe(&desk, 1).await;
    desk.receiver.answer(500, &[]);
    log(&desk, &["a"]).await;
    assert_eq!(deliver(&mut desk).await, ["a 1"]);

    desk.receiver.answer(500, &[]);
    log(&desk, &["b", "c"]).await;
    let held = desk.receiver.hold().await;
    let (api, receiver) = (&desk.api, &mut desk.receiver);
    let change = async {
        let under_way = receiver.next().await;
        for status in ["disabled", "active"] {
            api.patch(webhook.as_str(), json!({ "status": status })).send().await.expect(200);
        }
        drop(held);
        under_way
    };
    let (under_way, ()) = tokio::join!(change, desk.server.deliver());
    assert_eq!(attempts(&[under_way]), ["b 1"]);

    desk.server.clock.advance_ms(HOUR_MS);
    assert!(deliver(&mut desk).await.is_empty(), "nothing of before is tried again, or for the first time");
    assert_eq!(statuses(&desk, &webhook).await, ["discarded", "discarded"]);
    log(&desk, &["d"]).await;
    assert_eq!(deliver(&mut desk).await, ["d 1"], "it is told of what happens from now on");
}

/// A pause and other changes discard nothing.
#[tokio::test]
async fn what_failed_during_a_pause_is_tried_again() {
    let mut desk = Desk::start().await;
    let webhook = subscribe(&desk, 1).await;
    desk.receiver.answer(500, &[]);
    log(&desk, &["a"]).await;
    let held = desk.receiver.hold().await;
    let (api, receiver) = (&desk.api, &mut desk.receiver);
    let change = async {
        receiver.next().await;
        for status in ["paused", "active"] {
            api.patch(webhook.as_str(), json!({ "status": status })).send().await.expect(200);
        }
        drop(held);
    };
    tokio::join!(change, desk.server.deliver());
    desk.server.clock.advance_ms(6_000);
    assert_eq!(deliver(&mut desk).await, ["a 2"]);
}

/// An event that arrived before an earlier unsent one is known to have arrived, even after a pause that is longer than such deliveries
/// are kept otherwise.
#[tokio::test]
async fn after_a_long_pause_nothing_is_sent_twice() {
    let mut desk = Desk::start().await;
    let webhook = subscribe(&desk, 2).await;
    log(&desk, &["a", "a", "b"]).await;
    let held = desk.receiver.hold().await;
    let (api, receiver) = (&desk.api, &mut desk.receiver);
    let pause = async {
        let under_way = [receiver.next().await, receiver.next().await];
        api.patch(webhook.as_str(), json!({ "status": "paused" })).send().await.expect(200);
        drop(held);
        under_way
    };
    let (sent, ()) = tokio::join!(pause, desk.server.deliver());
    let mut sent = attempts(&sent);
    sent.sort();
    assert_eq!(sent, ["a 1", "b 1"], "the second event of the one resource waits for the first");

    desk.server.clock.advance_ms(4 * 24 * HOUR_MS);
    retention::clean(&desk.server.app).await.expect("it is cleaned");
    desk.set(&webhook, "active").await;
    assert_eq!(deliver(&mut desk).await, ["a 1"]);
    assert_eq!(statuses(&desk, &webhook).await, ["delivered", "delivered", "delivered"]);

    // Rows that are no longer needed are deleted then.
    desk.server.clock.advance_ms(HOUR_MS + 1);
    retention::clean(&desk.server.app).await.expect("it is cleaned");
    let left: i64 = query("select count(*) as n from webhook_deliveries")
        .fetch_one(desk.server.app.db.reader(), |row| row.get("n"))
        .await
        .expect("a number");
    assert_eq!(left, 1);
}
