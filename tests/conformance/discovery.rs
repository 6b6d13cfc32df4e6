//! Connectors whose `check` names other servers than the user: no credentials are sent there, whatever the answer.

use std::path::Path;
use std::sync::{Arc, Mutex};

use harness::TestServer;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

use crate::world::{encode, guest_text, manifest};

const SURFACES: &str = "surfaces = [\"calendar\", \"contacts\", \"email\", \"lifecycle\", \"tasks\"]";
const SETTINGS: &str = r#"
hosts_from_settings = ["serverUrl"]
servers_from_settings = ["imap", "smtp"]
idle_server = "imap"
settings = [
    { name = "serverUrl", description = "the server" },
    { name = "imap", description = "the mail server" },
    { name = "smtp", description = "the other mail server" },
]
related_hosts = [{ domain = "fastmail.com", hosts = ["www.fastmailusercontent.com"] }]
"#;
const USER: &str = "ann-0123456789";

/// Starts a listener; returns its port and the bytes that it has received, HTTP or other.
async fn recorder() -> (u16, Arc<Mutex<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let heard = Arc::new(Mutex::new(String::new()));
    let all = heard.clone();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            all.lock().expect("no panic").push_str("connected\n");
            let mut bytes = vec![0; 4096];
            let count = socket.read(&mut bytes).await.unwrap_or(0);
            all.lock().expect("no panic").push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
    });
    (port, heard)
}

/// Puts a connector into a bundle whose `check` answers this and whose calls go to this URL.
fn add(bundle: &Path, name: &str, answer: &Value, url: &str) {
    let answer = answer.to_string();
    let escaped: String = answer.bytes().map(|byte| format!("\\{byte:02x}")).collect();
    let text = guest_text("liar")
        .replace("URL_LENGTH", &url.len().to_string())
        .replace("ANSWER_LENGTH", &answer.len().to_string())
        .replace("\"URL\"", &format!("\"{url}\""))
        .replace("\"ANSWER\"", &format!("\"{escaped}\""))
        // Its input must not overwrite its answer.
        .replace("(memory (export \"memory\") 1)", "(memory (export \"memory\") 40)")
        .replace("(mut i32) (i32.const 4096)", "(mut i32) (i32.const 2000000)");
    let dir = bundle.join(name);
    std::fs::create_dir_all(&dir).expect("a folder");
    let manifest = manifest(name, "1.0.0", SETTINGS).replace("surfaces = [\"calendar@1.0.0\"]", SURFACES);
    std::fs::write(dir.join("connector.toml"), manifest).expect("a file");
    std::fs::write(dir.join(format!("{name}.wasm")), encode(&text, "connector-all")).expect("a file");
}

fn account(more: Value) -> Value {
    let mut account = json!({ "externalAccountId": "1", "email": "ann@example.com" });
    account.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    account
}

fn new(provider: &str, settings: Value) -> Value {
    json!({ "provider": provider, "scopes": ["calendar.read", "email.read"], "settings": settings,
        "credentials": { "username": USER, "password": "secret-0123456789" } })
}

async fn server(bundle: &Path) -> TestServer {
    let loopback = vec!["127.0.0.0/8".parse().expect("a network")];
    let bundle = bundle.to_owned();
    let server = TestServer::builder().config(|c| {
        c.egress_allow = loopback;
        c.sandbox = false;
        c.connectors_dir = Some(bundle);
    });
    server.start().await
}

/// The user decides the settings that name servers, even if the operator allows both addresses: one gets the credentials, the other not
/// even a request.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settings_that_name_servers_are_the_users() {
    let (own, own_heard) = recorder().await;
    let (other, other_heard) = recorder().await;
    let at = |port: u16| json!({ "host": "127.0.0.1", "port": port, "tls": "none" });
    let elsewhere = format!("http://127.0.0.1:{other}");
    let rows = [
        ("server", json!({ "serverUrl": elsewhere })),
        ("lines", json!({ "imap": at(other), "smtp": at(other) })),
        ("found", json!({ "discoveredOrigins": [elsewhere], "apiOrigins": [elsewhere], "home": "/1" })),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    for (name, settings) in &rows {
        add(
            folder.path(),
            name,
            &account(json!({ "settings": settings })),
            &format!("{elsewhere}/calendars"),
        );
    }
    let server = server(folder.path()).await;
    let api = server.client().await;
    for (name, _) in &rows {
        let given =
            json!({ "serverUrl": format!("http://127.0.0.1:{own}/"), "imap": at(own), "smtp": at(own) });
        let made = api.post("/v1/connections", new(name, given)).send().await.expect(201);
        assert_eq!(made["settings"], json!({ "serverUrl": format!("http://127.0.0.1:{own}/") }), "{name}");
        assert_eq!(made["discoveredOrigins"], json!([]), "{name}");
        let path = format!("/v1/connections/{}/refresh", made["id"].as_str().expect("an id"));
        api.post(path, json!({})).send().await.expect(200);
        let path = format!("/v1/calendars?connection_id={}", made["id"].as_str().expect("an id"));
        let asked = api.get(path).send().await;
        assert!(asked.status >= 400, "{name}: {asked}");
        let told = own_heard.lock().expect("no panic").clone();
        assert!(told.contains("connected"), "{name}: the line goes to the user's server");
        assert_eq!(*other_heard.lock().expect("no panic"), "", "{name}: somebody called elsewhere");
    }
}

