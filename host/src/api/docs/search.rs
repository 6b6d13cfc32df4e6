//! The index of the search box: operations, fields, parameters, error codes, scopes and headings, each with the address that it leads to.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::api::docs::frame::DocsPage;
use crate::api::docs::reference::{ApiReference, ReferenceOperation};

/// Longest text of an entry in characters; more would not be shown.
const MAX_TEXT: usize = 90;
/// Longest text of a field: there are thousands.
const MAX_FIELD_TEXT: usize = 40;

/// Prints the index: lists of kind, title, second title, address and text.
pub fn print(reference: &ApiReference, pages: &[DocsPage]) -> String {
    let mut entries = Vec::new();
    for page in pages {
        entries.push(json!(["page", page.title, "", page.path, ""]));
        for heading in page.headings.iter().filter(|heading| heading.level > 1) {
            entries.push(json!([
                "page",
                heading.text,
                page.title,
                format!("{}#{}", page.path, heading.id),
                ""
            ]));
        }
    }
    for operation in &reference.operations {
        let second = format!("{} {} {}", operation.id, operation.method, operation.path);
        let text = cut(&operation.description, MAX_TEXT);
        entries.push(json!(["operation", operation.summary, second, ApiReference::link(operation), text]));
    }
    for row in &reference.errors {
        let link = format!("/docs/errors/{}", row.code);
        entries.push(json!(["error", row.code, row.status, link, cut(&row.meaning, MAX_TEXT)]));
    }
    for [scope, meaning] in reference.scopes() {
        entries.push(json!(["scope", scope, "", "/docs/api#scopes", cut(&meaning, MAX_TEXT)]));
    }
    entries.extend(parameters(reference));
    entries.extend(fields(reference));
    Value::Array(entries).to_string()
}

/// Parameters by name, each with the first operation that has it.
fn parameters(reference: &ApiReference) -> Vec<Value> {
    let mut seen = BTreeSet::new();
    let mut entries = Vec::new();
    for operation in &reference.operations {
        for parameter in &operation.parameters {
            if parameter.place != "path" && seen.insert(parameter.name.clone()) {
                let text = cut(&parameter.description, MAX_TEXT);
                let link = ApiReference::link(operation);
                entries.push(json!(["parameter", parameter.name, operation.id, link, text]));
            }
        }
    }
    entries
}

/// The fields of all types that a page shows.
fn fields(reference: &ApiReference) -> Vec<Value> {
    let mut pages = BTreeMap::new();
    for operation in &reference.operations {
        let schemas = operation.body.iter().chain(&operation.answer).map(|content| &content.schema);
        for schema in schemas {
            place(reference, operation, schema, &mut pages);
        }
    }
    let mut entries = Vec::new();
    for (name, schema) in reference.schemas.iter() {
        let Some(page) = pages.get(name) else { continue };
        let link = format!("{page}#schema-{name}");
        for (field, property) in schema["properties"].as_object().into_iter().flatten() {
            let text = cut(property["description"].as_str().unwrap_or_default(), MAX_FIELD_TEXT);
            entries.push(json!(["field", format!("{name}.{field}"), "", link, text]));
        }
    }
    entries
}

/// Notes the page of the type that a schema leads to, and of the types of its fields.
fn place(
    reference: &ApiReference,
    operation: &ReferenceOperation,
    schema: &Value,
    pages: &mut BTreeMap<String, String>,
) {
    let Some(object) = reference.schemas.object(schema) else { return };
    if let Some(name) = object.name {
        if pages.contains_key(&name) {
            return;
        }
        let link = ApiReference::link(operation);
        let page = link.split('#').next().unwrap_or_default();
        pages.insert(name, page.to_owned());
    }
    for property in object.schema["properties"].as_object().into_iter().flat_map(|fields| fields.values()) {
        place(reference, operation, property, pages);
    }
}

/// The beginning of a text, on one line.
fn cut(text: &str, max: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default().trim_end()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api;
    use crate::api::openapi::{self, Flavour};

    #[test]
    fn fields_codes_and_scopes_are_found() {
        let operations = api::operations();
        let document = openapi::print(&operations, "https://api.example.com", Flavour::Clients);
        let reference = ApiReference::read(&document, "https://api.example.com");
        let index: Value = serde_json::from_str(&print(&reference, &[])).unwrap();
        let entry = |title: &str| {
            let entry = index.as_array().unwrap().iter().find(|entry| entry[1] == title);
            entry.unwrap_or_else(|| panic!("{title} is not in the index"))[3].clone()
        };
        assert_eq!(entry("CalendarEvent.attendees"), "/docs/api/events#schema-CalendarEvent");
        assert_eq!(entry("stale_etag"), "/docs/errors/stale_etag");
        assert_eq!(entry("calendar.read"), "/docs/api#scopes");
        assert_eq!(entry("Create an event"), "/docs/api/events#calendars.events.create");
    }

    #[test]
    fn a_text_is_cut_at_a_character() {
        assert_eq!(cut("a  b\nü ö", 5), "a b ü…");
        assert_eq!(cut("short", 5), "short");
    }
}
