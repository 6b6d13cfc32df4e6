//! The whole way: authorize, consent, callback, and an account that answers.

use harness::TestServer;
use harness::browser::{Consent, parameter};
use serde_json::{Value, json};
use service::connections::authorization::{self, CallbackOutcome, CallbackParams};

use crate::oauth::{
    AUTHORIZE, Flow, REDIRECT, STATE, assert_error, assert_page, connector, register, request,
};

/// The address has what OAuth 2.0 and PKCE ask for (RFC 6749 §4.1.1, RFC 7636 §4.3), works ten minutes, and holds no secret.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn authorize_answers_a_url() {
    let flow = Flow::start().await;
    let answer = flow.authorize(json!({ "loginHint": "alice@sandbox.test" })).await.expect(201);
    let url = answer["authorizationUrl"].as_str().expect("a URL");
    let own = format!("http://{}", flow.server.address);
    assert!(url.starts_with(&format!("{own}/sandbox/oauth/authorize?")), "{url}");
    let state = answer["state"].as_str().expect("a state");
    assert!(state.starts_with("st_") && state.len() == 46 && state != STATE, "{state}");
    let callback = format!("{own}/v1/auth/connectors/sandbox/callback");
    for (name, value) in [
        ("response_type", "code"),
        ("redirect_uri", callback.as_str()),
        ("state", state),
        ("code_challenge_method", "S256"),
        ("login_hint", "alice@sandbox.test"),
    ] {
        assert_eq!(parameter(url, name).as_deref(), Some(value), "{name} in {url}");
    }
    assert_eq!(parameter(url, "code_challenge").map(|c| c.len()), Some(43), "{url}");
    assert!(parameter(url, "client_id").is_some_and(|id| !id.is_empty()), "{url}");
    let scope = parameter(url, "scope").expect("scopes");
    let mut scopes: Vec<&str> = scope.split(' ').collect();
    scopes.sort_unstable();
    assert_eq!(scopes, ["calendar.read", "mail.read"]);
    assert_eq!(answer["expiresAt"], "2026-03-01T08:10:00.000Z");
    for secret in ["code_verifier", "client_secret"] {
        assert!(!url.contains(secret), "{url}");
    }

    let other = flow.authorize(json!({})).await.expect(201);
    assert_ne!(other["state"], answer["state"]);
    let keyed = || flow.api.post(AUTHORIZE, request(json!({}))).keyed("once");
    let first = keyed().send().await.expect(201);
    assert_eq!(
        keyed().send().await.expect(201),
        first,
        "the same request with the same key is answered once"
    );
    assert_eq!(flow.count_connections().await, 0);
}

/// A user allows it, and the connection reads that account's mail and calendar.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn round_trip_makes_an_active_connection() {
    let flow = Flow::start().await;
    let callback = flow.returned(json!({ "tags": { "user": "7" } }), "alice", Consent::Allow).await;
    let page = flow.browser.open(&callback).await;
    assert_eq!(page.status, 302, "{page:#?}");
    let location = page.location();
    assert!(location.starts_with(&format!("{REDIRECT}?")), "{location}");
    assert_eq!(parameter(&location, "state").as_deref(), Some(STATE));
    assert_eq!(parameter(&location, "status").as_deref(), Some("active"));
    for absent in ["error", "code", "iss"] {
        assert_eq!(parameter(&location, absent), None, "{location}");
    }
    let id = parameter(&location, "connection_id").expect("a connection");
    let connection = flow.connection(&id).await;
    for (field, value) in [
        ("provider", json!("sandbox")),
        ("status", json!("active")),
        ("email", json!("alice@sandbox.test")),
        ("requestedScopes", json!(["email.read", "calendar.read"])),
        ("grantedScopes", json!(["email.read", "calendar.read"])),
        ("missingScopes", json!([])),
        ("tags", json!({ "user": "7" })),
    ] {
        assert_eq!(connection[field], value, "{field} of {connection:#}");
    }
    assert!(connection["tokenExpiresAt"].is_string(), "{connection:#}");

    let messages = flow.api.get(format!("/v1/email/messages?connection_id={id}&limit=5")).send().await;
    assert!(!messages.expect(200)["data"].as_array().expect("a list").is_empty());
    let calendar = flow.api.calendar(&connection, "Work").await;
    assert!(!flow.api.all(&format!("/v1/calendars/{calendar}/events")).await.is_empty());
    let event = json!({ "connection_id": id, "title": "x", "start": "2026-03-02T11:00:00Z", "end": "2026-03-02T12:00:00Z" });
    let refused = flow.api.post(format!("/v1/calendars/{calendar}/events"), event).send().await;
    refused.refused(403, "scope_not_granted");
}

