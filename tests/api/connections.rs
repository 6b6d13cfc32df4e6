//! `/v1/connections`

use harness::TestServer;
use serde_json::json;
use storage::{api_keys, log};

/// An account is connected, listed, read and disconnected; its secrets are never shown, and its data goes with it.
#[tokio::test]
async fn the_life_of_a_connection() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let body = json!({
        "provider": "sandbox",
        "credentials": { "username": "alice@sandbox.test", "password": "sandbox" },
        "scopes": ["calendar.read", "calendar.write", "email.read"],
        "tags": { "user": "42" }, "metadata": { "plan": "pro" },
    });
    let made = api.post("/v1/connections", body).send().await;
    assert!(!made.text.contains("\"sandbox\",\"password\"") && !made.text.contains("credentials"), "{made}");
    let connection = made.expect(201);
    assert_eq!(
        (&connection["email"], &connection["status"]),
        (&json!("alice@sandbox.test"), &json!("active"))
    );
    assert_eq!(connection["missingScopes"], json!([]));
    assert_eq!(
        (&connection["tags"], &connection["metadata"]),
        (&json!({ "user": "42" }), &json!({ "plan": "pro" }))
    );
    let path = format!("/v1/connections/{}", connection["id"].as_str().expect("an id"));
    assert_eq!(api.get(&path).send().await.expect(200)["etag"], connection["etag"]);
    let calendar = api.calendar(&connection, "Work").await;
    let capabilities = api.get(format!("{path}/capabilities")).send().await.expect(200);
    assert_eq!(capabilities["calendar"]["operations"]["createEvent"], true);
    assert_eq!(capabilities["operations"]["read"], true);
    // The account could send, but that was not asked for.
    let missing = capabilities["missing"].as_array().expect("a list");
    let send = missing.iter().find(|m| m["operation"] == "send").expect("it is told");
    assert_eq!(
        (&send["reason"], &send["requiredScopes"]),
        (&json!("scope_not_granted"), &json!(["email.send"]))
    );

    api.delete(&path).if_match("\"other\"").send().await.refused(409, "stale_etag");
    api.delete(&path).send().await.expect(204);
    api.get(&path).send().await.refused(404, "not_found");
    api.get(format!("/v1/calendars/{calendar}")).send().await.refused(404, "not_found");
    api.delete(&path).send().await.refused(404, "not_found");
}

/// An unknown provider, unknown scopes, refused credentials: nothing is stored.
#[tokio::test]
async fn what_cannot_be_connected() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let right = json!({
        "provider": "sandbox", "scopes": ["calendar.read"],
        "credentials": { "username": "alice@sandbox.test", "password": "sandbox" },
    });
    let cases = [
        ("provider", json!("nobody"), "invalid_parameter", "provider"),
        ("scopes", json!([]), "missing_field", "scopes"),
        ("scopes", json!(["calendar.red"]), "invalid_parameter", "scopes[0]"),
        ("credentials", json!({}), "missing_field", "credentials"),
        (
            "credentials",
            json!({ "username": "a\nb", "password": "x" }),
            "invalid_parameter",
            "credentials.username",
        ),
        (
            "credentials",
            json!({ "username": "alice@sandbox.test", "password": "x" }),
            "provider_rejected",
            "credentials",
        ),
        ("tags", json!({ "k": 1 }), "invalid_parameter", "tags.k"),
        ("displayName", json!("x".repeat(1_025)), "invalid_parameter", "displayName"),
    ];
    for (field, value, code, param) in cases {
        let mut body = right.clone();
        body[field] = value;
        let error = api.post("/v1/connections", body).send().await.refused(400, code);
        assert_eq!(error["param"], param, "{error:#}");
    }
    assert_eq!(api.all("/v1/connections").await.len(), 0);
}

