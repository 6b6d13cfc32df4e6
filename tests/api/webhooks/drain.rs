//! Deliveries across a planned restart: running attempts end and are recorded, no new one begins, and none is repeated.

use std::time::Duration;

use harness::TestServer;
use harness::receiver::{Received, Receiver};
use reqwest::Client;
use serde_json::{Value, json};
use service::job_runner::kind::JobKind;
use service::job_runner::runner;
use service::jobs::REQUIRED_JOBS;
use service::webhooks::delivery::DELIVER;
use service::webhooks::fanout::{self, FANOUT};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::crash::{Stubborn, key_with};
use crate::kills::{Process, made};
use crate::webhooks::changes::{UPDATED, attempts, log};
use crate::webhooks::desk::{CREATED, Desk};

/// How long a test waits: far longer than it takes.
const LIMIT: Duration = Duration::from_secs(60);
const POLL_INTERVAL: Duration = Duration::from_millis(5);
static KINDS: [JobKind; 2] = [FANOUT, DELIVER];

/// The path of a subscription that gets one attempt at a time.
async fn subscribe(desk: &Desk) -> String {
    let made = desk.subscription(json!({ "eventTypes": [UPDATED], "maxConcurrent": 1 })).await;
    format!("/v1/webhooks/{}", made["id"].as_str().expect("an id"))
}

/// The status of each delivery and how many attempts it had, in the order of the log.
async fn standing(desk: &Desk, webhook: &str) -> Vec<(Value, usize)> {
    let deliveries = desk.api.all(&format!("{webhook}/deliveries")).await;
    let one = |d: &Value| (d["status"].clone(), d["attempts"].as_array().map_or(0, Vec::len));
    deliveries.iter().rev().map(one).collect()
}

/// Restarts the desk's service; its client has another key of the same application.
async fn restarted(mut desk: Desk) -> Desk {
    desk.server = desk.server.restart().await;
    desk.api = desk.server.client().await;
    desk
}

