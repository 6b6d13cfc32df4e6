//! `/v1/providers`

use harness::TestServer;
use serde_json::{Value, json};
use storage::api_keys::ApiKey;

use crate::oauth::register_client;

/// The page about the sandbox for people.
const SANDBOX_PAGE: &str = include_str!("../../docs/sandbox.md");

/// The connectors of the server are listed by name, page by page, each as it is read by its name.
#[tokio::test]
async fn providers_are_listed_by_name() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let listed = api.all("/v1/providers?limit=3").await;
    let names: Vec<&str> = listed.iter().filter_map(|provider| provider["name"].as_str()).collect();
    let installed: Vec<String> =
        server.app.runtime.list().iter().map(|connector| connector.manifest.name.clone()).collect();
    assert!(names.len() > 3 && names.is_sorted(), "{names:?}");
    assert_eq!(names, installed);
    for provider in &listed {
        let path = format!("/v1/providers/{}", provider["name"].as_str().expect("a name"));
        assert_eq!(api.get(path).send().await.expect(200), *provider);
    }
    api.get("/v1/providers/nobody").send().await.refused(404, "not_found");
}

/// A provider shows how its accounts are connected: the kinds of authentication, the settings and the credentials as JSON Schemas, and the
/// scopes.
#[tokio::test]
async fn a_provider_shows_how_accounts_are_connected() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let read = async |name: &str| api.get(format!("/v1/providers/{name}")).send().await.expect(200);

    let jmap = read("jmap").await;
    assert_eq!((&jmap["surfaces"], &jmap["pushSurfaces"]), (&json!(["email"]), &json!(["email"])));
    assert_eq!(jmap["authKinds"], json!(["basic", "bearer"]));
    assert_eq!(jmap["scopes"], json!(["email.read", "email.write", "email.send"]));
    let settings = &jmap["settings"];
    assert_eq!(settings["required"], json!(["serverUrl"]));
    assert_eq!(settings["properties"]["serverUrl"]["format"], "uri");
    assert_eq!(settings["additionalProperties"], false);
    let forms = jmap["credentials"]["oneOf"].as_array().expect("two forms");
    let required: Vec<&Value> = forms.iter().map(|form| &form["required"]).collect();
    assert_eq!(required, [&json!(["username", "password"]), &json!(["accessToken"])]);

    // Servers of mail are given with the credentials.
    let imap = read("imap").await;
    assert_eq!(imap["settings"]["required"], json!([]));
    let password = &imap["credentials"]["oneOf"][0];
    assert_eq!(password["required"], json!(["imap", "smtp", "username", "password"]));
    assert_eq!(password["properties"]["imap"]["required"], json!(["host", "port"]));

    // By OAuth alone: nothing is given but the operator's settings.
    let google = read("google").await;
    assert_eq!((&google["authKinds"], &google["credentials"]), (&json!(["oauth"]), &Value::Null));
    assert_eq!((&google["settings"]["properties"], &google["sandbox"]), (&json!({}), &Value::Null));
    let sending = &google["providerScopes"]["email.send"];
    assert_eq!(*sending, json!(["https://www.googleapis.com/auth/gmail.send"]));
    assert_eq!(google["pushSurfaces"], json!(["email", "calendar"]));
}

/// Any valid key reads providers, also one that is bound to a connection. Whether the operator has registered the application at a provider is
/// shown to its keys alone.
#[tokio::test]
async fn any_key_reads_providers() {
    let server = TestServer::start().await;
    let (api, other) = (server.client().await, server.key("other", |_| {}).await);
    let path = "/v1/providers/google";
    assert_eq!(api.get(path).send().await.expect(200)["oauthRegistered"], false);
    register_client(&server, &api, "google", |_| {}).await;
    assert_eq!(api.get(path).send().await.expect(200)["oauthRegistered"], true);
    assert_eq!(other.get(path).send().await.expect(200)["oauthRegistered"], false);

    let id = api.connect_account("alice").await;
    let narrow = |key: &mut ApiKey| {
        (key.scopes, key.connection_ids) = (vec!["tasks.read".to_owned()], vec![id]);
    };
    let bound = server.key("test", narrow).await;
    assert_eq!(bound.all("/v1/providers").await, api.all("/v1/providers").await);
    server.anonymous().get("/v1/providers").send().await.refused(401, "missing_api_key");

    register_client(&server, &api, "google", |client| client.disabled_at = Some(1)).await;
    assert_eq!(api.get(path).send().await.expect(200)["oauthRegistered"], false);
}

/// The sandbox of a server lists its accounts, which can be connected as shown; wrong credentials are refused with the right ones.
#[tokio::test]
async fn the_sandbox_lists_its_accounts() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let sandbox = api.get("/v1/providers/sandbox").send().await.expect(200);
    assert_eq!((&sandbox["oauthRegistered"], &sandbox["settings"]["properties"]), (&json!(true), &json!({})));
    let guide = &sandbox["sandbox"];
    let accounts = guide["accounts"].as_array().expect("accounts");
    assert_eq!(accounts.len(), 3);
    for account in accounts {
        let body = |password: &Value| {
            json!({ "provider": "sandbox", "scopes": sandbox["scopes"],
                "credentials": { "username": account["email"], "password": password } })
        };
        let made = api.post("/v1/connections", body(&guide["password"])).send().await.expect(201);
        assert_eq!((&made["email"], &made["missingScopes"]), (&account["email"], &json!([])));
        let wrong = api.post("/v1/connections", body(&json!("guess"))).send().await;
        let error = wrong.refused(400, "provider_rejected");
        let message = error["message"].as_str().unwrap_or_default();
        assert!(message.contains(account["email"].as_str().expect("an address")), "{message}");
        assert!(message.contains("\"sandbox\""), "{message}");
    }

    let outside = TestServer::builder().config(|config| config.sandbox = false).start().await;
    let sandbox = outside.client().await.get("/v1/providers/sandbox").send().await.expect(200);
    assert_eq!((&sandbox["sandbox"], &sandbox["oauthRegistered"]), (&Value::Null, &json!(false)));
    assert_eq!(sandbox["settings"]["properties"]["serverUrl"]["format"], "uri");
}

/// The page of the sandbox and the introduction of the document name every account and every address with an effect.
#[tokio::test]
async fn documents_name_every_sandbox_address() {
    let server = TestServer::start().await;
    let sandbox = server.client().await.get("/v1/providers/sandbox").send().await.expect(200);
    let document = server.anonymous().get("/openapi.json").send().await.expect(200);
    let introduction = document["info"]["description"].as_str().expect("an introduction");
    let addresses = ["accounts", "specialAddresses"].map(|list| sandbox["sandbox"][list].as_array().cloned());
    let addresses: Vec<Value> = addresses.into_iter().flatten().flatten().collect();
    assert_eq!(addresses.len(), 18);
    for address in &addresses {
        let (name, _) =
            address["email"].as_str().and_then(|email| email.split_once('@')).expect("an address");
        for text in [SANDBOX_PAGE, introduction] {
            assert!(text.contains(&format!("`{name}@")), "{name}@ is missing");
        }
    }
}
