//! The rotation of API keys: a key gets another secret, and keeps everything else. The secret before works for a time.

use std::net::IpAddr;

use base::error::Code;
use harness::{Actor, TestServer};
use reqwest::header::{AUTHORIZATION, HeaderMap};
use serde_json::{Value, json};
use service::app::App;
use storage::api_keys::ApiKey;
use switchboard::api::access::api_key::authenticate;
use switchboard::api::access::key_lookups::KeyLookups;

const WORK: &str = "/v1/calendars";

/// A client with the secret of an answer.
fn with_secret(server: &TestServer, answer: &Value) -> Actor {
    let mut actor = server.anonymous();
    actor.key = Some(answer["key"].as_str().expect("a secret").to_owned());
    actor
}

fn path(key: &Value) -> String {
    format!("/v1/api-keys/{}", key["id"].as_str().expect("an id"))
}

/// A key for calendars.
async fn worker(api: &Actor) -> Value {
    let new = json!({ "name": "worker", "scopes": ["calendar.read", "api_keys.write"] });
    api.post("/v1/api-keys", new).send().await.expect(201)
}

async fn rotated(api: &Actor, key: &Value, body: Value) -> Value {
    api.post(format!("{}/rotate", path(key)), body).send().await.expect(200)
}

/// Clients of one key switch one after the other: both secrets work until the overlap ends, to the millisecond.
#[tokio::test]
async fn the_secret_before_works_until_the_overlap_ends() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let key = worker(&api).await;
    let before = with_secret(&server, &key);
    before.get(WORK).send().await.expect(200);
    let new = rotated(&api, &key, json!({ "overlapSeconds": 3_600 })).await;
    let after = with_secret(&server, &new);
    assert_eq!(new["previousExpiresAt"], "2026-03-01T09:00:00.000Z");
    for actor in [&before, &after] {
        actor.get(WORK).send().await.expect(200);
    }
    server.clock.advance_ms(3_599_999);
    before.get(WORK).send().await.expect(200);
    server.clock.advance_ms(1);
    before.get(WORK).send().await.refused(401, "expired_api_key");
    after.get(WORK).send().await.expect(200);
}

/// Everything but the secret is the key's own: its id, its scopes, when it was made. A list shows the beginning and the end of the new one.
#[tokio::test]
async fn a_rotated_key_is_the_same_key() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let key = worker(&api).await;
    let new = rotated(&api, &key, json!({})).await;
    assert_ne!(new["key"], key["key"]);
    assert_eq!(
        new["previousExpiresAt"], "2026-03-02T08:00:00.000Z",
        "a day, unless another time is asked for"
    );
    let shown = api.get(path(&key)).send().await.expect(200);
    for field in ["id", "name", "scopes", "applicationId", "createdBy", "createdAt", "expiresAt"] {
        assert_eq!(shown[field], key[field], "{field}");
    }
    let text = new["key"].as_str().expect("a secret");
    for (field, is_part) in [
        ("prefix", text.starts_with(shown["prefix"].as_str().expect("a text"))),
        ("last4", text.ends_with(shown["last4"].as_str().expect("a text"))),
    ] {
        assert!(is_part, "{field}: {shown:#}");
        assert_eq!(shown[field], new[field]);
    }
    assert!(shown.get("key").is_none() && shown.get("previousExpiresAt").is_none());
}

/// After a leak only the new secret works. The rotation also ends a running overlap.
#[tokio::test]
async fn a_rotation_without_an_overlap_ends_every_earlier_secret() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let key = worker(&api).await;
    let second = rotated(&api, &key, json!({ "overlapSeconds": 600 })).await;
    let third = rotated(&api, &key, json!({ "overlapSeconds": 0 })).await;
    assert_eq!(third["previousExpiresAt"], "2026-03-01T08:00:00.000Z");
    for ended in [&key, &second] {
        with_secret(&server, ended).get(WORK).send().await.refused(401, "invalid_api_key");
    }
    with_secret(&server, &third).get(WORK).send().await.expect(200);
}