#[tokio::test]
async fn attempts_under_way_end_in_a_drain_and_none_begins() {
    let mut desk = Desk::start().await;
    let webhook = subscribe(&desk).await;
    log(&desk, &["a", "b"]).await;
    let held = desk.receiver.hold().await;
    let app = desk.server.app.clone();
    fanout::wake(&app, None).await.expect("the feeds are read");
    let (stop, stopping) = watch::channel(false);
    let running = tokio::spawn(runner::run(app.clone(), &KINDS, REQUIRED_JOBS, stopping));
    assert_eq!(attempts(&[desk.receiver.next().await]), ["a 1"]);

    app.start_draining(Instant::now() + LIMIT);
    drop(held);
    // Requests are still accepted while load balancers are notified; the result is there before that ends.
    let waits_until = Instant::now() + LIMIT;
    while standing(&desk, &webhook).await != [(json!("delivered"), 1)] {
        assert!(Instant::now() < waits_until, "the outcome is not written down");
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    stop.send_replace(true);
    tokio::time::timeout(LIMIT, running).await.expect("the runner ends").expect("without a panic");
    assert!(desk.receiver.taken().is_empty(), "no attempt began");

    let mut desk = restarted(desk).await;
    desk.server.deliver().await;
    assert_eq!(attempts(&desk.receiver.taken()), ["b 1"]);
    assert_eq!(standing(&desk, &webhook).await, [(json!("delivered"), 1), (json!("delivered"), 1)]);
}

/// An endpoint that hangs does not hold the process: when the time of the drain is over, its delivery is given back as it was.
#[tokio::test]
async fn an_attempt_that_outlasts_the_drain_is_made_again() {
    let mut desk = Desk::start().await;
    let webhook = subscribe(&desk).await;
    log(&desk, &["a"]).await;
    let held = desk.receiver.hold().await;
    let app = desk.server.app.clone();
    fanout::wake(&app, None).await.expect("the feeds are read");
    let (stop, stopping) = watch::channel(false);
    let running = tokio::spawn(runner::run(app.clone(), &KINDS, REQUIRED_JOBS, stopping));
    assert_eq!(attempts(&[desk.receiver.next().await]), ["a 1"]);

    app.start_draining(Instant::now() + LIMIT);
    stop.send_replace(true);
    // A second signal: the time is over now.
    app.start_draining(Instant::now());
    tokio::time::timeout(LIMIT, running).await.expect("the runner ends").expect("without a panic");
    assert!(standing(&desk, &webhook).await.is_empty());
    drop(held);

    let mut desk = restarted(desk).await;
    desk.server.deliver().await;
    assert_eq!(attempts(&desk.receiver.taken()), ["a 1"]);
    assert_eq!(standing(&desk, &webhook).await, [(json!("delivered"), 1)]);
}

/// A service with a webhook, its calendar and its provider.
struct Scene {
    process: Process,
    hosts: [Stubborn; 1],
    /// The path of the calendar's events.
    events: String,
    webhook: String,
    /// It serves the provider.
    _provider: TestServer,
    receiver: Receiver,
}

impl Scene {
    async fn open() -> Scene {
        let (provider, receiver) = (TestServer::start().await, Receiver::start().await);
        let http = Client::builder().no_proxy().timeout(Duration::from_secs(20)).build().expect("a client");
        let (process, mut api) = Process::start(None, &http).await;
        api.key = key_with(process.data.path(), &[]);
        let hosts = [api];
        let account = json!({
            "provider": "sandbox", "settings": { "serverUrl": format!("http://{}/sandbox", provider.address) },
            "credentials": { "username": "carol@sandbox.test", "password": "sandbox" },
            "scopes": ["calendar.read", "calendar.write"],
        });
        let connection = made(&hosts, "/v1/connections", &account).await;
        let calendar = json!({ "connectionId": connection["id"], "name": "Restarts", "timeZone": "UTC" });
        let calendar = made(&hosts, "/v1/calendars", &calendar).await;
        let webhook = json!({ "url": receiver.url(), "eventTypes": CREATED, "maxConcurrent": 1 });
        let webhook = made(&hosts, "/v1/webhooks", &webhook).await;
        let id = |value: &Value| value["id"].as_str().expect("an id").to_owned();
        let events = format!("/v1/calendars/{}/events", id(&calendar));
        let webhook = format!("/v1/webhooks/{}", id(&webhook));
        Scene { process, hosts, events, webhook, _provider: provider, receiver }
    }

    async fn create_event(&self, title: &str) {
        let body = json!({ "title": title, "start": "2026-03-02T11:00:00Z", "end": "2026-03-02T12:00:00Z" });
        let [api] = &self.hosts;
        api.until_answered("POST", &self.events, &body, title).await;
    }

    async fn get(&self, path: &str) -> Option<(u16, Value)> {
        let [api] = &self.hosts;
        let request = api.http.get(format!("{}{path}", api.base)).bearer_auth(&api.key);
        let response = request.send().await.ok()?;
        let status = response.status().as_u16();
        Some((status, serde_json::from_str(&response.text().await.ok()?).ok()?))
    }
}

fn title(received: &Received) -> String {
    received.json()["data"]["resource"]["title"].as_str().expect("a title").to_owned()
}

/// The process gets SIGTERM while the endpoint has a notification and has not answered.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sigterm_leaves_no_delivery_to_be_repeated() {
    let mut scene = Scene::open().await;
    let held = scene.receiver.hold().await;
    scene.create_event("before").await;
    assert_eq!(title(&scene.receiver.next().await), "before");
    scene.process.terminate();
    let waits_until = Instant::now() + LIMIT;
    while scene.get("/readyz").await.is_some_and(|(status, _)| status == 200) {
        assert!(Instant::now() < waits_until, "it goes on");
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    drop(held);
    assert!(scene.process.end_and_start().success(), "it stopped in order");

    scene.create_event("after").await;
    assert_eq!(title(&scene.receiver.next().await), "after", "what was under way does not come again");
    let (_, deliveries) = scene.get(&format!("{}/deliveries", scene.webhook)).await.expect("an answer");
    let before = deliveries["data"].as_array().and_then(|all| all.last()).expect("a delivery");
    assert_eq!(
        (&before["status"], before["attempts"].as_array().map(Vec::len)),
        (&json!("delivered"), Some(1))
    );
}
