//! The fields of a JSON body on the command line: `-f title=Lunch`, `-F reminder.minutes=10`, `-f 'to[].email=ada@example.com'`.

use std::io::Read;

use anyhow::Result;
use serde_json::{Map, Number, Value};

use crate::cli::refusal::{WRONG_USAGE, exit_failure};

/// Most bytes of a file whose text is the value of a field.
const MAX_TEXT_BYTES: usize = 32 << 20;
/// Most steps of a path.
const MAX_STEPS: usize = 32;

/// A step of the path to a field.
#[derive(Clone, Debug, PartialEq, Eq)]
enum FieldStep {
    Key(String),
    /// Another element of a list.
    Append,
}

/// A field of the body, with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyField {
    name: String,
    steps: Vec<FieldStep>,
    value: Value,
}

/// A query parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryParameter {
    pub name: String,
    pub value: String,
}

/// Parses `NAME=VALUE`.
pub fn parse_query(text: &str) -> Result<QueryParameter, String> {
    let (name, value) = pair(text)?;
    Ok(QueryParameter { name: name.to_owned(), value: value.to_owned() })
}

/// Parses `FIELD=TEXT`. The value is text, whatever it looks like.
pub fn parse_text(text: &str) -> Result<BodyField, String> {
    let (name, value) = pair(text)?;
    Ok(BodyField { name: name.to_owned(), steps: steps(name)?, value: Value::from(value) })
}

/// Parses `FIELD=VALUE`: `true`, `false`, `null` and numbers are JSON, `@FILE` is the text of a file, and everything else is text.
pub fn parse_typed(text: &str) -> Result<BodyField, String> {
    let (name, value) = pair(text)?;
    let steps = steps(name)?;
    let value = match value {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        "null" => Value::Null,
        _ => match (value.strip_prefix('@'), serde_json::from_str::<Number>(value)) {
            (Some(file), _) => Value::from(read_text(file)?),
            // An integer that no number can hold stays text.
            (None, Ok(number)) if !number.is_f64() || value.contains(['.', 'e', 'E']) => {
                Value::Number(number)
            }
            (None, _) => Value::from(value),
        },
    };
    Ok(BodyField { name: name.to_owned(), steps, value })
}

/// The JSON object that these fields make.
pub fn body(fields: &[BodyField]) -> Result<Value> {
    let mut body = Value::Object(Map::new());
    for field in fields {
        if !insert(&mut body, &field.steps, &field.value) {
            return Err(exit_failure(
                WRONG_USAGE,
                format!("the field {} does not fit the fields before it", field.name),
                "give each field once; `name[]=…` adds an element to a list, and `a.b=…` sets a field of an object",
            ));
        }
    }
    Ok(body)
}

fn pair(text: &str) -> Result<(&str, &str), String> {
    let pair = text.split_once('=').filter(|(name, _)| !name.is_empty());
    pair.ok_or_else(|| "write NAME=VALUE".to_owned())
}

