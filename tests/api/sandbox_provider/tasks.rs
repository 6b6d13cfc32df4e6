//! Task lists and todos of the sandbox provider.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use crate::sandbox_provider::{Api, merged};

const LISTS: &str = "/sandbox/v1/lists";
const TODOS: &str = "/sandbox/v1/lists/tasks/todos";

fn paint() -> Value {
    json!({ "id": "paint", "title": "Paint the fence", "dueDate": "2026-03-12" })
}

#[tokio::test]
async fn seeded_lists() {
    let api = Api::start();
    let lists = api.get(LISTS).await.expect(200);
    let (main, personal) = (&lists["lists"][0], &lists["lists"][1]);
    assert_eq!(
        (&main["name"], &main["role"], &main["sortOrder"]),
        (&json!("Tasks"), &json!("default"), &json!(0))
    );
    assert_eq!((&personal["name"], &personal["role"]), (&json!("Personal"), &Value::Null));
    let (mut todos, _) = api.walk_path(TODOS, "").await;
    assert_eq!((main["taskCount"].as_u64().unwrap(), main["openCount"].as_u64().unwrap()), (17, 14));
    todos.extend(api.walk_path(&format!("{LISTS}/personal/todos"), "").await.0);
    assert_eq!(todos.len(), 25);
    let has = |test: &dyn Fn(&Value) -> bool| todos.iter().filter(|t| test(t)).count();
    assert!(has(&|t| !t["parentId"].is_null()) > 2);
    assert!(has(&|t| !t["completedAt"].is_null()) > 2);
    assert!(has(&|t| t["recurrence"] != json!([])) > 2);
    assert!(
        has(&|t| { t["dueDate"].as_str().is_some_and(|d| d < "2026-03-10") && t["status"] == "needsAction" })
            > 1
    );
    assert!(has(&|t| t["checklistItems"] != json!([])) > 1);
    assert!(has(&|t| t["links"] != json!([])) > 1);
    let fresh = api.as_person("ci-4711");
    assert_eq!(fresh.get(LISTS).await.expect(200)["lists"].as_array().unwrap().len(), 1);
    assert_eq!(fresh.walk_path(TODOS, "").await.0.len(), 0);
}

#[tokio::test]
async fn lists() {
    let api = Api::start();
    let path = format!("{LISTS}/side");
    let made = api
        .post(LISTS, json!({ "id": "side", "name": "Side", "color": "#aabbcc", "sortOrder": 7 }))
        .await
        .expect(201);
    assert_eq!((&made["isOwner"], &made["sortOrder"]), (&json!(true), &json!(7)));
    let etag = made["etag"].as_str().unwrap();
    api.send("PATCH", &path, &[("if-match", etag)], Some(json!({ "name": "Aside" }))).await.expect(200);
    api.send("PATCH", &path, &[("if-match", etag)], Some(json!({ "sortOrder": 1 })))
        .await
        .refused(412, "stale");
    api.patch(&path, json!({ "color": "red" })).await.refused(422, "invalidField");
    api.post(&format!("{path}/todos"), paint()).await.expect(201);
    api.delete(&path).await.expect(204);
    api.get(&path).await.refused(404, "notFound");
    api.delete(&format!("{LISTS}/tasks")).await.refused(409, "mainList");
}

#[tokio::test]
async fn one_todo() {
    let api = Api::start();
    let made = api.post(TODOS, paint()).await;
    assert_eq!(made.headers["etag"], made.body["todo"]["etag"].as_str().unwrap());
    let todo = made.expect(201)["todo"].clone();
    assert_eq!(
        (&todo["status"], &todo["completedAt"], &todo["taskListId"]),
        (&json!("needsAction"), &Value::Null, &json!("tasks"))
    );
    assert_eq!(todo["webUrl"], "https://tasks.sandbox.test/tasks/paint");

    let path = format!("{TODOS}/paint");
    api.now_ms.fetch_add(1000, Ordering::Relaxed);
    let done = api.patch(&path, json!({ "status": "completed" })).await.expect(200);
    assert_eq!(done["todo"]["completedAt"], "2026-03-10T07:00:01.000Z");
    api.now_ms.fetch_add(1000, Ordering::Relaxed);
    let still = api.patch(&path, json!({ "status": "completed" })).await.expect(200);
    assert_eq!(still["todo"], done["todo"], "done once is done");
    let reopened =
        api.patch(&path, json!({ "status": "inProgress", "percentComplete": 30 })).await.expect(200);
    let reopened = &reopened["todo"];
    assert_eq!((&reopened["completedAt"], &reopened["percentComplete"]), (&Value::Null, &json!(30)));
    let stale = todo["etag"].as_str().unwrap();
    api.send("PATCH", &path, &[("if-match", stale)], Some(json!({ "title": "P" })))
        .await
        .refused(412, "stale");
    api.send("DELETE", &path, &[("if-match", stale)], None).await.refused(412, "stale");

    // The time goes with its day.
    let due =
        json!({ "dueTime": "17:30", "timeZone": "Europe/Berlin", "reminderAt": "2026-03-12T09:00:00+01:00" });
    let due = api.patch(&path, due).await.expect(200);
    assert_eq!((&due["todo"]["dueDate"], &due["todo"]["dueTime"]), (&json!("2026-03-12"), &json!("17:30")));
    assert_eq!(due["todo"]["reminderAt"], "2026-03-12T08:00:00.000Z");
    let never = api.patch(&path, json!({ "dueDate": null })).await.expect(200);
    let never = &never["todo"];
    assert_eq!((&never["dueTime"], &never["timeZone"]), (&Value::Null, &json!("Europe/Berlin")));
    assert_eq!(api.delete(&path).await.expect(200), json!({ "todo": null, "others": [], "dropped": [] }));
}

