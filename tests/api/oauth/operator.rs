//! Values that an operator gives with a registration: servers in the place of a provider's hosts, and settings that no request gives.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::to_bytes;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use harness::browser::{Consent, parameter};
use harness::{TestServer, Watcher};
use serde_json::{Value, json};
use storage::oauth_clients::OAuthClient;
use tempfile::TempDir;
use tokio::net::TcpListener;

use crate::oauth::{Flow, connector, register_client, replace_origin, request};

/// The origin of the API of the connector `moved`. There is no such host.
const ORIGIN: &str = "https://api.sandbox.test";

/// Longer than hosts remember a registration.
const REMEMBERED_MS: i64 = 1_000;

/// A request that a front passed on.
#[derive(Debug)]
struct PassedRequest {
    method: String,
    path: String,
    headers: HeaderMap,
}

/// A server in front of the sandbox provider, which records the requests that it passes on.
struct Front {
    url: String,
    passed: Arc<Mutex<Vec<PassedRequest>>>,
    /// The status of the answer to the next POST, which the provider performs nevertheless.
    answer_instead: Arc<Mutex<Option<StatusCode>>>,
}

impl Front {
    async fn before(server: &TestServer) -> Front {
        let behind = format!("http://{}", server.address);
        let passed: Arc<Mutex<Vec<PassedRequest>>> = Arc::default();
        let answer_instead: Arc<Mutex<Option<StatusCode>>> = Arc::default();
        let (notes, instead) = (passed.clone(), answer_instead.clone());
        let client = harness::http_client().no_gzip().build().expect("an HTTP client");
        let pass = async move |request: Request| {
            let (head, body) = request.into_parts();
            let body = to_bytes(body, 1 << 20).await.expect("a body");
            let path = head.uri.path_and_query().expect("a path").as_str().to_owned();
            let note = PassedRequest { method: head.method.to_string(), path, headers: head.headers.clone() };
            let url = format!("{behind}{}", note.path);
            notes.lock().expect("no test panics with it").push(note);
            let mut headers = head.headers;
            for of_the_connection in [header::HOST, header::CONTENT_LENGTH, header::ACCEPT_ENCODING] {
                headers.remove(of_the_connection);
            }
            let is_post = head.method == "POST";
            let instead = is_post.then(|| instead.lock().expect("no test panics with it").take()).flatten();
            let asked = client.request(head.method, url).headers(headers).body(body);
            let answer = asked.send().await.expect("the provider answers");
            if let Some(status) = instead {
                return status.into_response();
            }
            let (status, mut headers) = (answer.status(), answer.headers().clone());
            for of_the_connection in [header::CONNECTION, header::CONTENT_LENGTH, header::TRANSFER_ENCODING] {
                headers.remove(of_the_connection);
            }
            (status, headers, answer.bytes().await.expect("a body")).into_response()
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let app = axum::Router::new().fallback(pass);
        tokio::spawn(async move { axum::serve(listener, app).await.expect("the front stays") });
        Front { url, passed, answer_instead }
    }

    /// The requests since they were taken last.
    fn taken(&self) -> Vec<PassedRequest> {
        std::mem::take(&mut *self.passed.lock().expect("no test panics with it"))
    }
}

/// A folder with a connector whose provider is at `ORIGIN`.
fn moved() -> TempDir {
    connector("moved", |manifest| {
        let of_settings = "hosts_from_settings = [\"serverUrl\"]";
        assert!(manifest.contains(of_settings) && manifest.trim_end().ends_with('"'), "{manifest}");
        let rule = "host = \"api.sandbox.test\", path_prefix = \"/sandbox/v1\", inject = \"default\"";
        let hosts = format!("hosts = [{{ {rule} }}]");
        format!("{}\nfixed = \"{ORIGIN}/sandbox\"\n", manifest.replace(of_settings, &hosts).trim_end())
    })
}

/// A service with the connectors of this folder, and providers in the network of this machine.
async fn flow(connectors: &TempDir) -> Flow {
    let folder = connectors.path().to_owned();
    let builder = TestServer::builder().config(|c| {
        c.connectors_dir = Some(folder);
        c.egress_allow = vec!["127.0.0.0/8".parse().expect("a network")];
    });
    Flow::on(builder.without_pulls().start().await).await
}

/// Registers the connector `moved` with this server in the place of its provider.
async fn move_to(flow: &Flow, front: &Front) {
    let change = |client: &mut OAuthClient| replace_origin(client, ORIGIN, &front.url);
    register_client(&flow.server, &flow.api, "moved", change).await;
}

/// An account of the connector `moved`, with its password.
fn account() -> Value {
    json!({
        "provider": "moved", "scopes": ["calendar.read", "calendar.write"],
        "credentials": { "username": "alice@sandbox.test", "password": "sandbox" },
    })
}

/// Requests to the API go to the other server, with the provider's credentials and name; those of OAuth go where they always went. A
/// change of the registration holds for accounts that were connected before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_origin_override_moves_requests_of_the_api_alone() {
    let connectors = moved();
    let flow = flow(&connectors).await;
    let (one, two) = (Front::before(&flow.server).await, Front::before(&flow.server).await);
    let own = format!("http://{}", flow.server.address);
    let callback = format!("{own}/v1/auth/connectors/moved/callback");
    let client = json!({ "clientId": "of-moved", "redirectUris": [callback] });
    flow.server.provider("alice").post("/sandbox/oauth/clients", client).send().await.expect(201);
    register_client(&flow.server, &flow.api, "moved", |client| {
        client.client_id = "of-moved".to_owned();
        client.endpoints.insert("issuer".to_owned(), json!(format!("{own}/sandbox")));
        replace_origin(client, ORIGIN, &one.url);
    })
    .await;

