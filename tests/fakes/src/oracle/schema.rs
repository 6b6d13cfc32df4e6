//! JSON values judged by the schemas of a discovery document, with unknown members forbidden.

use base64::Engine;
use base64::prelude::{BASE64_URL_SAFE, BASE64_URL_SAFE_NO_PAD};
use chrono::{DateTime, NaiveDate, NaiveDateTime};
use serde_json::Value;

use crate::oracle::Side;

/// Levels of schemas inside each other; three for each level of parts of a message.
const MAX_DEPTH: usize = 200;

/// The schemas of a document, and the side whose values they judge.
#[derive(Clone, Copy)]
pub struct Schemas<'d> {
    pub schemas: &'d Value,
    pub side: Side,
}

/// A member that its schema forbids.
#[derive(Debug)]
pub struct Misfit {
    pub at: String,
    pub fault: String,
}

type Fit = Result<(), Misfit>;

fn misfit(at: &str, fault: impl Into<String>) -> Fit {
    Err(Misfit { at: at.to_owned(), fault: fault.into() })
}

impl Schemas<'_> {
    /// Checks a value against a named schema.
    pub fn check_named(&self, name: &str, value: &Value) -> Fit {
        match self.schemas.get(name) {
            Some(spec) => self.check(spec, value, "body", 0),
            None => misfit("body", format!("the document has no schema {name}")),
        }
    }

    fn check(&self, spec: &Value, value: &Value, at: &str, depth: usize) -> Fit {
        if depth > MAX_DEPTH {
            return misfit(at, "nested too deeply");
        }
        if let Some(name) = spec["$ref"].as_str() {
            return match self.schemas.get(name) {
                Some(spec) => self.check(spec, value, at, depth + 1),
                None => misfit(at, format!("the document has no schema {name}")),
            };
        }
        match (spec["type"].as_str().unwrap_or("any"), value) {
            // A member that a patch clears.
            (_, Value::Null) if self.side == Side::Request && depth > 0 => Ok(()),
            ("any", _) | ("boolean", Value::Bool(_)) => Ok(()),
            ("object", Value::Object(_)) => self.check_members(spec, value, at, depth),
            ("array", Value::Array(items)) => {
                let mut each = items.iter().enumerate();
                each.try_for_each(|(index, item)| {
                    self.check(&spec["items"], item, &format!("{at}[{index}]"), depth + 1)
                })
            }
            ("number", Value::Number(_)) => Ok(()),
            ("integer", Value::Number(number)) => check_integer(spec, number.as_i64(), at),
            ("string", Value::String(text)) => self.check_text(spec, text, at),
            (wanted, value) => misfit(at, format!("{wanted} expected, got {value}")),
        }
    }

    fn check_members(&self, spec: &Value, value: &Value, at: &str, depth: usize) -> Fit {
        for (name, value) in value.as_object().into_iter().flatten() {
            let at = format!("{at}.{name}");
            let known = spec["properties"].get(name).or_else(|| spec.get("additionalProperties"));
            match known {
                Some(spec) => self.check(spec, value, &at, depth + 1)?,
                None => return misfit(&at, "unknown member"),
            }
        }
        Ok(())
    }

    fn check_text(&self, spec: &Value, text: &str, at: &str) -> Fit {
        if let Some(allowed) = spec["enum"].as_array()
            && !allowed.iter().any(|one| one == text)
        {
            return misfit(at, format!("{text:?} is none of {}", spec["enum"]));
        }
        let format = spec["format"].as_str().unwrap_or_default();
        // In a request the offset may stand in a member beside it: `EventDateTime.timeZone`.
        let is_local = self.side == Side::Request && format == "date-time" && is_local_date_time(text);
        // Bytes are read in either alphabet, with or without padding, and written in one way.
        let is_bytes = self.side == Side::Request && format == "byte" && is_base64(text);
        match is_local || is_bytes || is_of_format(format, text) {
            true => Ok(()),
            false => misfit(at, format!("{text:?} is no {format}")),
        }
    }
}

/// Checks the text of a parameter, which stands in a path or a query.
pub fn check_parameter(spec: &Value, text: &str, at: &str) -> Fit {
    if let Some(allowed) = spec["enum"].as_array()
        && !allowed.iter().any(|one| one == text)
    {
        return misfit(at, format!("{text:?} is none of {}", spec["enum"]));
    }
    match spec["type"].as_str() {
        Some("boolean") if text != "true" && text != "false" => {
            misfit(at, format!("boolean expected, got {text:?}"))
        }
        Some("integer") => check_integer(spec, text.parse().ok(), at),
        Some("string") => match is_of_format(spec["format"].as_str().unwrap_or_default(), text) {
            true => Ok(()),
            false => misfit(at, format!("{text:?} is no {}", spec["format"])),
        },
        _ => Ok(()),
    }
}

fn check_integer(spec: &Value, number: Option<i64>, at: &str) -> Fit {
    let Some(number) = number else { return misfit(at, "integer expected") };
    let bound = |name: &str| spec[name].as_str().and_then(|text| text.parse::<i64>().ok());
    let (least, most) = match spec["format"].as_str() {
        Some("uint32") => (0, i64::from(u32::MAX)),
        _ => (i64::from(i32::MIN), i64::from(i32::MAX)),
    };
    let (least, most) = (bound("minimum").unwrap_or(least), bound("maximum").unwrap_or(most));
    match (least..=most).contains(&number) {
        true => Ok(()),
        false => misfit(at, format!("{number} is not from {least} to {most}")),
    }
}

fn is_of_format(format: &str, text: &str) -> bool {
    match format {
        "date-time" | "google-datetime" => DateTime::parse_from_rfc3339(text).is_ok(),
        "date" => text.len() == 10 && NaiveDate::parse_from_str(text, "%Y-%m-%d").is_ok(),
        "int64" => text.parse::<i64>().is_ok(),
        "uint64" => text.parse::<u64>().is_ok(),
        "byte" => BASE64_URL_SAFE.decode(text).is_ok(),
        _ => true,
    }
}

fn is_local_date_time(text: &str) -> bool {
    NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f").is_ok()
}

/// Whether a text is base64 of either alphabet, with or without padding.
fn is_base64(text: &str) -> bool {
    let text = text.trim_end_matches('=').replace('+', "-").replace('/', "_");
    BASE64_URL_SAFE_NO_PAD.decode(text).is_ok()
}
