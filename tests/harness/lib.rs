//! The harness of the API tests: a server in this process with a clock that stands still until a test moves it, and the actor that sends
//! requests to it over real HTTP.

pub mod browser;
pub mod database_delay;
mod declared;
pub mod door;
mod hosts;
pub mod imap;
mod migrated;
pub mod panel_user;
pub mod receiver;
/// A file of `xtask`, which is no library: the same relay delays its benchmarks.
#[path = "../../xtask/src/relay.rs"]
mod relay;
pub mod stored;

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use base::clock::{Clock, Entropy};
use base::ids::Kind;
use base::tenant::Tenant;
use model::Instant;
use reqwest::{Client, Method};
use runtime::SharedCode;
use serde_json::{Value, json};
use service::app::App;
use service::app::config::Config;
use service::job_runner::kind::JobKind;
use service::job_runner::runner;
use service::jobs::{REQUIRED_JOBS, pull};
use service::sync::watch_job;
use storage::api_keys::{self, ApiKey, KeyKind};
use storage::wakes::JobClass;
use storage::{Db, Options, lost_jobs};
use switchboard::routes;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::declared::{DeclarationCheck, UndeclaredAnswers};
use crate::hosts::{Pair, Second, Turn};

/// The time at which every test begins: Sunday 2026-03-01, 08:00 UTC.
pub const START: &str = "2026-03-01T08:00:00Z";

/// The compiled connectors of all servers of this process.
static CODE: LazyLock<SharedCode> = LazyLock::new(SharedCode::default);

/// A running service with its own data directory and database.
pub struct TestServer {
    pub app: App,
    pub clock: Clock,
    pub address: SocketAddr,
    data: tempfile::TempDir,
    serving: JoinHandle<()>,
    /// The address of the administration panel, if it has a separate one.
    pub panel_address: Option<SocketAddr>,
    serving_panel: Option<JoinHandle<()>>,
    /// The task that pulls in the background what requests have asked for; none if the test pulls by itself.
    pulling: Option<JoinHandle<()>>,
    /// The host that takes every other request, if there are two.
    second: Option<Second>,
    /// The answers that the document for clients lacks.
    declared: DeclarationCheck,
}

/// Another host beside a service, with a data directory of its own.
pub struct Beside {
    pub app: App,
    _data: tempfile::TempDir,
}

/// Options that a test can set before the server starts.
pub struct Builder {
    config: Config,
    surroundings: Surroundings,
    pulls: bool,
}

/// The sources of a server's times and random numbers.
#[derive(Clone)]
struct Surroundings {
    clock: Clock,
    entropy: Entropy,
}

/// Returns the folder of the components that `cargo xtask connectors` builds.
pub fn bundle() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ is in the workspace");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    std::env::var_os("SWITCHBOARD_TEST_BUNDLE")
        .map_or_else(|| target.join("connectors/bundle"), PathBuf::from)
}

/// Shares one cache of compiled code among all tests, which use one key to authenticate it.
pub fn share_compiled_code(data: &Path) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ is in the workspace");
    let shared = root.join("target/test-cache");
    std::fs::create_dir_all(&shared).expect("the cache folder can be made");
    std::fs::write(data.join("master.key"), "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=")
        .expect("a key file");
    keep_private(&data.join("master.key"));
    std::os::unix::fs::symlink(&shared, data.join("cache")).expect("a link to the cache");
}

/// Lets the owner alone read a file, as the service makes its own.
fn keep_private(file: &Path) {
    let permissions = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(file, permissions).expect("the owner may change it");
}

/// Returns a builder of a test's HTTP clients, which trust no certificate: the servers of tests speak plain HTTP, and each client would
/// otherwise read and parse all certificates of the system.
pub fn http_client() -> reqwest::ClientBuilder {
    Client::builder().no_proxy().tls_certs_only([])
}

/// Makes an empty schema in the PostgreSQL database at `url` for one test server, and returns its URL, which may go through the relay
/// (`database_delay`).
pub async fn own_schema(url: &str) -> anyhow::Result<String> {
    let name = format!("t{:032x}", u128::from_be_bytes(Entropy::system().bytes::<16>()));
    let db = Db::connect(&Options::for_url(url)).await?;
    // Statements are static text everywhere else; here a test leaks a few bytes.
    let create: &'static str = format!("create schema {name}").leak();
    db.write(move |tx| Box::pin(async move { tx.batch(create).await })).await?;
    db.close().await;
    let sign = if url.contains('?') { '&' } else { '?' };
    Ok(database_delay::through_relay(format!("{url}{sign}options[search_path]={name}")))
}

