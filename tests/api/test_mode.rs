//! Test applications and `/v1/test`: keys that reach the sandbox alone, and what they make happen there.

use base::scopes;
use harness::{Actor, TestServer};
use serde_json::{Value, json};
use storage::organizations;

use crate::admin_api::admin;
use crate::cli::printed;
use crate::oauth::tenant;

/// A client with a key of a new test application.
pub async fn test_client(server: &TestServer) -> Actor {
    let first = server.key("trial", |_| {}).await;
    let tenant = tenant(server, &first).await;
    let marked: anyhow::Result<()> = server
        .app
        .db
        .write(move |tx| Box::pin(async move { organizations::mark_test_application(tx, &tenant).await }))
        .await;
    marked.expect("the application is marked");
    let new = json!({ "name": "trial", "scopes": scopes::ALL });
    let made = first.post("/v1/api-keys", new).send().await.expect(201);
    let mut client = first;
    client.key = made["key"].as_str().map(str::to_owned);
    client
}

/// An event of an hour.
fn event() -> Value {
    json!({ "title": "Standup", "start": "2026-03-02T10:00:00Z", "end": "2026-03-02T11:00:00Z" })
}

/// A key of a test application shows in its name that it is one. It connects accounts of the sandbox, and no others.
#[tokio::test]
async fn test_keys_reach_the_sandbox_alone() {
    let server = TestServer::start().await;
    let api = test_client(&server).await;
    assert!(api.key.as_deref().is_some_and(|key| key.starts_with("uc_test_")));
    let keys = api.all("/v1/api-keys").await;
    let own = keys.iter().find(|key| key["name"] == "trial").expect("the key is listed");
    let rotate = format!("/v1/api-keys/{}/rotate", own["id"].as_str().expect("an id"));
    let rotated = api.post(rotate, json!({})).send().await.expect(200);
    assert!(rotated["key"].as_str().is_some_and(|key| key.starts_with("uc_test_")));

    api.connect_account("alice").await;
    let credentials = json!({ "username": "ada@example.com", "password": "secret" });
    let other = json!({
        "provider": "jmap", "scopes": ["email.read"], "credentials": credentials,
        "settings": { "serverUrl": "https://jmap.example.com" },
    });
    let error = api.post("/v1/connections", other).send().await.refused(403, "test_key");
    assert_eq!(error["param"], "provider");
    let authorization =
        json!({ "scopes": ["email.read"], "redirectUri": "https://app.example.com/connected" });
    let path = "/v1/auth/connectors/google/authorize";
    api.post(path, authorization).send().await.refused(403, "test_key");

    // Without a sandbox of its own, a server lets test keys reach no other one.
    let outside = TestServer::builder().config(|config| config.sandbox = false).start().await;
    let elsewhere = json!({
        "provider": "sandbox", "scopes": ["email.read"],
        "credentials": { "username": "alice@sandbox.test", "password": "sandbox" },
        "settings": { "serverUrl": format!("http://{}/sandbox", server.address) },
    });
    let api = test_client(&outside).await;
    api.post("/v1/connections", elsewhere).send().await.refused(403, "test_key");
}

/// An application is made for tests, or not; it cannot be changed later, and the panel marks it. A test application gets no registration at a
/// provider.
#[tokio::test]
async fn an_application_is_made_for_tests() {
    let server = TestServer::start().await;
    let owner = tenant(&server, &server.client().await).await.organization_id;
    let admin = admin(&server, &["admin.read", "admin.write"]).await;
    let new = |name: &str, test: bool| json!({ "organizationId": owner, "name": name, "test": test });
    let made = |body: Value| admin.post("/v1/admin/applications", body).send();
    let trial = made(new("Trial", true)).await.expect(201);
    assert_eq!(trial["test"], true);
    assert_eq!(made(new("Shop", false)).await.expect(201)["test"], false);
    let path = format!("/v1/admin/applications/{}", trial["id"].as_str().expect("an id"));
    assert_eq!(admin.get(&path).send().await.expect(200)["test"], true);
    let changed = admin.patch(&path, json!({ "test": false })).send().await.expect(200);
    assert_eq!((&changed["test"], &changed["warnings"][0]["field"]), (&json!(true), &json!("test")));

    let user = server.operator(None).await;
    let page = user.get(format!("/admin/orgs/{owner}")).send().await;
    assert_eq!(page.text.matches("Test</span>").count(), 1, "the panel marks one of the applications");

    let registration = json!({ "clientId": "ours", "clientSecret": "secret" });
    let set = admin.ask(reqwest::Method::PUT, format!("{path}/providers/google"), Some(registration));
    set.send().await.refused(403, "test_key");
}

