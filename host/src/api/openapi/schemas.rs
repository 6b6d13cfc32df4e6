//! Schemas in the document: removes trivial defaults, and gives a type two names if it differs between requests and answers.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// The path of the schemas in the document.
pub const SCHEMAS: &str = "/components/schemas";

/// The name in `#/components/schemas/Name`.
pub fn referred(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.strip_prefix('#')?.strip_prefix(SCHEMAS)?.strip_prefix('/')
}

/// The name that a resource, what is sent to make or change it, and a page of it have in common: `Task` of `NewTask` and `TaskPage`. Schemas of
/// a family stand side by side in the document, where gzip finds what they share.
pub fn family(name: &str) -> &str {
    let ending = ["Input", "Page", "Patch"].iter().find_map(|ending| name.strip_suffix(ending));
    let name = ending.unwrap_or(name);
    let beginnings = ["New", "Written", "Created", "Draft", "Send", "Rotated"];
    let rest = beginnings.iter().find_map(|beginning| name.strip_prefix(beginning));
    rest.filter(|rest| !rest.is_empty()).unwrap_or(name)
}

/// Keywords that bound a value. `x-rules` are sentences about several fields.
const BOUNDS: [&str; 12] = [
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minimum",
    "maximum",
    "minProperties",
    "maxProperties",
    "propertyNames",
    "x-rules",
];
/// Properties of answers that keep their bounds: the service makes their values itself.
const BOUNDED: [&str; 2] = ["id", "etag"];

/// Removes bounds from the schema of an answer. They are those of requests; other programs may have written longer texts.
pub fn strip_bounds(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            object.retain(|keyword, _| !BOUNDS.contains(&keyword.as_str()));
            for (keyword, inside) in object {
                match inside {
                    Value::Object(fields) if keyword == "properties" => {
                        let fields = fields.iter_mut().filter(|(name, _)| !BOUNDED.contains(&name.as_str()));
                        fields.for_each(|(_, field)| strip_bounds(field));
                    }
                    inside if !matches!(keyword.as_str(), "default" | "examples" | "example") => {
                        strip_bounds(inside);
                    }
                    _ => {}
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(strip_bounds),
        _ => {}
    }
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

/// Replaces a choice of one schema (`oneOf`), as an enum with one word has it, by that schema. The description stays.
pub fn join_single_choices(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            let choices = object.get("oneOf").and_then(Value::as_array).filter(|choices| choices.len() == 1);
            if let Some(Value::Object(only)) = choices.and_then(|choices| choices.first()).cloned() {
                object.remove("oneOf");
                for (keyword, value) in only {
                    object.entry(keyword).or_insert(value);
                }
            }
            object.values_mut().for_each(join_single_choices);
        }
        Value::Array(items) => items.iter_mut().for_each(join_single_choices),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schemas_of_a_resource_are_a_family() {
        for name in ["Task", "NewTask", "TaskPatch", "TaskPage", "TaskInput", "WrittenTask"] {
            assert_eq!(family(name), "Task");
        }
        assert_eq!((family("Draft"), family("TaskList")), ("Draft", "TaskList"));
    }

    #[test]
    fn a_choice_of_one_is_that_one() {
        let mut schema =
            json!({ "oneOf": [{ "const": "day", "description": "Days." }], "description": "The step." });
        join_single_choices(&mut schema);
        assert_eq!(schema, json!({ "description": "The step.", "const": "day" }));
    }

    #[test]
    fn answers_have_no_bounds() {
        let mut schema = json!({
            "type": "object",
            "maxProperties": 5,
            "properties": {
                "id": { "type": "string", "maxLength": 64 },
                "pattern": { "type": "string", "pattern": "^a", "format": "date", "examples": [{ "pattern": "b" }] },
                "list": { "type": "array", "maxItems": 2, "items": { "type": "integer", "minimum": 1 } },
                "other": { "anyOf": [{ "type": "string", "minLength": 1 }, { "type": "null" }] },
            },
        });
        strip_bounds(&mut schema);
        assert_eq!(
            schema,
            json!({
                "type": "object",
                "properties": {
                    "id": { "type": "string", "maxLength": 64 },
                    "pattern": { "type": "string", "format": "date", "examples": [{ "pattern": "b" }] },
                    "list": { "type": "array", "items": { "type": "integer" } },
                    "other": { "anyOf": [{ "type": "string" }, { "type": "null" }] },
                },
            })
        );
    }
}
