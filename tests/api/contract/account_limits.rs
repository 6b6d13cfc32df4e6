//! `[limits]` of a connector: a provider's Retry-After holds the part of the account that it is of, and the host itself sends no more
//! than the limits allow.

use harness::{Actor, Exchange, TestServer};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::oauth::{connector, register_client, replace_origin};

/// The origin of the connector's API. There is no such host: its requests go to the sandbox provider.
const ORIGIN: &str = "https://api.sandbox.test";
/// Longer than hosts remember a registration.
const REMEMBERED_MS: i64 = 1_000;

/// The sandbox's connector at `ORIGIN`, with a bucket for task lists of this many units a minute.
fn limited(units: u32) -> TempDir {
    connector("limited", |manifest| {
        let of_settings = "hosts_from_settings = [\"serverUrl\"]";
        assert!(manifest.contains(of_settings) && manifest.trim_end().ends_with('"'), "{manifest}");
        let rule = "host = \"api.sandbox.test\", path_prefix = \"/sandbox/v1\", inject = \"default\"";
        let hosts = format!("hosts = [{{ {rule} }}]");
        let place = "hosts = [\"api.sandbox.test/sandbox/v1/lists\"], surfaces = [\"tasks\"]";
        let rate = format!("{{ name = \"tasks\", {place}, units = {units}, per_s = 60, reserve = 20 }}");
        let manifest = manifest.replace(of_settings, &hosts);
        let setting = format!("fixed = \"{ORIGIN}/sandbox\"");
        format!("{}\n{setting}\n[limits]\nconcurrent = 4\nrates = [{rate}]\n", manifest.trim_end())
    })
}

/// An account of the connector.
struct Account {
    server: TestServer,
    api: Actor,
    connection: String,
}

impl Account {
    async fn open(connectors: &TempDir) -> Account {
        let folder = connectors.path().to_owned();
        let builder = TestServer::builder().config(|c| {
            c.connectors_dir = Some(folder);
            c.egress_allow = vec!["127.0.0.0/8".parse().expect("a network")];
        });
        let server = builder.without_pulls().start().await;
        let api = server.client().await;
        let own = format!("http://{}", server.address);
        register_client(&server, &api, "limited", |client| replace_origin(client, ORIGIN, &own)).await;
        let account = json!({
            "provider": "limited",
            "scopes": ["calendar.read", "tasks.read", "tasks.write"],
            "credentials": { "username": "alice@sandbox.test", "password": "sandbox" },
        });
        let connection = api.connect(account).await["id"].as_str().expect("an id").to_owned();
        Account { server, api, connection }
    }

    /// Makes a task list, and returns the response, of any status.
    async fn create(&self, name: &str) -> Exchange {
        let new = json!({ "connectionId": self.connection, "name": name });
        self.api.post("/v1/task-lists", new).send().await
    }

    /// The account's calendars, for which the provider is asked.
    async fn calendars(&self) -> Value {
        self.server.clock.advance_ms(1);
        let path = format!("/v1/calendars?connection_id={}", self.connection);
        self.api.get(path).header("cache-control", "no-cache").send().await.expect(200)
    }

    /// Requests that the provider got.
    async fn requests(&self) -> i64 {
        let usage = self.api.get("/v1/usage").send().await.expect(200);
        usage["sync"]["providerCalls"].as_i64().expect("a number")
    }
}

