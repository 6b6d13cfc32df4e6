//! The rights of a webhook: it ends with the key, or access token, that last set its events or URL, and it gets no more than that key may
//! read.

use harness::Actor;
use serde_json::{Value, json};
use service::job_runner::runner;
use service::webhooks::delivery::DELIVER;
use service::webhooks::fanout;
use storage::key_revocations::{self, KeyWebhooks};

use crate::webhooks::changes::{UPDATED, attempts, log, log_as};
use crate::webhooks::desk::Desk;

const WEBHOOKS: &str = "/v1/webhooks";
const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;

/// A client with this key or access token.
fn with_key(desk: &Desk, key: &Value) -> Actor {
    let mut actor = desk.server.anonymous();
    actor.key = Some(key.as_str().expect("a key").to_owned());
    actor
}

/// A client with an access token of this key, for a minute.
async fn token(desk: &Desk, of: &Actor) -> Actor {
    let body = json!({
        "grant_type": "client_credentials", "scope": "webhooks.write calendar.read", "expires_in": 60,
    });
    let made = of.post("/v1/oauth/token", body).send().await.expect(200);
    with_key(desk, &made["access_token"])
}

/// A client with a new key for webhooks of calendars, and the id of the key; `change` overrides its fields.
async fn key(desk: &Desk, change: Value) -> (Actor, String) {
    let mut body = json!({ "name": "partner", "scopes": ["webhooks.write", "calendar.read"] });
    for (name, value) in change.as_object().expect("an object") {
        body[name] = value.clone();
    }
    let made = desk.api.post("/v1/api-keys", body).send().await.expect(201);
    (with_key(desk, &made["key"]), made["id"].as_str().expect("an id").to_owned())
}

async fn revoke(desk: &Desk, key_id: &str) {
    desk.api.delete(format!("/v1/api-keys/{key_id}")).send().await.expect(204);
}

/// A new subscription of this client.
async fn subscribe(desk: &Desk, api: &Actor, event_types: &[&str]) -> Value {
    let body = json!({ "url": desk.receiver.url(), "eventTypes": event_types });
    api.post(WEBHOOKS, body).send().await.expect(201)
}

fn path(webhook: &Value) -> String {
    format!("{WEBHOOKS}/{}", webhook["id"].as_str().expect("an id"))
}

async fn shown(desk: &Desk, webhook: &Value) -> Value {
    desk.api.get(path(webhook)).send().await.expect(200)
}

/// Logs these updates and returns the attempts that are received when everything is done that a service does by itself.
async fn delivered(desk: &mut Desk, resources: &[&str]) -> Vec<String> {
    log(desk, resources).await;
    desk.server.deliver().await;
    let mut received = attempts(&desk.receiver.taken());
    received.sort();
    received
}

#[track_caller]
fn assert_ended(webhook: &Value) {
    let found = (&webhook["status"], &webhook["disabledReason"]);
    assert_eq!(found, (&json!("disabled"), &json!("key_ended")), "{webhook:#}");
}

/// The number of events that tell of a webhook that was disabled.
async fn told(desk: &Desk) -> usize {
    desk.api.all("/v1/events?type=webhook.disabled").await.len()
}

/// A one-minute token leaves nothing behind that continues after the minute, even before a job notices its end.
#[tokio::test]
async fn a_webhook_of_an_access_token_ends_with_it() {
    let mut desk = Desk::start().await;
    let token = token(&desk, &desk.api).await;
    let made = subscribe(&desk, &token, &[UPDATED]).await;
    assert_eq!(made["warnings"][0]["code"], "ends_with_key", "{made:#}");
    assert!(made["warnings"][0]["message"].as_str().is_some_and(|text| text.contains("08:01:00.000Z")));
    assert_eq!(delivered(&mut desk, &["a"]).await, ["a 1"]);

    desk.server.clock.advance_ms(MINUTE_MS);
    log(&desk, &["b"]).await;
    let app = &desk.server.app;
    fanout::wake(app, None).await.expect("the feeds are read");
    runner::drain(app, &[fanout::FANOUT, DELIVER]).await.expect("the jobs are run");
    assert!(desk.receiver.taken().is_empty(), "nothing is sent after the end");
    assert_ended(&shown(&desk, &made).await);
    let test = desk.api.post(format!("{}/test", path(&made)), json!({})).send().await;
    test.refused(409, "invalid_state");

    assert!(delivered(&mut desk, &["c"]).await.is_empty());
    let ended = shown(&desk, &made).await;
    assert_ended(&ended);
    assert_eq!(ended["keyId"], made["keyId"]);
    let told = desk.api.all("/v1/events?type=webhook.disabled").await;
    assert_eq!(told.len(), 1, "{told:#?}");
    assert_eq!(told[0]["data"]["resource"], json!({ "id": made["id"], "disabledReason": "key_ended" }));
}

