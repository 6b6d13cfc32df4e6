//! Validation of items against the model: the first invalid field.

use model::calendar::{Calendar, Event};
use model::contacts::{Contact, ContactBook, ContactGroup};
use model::email::EmailMessage;
use model::email::folders::{Folder, Label};
use model::tasks::{Task, TaskList};
use model::wire::{Item, Source};
use serde::de::DeserializeOwned;

/// Returns a sentence on the first invalid item of these sources. `op` is the operation that answered.
pub fn find_invalid(op: &str, sources: &[Source]) -> Option<String> {
    let there = sources.iter().filter(|source| !source.deleted && source.error.is_none());
    there.flat_map(|source| &source.items).find_map(|item| {
        let (what, fault) = fault_of(op, item)?;
        Some(format!("{op}: item \"{}\" is not a valid {what}: {fault}", item.external_id))
    })
}

/// Returns the name of an item's type, and its fault.
fn fault_of(op: &str, item: &Item) -> Option<(&'static str, String)> {
    let text = item.body.as_str();
    let (what, fault) = match op {
        "lists.list" => ("task list", fault::<TaskList>(text)),
        "tasks" | "tasks.get" => ("task", fault::<Task>(text)),
        "calendars.list" => ("calendar", fault::<Calendar>(text)),
        "events" | "events.get" => ("event", fault::<Event>(text)),
        "mail" if item.kind.as_deref() == Some("email_folder") => ("folder", fault::<Folder>(text)),
        "mail" if item.kind.as_deref() == Some("email_label") => ("label", fault::<Label>(text)),
        "mail" | "messages.get" => ("message", fault::<EmailMessage>(text)),
        "books.list" => ("address book", fault::<ContactBook>(text)),
        "contacts" | "contacts.get" if item.kind.as_deref() == Some("contact_group") => {
            ("contact group", fault::<ContactGroup>(text))
        }
        "contacts" | "contacts.get" => ("contact", fault::<Contact>(text)),
        _ => return None,
    };
    Some((what, fault?))
}

/// Returns the field in which a text is not a valid `T`, and the requirement.
fn fault<T: DeserializeOwned>(text: &str) -> Option<String> {
    let mut json = serde_json::Deserializer::from_str(text);
    let error = serde_path_to_error::deserialize::<_, T>(&mut json).err()?;
    let path = error.path().to_string();
    let requirement = requirement(&error.into_inner().to_string());
    Some(if path == "." { format!("it {requirement}") } else { format!("{path} {requirement}") })
}

/// Translates serde's message for a wrong value into terms of JSON.
fn requirement(error: &str) -> String {
    let error = error.rsplit_once(" at line ").map_or(error, |(before, _)| before);
    let Some((_, expected)) = error.split_once(", expected ") else {
        return format!("is wrong: {error}");
    };
    let expected = match expected {
        "a sequence" => "a list",
        "a map" => "an object",
        "a boolean" => "true or false",
        "i64" | "i32" | "u64" | "u32" | "u16" | "u8" => "a whole number",
        "f64" => "a number",
        structure if structure.starts_with("struct ") => "an object",
        other => other,
    };
    format!("must be {expected}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::wire::JsonText;
    use serde_json::json;

    fn tasks(bodies: &[serde_json::Value]) -> Vec<Source> {
        let sources = bodies.iter().enumerate().map(|(number, body)| {
            let id = number.to_string();
            let item = Item { external_id: id.clone(), body: JsonText::of(body).unwrap(), ..Item::default() };
            Source { external_id: id, items: vec![item], ..Source::default() }
        });
        sources.collect()
    }

    #[test]
    fn an_invalid_item_is_named_with_its_field() {
        let said = |body: serde_json::Value| find_invalid("tasks", &tasks(&[json!({ "title": "A" }), body]));
        assert_eq!(said(json!({ "title": "B" })), None);
        for (body, expected) in [
            (json!({ "title": null }), "title must be a string"),
            (json!({ "categories": ["a", 1] }), "categories[1] must be a string"),
            (json!({ "categories": "a" }), "categories must be a list"),
            (json!({ "percentComplete": "half" }), "percentComplete must be a whole number"),
            (json!(3), "it must be an object"),
        ] {
            let expected = format!("tasks: item \"1\" is not a valid task: {expected}");
            assert_eq!(said(body.clone()), Some(expected), "{body}");
        }
        let status = said(json!({ "status": "done" })).unwrap();
        assert!(status.contains("status must be one of `needsAction`"), "{status}");
        let gone = Source { deleted: true, ..tasks(&[json!({ "title": null })]).remove(0) };
        assert_eq!(find_invalid("tasks", &[gone]), None);
    }
}
