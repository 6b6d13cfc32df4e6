//! Contract, Authentication: how a key is sent, its rights, its addresses, and its lifetime.

#![expect(clippy::string_slice, reason = "a test cuts texts that it knows: a panic is the report")]

use harness::TestServer;
use serde_json::{Value, json};

/// Both forms of carrying the key are equal; contradicting ones are refused.
#[tokio::test]
async fn a_key_is_a_bearer_token_or_a_header() {
    let server = TestServer::start().await;
    let api = server.client().await;
    api.get("/v1/connections").send().await.expect(200);
    let anonymous = server.anonymous();
    let key = api.key.clone().expect("a key");
    anonymous.get("/v1/connections").header("x-api-key", &key).send().await.expect(200);
    anonymous.get("/v1/connections").send().await.refused(401, "missing_api_key");
    let wrong = format!("{}{}", &key[..key.len() - 1], if key.ends_with('a') { 'b' } else { 'a' });
    anonymous.get("/v1/connections").header("x-api-key", &wrong).send().await.refused(401, "invalid_api_key");
    api.get("/v1/connections").header("x-api-key", &wrong).send().await.refused(401, "invalid_api_key");
    let other = format!("Token {key}");
    for value in [key.as_str(), "Basic eDp5", other.as_str(), "Bearer"] {
        let sent = anonymous.get("/v1/connections").header("authorization", value).send().await;
        let error = sent.refused(401, "invalid_api_key");
        let message = error["message"].as_str().unwrap_or_default();
        assert!(message.contains("needs the form `Bearer <key>`") && !message.contains(&key), "{error:#}");
    }
}

/// Every answer carries an id of the request and the standing of the budget, errors too.
#[tokio::test]
async fn every_answer_carries_the_headers() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let answers = [
        api.get("/v1/connections").send().await,
        api.get("/v1/connections/conn_none").send().await,
        api.get("/v1/nonsense").send().await,
        api.post("/v1/calendars", json!([])).send().await,
        server.anonymous().get("/v1/connections").send().await,
        server.anonymous().get("/v1/nonsense").send().await,
    ];
    for answer in answers {
        assert!(answer.header("x-request-id").is_some_and(|id| id.starts_with("req_")), "{answer}");
        for name in ["x-ratelimit-limit", "x-ratelimit-remaining"] {
            assert!(answer.header(name).is_some_and(|v| v.parse::<u64>().is_ok()), "{name}: {answer}");
        }
        if answer.status >= 400 {
            assert_eq!(
                answer.answer["error"]["request_id"],
                json!(answer.header("x-request-id")),
                "{answer}"
            );
        }
    }
}

/// A scope that the key lacks is 403, before any other check. Writing includes reading.
#[tokio::test]
async fn a_key_may_do_what_its_scopes_say() {
    let server = TestServer::start().await;
    let reader = server.client_with(&["connections.read"]).await;
    reader.get("/v1/connections").send().await.expect(200);
    reader.post("/v1/connections", json!({})).send().await.refused(403, "insufficient_scope");
    reader.get("/v1/calendars").send().await.refused(403, "insufficient_scope");
    let writer = server.client_with(&["connections.write"]).await;
    writer.get("/v1/connections").send().await.expect(200);
}

/// A key makes keys with at most its own scopes; the key is shown once, and again in an idempotent replay.
#[tokio::test]
async fn a_key_makes_keys() {
    let server = TestServer::start().await;
    let api = server.client_with(&["api_keys.write", "calendar.read"]).await;
    let body = json!({ "name": "worker", "scopes": ["calendar.read"] });
    let made = api.post("/v1/api-keys", body.clone()).keyed("make").send().await.expect(201);
    let again = api.post("/v1/api-keys", body).keyed("make").send().await.expect(201);
    assert_eq!(made, again);
    let key = made["key"].as_str().expect("a key");
    assert!(key.starts_with("uc_live_") && key.len() == 46, "{key}");
    let id = made["id"].as_str().expect("an id");
    assert!(api.get(format!("/v1/api-keys/{id}")).send().await.expect(200).get("key").is_none());

    let worker = server.anonymous();
    worker.get("/v1/calendars").header("x-api-key", key).send().await.expect(200);
    api.delete(format!("/v1/api-keys/{id}")).send().await.expect(204);
    // At once, though it was used a moment ago. Another process may believe it for a second more.
    worker.get("/v1/calendars").header("x-api-key", key).send().await.refused(401, "revoked_api_key");

    let greedy = json!({ "name": "x", "scopes": ["email.send"] });
    let error = api.post("/v1/api-keys", greedy).send().await.refused(403, "insufficient_scope");
    assert_eq!(error["param"], "scopes[0]");
    let wrong = json!({ "name": "x", "scopes": ["calendar.red"] });
    api.post("/v1/api-keys", wrong).send().await.refused(400, "invalid_parameter");
}