/// An access token ends with its key, and so do its webhooks.
#[tokio::test]
async fn a_revoked_key_ends_the_webhooks_of_its_tokens() {
    let mut desk = Desk::start().await;
    let (partner, key_id) = key(&desk, json!({})).await;
    let made = subscribe(&desk, &token(&desk, &partner).await, &[UPDATED]).await;
    // A key with the same rights takes over webhooks of the key itself, but not those of its tokens.
    let (_, _) = key(&desk, json!({})).await;
    revoke(&desk, &key_id).await;
    assert_ended(&shown(&desk, &made).await);
    assert!(delivered(&mut desk, &["a"]).await.is_empty());
    assert_eq!(told(&desk).await, 1);
}

/// The webhooks of a revoked key end with it, even if other keys of the application may read more.
#[tokio::test]
async fn a_webhook_ends_with_the_key_that_made_it() {
    let mut desk = Desk::start().await;
    let (partner, key_id) = key(&desk, json!({})).await;
    let made = subscribe(&desk, &partner, &[UPDATED]).await;
    assert_eq!((&made["keyId"], &made["warnings"]), (&json!(key_id), &json!([])));
    let other = subscribe(&desk, &desk.api, &[UPDATED]).await;
    assert_eq!(delivered(&mut desk, &["a"]).await, ["a 1", "a 1"]);
    let bound = json!({ "connectionIds": [desk.connection] });
    let (_, _) = key(&desk, bound).await;
    let (_, _) = key(&desk, json!({ "scopes": ["webhooks.write", "calendar.write"] })).await;
    revoke(&desk, &key_id).await;
    assert_ended(&shown(&desk, &made).await);
    assert_eq!(delivered(&mut desk, &["b"]).await, ["b 1"], "the other one goes on");
    assert_eq!(shown(&desk, &other).await["status"], "active");
    assert_eq!(told(&desk).await, 1);
}

/// A key that is rotated (another one is made, and the old one revoked) keeps its webhooks, including their waiting deliveries.
#[tokio::test]
async fn a_rotated_key_takes_its_webhooks_along() {
    let mut desk = Desk::start().await;
    let (old, old_id) = key(&desk, json!({})).await;
    let made = subscribe(&desk, &old, &[UPDATED]).await;
    desk.receiver.answer(500, &[]);
    assert_eq!(delivered(&mut desk, &["a"]).await, ["a 1"]);
    let (new, new_id) = key(&desk, json!({ "scopes": ["calendar.read", "webhooks.write"] })).await;
    revoke(&desk, &old_id).await;
    let passed = shown(&desk, &made).await;
    assert_eq!((&passed["status"], &passed["keyId"]), (&json!("active"), &json!(new_id)), "{passed:#}");
    assert_ne!(passed["etag"], made["etag"]);
    desk.server.clock.advance_ms(10_000);
    assert_eq!(delivered(&mut desk, &["b"]).await, ["a 2", "b 1"]);
    new.patch(path(&made), json!({ "description": "still here" })).send().await.expect(200);
    assert_eq!(told(&desk).await, 0);
    revoke(&desk, &new_id).await;
    assert!(delivered(&mut desk, &["c"]).await.is_empty(), "there is no other key like it");
    assert_ended(&shown(&desk, &made).await);
}