fn read_text(file: &str) -> Result<String, String> {
    let mut text = String::new();
    // One byte more than allowed shows that a file is larger.
    let limit = u64::try_from(MAX_TEXT_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    let read = match file {
        "-" => std::io::stdin().lock().take(limit).read_to_string(&mut text),
        _ => std::fs::File::open(file).and_then(|file| file.take(limit).read_to_string(&mut text)),
    };
    read.map_err(|e| format!("cannot read {file}: {e}"))?;
    match text.len() <= MAX_TEXT_BYTES {
        true => Ok(text),
        false => Err(format!("{file} has more than {MAX_TEXT_BYTES} bytes")),
    }
}

/// Parses the path of a field: `a.b`, `a[b.c]` for a key with a dot, `a[]` for another element of a list.
fn steps(path: &str) -> Result<Vec<FieldStep>, String> {
    let wrong = || format!("\"{path}\" is no field: write for example title, start.dateTime or to[].email");
    let mut steps = Vec::new();
    for part in path.split_inclusive(']').flat_map(split_outside_brackets) {
        let step = match part.strip_prefix('[') {
            Some(inner) => match inner.strip_suffix(']').ok_or_else(wrong)? {
                "" => FieldStep::Append,
                key => FieldStep::Key(key.to_owned()),
            },
            None if part.contains(']') => return Err(wrong()),
            None => FieldStep::Key(part.to_owned()),
        };
        steps.push(step);
    }
    match matches!(steps.first(), Some(FieldStep::Key(_))) && steps.len() <= MAX_STEPS {
        true => Ok(steps),
        false => Err(wrong()),
    }
}

/// Splits `.a.b[c.d]` into `a`, `b` and `[c.d]`.
fn split_outside_brackets(text: &str) -> impl Iterator<Item = &str> {
    let (names, bracket) = match text.find('[').and_then(|at| text.split_at_checked(at)) {
        Some((names, bracket)) => (names, Some(bracket)),
        None => (text, None),
    };
    names.split('.').filter(|name| !name.is_empty()).chain(bracket)
}

/// Sets the value at the end of the path. Returns false if another value is in its way.
fn insert(target: &mut Value, steps: &[FieldStep], value: &Value) -> bool {
    let Some((step, rest)) = steps.split_first() else {
        *target = value.clone();
        return true;
    };
    match step {
        FieldStep::Key(name) => {
            if target.is_null() {
                *target = Value::Object(Map::new());
            }
            let Some(object) = target.as_object_mut() else { return false };
            if rest.is_empty() && object.contains_key(name) {
                return false;
            }
            insert(object.entry(name.clone()).or_insert(Value::Null), rest, value)
        }
        FieldStep::Append => {
            if target.is_null() {
                *target = Value::Array(Vec::new());
            }
            let Some(list) = target.as_array_mut() else { return false };
            // A further field belongs to the last element, until that has it.
            let continues = matches!(rest.first(), Some(FieldStep::Key(_)))
                && list.last().is_some_and(|last| last.is_object() && !has(last, rest));
            if !continues {
                list.push(Value::Null);
            }
            list.last_mut().is_some_and(|last| insert(last, rest, value))
        }
    }
}

/// Whether the value has a field at the end of this path.
fn has(value: &Value, steps: &[FieldStep]) -> bool {
    match steps.split_first() {
        None => true,
        Some((FieldStep::Key(name), rest)) => value.get(name).is_some_and(|inner| has(inner, rest)),
        Some((FieldStep::Append, _)) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(texts: &[&str], typed: &[&str]) -> Value {
        let texts = texts.iter().map(|text| parse_text(text).unwrap());
        let typed = typed.iter().map(|text| parse_typed(text).unwrap());
        body(&texts.chain(typed).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn fields_make_an_object() {
        assert_eq!(object(&["title=a=b", "count=1"], &[]), json!({ "title": "a=b", "count": "1" }));
        let typed =
            ["a=1", "b=1.5", "c=true", "d=null", "e=+4930123", "f=x y", "g=", "h=12345678901234567890123"];
        assert_eq!(
            object(&[], &typed),
            json!({ "a": 1, "b": 1.5, "c": true, "d": null, "e": "+4930123", "f": "x y", "g": "",
                    "h": "12345678901234567890123" })
        );
        assert_eq!(
            object(&["start.dateTime=2026-03-01", "start.timeZone=UTC", "metadata[my.key]=v"], &[]),
            json!({ "start": { "dateTime": "2026-03-01", "timeZone": "UTC" }, "metadata": { "my.key": "v" } })
        );
    }

    #[test]
    fn brackets_make_lists() {
        assert_eq!(object(&["labels[]=a", "labels[]=b"], &[]), json!({ "labels": ["a", "b"] }));
        let people = ["to[].email=a@x", "to[].name=A", "to[].email=b@x", "to[].tags[]=1", "to[].tags[]=2"];
        assert_eq!(
            object(&people, &[]),
            json!({ "to": [{ "email": "a@x", "name": "A" }, { "email": "b@x", "tags": ["1", "2"] }] })
        );
    }

    #[test]
    fn fields_that_are_none_are_refused() {
        for wrong in ["title", "=x", "[]=x", "a]=x", "a[b=x"] {
            assert!(parse_text(wrong).is_err(), "{wrong}");
        }
        let twice = ["a=1", "a.b=2"].map(|text| parse_text(text).unwrap());
        assert_eq!(body(&twice).unwrap_err().to_string(), "the field a.b does not fit the fields before it");
    }

    #[test]
    fn a_value_can_be_the_text_of_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("text");
        std::fs::write(&file, "two\nlines").unwrap();
        let read = parse_typed(&format!("body=@{}", file.display())).unwrap();
        assert_eq!(read.value, "two\nlines");
        assert!(parse_typed("body=@/nowhere/at/all").unwrap_err().starts_with("cannot read /nowhere/at/all"));
    }
}
