//! `/v1/connections`

use harness::TestServer;
use serde_json::json;

/// An account is connected, listed, read and disconnected; its secrets are never shown, and its data goes with it.
#[tokio::test]
async fn the_life_of_a_connection() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let body = json!({
        "provider": "sandbox",
        "credentials": { "username": "alice@sandbox.test", "password": "sandbox" },
        "scopes": ["calendar.read", "calendar.write", "contacts.read"],
        "tags": { "user": "42" }, "metadata": { "plan": "pro" },
    });
    let made = api.post("/v1/connections", body).send().await;
    assert!(!made.text.contains("\"sandbox\",\"password\"") && !made.text.contains("credentials"), "{made}");
    let connection = made.expect(201);
    assert_eq!(
        (&connection["email"], &connection["status"]),
        (&json!("alice@sandbox.test"), &json!("active"))
    );
    // The account has no contacts: what was asked for and not granted is told.
    assert_eq!(connection["missingScopes"], json!(["contacts.read"]));
    assert_eq!(
        (&connection["tags"], &connection["metadata"]),
        (&json!({ "user": "42" }), &json!({ "plan": "pro" }))
    );
    let path = format!("/v1/connections/{}", connection["id"].as_str().expect("an id"));
    assert_eq!(api.get(&path).send().await.expect(200)["etag"], connection["etag"]);
    let calendar = api.calendar(&connection, "Work").await;
    let capabilities = api.get(format!("{path}/capabilities")).send().await.expect(200);
    assert_eq!(capabilities["calendar"]["operations"]["createEvent"], true);
    assert_eq!(capabilities["missing"][0]["reason"], "provider_unsupported");

    api.delete(&path).if_match("\"other\"").send().await.refused(409, "stale_etag");
    api.delete(&path).send().await.expect(204);
    api.get(&path).send().await.refused(404, "not_found");
    api.get(format!("/v1/calendars/{calendar}")).send().await.refused(404, "not_found");
    api.delete(&path).send().await.refused(404, "not_found");
}

/// A provider that nobody knows, scopes that there are not, credentials that are refused: nothing is stored.
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
    ];
    for (field, value, code, param) in cases {
        let mut body = right.clone();
        body[field] = value;
        let error = api.post("/v1/connections", body).send().await.refused(400, code);
        assert_eq!(error["param"], param, "{error:#}");
    }
    assert_eq!(api.all("/v1/connections").await.len(), 0);
}

/// A refresh tries the credentials again; a provider that refuses them ends the connection's use until it is connected anew.
#[tokio::test]
async fn refused_credentials_need_a_new_connection() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let connection = api.connect_sandbox().await;
    let path = format!("/v1/connections/{}", connection["id"].as_str().expect("an id"));
    api.post(format!("{path}/refresh"), json!({})).send().await.expect(200);
    let fault = json!({ "status": 401, "times": 10 });
    let http = reqwest::Client::builder().no_proxy().build().expect("a client");
    let sandbox = format!("http://{}/sandbox/faults", server.address);
    let told = http.post(sandbox).basic_auth("alice@sandbox.test", Some("sandbox"));
    let told = told
        .header("content-type", "application/json")
        .body(fault.to_string())
        .send()
        .await
        .expect("an answer");
    assert!(told.status().is_success(), "{}", told.status());
    api.post(format!("{path}/refresh"), json!({})).send().await.refused(409, "reauth_required");
    assert_eq!(api.get(&path).send().await.expect(200)["status"], "reauth_required");
    let of_it = format!("/v1/calendars?connection_id={}", connection["id"].as_str().expect("an id"));
    api.get(of_it).send().await.refused(409, "reauth_required");
}
