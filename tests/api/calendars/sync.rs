//! `/v1/calendars/{calendarId}/sync`

use std::collections::BTreeMap;

use harness::{Actor, TestServer};
use serde_json::{Value, json};

/// A client's replica, kept by reading the feed until it is caught up.
#[derive(Default)]
struct Replica {
    cursor: Option<String>,
    events: BTreeMap<String, Value>,
    told: Vec<(String, String)>,
}

impl Replica {
    async fn catch_up(&mut self, api: &Actor, calendar: &str, limit: usize) {
        loop {
            let mut path = format!("/v1/calendars/{calendar}/sync/changes?limit={limit}");
            if let Some(cursor) = &self.cursor {
                path.push_str(&format!("&cursor={cursor}"));
            }
            let page = api.get(path).send().await.expect(200);
            for change in page["data"].as_array().expect("a list") {
                let id = change["resourceId"].as_str().expect("an id").to_owned();
                let kind = change["changeType"].as_str().expect("a type").to_owned();
                match kind.as_str() {
                    "deleted" => assert!(self.events.remove(&id).is_some(), "deleted before created: {id}"),
                    _ => {
                        self.events.insert(id.clone(), change["resource"].clone());
                    }
                }
                self.told.push((kind, id));
            }
            self.cursor = page["sync_cursor"].as_str().map(str::to_owned);
            assert!(self.cursor.is_some(), "there is always a cursor to keep");
            if page["next_cursor"].is_null() {
                return;
            }
        }
    }
}

async fn followed(api: &Actor) -> String {
    let connection = api.connect_sandbox().await;
    let calendar = api.calendar(&connection, "Work").await;
    let started =
        api.post(format!("/v1/calendars/{calendar}/sync/start"), json!({})).send().await.expect(202);
    assert_eq!(started["scopeId"], calendar);
    calendar
}

/// The feed begins with all items, followed by the differences; our own write is reported once.
#[tokio::test]
async fn a_replica_follows_the_calendar() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let calendar = followed(&api).await;
    let mut replica = Replica::default();
    replica.catch_up(&api, &calendar, 7).await;
    let path = format!("/v1/calendars/{calendar}/events");
    let whole = api.all(&format!("{path}?show_cancelled=true")).await;
    let stored: BTreeMap<String, Value> =
        whole.into_iter().map(|e| (e["id"].as_str().expect("an id").to_owned(), e)).collect();
    assert_eq!(replica.events, stored);

    replica.told.clear();
    let body = json!({ "title": "New", "start": "2026-03-02T11:00:00Z", "end": "2026-03-02T12:00:00Z" });
    let event = api.post(&path, body).send().await.expect(201);
    let id = event["id"].as_str().expect("an id").to_owned();
    replica.catch_up(&api, &calendar, 100).await;
    assert_eq!(replica.told, [("created".to_owned(), id.clone())]);
    assert_eq!(replica.events[&id], event);

    let status = api.get(format!("/v1/calendars/{calendar}/sync/status")).send().await.expect(200);
    let feed = api.get(format!("/v1/calendars/{calendar}/sync/changes?limit=500")).send().await.expect(200);
    let last = feed["data"].as_array().expect("a list").iter().filter_map(|c| c["sequence"].as_i64()).max();
    assert_eq!(status["latestSequence"].as_i64(), last, "own writes count");

    replica.told.clear();
    api.patch(format!("{path}/{id}"), json!({ "title": "Newer" })).send().await.expect(200);
    replica.catch_up(&api, &calendar, 100).await;
    api.delete(format!("{path}/{id}")).send().await.expect(204);
    replica.catch_up(&api, &calendar, 100).await;
    replica.catch_up(&api, &calendar, 100).await;
    assert_eq!(replica.told, [("updated".to_owned(), id.clone()), ("deleted".to_owned(), id)]);
}

