//! JSON values judged by the models of Graph, with unknown members forbidden.

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_STANDARD_NO_PAD};
use chrono::{DateTime, NaiveDate, NaiveTime};
use serde_json::Value;

use crate::oracle::Side;
use crate::oracle::schema::Misfit;

/// Levels of models inside each other; real answers have far fewer.
const MAX_MODEL_DEPTH: usize = 32;
/// Members that Graph answers though its description does not have them, each with its model (recorded answers of May 2026).
const EXTRA_MEMBERS: [(&str, &str, &str); 4] = [
    ("Event", "uid", "string"),
    ("Event", "occurrenceId", "string"),
    ("MailFolder", "sizeInBytes", "integer"),
    ("Calendar", "groupClassId", "string"),
];

/// The models and enumerations of the extract.
pub struct OdataModels {
    models: Value,
    enums: Value,
}

/// A value with the side that sent it and its place.
#[derive(Clone, Copy)]
struct OdataValue<'v> {
    side: Side,
    value: &'v Value,
    at: &'v str,
    depth: usize,
}

impl OdataModels {
    pub fn new(models: Value, enums: Value) -> OdataModels {
        OdataModels { models, enums }
    }

    /// Checks a body against a type of the extract, as in `object:Message`.
    pub fn check(&self, side: Side, kind: &str, value: &Value) -> Result<(), Misfit> {
        self.check_value(kind, OdataValue { side, value, at: "body", depth: 0 })
    }

    /// The model of the items of an answer: of its member `value` where it is a list, else its own.
    pub fn item_of(&self, answer: &str) -> Option<String> {
        let model = answer.strip_prefix("object:")?;
        let list = self.member(model, "value").and_then(|kind| kind.strip_prefix("[]object:"));
        Some(list.unwrap_or(model).to_owned())
    }

    /// Whether a model has a member of this name. A member of a derived model needs its cast, as in
    /// `microsoft.graph.fileAttachment/contentId`.
    pub fn has_path(&self, model: &str, path: &str) -> bool {
        if path == "*" || path.starts_with("@odata.") {
            return true;
        }
        match path.split_once('/') {
            None => self.member(model, path).is_some(),
            Some((cast, member)) if cast.starts_with("microsoft.graph.") => {
                let derived = self.models[model]["kinds"][format!("#{}", cast.to_lowercase())].as_str();
                derived.is_some_and(|derived| self.member(derived, member).is_some())
            }
            Some((first, _)) => self.member(model, first).is_some(),
        }
    }

    /// The type of a member of a model or of its bases.
    fn member(&self, model: &str, name: &str) -> Option<&str> {
        let mut model = Some(model);
        while let Some(current) = model {
            let entry = &self.models[current];
            let mut fields = entry["fields"].as_object().into_iter().flatten();
            let found = match entry["anyCase"] == true {
                true => fields.find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, kind)| kind),
                false => entry["fields"].get(name),
            };
            if let Some(kind) = found.and_then(Value::as_str) {
                return Some(kind);
            }
            let mut extras = EXTRA_MEMBERS.iter().filter(|extra| extra.0 == current);
            if let Some(extra) = extras.find(|extra| extra.1 == name) {
                return Some(extra.2);
            }
            model = entry["base"].as_str();
        }
        None
    }

    fn check_value(&self, kind: &str, given: OdataValue<'_>) -> Result<(), Misfit> {
        let OdataValue { value, at, depth, .. } = given;
        if depth > MAX_MODEL_DEPTH {
            return refuse(at, "nested too deeply");
        }
        if value.is_null() {
            return match depth == 0 || kind.starts_with("[]") && given.side == Side::Answer {
                true => refuse(at, format!("{kind} expected, got null")),
                false => Ok(()),
            };
        }
        if let Some(item) = kind.strip_prefix("[]") {
            let Some(items) = value.as_array() else { return refuse(at, "array expected") };
            return items.iter().enumerate().try_for_each(|(index, value)| {
                let at = format!("{at}[{index}]");
                self.check_value(item, OdataValue { value, at: &at, depth: depth + 1, ..given })
            });
        }
        if let Some(model) = kind.strip_prefix("object:") {
            return self.check_object(model, given);
        }
        if let Some(name) = kind.strip_prefix("enum:") {
            let allowed = self.enums[name].as_array();
            let is_allowed = allowed.is_some_and(|allowed| allowed.contains(value));
            return match is_allowed {
                true => Ok(()),
                false => refuse(at, format!("{value} is none of {}", self.enums[name])),
            };
        }
        check_primitive(kind, value, at)
    }

    fn check_object(&self, model: &str, given: OdataValue<'_>) -> Result<(), Misfit> {
        let OdataValue { value, at, depth, .. } = given;
        let Some(members) = value.as_object() else { return refuse(at, "object expected") };
        let tag = members.get("@odata.type").and_then(Value::as_str).map(str::to_lowercase);
        let derived = tag.and_then(|tag| self.models[model]["kinds"][tag.as_str()].as_str());
        let model = derived.unwrap_or(model);
        for (name, value) in members {
            let at = format!("{at}.{name}");
            match self.member(model, name) {
                Some(kind) => {
                    self.check_value(kind, OdataValue { value, at: &at, depth: depth + 1, ..given })?
                }
                None if is_annotation(name, given.side) => {}
                None => return refuse(&at, "unknown member"),
            }
        }
        Ok(())
    }
}

/// Whether a member is an annotation, as in `@odata.etag`, `calendar@odata.navigationLink` and the `@removed` of deltas.
fn is_annotation(name: &str, side: Side) -> bool {
    match side {
        Side::Request => {
            name.ends_with("@odata.type") || name.ends_with("@odata.bind") || name == "@odata.etag"
        }
        Side::Answer => name.contains("@odata.") || name == "@removed",
    }
}

fn check_primitive(kind: &str, value: &Value, at: &str) -> Result<(), Misfit> {
    let is_right = match (kind, value) {
        ("any", _) | ("boolean", Value::Bool(_)) | ("number", Value::Number(_)) => true,
        ("string", Value::String(_)) => true,
        ("integer", Value::Number(number)) => {
            number.as_i64().is_some_and(|number| i32::try_from(number).is_ok())
        }
        ("dateTime", Value::String(text)) => DateTime::parse_from_rfc3339(text).is_ok(),
        ("date", Value::String(text)) => {
            text.len() == 10 && NaiveDate::parse_from_str(text, "%Y-%m-%d").is_ok()
        }
        ("time", Value::String(text)) => NaiveTime::parse_from_str(text, "%H:%M:%S%.f").is_ok(),
        ("duration", Value::String(text)) => text.trim_start_matches('-').starts_with('P'),
        ("bytes", Value::String(text)) => {
            BASE64_STANDARD.decode(text).is_ok() || BASE64_STANDARD_NO_PAD.decode(text).is_ok()
        }
        _ => false,
    };
    match is_right {
        true => Ok(()),
        false => refuse(at, format!("{kind} expected, got {value}")),
    }
}

fn refuse(at: &str, fault: impl Into<String>) -> Result<(), Misfit> {
    Err(Misfit { at: at.to_owned(), fault: fault.into() })
}
