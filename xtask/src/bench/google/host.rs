//! A server of ours with the user's Google account connected, which uses the fake as Google.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::bench::google::fake::{FakeGoogle, RequestCount};
use crate::bench::load::Load;
use crate::bench::rig::Rig;
use crate::connectors;
use crate::http::Client;
use crate::project;
use crate::server::Server;

/// The registered address to which the user returns. No server listens there.
const REDIRECT: &str = "http://127.0.0.1:4000/connected";
const SCOPES: [&str; 7] = [
    "email.read",
    "calendar.read",
    "calendar.write",
    "contacts.read",
    "contacts.write",
    "tasks.read",
    "tasks.write",
];
/// The origins of Google's that the connector calls.
const ORIGINS: [&str; 5] = [
    "https://www.googleapis.com",
    "https://openidconnect.googleapis.com",
    "https://gmail.googleapis.com",
    "https://people.googleapis.com",
    "https://tasks.googleapis.com",
];
/// The endpoints of the authorization server: options of `apps provider set`, and paths of the fake.
const ENDPOINTS: [[&str; 2]; 4] = [
    ["--authorize-url", "/o/oauth2/v2/auth"],
    ["--token-url", "/token"],
    ["--userinfo-url", "/v1/userinfo"],
    ["--revoke-url", "/revoke"],
];
/// Number of reads, of which the one with the fewest requests counts.
const READS: usize = 5;
/// The poll interval of a sync's state.
const STATE_EVERY: Duration = Duration::from_millis(10);

/// The units of quota that the server may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quota {
    /// The limits of the connector's manifest.
    Manifest,
    /// Practically unlimited. `concurrent` stays as in the manifest.
    Off,
}

/// A server with the account connected.
pub struct GoogleHost {
    pub server: Server,
    pub client: Client,
    key: String,
    pub connection: String,
}

impl GoogleHost {
    /// Starts a server with an empty database, registers the fake as Google, and connects the account.
    pub fn start(rig: &Rig, google: &FakeGoogle, name: &str, quota: Quota) -> Result<GoogleHost> {
        let server = rig.server_that_reaches(&rig.folder(name)?, &["127.0.0.0/8"], &[])?;
        let (_, key) = server.create_key("all", &["--rate-limit-per-minute", "100000000"])?;
        let text = |name: &str| -> Result<String> {
            let value = key[name].as_str().map(str::to_owned);
            value.with_context(|| format!("`keys create --json` printed no {name}"))
        };
        let application = text("applicationId")?;
        let key = text("key")?;
        command(&server, &["apps", "redirects", &application, "--add", REDIRECT, "--json"])?;
        register(&server, google, &application, quota)?;
        let client = Client::new(&server.url, &key);
        let connection = authorize(&client)?;
        Ok(GoogleHost { server, client, key, connection })
    }

    /// Our id of the calendar with this name.
    pub fn calendar(&self, name: &str) -> Result<String> {
        let path = format!("/v1/calendars?connection_id={}&limit=100", self.connection);
        let page = self.fresh(&path)?;
        let mut calendars = page["data"].as_array().context("no list of calendars")?.iter();
        let found = calendars.find(|calendar| calendar["name"] == name);
        let found = found.with_context(|| format!("there is no calendar {name}"))?;
        Ok(found["id"].as_str().context("a calendar has no id")?.to_owned())
    }

    /// The path of the tasks of the default list.
    pub fn task_list(&self) -> Result<String> {
        let page = self.fresh(&format!("/v1/task-lists?connection_id={}", self.connection))?;
        let id = page["data"][0]["id"].as_str().context("there is no task list")?;
        Ok(format!("/v1/task-lists/{id}"))
    }

    /// Returns the answer to a read that is as fresh as the provider.
    pub fn fresh(&self, path: &str) -> Result<Value> {
        self.client.send("GET", path, &[("cache-control", "no-cache")], None)?.expect(&[200])
    }

    /// Returns the Google requests of a read that is as fresh as Google: the fewest of several reads, since background jobs may send
    /// requests of their own.
    pub fn fewest_requests(&self, google: &FakeGoogle, path: &str) -> Result<RequestCount> {
        let mut counts = Vec::with_capacity(READS);
        for _ in 0..READS {
            google.clear()?;
            self.fresh(path)?;
            counts.push(google.count()?);
        }
        let fewest = counts.into_iter().min_by_key(|count| [count.round_trips, count.requests]);
        let fewest = fewest.filter(|count| count.requests > 0);
        fewest.with_context(|| format!("Google was not asked for {path}"))
    }

    /// Another client with the same key.
    pub fn another_client(&self) -> Client {
        Client::new(&self.server.url, &self.key)
    }

