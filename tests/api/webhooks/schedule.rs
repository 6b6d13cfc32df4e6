//! When attempts are made: in which order, how many at a time, after which pauses, and until when an endpoint is given chances.

use std::collections::{BTreeMap, BTreeSet};

use harness::receiver::Receiver;
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimePrinter;
use serde_json::{Value, json};

use crate::webhooks::changes::{UPDATED, attempts, log, resource, sequence};
use crate::webhooks::desk::{Desk, id};

const HOUR_MS: i64 = 3_600_000;

/// The path of a subscription to updates, with these settings too.
async fn subscribe(desk: &Desk, settings: Value) -> String {
    let mut fields = json!({ "eventTypes": [UPDATED] });
    for (name, value) in settings.as_object().expect("an object") {
        fields[name] = value.clone();
    }
    let made = desk.subscription(fields).await;
    format!("/v1/webhooks/{}", made["id"].as_str().expect("an id"))
}

async fn shown(desk: &Desk, webhook: &str) -> Value {
    desk.api.get(webhook).send().await.expect(200)
}

/// Events of one resource are sent one after the other, however many attempts are made at a time; one that failed is sent again after
/// later ones.
#[tokio::test]
async fn first_attempts_keep_the_order_of_a_resource() {
    let mut desk = Desk::start().await;
    subscribe(&desk, json!({ "maxConcurrent": 16 })).await;
    desk.receiver.answer(500, &[]);
    let changed = ["a", "b", "a", "c", "a", "b", "a", "c", "b", "a", "c", "a", "b", "c", "a", "a"];
    log(&desk, &changed).await;
    desk.server.deliver().await;
    let received = desk.receiver.taken();
    assert_eq!(received.len(), changed.len());
    let mut last: BTreeMap<String, i64> = BTreeMap::new();
    for one in &received {
        assert_eq!(one.header("webhook-attempt"), "1");
        let before = last.insert(resource(one), sequence(one));
        assert!(before.is_none_or(|before| before < sequence(one)), "{} came late", sequence(one));
    }
    desk.server.clock.advance_ms(6_000);
    desk.server.deliver().await;
    let again = desk.receiver.taken();
    assert_eq!((again.len(), id(&again[0])), (1, id(&received[0])));
}

/// In seconds or as a date: until then the endpoint gets no other delivery either.
#[tokio::test]
async fn retry_after_is_kept() {
    let mut desk = Desk::start().await;
    subscribe(&desk, json!({})).await;
    let in_an_hour = Timestamp::from_millisecond(desk.server.app.now() + HOUR_MS).expect("a time");
    let date = DateTimePrinter::new().timestamp_to_rfc9110_string(&in_an_hour).expect("a date");
    for (status, retry_after) in [(503, date.as_str()), (429, "3600")] {
        desk.receiver.answer(status, &[("retry-after", retry_after)]);
        log(&desk, &["a"]).await;
        desk.server.deliver().await;
        assert_eq!(attempts(&desk.receiver.taken()), ["a 1"]);
        log(&desk, &["b"]).await;
        desk.server.deliver().await;
        desk.server.clock.advance_ms(HOUR_MS - 1_000);
        desk.server.deliver().await;
        assert!(desk.receiver.taken().is_empty(), "{retry_after} is not over");
        desk.server.clock.advance_ms(1_000);
        desk.server.deliver().await;
        let mut received = attempts(&desk.receiver.taken());
        received.sort();
        assert_eq!(received, ["a 2", "b 1"]);
    }
}

/// One that is overloaded and does not say for how long gets a minute, then two, and so on up to a quarter of an hour.
#[tokio::test]
async fn an_overloaded_endpoint_is_left_alone() {
    let mut desk = Desk::start().await;
    let webhook = subscribe(&desk, json!({})).await;
    desk.receiver.answer_always(503);
    log(&desk, &["a", "b", "c"]).await;
    desk.server.deliver().await;
    // They ran together, so they count as one failure.
    assert_eq!(desk.receiver.taken().len(), 3);
    assert_eq!(shown(&desk, &webhook).await["consecutiveFailures"], 1);
    desk.server.clock.advance_ms(59_000);
    desk.server.deliver().await;
    assert!(desk.receiver.taken().is_empty());
    desk.server.clock.advance_ms(1_000);
    desk.server.deliver().await;
    assert!(!desk.receiver.taken().is_empty());
    assert_eq!(shown(&desk, &webhook).await["consecutiveFailures"], 2);
    desk.server.clock.advance_ms(119_000);
    desk.server.deliver().await;
    assert!(desk.receiver.taken().is_empty());
}

