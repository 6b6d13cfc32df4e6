//! Request bodies: JSON with camelCase or snake_case names (Contract, Rules), bounded, with clear errors. Unknown fields are reported in
//! `warnings`, or refused under `Prefer: handling=strict`.

use axum::extract::{FromRequest, Request};
use base::error::{Code, Result, refuse};
use base::input::errors::understood;
use base::input::json;
use base::tenant::Tenant;
use http::{HeaderMap, HeaderValue};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use service::app::App;

use crate::api::request::received_body::ReceivedBody;
use crate::api::response::error::ApiError;

/// A request body: one JSON object with camelCase keys. An absent body is an empty object. It was read, and its size checked against the
/// operation's limit, before its handler was called (`api::request::body`).
pub struct Body(pub Map<String, Value>);

impl<S: Send + Sync> FromRequest<S> for Body {
    type Rejection = ApiError;

    async fn from_request(mut request: Request, _: &S) -> Result<Self, ApiError> {
        let received = request.extensions_mut().remove::<ReceivedBody>();
        let received = received.ok_or_else(|| anyhow::anyhow!("the body was not read before the handler"))?;
        Ok(Body(received.into_object()?))
    }
}

/// Parses the object in a body of this `content_type`.
pub fn object(content_type: Option<&HeaderValue>, bytes: &[u8]) -> Result<Map<String, Value>> {
    if bytes.is_empty() {
        return Ok(Map::new());
    }
    if !is_json(content_type) {
        return Err(refuse(Code::UnsupportedMediaType, "send the body as application/json"));
    }
    match json::value(bytes)? {
        Value::Object(map) => Ok(map),
        _ => Err(refuse(Code::InvalidRequest, "the body must be a JSON object")),
    }
}

/// Whether the content type is JSON, which is the default.
fn is_json(content_type: Option<&HeaderValue>) -> bool {
    let kind = content_type.and_then(|v| v.to_str().ok()).unwrap_or("application/json");
    let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || essence == "application/merge-patch+json"
}

/// Parses a body as a type: the error names the field; the names of unknown fields are returned.
pub fn typed<T: DeserializeOwned + Serialize>(map: Map<String, Value>) -> Result<(T, Vec<String>)> {
    let mut unknown = Vec::new();
    let (parsed, _) = understood(&Value::Object(map), &mut unknown)?;
    Ok((parsed, unknown))
}

/// As `typed`, on the compute pool, for a body with files.
pub async fn typed_with_files<T: DeserializeOwned + Serialize + Send>(
    app: &App,
    tenant: &Tenant,
    map: Map<String, Value>,
) -> Result<(T, Vec<String>)> {
    let bytes = map.values().map(text_bytes).sum();
    app.compute.run(&tenant.application_id, bytes, || typed(map)).await
}

/// Bytes of all texts in a value.
fn text_bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(text_bytes).sum(),
        Value::Object(members) => members.values().map(text_bytes).sum(),
        _ => 0,
    }
}

/// Whether the caller wants unknown fields refused (RFC 7240).
pub fn is_strict(headers: &HeaderMap) -> bool {
    headers
        .get_all("prefer")
        .iter()
        .filter_map(|v| v.to_str().ok())
        .flat_map(|v| v.split([',', ';']))
        // The value may be quoted, with white space around the `=` (RFC 7240, section 2).
        .any(|p| p.replace(['"', ' ', '\t'], "").eq_ignore_ascii_case("handling=strict"))
}

/// Unknown fields as warnings, or as an error if the caller is strict.
pub fn unknown_fields(headers: &HeaderMap, unknown: &[String]) -> Result<Vec<Value>> {
    base::input::merge_patch::warnings(unknown, is_strict(headers))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_strict_caller_says_so_in_every_spelling() {
        for (text, strict) in [
            ("respond-async, Handling=strict", true),
            ("handling = \"strict\"; wait=5", true),
            ("handling=lenient", false),
        ] {
            let value = HeaderValue::from_static(text);
            let headers = HeaderMap::from_iter([(http::HeaderName::from_static("prefer"), value)]);
            assert_eq!(is_strict(&headers), strict, "{text}");
        }
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