/// Every restriction of a key holds for the keys that it makes: inherited where they name none, narrowed where they do, never widened.
#[tokio::test]
async fn a_key_gives_no_more_than_it_has() {
    let server = TestServer::start().await;
    let texts = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
    let expiry = server.app.now() + 86_400_000;
    let maker = server
        .key("test", |key| {
            key.scopes = texts(&["api_keys.write", "calendar.read"]);
            key.allowed_domains = texts(&["app.example.com", "www.example.com"]);
            key.allowed_ips = texts(&["127.0.0.0/8"]);
            key.connection_ids = texts(&["con_1", "con_2"]);
            key.rate_limit_per_minute = 50;
            key.expires_at = Some(expiry);
        })
        .await;
    let make = |change: Value| {
        let mut body = json!({ "name": "x", "scopes": ["calendar.read"] });
        body.as_object_mut().expect("an object").extend(change.as_object().expect("an object").clone());
        maker.post("/v1/api-keys", body).header("origin", "https://app.example.com").send()
    };
    let made = make(json!({})).await.expect(201);
    assert_eq!(made["allowedDomains"], json!(["app.example.com", "www.example.com"]));
    assert_eq!(made["allowedIps"], json!(["127.0.0.0/8"]));
    assert_eq!(made["connectionIds"], json!(["con_1", "con_2"]));
    assert_eq!(made["rateLimitPerMinute"], 50);
    assert_eq!(made["expiresAt"], "2026-03-02T08:00:00.000Z");
    let narrower = json!({ "allowedDomains": ["www.example.com"], "allowedIps": ["127.0.0.1", "127.1.0.0/16"], "connectionIds": ["con_2"],
        "rateLimitPerMinute": 7, "expiresAt": "2026-03-01T09:00:00.000Z" });
    let made = make(narrower.clone()).await.expect(201);
    for (name, value) in narrower.as_object().expect("an object") {
        assert_eq!(&made[name], value, "{name}");
    }
    for (field, value, param) in [
        ("allowedDomains", json!(["www.example.com", "other.example.com"]), "allowedDomains[1]"),
        ("allowedIps", json!(["126.0.0.0/7"]), "allowedIps[0]"),
        ("allowedIps", json!(["127.0.0.1", "192.0.2.1"]), "allowedIps[1]"),
        ("allowedIps", json!(["::/0"]), "allowedIps[0]"),
        ("connectionIds", json!(["con_1", "con_3"]), "connectionIds"),
        ("connectionIds", json!([""]), "connectionIds[0]"),
        ("rateLimitPerMinute", json!(51), "rateLimitPerMinute"),
        ("rateLimitPerMinute", json!(0), "rateLimitPerMinute"),
        ("expiresAt", json!("2026-03-02T08:00:01Z"), "expiresAt"),
        ("expiresAt", json!("2026-03-01T07:00:00Z"), "expiresAt"),
    ] {
        let error = make(json!({ field: value })).await.refused(400, "invalid_parameter");
        assert_eq!(error["param"], param, "{error:#}");
    }
}

