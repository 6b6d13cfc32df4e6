//! From a client's JSON to a checked value: merge patches (RFC 7396), ids of the client's choice, and common bounds. Pure: no
//! code here depends on the state or HTTP.

use model::resource::Body;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::problem::Problem;

/// The longest text, such as notes.
pub const MAX_TEXT: usize = 256 << 10;
/// The longest line, such as a title.
pub const MAX_LINE: usize = 4 << 10;

/// RFC 7396.
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(fields) = target else { return };
    for (name, value) in patch {
        if value.is_null() {
            fields.remove(name);
        } else {
            merge(fields.entry(name.clone()).or_insert(Value::Null), value);
        }
    }
}

/// `base` with the writable `fields` of `patch`. Read-only fields (`own`) are accepted and ignored, so that a document that was
/// read can be sent back; any other field is refused.
pub fn patched<T: Serialize + DeserializeOwned>(
    base: &T,
    patch: &Map<String, Value>,
    fields: &[&str],
    own: &[&str],
) -> Result<T, Problem> {
    let mut document = serde_json::to_value(base).map_err(|e| Problem::bad_request(e.to_string()))?;
    let mut given = Map::new();
    for (name, value) in patch {
        if fields.contains(&name.as_str()) {
            given.insert(name.clone(), value.clone());
        } else if !own.contains(&name.as_str()) {
            return Err(Problem::field(name, format!("there is no field {name:?}")));
        }
    }
    merge(&mut document, &Value::Object(given));
    read(document)
}

/// Members of every document that are the provider's own.
const OWN: [&str; 4] = ["id", "etag", "createdAt", "updatedAt"];

/// The resource that `patch` makes of `base`. Its read-only fields and `own` are ignored.
pub fn merged<T: Body + Serialize + DeserializeOwned>(
    base: &T,
    patch: &Map<String, Value>,
    own: &[&str],
) -> Result<T, Problem> {
    let document = serde_json::to_value(base).map_err(|e| Problem::bad_request(e.to_string()))?;
    let own = [OWN.as_slice(), T::READ_ONLY, own].concat();
    let names = document.as_object().into_iter().flat_map(Map::keys).map(String::as_str);
    let fields: Vec<&str> = names.filter(|name| !own.contains(name)).collect();
    patched(base, patch, &fields, &own)
}

/// Parses a value; the refusal names its position.
pub fn read<T: DeserializeOwned>(document: Value) -> Result<T, Problem> {
    serde_path_to_error::deserialize(document).map_err(|e| {
        let path = e.path().to_string();
        Problem::field(&path, e.into_inner().to_string())
    })
}

/// A request's body, which must be a JSON object; an empty one counts as `{}`.
pub fn object(body: &[u8]) -> Result<Map<String, Value>, Problem> {
    if body.is_empty() {
        return Ok(Map::new());
    }
    serde_json::from_slice(body)
        .map_err(|e| Problem::bad_request(format!("the body must be a JSON object: {e}")))
}

/// An id that the client chose.
pub fn client_id(patch: &Map<String, Value>) -> Result<Option<String>, Problem> {
    let Some(value) = patch.get("id").filter(|v| !v.is_null()) else { return Ok(None) };
    let id = value.as_str().unwrap_or_default();
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_-".contains(&b);
    if !(4..=64).contains(&id.len()) || !id.bytes().all(allowed) {
        return Err(Problem::field("id", "id must be 4 to 64 characters of a-z, 0-9, _ and -"));
    }
    Ok(Some(id.to_owned()))
}

/// Refuses text that is too long.
pub fn text(field: &str, value: Option<&String>, max: usize) -> Result<(), Problem> {
    match value {
        Some(value) if value.len() > max => {
            Err(Problem::field(field, format!("{field} must be at most {max} bytes")))
        }
        _ => Ok(()),
    }
}

/// Refuses a title that is empty or too long.
pub fn title(field: &str, value: &str) -> Result<(), Problem> {
    match value.trim().is_empty() {
        true => Err(Problem::field(field, format!("{field} must not be empty"))),
        false if value.len() > MAX_LINE => {
            Err(Problem::field(field, format!("{field} must be at most {MAX_LINE} bytes")))
        }
        false => Ok(()),
    }
}

/// Refuses a list that is too long.
pub fn few(field: &str, count: usize, max: usize) -> Result<(), Problem> {
    if count > max {
        Err(Problem::field(field, format!("{field} may have at most {max} entries")))
    } else {
        Ok(())
    }
}

/// Refuses colours of another form than `#3b82f6`.
pub fn colour(field: &str, value: Option<&String>) -> Result<(), Problem> {
    let is_hex = |c: &String| {
        let digits = c.strip_prefix('#').filter(|digits| digits.len() == 6);
        digits.is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))
    };
    match value {
        Some(value) if !is_hex(value) => {
            Err(Problem::field(field, format!("{field} must look like #3b82f6")))
        }
        _ => Ok(()),
    }
}
