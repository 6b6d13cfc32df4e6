//! The words in which faults of the input are told, the same for typed bodies, merge patches and queries.

use serde_json::{Value, json};

use crate::error::{Code, Error, invalid};

/// A fault of one field. `cause` is the deserializer's sentence.
pub fn field_error(field: &str, cause: &str) -> Error {
    if let Some(missing) = cause.strip_prefix("missing field `").and_then(|r| r.split('`').next()) {
        let name =
            if field == "." || field.is_empty() { missing.to_owned() } else { format!("{field}.{missing}") };
        return invalid(Code::MissingField, name.clone(), format!("{name} is required"));
    }
    let field = if field == "." || field.is_empty() { "body" } else { field };
    let cause = cause.split(" at line ").next().unwrap_or(cause);
    invalid(Code::InvalidParameter, field, format!("{field}: {cause}"))
}

/// A field that the operation does not know, for callers that are strict.
pub fn unknown_field(field: &str) -> Error {
    invalid(Code::UnknownField, field, format!("{field} is not a field of this request"))
}

/// The same for all others.
// Contract silent: full field lists are not shown, so an unknown field is told and not refused.
pub fn unknown_warning(field: &str) -> Value {
    let message = format!("{field} is not a field of this request; it was ignored");
    json!({ "code": "unknown_field", "message": message, "target": field, "field": field })
}