impl Builder {
    /// Changes a setting.
    pub fn config(mut self, change: impl FnOnce(&mut Config)) -> Self {
        change(&mut self.config);
        self
    }

    /// Turns off pulls in the background: the test pulls with `pull`.
    pub fn without_pulls(mut self) -> Self {
        self.pulls = false;
        self
    }

    /// Uses the real clock: for tests against real servers, whose certificates and times are current.
    pub fn real_time(mut self) -> Self {
        self.surroundings.clock = Clock::system();
        self
    }

    /// Uses a clock that starts at the present and stands still until a test moves it: for tests against real servers in which time has
    /// to pass.
    pub fn from_now(mut self) -> Self {
        self.surroundings.clock = Clock::fixed(Clock::system().now());
        self
    }

    /// Uses a clock that starts this long before the present, and stands still.
    pub fn from_ago(mut self, ago_ms: i64) -> Self {
        self = self.from_now();
        self.surroundings.clock.advance_ms(-ago_ms);
        self
    }

    /// Makes the ids and secrets of each run the same.
    pub fn repeatable(mut self) -> Self {
        self.surroundings.entropy = Entropy::seeded(1);
        self
    }

    pub async fn start(mut self) -> TestServer {
        if let Ok(url) = std::env::var("SWITCHBOARD_TEST_DATABASE_URL") {
            self.config.database_url = Some(own_schema(&url).await.expect("a schema of its own"));
        }
        let data = tempfile::tempdir().expect("a data directory");
        share_compiled_code(data.path());
        self.config.data_dir = data.path().to_owned();
        if let Some(file) = self.config.sqlite_file()
            && !file.exists()
        {
            std::fs::write(&file, migrated::file().await).expect("the database can be written");
            keep_private(&file);
        }
        TestServer::open(self.config, self.surroundings, data, (self.pulls, hosts::are_wanted())).await
    }
}

impl TestServer {
    /// Starts a server with the sandbox provider and no other egress.
    pub async fn start() -> TestServer {
        TestServer::builder().start().await
    }

    pub fn builder() -> Builder {
        let config = Config {
            connectors_dir: Some(bundle()),
            sandbox: true,
            // A test sees the provider's data at once.
            freshness_ms: 0,
            connector_code: Some(CODE.clone()),
            ..Config::default()
        };
        let clock = Clock::fixed(START.parse::<Instant>().expect("an instant"));
        Builder { config, surroundings: Surroundings { clock, entropy: Entropy::system() }, pulls: true }
    }

    /// `pulls`: collections that requests ask for are pulled in the background. `has_two_hosts` applies to PostgreSQL only.
    async fn open(
        mut config: Config,
        surroundings: Surroundings,
        data: tempfile::TempDir,
        (pulls, has_two_hosts): (bool, bool),
    ) -> TestServer {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        config.listen = address;
        config.data_dir = data.path().to_owned();
        let panel_listener = match config.admin_listen {
            Some(_) => Some(TcpListener::bind("127.0.0.1:0").await.expect("a free port")),
            None => None,
        };
        let panel_address = panel_listener.as_ref().map(|panel| panel.local_addr().expect("an address"));
        config.admin_listen = panel_address;
        let Surroundings { clock, entropy } = surroundings;
        let app = App::start(config, clock.clone(), entropy).await.expect("the service starts");
        let routes = routes::assemble(&app, app.config.sandbox.then(|| sandbox(&app)));
        let serving = serve(listener, routes.main);
        let serving_panel =
            panel_listener.zip(routes.panel).map(|(listener, routes)| serve(listener, routes));
        let pulling = pulls.then(|| tokio::spawn(pull_when_woken(app.clone())));
        let second = match has_two_hosts && app.db.is_shared() {
            true => Some(Second::start(&app, pulls).await),
            false => None,
        };
        let declared = DeclarationCheck::default();
        TestServer {
            app,
            clock,
            address,
            data,
            serving,
            panel_address,
            serving_panel,
            pulling,
            second,
            declared,
        }
    }