/// One account is one connection of an application, also when two requests come at once, unless the caller wants more of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_account_is_connected_once() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let account = |name: &str| {
        json!({ "provider": "sandbox", "scopes": ["calendar.read"],
            "credentials": { "username": format!("{name}@sandbox.test"), "password": "sandbox" } })
    };
    let connect = |name: &str, query: &str| api.post(format!("/v1/connections{query}"), account(name)).send();
    let (one, other) = tokio::join!(connect("alice", ""), connect("alice", ""));
    let (made, refused) = if one.status == 201 { (one, other) } else { (other, one) };
    let made = made.expect(201);
    let error = refused.refused(409, "already_exists");
    assert_eq!(error["param"], "credentials");
    let detail = &error["details"][0];
    assert_eq!((&detail["field"], &detail["message"]), (&json!("connectionId"), &made["id"]), "{error:#}");
    assert!(error["message"].as_str().is_some_and(|text| text.contains("allow_duplicate=true")), "{error:#}");
    assert_eq!(api.all("/v1/connections").await.len(), 1, "nothing is kept of the refused one");

    connect("bob", "").await.expect(201);
    connect("alice", "?allow_duplicate=false").await.refused(409, "already_exists");
    let error = connect("alice", "?allow_duplicate=yes").await.refused(400, "invalid_parameter");
    assert_eq!(error["param"], "allow_duplicate");
    let second = connect("alice", "?allow_duplicate=true").await.expect(201);
    assert_ne!(second["id"], made["id"]);
    for connection in [&made, &second] {
        let path = format!("/v1/connections/{}", connection["id"].as_str().expect("an id"));
        api.delete(&path).send().await.expect(204);
    }
    // What was disconnected can be connected again, and so can an account whose credentials the provider refused.
    let third = connect("alice", "").await.expect(201);
    let fault = json!({ "status": 401, "times": 10 });
    server.provider("alice").post("/sandbox/faults", fault).send().await.expect(201);
    let refresh = format!("/v1/connections/{}/refresh", third["id"].as_str().expect("an id"));
    api.post(refresh, json!({})).send().await.refused(409, "reauth_required");
    server.provider("alice").delete("/sandbox/faults").send().await.expect(204);
    connect("alice", "").await.expect(201);
}

/// A refresh tries the credentials again; if the provider refuses them, the connection cannot be used until it is connected again.
#[tokio::test]
async fn refused_credentials_need_a_new_connection() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let connection = api.connect_sandbox().await;
    let path = format!("/v1/connections/{}", connection["id"].as_str().expect("an id"));
    let refreshed = api.post(format!("{path}/refresh"), json!({})).send().await.expect(200);
    assert_eq!((&refreshed["id"], &refreshed["warnings"]), (&connection["id"], &json!([])), "{refreshed:#}");
    let fault = json!({ "status": 401, "times": 10 });
    server.provider("alice").post("/sandbox/faults", fault).send().await.expect(201);
    api.post(format!("{path}/refresh"), json!({})).send().await.refused(409, "reauth_required");
    assert_eq!(api.get(&path).send().await.expect(200)["status"], "reauth_required");
    let of_it = format!("/v1/calendars?connection_id={}", connection["id"].as_str().expect("an id"));
    api.get(of_it).send().await.refused(409, "reauth_required");
}

/// The sandbox provider is reachable for its own connector only: another one reaches nothing on this machine, neither it nor its
/// neighbour.
#[tokio::test]
async fn the_sandbox_is_for_its_connector_alone() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let neighbour = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    neighbour.set_nonblocking(true).expect("a socket");
    let ports = [server.address.port(), neighbour.local_addr().expect("an address").port()];
    for provider in ["dav", "jmap"] {
        for port in ports {
            for host in ["127.0.0.1", "localhost", "0.0.0.0", "[::ffff:127.0.0.1]"] {
                let body = json!({
                    "provider": provider, "scopes": ["email.read"],
                    "settings": { "serverUrl": format!("http://{host}:{port}/sandbox/") },
                    "credentials": { "username": "alice@sandbox.test", "password": "sandbox" },
                });
                let error = api.post("/v1/connections", body).send().await.refused(400, "provider_rejected");
                assert_eq!(error["param"], "settings", "{provider} {host}:{port}: {error}");
            }
        }
    }
    assert!(neighbour.accept().is_err(), "nobody came");
    api.connect_sandbox().await;
}

