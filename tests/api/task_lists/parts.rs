//! `/v1/task-lists/{taskListId}/tasks/{taskId}/checklist-items` and `…/links`

use harness::TestServer;
use serde_json::{Value, json};

use crate::task_lists::tasks::default_list;

#[tokio::test]
async fn checklist_items() {
    let server = TestServer::start().await;
    let (api, tasks) = default_list(&server).await;
    let task = api.post(&tasks, json!({ "title": "Pack" })).send().await.expect(201);
    let task_path = format!("{tasks}/{}", task["id"].as_str().unwrap());
    let steps = format!("{task_path}/checklist-items");
    let socks = api.post(&steps, json!({ "title": "Socks" })).keyed("s").send().await.expect(201);
    for field in "id taskId title checked checkedAt position createdAt etag warnings".split_whitespace() {
        assert!(socks.get(field).is_some(), "{field}: {socks:#}");
    }
    assert_eq!(socks["taskId"], task["id"]);
    assert!(socks["id"].as_str().unwrap().starts_with("chk_"));
    let again = api.post(&steps, json!({ "title": "Socks" })).keyed("s").send().await.expect(201);
    assert_eq!(again, socks);
    let map = api.post(&steps, json!({ "title": "Map", "checked": true })).send().await.expect(201);
    let listed = api.all(&format!("{steps}?limit=1")).await;
    assert_eq!(listed.iter().map(|s| &s["title"]).collect::<Vec<_>>(), ["Socks", "Map"]);
    let read = api.get(&task_path).send().await.expect(200);
    assert_eq!(read["checklistItems"], json!(listed), "the task has them, too");
    assert_ne!(read["etag"], task["etag"]);

    let path = format!("{steps}/{}", socks["id"].as_str().unwrap());
    let ticked = api.patch(&path, json!({ "checked": true })).if_match(socks["etag"].as_str().unwrap());
    let ticked = ticked.send().await.expect(200);
    assert!(ticked["checkedAt"].is_string(), "{ticked:#}");
    assert_eq!(ticked["id"], socks["id"]);
    let stale = api.patch(&path, json!({ "title": "x", "etag": socks["etag"] })).send().await;
    assert_eq!(stale.refused(409, "stale_etag")["current_etag"], ticked["etag"]);
    let unticked =
        api.patch(&path, json!({ "checked": false, "title": "Warm socks" })).send().await.expect(200);
    assert_eq!((&unticked["checkedAt"], &unticked["title"]), (&Value::Null, &json!("Warm socks")));
    let empty = api.patch(&path, json!({ "title": " " })).send().await;
    assert_eq!(empty.refused(400, "missing_field")["param"], "title");
    api.delete(&path).send().await.expect(204);
    api.patch(&path, json!({ "title": "x" })).send().await.refused(404, "not_found");
    assert_eq!(api.all(&steps).await.iter().map(|s| &s["id"]).collect::<Vec<_>>(), [&map["id"]]);
    let nameless = api.post(&steps, json!({ "checked": true })).send().await;
    assert_eq!(nameless.refused(400, "missing_field")["param"], "title");
}

#[tokio::test]
async fn links() {
    let server = TestServer::start().await;
    let (api, tasks) = default_list(&server).await;
    let task = api.post(&tasks, json!({ "title": "Call Ada" })).send().await.expect(201);
    let links = format!("{tasks}/{}/links", task["id"].as_str().unwrap());
    let page =
        json!({ "url": "https://example.org/ticket/7", "title": "Ticket", "applicationName": "Tracker" });
    let page = api.post(&links, page).send().await.expect(201);
    for field in "id taskId url title applicationName externalId resourceType resourceId createdAt warnings"
        .split_whitespace()
    {
        assert!(page.get(field).is_some(), "{field}: {page:#}");
    }
    assert_eq!((&page["resourceType"], &page["taskId"]), (&json!("url"), &task["id"]));
    let contact = json!({ "connectionId": task["connectionId"], "displayName": "Ada" });
    let contact = api.post("/v1/contacts", contact).send().await.expect(201);
    let about = json!({ "resource_type": "contact", "resource_id": contact["id"], "title": "Ada" });
    let about = api.post(&links, about).send().await.expect(201);
    assert_eq!((&about["resourceType"], &about["resourceId"]), (&json!("contact"), &contact["id"]));
    let listed = api.all(&links).await;
    assert_eq!(listed.len(), 2);
    for (body, field, code) in [
        (json!({}), "url", "missing_field"),
        (json!({ "url": "https://a.example", "resourceId": "con_1" }), "resourceId", "conflicting_fields"),
        (json!({ "url": "javascript:alert(1)" }), "url", "invalid_url"),
        (json!({ "resourceId": contact["id"] }), "resourceType", "missing_field"),
        (
            json!({ "resourceType": "calendar_event", "resourceId": contact["id"] }),
            "resourceId",
            "invalid_parameter",
        ),
        (json!({ "resourceType": "boat", "url": "https://a.example" }), "resourceType", "invalid_parameter"),
    ] {
        assert_eq!(api.post(&links, body).send().await.refused(400, code)["param"], field);
    }
    api.delete(format!("{links}/{}", page["id"].as_str().unwrap())).send().await.expect(204);
    let left = api.all(&links).await;
    assert_eq!(left.iter().map(|l| &l["id"]).collect::<Vec<_>>(), [&about["id"]]);
}

/// A link names only what its key may read: a key that may only write tasks does not learn of other resources.
#[tokio::test]
async fn a_link_needs_the_right_to_read_what_it_names() {
    let server = TestServer::start().await;
    let (api, tasks) = default_list(&server).await;
    let task = api.post(&tasks, json!({ "title": "Call Ada" })).send().await.expect(201);
    let links = format!("{tasks}/{}/links", task["id"].as_str().unwrap());
    let contact = json!({ "connectionId": task["connectionId"], "displayName": "Ada" });
    let contact = api.post("/v1/contacts", contact).send().await.expect(201);
    let about = |id: &Value| json!({ "resourceType": "contact", "resourceId": id });
    let weak = server.client_with(&["tasks.write", "calendar.write"]).await;
    for id in [&contact["id"], &json!("con_00000000000000000000000000")] {
        let refused = weak.post(&links, about(id)).send().await.refused(403, "insufficient_scope");
        assert_eq!(refused["param"], "resourceId", "{refused:#}");
    }
    assert_eq!(api.all(&links).await, Vec::<Value>::new());
    let both = server.client_with(&["tasks.write", "contacts.read"]).await;
    both.post(&links, about(&contact["id"])).send().await.expect(201);
}
