//! The state after a `kill -9`: no acknowledged write is lost or doubled. The service runs as a process of its own; the provider runs in
//! this one and lives on, as real ones do.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use harness::TestServer;
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};

/// How often the service is killed.
const KILLS: u64 = 50;
const WRITERS: u64 = 4;

fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_switchboard-under-test"));
    for (name, _) in std::env::vars_os().filter(|(n, _)| n.to_string_lossy().starts_with("SWITCHBOARD_")) {
        command.env_remove(name);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Starts the service with all connectors.
pub fn serve(data: &Path, port: u16) -> Child {
    start(data, port, &harness::bundle(), &[])
}

/// Starts the service with the sandbox connector only, and with more settings: it is ready sooner.
pub fn serve_with(data: &Path, port: u16, settings: &[&str]) -> Child {
    let folder = data.join("bundle");
    if !folder.exists() {
        let sandbox = std::path::absolute(harness::bundle().join("sandbox")).expect("a path");
        std::fs::create_dir(&folder).expect("a folder");
        std::os::unix::fs::symlink(sandbox, folder.join("sandbox")).expect("a link to the connector");
    }
    start(data, port, &folder, settings)
}

fn start(data: &Path, port: u16, connectors: &Path, settings: &[&str]) -> Child {
    let mut command = command();
    // Every read asks the provider, unless the test says otherwise.
    let freshness: &[&str] = match settings.contains(&"--freshness-ms") {
        true => &[],
        false => &["--freshness-ms", "0"],
    };
    command.arg("serve").args(freshness).args(["--egress-allow", "127.0.0.0/8", "--listen"]);
    command.arg(format!("127.0.0.1:{port}")).arg("--data-dir").arg(data);
    command.arg("--connectors").arg(connectors).args(settings).spawn().expect("the service starts")
}

pub fn key(data: &Path) -> String {
    key_with(data, &[])
}

/// Makes a key, with more settings.
pub fn key_with(data: &Path, settings: &[&str]) -> String {
    let mut command = command();
    command
        .args([
            "keys",
            "create",
            "--scopes",
            "all",
            "--rate-limit",
            "1000000",
            "--init",
            "--json",
            "--data-dir",
        ])
        .arg(data)
        .args(settings);
    let made = command.stdout(Stdio::piped()).output().expect("the command runs");
    let made: Value = serde_json::from_slice(&made.stdout).expect("JSON");
    made["key"].as_str().expect("a key").to_owned()
}

/// A well-behaved client: it repeats requests without an answer, under the same key.
#[derive(Clone)]
pub struct Stubborn {
    pub http: Client,
    pub base: String,
    pub key: String,
}

impl Stubborn {
    pub async fn try_once(
        &self,
        method: &str,
        path: &str,
        body: &Value,
        key: &str,
    ) -> Option<(StatusCode, Value)> {
        let method = method.parse().expect("a method");
        let request = self.http.request(method, format!("{}{path}", self.base)).bearer_auth(&self.key);
        let request = request.header("content-type", "application/json").header("idempotency-key", key);
        let response = request.body(body.to_string()).send().await.ok()?;
        let status = response.status();
        let answer = serde_json::from_str(&response.text().await.ok()?).ok()?;
        Some((status, answer))
    }

    pub async fn until_answered(&self, method: &str, path: &str, body: &Value, key: &str) -> Value {
        loop {
            match self.try_once(method, path, body, key).await {
                Some((status, answer)) if status.is_success() => return answer,
                Some((status, answer)) => {
                    let code = answer["error"]["code"].as_str().unwrap_or_default();
                    let may_repeat = status.is_server_error() || code == "idempotency_in_progress";
                    assert!(may_repeat, "{method} {path} {key}: {status} {answer}");
                }
                None => {}
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    pub async fn ready(&self) {
        loop {
            let answer = self.http.get(format!("{}/readyz", self.base)).send().await;
            if answer.is_ok_and(|a| a.status().is_success()) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    async fn all(&self, path: &str) -> Vec<Value> {
        let mut items = Vec::new();
        let mut cursor = String::new();
        loop {
            let url = format!("{}{path}?limit=200{cursor}", self.base);
            let answer = self.http.get(url).bearer_auth(&self.key).send().await.expect("an answer");
            let page: Value = serde_json::from_str(&answer.text().await.expect("a text")).expect("JSON");
            items.extend(page["data"].as_array().expect("a list").iter().cloned());
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return items,
            }
        }
    }
}

/// Makes events and changes each, until told to stop; returns the acknowledged titles, with their ids.
async fn write(
    api: Stubborn,
    path: String,
    writer: u64,
    stop: Arc<AtomicBool>,
    acks: Arc<AtomicU64>,
) -> Vec<(String, String)> {
    let mut acknowledged = Vec::new();
    let mut n = 0;
    while !stop.load(Ordering::SeqCst) {
        let title = format!("event {writer}-{n}");
        let body = json!({ "title": title, "start": "2026-03-02T11:00:00Z", "end": "2026-03-02T12:00:00Z" });
        let made = api.until_answered("POST", &path, &body, &format!("make {writer}-{n}")).await;
        let id = made["id"].as_str().expect("an id").to_owned();
        let change = json!({ "location": "Room 1", "etag": made["etag"] });
        let changed = api
            .until_answered("PATCH", &format!("{path}/{id}"), &change, &format!("change {writer}-{n}"))
            .await;
        assert_eq!(changed["location"], "Room 1");
        acknowledged.push((title, id));
        acks.fetch_add(1, Ordering::SeqCst);
        n += 1;
    }
    acknowledged
}

/// Fifty kills in the middle of writes by four clients that repeat what got no answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_kills_lose_and_double_nothing() {
    let provider = TestServer::start().await;
    let data = tempfile::tempdir().expect("a data directory");
    harness::share_compiled_code(data.path());
    let port = TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a port").port();
    let http = Client::builder().no_proxy().timeout(Duration::from_secs(20)).build().expect("a client");
    let mut child = serve_with(data.path(), port, &[]);
    let api = Stubborn { http, base: format!("http://127.0.0.1:{port}"), key: String::new() };
    api.ready().await;
    let api = Stubborn { key: key(data.path()), ..api };
    let account = json!({
        "provider": "sandbox", "settings": { "serverUrl": format!("http://{}/sandbox", provider.address) },
        "credentials": { "username": "carol@sandbox.test", "password": "sandbox" },
        "scopes": ["calendar.read", "calendar.write"],
    });
    let connection = api.until_answered("POST", "/v1/connections", &account, "connect").await;
    let calendar =
        json!({ "connectionId": connection["id"], "name": "Crashes", "timeZone": "Europe/Berlin" });
    let calendar = api.until_answered("POST", "/v1/calendars", &calendar, "calendar").await;
    let path = format!("/v1/calendars/{}/events", calendar["id"].as_str().expect("an id"));

    let (stop, acks) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let writers: Vec<_> = (0..WRITERS)
        .map(|w| tokio::spawn(write(api.clone(), path.clone(), w, stop.clone(), acks.clone())))
        .collect();
    for kill in 0..KILLS {
        api.ready().await;
        // Somewhere in the first writes after the start, and a little later every time.
        let before = acks.load(Ordering::SeqCst);
        let mut waited = 0;
        while acks.load(Ordering::SeqCst) < before + kill % 4 && waited < 2_000 {
            tokio::time::sleep(Duration::from_millis(2)).await;
            waited += 1;
        }
        tokio::time::sleep(Duration::from_millis(kill * 7 % 60)).await;
        child.kill().expect("the service is killed");
        child.wait().expect("it ended");
        child = serve_with(data.path(), port, &[]);
    }
    api.ready().await;
    stop.store(true, Ordering::SeqCst);
    let mut acknowledged = Vec::new();
    for writer in writers {
        acknowledged.extend(writer.await.expect("a writer ends well"));
    }
    let events = api.all(&path).await;
    let mut by_title: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for event in &events {
        by_title.entry(event["title"].as_str().unwrap_or_default()).or_default().push(event);
    }
    println!("{KILLS} kills, {} events acknowledged, {} there", acknowledged.len(), events.len());
    assert!(acknowledged.len() as u64 > WRITERS, "the writers got somewhere");
    for (title, id) in &acknowledged {
        let there =
            by_title.get(title.as_str()).unwrap_or_else(|| panic!("{title} was acknowledged and is lost"));
        assert_eq!(there.len(), 1, "{title} is there twice");
        assert_eq!((&there[0]["id"], &there[0]["location"]), (&json!(id), &json!("Room 1")), "{title}");
    }
    assert!(by_title.values().all(|copies| copies.len() == 1), "something is there twice");
    child.kill().expect("the service is killed");
    child.wait().expect("it ended");
}