    /// Stops without warning and starts again on the same data: anything not on disk is lost.
    pub async fn restart(self) -> TestServer {
        self.restart_with(|_| ()).await
    }

    /// Restarts with a setting changed.
    pub async fn restart_with(mut self, change: impl FnOnce(&mut Config)) -> TestServer {
        self.serving.abort();
        // It ends as cancelled.
        let _ = (&mut self.serving).await;
        if let Some(panel) = self.serving_panel.take() {
            panel.abort();
            let _ = panel.await;
        }
        let (pulls, has_two_hosts) = (self.pulling.is_some(), self.second.is_some());
        if let Some(second) = self.second.take() {
            second.stop().await;
        }
        if let Some(pulling) = self.pulling.take() {
            pulling.abort();
            let _ = pulling.await;
        }
        self.app.db.close().await;
        let mut data = tempfile::tempdir().expect("a folder");
        std::mem::swap(&mut data, &mut self.data);
        let mut config = self.app.config.clone();
        change(&mut config);
        let surroundings = Surroundings { clock: self.clock.clone(), entropy: self.app.entropy.clone() };
        let mut server = TestServer::open(config, surroundings, data, (pulls, has_two_hosts)).await;
        std::mem::swap(&mut server.declared, &mut self.declared);
        // Takes over running jobs, as the service does when it starts.
        let now = server.app.now();
        let queued: anyhow::Result<u64> = server
            .app
            .db
            .write(move |tx| Box::pin(async move { lost_jobs::requeue_orphans(tx, now).await }))
            .await;
        if queued.expect("the jobs are queued") > 0 {
            server.app.db.wakes().wake(JobClass::Pull);
        }
        server
    }

    /// Runs all due pulls, as the service does by itself. Returns the number of runs.
    pub async fn pull(&self) -> u64 {
        match &self.second {
            Some(second) => second.pair.pull().await,
            None => pull(&self.app).await,
        }
    }

    /// The host that does the service's background work; of two hosts, alternately.
    fn settling(&self) -> &App {
        self.second.as_ref().map_or(&self.app, |second| second.pair.settling())
    }

    /// Starts another host on the same database, which serves no requests and reaches the same sandbox provider; none on SQLite, where a
    /// database belongs to one host.
    pub async fn beside(&self) -> Option<Beside> {
        self.beside_with(self.clock.clone()).await
    }

    /// Starts another host with a clock of its own.
    pub async fn beside_with(&self, clock: Clock) -> Option<Beside> {
        if !self.app.db.is_shared() {
            return None;
        }
        let (app, data) = hosts::another(&self.app, clock).await;
        Some(Beside { app, _data: data })
    }

    /// Hands over all due messages, and reads the delivery reports that came, as the service does by itself.
    pub async fn hand_over(&self) {
        use service::sending::dispatch::SEND;
        use service::tracking::reports_job::REPORT;
        let app = self.settling();
        for kind in [SEND, REPORT] {
            runner::drain(app, &[kind]).await.expect("the jobs are run");
        }
    }

    /// Starts, renews and stops all due watches, as the service does by itself. Returns the number of runs.
    pub async fn renew(&self) -> u64 {
        use service::push::renew_job::RENEW;
        runner::drain(self.settling(), &[RENEW]).await.expect("the jobs are run")
    }

    /// Runs all due webhook deliveries, as the service does by itself.
    pub async fn deliver(&self) {
        use service::webhooks::delivery::DELIVER;
        use service::webhooks::ending::END;
        use service::webhooks::fanout;
        use service::webhooks::replay::walk::REPLAY;
        let app = self.settling();
        loop {
            // A delivery can disable a webhook, which is an event itself.
            let behind = fanout::wake(app, None).await.expect("the feeds are read");
            let kinds = [fanout::FANOUT, REPLAY, DELIVER, END];
            let turns = runner::drain(app, &kinds).await.expect("the jobs are run");
            if behind == 0 && turns == 0 {
                return;
            }
        }
    }

    /// Makes an application with a key that has all scopes.
    pub async fn client(&self) -> Actor {
        self.client_with(&base::scopes::ALL).await
    }

    /// A key of the application "test" with these scopes.
    pub async fn client_with(&self, scopes: &[&str]) -> Actor {
        self.key("test", |key| key.scopes = scopes.iter().map(|s| (*s).to_owned()).collect()).await
    }

