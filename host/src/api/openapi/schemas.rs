//! Schemas in the document: removes trivial defaults, and gives a type two names if it differs between requests and answers.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// The path of the schemas in the document.
pub const SCHEMAS: &str = "/components/schemas";

/// The name in `#/components/schemas/Name`.
pub fn referred(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.strip_prefix('#')?.strip_prefix(SCHEMAS)?.strip_prefix('/')
}

/// Removes each `default` that `keep` rejects.
pub fn strip_defaults(schema: &mut Value, keep: impl Fn(&Value) -> bool + Copy) {
    match schema {
        Value::Object(object) => {
            if object.get("default").is_some_and(|d| !keep(d)) {
                object.remove("default");
            }
            for (keyword, inside) in object {
                match inside {
                    // The keys are names of fields, and a field may be called "default".
                    Value::Object(fields) if keyword == "properties" => {
                        fields.values_mut().for_each(|f| strip_defaults(f, keep));
                    }
                    inside => strip_defaults(inside, keep),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|v| strip_defaults(v, keep)),
        _ => {}
    }
}

/// Whether a default is informative for a reader.
pub fn is_telling(default: &Value) -> bool {
    match default {
        Value::Bool(b) => *b,
        Value::Number(n) => n.as_f64() != Some(0.0),
        Value::String(s) => !s.is_empty() && !s.starts_with("1970-"),
        _ => false,
    }
}

/// Names with different schemas in requests and answers, including schemas that refer to such.
pub fn differing(answers: &Map<String, Value>, requests: &Map<String, Value>) -> BTreeSet<String> {
    let shared = || requests.iter().filter(|(name, _)| answers.contains_key(*name));
    let mut names: BTreeSet<String> = shared()
        .filter(|(name, schema)| answers.get(*name) != Some(*schema))
        .map(|(name, _)| name.clone())
        .collect();
    loop {
        let before = names.len();
        let refers = |schema: &Value| {
            let mut copy = schema.clone();
            rename(&mut copy, &names);
            copy != *schema
        };
        let more: Vec<String> =
            shared().filter(|(_, schema)| refers(schema)).map(|(name, _)| name.clone()).collect();
        names.extend(more);
        if names.len() == before {
            return names;
        }
    }
}

/// Replaces references to these names by their request form.
pub fn rename(schema: &mut Value, names: &BTreeSet<String>) {
    if let Some(name) = referred(schema).filter(|n| names.contains(*n)) {
        schema["$ref"] = json!(format!("#{SCHEMAS}/{name}Input"));
    }
    match schema {
        Value::Object(object) => object.values_mut().for_each(|v| rename(v, names)),
        Value::Array(items) => items.iter_mut().for_each(|v| rename(v, names)),
        _ => {}
    }
}

/// Drops unused schemas: those of fields that requests do not have.
pub fn drop_unused(document: &mut Value) {
    loop {
        let mut used = BTreeSet::new();
        names(document, &mut used);
        let Some(schemas) = document["components"]["schemas"].as_object_mut() else { return };
        let before = schemas.len();
        schemas.retain(|name, _| used.contains(name));
        if schemas.len() == before {
            return;
        }
    }
}

/// Collects every schema name that is referred to.
fn names(value: &Value, found: &mut BTreeSet<String>) {
    found.extend(referred(value).map(str::to_owned));
    match value {
        Value::Object(object) => object.values().for_each(|v| names(v, found)),
        Value::Array(items) => items.iter().for_each(|v| names(v, found)),
        _ => {}
    }
}
