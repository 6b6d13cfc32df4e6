//! A full read of a collection continues where it was interrupted: by a refusal, by a restart. Requests to the provider are counted.

use harness::{Actor, TestServer, reconnected};
use serde_json::{Value, json};

use crate::email::mailbox::{text, until};

/// Events, and how many of them a page has.
const EVENTS: usize = 24;
const PAGE: u32 = 4;
const PAGES: i64 = EVENTS as i64 / PAGE as i64;

struct World {
    server: TestServer,
    api: Actor,
    provider: Actor,
    calendar: String,
    theirs: String,
}

impl World {
    async fn new() -> World {
        let server = TestServer::builder().config(|c| c.pull_page = PAGE).start().await;
        let (api, provider) = (server.client().await, server.provider("zoe"));
        let made = json!({ "name": "Large", "timeZone": "UTC" });
        let made = provider.post("/sandbox/v1/calendars", made).send().await.expect(201);
        let theirs = format!("/sandbox/v1/calendars/{}/events", text(&made["id"]));
        let account = json!({ "provider": "sandbox", "scopes": ["calendar.read", "calendar.write"],
            "credentials": { "username": "zoe@sandbox.test", "password": "sandbox" } });
        let connection = api.connect(account).await;
        let calendar = api.calendar(&connection, "Large").await;
        let world = World { server, api, provider, calendar, theirs };
        for number in 0..EVENTS {
            world.make(number).await;
        }
        world
    }

    async fn make(&self, number: usize) {
        let at = |hour: u8| json!(format!("2026-03-02T{hour}:00:00Z"));
        let event = json!({ "id": format!("event-{number}"), "title": format!("event {number}"),
            "start": at(11), "end": at(12), "timeZone": "UTC" });
        self.provider.post(&self.theirs, event).send().await.expect(201);
    }

    async fn fault(&self, fault: Value) {
        let mut fault = fault;
        fault["pathPrefix"] = json!(self.theirs);
        fault["method"] = json!("GET");
        self.provider.post("/sandbox/faults", fault).send().await.expect(201);
    }

    /// The requests that the provider has got for this connection's calendars so far.
    async fn requests(&self) -> i64 {
        let usage = self.api.get("/v1/usage").send().await.expect(200);
        usage["sync"]["providerCalls"].as_i64().expect("a number")
    }

    /// The host's next round, so much later; how many requests it needed.
    async fn round(&self, later_ms: i64) -> i64 {
        self.server.clock.advance_ms(later_ms);
        let before = self.requests().await;
        self.server.pull().await;
        self.requests().await - before
    }

    async fn status(&self) -> Value {
        self.api.get(format!("/v1/calendars/{}/sync/status", self.calendar)).send().await.expect(200)
    }

    async fn start(&self) {
        self.api
            .post(format!("/v1/calendars/{}/sync/start", self.calendar), json!({}))
            .send()
            .await
            .expect(202);
        self.caught_up().await;
    }

    async fn caught_up(&self) {
        until("it is read", async || (self.status().await["status"] == "caught_up").then_some(())).await;
    }

    async fn restarted(mut self) -> World {
        self.server = self.server.restart().await;
        self.api = reconnected(&self.server, &self.api);
        self.provider = self.server.provider("zoe");
        self
    }

    /// Returns the titles of the listed events, in order.
    async fn titles(&self) -> Vec<String> {
        let path = format!("/v1/calendars/{}/events", self.calendar);
        let mut titles: Vec<String> = self.api.all(&path).await.iter().map(|e| text(&e["title"])).collect();
        titles.sort_by_key(|title| (title.len(), title.clone()));
        titles
    }
}

