//! The properties of a card that the model has no field for, as `providerData`. Never the bytes of a picture, a sound or a key.

use serde_json::{Map, Value, json};
use vcard::tree::line::VcardLine;

use crate::vcard::dates::{day, is_anniversary};
use crate::vcard::entries::is_old_im;
use crate::vcard::group::is_group_line;
use crate::vcard::lines::{View, is, list, value};
use crate::vcard::people::is_relation;
use crate::vcard::photo::is_inline;

/// Most properties, most values of one, and most characters of one that are shown. The card keeps them all.
const MAX_PROPERTIES: usize = 64;
const MAX_VALUES: usize = 16;
const MAX_CHARACTERS: usize = 2_000;
/// Properties that a field of the model already says, or that are the card's bookkeeping.
const SAID: [&str; 25] = [
    "VERSION",
    "PRODID",
    "UID",
    "REV",
    "FN",
    "N",
    "NICKNAME",
    "X-PHONETIC-FIRST-NAME",
    "X-PHONETIC-LAST-NAME",
    "EMAIL",
    "TEL",
    "ADR",
    "LABEL",
    "URL",
    "IMPP",
    "ORG",
    "TITLE",
    "NOTE",
    "PHOTO",
    "X-ABLABEL",
    "X-ABADR",
    "CATEGORIES",
    "BEGIN",
    "END",
    "AGENT",
];

/// None where there is nothing to add.
pub fn extra(view: &View) -> Option<Value> {
    let mut data = Map::new();
    let categories: Vec<String> =
        view.all("CATEGORIES").flat_map(list).take(MAX_PROPERTIES).map(truncate).collect();
    if !categories.is_empty() {
        data.insert("categories".into(), json!(categories));
    }
    let mut properties: Map<String, Value> = Map::new();
    let mut inline: Vec<String> = Vec::new();
    for (_, line) in view.lines.iter().filter(|(_, line)| !is_said(line)) {
        let name = line.bare_name().to_ascii_uppercase();
        if is_inline(line) {
            if !inline.contains(&name) && inline.len() < MAX_PROPERTIES {
                inline.push(name);
            }
            continue;
        }
        let text = truncate(value(line));
        if properties.len() == MAX_PROPERTIES && !properties.contains_key(&name) {
            continue;
        }
        match properties.get_mut(&name) {
            None => {
                properties.insert(name, json!(text));
            }
            Some(Value::Array(all)) if all.len() < MAX_VALUES => all.push(json!(text)),
            Some(Value::Array(_)) => {}
            Some(one) => *one = json!([one.take(), text]),
        }
    }
    if !inline.is_empty() {
        data.insert("inline".into(), json!(inline));
    }
    if !properties.is_empty() {
        data.insert("properties".into(), Value::Object(properties));
    }
    (!data.is_empty()).then_some(Value::Object(data))
}

fn truncate(text: String) -> String {
    if text.len() <= MAX_CHARACTERS { text } else { text.chars().take(MAX_CHARACTERS).collect() }
}

fn is_said(line: &VcardLine) -> bool {
    let is_day = |line: &VcardLine| day(line).is_some() && (is(line, "BDAY") || is_anniversary(line));
    SAID.iter().any(|name| is(line, name))
        || is_old_im(line.bare_name())
        || is_relation(line)
        || is_group_line(line)
        || is_day(line)
}