/// A key has one earlier secret at most beside the present one.
#[tokio::test]
async fn a_rotation_waits_for_the_overlap_before_it() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let key = worker(&api).await;
    let second = rotated(&api, &key, json!({ "overlapSeconds": 60 })).await;
    let again = api.post(format!("{}/rotate", path(&key)), json!({ "overlapSeconds": 60 })).send().await;
    let error = again.refused(409, "invalid_state");
    assert!(
        error["message"].as_str().is_some_and(|text| text.contains("2026-03-01T08:01:00.000Z")),
        "{error:#}"
    );
    with_secret(&server, &second).get(WORK).send().await.expect(200);
    server.clock.advance_ms(60_000);
    rotated(&api, &key, json!({ "overlapSeconds": 60 })).await;
}

/// A repeated request has the first one's answer, also by the secret that the first one replaced.
#[tokio::test]
async fn a_repeated_rotation_is_one() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let key = worker(&api).await;
    let itself = with_secret(&server, &key);
    let ask = || itself.post(format!("{}/rotate", path(&key)), json!({})).keyed("rotate").send();
    let first = ask().await.expect(200);
    assert_eq!(ask().await.expect(200), first);
    with_secret(&server, &first).get(WORK).send().await.expect(200);
}

/// A key that is made by the secret before is as good as one that is made by the new one: it does not end with the overlap.
#[tokio::test]
async fn a_key_outlives_the_secret_that_made_it() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let key = worker(&api).await;
    let before = with_secret(&server, &key);
    rotated(&api, &key, json!({ "overlapSeconds": 60 })).await;
    let new = json!({ "name": "child", "scopes": ["calendar.read"] });
    let child = before.post("/v1/api-keys", new).send().await.expect(201);
    assert_eq!((&child["expiresAt"], &child["createdBy"]), (&Value::Null, &key["id"]));
    server.clock.advance_ms(60_000);
    with_secret(&server, &child).get(WORK).send().await.expect(200);
}

/// A revocation ends both secrets.
#[tokio::test]
async fn a_revocation_takes_the_secret_before_along() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let key = worker(&api).await;
    let new = rotated(&api, &key, json!({})).await;
    api.delete(path(&key)).send().await.expect(204);
    with_secret(&server, &key).get(WORK).send().await.refused(401, "invalid_api_key");
    with_secret(&server, &new).get(WORK).send().await.refused(401, "revoked_api_key");
    let again = api.post(format!("{}/rotate", path(&key)), json!({})).send().await;
    again.refused(409, "invalid_state");
}

/// A key rotates keys that may do no more than itself: all of its application, or, if it is bound to connections, itself and its
/// descendants.
#[tokio::test]
async fn a_key_rotates_its_own_family() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let key = worker(&api).await;
    let ask = |by: &Actor| by.post(format!("{}/rotate", path(&key)), json!({})).send();
    let other_application = server.key("another", |_| {}).await;
    ask(&other_application).await.refused(404, "not_found");
    let bound = server.key("test", |key| key.connection_ids = vec!["con_1".to_owned()]).await;
    ask(&bound).await.refused(404, "not_found");
    ask(&server.client_with(&["calendar.read"]).await).await.refused(403, "insufficient_scope");
    let child = worker(&bound).await;
    rotated(&bound, &child, json!({})).await;
    let never = api.post("/v1/api-keys/key_00000000000000000000000000/rotate", json!({})).send().await;
    never.refused(404, "not_found");
}

