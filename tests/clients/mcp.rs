//! `/mcp` as others judge it: the protocol's conformance tests, and its official client, over HTTP and by `switchboard mcp`. Their packages
//! are pinned in `tests/clients/mcp/`.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use harness::{TestServer, http_client};
use model::agent::{AgentPolicy, AgentSend};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::process::Command;
use tokio::task::JoinHandle;

use crate::Tools;
use crate::copy;
use crate::run;
use crate::tools;

/// Each version of the protocol with scenarios that have to be among those that pass.
const SCENARIOS: [(&str, &[&str]); 2] = [
    (
        "2026-07-28",
        &[
            "tools-list",
            "resources-list",
            "prompts-list",
            "sep-2164-resource-not-found",
            "caching",
            "dns-rebinding-protection",
            "http-header-validation",
        ],
    ),
    ("2025-11-25", &["server-initialize", "ping", "tools-list", "resources-list", "prompts-list"]),
];

/// The folder of the files that belong to these tests.
fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/mcp")
}

/// A server with the sandbox, and the keys of an assistant for an account there.
struct Stage {
    server: TestServer,
    key: String,
    /// A key for pages of this machine.
    page_key: String,
}

impl Stage {
    /// The assistant may write, and send after it has asked.
    async fn start() -> Stage {
        let server = TestServer::builder().real_time().start().await;
        let policy = AgentPolicy { writes: true, send: AgentSend::Ask, ..AgentPolicy::default() };
        let api = server.key("test", |key| key.agent = Some(policy)).await;
        api.connect(json!({
            "provider": "sandbox",
            "credentials": { "username": "alice@sandbox.test", "password": "sandbox" },
            "scopes": [
                "email.read", "email.write", "email.send", "calendar.read", "calendar.write", "contacts.read", "contacts.write",
                "tasks.read", "tasks.write"
            ],
        }))
        .await;
        let page = server.key("test", |key| key.allowed_domains = vec!["127.0.0.1".to_owned()]).await;
        Stage { key: api.key.expect("a key"), page_key: page.key.expect("a key"), server }
    }
}

/// A server in front of another one that adds an API key to each request: the conformance tests have none. A request with an `Origin` comes
/// from a page, which has a key of its own. Everything else stays as it is, `Host` and `Origin` too.
struct Forwarder {
    address: SocketAddr,
    running: JoinHandle<()>,
}

/// The server behind, and the keys.
struct Behind {
    http: reqwest::Client,
    address: SocketAddr,
    key: String,
    page_key: String,
}

impl Forwarder {
    async fn start(stage: &Stage) -> Forwarder {
        let behind = Behind {
            http: http_client().build().expect("an HTTP client"),
            address: stage.server.address,
            key: stage.key.clone(),
            page_key: stage.page_key.clone(),
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let routes = axum::Router::new().fallback(forward).with_state(Arc::new(behind));
        let running = tokio::spawn(async move { axum::serve(listener, routes).await.expect("it serves") });
        Forwarder { address, running }
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        self.running.abort();
    }
}

async fn forward(State(behind): State<Arc<Behind>>, request: Request) -> (StatusCode, HeaderMap, Body) {
    let (mut head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.expect("a body");
    head.headers.remove(header::CONTENT_LENGTH);
    let key = if head.headers.contains_key(header::ORIGIN) { &behind.page_key } else { &behind.key };
    head.headers.insert(header::AUTHORIZATION, format!("Bearer {key}").parse().expect("a header"));
    let url =
        format!("http://{}{}", behind.address, head.uri.path_and_query().map_or("/", |path| path.as_str()));
    let answer = behind.http.request(head.method, url).headers(head.headers).body(body).send().await;
    let answer = answer.expect("the server answers");
    let (status, mut headers) = (answer.status(), answer.headers().clone());
    for name in [header::CONTENT_LENGTH, header::TRANSFER_ENCODING, header::CONNECTION] {
        headers.remove(name);
    }
    (status, headers, Body::from_stream(answer.bytes_stream()))
}

/// Runs all scenarios of a version. A failure that the baseline does not list fails, and so does one that it lists and that has passed.
async fn run_conformance_tests(tools: &Tools, url: &str, version: &str, results: &Path) {
    let mut node = Command::new(&tools.node);
    node.args(["node_modules/@modelcontextprotocol/conformance/dist/index.js", "server", "--url", url]);
    node.args(["--suite", "all", "--spec-version", version, "--output-dir"]).arg(results);
    node.arg("--expected-failures").arg(sources().join(format!("baseline-{version}.yaml")));
    run(&mut node, &tools.mcp).await;
}

/// Returns the checks of a scenario in the results of a run.
fn checks(results: &Path, scenario: &str) -> Vec<Value> {
    // The rest of a folder's name is the time.
    let start = format!("server-{scenario}-2");
    let folders = fs::read_dir(results).expect("a folder of results").flatten();
    let folder = folders
        .map(|entry| entry.path())
        .find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&start)));
    let folder = folder.unwrap_or_else(|| panic!("the scenario {scenario} did not run"));
    let checks = fs::read_to_string(folder.join("checks.json")).expect("the checks");
    serde_json::from_str(&checks).expect("a list of checks")
}

/// `/mcp` passes the conformance tests of the two latest versions of the protocol, but for those that ask for tools of a test server.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_conformance_tests_of_the_protocol() {
    let Some(tools) = tools() else { return };
    let stage = Stage::start().await;
    let forwarder = Forwarder::start(&stage).await;
    let url = format!("http://{}/mcp", forwarder.address);
    for (version, scenarios) in SCENARIOS {
        let results = TempDir::new().expect("a folder");
        run_conformance_tests(&tools, &url, version, results.path()).await;
        for scenario in scenarios {
            let checks = checks(results.path(), scenario);
            let is_passed = |check: &Value| check["status"] == "SUCCESS";
            let is_failed = |check: &Value| check["status"] == "FAILURE";
            assert!(
                checks.iter().any(is_passed) && !checks.iter().any(is_failed),
                "{scenario} of {version}: {checks:#?}"
            );
        }
    }
}

/// The official client reads, is refused, asks a person and sends, over HTTP and by the program that it starts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_official_client_of_the_protocol() {
    let Some(tools) = tools() else { return };
    let (stage, home) = (Stage::start().await, TempDir::new().expect("a folder"));
    // Beside the packages, so that they are found.
    copy(&sources().join("story.mjs"), &tools.mcp.join("story.mjs"));
    let mut node = Command::new(&tools.node);
    node.arg("story.mjs").env("MCP_SERVER", format!("http://{}", stage.server.address));
    node.env("MCP_KEY", &stage.key).env("MCP_HOME", home.path());
    node.env("MCP_PROGRAM", env!("CARGO_BIN_EXE_switchboard-under-test"));
    run(&mut node, &tools.mcp).await;
}