    let asked = flow.api.post("/v1/auth/connectors/moved/authorize", request(json!({}))).send().await;
    let authorization = asked.expect(201);
    let url = authorization["authorizationUrl"].as_str().expect("a URL");
    let returned = flow.browser.consent(url, "alice", Consent::Allow).await;
    let location = flow.browser.open(&returned).await.location();
    let id = parameter(&location, "connection_id").unwrap_or_else(|| panic!("no connection: {location}"));
    let messages = flow.api.get(format!("/v1/email/messages?connection_id={id}&limit=5")).send().await;
    assert!(!messages.expect(200)["data"].as_array().expect("a list").is_empty());
    let passed = one.taken();
    assert!(!passed.is_empty());
    for PassedRequest { method, path, headers } in passed {
        assert!(path.starts_with("/sandbox/v1/"), "{method} {path}");
        assert_eq!(headers[header::HOST], "api.sandbox.test", "{method} {path}");
        let token = headers[header::AUTHORIZATION].to_str().expect("a token");
        assert!(token.starts_with("Bearer "), "{method} {path}");
    }

    move_to(&flow, &two).await;
    flow.server.clock.advance_ms(REMEMBERED_MS);
    for _ in 0..2 {
        flow.api.post(format!("/v1/connections/{id}/refresh"), json!({})).send().await.expect(200);
    }
    assert!(!two.taken().is_empty(), "every host knows the new server");
    assert_eq!(one.taken().len(), 0, "and none the old one");
}

/// A private network that the operator has not named is out of reach for a registration too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_origin_override_needs_the_network_of_its_server() {
    let connectors = moved();
    let folder = connectors.path().to_owned();
    let builder = TestServer::builder().config(|c| c.connectors_dir = Some(folder));
    let flow = Flow::on(builder.start().await).await;
    let front = Front::before(&flow.server).await;
    move_to(&flow, &front).await;
    flow.api.post("/v1/connections", account()).send().await.refused(400, "provider_rejected");
    assert_eq!(front.taken().len(), 0);
}

/// After a lost answer it is unknown whether the change was made, and after a refusal too, which may concern a later request of the same
/// change: the repetition is marked as one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repeated_change_tells_the_connector_its_attempt() {
    let connectors = moved();
    let flow = flow(&connectors).await;
    let front = Front::before(&flow.server).await;
    move_to(&flow, &front).await;
    let connection = flow.api.connect(account()).await;
    let calendar = flow.api.calendar(&connection, "Work").await;
    let path = format!("/v1/calendars/{calendar}/events");
    for (title, status, refusal) in [
        ("Lost", StatusCode::BAD_GATEWAY, (503, "provider_unavailable")),
        ("Refused", StatusCode::FORBIDDEN, (400, "provider_rejected")),
    ] {
        let event = json!({ "title": title, "start": "2026-03-02T11:00:00Z", "end": "2026-03-02T12:00:00Z" });
        let create = || flow.api.post(&path, event.clone()).keyed(title);
        front.taken();
        *front.answer_instead.lock().expect("no test panics with it") = Some(status);
        create().send().await.refused(refusal.0, refusal.1);
        create().send().await.expect(201);
        let attempts: Vec<Option<String>> = front
            .taken()
            .iter()
            .filter(|passed| passed.method == "POST" || passed.method == "PUT")
            .map(|passed| passed.headers.get("x-attempt").map(|n| n.to_str().expect("a number").to_owned()))
            .collect();
        assert_eq!(attempts, [None, Some("2".to_owned())], "{title}");
        let made = flow.api.all(&path).await.iter().filter(|event| event["title"] == title).count();
        assert_eq!(made, 1, "the provider has made it once: {title}");
    }
}

