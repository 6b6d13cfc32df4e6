//! `null` in a patch: each field clears or is refused, as the document says.

use harness::{Actor, TestServer};
use serde_json::{Value, json};
use switchboard::api;
use switchboard::api::openapi::{self, Flavour};

/// Whether a schema has null among its values.
fn allows_null(schema: &Value) -> bool {
    let is_null = |kind: &Value| kind == "null";
    let kinds = schema["type"].as_array().into_iter().flatten();
    let forms = schema["anyOf"].as_array().into_iter().flatten().map(|form| &form["type"]);
    kinds.chain(forms).any(is_null)
}

/// The fields of a patch for which the answer to null is not the one that its schema promises. Each patch changes a resource of its own.
async fn surprises(api: &Actor, patch: &str, collection: &str, fresh: &Value) -> Vec<String> {
    let document = openapi::print(&api::operations(), "", Flavour::Clients);
    let properties = document["components"]["schemas"][patch]["properties"].as_object().expect("a patch");
    let mut surprises = Vec::new();
    for (field, schema) in properties {
        let made = api.post(collection, fresh.clone()).send().await.expect(201);
        let path = format!("{collection}/{}", made["id"].as_str().expect("an id"));
        let answer = api.patch(path, json!({ field.as_str(): null })).send().await;
        let wanted = if allows_null(schema) { 200 } else { 400 };
        if answer.status != wanted {
            surprises.push(format!("{field} of {patch}: {answer}"));
        }
    }
    assert!(properties.len() > 4, "{patch} has {} fields", properties.len());
    surprises
}

/// RFC 7396: null clears. Only what a resource cannot be without is refused.
#[tokio::test]
async fn null_clears_each_field_that_the_document_lets_be_null() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let id = api.connect_account("alice").await;
    let calendar = api.calendar(&json!({ "id": id }), "Work").await;
    let list = api.all(&format!("/v1/task-lists?connection_id={id}")).await.remove(0);
    let list = list["id"].as_str().expect("an id");

    let own = json!({ "connectionId": id, "name": "Own", "timeZone": "UTC", "color": "#123456" });
    let event = json!({
        "title": "Fair", "start": "2026-03-11T09:00:00Z", "end": "2026-03-11T10:00:00Z", "timeZone": "Asia/Tokyo",
        "attendees": [{ "email": "bob@example.org" }], "location": "Hall", "color": "#123456",
    });
    let task = json!({ "title": "Write", "notes": "x", "dueDate": "2026-03-02", "categories": ["x"] });
    let contact = json!({
        "connectionId": id, "displayName": "Ada", "givenName": "Ada", "emails": [{ "value": "ada@example.org" }],
        "phones": [{ "value": "+49 30 901820" }], "birthday": { "month": 12, "day": 10 }, "notes": "x",
    });
    let mut found = surprises(&api, "CalendarPatch", "/v1/calendars", &own).await;
    let events = format!("/v1/calendars/{calendar}/events");
    found.extend(surprises(&api, "CalendarEventPatch", &events, &event).await);
    found.extend(surprises(&api, "TaskPatch", &format!("/v1/task-lists/{list}/tasks"), &task).await);
    found.extend(surprises(&api, "ContactPatch", "/v1/contacts", &contact).await);
    assert!(found.is_empty(), "{}", found.join("\n"));
}
