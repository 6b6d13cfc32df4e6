//! A server of ours with the user's account connected, which uses a fake as the provider.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value, json};

use crate::bench::load::Load;
use crate::bench::providers::SYNC_LIMIT;
use crate::bench::providers::fake::{ProviderFake, RequestCount};
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
pub struct ProviderHost {
    pub server: Server,
    pub client: Client,
    key: String,
    pub connection: String,
}

/// The part of a case that differs from the usual: the account's scopes, and the environment of the server.
pub struct HostOptions<'a> {
    pub scopes: &'a [&'a str],
    pub environment: &'a [(&'a str, &'a str)],
}

impl ProviderHost {
    /// Starts a server with an empty database, registers the fake as the provider, and connects the account with the usual scopes.
    pub fn start(rig: &Rig, fake: &ProviderFake, name: &str, quota: Quota) -> Result<ProviderHost> {
        let options = HostOptions { scopes: &SCOPES, environment: &[] };
        ProviderHost::start_with(rig, fake, name, quota, &options)
    }

    /// The same with other scopes and a server with this environment.
    pub fn start_with(
        rig: &Rig,
        fake: &ProviderFake,
        name: &str,
        quota: Quota,
        options: &HostOptions<'_>,
    ) -> Result<ProviderHost> {
        let folder = rig.folder(name)?;
        let server = rig.server_that_reaches(&folder, &["127.0.0.0/8"], options.environment)?;
        let (_, key) = server.create_key("all", &["--rate-limit-per-minute", "100000000"])?;
        let text = |name: &str| -> Result<String> {
            let value = key[name].as_str().map(str::to_owned);
            value.with_context(|| format!("`keys create --json` printed no {name}"))
        };
        let application = text("applicationId")?;
        let key = text("key")?;
        command(&server, &["apps", "redirects", &application, "--add", REDIRECT, "--json"])?;
        register(&server, fake, &application, quota)?;
        let client = Client::new(&server.url, &key);
        let connection = authorize(&client, fake.profile.connector, options.scopes)?;
        Ok(ProviderHost { server, client, key, connection })
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

    /// Our id of the default contact book.
    pub fn contact_book(&self) -> Result<String> {
        let page = self.fresh(&format!("/v1/contact-books?connection_id={}", self.connection))?;
        let books = page["data"].as_array().context("no list of contact books")?;
        let book = books.iter().find(|book| book["isDefault"] == true).context("there is no default book")?;
        Ok(book["id"].as_str().context("a contact book has no id")?.to_owned())
    }

    /// The path of the tasks of the default list.
    pub fn task_list(&self) -> Result<String> {
        let page = self.fresh(&format!("/v1/task-lists?connection_id={}", self.connection))?;
        let lists = page["data"].as_array().context("no list of task lists")?;
        let list = lists.iter().find(|list| list["role"] == "default").context("there is no task list")?;
        let id = list["id"].as_str().context("a task list has no id")?;
        Ok(format!("/v1/task-lists/{id}"))
    }

    /// Returns the answer to a read that is as fresh as the provider.
    pub fn fresh(&self, path: &str) -> Result<Value> {
        self.client.send("GET", path, &[("cache-control", "no-cache")], None)?.expect(&[200])
    }

    /// Returns the provider's requests of a read that is as fresh as the provider: the fewest of several reads, since background jobs may
    /// send requests of their own.
    pub fn fewest_requests(&self, fake: &ProviderFake, path: &str) -> Result<RequestCount> {
        let mut counts = Vec::with_capacity(READS);
        for _ in 0..READS {
            fake.clear()?;
            self.fresh(path)?;
            counts.push(fake.count()?);
        }
        let fewest = counts.into_iter().min_by_key(|count| [count.round_trips, count.requests]);
        let fewest = fewest.filter(|count| count.requests > 0);
        fewest.with_context(|| format!("the provider was not asked for {path}"))
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

    /// Measures the seconds of the first sync of a calendar, by its id, which has this many events.
    pub fn time_collection_sync(&self, calendar: &str, events: usize) -> Result<f64> {
        let path = format!("/v1/calendars/{calendar}");
        let status = format!("{path}/sync/status");
        let start = Instant::now();
        self.start_collection_sync(&path)?;
        let state = await_caught_up(SYNC_LIMIT, || self.client.get(&status))?;
        let took = start.elapsed().as_secs_f64();
        ensure!(records_read(&state) >= events as u64, "not all events were read: {state}");
        Ok(took)
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
fn register(server: &Server, fake: &ProviderFake, application: &str, quota: Quota) -> Result<()> {
    let secret = server.options.data_dir.join("client-secret");
    fs::write(&secret, "of-the-bench").context("cannot write the client's secret")?;
    let shown = |path: &Path| path.to_string_lossy().into_owned();
    let (secret, bundle) = (shown(&secret), shown(&connectors::bundle()));
    let (profile, url) = (fake.profile, format!("http://{}", fake.address));
    let mut arguments: Vec<String> =
        ["apps", "provider", "set", application, profile.connector].map(str::to_owned).into();
    arguments.extend(["--client-id", "bench", "--secret-file", secret.as_str()].map(str::to_owned));
    for [option, path] in profile.endpoints {
        arguments.extend([(*option).to_owned(), format!("{url}{path}")]);
    }
    for (place, origins) in fake.urls.iter().zip(profile.origins) {
        for origin in *origins {
            arguments.extend(["--origin".to_owned(), format!("{origin}={place}")]);
        }
    }
    if quota == Quota::Off {
        let most = json!({ "units": 1_000_000_000, "reserve": 0 });
        let limits: Map<String, Value> =
            profile.rates.iter().map(|rate| ((*rate).to_owned(), most.clone())).collect();
        let limits = Value::Object(limits);
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
fn authorize(client: &Client, connector: &str, scopes: &[&str]) -> Result<String> {
    let request = json!({ "scopes": scopes, "redirectUri": REDIRECT, "state": "of-the-bench" });
    let path = format!("/v1/auth/connectors/{connector}/authorize");
    let answer = client.send("POST", &path, &[], Some(&request))?.expect(&[201])?;
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