/// An older key with the same rights is no rotation: the webhooks of the revoked key end.
#[tokio::test]
async fn a_webhook_does_not_pass_to_an_older_key() {
    let mut desk = Desk::start().await;
    let (older, _) = key(&desk, json!({})).await;
    let own = subscribe(&desk, &older, &[UPDATED]).await;
    desk.server.clock.advance_ms(1);
    let (partner, key_id) = key(&desk, json!({})).await;
    let made = subscribe(&desk, &partner, &[UPDATED]).await;
    revoke(&desk, &key_id).await;
    assert_ended(&shown(&desk, &made).await);
    assert_eq!(delivered(&mut desk, &["a"]).await, ["a 1"], "the older key's goes on");
    assert_eq!(shown(&desk, &own).await["status"], "active");
    assert_eq!(told(&desk).await, 1);
}

/// A key that was stolen is revoked with everything that it made, however many keys are like it.
#[tokio::test]
async fn a_stolen_key_is_revoked_with_its_webhooks() {
    let mut desk = Desk::start().await;
    let (stolen, key_id) = key(&desk, json!({})).await;
    let made = subscribe(&desk, &stolen, &[UPDATED]).await;
    let (_, _) = key(&desk, json!({})).await;
    let path = format!("/v1/api-keys/{key_id}");
    let error = desk.api.delete(format!("{path}?webhooks=keep")).send().await;
    assert_eq!(error.refused(400, "invalid_parameter")["param"], "webhooks");
    stolen.get("/v1/webhooks").send().await.expect(200);
    desk.api.delete(format!("{path}?webhooks=disable")).send().await.expect(204);
    // Revoked again in the usual way, it passes nothing on.
    desk.api.delete(path).send().await.expect(204);
    assert_ended(&shown(&desk, &made).await);
    assert!(delivered(&mut desk, &["a"]).await.is_empty());
}

/// A key that expires is no other case: its webhooks pass to a key like it, and end where there is none.
#[tokio::test]
async fn a_webhook_ends_when_its_key_expires() {
    let mut desk = Desk::start().await;
    let (guest, _) = key(&desk, json!({ "expiresAt": "2026-03-01T09:00:00Z" })).await;
    let made = subscribe(&desk, &guest, &[UPDATED]).await;
    assert_eq!(made["warnings"][0]["code"], "ends_with_key", "{made:#}");
    let (_, heir_id) = key(&desk, json!({ "expiresAt": "2026-03-01T10:00:00Z" })).await;
    desk.server.clock.advance_ms(HOUR_MS);
    desk.server.deliver().await;
    let passed = shown(&desk, &made).await;
    assert_eq!((&passed["status"], &passed["keyId"]), (&json!("active"), &json!(heir_id)), "{passed:#}");
    assert_eq!(delivered(&mut desk, &["a"]).await, ["a 1"]);
    desk.server.clock.advance_ms(HOUR_MS);
    assert!(delivered(&mut desk, &["b"]).await.is_empty());
    assert_ended(&shown(&desk, &made).await);
    assert_eq!(told(&desk).await, 1);
}

/// A revocation by another process does not notify this one, and outlasts a restart.
#[tokio::test]
async fn an_end_outlasts_a_restart() {
    let mut desk = Desk::start().await;
    let (partner, key_id) = key(&desk, json!({})).await;
    let made = subscribe(&desk, &partner, &[UPDATED]).await;
    desk.receiver.answer(500, &[]);
    assert_eq!(delivered(&mut desk, &["a"]).await, ["a 1"]);
    let now = desk.server.app.now();
    let revoked: anyhow::Result<bool> = desk
        .server
        .app
        .db
        .write(move |tx| {
            Box::pin(async move { key_revocations::revoke_any(tx, &key_id, KeyWebhooks::PassOn, now).await })
        })
        .await;
    assert!(revoked.expect("a write"));
    desk.server = desk.server.restart().await;
    desk.api = harness::reconnected(&desk.server, &desk.api);
    desk.server.clock.advance_ms(MINUTE_MS);
    assert!(delivered(&mut desk, &["b"]).await.is_empty(), "neither what is new nor what failed before");
    assert_ended(&shown(&desk, &made).await);
    let deliveries = desk.api.all(&format!("{}/deliveries", path(&made))).await;
    assert_eq!(deliveries.len(), 1, "{deliveries:#?}");
    assert_eq!(deliveries[0]["status"], "discarded");
}

