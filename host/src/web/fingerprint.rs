//! Fingerprints that decide whether two requests with an Idempotency-Key are the same. Values are hashed while they are walked, without a
//! second copy of a body.

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// The fingerprint of several texts, sensitive to their boundaries.
pub fn of_parts(parts: &[&str]) -> String {
    let mut sha = Sha256::new();
    for part in parts {
        sha.update((part.len() as u64).to_be_bytes());
        sha.update(part.as_bytes());
    }
    render_hash(sha)
}

/// The fingerprint of bytes.
pub fn of_bytes(bytes: &[u8]) -> String {
    let mut sha = Sha256::new();
    sha.update(bytes);
    render_hash(sha)
}

/// The fingerprint of an object, independent of the order of its names.
pub fn of_object(object: &Map<String, Value>) -> String {
    let mut sha = Sha256::new();
    add_object(&mut sha, object);
    render_hash(sha)
}

fn render_hash(sha: Sha256) -> String {
    hex::encode(&sha.finalize()[..20])
}

fn add_object(sha: &mut Sha256, object: &Map<String, Value>) {
    let mut members: Vec<(&String, &Value)> = object.iter().collect();
    members.sort_unstable_by_key(|(name, _)| *name);
    sha.update(b"{");
    for (name, value) in members {
        add_text(sha, name);
        add(sha, value);
    }
    sha.update(b"}");
}

fn add_text(sha: &mut Sha256, text: &str) {
    sha.update(b"\"");
    sha.update((text.len() as u64).to_be_bytes());
    sha.update(text.as_bytes());
}

fn add(sha: &mut Sha256, value: &Value) {
    match value {
        Value::Object(object) => add_object(sha, object),
        Value::Array(items) => {
            sha.update(b"[");
            items.iter().for_each(|item| add(sha, item));
            sha.update(b"]");
        }
        Value::String(text) => add_text(sha, text),
        // Numbers and literals contain no character that could begin another value.
        other => sha.update(format!(",{other}")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn of(value: Value) -> String {
        let mut sha = Sha256::new();
        add(&mut sha, &value);
        render_hash(sha)
    }

    #[test]
    fn the_order_of_names_makes_no_other_request_and_all_else_does() {
        assert_eq!(of(json!({ "a": 1, "b": [2] })), of(json!({ "b": [2], "a": 1 })));
        let others = [
            json!({ "a": 1, "b": [3] }),
            json!({ "a": 12, "b": [] }),
            json!({ "a": [1, 2] }),
            json!({ "a": ["1", 2] }),
            json!({ "a": [[1], 2] }),
            json!({ "a": [1, [2]] }),
            json!({ "a": [12] }),
            json!({ "a": null }),
            json!({ "a": "null" }),
        ];
        let prints: std::collections::BTreeSet<String> = others.iter().cloned().map(of).collect();
        assert_eq!(prints.len(), others.len());
    }

    proptest! {
        /// Texts, names and their boundaries cannot be moved without a different fingerprint.
        #[test]
        fn different_texts_are_different(a in "[ab\",:{}]{0,6}", b in "[ab\",:{}]{0,6}") {
            prop_assert_eq!(of(json!([a, b])) == of(json!([b, a])), a == b);
            prop_assert_eq!(of(json!({ a.clone(): 1, "x": b })) == of(json!({ b.clone(): 1, "x": a })), a == b);
        }
    }
}
