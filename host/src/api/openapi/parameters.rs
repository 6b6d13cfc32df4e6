//! Parameters of operations in the document: those of the path, of query structs, and headers of a row.

use model::formats;
use serde_json::{Value, json};

use crate::api::openapi::schemas::{is_telling, strip_defaults};
use crate::api::operation::HeaderParameter;

/// A parameter of the path: an id, unless its name says otherwise.
pub fn path_parameter(name: &'static str) -> Value {
    let what = name.strip_suffix("Id").unwrap_or(name);
    let (description, schema) = match name {
        "provider" => {
            ("The name of the provider, such as `google`.".to_owned(), text(formats::ProviderName::PATTERN))
        }
        "slug" => ("The slug of the event type's booking link.".to_owned(), text(formats::Slug::PATTERN)),
        "name" => (
            "The kind of notification, as the provider's connector names it.".to_owned(),
            text(formats::ProviderName::PATTERN),
        ),
        "jobId" => ("The id of the job, such as `deliver:wh_…`.".to_owned(), text("^[!-~]{1,255}$")),
        _ => (format!("The id of the {}.", words(what)), text(formats::Id::PATTERN)),
    };
    json!({ "name": name, "in": "path", "required": true, "description": description, "schema": schema })
}

fn text(pattern: &str) -> Value {
    json!({ "type": "string", "pattern": pattern })
}

/// `taskList` → `task list`.
fn words(camel: &str) -> String {
    let spaced = camel
        .chars()
        .map(|c| if c.is_uppercase() { format!(" {}", c.to_lowercase()) } else { c.to_string() });
    spaced.collect()
}

/// A request header of a row.
pub fn header_parameter(header: &HeaderParameter) -> Value {
    let schema = match header.name {
        "If-Match" => text(formats::Etag::PATTERN),
        "Last-Event-ID" => text("^[0-9]+$"),
        _ => json!({ "type": "string" }),
    };
    json!({
        "name": header.name, "in": "header", "required": false, "description": header.description,
        "schema": schema,
    })
}

/// Each property of a struct as a query parameter. Lists are separated by commas.
pub fn query_parameters(schema: &Value) -> Vec<Value> {
    let required = |name: &str| schema["required"].as_array().is_some_and(|r| r.iter().any(|n| n == name));
    let properties = schema["properties"].as_object().into_iter().flatten();
    let printed = properties.map(|(name, property)| {
        let mut property = property.clone();
        strip_defaults(&mut property, is_telling);
        let description = property.as_object_mut().and_then(|p| p.remove("description")).unwrap_or(json!(""));
        let property = without_null(property);
        let mut parameter = json!({
            "name": name, "in": "query", "required": required(name), "description": description
        });
        if property["type"] == "array" {
            parameter["style"] = json!("form");
            parameter["explode"] = json!(false);
        }
        parameter["schema"] = property;
        parameter
    });
    printed.collect()
}

/// The schema of a parameter: it is there or not, and never null.
fn without_null(mut schema: Value) -> Value {
    let Some(keywords) = schema.as_object_mut() else { return schema };
    if let Some(Value::Array(types)) = keywords.get("type") {
        let kind = types.iter().find(|kind| *kind != "null").cloned();
        keywords.insert("type".into(), kind.unwrap_or(json!("string")));
    }
    if let Some(Value::Array(words)) = keywords.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
    let Some(Value::Array(mut forms)) = keywords.remove("anyOf") else { return schema };
    forms.retain(|form| form["type"] != "null");
    match forms.len() {
        1 => keywords.extend(forms.remove(0).as_object().cloned().into_iter().flatten()),
        _ => {
            keywords.insert("anyOf".into(), Value::Array(forms));
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use schemars::{JsonSchema, SchemaGenerator};
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is read")]
    struct Query {
        /// The state to filter by.
        state: Option<State>,
        /// The name, which is required.
        #[schemars(length(max = 9))]
        name: String,
        /// Types to filter by.
        #[serde(default)]
        types: Vec<String>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    #[schemars(inline)]
    enum State {
        NotBegun,
        Done,
    }

    #[test]
    fn fields_are_parameters() {
        let schema = Query::json_schema(&mut SchemaGenerator::default()).to_value();
        assert_eq!(
            query_parameters(&schema),
            [
                json!({
                    "name": "state", "in": "query", "required": false, "description": "The state to filter by.",
                    "schema": { "type": "string", "enum": ["notBegun", "done"] },
                }),
                json!({
                    "name": "name", "in": "query", "required": true, "description": "The name, which is required.",
                    "schema": { "type": "string", "maxLength": 9 },
                }),
                json!({
                    "name": "types", "in": "query", "required": false, "description": "Types to filter by.",
                    "style": "form", "explode": false, "schema": { "type": "array", "items": { "type": "string" } },
                }),
            ]
        );
    }

    #[test]
    fn a_parameter_is_never_null() {
        let reference = json!({ "anyOf": [{ "$ref": "#/A" }, { "type": "null" }] });
        assert_eq!(without_null(reference), json!({ "$ref": "#/A" }));
        let two = json!({ "anyOf": [{ "type": "string" }, { "type": "integer" }, { "type": "null" }] });
        assert_eq!(without_null(two), json!({ "anyOf": [{ "type": "string" }, { "type": "integer" }] }));
    }

    #[test]
    fn a_path_parameter_has_a_pattern() {
        let parameter = path_parameter("taskListId");
        assert_eq!(parameter["description"], "The id of the task list.");
        assert_eq!(parameter["schema"]["pattern"], formats::Id::PATTERN);
        assert_eq!(path_parameter("slug")["schema"]["pattern"], formats::Slug::PATTERN);
    }
}
