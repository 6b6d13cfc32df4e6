//! Redaction of bodies for the request log: pure functions of JSON. A shape has names, types and lengths; a full body has what was sent but
//! for what is never kept, in either.

use std::collections::HashSet;

use serde_json::{Map, Value};

/// Parts of names whose values are never kept, compared without case, `_` and `-`.
const SECRET_NAMES: [&str; 9] =
    ["password", "secret", "token", "credential", "authorization", "key", "passcode", "passphrase", "cookie"];

/// A whole name whose value is never kept: that of a conference. Other names have these letters, too.
const PIN: &str = "pin";

/// Parts of names whose values are what people write: never kept either, and of their shapes only types and lengths.
const CONTENT_NAMES: [&str; 9] =
    ["body", "html", "text", "snippet", "raw", "content", "notes", "description", "answers"];

/// Beginnings of API keys, access tokens and secrets of webhooks.
const KEY_BEGINNINGS: [&str; 4] = ["uc_live_", "uc_test_", "uc_tok_", "whsec_"];

/// Schemes of authorization, with the space after them.
const SCHEMES: [&str; 4] = ["Bearer ", "bearer ", "Basic ", "basic "];

/// The place of a value that is not kept.
pub const HIDDEN: &str = "‹hidden›";

/// Texts that are not kept and are looked for in those that are.
const MAX_HIDDEN_TEXTS: usize = 200;

/// Bytes of the shortest of them: shorter ones are in everything.
const MIN_HIDDEN_BYTES: usize = 4;

/// Characters of such a text that are looked for: an error message repeats the beginning of a long value.
const MAX_HIDDEN_CHARS: usize = 20;

/// Items of an array in a shape; the others are counted.
const MAX_ITEMS: usize = 5;

/// Beginnings of routes of which no body is kept: codes, tokens and keys are all that they are about.
const SECRET_ROUTES: [&str; 4] = ["/v1/oauth", "/v1/api-keys", "/v1/auth", "/v1/admin"];

/// Parts of routes that carry files.
const FILE_ROUTES: [&str; 2] = ["/attachments", "/photo"];

/// The names and the words of enums that the API's document has: these are no secrets of anybody, and a shape shows them.
#[derive(Debug, Default)]
pub struct KnownWords {
    names: HashSet<String>,
    words: HashSet<String>,
}

impl KnownWords {
    /// The names of properties and the words of enums in an OpenAPI document.
    pub fn from_document(document: &Value) -> KnownWords {
        let mut known = KnownWords::default();
        known.collect(document);
        known
    }

    fn collect(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.collect(item)),
            Value::Object(object) => {
                if let Some(Value::Object(properties)) = object.get("properties") {
                    self.names.extend(properties.keys().cloned());
                }
                let words = object.get("enum").and_then(Value::as_array).into_iter().flatten();
                let words = words.chain(object.get("const")).filter_map(Value::as_str);
                self.words.extend(words.map(str::to_owned));
                object.values().for_each(|item| self.collect(item));
            }
            _ => {}
        }
    }
}

/// Whether bodies of requests to this route may be kept at all.
pub fn is_kept_of(route: &str) -> bool {
    let is_secret = SECRET_ROUTES.iter().any(|secret| route.starts_with(secret));
    let is_file = FILE_ROUTES.iter().any(|file| route.contains(file));
    !route.is_empty() && !is_secret && !is_file
}

/// The shape of a body: its names, as far as the document has them, types, lengths, numbers, instants, ids and words of enums.
pub fn shape(body: &Value, known: &KnownWords) -> Value {
    shape_of(body, known, false)
}

