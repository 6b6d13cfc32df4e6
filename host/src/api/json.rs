//! Request bodies: JSON, camelCase or snake_case in (Contract, Rules), bounded, with clear errors. Unknown fields are told in
//! `warnings`, or refused under `Prefer: handling=strict`.

use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use http::{HeaderMap, header};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::api::error::ApiError;
use crate::error::{Code, Result, invalid, refuse};
use crate::words::{holds_nul, understood};

/// Largest body of an ordinary operation in bytes.
pub const MAX_BODY: usize = 2 << 20;

/// Largest body of an operation that takes files along.
const LARGE_BODY: usize = 40 << 20;

/// Maps whose keys are the caller's own words and stay as they are.
const FREE_MAPS: [&str; 5] = ["metadata", "tags", "headers", "answers", "providerData"];

/// A request body: one JSON object with camelCase keys. An absent body is an empty object.
pub struct Body(pub Map<String, Value>);

impl<S: Send + Sync> FromRequest<S> for Body {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        let bytes = axum::body::to_bytes(body, MAX_BODY).await.map_err(|_| {
            refuse(Code::PayloadTooLarge, format!("the body is larger than {MAX_BODY} bytes"))
        })?;
        Ok(Body(object(&parts.headers, &bytes)?))
    }
}

/// The same for operations that take files along: as large as the service takes any (`api`).
pub struct LargeBody(pub Map<String, Value>);

impl<S: Send + Sync> FromRequest<S> for LargeBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        let bytes = axum::body::to_bytes(body, LARGE_BODY).await.map_err(|_| {
            refuse(Code::PayloadTooLarge, format!("the body is larger than {LARGE_BODY} bytes"))
        })?;
        Ok(LargeBody(object(&parts.headers, &bytes)?))
    }
}

/// The object in a body.
pub fn object(headers: &HeaderMap, bytes: &Bytes) -> Result<Map<String, Value>> {
    if bytes.is_empty() {
        return Ok(Map::new());
    }
    let kind = headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or("application/json");
    let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if essence != "application/json" && essence != "application/merge-patch+json" {
        return Err(refuse(Code::UnsupportedMediaType, "send the body as application/json"));
    }
    let value: Value = serde_json::from_slice(bytes)
        .map_err(|e| refuse(Code::InvalidJson, format!("the body is not JSON: {e}")))?;
    no_nul(&value, "")?;
    match camel_keys(value, "")? {
        Value::Object(map) => Ok(map),
        _ => Err(refuse(Code::InvalidRequest, "the body must be a JSON object")),
    }
}

/// Refuses U+0000 in any text and any name.
fn no_nul(value: &Value, path: &str) -> Result<()> {
    match value {
        Value::String(text) if text.contains('\0') => Err(holds_nul(path)),
        Value::Array(items) => {
            items.iter().enumerate().try_for_each(|(i, item)| no_nul(item, &format!("{path}[{i}]")))
        }
        Value::Object(map) => map.iter().try_for_each(|(name, value)| {
            let path = if path.is_empty() { camel(name) } else { format!("{path}.{}", camel(name)) };
            match name.contains('\0') {
                true => Err(holds_nul(&path.replace('\0', ""))),
                false => no_nul(value, &path),
            }
        }),
        _ => Ok(()),
    }
}

/// The same value with camelCase keys. Two spellings of one field with different values are a contradiction.
pub fn camel_keys(value: Value, path: &str) -> Result<Value> {
    match value {
        Value::Array(items) => {
            let items = items.into_iter().enumerate().map(|(i, v)| camel_keys(v, &format!("{path}[{i}]")));
            Ok(Value::Array(items.collect::<Result<_>>()?))
        }
        Value::Object(map) => {
            let mut out = Map::with_capacity(map.len());
            for (key, value) in map {
                let name = camel(&key);
                let at = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                let value = if FREE_MAPS.contains(&name.as_str()) { value } else { camel_keys(value, &at)? };
                if out.get(&name).is_some_and(|earlier| *earlier != value) {
                    let message = format!("{at} is given in two spellings with different values; send one");
                    return Err(invalid(Code::ConflictingFields, at, message));
                }
                out.insert(name, value);
            }
            Ok(Value::Object(out))
        }
        other => Ok(other),
    }
}

/// `connection_id` → `connectionId`. A leading `$` or `_` stays.
pub fn camel(key: &str) -> String {
    if !key.contains('_') {
        return key.to_owned();
    }
    let mut out = String::with_capacity(key.len());
    let mut up = false;
    for c in key.chars() {
        match c {
            '_' if !out.is_empty() => up = true,
            c if up => {
                out.extend(c.to_uppercase());
                up = false;
            }
            c => out.push(c),
        }
    }
    out
}

/// A body as a type: the error names the field; unknown fields are returned.
pub fn typed<T: DeserializeOwned + Serialize>(map: Map<String, Value>) -> Result<(T, Vec<String>)> {
    let mut unknown = Vec::new();
    let (parsed, _) = understood(&Value::Object(map), &mut unknown)?;
    Ok((parsed, unknown))
}

/// Whether the caller wants unknown fields refused (RFC 7240).
pub fn is_strict(headers: &HeaderMap) -> bool {
    headers
        .get_all("prefer")
        .iter()
        .filter_map(|v| v.to_str().ok())
        .flat_map(|v| v.split([',', ';']))
        .any(|p| p.trim().eq_ignore_ascii_case("handling=strict"))
}

/// Unknown fields as warnings, or an error where the caller is strict.
pub fn unknown_fields(headers: &HeaderMap, unknown: &[String]) -> Result<Vec<Value>> {
    crate::resources::patch::warnings(unknown, is_strict(headers))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_spellings_are_read_and_a_contradiction_is_told() {
        let value = camel_keys(
            json!({ "connection_id": "a", "time_zone": "UTC", "metadata": { "my_key": "x" } }),
            "",
        );
        assert_eq!(
            value.unwrap(),
            json!({ "connectionId": "a", "timeZone": "UTC", "metadata": { "my_key": "x" } })
        );
        let err = camel_keys(json!({ "timeZone": "UTC", "time_zone": "CET" }), "").unwrap_err();
        assert_eq!(err.code(), Some(Code::ConflictingFields));
    }

    #[test]
    fn an_error_names_the_field() {
        #[derive(Serialize, serde::Deserialize, Debug)]
        struct In {
            #[serde(rename = "n")]
            _n: Vec<i64>,
        }
        let map = json!({ "n": [1, "x"], "m": 1 });
        let Value::Object(map) = map else { unreachable!() };
        let err = typed::<In>(map).unwrap_err();
        assert!(err.to_string().contains("n[1]"), "{err}");
    }
}
