//! `/v1/task-lists/{taskListId}/tasks`

use harness::{Actor, TestServer};
use serde_json::{Value, json};

use crate::contacts::people::zoe;

pub async fn default_list(server: &TestServer) -> (Actor, String) {
    let (api, connection) = zoe(server).await;
    let list = api.named(&format!("/v1/task-lists?connection_id={connection}"), "Tasks").await;
    (api, format!("/v1/task-lists/{list}/tasks"))
}

fn path_of(tasks: &str, task: &Value) -> String {
    format!("{tasks}/{}", task["id"].as_str().expect("an id"))
}

/// Every field of a task, present even where it is not set.
const FIELDS: &str = "id taskListId connectionId externalId parentId title notes notesFormat status priority percentComplete \
    startDate dueDate dueTime timeZone completedAt reminderAt recurrence categories assignees position hasAttachments \
    checklistItems links webUrl etag createdAt updatedAt metadata warnings";

#[tokio::test]
async fn create_a_task() {
    let server = TestServer::start().await;
    let (api, tasks) = default_list(&server).await;
    let body = json!({
        "title": "File taxes", "notes": "with receipts", "priority": "high", "percent_complete": 10,
        "start_date": "2026-03-01", "due_date": "2026-03-31", "due_time": "17:00", "time_zone": "Europe/Berlin",
        "reminder_at": "2026-03-30T09:00:00+02:00", "recurrence": ["RRULE:FREQ=YEARLY"], "categories": ["money"],
        "assignees": [{ "email": "bob@sandbox.test", "name": "Bob" }], "metadata": { "case": "7" }
    });
    let created = api.post(&tasks, body).keyed("t").send().await;
    assert!(created.header("location").is_some_and(|l| l.starts_with(&format!("{tasks}/tsk_"))), "{created}");
    let task = created.expect(201);
    let missing: Vec<&str> = FIELDS.split_whitespace().filter(|f| task.get(f).is_none()).collect();
    assert!(missing.is_empty(), "fields that are not there: {missing:?}");
    assert_eq!(
        (&task["dueDate"], &task["dueTime"], &task["timeZone"]),
        (&json!("2026-03-31"), &json!("17:00"), &json!("Europe/Berlin"))
    );
    assert_eq!(task["reminderAt"], "2026-03-30T07:00:00.000Z");
    assert_eq!(task["assignees"][0]["name"], "Bob");
    assert_eq!((&task["status"], &task["priority"]), (&json!("needsAction"), &json!("high")));
    assert_eq!(api.get(path_of(&tasks, &task)).send().await.expect(200), task);
}

/// A completion sets the time and is reported as one; reopening removes it.
#[tokio::test]
async fn complete_and_reopen() {
    let server = TestServer::start().await;
    let (api, tasks) = default_list(&server).await;
    let task = api.post(&tasks, json!({ "title": "Sweep" })).send().await.expect(201);
    let path = path_of(&tasks, &task);
    server.clock.advance_ms(60_000);
    let done = api.patch(&path, json!({ "status": "completed" })).send().await.expect(200);
    assert_eq!(
        (&done["completedAt"], &done["percentComplete"]),
        (&json!("2026-03-01T08:01:00.000Z"), &json!(100))
    );
    let open = api.patch(&path, json!({ "status": "inProgress" })).send().await.expect(200);
    assert_eq!((&open["completedAt"], &open["percentComplete"]), (&Value::Null, &Value::Null));
    let refused = api.patch(&path, json!({ "completedAt": "2026-03-01T00:00:00Z" })).send().await;
    assert_eq!(refused.refused(400, "invalid_parameter")["param"], "completedAt");
}

/// Subtasks name their parent; a circle, or a parent in another list, is refused.
#[tokio::test]
async fn subtasks() {
    let server = TestServer::start().await;
    let (api, tasks) = default_list(&server).await;
    let parent = api.post(&tasks, json!({ "title": "House" })).send().await.expect(201);
    let child =
        api.post(&tasks, json!({ "title": "Roof", "parentId": parent["id"] })).send().await.expect(201);
    let leaf = api.post(&tasks, json!({ "title": "Tile", "parentId": child["id"] })).send().await.expect(201);
    assert_eq!(leaf["parentId"], child["id"]);
    let listed = api.all(&format!("{tasks}?parent_id={}", parent["id"].as_str().unwrap())).await;
    assert_eq!(listed, std::slice::from_ref(&child));
    for unknown in ["x", "tsk_00000000000000000000000000", parent["taskListId"].as_str().unwrap()] {
        let error =
            api.get(format!("{tasks}?parent_id={unknown}")).send().await.refused(400, "invalid_parameter");
        assert_eq!(error["param"], "parent_id", "{error:#}");
    }
    let circle = api.patch(path_of(&tasks, &parent), json!({ "parentId": leaf["id"] })).send().await;
    assert_eq!(circle.refused(400, "invalid_parameter")["param"], "parentId");
    let own = api.patch(path_of(&tasks, &parent), json!({ "parentId": parent["id"] })).send().await;
    assert_eq!(own.refused(400, "invalid_parameter")["param"], "parentId");
    let freed = api.patch(path_of(&tasks, &leaf), json!({ "parentId": null })).send().await.expect(200);
    assert_eq!(freed["parentId"], Value::Null);
    api.delete(path_of(&tasks, &parent)).send().await.expect(204);
    let left = api.all(&tasks).await;
    assert_eq!(left.len(), 1, "the provider deletes what is below: {left:#?}");
}

