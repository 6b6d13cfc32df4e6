//! Pages end by their bytes as well as by the number of their items: the cost of a response is bounded for any content.

use harness::{Actor, TestServer};
use serde_json::{Value, json};

/// 4 MiB of items, and the envelope.
const MAX_PAGE: usize = (4 << 20) + 4_096;
/// Items whose texts have more than a page.
const COUNT: usize = 72;
const TEXT_BYTES: usize = 60_000;

fn id(value: &Value) -> String {
    value["id"].as_str().expect("an id").to_owned()
}

/// Every page of a list or a feed, as what `field` says of its items. None is empty, and none is longer than a page may be.
async fn pages(api: &Actor, path: &str, field: &str) -> Vec<Vec<String>> {
    let mut pages = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = api.get(format!("{path}{cursor}")).send().await;
        assert!(page.text.len() <= MAX_PAGE, "{path}: {} bytes", page.text.len());
        let page = page.expect(200);
        let text = |item: &Value| item[field].as_str().expect("a text").to_owned();
        let ids: Vec<String> = page["data"].as_array().expect("a list").iter().map(text).collect();
        assert!(!ids.is_empty(), "{path}: a page with nothing on it");
        pages.push(ids);
        let Some(next) = page["next_cursor"].as_str() else { return pages };
        cursor = format!("&cursor={next}");
    }
}

/// Asserts that each of `made` is on one of at least two pages.
fn assert_split(path: &str, pages: &[Vec<String>], made: &[String]) {
    assert!(pages.len() > 1, "{path}: all of it on one page");
    let (mut found, mut expected) = (pages.concat(), made.to_vec());
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected, "{path}");
}

/// Events, contacts and tasks, in lists and in feeds.
#[tokio::test]
async fn a_page_ends_where_the_next_item_has_no_room() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let account = json!({ "provider": "sandbox", "scopes": ["calendar.read", "calendar.write", "contacts.read", "contacts.write", "tasks.read", "tasks.write"],
        "credentials": { "username": "zoe@sandbox.test", "password": "sandbox" } });
    let connection = id(&api.connect(account).await);
    let calendar = json!({ "connectionId": connection, "name": "Large", "timeZone": "UTC" });
    let calendar = id(&api.post("/v1/calendars", calendar).send().await.expect(201));
    let list = json!({ "connectionId": connection, "name": "Large" });
    let list = id(&api.post("/v1/task-lists", list).send().await.expect(201));
    let text = "x".repeat(TEXT_BYTES);
    let event = json!({ "title": "x", "start": "2026-03-02T11:00:00Z", "end": "2026-03-02T12:00:00Z", "description": text });
    let contact = json!({ "connectionId": connection, "displayName": "x", "notes": text });
    let task = json!({ "title": "x", "notes": text });
    let (events, tasks) = (format!("/v1/calendars/{calendar}"), format!("/v1/task-lists/{list}"));
    for (made_at, listed_at, feed, body) in [
        (format!("{events}/events"), format!("{events}/events"), Some(format!("{events}/sync")), event),
        ("/v1/contacts".to_owned(), "/v1/contacts".to_owned(), None, contact),
        (format!("{tasks}/tasks"), format!("{tasks}/tasks"), Some(format!("{tasks}/sync")), task),
    ] {
        let mut made = Vec::new();
        for _ in 0..COUNT {
            made.push(id(&api.post(&made_at, body.clone()).send().await.expect(201)));
        }
        assert_split(&listed_at, &pages(&api, &format!("{listed_at}?limit=200"), "id").await, &made);
        let Some(feed) = feed else { continue };
        api.post(format!("{feed}/start"), json!({})).send().await.expect(202);
        let changes = format!("{feed}/changes?limit=500");
        assert_split(&changes, &pages(&api, &changes, "resourceId").await, &made);
        // Without the resources one page has all of them.
        let short = pages(&api, &format!("{changes}&include=none"), "resourceId").await;
        assert_eq!(short.iter().map(Vec::len).collect::<Vec<_>>(), [COUNT], "{feed}");
        // Later changes of them are read from the log.
        let page = api.get(format!("{changes}&include=none")).send().await.expect(200);
        let cursor = page["sync_cursor"].as_str().expect("a cursor");
        for id in &made {
            let body = json!({ "title": "y" });
            api.patch(format!("{listed_at}/{id}"), body).send().await.expect(200);
        }
        assert_split(&changes, &pages_from(&api, &changes, cursor).await, &made);
    }
}

/// The pages of a feed from a cursor on.
async fn pages_from(api: &Actor, path: &str, cursor: &str) -> Vec<Vec<String>> {
    let mut pages = Vec::new();
    let mut cursor = cursor.to_owned();
    loop {
        let page = api.get(format!("{path}&cursor={cursor}")).send().await;
        assert!(page.text.len() <= MAX_PAGE, "{path}: {} bytes", page.text.len());
        let page = page.expect(200);
        let told = page["data"].as_array().expect("a list").iter();
        pages.push(told.map(|c| c["resourceId"].as_str().expect("an id").to_owned()).collect());
        let Some(next) = page["next_cursor"].as_str() else { return pages };
        next.clone_into(&mut cursor);
    }
}
