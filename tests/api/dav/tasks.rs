//! Tasks on real CalDAV servers.

use serde_json::{Value, json};

use crate::dav::{connect, got, put, server, servers};

/// A to-do as another client writes it, with things that no model has.
const FOREIGN: &str = "BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//Elsewhere//Tasks//EN
BEGIN:VTODO
UID:foreign-1
DTSTAMP:20260101T000000Z
SUMMARY:Water the plants
DUE;VALUE=DATE:20270401
PRIORITY:2
PERCENT-COMPLETE:20
CATEGORIES:home,garden
X-OC-HIDESUBTASKS:1
RELATED-TO;RELTYPE=SIBLING:other
BEGIN:VALARM
ACTION:DISPLAY
DESCRIPTION:Alarm
TRIGGER;VALUE=DATE-TIME:20270401T060000Z
END:VALARM
END:VTODO
END:VCALENDAR
";

async fn main_job(name: &str, url: &str, user: &str) {
    let server = server().await;
    let api = server.client().await;
    let connection = connect(&api, url, user).await;
    let new = json!({ "connectionId": connection["id"], "name": "Main job" });
    let list = api.post("/v1/task-lists", new).send().await.expect(201);
    let list_path = format!("/v1/task-lists/{}", list["id"].as_str().expect("an id"));
    let tasks = format!("{list_path}/tasks");
    api.post(format!("{list_path}/sync/start"), json!({})).send().await.expect(202);

    let new = json!({ "title": "Paint", "dueDate": "2027-03-31", "dueTime": "17:00", "timeZone": "Europe/Berlin",
        "priority": "high", "categories": ["home", "a, b"], "reminderAt": "2027-03-31T08:00:00Z" });
    let paint = api.post(&tasks, new.clone()).keyed("p").send().await.expect(201);
    assert_eq!(api.post(&tasks, new).keyed("p").send().await.expect(201), paint);
    assert_eq!((&paint["dueDate"], &paint["dueTime"]), (&json!("2027-03-31"), &json!("17:00")), "{name}");
    let path = format!("{tasks}/{}", paint["id"].as_str().expect("an id"));
    let sub =
        api.post(&tasks, json!({ "title": "Buy paint", "parentId": paint["id"], "dueDate": "2027-03-30" }));
    let sub = sub.send().await.expect(201);
    assert_eq!((&sub["parentId"], &sub["dueTime"]), (&paint["id"], &Value::Null), "{name}");
    let done =
        api.patch(&path, json!({ "status": "completed" })).if_match(paint["etag"].as_str().expect("an etag"));
    let done = done.send().await.expect(200);
    assert_eq!((&done["status"], &done["percentComplete"]), (&json!("completed"), &json!(100)));
    assert!(done["completedAt"].is_string());
    api.patch(&path, json!({ "title": "x" }))
        .if_match(paint["etag"].as_str().expect("an etag"))
        .send()
        .await
        .refused(409, "stale_etag");
    let open = api.patch(&path, json!({ "status": "needsAction" })).send().await.expect(200);
    assert_eq!(open["completedAt"], Value::Null);
    let weekly = json!({ "title": "Bins", "startDate": "2027-03-01", "dueDate": "2027-03-01", "recurrence": ["RRULE:FREQ=WEEKLY"] });
    let weekly = api.post(&tasks, weekly).send().await.expect(201);
    assert_eq!(weekly["recurrence"], json!(["RRULE:FREQ=WEEKLY"]), "{name}");
    let strict = json!({ "title": "Wait", "status": "waiting" });
    api.post(format!("{tasks}?strict=true"), strict.clone())
        .send()
        .await
        .refused(400, "capability_not_supported");
    let lax = api.post(&tasks, strict).send().await.expect(201);
    assert_eq!(lax["warnings"][0]["code"], "field_not_supported", "{name}: {lax:#}");
    let steps = api.post(format!("{path}/checklist-items"), json!({ "title": "Brush" })).send().await;
    steps.refused(400, "capability_not_supported");

    let href = list["externalId"].as_str().expect("an external id");
    put(url, user, href, "foreign.ics", ("text/calendar; charset=utf-8", FOREIGN)).await;
    let listed =
        api.get(format!("{tasks}?q=plants")).header("cache-control", "no-cache").send().await.expect(200);
    let plants = listed["data"][0].clone();
    assert_eq!(
        (&plants["priority"], &plants["dueDate"]),
        (&json!("high"), &json!("2027-04-01")),
        "{name}: {listed:#}"
    );
    assert_eq!(plants["reminderAt"], "2027-04-01T06:00:00.000Z");
    let changed = api.patch(
        format!("{tasks}/{}", plants["id"].as_str().expect("an id")),
        json!({ "title": "Water all plants" }),
    );
    let changed = changed.send().await.expect(200);
    assert_eq!(
        (&changed["title"], &changed["categories"]),
        (&json!("Water all plants"), &plants["categories"])
    );
    let text = got(url, user, plants["externalId"].as_str().expect("an external id")).await;
    for kept in [
        "X-OC-HIDESUBTASKS:1",
        "PRIORITY:2",
        "RELTYPE=SIBLING",
        "DUE;VALUE=DATE:20270401",
        "PERCENT-COMPLETE:20",
    ] {
        assert!(text.contains(kept), "{name}: {kept} is gone:\n{text}");
    }

    let told = api.get(format!("{list_path}/sync/changes?limit=500")).send().await.expect(200);
    let cursor = told["sync_cursor"].as_str().expect("a cursor");
    api.delete(&path).send().await.expect(204);
    let told =
        api.get(format!("{list_path}/sync/changes?cursor={cursor}")).header("cache-control", "no-cache");
    let told = told.send().await.expect(200);
    let mut kinds: Vec<&str> =
        told["data"].as_array().expect("a list").iter().filter_map(|c| c["changeType"].as_str()).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["deleted", "updated"], "{name}: the subtask has no parent any more: {told:#}");
    let read = api.get(&list_path).send().await.expect(200);
    assert_eq!(read["taskCount"], 4, "{name}: {read:#}");
    api.delete(&list_path).send().await.expect(204);
    api.get(&tasks).send().await.refused(404, "not_found");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_on_real_servers() {
    for (name, url) in servers() {
        main_job(name, &url, "t08").await;
    }
}
