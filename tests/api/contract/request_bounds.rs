//! Request bodies at the bounds that the document names, and beyond them.

use harness::{Actor, TestServer};
use serde_json::{Value, json};
use switchboard::api;
use switchboard::api::openapi::{self, Flavour};

use crate::contacts::people::zoe;

/// A field of a body whose length or value the document bounds.
struct BoundedField {
    /// Its JSON pointer in the body.
    pointer: String,
    /// Its name in errors.
    name: String,
    largest: Value,
    too_large: Value,
}

/// The definition that a schema refers to, or the schema itself.
fn resolved<'d>(document: &'d Value, schema: &'d Value) -> &'d Value {
    let alternatives = schema["anyOf"].as_array().into_iter().flatten();
    let reference = std::iter::once(schema).chain(alternatives).find_map(|one| one["$ref"].as_str());
    reference.and_then(|path| document.pointer(path.trim_start_matches('#'))).unwrap_or(schema)
}

/// The bounded fields of a value with this schema. Texts of a format are left out: a longer one would break the format too.
fn bounded_fields(
    document: &Value,
    schema: &Value,
    value: &Value,
    pointer: &str,
    name: &str,
) -> Vec<BoundedField> {
    let schema = resolved(document, schema);
    let bound = |keyword: &str| schema[keyword].as_u64().map(|max| usize::try_from(max).expect("a length"));
    let own = |largest: Value, too_large: Value| BoundedField {
        pointer: pointer.to_owned(),
        name: name.to_owned(),
        largest,
        too_large,
    };
    match value {
        Value::Object(members) => {
            let inside = |(field, member): (&String, &Value)| {
                let schema = &schema["properties"][field];
                assert!(schema.is_object(), "the document has no {pointer}/{field}");
                let name = if name.is_empty() { field.clone() } else { format!("{name}.{field}") };
                bounded_fields(document, schema, member, &format!("{pointer}/{field}"), &name)
            };
            members.iter().flat_map(inside).collect()
        }
        Value::Array(entries) => {
            let max = bound("maxItems").unwrap_or_else(|| panic!("{pointer} has no bound"));
            let list = |length: usize| Value::Array(vec![entries[0].clone(); length]);
            let (entry, entry_name) = (format!("{pointer}/0"), format!("{name}[0]"));
            let mut fields = bounded_fields(document, &schema["items"], &entries[0], &entry, &entry_name);
            fields.push(own(list(max), list(max + 1)));
            fields
        }
        Value::String(_) => match (bound("maxLength"), schema["pattern"].as_str()) {
            (Some(max), None | Some(r"\S")) => {
                vec![own(json!("x".repeat(max)), json!("x".repeat(max + 1)))]
            }
            _ => Vec::new(),
        },
        Value::Number(_) => {
            schema["maximum"].as_i64().map(|max| own(json!(max), json!(max + 1))).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Creates the resource with all texts and numbers at their bounds, and with all lists; then tries one field at a time beyond its bound.
/// Returns how many fields have one.
async fn create_at_bounds(
    api: &Actor,
    document: &Value,
    path: &str,
    schema_name: &str,
    body: &Value,
) -> usize {
    let fields = bounded_fields(document, &document["components"]["schemas"][schema_name], body, "", "");
    let changed = |changes: &[(&str, &Value)]| {
        let mut copy = body.clone();
        for (pointer, value) in changes {
            *copy.pointer_mut(pointer).expect("a field of the body") = (*value).clone();
        }
        copy
    };
    for with_lists in [false, true] {
        let at_bounds = fields.iter().filter(|field| field.largest.is_array() == with_lists);
        let at_bounds: Vec<_> = at_bounds.map(|field| (field.pointer.as_str(), &field.largest)).collect();
        api.post(path, changed(&at_bounds)).send().await.expect(201);
    }
    for field in &fields {
        let larger = changed(&[(field.pointer.as_str(), &field.too_large)]);
        let error = api.post(path, larger).send().await.refused(400, "invalid_parameter");
        let param = error["param"].as_str().expect("the field's name");
        assert!(!param.is_empty() && field.name.starts_with(param), "{schema_name}.{}: {error}", field.name);
    }
    fields.len()
}

/// The server accepts what the document allows, and refuses what it forbids with the name of the field.
#[tokio::test]
async fn a_body_may_be_as_large_as_documented_and_no_larger() {
    let document = openapi::print(&api::operations(), "https://api.example.org", Flavour::Clients);
    let server = TestServer::start().await;
    let (api, connection) = zoe(&server).await;
    let list = api.named(&format!("/v1/task-lists?connection_id={connection}"), "Tasks").await;
    let tasks = format!("/v1/task-lists/{list}/tasks");
    let task = api.post(&tasks, json!({ "title": "Sweep" })).send().await.expect(201);
    let items = format!("{tasks}/{}/checklist-items", task["id"].as_str().expect("an id"));
    let contact = json!({
        "connectionId": connection, "displayName": "x", "givenName": "x", "middleName": "x", "familyName": "x",
        "prefix": "x", "suffix": "x", "nickname": "x", "phoneticGivenName": "x", "phoneticFamilyName": "x",
        "emails": [{ "value": "ada@example.org", "label": "x" }],
        "phones": [{ "value": "+44 20 7946 0958", "label": "x" }],
        "addresses": [{ "label": "x", "formatted": "x", "street": "x", "extended": "x", "poBox": "x", "locality": "x",
            "region": "x", "postalCode": "x", "country": "x", "countryCode": "GB" }],
        "organizations": [{ "name": "x", "title": "x", "department": "x" }],
        "urls": [{ "value": "https://ada.example.org/" }],
        "imAddresses": [{ "protocol": "x", "handle": "x" }],
        "relations": [{ "name": "x", "type": "x" }],
        "birthday": { "year": 1815, "month": 12, "day": 10 },
        "anniversaries": [{ "type": "x", "date": { "year": 1835, "month": 7, "day": 8 } }],
        "notes": "x"
    });
    let group = json!({ "connectionId": connection, "name": "x" });
    let book = json!({ "connectionId": connection, "name": "x", "description": "x" });
    let task_list = json!({ "connectionId": connection, "name": "x", "color": "#1a73e8" });
    let task = json!({
        "title": "x", "notes": "x", "percentComplete": 10, "position": "x", "categories": ["x"],
        "assignees": [{ "email": "bob@sandbox.test", "name": "x" }]
    });
    let item = json!({ "title": "x", "position": "x" });
    for (path, schema_name, body, bounded) in [
        ("/v1/contacts", "NewContact", &contact, 44),
        ("/v1/contact-groups", "NewContactGroup", &group, 1),
        ("/v1/contact-books", "NewContactBook", &book, 2),
        ("/v1/task-lists", "NewTaskList", &task_list, 1),
        (tasks.as_str(), "NewTask", &task, 8),
        (items.as_str(), "NewChecklistItem", &item, 2),
    ] {
        let found = create_at_bounds(&api, &document, path, schema_name, body).await;
        assert_eq!(found, bounded, "fields of {schema_name} with a bound");
    }
}