/// A backend to which the provider redirects its users forwards the parameters, with its key, and gets JSON.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backend_forwards_the_callback() {
    let flow = Flow::start().await;
    let callback = flow.returned(json!({}), "alice", Consent::Allow).await;
    let answer = flow.api.get(flow.path(&callback)).send().await.expect(200);
    assert_eq!((&answer["status"], &answer["state"]), (&json!("active"), &json!(STATE)), "{answer:#}");
    let id = answer["connectionId"].as_str().expect("a connection");
    assert_eq!(flow.connection(id).await["status"], "active");
    let denied = flow.returned(json!({}), "alice", Consent::Deny).await;
    flow.api.get(flow.path(&denied)).send().await.refused(403, "access_denied");
    let callback = flow.returned(json!({}), "alice", Consent::Allow).await;
    let asked = flow.server.anonymous().get(flow.path(&callback)).header("accept", "application/json");
    let again = asked.send().await.expect(200);
    assert_eq!((&again["status"], &again["connectionId"]), (&json!("active"), &json!(id)), "{again:#}");
    assert_eq!(flow.count_connections().await, 1);
}

/// A second sign-in of an account renews its connection, whose id, tags and data stay. Another application, a connection by password and a
/// client that asks for it have a connection of their own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_sign_in_renews_the_connection() {
    let flow = Flow::start().await;
    let password = json!({ "provider": "sandbox", "scopes": ["email.read"],
                           "credentials": { "username": "alice@sandbox.test", "password": "sandbox" } });
    let by_password = flow.api.connect(password).await;
    let first = json!({ "scopes": ["calendar.read"], "tags": { "user": "7" } });
    let id = flow.connect(first, "alice").await;
    assert_ne!(by_password["id"], json!(id), "a connection by password stays as it is");
    let calendar = flow.api.calendar(&flow.connection(&id).await, "Work").await;

    let wider = json!({ "scopes": ["calendar.read", "email.read"], "tags": { "user": "8" } });
    assert_eq!(flow.connect(wider, "alice").await, id);
    let renewed = flow.connection(&id).await;
    assert_eq!(renewed["grantedScopes"], json!(["calendar.read", "email.read"]), "{renewed:#}");
    assert_eq!(renewed["tags"], json!({ "user": "7" }));
    flow.api.get(format!("/v1/calendars/{calendar}")).send().await.expect(200);
    assert_ne!(flow.connect(json!({}), "bob").await, id, "another account is another connection");

    // Whoever signs in for less takes nothing away from the connection that the application works with.
    let narrower = flow.connect(json!({ "scopes": ["email.read"] }), "alice").await;
    assert_ne!(narrower, id);
    assert_eq!(flow.connection(&id).await["grantedScopes"], json!(["calendar.read", "email.read"]));
    flow.api.delete(format!("/v1/connections/{narrower}")).send().await.expect(204);

    let second = flow.connect(json!({ "allow_duplicate": true }), "alice").await;
    assert_ne!(second, id);
    let refused = flow.authorize(json!({ "allow_duplicate": "yes" })).await.refused(400, "invalid_parameter");
    assert_eq!(refused["param"], "allow_duplicate");
    assert_eq!(flow.count_connections().await, 4);

    // Of two, the one that cannot be used any more is renewed.
    flow.server.provider("alice").delete("/sandbox/oauth/grants").send().await.expect(204);
    flow.server.clock.advance_ms(3_600_000);
    let refresh = flow.api.post(format!("/v1/connections/{second}/refresh"), json!({})).send().await;
    refresh.refused(409, "reauth_required");
    assert_eq!(flow.connect(json!({}), "alice").await, second);
    assert_eq!(flow.connection(&second).await["status"], "active");
}

/// Two sign-ins of one account that return at once make one connection, on one host and on two.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_returns_at_once_make_one_connection() {
    let flow = Flow::start().await;
    let other = flow.server.beside().await;
    let first = flow.returned(json!({}), "alice", Consent::Allow).await;
    let second = flow.returned(json!({}), "alice", Consent::Allow).await;
    let app = other.as_ref().map_or(&flow.server.app, |other| &other.app);
    let params = CallbackParams {
        code: parameter(&second, "code"),
        state: parameter(&second, "state"),
        iss: parameter(&second, "iss"),
        wants_json: true,
        ..CallbackParams::default()
    };
    let (page, outcome) =
        tokio::join!(flow.browser.open(&first), authorization::callback(app, "sandbox", params, None),);
    let id = parameter(&page.location(), "connection_id").unwrap_or_else(|| panic!("{page:#?}"));
    let CallbackOutcome::Json(result) = outcome.expect("the host answers") else {
        panic!("the second return has no connection")
    };
    assert_eq!(result.connection_id, id);
    assert_eq!(flow.count_connections().await, 1);
    let events = flow.api.all("/v1/events?type=connection.*").await;
    let types: Vec<&Value> = events.iter().map(|event| &event["type"]).collect();
    assert_eq!(types, ["connection.created", "connection.updated"]);
}

