//! `/v1/calendars/{calendarId}/sync/status`: events that cannot be read.

use harness::{Actor, TestServer};
use serde_json::{Value, json};

const MINUTE_MS: i64 = 60_000;

/// A followed calendar, and the provider's own way to it.
struct World {
    server: TestServer,
    api: Actor,
    provider: Actor,
    calendar: String,
    /// The provider's path of the events.
    theirs: String,
}

impl World {
    async fn new() -> World {
        let server = TestServer::start().await;
        let (api, provider) = (server.client().await, server.provider("alice"));
        let connection = api.connect_sandbox().await;
        let calendar = api.calendar(&connection, "Work").await;
        let shown = api.get(format!("/v1/calendars/{calendar}")).send().await.expect(200);
        let theirs = shown["externalId"].as_str().expect("an id");
        let theirs = format!("/sandbox/v1/calendars/{theirs}/events");
        let world = World { server, api, provider, calendar, theirs };
        world.sync("start", json!({})).await;
        world.events(0).await;
        world
    }

    async fn sync(&self, verb: &str, body: Value) {
        self.api.post(format!("/v1/calendars/{}/sync/{verb}", self.calendar), body).send().await.expect(202);
    }

    /// Makes an event in another program.
    async fn made(&self, id: &str) {
        self.made_as(id, id).await;
    }

    async fn made_as(&self, id: &str, subject: &str) {
        let at = |hour: u8| json!(format!("2026-03-02T{hour}:00:00Z"));
        let body = json!({ "id": id, "title": subject, "start": at(11), "end": at(12), "timeZone": "UTC" });
        self.provider.post(&self.theirs, body).send().await.expect(201);
    }

    /// The next `times` answers that tell of this event, or of any, are unreadable.
    async fn garble(&self, event: &str, times: u32) {
        let fault = json!({ "garbled": true, "method": "GET", "times": times,
            "pathPrefix": format!("{}{event}", self.theirs) });
        self.provider.post("/sandbox/faults", fault).send().await.expect(201);
    }

    /// Answers that are still to be made unreadable.
    async fn waiting(&self) -> usize {
        let faults = self.provider.get("/sandbox/faults").send().await.expect(200);
        faults["faults"].as_array().expect("a list").len()
    }