/// A refusal names the field.
#[tokio::test]
async fn wrong_todos() {
    let api = Api::start();
    let cases = [
        (json!({ "dueDate": "2026-03-12" }), "title"),
        (merged(paint(), json!({ "percentComplete": 101 })), "percentComplete"),
        (merged(paint(), json!({ "status": "asleep" })), "status"),
        (merged(paint(), json!({ "dueDate": null, "dueTime": "09:00" })), "dueTime"),
        (merged(paint(), json!({ "dueDate": "tomorrow" })), "dueDate"),
        (merged(paint(), json!({ "dueTime": "9" })), "dueTime"),
        (merged(paint(), json!({ "timeZone": "Mars" })), "timeZone"),
        (merged(paint(), json!({ "startDate": "2026-02-30" })), "startDate"),
        (merged(paint(), json!({ "reminderAt": "noon" })), "reminderAt"),
        (merged(paint(), json!({ "recurrence": ["RRULE:FREQ=HOURS"] })), "recurrence"),
        (merged(paint(), json!({ "categories": vec!["t"; 101] })), "categories"),
        (merged(paint(), json!({ "subject": "S" })), "subject"),
        (merged(paint(), json!({ "title": "[sandbox:invalid]" })), "title"),
    ];
    for (body, field) in cases {
        let refused = api.post(TODOS, body).await;
        assert_eq!(refused.body["error"]["field"], field, "{}", refused.body);
        refused.refused(422, "invalidField");
    }
}

/// A child todo is in the same list and never below itself; it is deleted with its parent.
#[tokio::test]
async fn parents() {
    let api = Api::start();
    api.post(TODOS, paint()).await.expect(201);
    let below = |id: &str, parent: &str| json!({ "id": id, "title": id, "parentId": parent });
    api.post(TODOS, below("brush", "paint")).await.expect(201);
    api.post(TODOS, below("shop", "brush")).await.expect(201);
    api.post(TODOS, below("lost", "groceries")).await.refused(400, "notAParent");
    api.patch(&format!("{TODOS}/paint"), json!({ "parentId": "shop" })).await.refused(400, "notAParent");
    api.patch(&format!("{TODOS}/paint"), json!({ "parentId": "paint" })).await.refused(400, "notAParent");
    let (_, token) = api.walk_path(TODOS, "").await;
    let gone = api.delete(&format!("{TODOS}/paint")).await.expect(200);
    assert_eq!(gone["dropped"], json!(["brush", "shop"]));
    let (changes, _) = api.walk_path(TODOS, &format!("syncToken={token}")).await;
    assert!(changes.len() == 3 && changes.iter().all(|c| c["deleted"] == true));
}

