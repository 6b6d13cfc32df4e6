//! Comparison of expected values with those that were found.

use serde_json::Value;

use crate::report::Report;

/// Compares the fields of `expected`; fields that it lacks may have any value. A difference's class is its path without list indices, and
/// whether no value was found.
pub fn compare(class: &str, object: &str, expected: &Value, found: &Value, report: &mut Report) {
    match (expected, found) {
        (Value::Object(fields), Value::Object(_)) => {
            for (name, value) in fields {
                compare(&format!("{class}.{name}"), object, value, &found[name], report);
            }
        }
        (Value::Array(all), Value::Array(others)) if all.len() == others.len() => {
            for (value, other) in all.iter().zip(others) {
                compare(class, object, value, other, report);
            }
        }
        (Value::String(text), Value::String(other)) if plain(text) == plain(other) => {}
        // A text of white space only counts as absent.
        (Value::String(text), Value::Null) | (Value::Null, Value::String(text)) if plain(text).is_empty() => {
        }
        _ if expected == found => {}
        (_, Value::Null) => report.add(format!("{class} is null"), object, format!("expected {expected}")),
        _ => report.add(class, object, format!("expected {expected}, found {found}")),
    }
}

/// Removes line ends and surrounding white space, which have no meaning.
fn plain(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n").trim().to_owned()
}

/// Compares the answer to a change with the earlier state: only these fields may differ.
pub fn unchanged(
    class: &str,
    object: &str,
    before: &Value,
    after: &Value,
    but: &[&str],
    report: &mut Report,
) {
    for (name, value) in before.as_object().into_iter().flatten() {
        if !but.contains(&name.as_str()) && after[name] != *value {
            report.add(format!("{class}.{name}"), object, format!("was {value}, is {}", after[name]));
        }
    }
}