/// A key that is bound to connections sees and revokes itself and the keys that descend from it, and no others.
#[tokio::test]
async fn a_bound_key_manages_its_descendants_alone() {
    let server = TestServer::start().await;
    let scopes = json!(["api_keys.write", "calendar.read"]);
    let all = server.client().await;
    let make = async |by: &harness::Actor, name: &str, bound: Value| {
        let body = json!({ "name": name, "scopes": scopes, "connectionIds": bound });
        let made = by.post("/v1/api-keys", body).send().await.expect(201);
        let mut actor = server.anonymous();
        actor.key = Some(made["key"].as_str().expect("a key").to_owned());
        (actor, format!("/v1/api-keys/{}", made["id"].as_str().expect("an id")))
    };
    let (bound, own_path) = make(&all, "bound", json!(["con_1"])).await;
    let (child, child_path) = make(&bound, "child", json!([])).await;
    let (_, grandchild_path) = make(&child, "grandchild", json!([])).await;
    let (_, stranger_path) = make(&all, "stranger", json!(["con_1"])).await;
    let names = async |actor: &harness::Actor| {
        let keys = actor.all("/v1/api-keys?limit=1").await;
        let mut names: Vec<_> = keys.iter().map(|k| k["name"].as_str().expect("a name").to_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(names(&bound).await, ["bound", "child", "grandchild"]);
    assert_eq!(names(&child).await, ["child", "grandchild"]);
    assert_eq!(names(&all).await.len(), 5, "an unbound key manages the whole application");
    for path in [&stranger_path, &own_path] {
        child.get(path).send().await.refused(404, "not_found");
        child.delete(path).send().await.refused(404, "not_found");
    }
    bound.get(&grandchild_path).send().await.expect(200);
    bound.delete(&grandchild_path).send().await.expect(204);
    bound.delete(&child_path).send().await.expect(204);
    all.get(&stranger_path).send().await.expect(200);
}

/// Exact host names only: any other pattern would never match, or match too much.
#[tokio::test]
async fn an_allowed_domain_is_an_exact_host_name() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let new = |domain: &str| json!({ "name": "x", "scopes": ["calendar.read"], "allowedDomains": [domain] });
    let made = api.post("/v1/api-keys", new("App.Example.com")).send().await.expect(201);
    assert_eq!(made["allowedDomains"], json!(["app.example.com"]));
    for wrong in [
        "*.example.com",
        "*",
        "https://app.example.com",
        "app.example.com:443",
        "example.com/x",
        "a b",
        "a.",
        "",
    ] {
        let error = api.post("/v1/api-keys", new(wrong)).send().await.refused(400, "invalid_parameter");
        assert_eq!(error["param"], "allowedDomains[0]", "{wrong}");
    }
}

/// Unknown fields are reported on every write: a misspelt restriction is no restriction.
#[tokio::test]
async fn a_misspelt_field_is_told() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let new = json!({ "name": "x", "scopes": ["calendar.read"], "allowedIp": ["192.0.2.1"] });
    let made = api.post("/v1/api-keys", new.clone()).send().await.expect(201);
    assert_eq!(
        (&made["warnings"][0]["code"], &made["warnings"][0]["field"]),
        (&json!("unknown_field"), &json!("allowedIp"))
    );
    let strict = api.post("/v1/api-keys", new).header("prefer", "handling=strict").send().await;
    assert_eq!(strict.refused(400, "unknown_field")["param"], "allowedIp");
    let new = json!({ "provider": "sandbox", "credentials": { "username": "alice@sandbox.test", "password": "sandbox", "pin": 1 },
        "scopes": ["calendar.read"] });
    let made = api.post("/v1/connections", new).send().await.expect(201);
    assert_eq!(made["warnings"][0]["field"], "credentials.pin");
    let error = api.post(
        "/v1/connections",
        json!({ "provider": "sandbox", "credentials": ["alice", "sandbox"], "scopes": ["calendar.read"] }),
    );
    assert_eq!(error.send().await.refused(400, "invalid_parameter")["param"], "credentials");
}

