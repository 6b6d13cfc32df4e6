//! Cursors of feeds live by when they were handed out, not by when something last happened in the feed.

use harness::{Actor, TestServer};
use serde_json::{Value, json};
use service::retention;

use crate::email::mailbox::text;

const DAY_MS: i64 = 86_400_000;

/// A feed of a surface: where it is read.
struct Feed {
    name: &'static str,
    path: String,
    cursor: String,
}

impl Feed {
    /// Reads to the end of the feed, and returns the changes.
    async fn read(&mut self, api: &Actor) -> Vec<Value> {
        let mut told = Vec::new();
        loop {
            let cursor =
                if self.cursor.is_empty() { String::new() } else { format!("cursor={}", self.cursor) };
            let page =
                api.get(format!("{}{cursor}", self.path)).header("cache-control", "no-cache").send().await;
            assert_eq!(page.status, 200, "{}: {page}", self.name);
            told.extend(page.answer["data"].as_array().expect("a list").iter().cloned());
            self.cursor = text(&page.answer["sync_cursor"]);
            if page.answer["next_cursor"].is_null() {
                return told;
            }
        }
    }
}

async fn feeds(api: &Actor, connection: &str) -> Vec<Feed> {
    let calendar = api.named(&format!("/v1/calendars?connection_id={connection}"), "Quiet").await;
    let list = api.named("/v1/task-lists", "Tasks").await;
    let all = [
        (
            "calendar",
            format!("/v1/calendars/{calendar}/sync"),
            json!({}),
            format!("/v1/calendars/{calendar}/sync/changes?"),
        ),
        (
            "tasks",
            format!("/v1/task-lists/{list}/sync"),
            json!({}),
            format!("/v1/task-lists/{list}/sync/changes?"),
        ),
        (
            "contacts",
            "/v1/contacts/sync".into(),
            json!({ "connectionId": connection }),
            format!("/v1/contacts/sync/changes?connection_id={connection}&"),
        ),
        (
            "mail",
            "/v1/email/sync".into(),
            json!({ "connectionId": connection }),
            format!("/v1/email/sync/changes?connection_id={connection}&"),
        ),
    ];
    let mut feeds = Vec::new();
    for (name, sync, body, path) in all {
        api.post(format!("{sync}/start"), body).send().await.expect(202);
        feeds.push(Feed { name, path, cursor: String::new() });
    }
    feeds
}

/// For forty days a collection has no changes, and others have many; the log keeps thirty days. A client that reads the feed every few
/// days can continue with its cursor.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_quiet_feed_is_read_on_after_forty_days() {
    let server = TestServer::start().await;
    let (api, provider) = (server.client().await, server.provider("zoe"));
    provider
        .post("/sandbox/v1/calendars", json!({ "name": "Quiet", "timeZone": "UTC" }))
        .send()
        .await
        .expect(201);
    let scopes = ["calendar.read", "calendar.write", "contacts.read", "tasks.read", "email.read"];
    let account = json!({ "provider": "sandbox", "scopes": scopes,
        "credentials": { "username": "zoe@sandbox.test", "password": "sandbox" } });
    let connection = api.connect(account).await;
    let busy = api.calendar(&connection, "Work").await;
    let mut feeds = feeds(&api, &text(&connection["id"])).await;
    for feed in &mut feeds {
        feed.read(&api).await;
    }
    for day in 0..8 {
        for _ in 0..3 {
            let event = json!({ "title": format!("Day {day}"), "start": "2026-03-02T11:00:00Z", "end": "2026-03-02T12:00:00Z" });
            api.post(format!("/v1/calendars/{busy}/events"), event).send().await.expect(201);
        }
        server.clock.advance_ms(5 * DAY_MS);
        for feed in &mut feeds {
            assert_eq!(feed.read(&api).await, Vec::<Value>::new(), "{}: nothing happened in it", feed.name);
        }
        server.clock.advance_ms(60_000);
        retention::clean(&server.app).await.expect("a clean-up");
    }
    // Cursors handed out a minute ago are valid after the log was pruned, and lead to later changes.
    for feed in &mut feeds {
        feed.read(&api).await;
    }
    let quiet = feeds[0].path.replace("/sync/changes?", "/events");
    let event = json!({ "title": "News", "start": "2026-03-02T11:00:00Z", "end": "2026-03-02T12:00:00Z" });
    let event = api.post(quiet, event).send().await.expect(201);
    let told = feeds[0].read(&api).await;
    assert_eq!(told.iter().map(|c| &c["resourceId"]).collect::<Vec<_>>(), [&event["id"]]);
}
