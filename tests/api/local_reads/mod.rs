//! Reads of followed collections: while the copy is current the provider is not asked, and every response has the copy's age.

mod contacts;
mod mail;
mod several;
mod status;

use harness::{Actor, Exchange, TestServer};
use serde_json::{Value, json};
use storage::jobs::{self, Job};

use crate::email::mailbox::{text, until};

const SECOND_MS: i64 = 1_000;
const MINUTE_MS: i64 = 60 * SECOND_MS;

/// A server with default settings: a copy that is not current may be ten seconds old. The tests pull.
async fn server() -> TestServer {
    TestServer::builder().config(|c| c.freshness_ms = 10 * SECOND_MS).without_pulls().start().await
}

/// The requests that providers have got so far.
async fn requests(api: &Actor) -> i64 {
    let usage = api.get("/v1/usage").send().await.expect(200);
    usage["sync"]["providerCalls"].as_i64().expect("a number")
}

/// Returns the source of a response's data, and their age in seconds.
pub fn source(answer: &Exchange) -> (Option<&str>, Option<&str>) {
    (answer.header("x-data-source"), answer.header("x-data-age"))
}

/// From now on an account's requests are all answered with this status.
async fn fail(server: &TestServer, account: &str, status: u16) {
    let fault = json!({ "status": status, "times": 1_000 });
    server.provider(account).post("/sandbox/faults", fault).send().await.expect(201);
}

/// The provider does the account's next GET of such a path, and holds the answer until `let_go`.
pub async fn hold(provider: &Actor, path: &str) {
    let fault = json!({ "method": "GET", "pathPrefix": path, "heldAnswer": true });
    provider.post("/sandbox/faults", fault).send().await.expect(201);
}

/// When the provider has done the request and holds the answer.
pub async fn held(provider: &Actor) {
    until("the provider holds an answer", async || {
        let faults = provider.get("/sandbox/faults").send().await.expect(200);
        (faults["held"] == 1).then_some(())
    })
    .await;
}

pub async fn let_go(provider: &Actor) {
    provider.delete("/sandbox/faults").send().await.expect(204);
}

/// A calendar with the event `first`, which is followed and was read.
struct World {
    server: TestServer,
    api: Actor,
    provider: Actor,
    calendar: String,
    /// Its events.
    events: String,
    /// The provider's path.
    theirs: String,
    /// The id of the job that pulls it.
    job: String,
}

impl World {
    async fn new() -> World {
        let server = server().await;
        let (api, provider) = (server.client().await, server.provider("zoe"));
        let made = json!({ "name": "Shared", "timeZone": "UTC" });
        let made = provider.post("/sandbox/v1/calendars", made).send().await.expect(201);
        let theirs = format!("/sandbox/v1/calendars/{}/events", text(&made["id"]));
        let account = json!({ "provider": "sandbox", "scopes": ["calendar.read", "calendar.write"],
            "credentials": { "username": "zoe@sandbox.test", "password": "sandbox" } });
        let connection = api.connect(account).await;
        let calendar = api.calendar(&connection, "Shared").await;
        let job = format!("pull:{}:calendar:{calendar}", text(&connection["id"]));
        let events = format!("/v1/calendars/{calendar}/events");
        let world = World { server, api, provider, calendar, events, theirs, job };
        world.make("first").await;
        world.sync("start", json!({})).await;
        assert_eq!(world.server.pull().await, 1);
        world
    }

    /// Another program makes an event.
    async fn make(&self, title: &str) {
        let at = |hour: u8| json!(format!("2026-03-02T{hour}:00:00Z"));
        let event = json!({ "id": title, "title": title, "start": at(11), "end": at(12), "timeZone": "UTC" });
        self.provider.post(&self.theirs, event).send().await.expect(201);
    }

    async fn sync(&self, what: &str, body: Value) {
        self.api.post(format!("/v1/calendars/{}/sync/{what}", self.calendar), body).send().await.expect(202);
    }

    fn pass(&self, ms: i64) {
        self.server.clock.advance_ms(ms);
    }

    async fn job(&self) -> Job {
        jobs::find(self.server.app.db.reader(), &self.job).await.expect("a query").expect("it is there")
    }

