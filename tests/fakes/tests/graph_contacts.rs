//! Contacts and To Do of the fake Graph over HTTP: each answer fits the description of Microsoft's client.

use fakes::Graph;
use fakes::graph::AccountKind;
use reqwest::{Client, Method};
use serde_json::{Value, json};

const ALICE: &str = "alice@example.com";

/// The fake with Alice's account, and a client with a token of hers.
struct ContactDesk {
    graph: Graph,
    client: Client,
    token: String,
}

impl ContactDesk {
    /// None where the extract of Graph is not installed.
    async fn start() -> Option<ContactDesk> {
        let graph = Graph::start_or_skip().await?;
        let token = graph.with(|state| {
            state.add_account(ALICE, "Alice Example", "W. Europe Standard Time", AccountKind::Work);
            let now = state.clock.now_ms();
            state.authority.issue(ALICE, &["Contacts.ReadWrite", "Tasks.ReadWrite"], now)
        });
        let client = Client::builder().no_proxy().tls_certs_only([]).build().expect("a client");
        Some(ContactDesk { graph, client, token })
    }

    /// The status and the body of an answer; null where it is no JSON.
    async fn send(&self, line: &str, body: Value) -> (u16, Value) {
        let (method, path) = line.split_once(' ').expect("a method and a path");
        let method = Method::from_bytes(method.as_bytes()).expect("a method");
        let request = self.client.request(method, format!("{}/v1.0/me/{path}", self.graph.url()));
        let request = request.bearer_auth(&self.token).header("prefer", "IdType=\"ImmutableId\"");
        let request = match body {
            Value::Null => request,
            Value::String(bytes) => request.header("content-type", "image/jpeg").body(bytes),
            body => request.header("content-type", "application/json").body(body.to_string()),
        };
        let answer = request.send().await.expect("an answer");
        let status = answer.status().as_u16();
        let text = answer.text().await.expect("a body");
        assert!(status < 500, "{line}: {text}");
        (status, serde_json::from_str(&text).unwrap_or_default())
    }

    async fn get(&self, path: &str) -> Value {
        let (status, body) = self.send(&format!("GET {path}"), Value::Null).await;
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    async fn create(&self, path: &str, body: Value) -> Value {
        let (status, body) = self.send(&format!("POST {path}"), body).await;
        assert_eq!(status, 201, "{path}: {body}");
        body
    }
}

fn id(item: &Value) -> &str {
    item["id"].as_str().expect("an id")
}

#[tokio::test]
async fn contacts_fit_the_description() {
    let Some(desk) = ContactDesk::start().await else { return };
    let folder = desk.create("contactFolders", json!({ "displayName": "Work" })).await;
    desk.create(&format!("contactFolders/{}/childFolders", id(&folder)), json!({ "displayName": "Inner" }))
        .await;
    let body = json!({
        "givenName": "Ada", "surname": "King", "birthday": "1815-12-10T00:00:00Z", "categories": ["Red"],
        "emailAddresses": [{ "address": "ada@x.test" }], "homeAddress": { "city": "London" },
        "singleValueExtendedProperties": [{ "id": "SystemTime 0x3A41", "value": "1835-07-08T00:00:00Z" }],
    });
    let contacts = format!("contactFolders/{}/contacts", id(&folder));
    let contact = desk.create(&contacts, body).await;
    assert_eq!(contact["displayName"], "Ada King");
    let path = format!("contacts/{}", id(&contact));
    let expand = "$expand=singleValueExtendedProperties($filter=id eq 'SystemTime 0x3A41')";
    let found = desk.get(&format!("{path}?{expand}")).await;
    assert_eq!(found["singleValueExtendedProperties"][0]["value"], "1835-07-08T00:00:00Z");
    assert_eq!(desk.send(&format!("GET {path}/photo"), Value::Null).await.0, 404);
    assert_eq!(desk.send(&format!("PUT {path}/photo/$value"), json!("a picture")).await.0, 200);
    assert_eq!(desk.get(&format!("{path}/photo")).await["height"], 240);
    let delta = desk.get(&format!("{contacts}/delta")).await;
    assert_eq!(delta["value"][0]["id"], contact["id"]);
    let folders = desk.get("contactFolders/delta").await;
    assert_eq!(folders["value"].as_array().map(Vec::len), Some(2));
    assert_eq!(
        desk.get(&format!("{contacts}?$filter=givenName eq 'Ada'&$top=5")).await["value"][0]["surname"],
        "King"
    );
    let (status, changed) = desk.send(&format!("PATCH {path}"), json!({ "homeAddress": null })).await;
    assert_eq!((status, &changed["homeAddress"]), (200, &json!({})));
    assert_eq!(desk.send(&format!("DELETE {path}"), Value::Null).await.0, 204);
    let violations = desk.graph.violations();
    assert!(violations.is_empty(), "{violations:?}");
}

#[tokio::test]
async fn tasks_fit_the_description() {
    let Some(desk) = ContactDesk::start().await else { return };
    let list = desk.create("todo/lists", json!({ "displayName": "House" })).await;
    let tasks = format!("todo/lists/{}/tasks", id(&list));
    let due = json!({ "dateTime": "2026-03-05T12:00:00", "timeZone": "W. Europe Standard Time" });
    let body = json!({
        "title": "Paint", "status": "completed", "dueDateTime": due, "reminderDateTime": due,
        "body": { "content": "Blue", "contentType": "text" },
    });
    let task = desk.create(&tasks, body).await;
    assert_eq!(task["dueDateTime"]["dateTime"], "2026-03-04T23:00:00.0000000");
    let path = format!("{tasks}/{}", id(&task));
    desk.create(&format!("{path}/checklistItems"), json!({ "displayName": "Brush", "isChecked": true }))
        .await;
    let link = json!({ "webUrl": "https://x.test/1", "applicationName": "Mail", "displayName": "One" });
    desk.create(&format!("{path}/linkedResources"), link).await;
    let recurring = json!({
        "title": "Water", "dueDateTime": { "dateTime": "2026-03-02" },
        "recurrence": {
            "pattern": { "type": "weekly", "interval": 1, "daysOfWeek": ["monday"] },
            "range": { "type": "noEnd", "startDate": "2026-03-02" },
        },
    });
    desk.graph.with(|state| {
        state.attach_to_task(ALICE, id(&task), "a.txt", "text/plain", b"abc");
        state.put_task(ALICE, "House", recurring);
    });
    let expand = "$expand=checklistItems,linkedResources,attachments";
    let page = desk.get(&format!("{tasks}?{expand}")).await;
    assert_eq!(page["value"][0]["linkedResources"][0]["displayName"], "One");
    assert_eq!(page["value"][1]["recurrence"]["range"]["startDate"], "2026-03-02");
    let attachments = desk.get(&format!("{path}/attachments")).await;
    let attachment = desk.get(&format!("{path}/attachments/{}", id(&attachments["value"][0]))).await;
    assert_eq!(attachment["contentBytes"], "YWJj");
    assert_eq!(desk.get("todo/lists/delta").await["value"].as_array().map(Vec::len), Some(3));
    desk.get(&format!("{tasks}/delta")).await;
    assert_eq!(desk.send(&format!("DELETE {path}"), Value::Null).await.0, 204);
    let violations = desk.graph.violations();
    assert!(violations.is_empty(), "{violations:?}");
}
