//! `/v1/task-lists/{taskListId}/sync`

use harness::TestServer;
use serde_json::{Value, json};

use crate::contacts::sync::Replica;
use crate::task_lists::tasks::default_list;

/// A replica follows one list; a completion, a step and a parent that comes late are reported as changes of the task.
#[tokio::test]
async fn a_replica_follows_the_list() {
    let server = TestServer::start().await;
    let (api, tasks) = default_list(&server).await;
    let list = tasks.trim_end_matches("/tasks");
    let feed = format!("{list}/sync/changes");
    api.get(&feed).send().await.refused(409, "sync_not_started");
    let state = api.post(format!("{list}/sync/start"), json!({})).send().await.expect(202);
    assert_eq!((&state["surface"], &state["scopeId"]), (&json!("tasks"), &json!(list.rsplit('/').next())));
    let mut replica = Replica::default();
    replica.catch_up(&api, &feed, 3).await;
    assert!(replica.resources.is_empty());
    let task = api.post(&tasks, json!({ "title": "Sow" })).send().await.expect(201);
    let path = format!("{tasks}/{}", task["id"].as_str().unwrap());
    let step =
        api.post(format!("{path}/checklist-items"), json!({ "title": "Seeds" })).send().await.expect(201);
    server.clock.advance_ms(1);
    replica.catch_up(&api, &feed, 3).await;
    assert_eq!(replica.resources.len(), 1);
    let told = &replica.resources[task["id"].as_str().unwrap()];
    assert_eq!(told["checklistItems"][0]["id"], step["id"]);

    let todo = format!("/sandbox/v1/lists/tasks/todos/{}", task["externalId"].as_str().unwrap());
    server.provider("zoe").patch(todo, json!({ "status": "completed" })).send().await.expect(200);
    server.clock.advance_ms(1);
    replica.catch_up(&api, &feed, 3).await;
    assert_eq!(replica.resources[task["id"].as_str().unwrap()]["status"], "completed");
    assert_eq!(replica.resources[task["id"].as_str().unwrap()], api.get(&path).send().await.expect(200));
    api.delete(&path).send().await.expect(204);
    server.clock.advance_ms(1);
    replica.catch_up(&api, &feed, 3).await;
    assert!(replica.resources.is_empty());
    let status = api.get(format!("{list}/sync/status")).send().await.expect(200);
    assert_eq!(status["status"], "caught_up");
    api.post(format!("{list}/sync/reset"), json!({ "mode": "hard" })).send().await.expect(202);
    let old = format!("{feed}?cursor={}", replica.cursor.clone().unwrap());
    api.get(old).send().await.refused(409, "sync_reset_required");
}

/// However often a pull is asked for, one pull is next, and finds what all of them asked for.
#[tokio::test]
async fn pulls_behind_the_scenes() {
    let server = TestServer::builder().without_pulls().start().await;
    let (api, tasks) = default_list(&server).await;
    let list = tasks.trim_end_matches("/tasks");
    let start = format!("{list}/sync/start");
    api.post(&start, json!({})).send().await.expect(202);
    Replica::default().catch_up(&api, &format!("{list}/sync/changes"), 3).await;
    server.pull().await;
    let calls = async || {
        let usage = api.get("/v1/usage").send().await.expect(200);
        usage["sync"]["providerCalls"].as_i64().unwrap()
    };
    let before = calls().await;
    for _ in 0..10 {
        api.post(&start, json!({})).send().await.expect(200);
    }
    assert_eq!(calls().await, before, "no request waits for it");
    server.pull().await;
    assert_eq!(calls().await - before, 1, "asked for ten times");
    server.clock.advance_ms(60_000);
    api.all(&tasks).await;
    assert_eq!(calls().await - before, 2, "somebody waits for this one");
    api.post(format!("{list}/sync/reset"), json!({})).send().await.expect(202);
    server.pull().await;
    assert_eq!(calls().await - before, 3);
    server.pull().await;
    assert_eq!(calls().await - before, 3, "the next one is due in a minute");
}

/// An unreadable record is quarantined and shown; all others go on.
#[tokio::test]
async fn an_unreadable_todo_stops_nothing() {
    let server = TestServer::start().await;
    let (api, tasks) = default_list(&server).await;
    let todos = "/sandbox/v1/lists/tasks/todos";
    let provider = server.provider("zoe");
    provider.post(todos, json!({ "id": "poison", "title": "[sandbox:crash]" })).send().await.expect(201);
    provider.post(todos, json!({ "id": "good", "title": "Good" })).send().await.expect(201);
    let all = api.all(&tasks).await;
    assert_eq!(all.iter().map(|t| &t["title"]).collect::<Vec<_>>(), ["Good"]);
    let status = format!("{}/sync/status", tasks.trim_end_matches("/tasks"));
    let status = api.get(status).send().await.expect(200);
    assert_eq!(
        (&status["itemErrorCount"], &status["itemErrors"][0]["externalId"]),
        (&json!(1), &json!("poison"))
    );
    assert_eq!(status["lastError"], Value::Null);
}
