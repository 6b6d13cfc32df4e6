//! `/v1/webhooks`: subscriptions are made, listed, read, changed and deleted.

use harness::{Actor, TestServer};
use serde_json::{Value, json};

const WEBHOOKS: &str = "/v1/webhooks";
/// A public address, which nothing is sent to here.
const HOOK: &str = "https://1.1.1.1/hook";

async fn subscribe(api: &Actor, event_types: &[&str]) -> Value {
    api.post(WEBHOOKS, json!({ "url": HOOK, "eventTypes": event_types })).send().await.expect(201)
}

fn path(webhook: &Value) -> String {
    format!("{WEBHOOKS}/{}", webhook["id"].as_str().expect("an id"))
}

/// The secret is in the answer to the create, and in its idempotent replay, and in no other answer.
#[tokio::test]
async fn the_secret_is_shown_once() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let body = json!({ "url": HOOK, "eventTypes": ["calendar.event.*"], "metadata": { "team": "a" } });
    let made = api.post(WEBHOOKS, body.clone()).keyed("k").send().await;
    let (location, etag) =
        (made.header("location").map(str::to_owned), made.header("etag").map(str::to_owned));
    let made = made.expect(201);
    let secret = made["secret"].as_str().expect("a secret");
    assert!(secret.starts_with("whsec_") && secret.len() == 50, "{secret}");
    assert_eq!(location, Some(path(&made)));
    assert_eq!(etag.as_deref(), made["etag"].as_str());
    assert_eq!((&made["status"], &made["signatures"]), (&json!("active"), &json!(["v1"])));
    assert_eq!((&made["maxConcurrent"], &made["maxPerSecond"]), (&json!(8), &Value::Null));
    assert_eq!((&made["metadata"], &made["warnings"]), (&json!({ "team": "a" }), &json!([])));
    assert_eq!(api.post(WEBHOOKS, body).keyed("k").send().await.expect(201), made);

    let read = api.get(path(&made)).send().await.expect(200);
    assert_eq!(read, json_with(&made, "secret", Value::Null));
    assert_eq!(api.all(WEBHOOKS).await, [read]);
}

fn json_with(value: &Value, name: &str, other: Value) -> Value {
    let mut changed = value.clone();
    changed[name] = other;
    changed
}

#[tokio::test]
async fn a_subscription_is_changed_and_deleted() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let made = subscribe(&api, &["*"]).await;
    let id = made["id"].as_str().expect("an id");
    let patch = json!({
        "url": "https://1.0.0.1/other", "event_types": ["task.completed"], "description": "tasks", "payloadMode": "thin",
        "headers": { "X-Team": "a", "X-Other": "b" }, "maxPerSecond": 5, "maxConcurrent": 1, "ordered": true,
        "includeBackfill": true, "metadata": { "a": "b" },
    });
    let changed = api.patch(path(&made), patch.clone()).send().await.expect(200);
    for (name, value) in patch.as_object().expect("an object") {
        let name = if name == "event_types" { "eventTypes" } else { name };
        if name != "headers" {
            assert_eq!(&changed[name], value, "{name}");
        }
    }
    assert_eq!(changed["secret"], Value::Null);
    assert_eq!(changed["headers"], json!({ "X-Team": "********", "X-Other": "********" }));
    assert_ne!(changed["etag"], made["etag"]);
    let headers = json!({ "headers": { "X-Other": null, "X-Third": "c" }, "description": null });
    let changed = api.patch(path(&made), headers).send().await.expect(200);
    assert_eq!(changed["headers"], json!({ "X-Team": "********", "X-Third": "********" }));
    assert_eq!((&changed["description"], &changed["maxPerSecond"]), (&Value::Null, &json!(5)));
    // A change without effect makes no new version; a read-only field with its current value is no fault.
    let same = api.patch(path(&made), changed.clone()).send().await.expect(200);
    assert_eq!(same, changed);

    let reader = server.app.db.reader();
    let job = storage::jobs::find(reader, &format!("deliver:{id}")).await.expect("a read");
    assert!(job.is_some(), "there is a job that delivers");
    api.delete(path(&made)).send().await.expect(204);
    api.get(path(&made)).send().await.refused(404, "not_found");
    api.patch(path(&made), json!({ "description": "x" })).send().await.refused(404, "not_found");
    api.delete(path(&made)).send().await.refused(404, "not_found");
    assert!(api.all(WEBHOOKS).await.is_empty());
    let job = storage::jobs::find(reader, &format!("deliver:{id}")).await.expect("a read");
    assert!(job.is_none(), "nothing is left to be delivered");
}

#[tokio::test]
async fn a_list_has_pages() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let mut made = Vec::new();
    for _ in 0..3 {
        made.push(subscribe(&api, &["*"]).await["id"].clone());
        server.clock.advance_ms(1);
    }
    let page = api.get(format!("{WEBHOOKS}?limit=2")).send().await.expect(200);
    assert_eq!(page["data"].as_array().map(Vec::len), Some(2));
    let all = api.all(&format!("{WEBHOOKS}?limit=2")).await;
    assert_eq!(all.iter().map(|w| w["id"].clone()).collect::<Vec<_>>(), made);
    api.get(format!("{WEBHOOKS}?cursor=nonsense")).send().await.refused(400, "invalid_cursor");
}