/// Seconds that the refusal asks to wait.
fn wait(refused: &Exchange) -> i64 {
    let wait = refused.header("retry-after").and_then(|seconds| seconds.parse().ok());
    wait.unwrap_or_else(|| panic!("no Retry-After: {refused}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_retry_after_holds_the_bucket_of_its_host() {
    let connectors = limited(1_000);
    let account = Account::open(&connectors).await;
    account.create("Before").await.expect(201);
    let limited =
        json!({ "status": 429, "retryAfterS": 120, "method": "POST", "pathPrefix": "/sandbox/v1/lists" });
    account.server.provider("alice").post("/sandbox/faults", limited).send().await.expect(201);
    let refused = account.create("Refused").await;
    assert_eq!(wait(&refused), 120);
    refused.refused(429, "provider_rate_limited");

    // Calendars belong to no bucket, and are not limited.
    let before = account.requests().await;
    account.calendars().await;
    let asked = account.requests().await;
    assert!(asked > before, "the provider is asked for calendars");
    account.server.clock.advance_ms(29_999);
    let refused = account.create("Refused").await;
    assert_eq!(wait(&refused), 90, "what is left of it");
    refused.refused(429, "provider_rate_limited");
    assert_eq!(account.requests().await, asked, "and not for task lists");
    account.server.clock.advance_ms(90_000);
    account.create("After").await.expect(201);
}

/// Each host counts for itself: with two of them more is sent before one refuses.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_more_is_sent_than_the_units_allow() {
    let connectors = limited(6);
    let account = Account::open(&connectors).await;
    let (mut made, mut tries) = (0, 0);
    let refused = loop {
        tries += 1;
        assert!(tries < 40, "{made} lists, and no end of it");
        let before = account.requests().await;
        let answer = account.create(&format!("List {tries}")).await;
        match (answer.status, account.requests().await - before) {
            (429, 0) => break answer,
            // There was room for a part of its requests.
            (429 | 503, _) => {}
            _ => {
                answer.expect(201);
                made += 1;
            }
        }
    };
    assert!((1..=12).contains(&made), "{made} lists with 6 units on each host");
    assert!((50..=62).contains(&wait(&refused)), "{refused}");
    refused.refused(429, "provider_rate_limited");
    account.calendars().await;
    account.server.clock.advance_ms(62_000);
    account.create("Later").await.expect(201);

    // The operator's figures hold a second later.
    register_client(&account.server, &account.api, "limited", |client| {
        client.settings.insert("limits".to_owned(), json!({ "tasks": { "units": 1_000 } }));
    })
    .await;
    account.server.clock.advance_ms(REMEMBERED_MS);
    for number in 0..20 {
        account.create(&format!("More {number}")).await.expect(201);
    }
}

impl Account {
    /// The units of the only bucket that was used, in this period.
    async fn units(&self, period: &str) -> Value {
        let usage = self.api.get(format!("/v1/usage{period}")).send().await.expect(200);
        match usage["providerUnits"].as_array().map(Vec::as_slice) {
            Some([units]) => units.clone(),
            units => panic!("not one bucket: {units:#?}"),
        }
    }
}

/// The usage shows what each connection has used of its provider's quota, by day, and what this host has left of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn units_are_in_the_usage_by_connection_and_day() {
    let connectors = limited(1_000);
    let account = Account::open(&connectors).await;
    account.create("One").await.expect(201);
    let first = account.units("").await;
    let used = first["units"].as_i64().expect("a number");
    let remaining = first["limit"]["remaining"].as_i64().expect("a number");
    assert!(used > 0 && (1_000 - used..=1_000).contains(&remaining), "{first:#}");
    let expected = json!({
        "connectionId": account.connection, "provider": "limited", "bucket": "tasks", "units": used,
        "days": [{ "day": "2026-03-01", "units": used }],
        "limit": { "units": 1_000, "seconds": 60, "remaining": remaining },
    });
    assert_eq!(first, expected);
    account.server.app.usage.flush(&account.server.app.db).await.expect("the counts are written");
    assert_eq!(account.units("").await, first, "as it was before it was written");

    account.server.clock.advance_ms(24 * 3_600_000);
    account.create("Two").await.expect(201);
    let both = account.units("").await;
    let later = both["units"].as_i64().expect("a number") - used;
    assert!(later > 0, "{both:#}");
    let of_second_day = json!({ "day": "2026-03-02", "units": later });
    assert_eq!(both["days"], json!([{ "day": "2026-03-01", "units": used }, of_second_day]));
    let second_day = account.units("?start=2026-03-02&end=2026-03-02").await;
    assert_eq!((&second_day["units"], &second_day["days"]), (&json!(later), &json!([of_second_day])));

    let other = account.server.key("other", |_| {}).await;
    let others = other.get("/v1/usage").send().await.expect(200);
    assert_eq!(others["providerUnits"], json!([]), "another application has its own");
    for (connection, buckets) in [(account.connection.as_str(), 1), ("conn_of_somebody_else", 0)] {
        let bound = account.server.key("test", |key| key.connection_ids = vec![connection.to_owned()]).await;
        let usage = bound.get("/v1/usage").send().await.expect(200);
        assert_eq!(
            usage["providerUnits"].as_array().map(Vec::len),
            Some(buckets),
            "a key that is bound to {connection}"
        );
    }
    let path = format!("/v1/connections/{}", account.connection);
    account.api.delete(path).send().await.expect(204);
    let usage = account.api.get("/v1/usage").send().await.expect(200);
    assert_eq!(usage["providerUnits"], json!([]), "of connections that are there");
}