fn shape_of(value: &Value, known: &KnownWords, is_content: bool) -> Value {
    match value {
        Value::Null => Value::Null,
        Value::Bool(_) if is_content => "‹true or false›".into(),
        Value::Number(_) if is_content => "‹number›".into(),
        Value::Bool(_) | Value::Number(_) => value.clone(),
        Value::String(text) if !is_content && is_plain(text, known) => value.clone(),
        Value::String(text) => length_text(text).into(),
        Value::Array(items) => {
            let mut shapes: Vec<Value> =
                items.iter().take(MAX_ITEMS).map(|item| shape_of(item, known, is_content)).collect();
            if items.len() > MAX_ITEMS {
                shapes.push(format!("‹{} more›", items.len() - MAX_ITEMS).into());
            }
            Value::Array(shapes)
        }
        Value::Object(object) => {
            let (mut shapes, mut unknown) = (Map::new(), 0);
            for (name, value) in object {
                let is_known = known.names.contains(name);
                let shown = match is_known {
                    true => name.clone(),
                    false => {
                        unknown += 1;
                        unknown_name(unknown)
                    }
                };
                let shape = match is_never_kept(object, name) {
                    true => HIDDEN.into(),
                    false => shape_of(value, known, is_content || has_part(name, &CONTENT_NAMES)),
                };
                shapes.insert(shown, shape);
            }
            Value::Object(shapes)
        }
    }
}