/// Deliveries that wait for a retry are given up too.
#[tokio::test]
async fn gone_disables_at_once() {
    let mut desk = Desk::start().await;
    let webhook = subscribe(&desk, json!({})).await;
    desk.receiver.answer(500, &[]);
    log(&desk, &["a"]).await;
    desk.server.deliver().await;
    desk.receiver.answer(410, &[]);
    log(&desk, &["b"]).await;
    desk.server.deliver().await;
    assert_eq!(attempts(&desk.receiver.taken()), ["a 1", "b 1"]);
    let disabled = shown(&desk, &webhook).await;
    assert_eq!(
        (&disabled["status"], &disabled["disabledReason"], &disabled["lastFailure"]["status"]),
        (&json!("disabled"), &json!("gone_410"), &json!(410))
    );
    let deliveries = desk.api.all(&format!("{webhook}/deliveries")).await;
    let statuses: Vec<&Value> = deliveries.iter().map(|delivery| &delivery["status"]).collect();
    assert_eq!(statuses, ["discarded", "discarded"]);
    desk.server.clock.advance_ms(24 * HOUR_MS);
    desk.server.deliver().await;
    assert!(desk.receiver.taken().is_empty());
}

/// An endpoint without a success for five days is disabled, and another webhook is notified.
#[tokio::test]
async fn five_days_of_failures_disable_and_tell() {
    let mut desk = Desk::start().await;
    let mut operator = Receiver::start().await;
    let webhook = subscribe(&desk, json!({})).await;
    let body = json!({ "url": operator.url(), "eventTypes": ["webhook.disabled"] });
    desk.api.post("/v1/webhooks", body).send().await.expect(201);
    desk.receiver.answer_always(500);
    log(&desk, &["first"]).await;
    desk.server.deliver().await;
    for day in 1..10 {
        desk.server.clock.advance_ms(12 * HOUR_MS);
        log(&desk, &[format!("half day {day}").as_str()]).await;
        desk.server.deliver().await;
        assert!(!desk.receiver.taken().is_empty(), "it still gets chances");
    }
    let failing = shown(&desk, &webhook).await;
    assert_eq!((&failing["status"], &failing["disabledReason"]), (&json!("failing"), &Value::Null));
    assert!(operator.taken().is_empty());
    desk.server.clock.advance_ms(12 * HOUR_MS);
    desk.server.deliver().await;
    let disabled = shown(&desk, &webhook).await;
    assert_eq!(
        (&disabled["status"], &disabled["disabledReason"]),
        (&json!("disabled"), &json!("failures_5d"))
    );
    let told = operator.next().await.json();
    assert_eq!(told["type"], "webhook.disabled");
    assert_eq!(
        (&told["data"]["resourceId"], &told["data"]["resource"]["disabledReason"]),
        (&disabled["id"], &json!("failures_5d"))
    );
    let waiting = desk.api.all(&format!("{webhook}/deliveries?status=pending")).await;
    assert!(waiting.is_empty(), "{waiting:#?}");
    desk.receiver.taken();
    desk.server.clock.advance_ms(24 * HOUR_MS);
    desk.server.deliver().await;
    assert!(desk.receiver.taken().is_empty() && operator.taken().is_empty());
}

/// After ten failures one attempt is made, then none for 30 s, and for twice as long after each further one, up to a quarter of an hour.
/// Everything else waits in the log, and arrives when the endpoint is back.
#[tokio::test]
async fn a_dead_endpoint_costs_one_probe() {
    let mut desk = Desk::start().await;
    let webhook = subscribe(&desk, json!({ "maxConcurrent": 1 })).await;
    desk.receiver.answer_always(500);
    let resources: Vec<String> = (0..30).map(|n| format!("event {n}")).collect();
    let resources: Vec<&str> = resources.iter().map(String::as_str).collect();
    log(&desk, &resources).await;
    desk.server.deliver().await;
    assert_eq!(desk.receiver.taken().len(), 10);
    assert_eq!(shown(&desk, &webhook).await["status"], "failing");
    for pause_s in [30, 60, 120, 240, 480, 900, 900] {
        desk.server.clock.advance_ms(pause_s * 1_000 - 1);
        desk.server.deliver().await;
        assert!(desk.receiver.taken().is_empty(), "{pause_s} s are not over");
        desk.server.clock.advance_ms(1);
        desk.server.deliver().await;
        assert_eq!(desk.receiver.taken().len(), 1, "after {pause_s} s");
    }
    desk.receiver.answer_always(204);
    let mut arrived: BTreeSet<String> = BTreeSet::new();
    // The waits of those that were tried several times.
    for wait_ms in [900_000, 3 * HOUR_MS] {
        desk.server.clock.advance_ms(wait_ms);
        desk.server.deliver().await;
        arrived.extend(desk.receiver.taken().iter().map(resource));
    }
    assert_eq!(arrived.len(), 30);
    let well = shown(&desk, &webhook).await;
    assert_eq!((&well["status"], &well["consecutiveFailures"]), (&json!("active"), &json!(0)));
}