/// Authorized again, a connection keeps its id and what hangs on it; another account changes nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reauthorization_keeps_the_id() {
    let flow = Flow::start().await;
    let id = flow.connect(json!({ "scopes": ["calendar.read"] }), "alice").await;
    let before = flow.connection(&id).await;
    let calendar = flow.api.calendar(&before, "Work").await;
    let wider = json!({ "scopes": ["calendar.read", "email.read"], "connectionId": id });
    assert_eq!(flow.connect(wider.clone(), "alice").await, id);
    let after = flow.connection(&id).await;
    assert_eq!(after["grantedScopes"], json!(["calendar.read", "email.read"]), "{after:#}");
    assert_eq!((&after["status"], &after["createdAt"]), (&json!("active"), &before["createdAt"]));
    assert_ne!(after["etag"], before["etag"]);
    flow.api.get(format!("/v1/calendars/{calendar}")).send().await.expect(200);
    flow.api.get(format!("/v1/email/messages?connection_id={id}")).send().await.expect(200);

    let after = flow.connection(&id).await;
    let callback = flow.returned(wider, "bob", Consent::Allow).await;
    assert_error(&flow.browser.open(&callback).await, "account_mismatch");
    assert_eq!(flow.connection(&id).await, after, "another account changes nothing");
    flow.api.get(format!("/v1/calendars/{calendar}/events")).send().await.expect(200);
    assert_eq!(flow.count_connections().await, 1);
}

/// The error for an OAuth provider that is not registered has the command to register it; one for a provider without OAuth, or an unknown
/// one, says so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn provider_without_registration_says_how() {
    let dir = connector("other", |manifest| manifest);
    let connectors = dir.path().to_owned();
    let server = TestServer::builder().config(|c| c.connectors_dir = Some(connectors)).start().await;
    let api = server.client().await;
    register(&server, &api, REDIRECT).await;
    let asked = api.post("/v1/auth/connectors/other/authorize", request(json!({}))).send().await;
    let error = asked.refused(400, "provider_not_registered");
    let message = error["message"].as_str().expect("a message");
    assert!(message.contains("switchboard apps provider set") && message.contains("other"), "{message}");
    let asked = api.post("/v1/auth/connectors/nobody/authorize", request(json!({}))).send().await;
    asked.refused(404, "not_found");

    let flow = Flow::start().await;
    let asked = flow.api.post("/v1/auth/connectors/dav/authorize", request(json!({}))).send().await;
    asked.refused(400, "capability_not_supported");
}

/// A scope that the connector maps to none of the provider's is refused by its place, with those that there are.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unmapped_scope_is_named() {
    let dir = connector("sandbox", |manifest| {
        let without = manifest.replacen("\"tasks.write\" = [\"todo.write\"]", "", 1);
        assert_ne!(without, manifest, "the manifest maps tasks.write");
        without.replace(", }", " }").replace(",  }", " }").replace(", ,", ",")
    });
    let connectors = dir.path().to_owned();
    let flow =
        Flow::on(TestServer::builder().config(|c| c.connectors_dir = Some(connectors)).start().await).await;
    let asked = flow.authorize(json!({ "scopes": ["email.read", "tasks.write"] })).await;
    let error = asked.refused(400, "invalid_parameter");
    assert_eq!(error["param"], "scopes[1]", "{error:#}");
    let message = error["message"].as_str().expect("a message");
    assert!(message.contains("tasks.write") && message.contains("email.read"), "{message}");
}

/// The page of a return that leads nowhere is in the language that the browser asks for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_in_six_languages() {
    let flow = Flow::start().await;
    let url = format!("http://{}/v1/auth/connectors/sandbox/callback?code=x", flow.server.address);
    let mut pages: Vec<Value> = Vec::new();
    for (accept, tag) in [
        ("en-GB,en;q=0.9", "en"),
        ("de-CH, en;q=0.5", "de"),
        ("es", "es"),
        ("fr;q=0.9, nl", "fr"),
        ("ja", "ja"),
        ("ar-SA", "ar"),
        ("nl", "en"),
    ] {
        let page = flow.browser.open_with(&url, "accept-language", accept).await;
        assert_page(&page, 400);
        assert!(page.text.contains(&format!("<html lang=\"{tag}\"")), "{accept}: {page:#?}");
        assert_eq!(page.header("content-language"), tag);
        let (_, rest) = page.text.split_once("<h1>").expect("a heading");
        pages.push(json!(rest.split_once("</h1>").expect("its end").0));
    }
    assert_eq!(pages.first(), pages.last());
    pages.pop();
    pages.dedup();
    assert_eq!(pages.len(), 6, "{pages:?}");
}