#[tokio::test]
async fn a_patch_is_a_merge_patch() {
    let server = TestServer::start().await;
    let (api, tasks) = default_list(&server).await;
    let body =
        json!({ "title": "Call", "dueDate": "2026-03-05", "dueTime": "09:30", "categories": ["a", "b"] });
    let task = api.post(&tasks, body).send().await.expect(201);
    assert_eq!(task["timeZone"], "UTC", "the list's own");
    let path = path_of(&tasks, &task);
    let changed = api
        .patch(&path, json!({ "dueDate": null, "categories": ["c"], "notes": "now" }))
        .send()
        .await
        .expect(200);
    assert_eq!((&changed["dueDate"], &changed["dueTime"]), (&Value::Null, &Value::Null));
    assert_eq!(changed["categories"], json!(["c"]));
    assert_eq!(changed["title"], "Call");
    let stale =
        api.patch(&path, json!({ "title": "x" })).if_match(task["etag"].as_str().unwrap()).send().await;
    assert_eq!(stale.refused(409, "stale_etag")["current_etag"], changed["etag"]);
    let same = api.patch(&path, json!({ "notes": "now" })).send().await.expect(200);
    assert_eq!(same["etag"], changed["etag"]);
}

#[tokio::test]
async fn misfits_are_told_by_field() {
    let server = TestServer::start().await;
    let (api, tasks) = default_list(&server).await;
    let cases = [
        (json!({}), "title", "missing_field"),
        (json!({ "title": "x".repeat(1_025) }), "title", "invalid_parameter"),
        (json!({ "title": "a", "dueDate": "2026-02-30" }), "dueDate", "invalid_parameter"),
        (json!({ "title": "a", "dueDate": "tomorrow" }), "dueDate", "invalid_parameter"),
        (
            json!({ "title": "a", "dueDate": "2026-03-01", "dueTime": "25:00" }),
            "dueTime",
            "invalid_parameter",
        ),
        (json!({ "title": "a", "dueTime": "12:00" }), "dueDate", "missing_field"),
        (
            json!({ "title": "a", "dueDate": "2026-03-01", "timeZone": "Berlin" }),
            "timeZone",
            "invalid_time_zone",
        ),
        (
            json!({ "title": "a", "startDate": "2026-03-02", "dueDate": "2026-03-01" }),
            "startDate",
            "invalid_time_range",
        ),
        (json!({ "title": "a", "percentComplete": 101 }), "percentComplete", "invalid_parameter"),
        (json!({ "title": "a", "status": "someday" }), "status", "invalid_parameter"),
        (json!({ "title": "a", "priority": "urgent" }), "priority", "invalid_parameter"),
        (json!({ "title": "a", "notes": "x".repeat(1 << 20) }), "notes", "invalid_parameter"),
        (
            json!({ "title": "a", "recurrence": ["RRULE:FREQ=SOMETIMES"] }),
            "recurrence[0]",
            "invalid_recurrence",
        ),
        (json!({ "title": "a", "categories": vec!["c"; 101] }), "categories", "invalid_parameter"),
        (json!({ "title": "a", "assignees": [{}] }), "assignees[0].email", "missing_field"),
        (json!({ "title": "a", "parentId": "tsk_none" }), "parentId", "invalid_parameter"),
        (json!({ "title": "a", "reminderAt": "1066-10-14T09:00:00Z" }), "reminderAt", "invalid_parameter"),
        (
            json!({ "title": "a", "checklistItems": [{ "title": "b" }] }),
            "checklistItems",
            "invalid_parameter",
        ),
    ];
    for (body, field, code) in cases {
        let refused = api.post(&tasks, body).send().await;
        assert_eq!(refused.refused(400, code)["param"], field);
    }
    assert!(api.all(&tasks).await.is_empty());
}

/// Tasks are sorted by position, if there is one; filters, and words in any field of a task.
#[tokio::test]
async fn lists_and_filters() {
    let server = TestServer::start().await;
    let (api, tasks) = default_list(&server).await;
    for body in [
        json!({ "title": "third" }),
        json!({ "title": "second", "position": "b", "dueDate": "2026-03-05", "categories": ["home"] }),
        json!({ "title": "first", "position": "a", "dueDate": "2026-03-10", "notes": "Grüße an José" }),
        json!({ "title": "fourth", "status": "completed", "dueDate": "2026-03-05" }),
    ] {
        api.post(&tasks, body).send().await.expect(201);
        server.clock.advance_ms(1);
    }
    let titles = |all: Vec<Value>| -> Vec<String> {
        all.iter().map(|t| t["title"].as_str().unwrap().to_owned()).collect()
    };
    for (query, found) in [
        ("", vec!["first", "second", "third", "fourth"]),
        ("?limit=1", vec!["first", "second", "third", "fourth"]),
        ("?status=completed", vec!["fourth"]),
        ("?open=true", vec!["first", "second", "third"]),
        ("?open=false", vec!["fourth"]),
        ("?due_before=2026-03-10", vec!["second", "fourth"]),
        ("?due_after=2026-03-10", vec!["first"]),
        ("?due_after=2026-03-05&due_before=2026-03-06&open=true", vec!["second"]),
        ("?category=home", vec!["second"]),
        ("?q=grusse+jose", vec!["first"]),
        ("?q=home", vec!["second"]),
        ("?updated_after=2026-03-02", vec![]),
    ] {
        assert_eq!(titles(api.all(&format!("{tasks}{query}")).await), found, "{query}");
    }
    for param in ["status=never", "due_after=soon", "open=maybe"] {
        let name = param.split('=').next().unwrap();
        let refused = api.get(format!("{tasks}?{param}")).send().await;
        assert_eq!(refused.refused(400, "invalid_parameter")["param"], name);
    }
}
