//! The properties of an event that the model has no field for, as `providerData`; and the part of them that to-dos have, too.

use ical::tree::cst::IcalCst;
use ical::tree::line::IcalLine;
use serde_json::{Map, Value, json};

use crate::ical::categories::categories;
use crate::ical::lines::{all_lines, keyword, line, line_text, lines, param, text};
use crate::ical::time::is_floating;

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
    let categories = categories(event);
    if !categories.is_empty() {
        data.insert("categories".into(), json!(categories));
    }
    texts(event, &mut data, &[("URL", "url"), ("PRIORITY", "priority")]);
    read_extra(event, &mut data);
    if matches!(keyword(event, "CLASS").as_deref(), Some("PUBLIC" | "PRIVATE" | "CONFIDENTIAL")) {
        data.remove("class");
    }
    if let Some(start) = line(event, "DTSTART") {
        place(start, &mut data);
    }
    contents(event, &mut data, &SAID);
    (!data.is_empty()).then_some(Value::Object(data))
}

/// Collects the properties of events and to-dos that no model has a field for.
pub fn read_extra(component: &IcalCst, data: &mut Map<String, Value>) {
    texts(component, data, &[("CREATED", "created"), ("CLASS", "class")]);
    for (property, name) in [("COMMENT", "comments"), ("CONTACT", "contacts"), ("RESOURCES", "resources")] {
        let values: Vec<String> = lines(component, property).map(line_text).collect();
        if !values.is_empty() {
            data.insert(name.into(), json!(values));
        }
    }
    let related: Vec<Value> = lines(component, "RELATED-TO")
        .map(|line| json!({ "uid": line_text(line), "relation": param(line, "RELTYPE").unwrap_or("PARENT".into()) }))
        .collect();
    if !related.is_empty() {
        data.insert("relatedTo".into(), json!(related));
    }
}

/// Attachments inside the component, and X- properties but for those that a field has `said`.
pub fn contents(component: &IcalCst, data: &mut Map<String, Value>, said: &[&str]) {
    let inline = lines(component, "ATTACH").filter(|line| is_inline(line)).count();
    if inline > 0 {
        data.insert("inlineAttachments".into(), json!(inline));
    }
    let vendor = vendor(component, said);
    if !vendor.is_empty() {
        data.insert("properties".into(), Value::Object(vendor));
    }
}

/// Single properties with text, each under its name.
pub fn texts(component: &IcalCst, data: &mut Map<String, Value>, names: &[(&str, &str)]) {
    for (property, name) in names {
        if let Some(value) = text(component, property) {
            data.insert((*name).into(), json!(value));
        }
    }
}

/// How another client named the zone of a time, or that it has none.
pub fn place(time: &IcalLine, data: &mut Map<String, Value>) {
    if let Some(tzid) = param(time, "TZID") {
        data.insert("tzid".into(), json!(tzid));
    } else if is_floating(time) {
        data.insert("floating".into(), json!(true));
    }
}

/// Whether an ATTACH holds the content itself.
pub fn is_inline(line: &IcalLine) -> bool {
    param(line, "VALUE").is_some_and(|kind| kind.eq_ignore_ascii_case("BINARY"))
        || param(line, "ENCODING").is_some_and(|encoding| encoding.eq_ignore_ascii_case("BASE64"))
}

fn vendor(component: &IcalCst, said: &[&str]) -> Map<String, Value> {
    let mut found = Map::new();
    for line in all_lines(component) {
        let name = line.name.get();
        if !name.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("X-")) {
            continue;
        }
        let name = name.to_ascii_uppercase();
        if said.contains(&name.as_str()) || found.len() == MAX_PROPERTIES {
            continue;
        }
        found.insert(name, json!(line_text(line).chars().take(MAX_CHARACTERS).collect::<String>()));
    }
    found
}