    /// Returns the titles of the events, after some time. No pull runs then: it would take the next fault.
    async fn events(&self, later_ms: i64) -> Vec<String> {
        self.server.clock.advance_ms(later_ms);
        let events = self.api.all(&format!("/v1/calendars/{}/events", self.calendar)).await;
        self.server.pull().await;
        events.iter().map(|e| e["title"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Returns the unreadable events in the sync state: id, attempts, whether it is quarantined.
    async fn unreadable(&self) -> Vec<(String, i64, bool)> {
        let path = format!("/v1/calendars/{}/sync/status", self.calendar);
        let status = self.api.get(path).send().await.expect(200);
        let errors = status["itemErrors"].as_array().expect("a list");
        assert_eq!(status["itemErrorCount"], errors.len());
        let told = errors.iter().map(|e| {
            let id = e["externalId"].as_str().expect("an id").to_owned();
            (id, e["attempts"].as_i64().expect("a number"), e["quarantined"] == true)
        });
        told.collect()
    }
}

/// An event that cannot be read is tried three times, at growing intervals; then it is skipped until the provider has another version of
/// it. It never delays other events.
#[tokio::test]
async fn an_unreadable_event_is_set_aside() {
    let world = World::new().await;
    world.made("poison").await;
    world.garble("", 1).await;
    assert!(!world.events(1).await.contains(&"poison".to_owned()));
    assert_eq!(world.unreadable().await, [("poison".to_owned(), 1, false)]);

    world.garble("/poison", 10).await;
    world.made("healthy").await;
    assert!(world.events(MINUTE_MS - 2).await.contains(&"healthy".to_owned()));
    assert_eq!(world.unreadable().await, [("poison".to_owned(), 1, false)], "not a minute later");
    world.events(2).await;
    assert_eq!(world.unreadable().await, [("poison".to_owned(), 2, false)]);
    world.events(15 * MINUTE_MS - 1).await;
    assert_eq!(world.unreadable().await, [("poison".to_owned(), 2, false)]);
    world.events(1).await;
    assert_eq!(world.unreadable().await, [("poison".to_owned(), 3, true)]);

    world.provider.delete("/sandbox/faults").send().await.expect(204);
    world.garble("/poison", 1).await;
    assert!(!world.events(24 * 60 * MINUTE_MS).await.contains(&"poison".to_owned()));
    assert_eq!(world.waiting().await, 1, "nobody asked for it");
    world.provider.delete("/sandbox/faults").send().await.expect(204);
    let change = json!({ "title": "mended" });
    world.provider.patch(format!("{}/poison", world.theirs), change).send().await.expect(200);
    assert!(world.events(1).await.contains(&"mended".to_owned()));
    assert_eq!(world.unreadable().await, []);
}

/// An event whose fault was temporary is read at the next attempt, without any change at the provider.
#[tokio::test]
async fn a_passing_fault_loses_nothing() {
    let world = World::new().await;
    world.made("late").await;
    world.garble("", 1).await;
    world.events(1).await;
    assert_eq!(world.unreadable().await, [("late".to_owned(), 1, false)]);
    assert!(world.events(MINUTE_MS).await.contains(&"late".to_owned()));
    assert_eq!(world.unreadable().await, []);

    // Deleted before it could be read.
    world.made("gone").await;
    world.garble("", 1).await;
    world.events(1).await;
    world.provider.delete(format!("{}/gone", world.theirs)).send().await.expect(204);
    assert!(!world.events(1).await.contains(&"gone".to_owned()));
    assert_eq!(world.unreadable().await, []);
}

/// A reset of the sync and a refresh of the connection try everything again.
#[tokio::test]
async fn a_reset_tries_what_was_set_aside() {
    for by_refresh in [false, true] {
        let world = World::new().await;
        world.made("poison").await;
        world.garble("", 1).await;
        world.garble("/poison", 2).await;
        for later_ms in [1, MINUTE_MS, 15 * MINUTE_MS, 15 * MINUTE_MS] {
            assert!(!world.events(later_ms).await.contains(&"poison".to_owned()));
        }
        assert_eq!(world.unreadable().await, [("poison".to_owned(), 3, true)]);
        if by_refresh {
            let connections = world.api.all("/v1/connections").await;
            let path = format!("/v1/connections/{}/refresh", connections[0]["id"].as_str().expect("an id"));
            world.api.post(path, json!({})).send().await.expect(200);
        } else {
            world.sync("reset", json!({})).await;
        }
        assert!(world.events(1).await.contains(&"poison".to_owned()));
        assert_eq!(world.unreadable().await, []);
    }
}

/// In a subject: the sandbox connector crashes when it reads the event.
const CRASH: &str = "[sandbox:crash]";

/// An event that crashes the connector is quarantined and tried three times in all; other events of the same page are read.
#[tokio::test]
async fn an_event_that_kills_the_connector_is_set_aside() {
    let world = World::new().await;
    world.made("first").await;
    world.made_as("poison", CRASH).await;
    world.made("second").await;
    let has = |events: &[String], title: &str| events.iter().any(|e| e == title);
    let events = world.events(1).await;
    assert!(has(&events, "first") && has(&events, "second") && !has(&events, CRASH));
    assert_eq!(world.unreadable().await, [("poison".to_owned(), 1, false)]);
    let path = format!("/v1/calendars/{}/sync/status", world.calendar);
    let status = world.api.get(&path).send().await.expect(200);
    assert_eq!((&status["status"], &status["itemErrors"][0]["code"]), (&json!("caught_up"), &json!("panic")));

    // The cursor has moved on.
    world.made("third").await;
    assert!(has(&world.events(1).await, "third"));
    assert_eq!(world.unreadable().await, [("poison".to_owned(), 1, false)]);
    for (later_ms, tries) in [(MINUTE_MS, 2), (15 * MINUTE_MS, 3)] {
        world.events(later_ms).await;
        assert_eq!(world.unreadable().await, [("poison".to_owned(), tries, tries == 3)]);
    }

    // After a full read it is tried once more; then it is fixed.
    world.sync("reset", json!({})).await;
    assert!(has(&world.events(1).await, "third"));
    assert_eq!(world.unreadable().await, [("poison".to_owned(), 1, false)]);
    let change = json!({ "title": "mended" });
    world.provider.patch(format!("{}/poison", world.theirs), change).send().await.expect(200);
    assert!(has(&world.events(1).await, "mended"));
    assert_eq!(world.unreadable().await, []);
}

/// A connector that fails at everything is broken itself: no event is blamed, and the next pull continues at the same cursor.
#[tokio::test]
async fn a_connector_that_fails_at_everything_sets_nothing_aside() {
    let world = World::new().await;
    let ids: Vec<String> = (0..6).map(|n| format!("poison{n}")).collect();
    for id in &ids {
        world.made_as(id, CRASH).await;
    }
    world.events(1).await;
    let path = format!("/v1/calendars/{}/sync/status", world.calendar);
    let status = world.api.get(&path).send().await.expect(200);
    assert_eq!((&status["status"], &status["lastError"]["code"]), (&json!("error"), &json!("panic")));
    assert_eq!(world.unreadable().await, []);
    for id in &ids {
        let change = json!({ "title": format!("mended {id}") });
        world.provider.patch(format!("{}/{id}", world.theirs), change).send().await.expect(200);
    }
    let events = world.events(30 * MINUTE_MS).await;
    assert_eq!(events.iter().filter(|title| title.starts_with("mended")).count(), ids.len());
}
