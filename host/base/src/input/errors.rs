//! Messages of input errors, the same for typed bodies, merge patches and queries.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::error::{Code, Error, Result, invalid};
use crate::input::field_path::FieldPath;

/// Characters of a deserializer's sentence that are repeated to the client.
const MAX_CAUSE: usize = 300;
/// Unknown fields that are named; a body can have many thousands.
const MAX_UNKNOWN: usize = 100;

/// An error of one field. `cause` is the deserializer's sentence.
pub fn field_error(field: &str, cause: &str) -> Error {
    if let Some(missing) = cause.strip_prefix("missing field `").and_then(|r| r.split('`').next()) {
        let name =
            if field == "." || field.is_empty() { missing.to_owned() } else { format!("{field}.{missing}") };
        return invalid(Code::MissingField, name.clone(), format!("{name} is required"));
    }
    let field = if field == "." || field.is_empty() { "body" } else { field };
    let cause = cause.split(" at line ").next().unwrap_or(cause);
    // The sentence quotes the value, however long that is.
    let shown: String = cause.chars().take(MAX_CAUSE).collect();
    let more = if shown.len() < cause.len() { "…" } else { "" };
    invalid(Code::InvalidParameter, field, format!("{field}: {shown}{more}"))
}

/// Parses `given`. Returns the `T`, and the JSON of that `T`. An error names the field; unknown fields are added to `unknown`.
pub fn understood<T>(given: &Value, unknown: &mut Vec<String>) -> Result<(T, Value)>
where
    T: DeserializeOwned + Serialize,
{
    let parsed: T = serde_path_to_error::deserialize(given)
        .map_err(|e| field_error(&e.path().to_string(), &e.inner().to_string()))?;
    let printed = serde_json::to_value(&parsed)?;
    compare(given, &printed, &FieldPath::Root, unknown)?;
    Ok((parsed, printed))
}

/// U+0000 has no meaning in any text of the model, and PostgreSQL cannot store it.
pub fn holds_nul(field: &str) -> Error {
    let message = format!("{field} holds the character U+0000; leave it out");
    invalid(Code::InvalidParameter, field, message)
}

/// Compares the input with the parsed value: names the fields that were ignored, at any depth, and refuses a list in place of an
/// object, whose items would be taken for the object's fields in their order.
fn compare(given: &Value, understood: &Value, path: &FieldPath<'_>, unknown: &mut Vec<String>) -> Result<()> {
    match (given, understood) {
        (Value::Object(given), Value::Object(understood)) => {
            for (name, value) in given {
                let path = path.member(name);
                match understood.get(name) {
                    Some(found) => compare(value, found, &path, unknown)?,
                    None if value.is_null() || unknown.len() >= MAX_UNKNOWN => {}
                    None => unknown.push(path.to_string()),
                }
            }
            Ok(())
        }
        (Value::Array(given), Value::Array(understood)) => {
            let mut pairs = given.iter().zip(understood).enumerate();
            pairs.try_for_each(|(i, (g, u))| compare(g, u, &path.item(i), unknown))
        }
        (Value::Array(_), Value::Object(_)) => {
            let message = format!("{path} must be an object, not a list");
            Err(invalid(Code::InvalidParameter, path.to_string(), message))
        }
        _ => Ok(()),
    }
}

/// An exact host name in lower case; none for texts that a browser cannot send as the host of an origin.
pub fn host_name(text: &str) -> Option<String> {
    let host = text.trim().to_ascii_lowercase();
    let url = url::Url::parse(&format!("https://{host}/")).ok()?;
    let exact = url.host_str() == Some(&host) && url.port().is_none() && !host.ends_with('.');
    (exact && !host.contains('*')).then_some(host)
}

/// An error about a field that the operation does not have, for strict callers.
pub fn unknown_field(field: &str) -> Error {
    invalid(Code::UnknownField, field, format!("{field} is not a field of this request"))
}

/// The same for all others.
// Contract silent: full field lists are not shown, so an unknown field is told and not refused.
pub fn unknown_warning(field: &str) -> Value {
    let message = format!("{field} is not a field of this request; it was ignored");
    json!({ "code": "unknown_field", "message": message, "target": field, "field": field })
}