#[tokio::test]
async fn a_change_of_an_old_version_is_refused() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let made = subscribe(&api, &["*"]).await;
    let old = made["etag"].as_str().expect("an etag").to_owned();
    let patch = json!({ "description": "new" });
    let changed = api.patch(path(&made), patch).if_match(&old).send().await.expect(200);
    let new = changed["etag"].as_str().expect("an etag").to_owned();
    let again = json!({ "description": "newer" });
    let error = api.patch(path(&made), again.clone()).if_match(&old).send().await.refused(409, "stale_etag");
    assert_eq!(error["current_etag"], new);
    api.delete(path(&made)).if_match(&old).send().await.refused(409, "stale_etag");
    let in_body = json!({ "description": "newer", "etag": new });
    let keyed = || api.patch(path(&made), in_body.clone()).keyed("k");
    let changed = keyed().send().await.expect(200);
    assert_eq!(
        keyed().send().await.expect(200),
        changed,
        "a repeated change is answered as the first one was"
    );
    let newest = changed["etag"].as_str().expect("an etag");
    api.delete(path(&made)).if_match(newest).send().await.expect(204);
}

/// Events from the time of a pause are sent later; those from the time when the webhook was disabled are not.
#[tokio::test]
async fn paused_keeps_its_place_and_disabled_begins_from_now() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let made = subscribe(&api, &["*"]).await;
    let set =
        async |status: &str| api.patch(path(&made), json!({ "status": status })).send().await.expect(200);
    assert_eq!(set("paused").await["status"], "paused");
    api.connect_account("alice").await;
    let resumed = set("active").await;
    assert_eq!((&resumed["status"], &resumed["cursor"]), (&json!("active"), &made["cursor"]));

    let disabled = set("disabled").await;
    assert_eq!((&disabled["status"], &disabled["disabledReason"]), (&json!("disabled"), &json!("manual")));
    api.connect_account("bob").await;
    let active = set("active").await;
    assert_eq!((&active["status"], &active["disabledReason"]), (&json!("active"), &Value::Null));
    assert!(active["cursor"].as_i64() > made["cursor"].as_i64(), "{active:#}");

    let waits = json!({ "url": HOOK, "eventTypes": ["*"], "status": "paused" });
    assert_eq!(api.post(WEBHOOKS, waits).send().await.expect(201)["status"], "paused");
}

#[tokio::test]
async fn a_secret_is_rotated() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let own = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let body = json!({ "url": HOOK, "eventTypes": ["*"], "secret": own });
    let made = api.post(WEBHOOKS, body).send().await.expect(201);
    assert_eq!(made["secret"], own);
    let rotate = json!({ "rotateSecret": true, "secretGraceSeconds": 3_600 });
    let rotated = api.patch(path(&made), rotate).keyed("k").send().await.expect(200);
    let secret = rotated["secret"].as_str().expect("a secret");
    assert!(secret.starts_with("whsec_") && secret != own, "{secret}");
    assert_ne!(rotated["etag"], made["etag"]);
    assert_eq!(api.get(path(&made)).send().await.expect(200)["secret"], Value::Null);
    let back = api.patch(path(&made), json!({ "secret": own })).send().await.expect(200);
    assert_eq!(back["secret"], own);
    // Setting the same secret again changes nothing.
    let same = api.patch(path(&made), json!({ "secret": own })).send().await.expect(200);
    assert_eq!(same["etag"], back["etag"]);
}

#[tokio::test]
async fn v1a_comes_with_a_public_key() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let made = subscribe(&api, &["*"]).await;
    assert_eq!(made["publicKey"], Value::Null);
    let both = api.patch(path(&made), json!({ "signatures": ["v1", "v1a"] })).send().await.expect(200);
    let public_key = both["publicKey"].as_str().expect("a key");
    assert!(public_key.starts_with("whpk_"), "{public_key}");
    let other = api.patch(path(&made), json!({ "description": "x" })).send().await.expect(200);
    assert_eq!(other["publicKey"], public_key, "it stays the same");
    let one = api.patch(path(&made), json!({ "signatures": ["v1"] })).send().await.expect(200);
    assert_eq!(one["publicKey"], Value::Null);
}

