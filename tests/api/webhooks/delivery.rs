//! Delivery to a webhook: its events, its signatures, and its retries when the endpoint fails.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use harness::receiver::{Received, Receiver};
use harness::{Actor, TestServer};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use service::job_runner::runner;
use service::retention;
use service::webhooks::delivery::DELIVER;
use service::webhooks::fanout;
use sha2::Sha256;
use storage::sql::query;
use tokio::sync::watch;

/// A server that may deliver to the loopback interface.
async fn server() -> TestServer {
    let loopback = "127.0.0.0/8".parse().expect("a network");
    TestServer::builder().config(|config| config.webhook_allow = vec![loopback]).start().await
}

async fn subscribe(api: &Actor, receiver: &Receiver, body: Value) -> Value {
    let mut all = json!({ "url": receiver.url(), "eventTypes": ["*"] });
    for (name, value) in body.as_object().expect("an object") {
        all[name] = value.clone();
    }
    api.post("/v1/webhooks", all).send().await.expect(201)
}

/// A calendar of alice's with the connection that it is in.
async fn calendar(api: &Actor) -> (String, String) {
    let connection = api.connect_sandbox().await;
    let calendar = api.calendar(&connection, "Work").await;
    (connection["id"].as_str().expect("an id").to_owned(), calendar)
}

async fn create_event(api: &Actor, (connection, calendar): &(String, String), title: &str) -> Value {
    let body = json!({
        "connection_id": connection,
        "title": title,
        "start": "2026-03-02T09:00:00Z",
        "end": "2026-03-02T10:00:00Z",
    });
    api.post(format!("/v1/calendars/{calendar}/events"), body).send().await.expect(201)
}

fn types(received: &[Received]) -> Vec<String> {
    received.iter().map(|r| r.json()["type"].as_str().expect("a type").to_owned()).collect()
}

fn titles(received: &[Received]) -> Vec<String> {
    let title = |r: &Received| r.json()["data"]["resource"]["title"].as_str().unwrap_or_default().to_owned();
    received.iter().map(title).collect()
}

/// The signature of a delivery according to the standard, computed independently.
fn signature(secret: &str, received: &Received) -> String {
    let key = BASE64_STANDARD.decode(secret.strip_prefix("whsec_").expect("a secret")).expect("base64");
    let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(&key).expect("a key");
    let (id, at) = (received.header("webhook-id"), received.header("webhook-timestamp"));
    mac.update(format!("{id}.{at}.").as_bytes());
    mac.update(&received.body);
    format!("v1,{}", BASE64_STANDARD.encode(mac.finalize().into_bytes()))
}

#[tokio::test]
async fn a_change_is_delivered_signed() {
    let (server, mut receiver) = (server().await, Receiver::start().await);
    let api = server.client().await;
    let place = calendar(&api).await;
    let webhook = subscribe(&api, &receiver, json!({ "eventTypes": ["calendar.event.*"] })).await;
    let event = create_event(&api, &place, "Planning").await;
    server.deliver().await;
    let received = receiver.next().await;
    let body = received.json();
    assert_eq!(body["type"], "calendar.event.created");
    assert_eq!(body["connection_id"], place.0);
    assert_eq!(body["data"]["resource"]["id"], event["id"]);
    assert_eq!(received.header("webhook-id"), body["id"]);
    assert_eq!(received.header("webhook-attempt"), "1");
    let secret = webhook["secret"].as_str().expect("a secret");
    assert_eq!(received.header("webhook-signature"), signature(secret, &received));
    assert!(receiver.taken().is_empty(), "it is delivered once");
}

#[tokio::test]
async fn a_filter_leaves_out_other_types_and_connections() {
    let (server, mut receiver) = (server().await, Receiver::start().await);
    let api = server.client().await;
    let place = calendar(&api).await;
    let other = api.connect_account("bob").await;
    subscribe(&api, &receiver, json!({ "connectionIds": [other] })).await;
    subscribe(&api, &receiver, json!({ "eventTypes": ["calendar.event.deleted"] })).await;
    create_event(&api, &place, "Planning").await;
    server.deliver().await;
    assert!(receiver.taken().is_empty());
    let exact = json!({ "eventTypes": ["calendar.event.created"], "connectionIds": [place.0] });
    subscribe(&api, &receiver, exact).await;
    create_event(&api, &place, "Review").await;
    server.deliver().await;
    assert_eq!(titles(&receiver.taken()), ["Review"]);
}

