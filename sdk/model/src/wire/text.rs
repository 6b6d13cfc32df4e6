//! A resource as the JSON text that crosses the boundary: printed once by the connector, read once by the host, and never a
//! tree of values in between.

#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// JSON text of one value.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JsonText(Box<RawValue>);

impl JsonText {
    /// The text of this resource. Fails where its type has no JSON: a map without string keys.
    pub fn of<T: Serialize + ?Sized>(resource: &T) -> serde_json::Result<Self> {
        serde_json::value::to_raw_value(resource).map(JsonText)
    }

    /// The resource.
    pub fn read<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_str(self.0.get())
    }

    /// Returns the JSON text.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }
}

impl Default for JsonText {
    fn default() -> Self {
        JsonText(RawValue::NULL.to_owned())
    }
}

impl PartialEq for JsonText {
    /// Compares the texts byte by byte.
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

#[cfg(feature = "schema")]
impl JsonSchema for JsonText {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "JsonText".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        serde_json::Value::json_schema(generator)
    }

    fn inline_schema() -> bool {
        true
    }
}