    /// In how many milliseconds it is pulled next.
    async fn wait(&self) -> i64 {
        self.job().await.due_at.expect("it is pulled again") - self.server.app.now()
    }

    /// From now on no request is answered.
    async fn silence(&self) {
        let away = json!({ "status": 503, "times": 1_000 });
        self.provider.post("/sandbox/faults", away).send().await.expect(201);
    }

    /// The titles of a list, with the answer.
    async fn titles(&self, path: &str) -> (Vec<String>, Exchange) {
        let answer = self.api.get(path).send().await;
        assert_eq!(answer.status, 200, "{answer}");
        let events = answer.answer["data"].as_array().expect("a list");
        (events.iter().map(|event| text(&event["title"])).collect(), answer)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_step_asks_no_provider() {
    let world = World::new().await;
    world.make("second").await;
    world.pass(30 * SECOND_MS);
    let before = requests(&world.api).await;
    let (titles, answer) = world.titles(&world.events).await;
    assert_eq!(titles, ["first"]);
    assert_eq!(source(&answer), (Some("local"), Some("30")));
    let id = text(&answer.answer["data"][0]["id"]);
    let one = world.api.get(format!("{}/{id}", world.events)).send().await;
    assert_eq!((one.status, source(&one)), (200, (Some("local"), Some("30"))), "{one}");
    let feed = world.api.get(format!("/v1/calendars/{}/sync/changes", world.calendar)).send().await;
    assert_eq!((feed.status, source(&feed)), (200, (Some("local"), Some("30"))), "{feed}");
    assert_eq!(requests(&world.api).await, before);

    // The host reads it by itself, and the next read shows the result.
    world.pass(30 * SECOND_MS);
    assert_eq!(world.server.pull().await, 1);
    let (titles, answer) = world.titles(&world.events).await;
    assert_eq!(titles.len(), 2);
    assert_eq!(source(&answer), (Some("local"), Some("0")));
}

/// A collection in which nothing happens is pulled ever later. Who reads it gets an answer at once, and has it pulled soon.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_of_an_older_copy_has_it_read_again() {
    let world = World::new().await;
    while world.wait().await < 4 * MINUTE_MS {
        world.pass(world.wait().await);
        assert_eq!(world.server.pull().await, 1);
    }
    world.make("second").await;
    world.pass(60 * SECOND_MS);
    let (_, answer) = world.titles(&world.events).await;
    assert_eq!(source(&answer), (Some("local"), Some("60")));
    assert_eq!(world.wait().await, 3 * MINUTE_MS, "a minute is young enough");
    world.pass(30 * SECOND_MS);
    let before = requests(&world.api).await;
    for _ in 0..3 {
        let (titles, answer) = world.titles(&world.events).await;
        assert_eq!(titles, ["first"]);
        assert_eq!(source(&answer), (Some("local"), Some("90")));
    }
    assert_eq!(requests(&world.api).await, before, "nobody has waited");
    assert_eq!(world.wait().await, 0);
    assert_eq!(world.server.pull().await, 1, "once for all of them");
    let (titles, answer) = world.titles(&world.events).await;
    assert_eq!(titles.len(), 2);
    assert_eq!(source(&answer), (Some("local"), Some("0")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fresh_asks_first() {
    let world = World::new().await;
    world.make("second").await;
    world.pass(30 * SECOND_MS);
    let (titles, answer) = world.titles(&format!("{}?fresh=true", world.events)).await;
    assert_eq!(titles.len(), 2);
    assert_eq!(source(&answer), (Some("provider"), Some("0")));
    world.pass(SECOND_MS);
    let (_, answer) = world.titles(&format!("{}?fresh=false", world.events)).await;
    assert_eq!(source(&answer), (Some("local"), Some("1")));
    let refused = world.api.get(format!("{}?fresh=perhaps", world.events)).send().await;
    assert_eq!(refused.refused(400, "invalid_parameter")["param"], "fresh");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_cache_asks_first() {
    let world = World::new().await;
    world.make("second").await;
    world.pass(30 * SECOND_MS);
    let answer = world.api.get(&world.events).header("cache-control", "no-cache").send().await;
    assert_eq!(source(&answer), (Some("provider"), Some("0")));
    assert_eq!(answer.expect(200)["data"].as_array().map(Vec::len), Some(2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_own_write_appears_once() {
    let world = World::new().await;
    world.pass(30 * SECOND_MS);
    let own = json!({ "title": "Own", "start": "2026-03-02T14:00:00Z", "end": "2026-03-02T15:00:00Z" });
    let own = world.api.post(&world.events, own).send().await.expect(201);
    let count = |titles: &[String]| titles.iter().filter(|title| *title == "Own").count();
    let (titles, _) = world.titles(&world.events).await;
    assert_eq!(count(&titles), 1, "at once");
    let feed = format!("/v1/calendars/{}/sync/changes", world.calendar);
    let told = world.api.get(&feed).send().await.expect(200);
    let of_it = |told: &Value| {
        let changes = told["data"].as_array().expect("a list");
        changes.iter().filter(|change| change["resourceId"] == own["id"]).count()
    };
    assert_eq!(of_it(&told), 1);

    // The provider reports it too, at the next read.
    world.pass(MINUTE_MS);
    assert_eq!(world.server.pull().await, 1);
    let (titles, answer) = world.titles(&world.events).await;
    assert_eq!((count(&titles), source(&answer).0), (1, Some("local")));
    let rest =
        world.api.get(format!("{feed}?cursor={}", text(&told["sync_cursor"]))).send().await.expect(200);
    assert_eq!(of_it(&rest), 0);
}

/// If a host cannot keep up, or the copy is due for a full read, the provider is asked first, as for a collection that is not followed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_out_of_step_is_refreshed_first() {
    let world = World::new().await;
    world.make("second").await;
    world.pass(2 * MINUTE_MS);
    let (titles, answer) = world.titles(&world.events).await;
    assert_eq!((titles.len(), source(&answer)), (1, (Some("local"), Some("120"))), "two pulls are due");
    world.pass(1);
    let (titles, answer) = world.titles(&world.events).await;
    assert_eq!((titles.len(), source(&answer)), (2, (Some("provider"), Some("0"))));

    world.pass(MINUTE_MS);
    assert_eq!(world.server.pull().await, 1);
    world.make("third").await;
    world.pass(30 * SECOND_MS);
    assert_eq!(world.titles(&world.events).await.0.len(), 2);
    world.sync("reset", json!({ "mode": "soft" })).await;
    let (titles, answer) = world.titles(&world.events).await;
    assert_eq!((titles.len(), source(&answer)), (3, (Some("provider"), Some("0"))), "after a reset");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn age_is_told() {
    let world = World::new().await;
    // The list of calendars is not followed: it is as old as the setting allows.
    world.pass(MINUTE_MS);
    let calendars = async || world.api.get("/v1/calendars").send().await;
    assert_eq!(source(&calendars().await), (Some("provider"), Some("0")));
    world.pass(9_999);
    assert_eq!(source(&calendars().await), (Some("local"), Some("9")), "whole seconds");
    world.pass(2);
    assert_eq!(source(&calendars().await), (Some("provider"), Some("0")));

    // Earlier data is shown while the provider is away, with its age.
    world.silence().await;
    world.pass(90 * SECOND_MS);
    let shown = calendars().await;
    assert_eq!((shown.status, source(&shown)), (200, (Some("local"), Some("90"))), "{shown}");

    // Other resources have no such age, and a refusal has no data.
    let status = format!("/v1/calendars/{}/sync/status", world.calendar);
    for path in ["/v1/connections", "/v1/webhooks", status.as_str(), "/v1/calendars/cal_none"] {
        assert_eq!(source(&world.api.get(path).send().await), (None, None), "{path}");
    }
}

/// With a freshness of zero every read asks first, even if the copy is current.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_setting_of_zero_asks_always() {
    let mut world = World::new().await;
    world.server = world.server.restart_with(|c| c.freshness_ms = 0).await;
    world.api = harness::reconnected(&world.server, &world.api);
    world.provider = world.server.provider("zoe");
    world.make("second").await;
    world.pass(30 * SECOND_MS);
    let (titles, answer) = world.titles(&world.events).await;
    assert_eq!((titles.len(), source(&answer)), (2, (Some("provider"), Some("0"))));
}
