//! The JSON schemas of the envelope around a body.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::Instant;
use crate::formats;
use crate::resource::{Body, Metadata, New, Patch, Resource};
use crate::wire::Warning;

/// The common fields alone, for the schema.
#[derive(Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Common {
    /// The id of the resource: opaque, never reused, the same wherever the provider moves the resource.
    #[schemars(length(max = 64), regex(pattern = r"^[A-Za-z0-9_]+$"))]
    id: String,
    /// The connection that the resource belongs to; null for a resource that the service itself owns.
    connection_id: Option<String>,
    /// The provider's id of the resource, for reconciliation; null if it has none.
    external_id: Option<String>,
    /// The version of the resource, with its quotes, as in the `ETag` header. It changes with every visible change and no other.
    etag: String,
    /// The time at which the service first stored the resource.
    created_at: Instant,
    /// The time of the last visible change.
    updated_at: Instant,
    /// Your own notes on the resource: at most 50 keys of up to 40 characters, values up to 500. They are never sent to a provider.
    metadata: Metadata,
    /// Warnings of a call that succeeded. On a read they also say why a series cannot be expanded, and which data of the provider the model
    /// cannot express.
    warnings: Vec<Warning>,
    /// The provider's fields that the model has no field for, in the provider's own form; only with `include=providerData`.
    #[serde(skip_serializing_if = "Option::is_none")]
    provider_data: Option<Value>,
}

/// The fields that every create may have.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
struct CommonNew {
    /// The connection to create the resource in. It is not needed if the path or another field names something inside a connection.
    #[schemars(with = "Option<formats::Id>")]
    connection_id: Option<String>,
    /// Your own notes on the resource: at most 50 keys of up to 40 characters, values up to 500. They are never sent to a provider.
    #[schemars(with = "formats::Notes")]
    metadata: Metadata,
}

/// The fields that every patch may have.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
struct CommonPatch {
    /// The version that the change is based on, instead of the header `If-Match`. An outdated one answers 409 `stale_etag`.
    #[schemars(with = "Option<formats::Etag>")]
    etag: Option<String>,
    /// Your own notes on the resource. They replace all earlier ones.
    #[schemars(with = "formats::Notes")]
    metadata: Metadata,
}

impl<T: Body + Default> JsonSchema for Resource<T>
where
    T::Extra: Default,
{
    fn schema_name() -> Cow<'static, str> {
        T::NAME.into()
    }

    fn schema_id() -> Cow<'static, str> {
        format!("Resource<{}>", T::NAME).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let parts =
            [Common::json_schema(generator), T::Extra::json_schema(generator), T::json_schema(generator)];
        let mut schema = merge(&parts);
        for name in
            T::READ_ONLY.iter().chain(["id", "externalId", "createdAt", "updatedAt", "warnings"].iter())
        {
            mark_read_only(&mut schema, name);
        }
        schema
    }
}

impl<T: Body + Default> JsonSchema for New<T>
where
    T::Options: Default,
{
    fn schema_name() -> Cow<'static, str> {
        format!("New{}", T::NAME).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let common = CommonNew::json_schema(generator);
        let mut schema = merge(&[T::Options::json_schema(generator), common, writable::<T>(generator)]);
        if !T::IN_CONNECTION
            && let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut)
        {
            properties.remove("connectionId");
        }
        if !T::REQUIRED.is_empty() {
            schema.insert("required".into(), json!(T::REQUIRED));
        }
        for name in T::REQUIRED {
            forbid_null(&mut schema, name);
        }
        schema
    }
}

impl<T: Body> JsonSchema for Patch<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}Patch", T::NAME).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let common = CommonPatch::json_schema(generator);
        let mut schema = merge(&[T::Options::json_schema(generator), common, writable::<T>(generator)]);
        let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else {
            return schema;
        };
        properties.retain(|name, _| !T::CREATE_ONLY.contains(&name.as_str()));
        for (name, property) in properties {
            if !T::REQUIRED.contains(&name.as_str()) {
                allow_null(property);
            }
        }
        schema
    }
}

/// The body's schema without the fields that a caller cannot set, and with nothing required.
fn writable<T: Body>(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = T::json_schema(generator);
    schema.remove("required");
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|name, _| !T::READ_ONLY.contains(&name.as_str()));
    }
    schema
}