/// The one that asks for a rotation learns the secret. So a key rotates none that may do more than it, but itself.
#[tokio::test]
async fn a_rotation_gives_nobody_more_rights() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let key = worker(&api).await;
    let ask = |by: &Actor, key: &Value| by.post(format!("{}/rotate", path(key)), json!({})).send();
    let fewer = server.client_with(&["tasks.read", "api_keys.write"]).await;
    let error = ask(&fewer, &key).await.refused(403, "insufficient_scope");
    assert!(error["message"].as_str().is_some_and(|text| text.contains("calendar.read")), "{error:#}");

    let narrow: [fn(&mut ApiKey); 3] = [
        |key| key.allowed_ips = vec!["127.0.0.0/8".to_owned(), "::1".to_owned()],
        |key| key.expires_at = Some(4_000_000_000_000),
        |key| key.rate_limit_per_minute = 10,
    ];
    for restrict in narrow {
        let restricted = server.key("test", restrict).await;
        ask(&restricted, &key).await.refused(403, "forbidden");
        // A key that it made itself has its restrictions.
        let child = worker(&restricted).await;
        rotated(&restricted, &child, json!({})).await;
    }

    let writer = json!({ "name": "writer", "scopes": ["calendar.write", "api_keys.write"] });
    let writer = api.post("/v1/api-keys", writer).send().await.expect(201);
    ask(&with_secret(&server, &key), &writer).await.refused(403, "insufficient_scope");
    rotated(&with_secret(&server, &writer), &key, json!({})).await;
    rotated(&with_secret(&server, &writer), &writer, json!({})).await;
}

/// The overlap is given in seconds and has a bound; a misspelt field is a warning.
#[tokio::test]
async fn an_overlap_is_seven_days_at_most() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let key = worker(&api).await;
    for wrong in [-1, 604_801, i64::MAX] {
        let body = json!({ "overlapSeconds": wrong });
        let refused = api.post(format!("{}/rotate", path(&key)), body).send().await;
        assert_eq!(refused.refused(400, "invalid_parameter")["param"], "overlapSeconds", "{wrong}");
    }
    with_secret(&server, &key).get(WORK).send().await.expect(200);
    let new = rotated(&api, &key, json!({ "overlapSeconds": 604_800, "overlap": 1 })).await;
    assert_eq!(new["previousExpiresAt"], "2026-03-08T08:00:00.000Z");
    assert_eq!(new["warnings"][0]["field"], "overlap");
}

/// The secret before a rotation ends with its key, if that is earlier.
#[tokio::test]
async fn an_overlap_ends_with_the_key() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let ends =
        json!({ "name": "worker", "scopes": ["calendar.read"], "expiresAt": "2026-03-01T08:10:00.000Z" });
    let key = api.post("/v1/api-keys", ends).send().await.expect(201);
    let new = rotated(&api, &key, json!({})).await;
    assert_eq!(new["previousExpiresAt"], "2026-03-01T08:10:00.000Z");
    server.clock.advance_ms(600_000);
    for secret in [&key, &new] {
        with_secret(&server, secret).get(WORK).send().await.refused(401, "expired_api_key");
    }
    api.post(format!("{}/rotate", path(&key)), json!({})).send().await.refused(409, "invalid_state");
}

/// The refusal of a secret at a host; none where the host takes it.
async fn refusal(host: &App, lookups: &KeyLookups, secret: &Value) -> Option<Code> {
    let mut headers = HeaderMap::new();
    let bearer = format!("Bearer {}", secret["key"].as_str().expect("a secret"));
    headers.insert(AUTHORIZATION, bearer.parse().expect("a header"));
    let caller = authenticate(host, lookups, &headers, IpAddr::from([127, 0, 0, 1])).await;
    caller.err().and_then(|e| e.code())
}

/// A host that did not rotate the key caches it for a second, and no longer.
#[tokio::test]
async fn every_host_refuses_the_secret_before_within_a_second() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let beside = server.beside().await;
    let other = beside.as_ref().map_or(&server.app, |beside| &beside.app);
    let lookups = KeyLookups::default();
    let key = worker(&api).await;
    assert_eq!(refusal(other, &lookups, &key).await, None);
    let new = rotated(&api, &key, json!({ "overlapSeconds": 0 })).await;
    server.clock.advance_ms(1_000);
    assert_eq!(refusal(other, &lookups, &key).await, Some(Code::InvalidApiKey));
    assert_eq!(refusal(other, &lookups, &new).await, None);
}
