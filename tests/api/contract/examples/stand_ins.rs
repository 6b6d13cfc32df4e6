//! Stand-ins for what differs from run to run: ids, versions, cursors, secrets, addresses. Equal values get equal stand-ins.

use std::collections::HashMap;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// Fields whose whole text is opaque to clients.
const OPAQUE: [&str; 20] = [
    "etag",
    "current_etag",
    "if-match",
    "cursor",
    "next_cursor",
    "sync_cursor",
    "externalId",
    "secret",
    "key",
    "access_token",
    "refresh_token",
    "prefix",
    "last4",
    "iCalUid",
    "internetMessageId",
    "inReplyTo",
    "references",
    "slotToken",
    "trackingId",
    "hostId",
];

/// The stand-ins of one walk.
pub struct StandIns {
    /// Texts that are replaced wherever they occur, such as addresses of servers.
    fixed: Vec<(String, String)>,
    known: HashMap<String, String>,
}

impl StandIns {
    pub fn new(fixed: &[(&str, &str)]) -> StandIns {
        let fixed = fixed.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect();
        StandIns { fixed, known: HashMap::new() }
    }

    /// The value with stand-ins; `name` is the field that holds it.
    pub fn value(&mut self, name: &str, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(name, &text)),
            Value::Array(items) => items.into_iter().map(|item| self.value(name, item)).collect(),
            Value::Object(members) => {
                let members: Map<String, Value> = members
                    .into_iter()
                    .map(|(member, value)| {
                        let value = self.value(&member, value);
                        (self.text("", &member), value)
                    })
                    .collect();
                Value::Object(members)
            }
            // Milliseconds that a request took.
            Value::Number(_) if name == "ms" => Value::from(4),
            other => other,
        }
    }

    /// The text with stand-ins; `name` is the field that holds it.
    pub fn text(&mut self, name: &str, text: &str) -> String {
        let mut text = text.to_owned();
        for (from, to) in &self.fixed {
            text = text.replace(from, to);
        }
        if OPAQUE.contains(&name) && !text.is_empty() {
            let stand_in = self.opaque(&text);
            // The beginning of a key, not a whole one.
            let length = if name == "prefix" { text.len() } else { stand_in.len() };
            return stand_in.chars().take(length).collect();
        }
        let text = self.without_code(text);
        self.with_ids(&text)
    }

    /// The text with a stand-in for the authorization code in a query string.
    fn without_code(&mut self, text: String) -> String {
        let Some((before, after)) = text.split_once("?code=") else { return text };
        let (code, rest) = after.split_once('&').unwrap_or((after, ""));
        format!("{before}?code={}&{rest}", self.opaque(code))
    }

    /// The stand-in of an opaque text: the parts before its last `_` and the quotes stay, so that it looks like one.
    fn opaque(&mut self, text: &str) -> String {
        if let Some(known) = self.known.get(text) {
            return known.clone();
        }
        if is_id(text) {
            return self.id(text);
        }
        let number = self.known.len();
        let digest = Sha256::digest(number.to_be_bytes());
        let hex: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let kind = text.rsplit_once('_').map_or("", |(kind, _)| kind);
        let stand_in = match text.strip_prefix('"') {
            Some(_) => format!("\"{hex}\""),
            None if text.len() <= 4 => hex.chars().take(4).collect(),
            None if text.len() <= 16 && kind.is_empty() => hex,
            None if text.contains('@') => format!("{hex}@example.com"),
            None if kind.is_empty() || kind.contains('.') => format!("{hex}{hex}"),
            None => format!("{kind}_{hex}{hex}"),
        };
        self.known.insert(text.to_owned(), stand_in.clone());
        stand_in
    }

    /// The stand-in of an id: its kind, and the number of ids before it.
    fn id(&mut self, id: &str) -> String {
        if let Some(known) = self.known.get(id) {
            return known.clone();
        }
        let (kind, _) = id.split_once('_').expect("an id");
        let beginning = format!("{kind}_");
        let number = self.known.values().filter(|known| known.starts_with(&beginning)).count() + 1;
        let stand_in = format!("{kind}_01JNB4Y7G0EXAMPLE{number:09}");
        self.known.insert(id.to_owned(), stand_in.clone());
        stand_in
    }

    /// The text with each id that stands in it replaced.
    fn with_ids(&mut self, text: &str) -> String {
        let mut replaced = String::new();
        let mut word = String::new();
        for c in text.chars() {
            if c.is_ascii_alphanumeric() || c == '_' {
                word.push(c);
                continue;
            }
            replaced.push_str(&self.word(&std::mem::take(&mut word)));
            replaced.push(c);
        }
        replaced + &self.word(&word)
    }

    /// The stand-in of a word that is an id, or of the id of an instance, which is followed by its original start; else the word.
    fn word(&mut self, word: &str) -> String {
        let mut parts = word.splitn(3, '_');
        let id: Vec<&str> = parts.by_ref().take(2).collect();
        let id = id.join("_");
        if !is_id(&id) {
            return word.to_owned();
        }
        let id = self.id(&id);
        parts.next().map_or_else(|| id.clone(), |start| format!("{id}_{start}"))
    }
}

/// Whether the text is a prefix, an underscore and a ULID.
fn is_id(text: &str) -> bool {
    text.split_once('_').is_some_and(|(kind, unique)| {
        (2..=4).contains(&kind.len())
            && kind.bytes().all(|b| b.is_ascii_lowercase())
            && unique.len() == 26
            && unique.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
    })
}