/// One object with the properties of all, described as the last.
fn merge(parts: &[Schema]) -> Schema {
    let mut properties = serde_json::Map::new();
    let mut required = Vec::new();
    for part in parts {
        if let Some(own) = part.get("properties").and_then(Value::as_object) {
            properties.extend(own.clone());
        }
        if let Some(own) = part.get("required").and_then(Value::as_array) {
            required.extend(own.iter().cloned());
        }
    }
    let mut schema = json_schema!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        schema.insert("required".into(), Value::Array(required));
    }
    for keyword in ["description", "x-rules"] {
        if let Some(value) = parts.last().and_then(|p| p.get(keyword)) {
            schema.insert(keyword.into(), value.clone());
        }
    }
    schema
}

/// Lets a property be null, which clears it in a merge patch.
fn allow_null(property: &mut Value) {
    // A schema with neither a type nor a reference allows any value.
    let Some(keywords) = property.as_object_mut() else { return };
    match keywords.get_mut("type") {
        Some(Value::Array(types)) if types.iter().all(|one| one != "null") => types.push(json!("null")),
        Some(Value::String(one)) => {
            let one = std::mem::take(one);
            keywords.insert("type".into(), json!([one, "null"]));
        }
        _ => {}
    }
    match keywords.get_mut("enum") {
        Some(Value::Array(words)) if !words.contains(&Value::Null) => words.push(Value::Null),
        _ => {}
    }
    let nothing = json!({ "type": "null" });
    if let Some(Value::Array(forms)) = keywords.get_mut("anyOf") {
        if !forms.contains(&nothing) {
            forms.push(nothing);
        }
        return;
    }
    for keyword in ["$ref", "oneOf", "allOf"] {
        if let Some(form) = keywords.remove(keyword) {
            keywords.insert("anyOf".into(), json!([{ keyword: form }, nothing]));
            return;
        }
    }
}

/// Takes null out of the types of a property: a create that requires the field refuses null.
fn forbid_null(schema: &mut Schema, name: &str) {
    let property = schema.get_mut("properties").and_then(|p| p.get_mut(name)).and_then(Value::as_object_mut);
    let Some(property) = property else { return };
    if let Some(Value::Array(types)) = property.get_mut("type") {
        types.retain(|one| one != "null");
        if let [one] = types.as_slice() {
            let one = one.clone();
            property.insert("type".into(), one);
        }
    }
}

fn mark_read_only(schema: &mut Schema, name: &str) {
    let property = schema.get_mut("properties").and_then(|p| p.get_mut(name)).and_then(Value::as_object_mut);
    if let Some(property) = property {
        property.insert("readOnly".into(), json!(true));
    }
}

#[cfg(test)]
mod tests {
    use schemars::generate::SchemaSettings;

    use super::*;
    use crate::calendar::Calendar;

    #[test]
    fn a_create_refuses_null_for_a_required_field() {
        let mut generator = SchemaSettings::draft2020_12().for_deserialize().into_generator();
        let schema = New::<Calendar>::json_schema(&mut generator).to_value();
        assert_eq!(schema["required"], json!(["connectionId", "name"]));
        assert_eq!(schema["properties"]["connectionId"]["type"], "string");
        assert_eq!(schema["properties"]["color"]["type"], json!(["string", "null"]));
    }

    #[test]
    fn a_patch_clears_every_field_by_null() {
        let rows = [
            (
                json!({ "type": "string", "description": "A" }),
                json!({ "type": ["string", "null"], "description": "A" }),
            ),
            (json!({ "type": ["array", "null"] }), json!({ "type": ["array", "null"] })),
            (
                json!({ "type": "string", "enum": ["a", "b"] }),
                json!({ "type": ["string", "null"], "enum": ["a", "b", null] }),
            ),
            (
                json!({ "$ref": "#/A", "description": "A" }),
                json!({ "description": "A", "anyOf": [{ "$ref": "#/A" }, { "type": "null" }] }),
            ),
            (
                json!({ "anyOf": [{ "$ref": "#/A" }, { "type": "null" }] }),
                json!({ "anyOf": [{ "$ref": "#/A" }, { "type": "null" }] }),
            ),
            (json!({ "description": "any" }), json!({ "description": "any" })),
            (json!(true), json!(true)),
        ];
        for (mut property, wanted) in rows {
            allow_null(&mut property);
            assert_eq!(property, wanted);
        }
    }
}