/// A body as it is, without what is never kept: secrets, and what people write. Nor are texts that have one of `hidden`: a message about a value
/// may repeat it.
pub fn without_secrets(body: &Value, hidden: &[String]) -> Value {
    match body {
        Value::String(text) => shown_text(text, hidden).into(),
        Value::Array(items) => Value::Array(items.iter().map(|item| without_secrets(item, hidden)).collect()),
        Value::Object(object) => {
            let member = |(name, value): (&String, &Value)| {
                let kept = match value {
                    Value::Null => Value::Null,
                    _ if is_hidden(object, name) => HIDDEN.into(),
                    _ => without_secrets(value, hidden),
                };
                (shown_text(name, hidden), kept)
            };
            Value::Object(object.iter().map(member).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => body.clone(),
    }
}

/// The beginnings of the texts and numbers of a body that are never kept.
pub fn hidden_texts(body: &Value) -> Vec<String> {
    let mut found = Vec::new();
    add_hidden(body, false, &mut found);
    found
}

fn add_hidden(value: &Value, is_inside: bool, found: &mut Vec<String>) {
    match value {
        Value::String(text) if is_inside => add_beginning(text, found),
        // As errors of a wrong type quote them: the digits alone are in dates, too.
        Value::Number(number) if is_inside => add_beginning(&format!("`{number}`"), found),
        Value::Array(items) => items.iter().for_each(|item| add_hidden(item, is_inside, found)),
        Value::Object(object) => {
            for (name, value) in object {
                add_hidden(value, is_inside || is_hidden(object, name), found);
            }
        }
        _ => {}
    }
}

/// Adds the beginning of a text that is never kept, as it is and as error messages quote it.
fn add_beginning(text: &str, found: &mut Vec<String>) {
    let beginning: String = text.trim().chars().take(MAX_HIDDEN_CHARS).collect();
    if beginning.len() < MIN_HIDDEN_BYTES || found.len() >= MAX_HIDDEN_TEXTS {
        return;
    }
    let quoted = format!("{beginning:?}");
    let escaped = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(&quoted);
    if escaped != beginning {
        found.push(escaped.to_owned());
    }
    found.push(beginning);
}

/// Whether a full body lacks the value of this name.
fn is_hidden(object: &Map<String, Value>, name: &str) -> bool {
    is_never_kept(object, name) || has_part(name, &CONTENT_NAMES)
}

/// Whether the value of this name is a secret: by the name, or because it is the value of a pair whose name says so.
fn is_never_kept(object: &Map<String, Value>, name: &str) -> bool {
    let is_secret = |name: &str| has_part(name, &SECRET_NAMES) || name.eq_ignore_ascii_case(PIN);
    let of_pair =
        || ["name", "key", "id"].iter().filter_map(|name| object.get(*name)?.as_str()).any(is_secret);
    is_secret(name) || (name == "value" || name == "values") && of_pair()
}

fn has_part(name: &str, parts: &[&str]) -> bool {
    let letters: String =
        name.chars().filter(|c| !matches!(c, '_' | '-' | ' ' | '.')).flat_map(char::to_lowercase).collect();
    parts.iter().any(|part| letters.contains(part))
}

fn unknown_name(number: usize) -> String {
    if number == 1 { "‹name›".to_owned() } else { format!("‹name {number}›") }
}

fn length_text(text: &str) -> String {
    match text.chars().count() {
        1 => "‹1 character›".to_owned(),
        count => format!("‹{count} characters›"),
    }
}

/// Whether a text contains nothing that a person wrote: a word of an enum, an instant or an id of this service.
fn is_plain(text: &str, known: &KnownWords) -> bool {
    known.words.contains(text) || is_instant(text) || is_id(text)
}

/// A date, or a date with a time: `2026-03-01`, `2026-03-01T08:00:00.000Z`.
fn is_instant(text: &str) -> bool {
    let is_digit = |at: usize, c: char| if matches!(at, 4 | 7) { c == '-' } else { c.is_ascii_digit() };
    let (date, rest) = match text.split_once('T') {
        Some((date, time)) => (date, time),
        None => (text, ""),
    };
    date.len() == 10
        && date.char_indices().all(|(at, c)| is_digit(at, c))
        && rest.len() <= 25
        && rest.chars().all(|c| c.is_ascii_digit() || matches!(c, ':' | '.' | '+' | '-' | 'Z'))
}

/// An id that this service made: a few letters and a ULID.
fn is_id(text: &str) -> bool {
    let Some((prefix, rest)) = text.split_once('_') else { return false };
    (2..=4).contains(&prefix.len())
        && prefix.bytes().all(|b| b.is_ascii_lowercase())
        && rest.len() == 26
        && rest.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_uppercase())
}

/// A text of a full body. URLs lose what follows their host, and texts with a key of ours are hidden.
fn shown_text(text: &str, hidden: &[String]) -> String {
    if hidden.iter().any(|hidden| text.contains(hidden.as_str())) {
        return HIDDEN.to_owned();
    }
    if has_key(text) || SCHEMES.iter().any(|scheme| text.contains(scheme)) {
        return HIDDEN.to_owned();
    }
    // Content in the form of a URL.
    if text.starts_with("data:") || text.starts_with("mailto:") && text.contains('?') {
        return length_text(text);
    }
    if !text.contains("://") {
        return text.to_owned();
    }
    // A URL among other words may stand anywhere in them.
    let Some((scheme, rest)) = text.split_once("://").filter(|(scheme, _)| is_scheme(scheme)) else {
        return length_text(text);
    };
    let (host, path) =
        rest.split_at_checked(rest.find(['/', '?', '#']).unwrap_or(rest.len())).unwrap_or((rest, ""));
    if host.contains('@') || host.contains(' ') {
        return HIDDEN.to_owned();
    }
    match path.chars().count() {
        0 | 1 => format!("{scheme}://{host}{path}"),
        count => format!("{scheme}://{host}/‹{} characters›", count - 1),
    }
}

/// Whether a text has a key, an access token or a secret of ours.
pub fn has_key(text: &str) -> bool {
    KEY_BEGINNINGS.iter().any(|beginning| text.contains(beginning))
}

fn is_scheme(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn known() -> KnownWords {
        KnownWords::from_document(&json!({
            "components": { "schemas": { "Event": {
                "properties": {
                    "title": { "type": "string" },
                    "status": { "enum": ["confirmed", "cancelled"] },
                    "kind": { "const": "event" },
                    "start": {}, "count": {}, "calendarId": {}, "password": {}, "attendees": {}, "body": {}, "is_on": {},
                },
            } } },
        }))
    }

    #[test]
    fn a_shape_has_names_types_and_lengths() {
        let sent = json!({
            "title": "Lunch with Ada at the café",
            "status": "confirmed",
            "kind": "event",
            "start": "2026-03-01T08:00:00.000Z",
            "calendarId": "cal_01ARZ3NDEKTSV4RRFFQ69G5FAV",
            "count": 3,
            "is_on": true,
            "password": 1234,
            "attendees": ["a", "b", "c", "d", "e", "f", null],
            "body": { "text": "Dear Ada", "count": 42, "is_on": false, "start": "2026-03-01" },
            "divorce": "yes",
            "lawyer": ["no"],
        });
        let expected = json!({
            "title": "‹26 characters›",
            "status": "confirmed",
            "kind": "event",
            "start": "2026-03-01T08:00:00.000Z",
            "calendarId": "cal_01ARZ3NDEKTSV4RRFFQ69G5FAV",
            "count": 3,
            "is_on": true,
            "password": HIDDEN,
            "attendees": ["‹1 character›", "‹1 character›", "‹1 character›", "‹1 character›", "‹1 character›", "‹2 more›"],
            "body": { "‹name›": "‹8 characters›", "count": "‹number›", "is_on": "‹true or false›", "start": "‹10 characters›" },
            "‹name›": "‹3 characters›",
            "‹name 2›": ["‹2 characters›"],
        });
        assert_eq!(shape(&sent, &known()), expected);
    }

    #[test]
    fn a_full_body_lacks_what_is_never_kept() {
        let sent = json!({
            "title": "Lunch",
            "htmlBody": "<p>Dear Ada</p>",
            "client_secret": "of the client",
            "apiKey": 7,
            "refresh-token": ["one"],
            "passcode": "98765",
            "pin": "12",
            "pinned": "yes",
            "description": null,
            "settings": [{ "name": "imap_password", "value": "hunter2" }, { "name": "host", "value": "imap.example.com" }],
            "url": "https://hooks.example.com/services/T000/secret?sig=1",
            "other": "https://ada:hunter2@example.com/",
            "home": "https://example.com/",
            "photo": "data:image/png;base64,aGVsbG8=",
            "unsubscribe": "mailto:list@example.com?subject=stop",
            "organizer": "mailto:ada@example.com",
            "header": "Bearer abc",
            "used": "uc_live_abc",
        });
        let expected = json!({
            "title": "Lunch",
            "htmlBody": HIDDEN,
            "client_secret": HIDDEN,
            "apiKey": HIDDEN,
            "refresh-token": HIDDEN,
            "passcode": HIDDEN,
            "pin": HIDDEN,
            "pinned": "yes",
            "description": null,
            "settings": [{ "name": "imap_password", "value": HIDDEN }, { "name": "host", "value": "imap.example.com" }],
            "url": "https://hooks.example.com/‹26 characters›",
            "other": HIDDEN,
            "home": "https://example.com/",
            "photo": "‹30 characters›",
            "unsubscribe": "‹36 characters›",
            "organizer": "mailto:ada@example.com",
            "header": HIDDEN,
            "used": HIDDEN,
        });
        assert_eq!(without_secrets(&sent, &[]), expected);
        let mut hidden = hidden_texts(&sent);
        hidden.sort();
        assert_eq!(hidden, ["98765", "<p>Dear Ada</p>", "hunter2", "of the client"]);
        let answer = json!({ "message": "settings: hunter2 is too short", "code": "invalid" });
        let kept = without_secrets(&answer, &hidden);
        assert_eq!(kept, json!({ "message": HIDDEN, "code": "invalid" }));
    }

    #[test]
    fn a_message_that_repeats_a_hidden_value_is_hidden() {
        let sent = json!({ "body": format!(" Dear Ada,\n{}", "x".repeat(400)), "password": 48_151_623 });
        let hidden = hidden_texts(&sent);
        for message in [
            "body: invalid type: string \" Dear Ada,\\nxxxxxxxxxxxxxxxxxxxx…",
            "body may not begin with Dear Ada,\nxxxxxxxxxxxxxxxxxxxx",
            "password: invalid type: integer `48151623`, expected a string",
        ] {
            assert_eq!(without_secrets(&json!(message), &hidden), json!(HIDDEN), "{message}");
        }
        for other in ["body is required", "2048-15-16", "48151623"] {
            assert_eq!(without_secrets(&json!(other), &hidden), json!(other));
        }
    }

    #[test]
    fn ids_and_instants_are_told_from_other_texts() {
        for id in ["cal_01ARZ3NDEKTSV4RRFFQ69G5FAV", "ev_01ARZ3NDEKTSV4RRFFQ69G5FAV"] {
            assert!(is_id(id), "{id}");
        }
        for other in
            ["uc_live_01ARZ3NDEKTSV4RRFFQ69G5FAV", "whsec_01ARZ3NDEKTSV4RRFFQ69G5FAV", "cal_1", "cal", ""]
        {
            assert!(!is_id(other), "{other}");
        }
        for instant in ["2026-03-01", "2026-03-01T08:00", "2026-03-01T08:00:00.000+02:00"] {
            assert!(is_instant(instant), "{instant}");
        }
        for other in ["2026-03", "03-01-2026", "2026-03-01 08:00", "2026-03-01Tea", "2026/03/01", "", "T"] {
            assert!(!is_instant(other), "{other}");
        }
    }

    #[test]
    fn routes_about_secrets_and_files_are_left_out() {
        for route in [
            "",
            "/v1/oauth/token",
            "/v1/api-keys/{keyId}",
            "/v1/email/messages/{messageId}/attachments",
            "/v1/auth/token",
        ] {
            assert!(!is_kept_of(route), "{route}");
        }
        assert!(is_kept_of("/v1/calendars/{calendarId}/events"));
    }

    /// A text that nothing else has.
    const MARK: &str = "m4rk3d";

    /// JSON of any form, whose texts under names that are never kept have the mark, at any depth.
    fn marked() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<i32>().prop_map(Value::from),
            "[a-z ]{0,12}".prop_map(Value::String),
        ];
        let name = prop_oneof!["[a-z]{1,8}", Just("title".to_owned()), Just("value".to_owned())];
        leaf.prop_recursive(4, 48, 6, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..8).prop_map(Value::Array),
                prop::collection::vec((name.clone(), inner.clone()), 0..6)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
                (0..SECRET_NAMES.len() + CONTENT_NAMES.len(), 0..4_usize, inner, any::<bool>())
                    .prop_map(|(of, style, inner, is_deep)| hidden_member(of, style, inner, is_deep)),
            ]
        })
    }

    /// An object with a member that is never kept, whose name is written in one of several ways.
    fn hidden_member(of: usize, style: usize, inner: Value, is_deep: bool) -> Value {
        let names: Vec<&str> = SECRET_NAMES.iter().chain(&CONTENT_NAMES).copied().collect();
        let part = names[of];
        let name = match style {
            0 => part.to_owned(),
            1 => format!("my_{part}"),
            2 => part.to_uppercase(),
            _ => part.chars().map(|c| format!("{c}-")).collect(),
        };
        let value = if is_deep { json!([{ "title": MARK, "inner": inner }]) } else { json!(MARK) };
        Value::Object(Map::from_iter([(name, value)]))
    }

    /// All texts and names in JSON.
    fn texts(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::String(text) => found.push(text.clone()),
            Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
            Value::Object(object) => {
                for (name, value) in object {
                    found.push(name.clone());
                    texts(value, found);
                }
            }
            _ => {}
        }
    }

    proptest! {
        #[test]
        fn what_is_never_kept_is_never_kept(sent in marked()) {
            let answer = json!({ "message": format!("not {MARK}") });
            let hidden = hidden_texts(&sent);
            prop_assert!(!without_secrets(&sent, &hidden).to_string().contains(MARK));
            if sent.to_string().contains(MARK) {
                prop_assert!(!without_secrets(&answer, &hidden).to_string().contains(MARK));
            }
            prop_assert!(!shape(&sent, &known()).to_string().contains(MARK));
        }

        #[test]
        fn a_shape_has_no_text_that_somebody_wrote(sent in marked()) {
            let (known, mut found) = (known(), Vec::new());
            texts(&shape(&sent, &known), &mut found);
            for text in found {
                let is_ours = known.names.contains(&text) || is_plain(&text, &known) || text.starts_with('‹');
                prop_assert!(is_ours, "{text}");
            }
        }
    }
}