/// Filters of subscriptions are cached in memory under their version. Another host that changes a filter raises the version, as this
/// statement does, and later events use the change.
#[tokio::test]
async fn a_filter_that_another_host_changed_counts() {
    let (server, mut receiver) = (server().await, Receiver::start().await);
    let api = server.client().await;
    let place = calendar(&api).await;
    subscribe(&api, &receiver, json!({ "eventTypes": ["calendar.event.deleted"] })).await;
    create_event(&api, &place, "Planning").await;
    server.deliver().await;
    assert!(receiver.taken().is_empty());
    let changed: anyhow::Result<u64> = server
        .app
        .db
        .write(|tx| {
            Box::pin(async move {
                query("update webhook_feeds set version = version + 1").execute(&mut *tx).await?;
                let filter = "update webhooks set event_types = '[\"calendar.event.created\"]', updated_at = updated_at + 1";
                query(filter).execute(tx).await
            })
        })
        .await;
    assert_eq!(changed.expect("it is written"), 1);
    create_event(&api, &place, "Review").await;
    server.deliver().await;
    assert_eq!(titles(&receiver.taken()), ["Review"]);
}

/// A host that sees an event wakes the deliveries at once: no job is enqueued, claimed and ended before.
#[tokio::test]
async fn a_new_event_wakes_its_deliveries_without_a_job() {
    let (server, mut receiver) = (server().await, Receiver::start().await);
    let api = server.client().await;
    let place = calendar(&api).await;
    subscribe(&api, &receiver, json!({ "eventTypes": ["calendar.event.created"] })).await;
    server.deliver().await;
    let (stop, stopping) = watch::channel(false);
    let app = server.app.clone();
    let looking = tokio::spawn(async move { fanout::match_events(&app, stopping).await });
    create_event(&api, &place, "Planning").await;
    // The fan-out is not run by the test.
    while runner::drain(&server.app, &[DELIVER]).await.expect("the jobs are run") == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(titles(&[receiver.next().await]), ["Planning"]);
    stop.send_replace(true);
    looking.await.expect("it ends");
    server.deliver().await;
    assert!(receiver.taken().is_empty(), "it is delivered once");
}

#[tokio::test]
async fn backfill_is_left_out() {
    let (server, mut receiver) = (server().await, Receiver::start().await);
    let api = server.client().await;
    subscribe(&api, &receiver, json!({ "eventTypes": ["calendar.event.*"] })).await;
    let place = calendar(&api).await;
    // The initial sync finds the existing items.
    let path =
        format!("/v1/calendars/{}/events?start=2026-03-01T00:00:00Z&end=2026-04-01T00:00:00Z", place.1);
    api.get(path).send().await.expect(200);
    server.deliver().await;
    assert!(receiver.taken().is_empty());
    create_event(&api, &place, "News").await;
    server.deliver().await;
    assert_eq!(titles(&receiver.taken()), ["News"]);
}

#[tokio::test]
async fn a_subscription_sees_every_event_after_it() {
    let (server, mut receiver) = (server().await, Receiver::start().await);
    let api = server.client().await;
    let place = calendar(&api).await;
    create_event(&api, &place, "before").await;
    subscribe(&api, &receiver, json!({ "eventTypes": ["calendar.event.created"] })).await;
    let names: Vec<String> = (0..20).map(|n| format!("event {n}")).collect();
    for name in &names {
        create_event(&api, &place, name).await;
    }
    server.deliver().await;
    let mut found = titles(&receiver.taken());
    found.sort();
    let mut expected = names;
    expected.sort();
    assert_eq!(found, expected);
}

#[tokio::test]
async fn a_key_of_one_connection_gets_its_events_only() {
    let (server, mut receiver) = (server().await, Receiver::start().await);
    let api = server.client().await;
    let (mine, other) = (calendar(&api).await, api.connect_account("bob").await);
    let bound = server.key("test", |key| key.connection_ids = vec![other.clone()]).await;
    subscribe(&bound, &receiver, json!({})).await;
    create_event(&api, &mine, "not its business").await;
    server.deliver().await;
    assert!(receiver.taken().is_empty());
    let calendars = api.all(&format!("/v1/calendars?connection_id={other}")).await;
    let writable = calendars.iter().find(|c| c["readOnly"] == false).expect("a calendar");
    let place = (other, writable["id"].as_str().expect("an id").to_owned());
    create_event(&api, &place, "its own").await;
    server.deliver().await;
    assert_eq!(titles(&receiver.taken()), ["its own"]);
}

/// The address was allowed when the subscription was made, and is not any more.
#[tokio::test]
async fn a_private_address_is_refused_at_connect() {
    let (server, mut receiver) = (server().await, Receiver::start().await);
    let api = server.client().await;
    let place = calendar(&api).await;
    let webhook = subscribe(&api, &receiver, json!({ "eventTypes": ["calendar.event.created"] })).await;
    let server = server.restart_with(|config| config.webhook_allow = Vec::new()).await;
    let api = harness::reconnected(&server, &api);
    create_event(&api, &place, "Planning").await;
    server.deliver().await;
    assert!(receiver.taken().is_empty());
    let path = format!("/v1/webhooks/{}", webhook["id"].as_str().expect("an id"));
    let shown = api.get(path).send().await.expect(200);
    assert_eq!(shown["lastFailure"]["error"], "blocked_address");
    assert_eq!(shown["consecutiveFailures"], 1);
}