/// The provider has forgotten the sync token; the full read is interrupted by a 429, then by a restart, then by a 503. No page is
/// requested twice, nothing is deleted before the end, and items deleted in between are deleted then.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scan_goes_on_where_it_was_stopped() {
    let world = World::new().await;
    world.start().await;
    assert_eq!(world.titles().await.len(), EVENTS);
    let feed = format!("/v1/calendars/{}/sync/changes", world.calendar);
    let cursor = text(&world.api.get(&feed).send().await.expect(200)["sync_cursor"]);
    // An item that the scan does not list, wherever it was interrupted.
    world.provider.delete(format!("{}/event-0", world.theirs)).send().await.expect(204);
    world.fault(json!({ "status": 410, "syncTokenOnly": true })).await;
    world.fault(json!({ "status": 429, "retryAfterS": 40, "after": 2 })).await;
    assert_eq!(world.round(61_000).await, 1 + 2 + 1, "the token, two pages, the refusal");
    let stopped = world.status().await;
    assert_eq!(
        (&stopped["status"], &stopped["lastError"]["code"]),
        (&json!("throttled"), &json!("rate-limited"))
    );
    assert_eq!(world.titles_here().await, EVENTS, "a partial scan deletes nothing");

    let world = world.restarted().await;
    assert_eq!(world.round(39_000).await, 0, "not before the provider allows it");
    world.fault(json!({ "status": 503, "after": 1 })).await;
    assert_eq!(world.round(2_000).await, 1 + 1, "one page more, and the failure");
    assert_eq!(world.titles_here().await, EVENTS);

    let world = world.restarted().await;
    let rest = PAGES - 3;
    assert_eq!(world.round(60_000).await, rest + 1, "the other pages, and what changed since the scan began");
    world.caught_up().await;
    assert_eq!(world.titles_here().await, EVENTS - 1);
    let told = world.api.get(format!("{feed}?cursor={cursor}")).send().await.expect(200);
    let told: Vec<&Value> =
        told["data"].as_array().expect("a list").iter().map(|c| &c["changeType"]).collect();
    assert_eq!(told, [&json!("deleted")], "true differences alone");
    assert_eq!(world.titles().await.len(), EVENTS - 1);
}

impl World {
    /// Returns the number of events in the copy, without reading from the provider.
    async fn titles_here(&self) -> usize {
        use storage::sql::query;

        let sql = "select count(*) as n from items where parent_id = $1 and deleted_at is null";
        let found =
            query(sql).bind(&self.calendar).fetch_one(self.server.app.db.reader(), |row| row.get::<i64>("n"));
        usize::try_from(found.await.expect("a query")).expect("a count")
    }
}

/// An item that is written here while a scan is stopped is not deleted at its end, and one that another program makes is found.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scan_spares_what_was_written_meanwhile() {
    let world = World::new().await;
    world.start().await;
    world.fault(json!({ "status": 410, "syncTokenOnly": true })).await;
    world.fault(json!({ "status": 503, "after": 3 })).await;
    assert_eq!(world.round(61_000).await, 1 + 3 + 1);
    let event = json!({ "title": "ours", "start": "2026-03-02T11:00:00Z", "end": "2026-03-02T12:00:00Z" });
    let events = format!("/v1/calendars/{}/events", world.calendar);
    let ours = {
        let world = &world;
        // A fresh read would end the scan.
        world.fault(json!({ "status": 503, "times": 1 })).await;
        world.api.post(events, event).send().await
    };
    let ours = ours.expect(201);
    world.make(EVENTS).await;
    let world = world.restarted().await;
    world.round(120_000).await;
    world.caught_up().await;
    let titles = world.titles().await;
    assert_eq!(titles.len(), EVENTS + 2, "{titles:?}");
    let path = format!("/v1/calendars/{}/events/{}", world.calendar, text(&ours["id"]));
    assert_eq!(world.api.get(path).send().await.expect(200)["title"], "ours");
}

/// A page token of a scan that the provider has forgotten too: the scan starts over, with a new number.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scan_begins_anew_when_its_place_is_forgotten() {
    let world = World::new().await;
    world.start().await;
    world.provider.delete(format!("{}/event-5", world.theirs)).send().await.expect(204);
    world.fault(json!({ "status": 410, "syncTokenOnly": true })).await;
    world.fault(json!({ "status": 503, "after": 3 })).await;
    world.round(61_000).await;
    let world = world.restarted().await;
    // The next page token is refused.
    world.fault(json!({ "status": 410 })).await;
    assert_eq!(world.round(60_000).await, 1 + PAGES, "the refusal, and all pages");
    world.caught_up().await;
    assert_eq!(world.titles().await.len(), EVENTS - 1);
}