/// How many lines the log has.
async fn told(server: &TestServer) -> i64 {
    let tenants = api_keys::tenants(server.app.db.reader()).await.expect("a query");
    log::last_sequence(server.app.db.reader(), &tenants[0]).await.expect("a query")
}

const MINUTE_MS: i64 = 60_000;

/// A provider that does not answer for a quarter of an hour makes the connection degraded: it stays in use, and the first answer makes it
/// active again. Each of the two changes is one event.
#[tokio::test]
async fn a_silent_provider_degrades_the_connection() {
    let server = TestServer::start().await;
    let (api, provider) = (server.client().await, server.provider("alice"));
    let connection = api.connect_sandbox().await;
    let path = format!("/v1/connections/{}", connection["id"].as_str().expect("an id"));
    let calendars = format!("/v1/calendars?connection_id={}", connection["id"].as_str().expect("an id"));
    let work = api.calendar(&connection, "Work").await;
    let before = told(&server).await;
    let fault = json!({ "status": 503, "times": 1000 });
    provider.post("/sandbox/faults", fault.clone()).send().await.expect(201);
    for minutes in [1, 7, 7] {
        server.clock.advance_ms(minutes * MINUTE_MS);
        api.get(&calendars).send().await.expect(200);
        assert_eq!(api.get(&path).send().await.expect(200)["status"], "active");
    }
    // One answer in between, even a refusal, restarts the time.
    provider.delete("/sandbox/faults").send().await.expect(204);
    let refusal = json!({ "status": 404, "pathPrefix": "/sandbox/v1/calendars" });
    provider.post("/sandbox/faults", refusal).send().await.expect(201);
    server.clock.advance_ms(1);
    api.get(&calendars).send().await.refused(404, "not_found");
    provider.post("/sandbox/faults", fault.clone()).send().await.expect(201);
    for minutes in [1, 14, 1] {
        server.clock.advance_ms(minutes * MINUTE_MS);
        assert_eq!(api.get(&path).send().await.expect(200)["status"], "active");
        api.get(&calendars).send().await.expect(200);
    }
    assert_eq!(told(&server).await, before + 1);

    let degraded = api.get(&path).send().await.expect(200);
    assert_eq!(
        (&degraded["status"], &degraded["statusReason"]),
        (&json!("degraded"), &json!("provider_outage"))
    );
    assert_eq!(degraded["statusChangedAt"], "2026-03-01T08:31:00.001Z");
    assert_ne!(degraded["etag"], connection["etag"]);
    assert_eq!(api.all("/v1/connections?status=degraded").await, std::slice::from_ref(&degraded));
    // It is still used: an old copy is read, and a write reaches for the provider.
    api.get(format!("/v1/calendars/{work}")).send().await.expect(200);
    let event = json!({ "title": "New", "start": "2026-03-02T11:00:00Z", "end": "2026-03-02T12:00:00Z" });
    let events = format!("/v1/calendars/{work}/events");
    api.post(&events, event.clone()).send().await.refused(503, "provider_unavailable");
    api.post(format!("{path}/refresh"), json!({})).send().await.refused(503, "provider_unavailable");
    assert_eq!(api.get(&path).send().await.expect(200), degraded);
    assert_eq!(told(&server).await, before + 1);

    provider.delete("/sandbox/faults").send().await.expect(204);
    api.post(&events, event).send().await.expect(201);
    let active = api.get(&path).send().await.expect(200);
    assert_eq!((&active["status"], &active["statusReason"]), (&json!("active"), &json!(null)));
    assert_eq!(active["etag"], connection["etag"]);
    assert_eq!(told(&server).await, before + 3, "that it recovered, and the event");
}