/// Steps and links live inside the todo and change with it.
#[tokio::test]
async fn steps_and_links() {
    let api = Api::start();
    let first = api.post(TODOS, paint()).await.expect(201)["todo"].clone();
    let steps = format!("{TODOS}/paint/steps");
    let body = || Some(json!({ "id": "sand", "title": "Sand it", "position": "b" }));
    let etag = first["etag"].as_str().unwrap();
    let headers = [("if-match", etag), ("idempotency-key", "s1")];
    let made = api.send("POST", &steps, &headers, body()).await.expect(201);
    assert_eq!(
        api.send("POST", &steps, &headers, body()).await.expect(201),
        made,
        "a repetition is no stale change"
    );
    assert_eq!(made["part"], "sand");
    let step = &made["todo"]["checklistItems"][0];
    let now = "2026-03-10T07:00:00.000Z";
    let expected = json!({
        "id": "sand", "taskId": "paint", "title": "Sand it", "checked": false, "checkedAt": null, "position": "b",
        "createdAt": now, "etag": made["todo"]["etag"],
    });
    assert_eq!(*step, expected);
    assert_ne!(made["todo"]["etag"], first["etag"]);
    api.post(&steps, body().unwrap()).await.refused(409, "exists");
    api.send("POST", &steps, &[("if-match", etag)], body()).await.refused(412, "stale");
    api.post(&steps, json!({ "title": "" })).await.refused(422, "invalidField");
    let path = format!("{steps}/sand");
    let done = api.patch(&path, json!({ "checked": true })).await.expect(200);
    assert_eq!(
        (&done["todo"]["checklistItems"][0]["checkedAt"], &done["part"]),
        (&json!(now), &json!("sand"))
    );
    let open = api.patch(&path, json!({ "checked": false, "title": "Sand" })).await.expect(200);
    assert_eq!(open["todo"]["checklistItems"][0]["checkedAt"], Value::Null);
    assert_eq!(api.delete(&path).await.expect(200)["todo"]["checklistItems"], json!([]));
    api.delete(&path).await.refused(404, "notFound");
    api.patch(&path, json!({ "checked": true })).await.refused(404, "notFound");

    let links = format!("{TODOS}/paint/links");
    api.post(&links, json!({ "title": "nowhere" })).await.refused(422, "invalidField");
    let made = api
        .post(
            &links,
            json!({ "resourceType": "email_message", "externalId": "<m@x>", "applicationName": "Mail" }),
        )
        .await
        .expect(201);
    let id = made["part"].as_str().unwrap();
    assert_eq!(made["todo"]["links"][0]["id"], id);
    // A todo is written without its parts; parts in the request are ignored.
    let kept =
        api.patch(&format!("{TODOS}/paint"), json!({ "links": [], "position": "7" })).await.expect(200);
    assert_eq!(kept["todo"]["links"], made["todo"]["links"]);
    assert_eq!(api.delete(&format!("{links}/{id}")).await.expect(200)["todo"]["links"], json!([]));
    for number in 0..100 {
        api.post(&steps, json!({ "title": format!("s{number}") })).await.expect(201);
    }
    api.post(&steps, json!({ "title": "one more" })).await.refused(422, "invalidField");
    // A task is as large as one request at most, however many made it so.
    let (path, large) = (format!("{TODOS}/paint"), "x".repeat(1_000_000));
    api.patch(&path, json!({ "categories": [large] })).await.expect(200);
    api.patch(&path, json!({ "assignees": [{ "name": large }] })).await.refused(507, "quotaExceeded");
}

#[tokio::test]
async fn trouble_and_restart() {
    let dir = tempfile::tempdir().unwrap();
    let api = Api::open(Some(dir.path()));
    let (_, token) = api.walk_path(TODOS, "").await;
    let lost = json!({ "id": "lost", "title": "[sandbox:lost-answer]" });
    let key = [("idempotency-key", "k")];
    assert_eq!(api.send("POST", TODOS, &key, Some(lost.clone())).await.body, Value::Null);
    let again = api.send("POST", TODOS, &key, Some(lost.clone())).await.expect(201);
    assert_eq!(again["todo"]["id"], "lost");
    api.post(TODOS, json!({ "title": "[sandbox:unavailable]" })).await.refused(503, "unavailable");
    api.post(&format!("{TODOS}/lost/steps"), json!({ "id": "step", "title": "S" })).await.expect(201);
    api.delete(&format!("{TODOS}/invoice")).await.expect(200);
    api.delete(&format!("{LISTS}/personal")).await.expect(204);
    let (before, _) = api.walk_path(TODOS, "").await;
    api.post("/sandbox/faults", json!({ "garbled": true })).await.expect(201);
    let page = api.get(TODOS).await.expect(200);
    assert!(page["todos"].as_array().unwrap().iter().all(|t| t["recurrence"] == 42));
    drop(api);

    let api = Api::open(Some(dir.path()));
    assert_eq!(api.walk_path(TODOS, "").await.0, before);
    let (changes, _) = api.walk_path(TODOS, &format!("syncToken={token}")).await;
    assert_eq!((changes.len(), &changes[1]["deleted"]), (2, &json!(true)));
    assert_eq!(api.get(LISTS).await.expect(200)["lists"].as_array().unwrap().len(), 1);
    assert_eq!(
        api.send("POST", TODOS, &key, Some(lost)).await.expect(201)["todo"]["checklistItems"][0]["id"],
        "step"
    );
    api.send("POST", "/sandbox/reset", &[], None).await.expect(204);
    assert_eq!(api.get(LISTS).await.expect(200)["lists"].as_array().unwrap().len(), 2);
    api.get(&format!("{TODOS}?syncToken={token}")).await.refused(410, "syncTokenExpired");
}