    /// Makes a key of an application; `change` sets its special fields.
    pub async fn key(&self, application: &str, change: impl FnOnce(&mut ApiKey)) -> Actor {
        let text = make_key(&self.app, application.to_owned(), change).await.expect("a key can be made");
        self.actor(Some(text))
    }

    /// The sandbox provider's own API, for one of its accounts: it acts as another program.
    pub fn provider(&self, account: &str) -> Actor {
        self.actor(Some(format!("sandbox-{account}")))
    }

    /// Returns a client without an API key.
    pub fn anonymous(&self) -> Actor {
        self.actor(None)
    }

    fn actor(&self, key: Option<String>) -> Actor {
        let http = http_client().build().expect("an HTTP client");
        let pair = self.second.as_ref().map(|second| Arc::clone(&second.pair));
        Actor { http, address: self.address, pair, key, undeclared: self.declared.answers.clone() }
    }
}

/// Serves these routes until it is aborted.
fn serve(listener: TcpListener, routes: axum::Router) -> JoinHandle<()> {
    let service = routes.into_make_service_with_connect_info::<SocketAddr>();
    tokio::spawn(async move { axum::serve(listener, service).await.expect("the service runs") })
}

/// The lock of a test's pulls, on each host.
const PULLS: &str = "pulls of a test";

/// Runs all due pulls of a host, as the service does by itself. Returns the number of runs.
pub async fn pull(app: &App) -> u64 {
    // Waits for a run that began in the background: the test may depend on it.
    let _one = app.locks.lock(PULLS).await;
    runner::drain(app, &[pull::PULL]).await.expect("the jobs are run")
}

/// Pulls whenever a request has asked for it; pulls that become due by time are left to the test.
async fn pull_when_woken(app: App) {
    loop {
        app.db.wakes().woken(JobClass::Pull).await;
        pull(&app).await;
    }
}

static WATCH: [JobKind; 1] = [watch_job::WATCH];

/// The runner of a host that listens to providers, until it is dropped.
pub struct Watcher {
    running: JoinHandle<()>,
    stop: tokio::sync::watch::Sender<bool>,
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.running.abort();
    }
}

impl Watcher {
    /// Listens as the service does by itself.
    pub fn start(app: &App) -> Watcher {
        let (stop, stopping) = tokio::sync::watch::channel(false);
        Watcher { running: tokio::spawn(runner::run(app.clone(), &WATCH, REQUIRED_JOBS, stopping)), stop }
    }

    /// Stops in order, so that another host can listen at once.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        (&mut self.running).await.expect("the runner ends without a panic");
    }
}

/// Makes a key in an application, which is made if it is missing, as `switchboard keys create` does.
async fn make_key(
    app: &App,
    application: String,
    change: impl FnOnce(&mut ApiKey),
) -> anyhow::Result<String> {
    let new = app.keyring.new_api_key();
    let mut key = ApiKey {
        id: app.new_id(Kind::ApiKey),
        tenant: Tenant { organization_id: String::new(), application_id: String::new() },
        name: "test".into(),
        prefix: new.prefix,
        last4: new.last4,
        scopes: base::scopes::ALL.map(str::to_owned).to_vec(),
        allowed_domains: Vec::new(),
        allowed_ips: Vec::new(),
        connection_ids: Vec::new(),
        rate_limit_per_minute: 1_000_000,
        expires_at: None,
        last_used_at: None,
        last_used_ip: None,
        created_by: None,
        revoked_at: None,
        created_at: app.now(),
        kind: KeyKind::Key,
        grant_id: None,
        agent: None,
    };
    change(&mut key);
    let ids = (app.new_id(Kind::Organization), app.new_id(Kind::Application));
    let now = app.now();
    app.db
        .write(move |tx| {
            Box::pin(async move {
                let names = ("tests", application.as_str());
                key.tenant = api_keys::ensure_application(tx, names, (&ids.0, &ids.1), now).await?;
                api_keys::insert(tx, &key, &new.hash).await
            })
        })
        .await?;
    Ok(new.key)
}