/// A parameter that an operation does not have is named in the answer of every kind of operation, and refused for strict callers.
#[tokio::test]
async fn a_misspelt_parameter_is_named() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let connection = api.connect_sandbox().await;
    let calendar = api.calendar(&connection, "Work").await;
    let events = format!("/v1/calendars/{calendar}/events");
    let event = json!({ "title": "x", "start": "2026-03-02T10:00:00Z", "end": "2026-03-02T11:00:00Z", "timeZone": "UTC", "colour": "red" });
    for (sent, names) in [
        (
            api.get(format!("{events}?strat=2026-01-01T00:00:00Z&limt=5&strat2=x")),
            vec!["strat", "limt", "strat2"],
        ),
        (api.get("/v1/connections?unred=true&limit=5"), vec!["unred"]),
        (api.get(format!("/v1/calendars/{calendar}?verbose=1")), vec!["verbose"]),
        (api.post(format!("{events}?notfy=all"), event), vec!["notfy", "colour"]),
        (api.get("/v1/usage?strat=x"), vec!["strat"]),
    ] {
        let sent = sent.send().await;
        assert!(sent.status < 300, "{sent}");
        let named = sent.answer["warnings"].as_array().expect("a list").iter();
        let named: Vec<_> = named.map(|warning| warning["field"].as_str().expect("a name")).collect();
        assert_eq!(named, names, "{sent}");
    }
    let known = api.get(format!("{events}?showCancelled=true&fresh=true&limit=5")).send().await.expect(200);
    assert_eq!(known.get("warnings"), None, "{known:#}");
    let strict = |path: String| api.get(path).header("prefer", "handling=strict").send();
    let error =
        strict(format!("{events}?strat=x&unred=true&limit=5")).await.refused(400, "unknown_parameter");
    assert_eq!(error["param"], "strat");
    let details: Vec<_> = error["details"].as_array().expect("a list").iter().map(|d| &d["field"]).collect();
    assert_eq!(details, ["strat", "unred"], "{error:#}");
    strict("/v1/email/messages?unred=true".to_owned()).await.refused(400, "unknown_parameter");
    strict(format!("{events}?showCancelled=true&limit=5")).await.expect(200);
    let new = json!({ "name": "x", "scopes": ["calendar.read"] });
    let refused = api.post("/v1/api-keys?dry_run=true", new).header("prefer", "handling=strict").send().await;
    assert_eq!(refused.refused(400, "unknown_parameter")["param"], "dry_run");
}

/// A key ends at its time.
#[tokio::test]
async fn a_key_expires() {
    let server = TestServer::start().await;
    let now = server.app.now();
    let api = server.key("test", |key| key.expires_at = Some(now + 60_000)).await;
    api.get("/v1/connections").send().await.expect(200);
    server.clock.advance_ms(60_000);
    api.get("/v1/connections").send().await.refused(401, "expired_api_key");
}

/// Contract, Authentication 5: the exact host of Origin or Referer; absent while there is a list is refused.
#[tokio::test]
async fn a_key_can_be_bound_to_domains() {
    let server = TestServer::start().await;
    let api = server.key("test", |key| key.allowed_domains = vec!["app.example.com".into()]).await;
    let ask = |name: &'static str, value: &'static str| api.get("/v1/connections").header(name, value).send();
    ask("origin", "https://app.example.com").await.expect(200);
    ask("origin", "https://APP.example.com:8443").await.expect(200);
    ask("referer", "https://app.example.com/page?x=1").await.expect(200);
    for origin in [
        "null",
        "https://example.com",
        "https://evil-app.example.com",
        "https://app.example.com.evil.test",
        "https://app.example.com@evil.test",
        "app.example.com",
    ] {
        ask("origin", origin).await.refused(403, "forbidden");
    }
    api.get("/v1/connections").send().await.refused(403, "forbidden");
    // If there is an Origin it decides; a valid Referer beside it does not help.
    let both = api.get("/v1/connections").header("origin", "https://evil.test");
    both.header("referer", "https://app.example.com/").send().await.refused(403, "forbidden");
}

/// Addresses and ranges; forwarded headers count only behind a configured proxy.
#[tokio::test]
async fn a_key_can_be_bound_to_addresses() {
    let server = TestServer::start().await;
    let here = server.key("test", |key| key.allowed_ips = vec!["127.0.0.0/8".into()]).await;
    here.get("/v1/connections").send().await.expect(200);
    let there = server.key("test", |key| key.allowed_ips = vec!["203.0.113.7".into()]).await;
    there.get("/v1/connections").send().await.refused(403, "forbidden");
    let spoofed = there.get("/v1/connections").header("x-forwarded-for", "203.0.113.7").send().await;
    spoofed.refused(403, "forbidden");

    let proxies = vec!["127.0.0.1/32".parse().expect("a network")];
    let server = TestServer::builder().config(|c| c.trusted_proxies = proxies).start().await;
    let there = server.key("test", |key| key.allowed_ips = vec!["203.0.113.7".into()]).await;
    let ask = |chain: &'static str| there.get("/v1/connections").header("x-forwarded-for", chain).send();
    ask("203.0.113.7").await.expect(200);
    ask("203.0.113.7, 198.51.100.1").await.refused(403, "forbidden");
}
