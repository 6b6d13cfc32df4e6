//! Tests of the printed document: everything is described, requests have bounds, and the formats are those that the validators accept.

use std::collections::BTreeSet;

use base::input::validate;
use base::scopes;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use model::calendar_query::OpenHours;
use model::formats::{self, InstantOrDate};
use regex::Regex;
use scheduling::hours::{Hours, Zone};
use serde_json::{Map, Value, json};
use service::bookings::input::is_slug;

use super::{Flavour, INTRODUCTION, print};
use crate::api;
use crate::api::request::etag;

fn document() -> Value {
    print(&api::operations(), "https://api.example.org", Flavour::Contract)
}

/// The operations of the document with their names, such as `get /v1/calendars`.
fn operations(document: &Value) -> impl Iterator<Item = (String, &Value)> {
    let paths = document["paths"].as_object().expect("paths").iter();
    paths.flat_map(|(path, item)| {
        let methods = item.as_object().expect("methods").iter();
        methods.map(move |(method, operation)| (format!("{method} {path}"), operation))
    })
}

/// The value that a reference leads to, or the value itself.
fn resolved<'d>(document: &'d Value, value: &'d Value) -> &'d Value {
    let pointer = value["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
    pointer.map_or(value, |pointer| document.pointer(pointer).expect("a closed document"))
}

fn is_described(value: &Value) -> bool {
    value["description"].as_str().is_some_and(|text| text.len() > 3)
}

/// Calls `look` with each property of a schema, at any depth, and its position.
fn each_property<'d>(at: &str, schema: &'d Value, look: &mut impl FnMut(&str, &'d Value)) {
    match schema {
        Value::Object(keywords) => {
            for (keyword, inside) in keywords {
                match inside {
                    Value::Object(fields) if keyword == "properties" => {
                        for (name, field) in fields {
                            let at = format!("{at}.{name}");
                            look(&at, field);
                            each_property(&at, field, look);
                        }
                    }
                    _ if ["default", "examples", "example", "enum", "const"].contains(&keyword.as_str()) => {}
                    inside => each_property(at, inside, look),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| each_property(at, item, look)),
        _ => {}
    }
}

#[test]
fn the_introduction_names_every_scope() {
    let all = scopes::ALL.iter().chain(&scopes::ADMIN);
    let absent: Vec<_> = all.filter(|s| !INTRODUCTION.contains(&format!("| `{s}` |"))).collect();
    assert!(absent.is_empty(), "introduction.md lacks {absent:?}");
}

#[test]
fn everything_is_described() {
    let document = document();
    let components = &document["components"];
    let mut silent = Vec::new();
    for tag in document["tags"].as_array().expect("tags") {
        silent.extend((!is_described(tag)).then(|| format!("tag {}", tag["name"])));
    }
    for (name, header) in components["headers"].as_object().expect("headers") {
        silent.extend((!is_described(header)).then(|| format!("header {name}")));
    }
    for (name, schema) in components["schemas"].as_object().expect("schemas") {
        each_property(name, schema, &mut |at, property| {
            silent.extend((!is_described(property)).then(|| format!("property {at}")));
        });
    }
    for (name, operation) in operations(&document) {
        let has_summary = operation["summary"].as_str().is_some_and(|summary| !summary.is_empty());
        silent.extend((!has_summary || !is_described(operation)).then(|| format!("operation {name}")));
        for parameter in operation["parameters"].as_array().expect("parameters") {
            let parameter = resolved(&document, parameter);
            silent.extend(
                (!is_described(parameter)).then(|| format!("parameter {} of {name}", parameter["name"])),
            );
        }
    }
    assert!(silent.is_empty(), "{} without a description: {silent:#?}", silent.len());
}

/// Texts of requests without a bound, each with its reason.
const UNBOUNDED: &[(&str, &str)] = &[];

fn is_text(schema: &Value) -> bool {
    let kind = &schema["type"];
    kind == "string" || kind.as_array().is_some_and(|kinds| kinds.iter().any(|one| one == "string"))
}

fn is_bounded(schema: &Value) -> bool {
    let bounds = ["maxLength", "pattern", "format", "enum", "const", "contentEncoding"];
    // A read-only text is only ever sent back as it was read.
    schema["readOnly"] == true || bounds.iter().any(|keyword| schema.get(keyword).is_some())
}

/// Collects the texts in a schema that have no bound, following references. `seen` are the schemas that were looked at.
fn collect_unbounded<'d>(
    document: &'d Value,
    at: &str,
    schema: &'d Value,
    seen: &mut BTreeSet<&'d str>,
    found: &mut BTreeSet<String>,
) {
    if let Some(reference) = schema["$ref"].as_str() {
        if seen.insert(reference) {
            let name = reference.rsplit('/').next().unwrap_or(reference);
            collect_unbounded(document, name, resolved(document, schema), seen, found);
        }
        return;
    }
    let name = at.rsplit('.').next().unwrap_or(at);
    let is_excepted = UNBOUNDED.iter().any(|(one, _)| *one == at || one.strip_prefix("*.") == Some(name));
    if is_text(schema) && !is_bounded(schema) && !is_excepted {
        found.insert(at.to_owned());
    }
    for (field, property) in schema["properties"].as_object().into_iter().flatten() {
        collect_unbounded(document, &format!("{at}.{field}"), property, seen, found);
    }
    for keyword in ["items", "additionalProperties"] {
        if let Some(inside) = schema.get(keyword) {
            collect_unbounded(document, at, inside, seen, found);
        }
    }
    for keyword in ["anyOf", "oneOf", "allOf"] {
        for form in schema[keyword].as_array().into_iter().flatten() {
            collect_unbounded(document, at, form, seen, found);
        }
    }
}

#[test]
fn texts_of_requests_are_bounded() {
    let document = document();
    let (mut seen, mut found) = (BTreeSet::new(), BTreeSet::new());
    for (name, operation) in operations(&document) {
        let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
        collect_unbounded(&document, &name, schema, &mut seen, &mut found);
    }
    assert!(seen.len() > 50, "{} request schemas", seen.len());
    assert!(found.is_empty(), "{} without a bound: {found:#?}", found.len());
}

#[test]
fn parameters_are_as_strict_as_the_server() {
    let document = document();
    let mut loose = Vec::new();
    for (name, operation) in operations(&document) {
        for parameter in operation["parameters"].as_array().expect("parameters") {
            let parameter = resolved(&document, parameter);
            let schema = resolved(&document, &parameter["schema"]);
            let is_loose = match parameter["in"].as_str() {
                Some("path") => schema.get("pattern").is_none(),
                Some("query") => is_text(schema) && !is_bounded(schema),
                _ => false,
            };
            loose.extend(is_loose.then(|| format!("{} of {name}", parameter["name"])));
        }
    }
    assert!(loose.is_empty(), "{} bare texts: {loose:#?}", loose.len());
}

/// Texts of other programs may be longer than those that a client may write.
#[test]
fn answers_promise_no_bounds() {
    let document = document();
    let mut bounded = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut open: Vec<&Value> = operations(&document).map(|(_, operation)| &operation["responses"]).collect();
    while let Some(value) = open.pop() {
        let name = value["$ref"].as_str();
        if let Some(name) = name.filter(|name| seen.insert(*name)) {
            let target = resolved(&document, value);
            each_property(name, target, &mut |at, property| {
                let keeps = at.ends_with(".id") || at.ends_with(".etag");
                if !keeps && (property.get("maxLength").is_some() || property.get("maxItems").is_some()) {
                    bounded.insert(at.to_owned());
                }
            });
            open.push(target);
        }
        match value {
            Value::Object(object) => open.extend(object.values()),
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    assert!(seen.len() > 100, "{} schemas of answers", seen.len());
    assert!(bounded.is_empty(), "{bounded:#?}");
}

/// A change clears every field by null, except those that a resource needs.
#[test]
fn patches_allow_null() {
    let document = document();
    let patch = &document["components"]["schemas"]["CalendarEventPatch"];
    for (field, kind) in
        [("attendees", "array"), ("title", "string"), ("allDay", "boolean"), ("metadata", "object")]
    {
        assert_eq!(patch["properties"][field]["type"], json!([kind, "null"]), "{field}");
    }
    let forms = patch["properties"]["status"]["anyOf"].as_array().expect("two forms");
    assert!(forms.contains(&json!({ "type": "null" })), "{forms:?}");
    assert_eq!(document["components"]["schemas"]["CalendarPatch"]["properties"]["name"]["type"], "string");
}

/// Texts for a format and its validator: those that both accept, those that both refuse, and those that only the validator refuses.
struct Agreement {
    pattern: &'static str,
    accepts: fn(&str) -> bool,
    good: &'static [&'static str],
    bad: &'static [&'static str],
    impossible: &'static [&'static str],
}

fn is_open_hours(start: &str, end: &str) -> bool {
    let row = OpenHours { days: vec![1], start: start.into(), end: end.into(), ..OpenHours::default() };
    Hours::read(&row, &Zone::utc()).is_ok()
}

fn is_exception(date: &str) -> bool {
    let whole_day =
        OpenHours { days: vec![1], start: "00:00".into(), end: "24:00".into(), ..OpenHours::default() };
    Hours::read(&OpenHours { exdates: vec![date.into()], ..whole_day }, &Zone::utc()).is_ok()
}

fn is_expected_etag(text: &str) -> bool {
    let mut body = Map::from_iter([("etag".to_owned(), json!(text))]);
    etag::expected(&http::HeaderMap::new(), Some(&mut body)).is_ok()
}

const TIMES: &[Agreement] = &[
    Agreement {
        pattern: formats::Date::PATTERN,
        accepts: |text| validate::date("date", text).is_ok(),
        good: &["1900-01-01", "2026-02-28", "2024-02-29", "2200-12-31"],
        bad: &[
            "",
            "2026-3-1",
            "2026-13-01",
            "2026-01-32",
            "1899-12-31",
            "2201-01-01",
            "2026-01-01T",
            "20260101",
            "+026-01-01",
        ],
        impossible: &["2026-02-29", "2026-04-31", "1900-02-29"],
    },
    Agreement {
        pattern: formats::AnyDate::PATTERN,
        accepts: is_exception,
        good: &["0001-01-01", "2026-12-24", "2024-02-29", "9999-12-31"],
        bad: &["", "2026-3-1", "2026-13-01", "2026-01-32", "20261224", "24.12.2026"],
        impossible: &["2026-02-29"],
    },
    Agreement {
        pattern: formats::TimeOfDay::PATTERN,
        accepts: |text| is_open_hours(text, "24:00"),
        good: &["00:00", "09:30", "19:59", "23:59"],
        bad: &["", "9:30", "24:00", "12:60", "0930", "09:30:00", "-1:00", "٠٩:٠٠"],
        impossible: &[],
    },
    Agreement {
        pattern: formats::EndTimeOfDay::PATTERN,
        accepts: |text| is_open_hours("00:00", text),
        good: &["00:00", "17:00", "23:59", "24:00"],
        bad: &["", "24:01", "25:00", "7:00", "17:00 "],
        impossible: &[],
    },
    Agreement {
        pattern: InstantOrDate::PATTERN,
        accepts: |text| serde_json::from_value::<InstantOrDate>(json!(text)).is_ok(),
        good: &[
            "2026-03-01",
            "2026-03-01T09:00:00Z",
            "2026-03-01T09:00:00.123+01:00",
            "2026-12-31T23:59:59-08:00",
        ],
        bad: &["", "2026-03", "12:00", "2026-03-01T09:00:00", "tomorrow", "2026-13-01"],
        impossible: &["2026-02-30", "2026-02-30T09:00:00Z"],
    },
    Agreement {
        pattern: formats::ZoneName::PATTERN,
        accepts: |text| validate::zone("timeZone", text).is_ok(),
        good: &[
            "UTC",
            "Europe/Berlin",
            "asia/kolkata",
            "America/Argentina/Buenos_Aires",
            "Etc/GMT+5",
            "America/Port-au-Prince",
        ],
        bad: &[
            "",
            " ",
            "+02:00",
            "W. Europe Standard Time",
            "EST5EDT,M3.2.0,M11.1.0",
            "../etc/passwd",
            "Europe/Berlín",
        ],
        impossible: &["Mars/Olympus", "Factory", "CEST/"],
    },
    Agreement {
        pattern: formats::RecurrenceLine::PATTERN,
        accepts: |text| validate::recurrence(&[text.to_owned()], false).is_ok(),
        good: &[
            "RRULE:FREQ=DAILY",
            "rrule:FREQ=WEEKLY;BYDAY=MO,TU",
            "EXDATE:20260301T090000Z",
            "RDATE;TZID=Europe/Berlin:20260301T090000",
        ],
        bad: &["", "FREQ=DAILY", "DTSTART:20260301T090000Z", "EXRULE:FREQ=DAILY", "XRULE:FREQ=DAILY"],
        impossible: &["RRULE:FREQ=NEVER", "RRULE:", "EXDATE:tomorrow"],
    },
];

const NAMES: &[Agreement] = &[
    Agreement {
        pattern: formats::Color::PATTERN,
        accepts: |text| validate::color(text).is_ok(),
        good: &["#000000", "#1a2b3c", "#ABCDEF"],
        bad: &["", "1a2b3c", "#1a2b3", "#1a2b3c4", "red", "#1a2b3g"],
        impossible: &[],
    },
    Agreement {
        pattern: formats::Email::PATTERN,
        accepts: |text| validate::address("email", text).is_ok(),
        good: &[
            "ada@example.org",
            "o'neil+x@b-c.example",
            "root@localhost",
            "jörg@münchen.example",
            "ada@[192.0.2.1]",
        ],
        bad: &[
            "",
            "ada",
            "@example.org",
            "ada@",
            "a@@b.org",
            "a@b@c.org",
            "\"a@b\"@c.org",
            "Ada <ada@example.org>",
            "ada@example.org,bob@example.org",
            "a b@example.org",
        ],
        impossible: &["a@b..org", "a@-b.org"],
    },
    Agreement {
        pattern: formats::WebUrl::PATTERN,
        accepts: |text| validate::url("url", text, &["http", "https"], "a URL").is_ok(),
        good: &["http://example.org", "https://example.org/a?b#c", "HTTPS://EXAMPLE.ORG"],
        bad: &["", "example.org", "ftp://example.org", "javascript:alert(1)", "//example.org"],
        impossible: &["https://", "https://exa mple.org"],
    },
    Agreement {
        pattern: formats::HttpsUrl::PATTERN,
        accepts: |text| validate::url("url", text, &["https"], "a URL").is_ok(),
        good: &["https://example.org", "Https://example.org/logo.png"],
        bad: &["", "http://example.org", "example.org"],
        impossible: &["https://"],
    },
    Agreement {
        pattern: formats::Slug::PATTERN,
        accepts: is_slug,
        good: &["a", "intro-call", "2026", "-"],
        bad: &["", "Intro", "intro call", "intro_call", "é"],
        impossible: &[],
    },
    Agreement {
        pattern: formats::ProviderName::PATTERN,
        accepts: runtime::Manifest::is_name,
        good: &["google", "caldav", "1and1", "my-provider"],
        bad: &["", "-google", "Google", "google.com", "goo gle"],
        impossible: &[],
    },
    Agreement {
        pattern: formats::Etag::PATTERN,
        accepts: is_expected_etag,
        good: &["*", "\"3f2a\"", "3f2a", "\"a\", \"b\""],
        bad: &["", "W/\"3f2a\"", "\"\""],
        impossible: &[],
    },
    Agreement {
        pattern: formats::Base64::PATTERN,
        accepts: |text| BASE64_STANDARD.decode(text).is_ok(),
        good: &["", "SGVsbG8=", "AA==", "abcd", "+/+/"],
        bad: &["SGVsbG8=!", "-_-_", "a b="],
        impossible: &["a", "SGVsbG8"],
    },
];

#[test]
fn formats_are_those_of_the_validators() {
    for agreement in TIMES.iter().chain(NAMES) {
        let pattern = Regex::new(agreement.pattern).expect("a regular expression");
        for text in agreement.good {
            assert!((agreement.accepts)(text), "the validator refuses {text:?}");
            assert!(pattern.is_match(text), "{pattern} refuses {text:?}");
        }
        for text in agreement.bad {
            assert!(!(agreement.accepts)(text), "the validator accepts {text:?}");
            assert!(!pattern.is_match(text), "{pattern} accepts {text:?}");
        }
        for text in agreement.impossible {
            assert!(!(agreement.accepts)(text), "the validator accepts {text:?}");
            assert!(pattern.is_match(text), "{pattern} refuses {text:?}");
        }
    }
}

/// The fields of each example stand in the schema of its answer.
#[test]
fn examples_have_the_fields_of_their_schemas() {
    let document = document();
    let (mut checked, mut undeclared) = (0, Vec::new());
    for (name, operation) in operations(&document) {
        for response in operation["responses"].as_object().expect("responses").values() {
            let content = &response["content"]["application/json"];
            let properties = resolved(&document, &content["schema"])["properties"].as_object();
            let example = content["examples"]["default"]["value"].as_object();
            let (Some(properties), Some(example)) = (properties, example) else { continue };
            checked += 1;
            let unknown = example.keys().filter(|field| !properties.contains_key(*field));
            undeclared.extend(unknown.map(|field| format!("{name} answers {field}")));
        }
    }
    assert!(checked > 100, "{checked} examples");
    assert!(undeclared.is_empty(), "{undeclared:#?}");
}
