//! Journals in which calendars, contacts and tasks had members of the provider's own: their lines, read into the model's.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use crate::ops::Op;

/// The present names of the members of older folders and records, each alone or with the present words of its values or the names of the
/// members inside it. Those inside an object without a name are members of the record now.
static NAMES: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("older.json")).unwrap_or_default());

/// Reads the changes of a line of the journal.
pub fn read_line(line: &[u8]) -> serde_json::Result<Vec<Op>> {
    if let Ok(ops) = serde_json::from_slice(line) {
        return Ok(ops);
    }
    let ops: Vec<Value> = serde_json::from_slice(line)?;
    ops.into_iter().map(|op| serde_json::from_value(convert_op(op))).collect()
}

fn convert_op(mut op: Value) -> Value {
    let kind = op["op"].as_str().unwrap_or_default().to_owned();
    let present = match kind.as_str() {
        "calendar" => "calendarHead",
        "event" => "calendarEvent",
        "book" => "contactBook",
        "card" => "contact",
        "list" => "taskList",
        "todo" => "task",
        _ => return op,
    };
    op["op"] = json!(present);
    // The first journals name the folder or record by its kind.
    for name in ["head", "record", kind.as_str()] {
        if let Some(old) = op.get_mut(name).filter(|old| old.is_object()) {
            *old = convert_record(&kind, old);
        }
    }
    op
}

/// The folder or record in its present form, with the members that only some kinds have.
fn convert_record(kind: &str, old: &Value) -> Value {
    let is_circle = old["kind"] == "circle";
    let mut body = convert(old, &NAMES[if is_circle { "circle" } else { kind }]);
    if let (Some(media_type), Some(bytes)) =
        (old["picture"]["type"].as_str(), old["picture"]["bytes"].as_str())
    {
        body["photo"]["url"] = json!(format!("data:{media_type};base64,{bytes}"));
    }
    if kind == "event" && body.is_object() {
        body["allDay"] = json!(body["startDate"].is_string());
        if body["endTimeZone"] == body["timeZone"] {
            body["endTimeZone"] = Value::Null;
        }
    }
    if kind == "card" {
        let wrapper = if is_circle { "group" } else { "contact" };
        body = json!({ wrapper: body });
    }
    let changed = old["overrides"].as_object().into_iter().flatten();
    let overrides: Value =
        changed.map(|(name, instance)| (name.clone(), convert_record(kind, instance))).collect();
    let text = |name: &str| old[name].as_str().unwrap_or_default();
    json!({
        "id": text("id"), "body": body, "createdAt": text("createdAt"), "updatedAt": text("updatedAt"),
        "apart": old["apart"] == true, "series": old["series"], "overrides": overrides,
    })
}

/// The value with the present names of its members, or the present word for it.
fn convert(old: &Value, names: &Value) -> Value {
    match old {
        Value::Array(items) => items.iter().map(|item| convert(item, names)).collect(),
        Value::Object(members) => {
            let mut present = Map::new();
            for (name, value) in members {
                match &names[name] {
                    Value::String(name) => drop(present.insert(name.clone(), value.clone())),
                    Value::Array(rule) => {
                        if let [Value::String(name), inner] = rule.as_slice() {
                            present.insert(name.clone(), convert(value, inner));
                        }
                    }
                    inner @ Value::Object(_) => {
                        if let Value::Object(members) = convert(value, inner) {
                            present.extend(members);
                        }
                    }
                    _ => {}
                }
            }
            Value::Object(present)
        }
        _ => {
            let word = old.as_str().map_or_else(|| old.to_string(), str::to_owned);
            names.get(&word).unwrap_or(old).clone()
        }
    }
}