/// Origins of other servers than the user's: the account is not connected, and the error names the origins.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn origins_elsewhere_are_refused() {
    let many: Vec<String> = (0..10_000).map(|n| format!("https://a{n}.example.com")).collect();
    let rows = [
        json!(["http://api.example.com"]),
        json!(["https://evil.net"]),
        json!(["https://evil-example.com"]),
        json!(["https://mail.example.com.evil.net"]),
        json!(["https://com"]),
        json!(["https://github.io"]),
        json!(["https://127.0.0.1"]),
        json!(["https://[::ffff:7f00:1]"]),
        json!(["https://mail.example.com@evil.net"]),
        json!(["https://api.example.com/path"]),
        json!(["https://api.example.com", "https://www.fastmailusercontent.com"]),
        json!(many),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    for (n, origins) in rows.iter().enumerate() {
        let answer = account(json!({ "discoveredOrigins": origins }));
        add(folder.path(), &format!("liar-{n}"), &answer, "https://evil.net/");
    }
    let server = server(folder.path()).await;
    let api = server.client().await;
    for (n, origins) in rows.iter().enumerate() {
        let given = json!({ "serverUrl": "https://mail.example.com/dav/" });
        let asked = api.post("/v1/connections", new(&format!("liar-{n}"), given)).send().await;
        let shown = asked.to_string();
        let error = asked.refused(400, "provider_rejected");
        assert_eq!(error["param"], "settings.serverUrl", "{shown}");
        let message = error["message"].as_str().expect("a text");
        assert!(message.contains("://") && message.len() < 400, "{origins}: {message}");
    }
    assert_eq!(api.all("/v1/connections").await.len(), 0);
}

/// Origins that the user's server may use are accepted and shown.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn origins_of_the_users_server_are_shown() {
    let rows = [
        ("https://fastmail.com", json!(["https://api.fastmail.com", "https://www.fastmailusercontent.com"])),
        ("https://caldav.icloud.com/", json!(["https://p12-caldav.icloud.com"])),
        ("https://dav.example.co.uk", json!(["https://dav.example.co.uk:8443"])),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    for (n, (_, origins)) in rows.iter().enumerate() {
        add(
            folder.path(),
            &format!("found-{n}"),
            &account(json!({ "discoveredOrigins": origins })),
            "https://x.test/",
        );
    }
    let server = server(folder.path()).await;
    let api = server.client().await;
    for (n, (url, origins)) in rows.iter().enumerate() {
        let body = new(&format!("found-{n}"), json!({ "serverUrl": url }));
        let made = api.post("/v1/connections", body).send().await.expect(201);
        assert_eq!((&made["discoveredOrigins"], &made["settings"]["serverUrl"]), (origins, &json!(url)));
        let path = format!("/v1/connections/{}", made["id"].as_str().expect("an id"));
        assert_eq!(api.get(&path).send().await.expect(200)["discoveredOrigins"], *origins);
        let fresh = api.post(format!("{path}/refresh"), json!({})).send().await.expect(200);
        assert_eq!((&fresh["discoveredOrigins"], &fresh["etag"]), (origins, &made["etag"]));
    }
    // Users do not give these.
    let given =
        json!({ "serverUrl": "https://fastmail.com", "discoveredOrigins": ["https://api.fastmail.com"] });
    let error = api.post("/v1/connections", new("found-0", given)).send().await.refused(400, "unknown_field");
    assert_eq!(error["param"], "settings.discoveredOrigins");
}

/// Plain HTTP to a public address is refused before any request, with the name of the field: credentials could be read on the way.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plain_http_to_a_public_address_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    add(folder.path(), "plain", &account(json!({})), "http://1.1.1.1/");
    let server = server(folder.path()).await;
    let api = server.client().await;
    for url in ["http://1.1.1.1/dav/", "http://[2606:4700::1111]:8080/"] {
        let asked = api.post("/v1/connections", new("plain", json!({ "serverUrl": url }))).send().await;
        let error = asked.refused(400, "invalid_url");
        assert_eq!(error["param"], "settings.serverUrl");
        assert!(error["message"].as_str().is_some_and(|m| m.contains("use https")), "{error}");
    }
    for url in ["https://1.1.1.1/dav/", "http://127.0.0.1:1/"] {
        api.post("/v1/connections", new("plain", json!({ "serverUrl": url }))).send().await.expect(201);
    }
}
