//! The JSON schemas of the envelope around a body.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::Instant;
use crate::resource::{Body, Metadata, New, Patch, Resource};
use crate::wire::Warning;

/// The common fields alone, for the schema.
#[derive(Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Common {
    /// Ours: opaque, never reused, the same wherever the provider moves it.
    #[schemars(length(max = 64), regex(pattern = r"^[A-Za-z0-9_]+$"))]
    id: String,
    /// Null for resources that the service itself owns.
    connection_id: Option<String>,
    /// The provider's id, for reconciliation.
    external_id: Option<String>,
    /// The version, with its quotes, as in the `ETag` header.
    etag: String,
    created_at: Instant,
    updated_at: Instant,
    /// The caller's own notes: at most 50 keys of up to 40 characters, values up to 500. Never sent to a provider.
    metadata: Metadata,
    /// Warnings of a call that succeeded; on reads also why a series cannot be expanded, and what the provider has of the resource that
    /// the model cannot express.
    warnings: Vec<Warning>,
    /// The provider's fields that the model has none for, in its own form; only with `include=providerData`.
    #[serde(skip_serializing_if = "Option::is_none")]
    provider_data: Option<Value>,
}

/// The fields that every create may have.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
struct CommonNew {
    /// The connected account; not needed where the path names something inside one.
    connection_id: Option<String>,
    /// Your own notes: at most 50 keys of up to 40 characters, values up to 500.
    metadata: Metadata,
}

/// The fields that every patch may have.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
struct CommonPatch {
    /// The version that the change is based on, instead of `If-Match`; a stale one gives 409 `stale_etag`.
    etag: Option<String>,
    /// Replaces your notes whole.
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
        schema
    }
}

impl<T: Body> JsonSchema for Patch<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}Patch", T::NAME).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let common = CommonPatch::json_schema(generator);
        merge(&[T::Options::json_schema(generator), common, writable::<T>(generator)])
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
    if let Some(description) = parts.last().and_then(|p| p.get("description")) {
        schema.insert("description".into(), description.clone());
    }
    schema
}

fn mark_read_only(schema: &mut Schema, name: &str) {
    let property = schema.get_mut("properties").and_then(|p| p.get_mut(name)).and_then(Value::as_object_mut);
    if let Some(property) = property {
        property.insert("readOnly".into(), json!(true));
    }
}
