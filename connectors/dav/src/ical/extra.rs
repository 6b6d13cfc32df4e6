//! What an event has and the model has no field for, as `providerData`.

use ical::tree::cst::IcalCst;
use serde_json::{Map, Value, json};

use crate::ical::lines::{all_lines, keyword, line, line_text, lines, param, text};

/// Most X- properties, and most characters of one, that are shown. The resource keeps them all.
const MAX_PROPERTIES: usize = 64;
const MAX_CHARACTERS: usize = 2_000;
/// X- properties that a field of the model already says.
const SAID: [&str; 6] = [
    "X-ALT-DESC",
    "X-MICROSOFT-CDO-BUSYSTATUS",
    "X-GOOGLE-CONFERENCE",
    "X-MICROSOFT-SKYPETEAMSMEETINGURL",
    "X-MICROSOFT-ONLINEMEETINGCONFLINK",
    "X-APPLE-STRUCTURED-LOCATION",
];

/// None where there is nothing to add.
pub fn extra(event: &IcalCst) -> Option<Value> {
    let mut data = Map::new();
    let categories: Vec<String> = lines(event, "CATEGORIES")
        .flat_map(|line| {
            line.value.decode_list().into_iter().map(|c| c.trim().to_owned()).collect::<Vec<_>>()
        })
        .filter(|category| !category.is_empty())
        .collect();
    if !categories.is_empty() {
        data.insert("categories".into(), json!(categories));
    }
    for (property, name) in
        [("URL", "url"), ("PRIORITY", "priority"), ("CREATED", "created"), ("CLASS", "class")]
    {
        if let Some(value) = text(event, property) {
            data.insert(name.into(), json!(value));
        }
    }
    if matches!(keyword(event, "CLASS").as_deref(), Some("PUBLIC" | "PRIVATE" | "CONFIDENTIAL")) {
        data.remove("class");
    }
    for (property, name) in
        [("COMMENT", "comments"), ("CONTACT", "contacts"), ("RESOURCES", "resources"), ("EXRULE", "exrule")]
    {
        let values: Vec<String> = lines(event, property).map(line_text).collect();
        if !values.is_empty() {
            data.insert(name.into(), json!(values));
        }
    }
    let related: Vec<Value> = lines(event, "RELATED-TO")
        .map(|line| json!({ "uid": line_text(line), "relation": param(line, "RELTYPE").unwrap_or("PARENT".into()) }))
        .collect();
    if !related.is_empty() {
        data.insert("relatedTo".into(), json!(related));
    }
    if let Some(start) = line(event, "DTSTART") {
        if let Some(tzid) = param(start, "TZID") {
            data.insert("tzid".into(), json!(tzid));
        } else if start.raw_value_str().trim().len() == 15 {
            data.insert("floating".into(), json!(true));
        }
    }
    let inline = lines(event, "ATTACH").filter(|line| is_inline(line)).count();
    if inline > 0 {
        data.insert("inlineAttachments".into(), json!(inline));
    }
    let vendor = vendor(event);
    if !vendor.is_empty() {
        data.insert("properties".into(), Value::Object(vendor));
    }
    (!data.is_empty()).then_some(Value::Object(data))
}

/// Whether an ATTACH holds the content itself.
pub fn is_inline(line: &ical::tree::line::IcalLine) -> bool {
    param(line, "VALUE").is_some_and(|kind| kind.eq_ignore_ascii_case("BINARY"))
        || param(line, "ENCODING").is_some_and(|encoding| encoding.eq_ignore_ascii_case("BASE64"))
}

fn vendor(event: &IcalCst) -> Map<String, Value> {
    let mut found = Map::new();
    for line in all_lines(event) {
        let name = line.name.get();
        if !name.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("X-")) {
            continue;
        }
        let name = name.to_ascii_uppercase();
        if SAID.contains(&name.as_str()) || found.len() == MAX_PROPERTIES {
            continue;
        }
        found.insert(name, json!(line_text(line).chars().take(MAX_CHARACTERS).collect::<String>()));
    }
    found
}
