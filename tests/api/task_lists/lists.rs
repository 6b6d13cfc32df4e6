//! `/v1/task-lists`

use harness::TestServer;
use serde_json::json;

use crate::contacts::people::zoe;

/// A list's life; the default one stays.
#[tokio::test]
async fn a_task_list() {
    let server = TestServer::start().await;
    let (api, connection) = zoe(&server).await;
    let new = json!({ "connectionId": connection, "name": "Garden", "color": "#16a34a" });
    let list = api.post("/v1/task-lists", new).send().await.expect(201);
    for field in "id connectionId externalId name role isOwner isShared readOnly color sortOrder taskCount openCount etag \
                  createdAt updatedAt metadata warnings"
        .split_whitespace()
    {
        assert!(list.get(field).is_some(), "{field}: {list:#}");
    }
    let path = format!("/v1/task-lists/{}", list["id"].as_str().unwrap());
    let tasks = format!("{path}/tasks");
    api.post(&tasks, json!({ "title": "Dig" })).send().await.expect(201);
    api.post(&tasks, json!({ "title": "Done", "status": "completed" })).send().await.expect(201);
    api.all(&tasks).await;
    let read = api.get(&path).send().await.expect(200);
    assert_eq!((&read["taskCount"], &read["openCount"]), (&json!(2), &json!(1)));
    assert_eq!(read["etag"], list["etag"], "counts are no part of the version");
    let same = api.patch(&path, read.clone()).send().await.expect(200);
    assert_eq!(same, read, "what was read can be sent back, and every answer counts");
    let changed = api.patch(&path, json!({ "name": "Allotment", "color": null })).send().await.expect(200);
    assert_eq!(changed["name"], "Allotment");
    let color = api.patch(&path, json!({ "color": "green" })).send().await;
    assert_eq!(color.refused(400, "invalid_parameter")["param"], "color");
    api.delete(&path).if_match(list["etag"].as_str().unwrap()).send().await.refused(409, "stale_etag");
    api.delete(&path).send().await.expect(204);
    api.get(&tasks).send().await.refused(404, "not_found");

    let lists = api.all(&format!("/v1/task-lists?connection_id={connection}")).await;
    let default = lists.iter().find(|l| l["role"] == "default").unwrap();
    let path = format!("/v1/task-lists/{}", default["id"].as_str().unwrap());
    api.delete(path).send().await.refused(409, "invalid_state");
}