fn sandbox(app: &App) -> axum::Router {
    let clock = app.clock.clone();
    let mut config = sandbox_provider::Config::new(Arc::new(move || clock.now_ms()));
    config.data_dir = Some(app.config.data_dir.clone());
    let state = sandbox_provider::Sandbox::new(config).expect("the sandbox starts");
    sandbox_provider::router(state)
}

/// Returns a client with the same key for a restarted server.
pub fn reconnected(server: &TestServer, actor: &Actor) -> Actor {
    server.actor(actor.key.clone())
}

/// A client that sends requests.
#[derive(Clone)]
pub struct Actor {
    http: Client,
    address: SocketAddr,
    /// Both hosts, if there are two.
    pair: Option<Arc<Pair>>,
    pub key: Option<String>,
    undeclared: UndeclaredAnswers,
}

impl Actor {
    pub fn get(&self, path: impl Into<String>) -> Ask {
        self.ask(Method::GET, path.into(), None)
    }

    pub fn post(&self, path: impl Into<String>, body: Value) -> Ask {
        self.ask(Method::POST, path.into(), Some(body))
    }

    pub fn patch(&self, path: impl Into<String>, body: Value) -> Ask {
        self.ask(Method::PATCH, path.into(), Some(body))
    }

    pub fn delete(&self, path: impl Into<String>) -> Ask {
        self.ask(Method::DELETE, path.into(), None)
    }

    /// Makes a request of any method.
    pub fn ask(&self, method: Method, path: String, body: Option<Value>) -> Ask {
        let turn = self.pair.as_ref().map(|pair| Pair::turn(pair, &path));
        let address = turn.as_ref().and_then(Turn::address).unwrap_or(self.address);
        let url = format!("http://{address}{path}");
        let mut request = self.http.request(method.clone(), url);
        if let Some(key) = &self.key {
            request = request.bearer_auth(key);
        }
        if let Some(body) = &body {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        Ask { request, turn, method, path, body, undeclared: self.undeclared.clone() }
    }

    /// Connects alice's sandbox account for calendars.
    pub async fn connect_sandbox(&self) -> Value {
        self.connect(json!({
            "provider": "sandbox",
            "credentials": { "username": "alice@sandbox.test", "password": "sandbox" },
            "scopes": ["calendar.read", "calendar.write"],
        }))
        .await
    }

    /// Connects an account of the sandbox provider for calendars, contacts and tasks, and returns the connection's id.
    pub async fn connect_account(&self, account: &str) -> String {
        let connection = self
            .connect(json!({
                "provider": "sandbox",
                "credentials": { "username": format!("{account}@sandbox.test"), "password": "sandbox" },
                "scopes": [
                    "calendar.read", "calendar.write", "contacts.read", "contacts.write", "tasks.read", "tasks.write"
                ],
            }))
            .await;
        connection["id"].as_str().expect("an id").to_owned()
    }

    /// Returns the id of the item with this name in a list.
    pub async fn named(&self, path: &str, name: &str) -> String {
        let all = self.all(path).await;
        let found = all.iter().find(|c| c["name"] == name);
        let found = found.unwrap_or_else(|| panic!("nothing named {name} in {path}: {all:#?}"));
        found["id"].as_str().expect("an id").to_owned()
    }

    /// Connects an account, which may be connected already, and returns the connection.
    pub async fn connect(&self, body: Value) -> Value {
        self.post("/v1/connections?allow_duplicate=true", body).send().await.expect(201)
    }

    /// The id of a connection's calendar with this name.
    pub async fn calendar(&self, connection: &Value, name: &str) -> String {
        let path = format!("/v1/calendars?connection_id={}", connection["id"].as_str().expect("an id"));
        let page = self.get(path).send().await.expect(200);
        let calendars = page["data"].as_array().expect("a list").clone();
        let found = calendars.iter().find(|c| c["name"] == name);
        let found = found.unwrap_or_else(|| panic!("no calendar named {name} in {page:#}"));
        found["id"].as_str().expect("an id").to_owned()
    }

    /// All items of a list, page by page.
    pub async fn all(&self, path: &str) -> Vec<Value> {
        let mut items = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let joint = if path.contains('?') { '&' } else { '?' };
            let page = match &cursor {
                None => self.get(path),
                Some(cursor) => self.get(format!("{path}{joint}cursor={cursor}")),
            };
            let page = page.send().await.expect(200);
            items.extend(page["data"].as_array().expect("a list").iter().cloned());
            match page["next_cursor"].as_str() {
                Some(next) => {
                    assert_ne!(cursor.as_deref(), Some(next), "a page leads to itself");
                    cursor = Some(next.to_owned());
                }
                None => return items,
            }
        }
    }
}