/// The key that activates a webhook whose key has ended is responsible for it from then on, and adds no events to it.
#[tokio::test]
async fn another_key_activates_what_has_ended() {
    let mut desk = Desk::start().await;
    let (partner, key_id) = key(&desk, json!({})).await;
    let made = subscribe(&desk, &partner, &["*"]).await;
    revoke(&desk, &key_id).await;
    let (narrow, _) = key(&desk, json!({ "scopes": ["webhooks.write", "tasks.read"] })).await;
    // Not before its deliveries are given up, and without waiting for the job that does it.
    let active = desk.api.patch(path(&made), json!({ "status": "active" })).send().await.expect(200);
    assert_eq!((&active["status"], &active["disabledReason"]), (&json!("active"), &Value::Null));
    assert_ne!(active["keyId"], made["keyId"]);
    log_as(&desk, &[("mail", "email.message.created"), ("a", UPDATED)]).await;
    desk.server.deliver().await;
    assert_eq!(attempts(&desk.receiver.taken()), ["a 1"]);
    narrow.patch(path(&made), json!({ "description": "x" })).send().await.expect(200);

    let calendars = subscribe(&desk, &token(&desk, &desk.api).await, &["calendar.*"]).await;
    desk.server.clock.advance_ms(MINUTE_MS);
    desk.server.deliver().await;
    let refused = narrow.patch(path(&calendars), json!({ "status": "active" })).send().await;
    assert_eq!(refused.refused(403, "insufficient_scope")["param"], "eventTypes[0]");
    assert_ended(&shown(&desk, &calendars).await);
}

/// A webhook gets more where a request names `url` or `eventTypes`, and nowhere else: a key that may read more changes other fields
/// and adds nothing.
#[tokio::test]
async fn a_webhook_grows_only_where_it_is_asked_to() {
    let mut desk = Desk::start().await;
    let (weak, key_id) = key(&desk, json!({})).await;
    let made = subscribe(&desk, &weak, &["*"]).await;
    let mail = [("mail", "email.message.created"), ("a", UPDATED)];
    for patch in [
        json!({ "description": "of another key" }),
        json!({ "payloadMode": "thin" }),
        json!({ "payloadMode": "full", "includeBackfill": true }),
        json!({ "connectionIds": [desk.connection] }),
        json!({ "connectionIds": [], "maxConcurrent": 3, "metadata": { "a": "b" } }),
        json!({ "headers": { "X-Team": "a" }, "rotateSecret": true }),
    ] {
        let changed = desk.api.patch(path(&made), patch.clone()).send().await.expect(200);
        assert_eq!(changed["keyId"], json!(key_id), "{patch}");
        log_as(&desk, &mail).await;
        desk.server.deliver().await;
        assert_eq!(attempts(&desk.receiver.taken()), ["a 1"], "{patch}");
    }
    let named = desk.api.patch(path(&made), json!({ "eventTypes": ["*"] })).send().await.expect(200);
    assert_ne!(named["keyId"], json!(key_id));
    log_as(&desk, &mail).await;
    desk.server.deliver().await;
    assert_eq!(attempts(&desk.receiver.taken()).len(), 2, "now it has what this key may read");
    // It rests on the key that said so.
    revoke(&desk, &key_id).await;
    assert_eq!(shown(&desk, &made).await["status"], "active");
}

