//! Providers that post to the service after changes, by example: the sandbox provider does so for followed collections.

pub mod keys;
mod kinds;
mod notifications;
mod tokens;
mod watches;

use harness::{Actor, Exchange, TestServer, bundle};
use serde_json::{Value, json};
use storage::jobs::{self, Job};
use storage::sql::query;
use storage::watches::{self as table, Watch};
use tempfile::TempDir;

use crate::email::mailbox::{text, until};

pub const MINUTE_MS: i64 = 60_000;
pub const HOUR_MS: i64 = 60 * MINUTE_MS;
/// How long the sandbox provider keeps a watch.
pub const LIFE_MS: i64 = 7 * 24 * HOUR_MS;

pub const NOTIFICATIONS: &str = "/v1/providers/sandbox/notifications";

/// A folder with the sandbox's connector, which has this in the place of its table `[push]`.
pub fn connectors(push: &str) -> TempDir {
    let from = bundle().join("sandbox");
    let dir = tempfile::tempdir().expect("a folder");
    let to = dir.path().join("sandbox");
    std::fs::create_dir(&to).expect("a folder");
    let manifest =
        std::fs::read_to_string(from.join("connector.toml")).expect("`cargo xtask connectors` was run");
    let (before, own) = manifest.split_once("[push]\n").expect("the sandbox notifies");
    let (_, after) = own.split_once("\n\n").expect("another table follows");
    std::fs::write(to.join("connector.toml"), format!("{before}{push}\n{after}")).expect("written");
    std::fs::copy(from.join("sandbox.wasm"), to.join("sandbox.wasm")).expect("copied");
    dir
}

/// Calendars of zoe at the sandbox provider that are followed, and watched by it.
pub struct World {
    pub server: TestServer,
    pub api: Actor,
    pub provider: Actor,
    pub connection: String,
    /// Their ids here, and at the provider.
    pub calendars: Vec<(String, String)>,
}

impl World {
    /// One calendar.
    pub async fn start() -> World {
        World::with(&["Shared"]).await
    }

    pub async fn with(names: &[&str]) -> World {
        World::on(TestServer::builder(), names).await
    }

    /// Starts at a service that the test has configured.
    pub async fn on(builder: harness::Builder, names: &[&str]) -> World {
        let builder = builder.config(|config| config.push_over_http = true);
        let mut world = World::unwatched(builder.without_pulls().start().await, names).await;
        assert_eq!(world.server.renew().await, names.len() as u64, "a watch of each is started");
        let greeted = async || (world.counted("greeting") == names.len() as u64).then_some(());
        until("the provider says that the watches have begun", greeted).await;
        assert_eq!(world.server.pull().await, names.len() as u64, "what changed meanwhile is read");
        world.calendars.sort();
        world
    }

    /// The calendars are followed and were read once, and nothing else has happened yet.
    pub async fn unwatched(server: TestServer, names: &[&str]) -> World {
        let (api, provider) = (server.client().await, server.provider("zoe"));
        let mut theirs = Vec::new();
        for name in names {
            let made = json!({ "name": name, "timeZone": "UTC" });
            theirs.push(text(&provider.post("/sandbox/v1/calendars", made).send().await.expect(201)["id"]));
        }
        let account = json!({ "provider": "sandbox", "scopes": ["calendar.read"],
            "credentials": { "username": "zoe@sandbox.test", "password": "sandbox" } });
        let connection = api.connect(account).await;
        let mut calendars = Vec::new();
        for (name, theirs) in names.iter().zip(theirs) {
            let calendar = api.calendar(&connection, name).await;
            api.post(format!("/v1/calendars/{calendar}/sync/start"), json!({})).send().await.expect(202);
            calendars.push((calendar, theirs));
        }
        assert_eq!(server.pull().await, names.len() as u64);
        World { server, api, provider, connection: text(&connection["id"]), calendars }
    }

    /// Makes an event at the provider, in the calendar with this number.
    pub async fn make(&self, calendar: usize, title: &str) {
        let at = |hour: u8| json!(format!("2026-03-02T{hour}:00:00Z"));
        let event = json!({ "id": title, "title": title, "start": at(11), "end": at(12), "timeZone": "UTC" });
        let path = format!("/sandbox/v1/calendars/{}/events", self.calendars[calendar].1);
        self.provider.post(path, event).send().await.expect(201);
    }

    /// Returns the number of events in the copy of this calendar, without reading from the provider.
    pub async fn here(&self, calendar: usize) -> i64 {
        let sql = "select count(*) as n from items where parent_id = $1 and deleted_at is null";
        let statement = query(sql).bind(&self.calendars[calendar].0);
        statement.fetch_one(self.server.app.db.reader(), |row| row.get("n")).await.expect("a query")
    }

    pub async fn watches(&self) -> Vec<Watch> {
        table::of_connection(self.server.app.db.reader(), &self.connection).await.expect("a query")
    }

    /// The only watch of the calendar with this number.
    pub async fn watch(&self, calendar: usize) -> Watch {
        let mut all = self.watches().await;
        all.retain(|watch| watch.scope_id == self.calendars[calendar].0);
        assert_eq!(all.len(), 1, "{all:?}");
        all.remove(0)
    }

    /// The job that pulls the calendar with this number.
    pub async fn pull_job(&self, calendar: usize) -> Job {
        let id = format!("pull:{}:calendar:{}", self.connection, self.calendars[calendar].0);
        jobs::find(self.server.app.db.reader(), &id).await.expect("a query").expect("it is there")
    }

    /// How the API shows the watch of the calendar with this number.
    pub async fn shown(&self, calendar: usize) -> Value {
        let path = format!("/v1/calendars/{}/sync/status", self.calendars[calendar].0);
        self.api.get(path).send().await.expect(200)["watch"].clone()
    }

    /// Returns the provider's watches of the account.
    pub async fn theirs(&self) -> Vec<Value> {
        let all = self.provider.get("/sandbox/v1/watches").send().await.expect(200);
        all["watches"].as_array().expect("a list").clone()
    }

    /// From now on the provider does not answer requests with this method that are about watches.
    pub async fn fails(&self, method: &str) {
        let fault =
            json!({ "method": method, "pathPrefix": "/sandbox/v1/watches", "status": 503, "times": 1_000 });
        self.provider.post("/sandbox/faults", fault).send().await.expect(201);
    }

    /// Notifications so far that ended like this.
    pub fn counted(&self, outcome: &'static str) -> u64 {
        self.server.app.metrics.notifications("sandbox", outcome)
    }

    /// Posts a provider's notification of a change for a watch.
    pub async fn notify(&self, channel: &str, token: &str) -> Exchange {
        let request = self.server.anonymous().post(NOTIFICATIONS, Value::Null);
        let request = request.header("x-sandbox-channel", channel).header("x-sandbox-token", token);
        request.header("x-sandbox-state", "exists").send().await
    }

    /// The right token of a watch.
    pub fn token(&self, watch: &Watch) -> String {
        self.server.app.keyring.watch_token(&watch.id).to_string()
    }

    /// The kinds of events about watches, in the order in which they happened.
    pub async fn told(&self) -> Vec<String> {
        let sql = "select type from log where type like 'calendar.watch.%' order by sequence";
        query(sql).fetch_all(self.server.app.db.reader(), |row| row.get("type")).await.expect("a query")
    }
}
