//! The kinds of records that Paper keeps, with their fields.

use serde_json::{Map, Value, json};

/// A kind of record, and of the collections that hold it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordKind {
    /// `{title, note, done, due}`, in lists.
    Item,
    /// `{title, note, place, start, end, zone}`, in calendars.
    Event,
    /// `{name, given, family, note, emails, phones}`, in books.
    Card,
}

impl RecordKind {
    /// Returns the name of the collections and that of the records, in paths and pages.
    pub fn names(self) -> (&'static str, &'static str) {
        match self {
            RecordKind::Item => ("lists", "items"),
            RecordKind::Event => ("calendars", "events"),
            RecordKind::Card => ("books", "cards"),
        }
    }

    /// Returns the kind whose collections have this name.
    pub fn find(collections: &str) -> Option<RecordKind> {
        [RecordKind::Item, RecordKind::Event, RecordKind::Card]
            .into_iter()
            .find(|kind| kind.names().0 == collections)
    }

    /// The ids and titles of an account's collections.
    pub fn collections(self) -> [(&'static str, &'static str); 3] {
        match self {
            RecordKind::Item => [("inbox", "Inbox"), ("home", "Home"), ("work", "Work")],
            RecordKind::Event => [("main", "Calendar"), ("home", "Home"), ("work", "Work")],
            RecordKind::Card => [("main", "Contacts"), ("home", "Family"), ("work", "Work")],
        }
    }

    /// The fields of a new record.
    pub fn new_fields(self) -> Map<String, Value> {
        let fields = match self {
            RecordKind::Item => json!({ "title": "", "note": null, "done": false, "due": null }),
            RecordKind::Event => {
                json!({ "title": "", "note": null, "place": null, "start": "", "end": "", "zone": null })
            }
            RecordKind::Card => {
                json!({ "name": "", "given": null, "family": null, "note": null, "emails": [], "phones": [] })
            }
        };
        match fields {
            Value::Object(fields) => fields,
            _ => Map::new(),
        }
    }

    /// Returns whether the field of this name can have this value.
    pub fn takes(self, name: &str, value: &Value) -> bool {
        match (self, name) {
            (RecordKind::Item, "title") => value.as_str().is_some_and(|title| !title.is_empty()),
            (RecordKind::Item, "note")
            | (RecordKind::Event, "note" | "place" | "zone")
            | (RecordKind::Card, "given" | "family" | "note") => value.is_string() || value.is_null(),
            (RecordKind::Item, "done") => value.is_boolean(),
            (RecordKind::Item, "due") => value.is_null() || value.as_str().is_some_and(is_date),
            (RecordKind::Event, "title") | (RecordKind::Card, "name") => value.is_string(),
            (RecordKind::Event, "start" | "end") => {
                value.as_str().is_some_and(|time| is_date(time) || is_instant(time))
            }
            (RecordKind::Card, "emails" | "phones") => {
                value.as_array().is_some_and(|values| values.iter().all(is_labelled))
            }
            _ => false,
        }
    }

    /// Returns whether a record can have these fields together.
    pub fn is_whole(self, fields: &Map<String, Value>) -> bool {
        let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
        match self {
            RecordKind::Item => !text("title").is_empty(),
            RecordKind::Event => {
                let (start, end) = (text("start"), text("end"));
                is_date(start) && is_date(end) || is_instant(start) && is_instant(end)
            }
            RecordKind::Card => true,
        }
    }

    /// The fields of a record in a sentence.
    pub fn requirement(self) -> &'static str {
        match self {
            RecordKind::Item => "an item has title, which it needs, note, done and due (YYYY-MM-DD)",
            RecordKind::Event => {
                "an event has title, note, place and zone, and needs start and end: both YYYY-MM-DD or both instants"
            }
            RecordKind::Card => {
                "a card has name, given, family, note, emails and phones, of {value, kind, label, first}"
            }
        }
    }
}

fn is_date(text: &str) -> bool {
    text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok()
}

fn is_instant(text: &str) -> bool {
    text.parse::<jiff::Timestamp>().is_ok()
}

/// Returns whether a value is `{value, kind, label, first}`.
fn is_labelled(value: &Value) -> bool {
    value["value"].is_string()
        && value["kind"].is_string()
        && (value["label"].is_string() || value["label"].is_null())
        && value["first"].is_boolean()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_the_fields_of_its_kind() {
        for (kind, name, value, is_taken) in [
            (RecordKind::Event, "start", json!("2026-05-01"), true),
            (RecordKind::Event, "start", json!("2026-05-01T09:00:00Z"), true),
            (RecordKind::Event, "start", json!("2026-05-01T09:00"), false),
            (RecordKind::Event, "due", json!("2026-05-01"), false),
            (RecordKind::Item, "due", json!("soon"), false),
            (
                RecordKind::Card,
                "emails",
                json!([{ "value": "a", "kind": "work", "label": null, "first": true }]),
                true,
            ),
            (RecordKind::Card, "emails", json!(["a"]), false),
        ] {
            assert_eq!(kind.takes(name, &value), is_taken, "{name}: {value}");
        }
        let mut event = RecordKind::Event.new_fields();
        assert!(!RecordKind::Event.is_whole(&event));
        event.insert("start".into(), json!("2026-05-01"));
        event.insert("end".into(), json!("2026-05-02T00:00:00Z"));
        assert!(!RecordKind::Event.is_whole(&event));
        event.insert("end".into(), json!("2026-05-02"));
        assert!(RecordKind::Event.is_whole(&event));
    }
}
