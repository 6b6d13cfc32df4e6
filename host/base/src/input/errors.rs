//! Messages of input errors, the same for typed bodies, merge patches and queries.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

use crate::error::{Code, Detail, Error, Refusal, Result, invalid};
use crate::input::field_path::FieldPath;
use crate::input::words::rephrased;

/// Characters of a deserializer's message that an error repeats.
const MAX_CAUSE: usize = 300;
/// Invalid fields that one error names.
const MAX_FAULTS: usize = 20;
/// Members of an object that are each parsed alone to find further errors; a body can have many thousands.
const MAX_TRIED_MEMBERS: usize = 200;
/// Parts of the names of fields whose values no error repeats.
const SECRET_NAMES: [&str; 5] = ["credential", "password", "secret", "token", "apikey"];
/// Unknown fields that are named; a body can have many thousands.
const MAX_UNKNOWN: usize = 100;

/// Returns the error for one field. `cause` is the deserializer's message.
pub fn field_error(field: &str, cause: &str) -> Error {
    if let Some(missing) = cause.strip_prefix("missing field `").and_then(|r| r.split('`').next()) {
        let name =
            if field == "." || field.is_empty() { missing.to_owned() } else { format!("{field}.{missing}") };
        return invalid(Code::MissingField, name.clone(), format!("{name} is required"));
    }
    let field = if field == "." || field.is_empty() { "body" } else { field };
    if let Some(sentence) = rephrased(cause) {
        let sentence = if holds_secret(field) { without_value(&sentence) } else { sentence.as_str() };
        return invalid(Code::InvalidParameter, field, format!("{field} {sentence}"));
    }
    let cause = cause.split(" at line ").next().unwrap_or(cause);
    // The message quotes the whole value, however long.
    let shown: String = cause.chars().take(MAX_CAUSE).collect();
    let more = if shown.len() < cause.len() { "…" } else { "" };
    invalid(Code::InvalidParameter, field, format!("{field}: {shown}{more}"))
}

/// Whether the field's name suggests a secret value.
fn holds_secret(field: &str) -> bool {
    let name = field.rsplit('.').next().unwrap_or(field).to_ascii_lowercase();
    SECRET_NAMES.iter().any(|part| name.contains(part))
}

/// Returns the sentence without the received value.
fn without_value(sentence: &str) -> &str {
    sentence.split_once("; got ").map_or(sentence, |(allowed, _)| allowed)
}

/// Parses `given`.
///
/// # Errors
/// Names the first wrong field, with all wrong members of the object in `details`, each with its first error.
pub fn parse<T: DeserializeOwned>(given: &Value) -> Result<T> {
    serde_path_to_error::deserialize(given).map_err(|e| {
        match field_error(&e.path().to_string(), &e.inner().to_string()) {
            Error::Refused(first) => with_others::<T>(given, *first).into(),
            internal => internal,
        }
    })
}

/// Parses the input of any deserializer, such as the parameters of a query string.
///
/// # Errors
/// Names the first wrong field.
pub fn parse_from<'de, T: Deserialize<'de>, D: Deserializer<'de>>(given: D) -> Result<T> {
    serde_path_to_error::deserialize(given)
        .map_err(|e| field_error(&e.path().to_string(), &e.inner().to_string()))
}

/// Adds the errors of the object's other members: each is parsed alone.
fn with_others<T: DeserializeOwned>(given: &Value, first: Refusal) -> Refusal {
    let mut details: Vec<Detail> = detail(&first).into_iter().collect();
    for (name, value) in given.as_object().into_iter().flatten().take(MAX_TRIED_MEMBERS) {
        let alone = Value::Object(Map::from_iter([(name.clone(), value.clone())]));
        let parsed: Result<T, _> = serde_path_to_error::deserialize(&alone);
        let Err(e) = parsed else { continue };
        let path = e.path().to_string();
        // Alone, a member also fails for the required ones beside it; that says nothing about the member.
        if path == "." {
            continue;
        }
        let Error::Refused(refusal) = field_error(&path, &e.inner().to_string()) else { continue };
        let found = detail(&refusal).filter(|found| details.iter().all(|one| one.field != found.field));
        details.extend(found);
        if details.len() == MAX_FAULTS {
            break;
        }
    }
    Refusal { details, ..first }
}

fn detail(refusal: &Refusal) -> Option<Detail> {
    let field = refusal.param.clone()?;
    Some(Detail { field, code: refusal.code, message: refusal.message.clone() })
}

/// Parses `given` as `parse` does. Returns the value and its JSON; the names of unknown fields are added to `unknown`.
pub fn understood<T>(given: &Value, unknown: &mut Vec<String>) -> Result<(T, Value)>
where
    T: DeserializeOwned + Serialize,
{
    let parsed: T = parse(given)?;
    let printed = serde_json::to_value(&parsed)?;
    compare(given, &printed, &FieldPath::Root, unknown)?;
    Ok((parsed, printed))
}

/// Returns the error for a field with the character U+0000, which has no meaning in the model and which PostgreSQL cannot store.
pub fn holds_nul(field: &str) -> Error {
    let message = format!("{field} holds the character U+0000; leave it out");
    invalid(Code::InvalidParameter, field, message)
}

/// Compares the input with the parsed value: collects the fields that were ignored, at any depth, and refuses a list in place of an object,
/// because serde would read the list's items as the object's fields in order.
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

/// Returns a host name in lower case; none for texts that cannot be the host of an origin.
pub fn host_name(text: &str) -> Option<String> {
    let host = text.trim().to_ascii_lowercase();
    let url = url::Url::parse(&format!("https://{host}/")).ok()?;
    let exact = url.host_str() == Some(&host) && url.port().is_none() && !host.ends_with('.');
    (exact && !host.contains('*')).then_some(host)
}

/// Returns the error for an unknown field, for strict callers.
pub fn unknown_field(field: &str) -> Error {
    invalid(Code::UnknownField, field, format!("{field} is not a field of this request"))
}

/// Returns the warning for an unknown field, for callers that are not strict.
// Contract silent: unknown fields. It does not list all fields, so an unknown one is a warning, not an error.
pub fn unknown_warning(field: &str) -> Value {
    let message = format!("{field} is not a field of this request; it was ignored");
    json!({ "code": "unknown_field", "message": message, "target": field, "field": field })
}
