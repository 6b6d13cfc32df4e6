//! Tenants are isolated: another tenant's resource gets the same answer as one that never existed.

use harness::TestServer;
use serde_json::{Value, json};

/// Every way to name another application's resource answers as if it did not exist.
#[tokio::test]
async fn another_applications_resources_do_not_exist() {
    let server = TestServer::start().await;
    let owner = server.key("owner", |_| {}).await;
    let stranger = server.key("stranger", |_| {}).await;
    let connection = owner.connect_sandbox().await;
    let calendar = owner.calendar(&connection, "Work").await;
    let id = connection["id"].as_str().expect("an id").to_owned();
    let event = owner.all(&format!("/v1/calendars/{calendar}/events")).await[0]["id"].clone();
    let event = event.as_str().expect("an id").to_owned();

    let times = json!({ "title": "x", "start": "2026-03-02T11:00:00Z", "end": "2026-03-02T12:00:00Z" });
    for (path, never) in [
        (format!("/v1/connections/{id}"), "/v1/connections/conn_00000000000000000000000000".to_owned()),
        (format!("/v1/calendars/{calendar}"), "/v1/calendars/cal_00000000000000000000000000".to_owned()),
        (
            format!("/v1/calendars/{calendar}/events/{event}"),
            "/v1/calendars/cal_00000000000000000000000000/events/evt_00000000000000000000000000".to_owned(),
        ),
        (
            format!("/v1/calendars/{calendar}/sync/changes"),
            "/v1/calendars/cal_00000000000000000000000000/sync/changes".to_owned(),
        ),
    ] {
        let theirs = stranger.get(&path).send().await.refused(404, "not_found");
        let nothing = stranger.get(&never).send().await.refused(404, "not_found");
        let words = |e: &Value| e["message"].clone();
        assert_eq!(words(&theirs), words(&nothing), "{path}");
    }
    let account = owner.connect_account("zoe").await;
    let new = json!({ "connectionId": account, "displayName": "Mine" });
    let contact = owner.post("/v1/contacts", new).send().await.expect(201);
    let list = owner.named("/v1/task-lists", "Tasks").await;
    let task = owner
        .post(format!("/v1/task-lists/{list}/tasks"), json!({ "title": "Mine" }))
        .send()
        .await
        .expect(201);
    for path in [
        format!("/v1/contacts/{}", contact["id"].as_str().expect("an id")),
        format!("/v1/contact-books/{}", contact["bookId"].as_str().expect("an id")),
        format!("/v1/contacts?connection_id={account}"),
        format!("/v1/contacts/sync/changes?connection_id={account}"),
        format!("/v1/contacts/sync/status/{account}"),
        format!("/v1/task-lists/{list}"),
        format!("/v1/task-lists/{list}/tasks"),
        format!("/v1/task-lists/{list}/tasks/{}", task["id"].as_str().expect("an id")),
        format!("/v1/task-lists/{list}/sync/changes"),
    ] {
        stranger.get(path).send().await.refused(404, "not_found");
    }
    let linked = json!({ "resourceType": "contact", "resourceId": contact["id"] });
    let other = stranger.connect_account("yan").await;
    let own_list = stranger.named(&format!("/v1/task-lists?connection_id={other}"), "Tasks").await;
    let own = stranger
        .post(format!("/v1/task-lists/{own_list}/tasks"), json!({ "title": "x" }))
        .send()
        .await
        .expect(201);
    let links = format!("/v1/task-lists/{own_list}/tasks/{}/links", own["id"].as_str().expect("an id"));
    stranger.post(links, linked).send().await.refused(400, "invalid_parameter");
    let found = stranger
        .post("/v1/contacts/merge-suggestions/query", json!({ "contactIds": [contact["id"]] }))
        .send()
        .await;
    found.refused(400, "invalid_parameter");
    assert_eq!(stranger.all("/v1/contacts").await, Vec::<Value>::new());
    stranger.post(format!("/v1/calendars/{calendar}/events"), times).send().await.refused(404, "not_found");
    stranger
        .delete(format!("/v1/calendars/{calendar}/events/{event}"))
        .send()
        .await
        .refused(404, "not_found");
    stranger.delete(format!("/v1/connections/{id}")).send().await.refused(404, "not_found");
    assert_eq!(stranger.all("/v1/connections").await.len(), 1);
    assert!(stranger.all("/v1/calendars").await.iter().all(|c| c["connectionId"] == *other));
    let of_theirs = stranger.get(format!("/v1/calendars?connection_id={id}")).send().await;
    of_theirs.refused(404, "not_found");
}

/// A key that is bound to connections sees no other connections of its application.
#[tokio::test]
async fn a_bound_key_sees_its_connections_only() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let first = api.connect_sandbox().await;
    let second = api
        .connect(json!({
            "provider": "sandbox",
            "credentials": { "username": "bob@sandbox.test", "password": "sandbox" },
            "scopes": ["calendar.read"],
        }))
        .await;
    let id = first["id"].as_str().expect("an id").to_owned();
    let bound = server.key("test", |key| key.connection_ids = vec![id.clone()]).await;
    let seen = bound.all("/v1/connections").await;
    assert_eq!(seen.iter().map(|c| c["id"].clone()).collect::<Vec<_>>(), [first["id"].clone()]);
    let other = second["id"].as_str().expect("an id");
    bound.get(format!("/v1/connections/{other}")).send().await.refused(404, "not_found");
    let calendars = bound.all("/v1/calendars").await;
    assert!(!calendars.is_empty() && calendars.iter().all(|c| c["connectionId"] == first["id"]));
}

/// A cursor of one application is worth nothing in another.
#[tokio::test]
async fn a_cursor_does_not_travel() {
    let server = TestServer::start().await;
    let owner = server.key("owner", |_| {}).await;
    let stranger = server.key("stranger", |_| {}).await;
    owner.connect_sandbox().await;
    let page = owner.get("/v1/calendars?limit=1").send().await.expect(200);
    let cursor = page["next_cursor"].as_str().expect("more than one calendar").to_owned();
    owner.get(format!("/v1/calendars?limit=1&cursor={cursor}")).send().await.expect(200);
    stranger
        .get(format!("/v1/calendars?limit=1&cursor={cursor}"))
        .send()
        .await
        .refused(400, "invalid_cursor");
    owner.get(format!("/v1/connections?cursor={cursor}")).send().await.refused(400, "invalid_cursor");
}