#[tokio::test]
async fn at_most_so_many_in_a_second() {
    let mut desk = Desk::start().await;
    subscribe(&desk, json!({ "maxPerSecond": 5 })).await;
    let resources: Vec<String> = (0..12).map(|n| format!("event {n}")).collect();
    let resources: Vec<&str> = resources.iter().map(String::as_str).collect();
    log(&desk, &resources).await;
    let mut arrived = Vec::new();
    // A second, and the slot of time in which the last attempts were counted.
    for (wait_ms, count) in [(0, 5), (500, 0), (500, 0), (50, 5), (0, 0), (1_050, 2), (1_050, 0)] {
        desk.server.clock.advance_ms(wait_ms);
        desk.server.deliver().await;
        let received = desk.receiver.taken();
        assert_eq!(received.len(), count, "{wait_ms} ms later");
        arrived.extend(received);
    }
    let different: BTreeSet<String> = arrived.iter().map(resource).collect();
    assert_eq!(different.len(), 12);
}

/// The first attempt is running when the owner gives the webhook another URL and another secret. Later attempts go there.
#[tokio::test]
async fn a_subscription_changed_during_a_turn() {
    let mut desk = Desk::start().await;
    let mut other = Receiver::start().await;
    let webhook = subscribe(&desk, json!({ "maxConcurrent": 1 })).await;
    log(&desk, &["a", "b", "c"]).await;
    let held = desk.receiver.hold().await;
    let (api, receiver) = (&desk.api, &mut desk.receiver);
    let change = async {
        let first = receiver.next().await;
        let body = json!({ "url": other.url(), "rotateSecret": true });
        let changed = api.patch(webhook.as_str(), body).send().await.expect(200);
        drop(held);
        (first, changed)
    };
    let ((first, changed), ()) = tokio::join!(change, desk.server.deliver());
    assert_eq!(resource(&first), "a");
    assert!(desk.receiver.taken().is_empty(), "nothing more goes to the old URL");
    let received = other.taken();
    assert_eq!(attempts(&received), ["b 1", "c 1"]);
    let secret = changed["secret"].as_str().expect("a secret");
    assert!(received.iter().all(|r| r.is_signed(secret)) && !first.is_signed(secret));
}

#[tokio::test]
async fn a_subscription_paused_during_a_turn_goes_on_behind_what_was_sent() {
    let mut desk = Desk::start().await;
    let webhook = subscribe(&desk, json!({ "maxConcurrent": 1 })).await;
    log(&desk, &["a", "b", "c"]).await;
    let held = desk.receiver.hold().await;
    let (api, receiver) = (&desk.api, &mut desk.receiver);
    let pause = async {
        receiver.next().await;
        api.patch(webhook.as_str(), json!({ "status": "paused" })).send().await.expect(200);
        drop(held);
    };
    tokio::join!(pause, desk.server.deliver());
    desk.server.deliver().await;
    assert!(desk.receiver.taken().is_empty());
    desk.set(&webhook, "active").await;
    desk.server.deliver().await;
    assert_eq!(attempts(&desk.receiver.taken()), ["b 1", "c 1"]);
}

#[tokio::test]
async fn a_subscription_deleted_during_a_turn_sends_nothing_more() {
    let mut desk = Desk::start().await;
    let webhook = subscribe(&desk, json!({ "maxConcurrent": 1 })).await;
    log(&desk, &["a", "b", "c"]).await;
    let held = desk.receiver.hold().await;
    let (api, receiver) = (&desk.api, &mut desk.receiver);
    let delete = async {
        receiver.next().await;
        api.delete(webhook.as_str()).send().await.expect(204);
        drop(held);
    };
    tokio::join!(delete, desk.server.deliver());
    desk.server.deliver().await;
    assert!(desk.receiver.taken().is_empty());
}

/// The old URL answers 410 or fails when the new one is already set.
#[tokio::test]
async fn what_an_old_url_answers_says_nothing_of_the_new_one() {
    let mut desk = Desk::start().await;
    let mut other = Receiver::start().await;
    let webhook = subscribe(&desk, json!({ "maxConcurrent": 1 })).await;
    log(&desk, &["a", "b"]).await;
    desk.receiver.answer(410, &[]);
    let held = desk.receiver.hold().await;
    let (api, receiver) = (&desk.api, &mut desk.receiver);
    let change = async {
        receiver.next().await;
        api.patch(webhook.as_str(), json!({ "url": other.url() })).send().await.expect(200);
        drop(held);
    };
    tokio::join!(change, desk.server.deliver());
    assert_eq!(attempts(&other.taken()), ["b 1"]);
    let well = shown(&desk, &webhook).await;
    assert_eq!(
        (&well["status"], &well["consecutiveFailures"], &well["lastFailure"]),
        (&json!("active"), &json!(0), &Value::Null)
    );
}