#[tokio::test]
async fn a_failed_delivery_is_tried_again_and_delivered_once() {
    let (server, mut receiver) = (server().await, Receiver::start().await);
    let api = server.client().await;
    let place = calendar(&api).await;
    subscribe(&api, &receiver, json!({ "eventTypes": ["calendar.event.created"] })).await;
    receiver.answer(500, &[]);
    receiver.answer(429, &[("retry-after", "3600")]);
    create_event(&api, &place, "Planning").await;
    server.deliver().await;
    let first = receiver.next().await;
    server.deliver().await;
    assert!(receiver.taken().is_empty(), "it is not tried again at once");
    server.clock.advance_ms(6_000);
    server.deliver().await;
    let second = receiver.next().await;
    assert_eq!(second.body, first.body);
    assert_eq!(second.header("webhook-id"), first.header("webhook-id"));
    assert_eq!(second.header("webhook-attempt"), "2");
    // The endpoint asked for an hour, which is more than the schedule has.
    server.clock.advance_ms(3_500_000);
    server.deliver().await;
    assert!(receiver.taken().is_empty());
    server.clock.advance_ms(101_000);
    server.deliver().await;
    assert_eq!(receiver.next().await.header("webhook-attempt"), "3");
    server.clock.advance_ms(90 * 3_600_000);
    server.deliver().await;
    assert!(receiver.taken().is_empty(), "it was delivered");
}

#[tokio::test]
async fn gone_disables() {
    let (server, mut receiver) = (server().await, Receiver::start().await);
    let api = server.client().await;
    let place = calendar(&api).await;
    let webhook = subscribe(&api, &receiver, json!({ "eventTypes": ["calendar.event.created"] })).await;
    receiver.answer(410, &[]);
    create_event(&api, &place, "Planning").await;
    server.deliver().await;
    receiver.next().await;
    let path = format!("/v1/webhooks/{}", webhook["id"].as_str().expect("an id"));
    let shown = api.get(path).send().await.expect(200);
    assert_eq!((&shown["status"], &shown["disabledReason"]), (&json!("disabled"), &json!("gone_410")));
    create_event(&api, &place, "Review").await;
    server.deliver().await;
    assert!(receiver.taken().is_empty());
}

#[tokio::test]
async fn a_paused_subscription_goes_on_where_it_stopped() {
    let (server, mut receiver) = (server().await, Receiver::start().await);
    let api = server.client().await;
    let place = calendar(&api).await;
    let webhook = subscribe(&api, &receiver, json!({ "eventTypes": ["calendar.event.created"] })).await;
    let path = format!("/v1/webhooks/{}", webhook["id"].as_str().expect("an id"));
    api.patch(path.clone(), json!({ "status": "paused" })).send().await.expect(200);
    create_event(&api, &place, "while it is paused").await;
    server.deliver().await;
    assert!(receiver.taken().is_empty());
    api.patch(path, json!({ "status": "active" })).send().await.expect(200);
    server.deliver().await;
    assert_eq!(titles(&receiver.taken()), ["while it is paused"]);
}

#[tokio::test]
async fn another_tenants_events_never_arrive() {
    let (server, mut receiver) = (server().await, Receiver::start().await);
    let (api, other) = (server.client().await, server.key("another", |_| ()).await);
    let place = calendar(&other).await;
    subscribe(&api, &receiver, json!({})).await;
    create_event(&other, &place, "not theirs").await;
    server.deliver().await;
    assert_eq!(types(&receiver.taken()), [] as [String; 0]);
}

/// Deliveries that arrived are deleted after three days, and all data of a deleted subscription.
#[tokio::test]
async fn old_deliveries_are_forgotten() {
    let (server, mut receiver) = (server().await, Receiver::start().await);
    let api = server.client().await;
    let place = calendar(&api).await;
    let webhook = subscribe(&api, &receiver, json!({ "eventTypes": ["calendar.event.*"] })).await;
    create_event(&api, &place, "Planning").await;
    server.deliver().await;
    receiver.next().await;
    let count = async |sql: &'static str| -> i64 {
        query(sql).fetch_one(server.app.db.reader(), |row| row.get("n")).await.expect("a number")
    };
    let deliveries = "select count(*) as n from webhook_deliveries";
    retention::clean(&server.app).await.expect("it is cleaned");
    assert_eq!(count(deliveries).await, 1);
    server.clock.advance_ms(3 * 86_400_000 + 1);
    retention::clean(&server.app).await.expect("it is cleaned");
    assert_eq!(count(deliveries).await, 0);

    create_event(&api, &place, "Review").await;
    server.deliver().await;
    receiver.next().await;
    api.delete(format!("/v1/webhooks/{}", webhook["id"].as_str().expect("an id"))).send().await.expect(204);
    retention::clean(&server.app).await.expect("it is cleaned");
    assert_eq!(count(deliveries).await, 0);
    assert_eq!(count("select count(*) as n from webhooks").await, 0);
}
