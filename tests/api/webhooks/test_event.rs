//! `/v1/webhooks/{webhookId}/test`: what an endpoint makes of an event.

use std::cell::Cell;
use std::time::Duration;

use harness::receiver::Receiver;
use harness::{Exchange, TestServer};
use serde_json::{Value, json};

use crate::webhooks::desk::{CREATED, Desk};

/// Requests a test, and runs the deliveries.
async fn tested(desk: &Desk, webhook: &str) -> Exchange {
    let is_answered = Cell::new(false);
    let asked = async {
        let answer = desk.api.post(format!("{webhook}/test"), json!({})).send().await;
        is_answered.set(true);
        answer
    };
    let delivering = async {
        while !is_answered.get() {
            desk.server.deliver().await;
            tokio::task::yield_now().await;
        }
    };
    let (answer, ()) = tokio::join!(asked, delivering);
    answer
}

#[tokio::test]
async fn a_test_event_reaches_only_its_webhook() {
    let mut desk = Desk::start().await;
    let webhook = desk.subscribe(CREATED).await;
    let mut other = Receiver::start().await;
    let all = json!({ "url": other.url(), "eventTypes": ["*"] });
    desk.api.post("/v1/webhooks", all).send().await.expect(201);
    let delivery = tested(&desk, &webhook).await.expect(200);
    let received = desk.receiver.next().await;
    let body = received.json();
    assert_eq!((&body["type"], &body["id"]), (&json!("webhook.test"), &delivery["eventId"]));
    assert_eq!(
        (&body["data"]["resourceId"], &body["data"]["origin"]),
        (&delivery["webhookId"], &json!("api"))
    );
    assert_eq!(
        (&delivery["status"], &delivery["attempts"][0]["statusCode"]),
        (&json!("delivered"), &json!(204))
    );
    assert_eq!(received.header("webhook-attempt"), "1");
    desk.server.deliver().await;
    assert!(desk.receiver.taken().is_empty(), "it is sent once");
    assert!(other.taken().is_empty());
    let listed = desk.api.all(&format!("{webhook}/deliveries")).await;
    assert_eq!(listed, [delivery]);
}

/// The response of the endpoint is in the result of a test.
#[tokio::test]
async fn a_failed_test_shows_the_attempt() {
    let mut desk = Desk::start().await;
    let webhook = desk.subscribe(CREATED).await;
    desk.receiver.answer(500, &[]);
    let delivery = tested(&desk, &webhook).await.expect(200);
    assert_eq!(
        (&delivery["status"], &delivery["attempts"][0]["statusCode"], &delivery["attempts"][0]["error"]),
        (&json!("pending"), &json!(500), &json!("http"))
    );
    desk.receiver.next().await;
    desk.server.clock.advance_ms(6_000);
    desk.server.deliver().await;
    assert_eq!(desk.receiver.next().await.header("webhook-attempt"), "2");
}

/// A test of an ordered webhook does not wait for the retry of an earlier test: its owner has changed something in between.
#[tokio::test]
async fn a_test_waits_for_no_earlier_test() {
    let mut desk = Desk::start().await;
    let made = desk.subscription(json!({ "eventTypes": CREATED, "ordered": true })).await;
    let webhook = format!("/v1/webhooks/{}", made["id"].as_str().expect("an id"));
    desk.receiver.answer(500, &[]);
    let first = tested(&desk, &webhook).await.expect(200);
    assert_eq!((&first["status"], &first["attempts"][0]["statusCode"]), (&json!("pending"), &json!(500)));
    let second = tested(&desk, &webhook).await.expect(200);
    assert_eq!((&second["status"], &second["attempts"][0]["statusCode"]), (&json!("delivered"), &json!(204)));
    let ids: Vec<Value> = desk.receiver.taken().iter().map(|r| r.json()["id"].clone()).collect();
    assert_eq!(ids, [first["eventId"].clone(), second["eventId"].clone()]);
}

/// The answer does not wait longer than a client can: it is the delivery as it is then.
#[tokio::test]
async fn a_test_that_is_under_way_is_pending() {
    let Desk { server, api, connection, calendar, receiver } = Desk::start().await;
    let server = server.restart_with(|config| config.webhook_test_wait = Duration::from_millis(50)).await;
    let api = harness::reconnected(&server, &api);
    let mut desk = Desk { server, api, connection, calendar, receiver };
    let webhook = desk.subscribe(CREATED).await;
    // No delivery is run.
    let delivery = desk.api.post(format!("{webhook}/test"), json!({})).send().await.expect(200);
    assert_eq!((&delivery["status"], &delivery["attempts"]), (&json!("pending"), &json!([])));
    desk.server.deliver().await;
    assert_eq!(desk.receiver.next().await.json()["id"], delivery["eventId"]);
}

#[tokio::test]
async fn a_subscription_that_sends_nothing_is_not_tested() {
    let desk = Desk::start().await;
    let webhook = desk.subscribe(CREATED).await;
    let test = format!("{webhook}/test");
    for status in ["paused", "disabled"] {
        desk.set(&webhook, status).await;
        let error = desk.api.post(&test, json!({})).send().await.refused(409, "invalid_state");
        assert!(error["message"].as_str().is_some_and(|m| m.contains(status)), "{error:#}");
    }
    desk.set(&webhook, "active").await;
    let stranger = desk.server.key("another", |_| ()).await;
    stranger.post(&test, json!({})).send().await.refused(404, "not_found");
    let reader = desk.server.client_with(&["webhooks.read"]).await;
    reader.post(&test, json!({})).send().await.refused(403, "insufficient_scope");
    assert_eq!(desk.api.all(&format!("{webhook}/deliveries")).await, Vec::<Value>::new());
}

/// A test that is asked for again under its key is not sent again.
#[tokio::test]
async fn the_same_key_tests_once() {
    let server =
        TestServer::builder().config(|config| config.webhook_test_wait = Duration::ZERO).start().await;
    let api = server.client().await;
    let body = json!({ "url": "https://1.1.1.1/hook", "eventTypes": ["*"] });
    let made = api.post("/v1/webhooks", body).send().await.expect(201);
    let path = format!("/v1/webhooks/{}", made["id"].as_str().expect("an id"));
    let ask = || api.post(format!("{path}/test"), json!({})).keyed("k");
    let delivery = ask().send().await.expect(200);
    let again = ask().send().await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.expect(200), delivery);
    assert_eq!(api.all(&format!("{path}/deliveries")).await, [delivery]);
}