/// Adds a setting of the operator's to the manifest.
fn with_operator_setting(manifest: &str, more: &str) -> String {
    let setting = "[[settings]]\nname = \"topic\"\noperator = true\ndescription = \"The topic\"\n";
    format!("{manifest}\n{setting}{more}")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_setting_in_a_request_is_refused() {
    let connectors = connector("operated", |manifest| with_operator_setting(&manifest, ""));
    let flow = flow(&connectors).await;
    let server = format!("http://{}/sandbox", flow.server.address);
    let with = |topic: Value| {
        let settings = json!({ "serverUrl": server, "topic": topic });
        let body = json!({ "provider": "operated", "settings": settings });
        let mut account = account();
        account.as_object_mut().expect("an object").extend(body.as_object().expect("an object").clone());
        account
    };
    let error = flow.api.post("/v1/connections", with(json!("mine"))).send().await;
    let error = error.refused(400, "invalid_parameter");
    assert_eq!(error["param"], "settings.topic", "{error:#}");
    let connection = flow.api.connect(with(Value::Null)).await;
    assert!(!connection.to_string().contains("topic"), "{connection:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_setting_that_is_required_waits_for_the_operator() {
    let connectors = connector("operated", |manifest| with_operator_setting(&manifest, "required = true\n"));
    let flow = flow(&connectors).await;
    let server = format!("http://{}/sandbox", flow.server.address);
    let mut account = account();
    account["provider"] = json!("operated");
    account["settings"] = json!({ "serverUrl": server });
    let error = flow.api.post("/v1/connections", account.clone()).send().await;
    let error = error.refused(400, "provider_not_registered");
    assert!(error["message"].as_str().is_some_and(|message| message.contains("topic")), "{error:#}");
    register_client(&flow.server, &flow.api, "operated", |client| {
        client.settings.insert("topic".to_owned(), json!("projects/mine/topics/mail"));
    })
    .await;
    flow.server.clock.advance_ms(REMEMBERED_MS);
    flow.api.connect(account).await;
}

/// The host listens at the server that the registration names now, not at the one that it named when the account was connected.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_host_listens_at_the_operators_present_server() {
    let connectors = connector("listened", |manifest| {
        let of_settings = "hosts_from_settings = [\"serverUrl\"]";
        let servers = format!("{of_settings}\nservers_from_settings = [\"imap\"]\nidle_server = \"imap\"");
        let setting = "[[settings]]\nname = \"imap\"\noperator = true\ndescription = \"The IMAP server\"\n";
        format!("{}\n{setting}", manifest.replace(of_settings, &servers))
    });
    let flow = flow(&connectors).await;
    let local = async || TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let (one, two) = (local().await, local().await);
    let imap = |listener: &TcpListener| {
        let port = listener.local_addr().expect("an address").port();
        json!({ "host": "127.0.0.1", "port": port, "tls": "none" })
    };
    let register = async |imap: Value| {
        register_client(&flow.server, &flow.api, "listened", |client| {
            client.settings.insert("imap".to_owned(), imap);
        })
        .await;
    };
    register(imap(&one)).await;
    let mut account = account();
    account["provider"] = json!("listened");
    account["scopes"] = json!(["email.read"]);
    account["settings"] = json!({ "serverUrl": format!("http://{}/sandbox", flow.server.address) });
    let mut given = account.clone();
    given["credentials"]["imap"] = imap(&two);
    let error = flow.api.post("/v1/connections", given).send().await.refused(400, "invalid_parameter");
    assert_eq!(error["param"], "credentials.imap", "{error:#}");
    let connection = flow.api.connect(account).await;
    let start = json!({ "connectionId": connection["id"] });
    flow.api.post("/v1/email/sync/start", start).send().await.expect(202);

    register(imap(&two)).await;
    flow.server.clock.advance_ms(REMEMBERED_MS);
    let _watcher = Watcher::start(&flow.server.app);
    let asked = async {
        tokio::select! {
            line = two.accept() => line.is_ok(),
            _ = one.accept() => false,
        }
    };
    let asked = tokio::time::timeout(Duration::from_secs(30), asked).await;
    assert!(asked.expect("a server is asked"), "the old server is asked");
}

/// The operator's current server counts whenever a connection is checked again: the account found must belong to it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_is_refreshed_has_the_operators_present_server() {
    let connectors = connector("operated", |manifest| format!("{}\noperator = true\n", manifest.trim_end()));
    let flow = flow(&connectors).await;
    let (one, two) = (Front::before(&flow.server).await, Front::before(&flow.server).await);
    let register = async |front: &Front| {
        register_client(&flow.server, &flow.api, "operated", |client| {
            client.settings.insert("serverUrl".to_owned(), json!(format!("{}/sandbox", front.url)));
        })
        .await;
        flow.server.clock.advance_ms(REMEMBERED_MS);
    };
    register(&one).await;
    let mut account = account();
    account["provider"] = json!("operated");
    let connection = flow.api.connect(account).await;
    assert_eq!(connection["settings"], json!({}), "the operator's server is not shown");
    register(&two).await;
    assert!(!one.taken().is_empty() && two.taken().is_empty());
    let path = format!("/v1/connections/{}/refresh", connection["id"].as_str().expect("an id"));
    let refreshed = flow.api.post(path, json!({})).send().await.expect(200);
    assert_eq!(refreshed["settings"], json!({}));
    assert!(one.taken().is_empty() && !two.taken().is_empty());
}