/// A planned failure hits the calls of the application that planned it, although others have connected the same account.
#[tokio::test]
async fn a_fault_hits_one_application() {
    let server = TestServer::start().await;
    let (api, other) = (test_client(&server).await, server.client().await);
    let mut paths = Vec::new();
    for client in [&api, &other] {
        let connection = client.connect_sandbox().await;
        let calendar = client.calendar(&connection, "Work").await;
        paths.push((connection["id"].clone(), format!("/v1/calendars/{calendar}/events")));
    }
    let (connection, events) = &paths[0];
    let fault = json!({ "connectionId": connection, "status": 403, "surface": "calendar", "times": 1_000 });
    let planned = api.post("/v1/test/faults", fault).send().await.expect(201);
    assert_eq!((&planned["status"], &planned["lostAnswer"]), (&json!(403), &json!(false)));
    api.post(events, event()).send().await.refused(400, "provider_rejected");
    other.post(&paths[1].1, event()).send().await.expect(201);
    // Everyone may plan faults of an account, and nobody those of an application of others: its name at the provider is a secret.
    let path = format!("/sandbox/apps/{}/faults", tenant(&server, &other).await.application_id);
    server.provider("alice").post(path, json!({ "status": 403 })).send().await.expect(201);
    other.post(&paths[1].1, event()).send().await.expect(201);
    let asked = json!({ "connectionId": connection, "type": "calendar.event.created" });
    api.post("/v1/test/trigger", asked).send().await.expect(200);

    let nothing = json!({ "connectionId": connection });
    let error = api.post("/v1/test/faults", nothing).send().await.refused(400, "missing_field");
    assert_eq!(error["param"], "status");
    let theirs = json!({ "connectionId": paths[1].0, "status": 503 });
    api.post("/v1/test/faults", theirs).send().await.refused(404, "not_found");
    let live = json!({ "connectionId": paths[1].0, "status": 503 });
    other.post("/v1/test/faults", live).send().await.refused(403, "forbidden");
}

/// A message arrives, and events happen, as if another program had written to the account.
#[tokio::test]
async fn test_keys_make_things_happen() {
    let server = TestServer::start().await;
    let api = test_client(&server).await;
    let connection = api.connect_account("bob").await;
    let provider = server.provider("bob");
    let message = json!({ "connectionId": connection, "subject": "Invoice 42", "text": "Please pay." });
    let delivered = api.post("/v1/test/deliver", message).send().await.expect(200);
    assert_eq!(delivered["title"], "Invoice 42");
    let inbox = provider.get("/sandbox/v1/mail/messages?limit=20").send().await;
    assert!(inbox.text.contains("Invoice 42") && inbox.text.contains("tester@sandbox.test"), "{inbox}");
    for (kind, list) in [
        ("email.message.created", "/sandbox/v1/mail/messages?limit=20"),
        ("calendar.event.created", "/sandbox/v1/calendars/work/events?limit=250"),
        ("contact.created", "/sandbox/v1/books/contacts/cards?limit=250"),
        ("task.created", "/sandbox/v1/lists/tasks/todos?limit=250"),
    ] {
        let asked = json!({ "connectionId": connection, "type": kind });
        let made = api.post("/v1/test/trigger", asked).send().await.expect(200);
        assert_eq!(made["type"], kind);
        let listed = provider.get(list).send().await;
        assert!(listed.text.contains(made["title"].as_str().expect("a title")), "{kind}: {listed}");
    }
    let unknown = json!({ "connectionId": connection, "type": "booking.created" });
    api.post("/v1/test/trigger", unknown).send().await.refused(400, "invalid_parameter");
}

/// The command line makes test applications and their keys, and does not turn an application into one.
#[test]
fn the_command_line_makes_test_applications() {
    let dir = tempfile::tempdir().expect("a data directory");
    let place = ["--json", "--data-dir", dir.path().to_str().expect("a plain path")];
    let command = |arguments: &[&str]| printed(&[arguments, &place[..]].concat());
    let made = command(&["apps", "create", "Trial", "--test", "--init"]);
    assert_eq!(made["test"], true);
    assert_eq!(command(&["apps", "create", "Shop"])["test"], false);
    assert_eq!(command(&["apps", "create", "Trial"])["test"], true, "it is shown as it is");
    let listed = command(&["apps", "list"]);
    let kinds: Vec<&Value> = listed.as_array().expect("a list").iter().map(|app| &app["test"]).collect();
    assert_eq!(kinds, [&json!(true), &json!(false)]);
    for (application, beginning) in [("Trial", "uc_test_"), ("Shop", "uc_live_")] {
        let key = command(&["keys", "create", "--application", application, "--scopes", "calendar.read"]);
        let (secret, prefix) =
            (key["key"].as_str().expect("a key"), key["prefix"].as_str().expect("a prefix"));
        assert!(secret.starts_with(beginning) && prefix.starts_with(beginning), "{application}: {prefix}");
        let rotated = command(&["keys", "rotate", key["id"].as_str().expect("an id")]);
        assert!(rotated["key"].as_str().is_some_and(|secret| secret.starts_with(beginning)));
    }
    let late = ["apps", "create", "Shop", "--test", "--data-dir", place[2]];
    let (code, said) = crate::cli::refused(&mut crate::cli::switchboard(&late));
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("not for tests"), "{said}");
}
