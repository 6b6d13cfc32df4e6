//! Bodies of creates and patches, applied as JSON merge patches (RFC 7396) to the model's own JSON: absent keeps, `null` clears,
//! arrays are replaced whole. One function for every resource; a resource only declares which fields are read-only.

use std::collections::BTreeMap;

use model::resource::Body;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::{Code, Result, invalid};
use crate::input::errors::{field_error, understood, unknown_field};
use crate::input::metadata;

/// A parsed write.
#[derive(Debug)]
pub struct Write<T> {
    /// The whole resource after the write.
    pub body: T,
    /// Names of the fields that the caller set and that differ from before.
    pub changed: Vec<String>,
    pub metadata: Option<BTreeMap<String, String>>,
    /// Fields that the resource does not have.
    pub unknown: Vec<String>,
}

/// Fields that every resource has and no client may set.
const COMMON_READ_ONLY: [&str; 11] = [
    "id",
    "connectionId",
    "externalId",
    "createdAt",
    "updatedAt",
    "providerData",
    "warnings",
    "calendarId",
    "bookId",
    "taskListId",
    "seriesId",
];

/// Merges `input` into `current`. `printed` is the current resource as the API returns it: a read-only field with the same value is
/// accepted. `extra` names further read-only fields for this kind of write.
pub fn over<T>(
    current: &T,
    printed: &Value,
    mut input: Map<String, Value>,
    extra: &[&str],
) -> Result<Write<T>>
where
    T: Body + Serialize + DeserializeOwned,
{
    let metadata = take_metadata(&mut input)?;
    let Value::Object(before) = serde_json::to_value(current)? else {
        return Err(anyhow::anyhow!("a resource is an object").into());
    };
    let mut after = before.clone();
    let mut unknown = Vec::new();
    for (name, value) in input {
        let read_only = T::READ_ONLY.contains(&name.as_str())
            || COMMON_READ_ONLY.contains(&name.as_str())
            || extra.contains(&name.as_str());
        if read_only {
            if printed.get(&name) != Some(&value) {
                let message = format!("{name} cannot be set; leave it out");
                return Err(invalid(Code::InvalidParameter, name, message));
            }
        } else if before.contains_key(&name) {
            merge(&mut after, name, value);
        } else {
            unknown.push(name);
        }
    }
    let (body, now): (T, Value) = understood(&Value::Object(after), &mut unknown)?;
    let fields = now.as_object().into_iter().flatten();
    let changed = fields.filter(|(name, v)| before.get(*name) != Some(*v)).map(|(n, _)| n.clone()).collect();
    Ok(Write { body, changed, metadata, unknown })
}

/// RFC 7396: objects merge, everything else replaces, null removes (and so gives the field its default).
fn merge(into: &mut Map<String, Value>, name: String, value: Value) {
    match (into.get_mut(&name), value) {
        (_, Value::Null) => {
            into.remove(&name);
        }
        (Some(Value::Object(old)), Value::Object(new)) => {
            for (key, value) in new {
                merge(old, key, value);
            }
        }
        (_, value) => {
            into.insert(name, value);
        }
    }
}

fn take_metadata(input: &mut Map<String, Value>) -> Result<Option<BTreeMap<String, String>>> {
    let Some(value) = input.remove("metadata") else { return Ok(None) };
    if value.is_null() {
        return Ok(Some(BTreeMap::new()));
    }
    let map: BTreeMap<String, String> = serde_path_to_error::deserialize(&value)
        .map_err(|e| field_error(&format!("metadata.{}", e.path()), &e.inner().to_string()))?;
    metadata::check("metadata", &map)?;
    Ok(Some(map))
}

/// Unknown fields as warnings, or, for a strict caller, as an error.
pub fn warnings(unknown: &[String], strict: bool) -> Result<Vec<Value>> {
    match (strict, unknown.first()) {
        (true, Some(first)) => Err(unknown_field(first)),
        _ => Ok(unknown.iter().map(|f| crate::input::errors::unknown_warning(f)).collect()),
    }
}