    /// Load on a path whose answers are as fresh as the provider.
    pub fn load(&self, method: &'static str, path: &str, clients: usize) -> Load {
        let headers =
            vec![format!("authorization: Bearer {}", self.key), "cache-control: no-cache".to_owned()];
        Load {
            address: self.server.options.listen,
            method,
            path: path.to_owned(),
            choices: [].into(),
            headers,
            body: String::new(),
            status: 200,
            clients,
        }
    }

    /// Starts a sync of the account's mail or contacts; `surface` is `email` or `contacts`.
    pub fn start_sync(&self, surface: &str) -> Result<()> {
        let body = json!({ "connectionId": self.connection });
        let path = format!("/v1/{surface}/sync/start");
        self.client.send("POST", &path, &[], Some(&body))?.expect(&[200, 202]).map(|_| ())
    }

    /// Starts the sync of a calendar or of a task list, whose path this is.
    pub fn start_collection_sync(&self, path: &str) -> Result<()> {
        let path = format!("{path}/sync/start");
        self.client.send("POST", &path, &[], Some(&json!({})))?.expect(&[200, 202]).map(|_| ())
    }

    /// The state of the sync of the account's mail or contacts.
    pub fn state(&self, surface: &str) -> Result<Value> {
        self.client.get(&format!("/v1/{surface}/sync/status/{}", self.connection))
    }
}

/// Waits until `state` reports that everything was read, `limit` at most. Returns the last state.
pub fn await_caught_up(limit: Duration, state: impl Fn() -> Result<Value>) -> Result<Value> {
    let start = Instant::now();
    loop {
        let now = state()?;
        if now["status"] == "caught_up" {
            return Ok(now);
        }
        ensure!(start.elapsed() < limit, "not read in {} s: {now}", limit.as_secs());
        sleep(STATE_EVERY);
    }
}

/// Returns the number of messages, events or contacts that were read according to a state.
pub fn records_read(state: &Value) -> u64 {
    state["progress"]["seen"].as_u64().unwrap_or_default()
}

/// Registers the fake as the provider of the application.
fn register(server: &Server, google: &FakeGoogle, application: &str, quota: Quota) -> Result<()> {
    let secret = server.options.data_dir.join("client-secret");
    fs::write(&secret, "of-the-bench").context("cannot write the client's secret")?;
    let shown = |path: &Path| path.to_string_lossy().into_owned();
    let (secret, bundle) = (shown(&secret), shown(&connectors::bundle()));
    let url = google.url();
    let mut arguments: Vec<String> =
        ["apps", "provider", "set", application, "google"].map(str::to_owned).into();
    arguments.extend(["--client-id", "bench", "--secret-file", secret.as_str()].map(str::to_owned));
    for [option, path] in ENDPOINTS {
        arguments.extend([option.to_owned(), format!("{url}{path}")]);
    }
    for origin in ORIGINS {
        arguments.extend(["--origin".to_owned(), format!("{origin}={url}")]);
    }
    if quota == Quota::Off {
        let most = json!({ "units": 1_000_000_000, "reserve": 0 });
        let limits = json!({ "gmail": most, "calendar": most, "people": most, "tasks": most });
        arguments.extend(["--setting".to_owned(), format!("limits={limits}")]);
    }
    arguments.extend(["--connectors", bundle.as_str(), "--json"].map(str::to_owned));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    command(server, &arguments)
}

/// Runs the command line on the data directory of a server.
fn command(server: &Server, arguments: &[&str]) -> Result<()> {
    let mut command = project::command(&server.options.binary.to_string_lossy());
    // Without a database of the caller's environment.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("SWITCHBOARD_") {
            command.env_remove(name);
        }
    }
    command.args(arguments).arg("--data-dir").arg(&server.options.data_dir);
    let what = arguments.iter().take(3).copied().collect::<Vec<_>>().join(" ");
    project::output(&mut command, &format!("switchboard {what}")).map(|_| ())
}

/// Connects the account as the user's browser does, and returns the connection's id.
fn authorize(client: &Client) -> Result<String> {
    let request = json!({ "scopes": SCOPES, "redirectUri": REDIRECT, "state": "of-the-bench" });
    let path = "/v1/auth/connectors/google/authorize";
    let answer = client.send("POST", path, &[], Some(&request))?.expect(&[201])?;
    let browser = Client::new("", "");
    let mut url = answer["authorizationUrl"].as_str().context("there is no authorization URL")?.to_owned();
    // To the provider, and back to the server, which sends the browser to the application.
    for _ in 0..2 {
        let page = browser.send("GET", &url, &[], None)?;
        url = page.header("location").to_owned();
        ensure!(!url.is_empty(), "the browser is not redirected: {} {}", page.status, page.body);
    }
    let (_, query) = url.split_once('?').context("the user returns without parameters")?;
    let id = query.split('&').find_map(|pair| pair.strip_prefix("connection_id="));
    Ok(id.with_context(|| format!("the account was not connected: {query}"))?.to_owned())
}
