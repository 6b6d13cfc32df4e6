//! Parsing of JSON with camelCase names, in one pass, within limits. The contents of a body are bounded before any of it is
//! stored: a number of two bytes becomes a value of thirty-two, so that without bounds a body costs many times its size.

use std::cell::{Cell, RefCell};
use std::fmt;

use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::error::{Code, Error, Result, invalid, refuse};
use crate::input::errors::holds_nul;
use crate::input::field_path::FieldPath;

/// Nesting depth. The deepest resource of the model has seven.
const MAX_DEPTH: usize = 64;
/// Bytes of a name.
const MAX_NAME_BYTES: usize = 256;
/// Members of one object.
const MAX_MEMBERS: usize = 1_000;
/// Items of one list. The longest of the model has 1,000 addresses.
const MAX_ITEMS: usize = 10_000;
/// Values in one body, all lists and objects together.
const MAX_VALUES: usize = 100_000;

/// The integer up to which all integers are numbers of double precision.
const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;

/// Maps whose names are the caller's own and are not converted.
const FREE_MAPS: [&str; 5] = ["metadata", "tags", "headers", "answers", "providerData"];

/// Parses one JSON value. Two spellings of one name with different values are a contradiction, as is a name given twice.
///
/// # Errors
/// `invalid_json` for input that is not JSON; `invalid_parameter` or `conflicting_fields` for input beyond a limit, with the
/// field.
// Contract silent: how much structure a body may have. So: ten times what any operation has a use for.
pub fn value(bytes: &[u8]) -> Result<Value> {
    let limits = Limits { values: Cell::new(0), fault: RefCell::new(None) };
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let root = Node { path: &FieldPath::Root, limits: &limits, depth: 0, is_free: false };
    let read = root.deserialize(&mut deserializer).and_then(|value| deserializer.end().map(|()| value));
    match (read, limits.fault.into_inner()) {
        (Ok(value), _) => Ok(value),
        (Err(_), Some(fault)) => Err(fault),
        (Err(e), None) => Err(refuse(Code::InvalidJson, format!("the body is not JSON: {e}"))),
    }
}

/// The count of values in a body, and the error that ended the parsing.
struct Limits {
    values: Cell<usize>,
    fault: RefCell<Option<Error>>,
}

impl Limits {
    /// The deserializer's error carries only text, so ours is stored here.
    fn fail<E: serde::de::Error>(&self, error: Error) -> E {
        *self.fault.borrow_mut() = Some(error);
        E::custom("refused")
    }
}

/// A value that is about to be read.
#[derive(Clone, Copy)]
struct Node<'n> {
    path: &'n FieldPath<'n>,
    limits: &'n Limits,
    depth: usize,
    /// Whether it is inside a map with the caller's own names.
    is_free: bool,
}

impl<'n> Node<'n> {
    fn child(self, path: &'n FieldPath<'n>, is_free: bool) -> Self {
        Node { path, limits: self.limits, depth: self.depth + 1, is_free }
    }

    fn over<E: serde::de::Error>(&self, what: &str) -> E {
        let at = match self.path {
            FieldPath::Root => "body".to_owned(),
            path => path.to_string(),
        };
        let message = format!("{at} {what}");
        self.limits.fail(invalid(Code::InvalidParameter, at, message))
    }

