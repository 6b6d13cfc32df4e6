//! An object that another client renames keeps its id and its metadata, and the feed reports an update.

use harness::Actor;
use reqwest::Method;
use serde_json::{Value, json};

use crate::dav::{connect, put, server, servers};

const CALENDAR: &str = "text/calendar; charset=utf-8";
pub const USER: &str = "t18";

/// A series with one instance that was changed.
const SERIES: &str = "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Renamed//EN\nBEGIN:VEVENT\nUID:renamed\nDTSTAMP:20260101T000000Z\n\
    DTSTART:20270301T090000Z\nDTEND:20270301T100000Z\nRRULE:FREQ=DAILY;COUNT=3\nSUMMARY:Series\nEND:VEVENT\nBEGIN:VEVENT\n\
    UID:renamed\nDTSTAMP:20260101T000000Z\nRECURRENCE-ID:20270302T090000Z\nDTSTART:20270302T110000Z\nDTEND:20270302T120000Z\n\
    SUMMARY:Changed\nEND:VEVENT\nEND:VCALENDAR\n";

pub fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_else(|| panic!("no {field} in {value:#}"))
}

/// Sends a request of another client to a server.
pub async fn ask(url: &str, method: &str, href: &str, destination: Option<&str>) {
    let client = harness::http_client().build().expect("an HTTP client");
    let whole = |href: &str| format!("{}{href}", url.trim_end_matches('/'));
    let method = Method::from_bytes(method.as_bytes()).expect("a method");
    let mut request = client.request(method, whole(href)).basic_auth(USER, Some("secret"));
    if let Some(destination) = destination {
        request = request.header("destination", whole(destination));
    }
    let response = request.send().await.expect("the server answers");
    assert!(response.status().is_success(), "{}", response.status());
}

/// The events of a calendar as the provider has them now, with the series first.
async fn events(api: &Actor, path: &str) -> Vec<Value> {
    let page = api.get(path).header("cache-control", "no-cache").send().await.expect(200);
    page["data"].as_array().expect("a list").clone()
}

/// Returns the changes of a feed since a cursor, sorted, each with its type and the item's id, and the cursor after them.
pub async fn news(api: &Actor, feed: &str, cursor: Option<&str>) -> (Vec<(String, String)>, String) {
    let path = cursor.map_or_else(|| feed.to_owned(), |cursor| format!("{feed}?cursor={cursor}"));
    let page = api.get(path).header("cache-control", "no-cache").send().await.expect(200);
    let changes = page["data"].as_array().expect("a list").iter();
    let told = changes.map(|c| (text(c, "changeType").to_owned(), text(c, "resourceId").to_owned()));
    let mut told: Vec<(String, String)> = told.collect();
    told.sort();
    (told, text(&page, "sync_cursor").to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_keeps_its_id_when_its_object_is_renamed() {
    for (name, url) in servers() {
        let server = server().await;
        let api = server.client().await;
        let connection = connect(&api, &url, USER).await;
        let new =
            json!({ "connectionId": connection["id"], "name": format!("Renamed {name}"), "timeZone": "UTC" });
        let calendar = api.post("/v1/calendars", new).send().await.expect(201);
        let (id, href) = (text(&calendar, "id"), text(&calendar, "externalId"));
        put(&url, USER, href, "first.ics", (CALENDAR, SERIES)).await;
        let path = format!("/v1/calendars/{id}/events");
        let before = events(&api, &path).await;
        assert_eq!(before.len(), 2, "{name}: {before:#?}");
        for event in &before {
            let metadata = json!({ "metadata": { "deal": text(event, "title") } });
            api.patch(format!("{path}/{}", text(event, "id")), metadata).send().await.expect(200);
        }
        api.post(format!("/v1/calendars/{id}/sync/start"), json!({})).send().await.expect(202);
        let feed = format!("/v1/calendars/{id}/sync/changes");
        let mut cursor = news(&api, &feed, None).await.1;
        let mut expected: Vec<(String, String)> =
            before.iter().map(|event| ("updated".to_owned(), text(event, "id").to_owned())).collect();
        expected.sort();

        let hrefs = ["first.ics", "second.ics", "another.ics"].map(|name| format!("{href}{name}"));
        ask(&url, "MOVE", &hrefs[0], Some(&hrefs[1])).await;
        let (told, next) = news(&api, &feed, Some(&cursor)).await;
        assert_eq!(told, expected, "{name}: moved");
        cursor = next;
        ask(&url, "DELETE", &hrefs[1], None).await;
        put(&url, USER, href, "another.ics", (CALENDAR, SERIES)).await;
        assert_eq!(news(&api, &feed, Some(&cursor)).await.0, expected, "{name}: deleted and put again");

        let after = events(&api, &path).await;
        assert_eq!(after.len(), before.len(), "{name}: {after:#?}");
        for (before, after) in before.iter().zip(&after) {
            assert_eq!((&after["id"], &after["seriesId"]), (&before["id"], &before["seriesId"]), "{name}");
            assert_eq!(after["metadata"]["deal"], before["title"], "{name}");
            assert!(text(after, "externalId").starts_with(&hrefs[2]), "{name}: {after:#}");
        }
        api.delete(format!("/v1/calendars/{id}")).send().await.expect(204);
    }
}

/// An object with another UID is a new item, even if another one is deleted at the same time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_object_is_a_new_item_when_another_one_goes() {
    for (name, url) in servers() {
        let server = server().await;
        let api = server.client().await;
        let connection = connect(&api, &url, USER).await;
        let new = json!({ "connectionId": connection["id"], "name": format!("Replaced {name}"), "timeZone": "UTC" });
        let calendar = api.post("/v1/calendars", new).send().await.expect(201);
        let (id, href) = (text(&calendar, "id"), text(&calendar, "externalId"));
        put(&url, USER, href, "first.ics", (CALENDAR, SERIES)).await;
        let path = format!("/v1/calendars/{id}/events");
        let before = events(&api, &path).await;
        ask(&url, "DELETE", &format!("{href}first.ics"), None).await;
        let other = SERIES.replace("UID:renamed", "UID:other");
        put(&url, USER, href, "second.ics", (CALENDAR, &other)).await;
        let after = events(&api, &path).await;
        assert_eq!(after.len(), 2, "{name}: {after:#?}");
        assert!(
            after.iter().all(|new| before.iter().all(|old| old["id"] != new["id"])),
            "{name}: {after:#?}"
        );
        api.delete(format!("/v1/calendars/{id}")).send().await.expect(204);
    }
}