/// Starting twice is starting once; without a start there is no feed; a cursor is for one feed only.
#[tokio::test]
async fn the_feed_has_rules() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let connection = api.connect_sandbox().await;
    let work = api.calendar(&connection, "Work").await;
    let personal = api.calendar(&connection, "Personal").await;
    let changes = |calendar: &str| format!("/v1/calendars/{calendar}/sync/changes");
    api.get(changes(&work)).send().await.refused(409, "sync_not_started");
    api.post(format!("/v1/calendars/{work}/sync/start"), json!({})).send().await.expect(202);
    api.post(format!("/v1/calendars/{work}/sync/start"), json!({})).send().await.expect(200);
    api.post(format!("/v1/calendars/{personal}/sync/start"), json!({})).send().await.expect(202);
    let page = api.get(changes(&work)).send().await.expect(200);
    let cursor = page["sync_cursor"].as_str().expect("a cursor");
    api.get(format!("{}?cursor={cursor}", changes(&personal))).send().await.refused(400, "invalid_cursor");
    api.get(format!("{}?cursor=x{cursor}", changes(&work))).send().await.refused(400, "invalid_cursor");
    let watch = api.post(format!("/v1/calendars/{work}/sync/renew"), json!({})).send().await.expect(200);
    assert_eq!(watch["status"], "unsupported");
    let status = api.get(format!("/v1/calendars/{work}/sync/status")).send().await.expect(200);
    assert_eq!((&status["status"], &status["epoch"]), (&json!("caught_up"), &json!(1)));
}

/// A soft reset reports nothing if nothing differs; a hard one ends the cursors.
#[tokio::test]
async fn a_reset_is_soft_or_hard() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let calendar = followed(&api).await;
    let mut replica = Replica::default();
    replica.catch_up(&api, &calendar, 100).await;
    replica.told.clear();
    let reset = format!("/v1/calendars/{calendar}/sync/reset");
    api.post(&reset, json!({})).send().await.expect(202);
    replica.catch_up(&api, &calendar, 100).await;
    assert_eq!(replica.told, []);

    api.post(&reset, json!({ "mode": "hard" })).send().await.expect(202);
    let cursor = replica.cursor.clone().expect("a cursor");
    let old = api.get(format!("/v1/calendars/{calendar}/sync/changes?cursor={cursor}")).send().await;
    old.refused(409, "sync_reset_required");
    let mut again = Replica::default();
    again.catch_up(&api, &calendar, 100).await;
    assert_eq!(again.events, replica.events);
}

/// A pull that began before the sync was started ends after it, and must not undo the start.
#[tokio::test]
async fn a_pull_under_way_does_not_undo_a_start() {
    use storage::sync_states;

    let server = TestServer::start().await;
    let api = server.client().await;
    let connection = api.connect_sandbox().await;
    let calendar = api.calendar(&connection, "Work").await;
    api.all(&format!("/v1/calendars/{calendar}/events")).await;
    let id = connection["id"].as_str().expect("an id");
    let before = sync_states::find(server.app.db.reader(), id, "calendar", &calendar).await;
    let before = before.expect("a query").expect("the calendar was read");
    api.post(format!("/v1/calendars/{calendar}/sync/start"), json!({})).send().await.expect(202);
    service::sync::save(&server.app, &before, None).await.expect("the pull writes what it found");
    let after = sync_states::find(server.app.db.reader(), id, "calendar", &calendar).await;
    let after = after.expect("a query").expect("a state");
    assert!(!before.followed && after.followed && after.started_at.is_some());
}

/// A pull that began before a reset, as one of another host may have, writes nothing afterwards: everything is read again.
#[tokio::test]
async fn a_pull_under_way_does_not_undo_a_reset() {
    use storage::sync_states;

    let server = TestServer::start().await;
    let api = server.client().await;
    let connection = api.connect_sandbox().await;
    let calendar = api.calendar(&connection, "Work").await;
    api.all(&format!("/v1/calendars/{calendar}/events")).await;
    let id = connection["id"].as_str().expect("an id");
    let find = async || {
        let found = sync_states::find(server.app.db.reader(), id, "calendar", &calendar).await;
        found.expect("a query").expect("the calendar was read")
    };
    let before = find().await;
    api.post(format!("/v1/calendars/{calendar}/sync/reset"), json!({ "mode": "hard" }))
        .send()
        .await
        .expect(202);
    let late = sync_states::SyncState { provider_resets: 7, ..before.clone() };
    service::sync::save(&server.app, &late, None).await.expect("the pull ends");
    let after = find().await;
    assert_eq!((after.epoch, after.provider_resets), (before.epoch + 1, before.provider_resets));
    assert!(after.generation > before.generation);
}