/// `webhooks.write` alone reads nothing: a subscription needs the scopes that read its events.
#[tokio::test]
async fn an_event_type_needs_its_read_scope() {
    let server = TestServer::start().await;
    let (api, weak) =
        (server.client().await, server.client_with(&["webhooks.write", "calendar.write"]).await);
    let body = json!({ "url": HOOK, "eventTypes": ["calendar.*", "email.message.created"] });
    let error = weak.post(WEBHOOKS, body).send().await.refused(403, "insufficient_scope");
    assert_eq!(error["param"], "eventTypes[1]");
    assert!(error["message"].as_str().is_some_and(|m| m.contains("email.read")), "{error:#}");
    let made = subscribe(&weak, &["calendar.*", "webhook.disabled"]).await;
    subscribe(&weak, &["*"]).await;
    let wider = json!({ "eventTypes": ["contact.*"] });
    weak.patch(path(&made), wider).send().await.refused(403, "insufficient_scope");

    // Nor can it redirect the events of another key's subscription.
    let mail = subscribe(&api, &["email.message.created"]).await;
    let elsewhere = json!({ "url": "https://1.0.0.1/" });
    let error = weak.patch(path(&mail), elsewhere).send().await.refused(403, "insufficient_scope");
    assert_eq!(error["param"], "eventTypes[0]");
    weak.patch(path(&mail), json!({ "status": "paused" })).send().await.expect(200);
    let reader = server.client_with(&["webhooks.read"]).await;
    reader.get(path(&mail)).send().await.expect(200);
    reader.patch(path(&mail), json!({})).send().await.refused(403, "insufficient_scope");
}

/// A key that is bound to connections makes and sees only subscriptions to these.
#[tokio::test]
async fn a_bound_key_stays_within_its_connections() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let (first, second) = (api.connect_account("alice").await, api.connect_account("bob").await);
    let bound = server.key("test", |key| key.connection_ids = vec![first.clone()]).await;
    let all = subscribe(&api, &["*"]).await;
    let own = subscribe(&bound, &["*"]).await;
    assert_eq!(own["connectionIds"], json!([]));
    let seen = |list: Vec<Value>| list.iter().map(|w| w["id"].clone()).collect::<Vec<_>>();
    assert_eq!(seen(bound.all(WEBHOOKS).await), [own["id"].clone()]);
    assert_eq!(api.all(WEBHOOKS).await.len(), 2);
    bound.get(path(&all)).send().await.refused(404, "not_found");
    bound.patch(path(&all), json!({ "url": HOOK })).send().await.refused(404, "not_found");
    bound.delete(path(&all)).send().await.refused(404, "not_found");

    let of = |ids: &[&String]| json!({ "connectionIds": ids });
    let error = bound.patch(path(&own), of(&[&first, &second])).send().await;
    assert_eq!(error.refused(400, "invalid_parameter")["param"], "connectionIds[1]");
    // The restriction belongs to the subscription, with any key.
    api.patch(path(&own), of(&[&second])).send().await.refused(400, "invalid_parameter");
    api.patch(path(&own), of(&[&first])).send().await.expect(200);
    api.patch(path(&all), of(&[&first, &second])).send().await.expect(200);
}

#[tokio::test]
async fn another_applications_subscription_does_not_exist() {
    let server = TestServer::start().await;
    let (owner, stranger) = (server.key("owner", |_| {}).await, server.key("stranger", |_| {}).await);
    let made = subscribe(&owner, &["*"]).await;
    stranger.get(path(&made)).send().await.refused(404, "not_found");
    stranger.patch(path(&made), json!({ "url": HOOK })).send().await.refused(404, "not_found");
    stranger.delete(path(&made)).send().await.refused(404, "not_found");
    assert!(stranger.all(WEBHOOKS).await.is_empty());
    let connection = owner.connect_account("alice").await;
    let body = json!({ "url": HOOK, "eventTypes": ["*"], "connectionIds": [connection] });
    let error = stranger.post(WEBHOOKS, body).send().await.refused(400, "invalid_parameter");
    assert_eq!(error["param"], "connectionIds[0]");
}

#[tokio::test]
async fn a_private_address_is_refused_at_create() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let made = subscribe(&api, &["*"]).await;
    for host in
        ["127.0.0.1", "2130706433", "0x7f.1", "[::1]", "[::ffff:10.0.0.1]", "169.254.169.254", "localhost"]
    {
        for url in [format!("https://{host}/hook"), format!("http://{host}:8080/hook")] {
            let body = json!({ "url": url, "eventTypes": ["*"] });
            let error = api.post(WEBHOOKS, body).send().await.refused(400, "invalid_url");
            assert_eq!(error["param"], "url", "{url}");
            let error =
                api.patch(path(&made), json!({ "url": url })).send().await.refused(400, "invalid_url");
            assert_eq!(error["param"], "url", "{url}");
        }
    }
}

/// A name that cannot be resolved now may be resolvable at delivery.
#[tokio::test]
async fn a_host_that_cannot_be_looked_up_is_taken_with_a_warning() {
    let server = TestServer::start().await;
    let api = server.client().await;
    // No name has such a long label, so it is not looked up.
    let url = format!("https://{}.test/hook", "a".repeat(64));
    let body = json!({ "url": url, "eventTypes": ["*"] });
    let made = api.post(WEBHOOKS, body).send().await.expect(201);
    assert_eq!(made["warnings"][0]["code"], "unresolved_url");
    assert_eq!(made["url"], url);
}