/// A request that was not sent yet.
pub struct Ask {
    request: reqwest::RequestBuilder,
    /// The host that gets the request, if there are two.
    turn: Option<Turn>,
    method: Method,
    path: String,
    body: Option<Value>,
    undeclared: UndeclaredAnswers,
}

impl Ask {
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.request = self.request.header(name, value);
        self
    }

    /// With an Idempotency-Key.
    pub fn keyed(self, key: &str) -> Self {
        self.header("idempotency-key", key)
    }

    /// With If-Match.
    pub fn if_match(self, etag: &str) -> Self {
        self.header("if-match", etag)
    }

    /// Sets a body that `json!` would not make.
    pub fn raw(mut self, content_type: &str, body: impl Into<reqwest::Body>) -> Self {
        self.request = self.request.header("content-type", content_type).body(body);
        self
    }

    pub async fn send(self) -> Exchange {
        if let Some(turn) = &self.turn {
            turn.begin().await;
        }
        let response = self.request.send().await.expect("the service answers");
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let text = response.text().await.expect("a text");
        if let Some(turn) = &self.turn {
            turn.end();
        }
        let answer = if text.is_empty() {
            Value::Null
        } else {
            serde_json::from_str(&text).unwrap_or_else(|_| Value::String(text.clone()))
        };
        let (method, path, body) = (self.method, self.path, self.body);
        let exchange = Exchange { method, path, body, status, headers, text, answer };
        self.undeclared.check(&exchange);
        exchange
    }
}

/// A request and its answer.
#[derive(Debug)]
pub struct Exchange {
    pub method: Method,
    pub path: String,
    pub body: Option<Value>,
    pub status: u16,
    pub headers: reqwest::header::HeaderMap,
    pub text: String,
    pub answer: Value,
}

impl Exchange {
    /// The answer, if the status is this one.
    #[track_caller]
    pub fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{self}");
        self.answer
    }

    /// The error, if the status and the code are these.
    #[track_caller]
    pub fn refused(self, status: u16, code: &str) -> Value {
        let found = (self.status, self.answer["error"]["code"].as_str());
        assert_eq!(found, (status, Some(code)), "{self}");
        self.answer["error"].clone()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|v| v.to_str().ok())
    }
}

/// Formats the exchange as in the documentation.
impl std::fmt::Display for Exchange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{} {}", self.method, self.path)?;
        if let Some(body) = &self.body {
            writeln!(f, "{body:#}")?;
        }
        writeln!(f, "\n{}", self.status)?;
        write!(f, "{:#}", redacted(self.answer.clone()))
    }
}

/// Returns the answer with ids, etags and cursors replaced, each only if it has the right form.
pub fn redacted(value: Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.into_iter().map(redacted).collect()),
        Value::Object(map) => Value::Object(map.into_iter().map(|(k, v)| redacted_field(k, v)).collect()),
        other => other,
    }
}

fn redacted_field(name: String, value: Value) -> (String, Value) {
    let hidden = match (&value, name.as_str()) {
        (Value::String(text), _) if is_id(text) => {
            text.split('_').next().map(|prefix| format!("[{prefix} id]"))
        }
        (Value::String(text), "etag" | "current_etag") if text.starts_with('"') && text.ends_with('"') => {
            Some("[etag]".to_owned())
        }
        (Value::String(text), "next_cursor" | "sync_cursor") if text.contains('.') => {
            Some("[cursor]".to_owned())
        }
        (Value::String(text), "iCalUid") if text.contains('@') || text.len() >= 16 => {
            Some("[uid]".to_owned())
        }
        _ => None,
    };
    match hidden {
        Some(text) => (name, Value::String(text)),
        None => (name, redacted(value)),
    }
}

/// Prefix, underscore, ULID; an instance's id is followed by its original start.
fn is_id(text: &str) -> bool {
    let mut parts = text.splitn(3, '_');
    let (Some(prefix), Some(unique)) = (parts.next(), parts.next()) else { return false };
    (2..=4).contains(&prefix.len())
        && unique.len() == 26
        && unique.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
}
