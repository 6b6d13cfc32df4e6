//! A recurring task that is moved keeps its holes on real CalDAV servers.

use serde_json::{Value, json};

use crate::dav::{connect, got, put, server, servers};

/// Every Monday but one, as another client writes it.
const BINS: &str = "BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//Elsewhere//Tasks//EN
BEGIN:VTODO
UID:moved-task-bins
DTSTAMP:20260101T000000Z
SUMMARY:Bins
DTSTART;VALUE=DATE:20270301
DUE;VALUE=DATE:20270301
RRULE:FREQ=WEEKLY;BYDAY=MO
EXDATE;VALUE=DATE:20270315
END:VTODO
END:VCALENDAR
";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_moved_task_keeps_its_holes() {
    for (name, url) in servers() {
        let server = server().await;
        let api = server.client().await;
        let connection = connect(&api, &url, "t11").await;
        let new = json!({ "connectionId": connection["id"], "name": format!("Moved {name}") });
        let list = api.post("/v1/task-lists", new).send().await.expect(201);
        let (id, href) = (list["id"].as_str().expect("an id"), list["externalId"].as_str().expect("a path"));
        put(&url, "t11", href, "bins.ics", ("text/calendar; charset=utf-8", BINS)).await;
        let tasks = format!("/v1/task-lists/{id}/tasks");
        let page = api.get(&tasks).header("cache-control", "no-cache").send().await.expect(200);
        let path = format!("{tasks}/{}", page["data"][0]["id"].as_str().expect("an id"));

        let wednesday = json!({ "startDate": "2027-03-03", "dueDate": "2027-03-03" });
        let moved = api.patch(&path, wednesday).send().await.expect(200);
        assert_eq!(moved["warnings"].as_array().map_or(0, Vec::len), 0, "{name}: {moved:#}");
        let expected = json!(["RRULE:FREQ=WEEKLY;BYDAY=WE", "EXDATE;VALUE=DATE:20270317"]);
        assert_eq!(moved["recurrence"], expected, "{name}");
        let stored = got(&url, "t11", &format!("{href}bins.ics")).await;
        assert!(stored.contains("20270317") && !stored.contains("20270315"), "{name}: {stored}");

        // A week later on the same day, the excluded instance stays.
        let later = json!({ "startDate": "2027-03-10", "dueDate": "2027-03-10" });
        let moved: Value = api.patch(&path, later).send().await.expect(200);
        assert_eq!(moved["recurrence"], expected, "{name}");
        api.delete(format!("/v1/task-lists/{id}")).send().await.expect(204);
    }
}