/// A key that may read less removes the events that it may not read.
#[tokio::test]
async fn a_key_that_reads_less_sends_less() {
    let mut desk = Desk::start().await;
    let made = subscribe(&desk, &desk.api, &["*"]).await;
    let (weak, _) = key(&desk, json!({})).await;
    // It repeats the fields that it has read, and changes no events.
    let read = desk.api.get(path(&made)).send().await.expect(200);
    weak.patch(path(&made), read.clone()).send().await.expect(200);
    log_as(&desk, &[("mail", "email.message.created")]).await;
    desk.server.deliver().await;
    assert_eq!(attempts(&desk.receiver.taken()), ["mail 1"]);
    let thin = weak.patch(path(&made), json!({ "payloadMode": "thin" })).send().await.expect(200);
    assert_eq!(thin["keyId"], read["keyId"], "the key that said where it is sent still answers for it");
    log_as(&desk, &[("mail", "email.message.created"), ("a", UPDATED)]).await;
    desk.server.deliver().await;
    assert_eq!(attempts(&desk.receiver.taken()), ["a 1"]);
}

/// A token that redirects a permanent webhook ends it at its own expiry; one that changes another field, or repeats current values, does
/// not.
#[tokio::test]
async fn a_token_that_leads_a_webhook_elsewhere_ends_it() {
    let mut desk = Desk::start().await;
    let made = subscribe(&desk, &desk.api, &[UPDATED]).await;
    let token = token(&desk, &desk.api).await;
    let described = token.patch(path(&made), json!({ "description": "x" })).send().await.expect(200);
    let repeated = token.patch(path(&made), described.clone()).send().await.expect(200);
    assert_eq!((&repeated["keyId"], &repeated["etag"]), (&made["keyId"], &described["etag"]));
    let url = format!("{}/of-the-token", desk.receiver.url());
    let led = token.patch(path(&made), json!({ "url": url })).send().await.expect(200);
    assert_ne!(led["keyId"], made["keyId"]);
    assert_eq!(led["warnings"][0]["code"], "ends_with_key", "{led:#}");
    assert_eq!(delivered(&mut desk, &["a"]).await, ["a 1"]);
    desk.server.clock.advance_ms(MINUTE_MS);
    assert!(delivered(&mut desk, &["b"]).await.is_empty());
    assert_ended(&shown(&desk, &made).await);
    let back = json!({ "url": desk.receiver.url(), "status": "active" });
    let back = desk.api.patch(path(&made), back).send().await.expect(200);
    assert_eq!((&back["keyId"], &back["warnings"]), (&made["keyId"], &json!([])));
    assert_eq!(delivered(&mut desk, &["c"]).await, ["c 1"]);
}

/// A token opens nothing that stays open after it: a webhook that it lets more through ends with it. One that it restricts stays.
#[tokio::test]
async fn a_token_that_widens_a_webhook_ends_it() {
    let desk = Desk::start().await;
    let token = token(&desk, &desk.api).await;
    let narrow = json!({
        "url": desk.receiver.url(), "eventTypes": [UPDATED], "connectionIds": [desk.connection], "payloadMode": "thin",
    });
    let mut widened = Vec::new();
    for change in
        [json!({ "connectionIds": [] }), json!({ "includeBackfill": true }), json!({ "payloadMode": "full" })]
    {
        let made = desk.api.post(WEBHOOKS, narrow.clone()).send().await.expect(201);
        let changed = token.patch(path(&made), change.clone()).send().await.expect(200);
        assert_ne!(changed["keyId"], made["keyId"], "{change}");
        assert_eq!(changed["warnings"][0]["code"], "ends_with_key", "{changed:#}");
        widened.push(made);
    }
    let lasting = subscribe(&desk, &desk.api, &[UPDATED]).await;
    let restricted = json!({ "connectionIds": [desk.connection], "payloadMode": "thin" });
    let changed = token.patch(path(&lasting), restricted).send().await.expect(200);
    assert_eq!(changed["keyId"], lasting["keyId"]);
    desk.server.clock.advance_ms(MINUTE_MS);
    desk.server.deliver().await;
    for webhook in &widened {
        assert_ended(&shown(&desk, webhook).await);
    }
    assert_eq!(shown(&desk, &lasting).await["status"], "active");
}