    fn check_text<E: serde::de::Error>(&self, text: &str) -> Result<(), E> {
        match text.contains('\0') {
            true => Err(self.limits.fail(holds_nul(&self.path.to_string()))),
            false => Ok(()),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        let values = self.limits.values.get() + 1;
        self.limits.values.set(values);
        if values > MAX_VALUES {
            return Err(self.over(&format!("is beyond the {MAX_VALUES} values that a body may have")));
        }
        if self.depth > MAX_DEPTH {
            return Err(self.over(&format!("is nested deeper than {MAX_DEPTH} levels")));
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    /// JSON has one kind of numbers: `30.0` is the integer 30.
    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        if value.fract() == 0.0 && value.abs() <= MAX_EXACT_INTEGER {
            return Ok(Value::Number((value as i64).into()));
        }
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Value, E> {
        self.check_text(text)?;
        Ok(Value::String(text.to_owned()))
    }

    fn visit_string<E: serde::de::Error>(self, text: String) -> Result<Value, E> {
        self.check_text(&text)?;
        Ok(Value::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        loop {
            let path = self.path.item(items.len());
            let Some(item) = list.next_element_seed(self.child(&path, self.is_free))? else { break };
            if items.len() == MAX_ITEMS {
                return Err(self.over(&format!("has more than {MAX_ITEMS} items")));
            }
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = object.next_key_seed(Name(self))? {
            let path = self.path.member(&name);
            let is_free = self.is_free || FREE_MAPS.contains(&name.as_str());
            let value = object.next_value_seed(self.child(&path, is_free))?;
            if members.get(&name).is_some_and(|earlier| *earlier != value) {
                let message = format!("{path} is given more than once with different values; send one");
                return Err(self.limits.fail(invalid(Code::ConflictingFields, path.to_string(), message)));
            }
            members.insert(name, value);
            if members.len() > MAX_MEMBERS {
                return Err(self.over(&format!("has more than {MAX_MEMBERS} members")));
            }
        }
        Ok(Value::Object(members))
    }
}

/// The name of a member of this object.
struct Name<'n>(Node<'n>);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = String;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<String, E> {
        if name.len() > MAX_NAME_BYTES {
            return Err(self.0.over(&format!("has a name of more than {MAX_NAME_BYTES} bytes")));
        }
        if name.contains('\0') {
            let name = camel(&name.replace('\0', ""));
            let path = self.0.path.member(&name);
            return Err(self.0.limits.fail(holds_nul(&path.to_string())));
        }
        Ok(if self.0.is_free { name.to_owned() } else { camel(name) })
    }
}

/// `connection_id` → `connectionId`. A leading `$` or `_` stays.
pub fn camel(name: &str) -> String {
    if !name.contains('_') {
        return name.to_owned();
    }
    let mut out = String::with_capacity(name.len());
    let mut up = false;
    for c in name.chars() {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(text: &str) -> (Code, String) {
        match value(text.as_bytes()) {
            Err(Error::Refused(r)) => (r.code, r.message),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn both_spellings_are_read_and_a_contradiction_is_an_error() {
        let text =
            r#"{ "connection_id": "a", "time_zone": "UTC", "metadata": { "my_key": { "in_it": 1 } } }"#;
        let expected =
            json!({ "connectionId": "a", "timeZone": "UTC", "metadata": { "my_key": { "in_it": 1 } } });
        assert_eq!(value(text.as_bytes()).unwrap(), expected);
        let (code, message) = refused(r#"{"a":[{"timeZone":"UTC","time_zone":"CET"}]}"#);
        assert_eq!(code, Code::ConflictingFields);
        assert!(message.starts_with("a[0].timeZone is given more than once"), "{message}");
        assert_eq!(value(br#"{"timeZone":"UTC","time_zone":"UTC"}"#).unwrap(), json!({ "timeZone": "UTC" }));
    }

    #[test]
    fn what_is_beyond_a_limit_is_an_error_that_names_the_field() {
        let list = |n: usize| format!("[{}0]", "0,".repeat(n - 1));
        let rows = [
            (format!(r#"{{"a":{}}}"#, list(MAX_ITEMS + 1)), "a has more than 10000 items"),
            (format!(r#"{{"{}":1}}"#, "k".repeat(300)), "body has a name of more than 256 bytes"),
            (format!("{}1{}", "[".repeat(70), "]".repeat(70)), "is nested deeper than 64 levels"),
            (
                format!(
                    "{{{}\"z\":0}}",
                    (0..MAX_MEMBERS).map(|i| format!("\"k{i}\":0,")).collect::<String>()
                ),
                "body has more than 1000 members",
            ),
            (
                format!("[{}0]", format!("{},", list(MAX_ITEMS)).repeat(11)),
                "is beyond the 100000 values that a body may have",
            ),
            (r#"{"a_b":["x","\u0000"]}"#.to_owned(), "aB[1] holds the character U+0000"),
            (r#"{"a":{"x\u0000y":1}}"#.to_owned(), "a.xy holds the character U+0000"),
        ];
        for (text, wanted) in rows {
            let (code, message) = refused(&text);
            assert_eq!(code, Code::InvalidParameter, "{message}");
            assert!(message.contains(wanted), "{message} instead of {wanted}");
        }
        assert_eq!(refused("{\"a\":1} x").0, Code::InvalidJson);
        assert_eq!(refused("{\"a\":").0, Code::InvalidJson);
    }

    #[test]
    fn an_integer_may_be_written_with_a_point() {
        let numbers = value(b"[30.0, -0.0, 3e2, 1.5, 1e300]").unwrap();
        assert_eq!(numbers, json!([30, 0, 300, 1.5, 1e300]));
    }

    #[test]
    fn what_is_at_a_limit_is_read() {
        let text = format!(r#"{{"a":[{}0]}}"#, "0,".repeat(MAX_ITEMS - 1));
        assert_eq!(value(text.as_bytes()).unwrap()["a"].as_array().map(Vec::len), Some(MAX_ITEMS));
    }
}
