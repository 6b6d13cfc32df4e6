//! The lines in which the manifests of two versions of a connector differ: all of them, so that no permission changes unseen.

use std::collections::{BTreeMap, BTreeSet};

use base::error::Result;
use runtime::Manifest;
use serde_json::Value;

/// A line of a manifest that is not the same in both versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestChange {
    /// The key as `connector.toml` has it, with those above it: `auth.token_url`.
    pub key: String,
    /// The value that goes; empty where there was none.
    pub before: String,
    /// The value that comes; empty where there is none.
    pub after: String,
}

type ManifestLines = BTreeMap<String, Vec<String>>;

/// The differences of two manifests, by key; without an old one, all lines of the new one.
///
/// # Errors
/// None that a manifest can cause.
pub fn changes(old: Option<&Manifest>, new: &Manifest) -> Result<Vec<ManifestChange>> {
    let (old, new) = (old.map(lines).transpose()?.unwrap_or_default(), lines(new)?);
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let mut all = Vec::new();
    for key in keys {
        let values = |lines: &ManifestLines| lines.get(key).cloned().unwrap_or_default();
        let [before, after] = differences(&values(&old), &values(&new));
        for at in 0..before.len().max(after.len()) {
            let value = |values: &[String]| values.get(at).cloned().unwrap_or_default();
            all.push(ManifestChange { key: key.clone(), before: value(&before), after: value(&after) });
        }
    }
    Ok(all)
}

/// The values of a key that go, and those that come. Where they are the same in another order, those that have moved: of several rules the first
/// one may be that which counts.
fn differences(old: &[String], new: &[String]) -> [Vec<String>; 2] {
    let (gone, come) = (missing(old, new), missing(new, old));
    if !gone.is_empty() || !come.is_empty() {
        return [gone, come];
    }
    let moved = old.iter().zip(new).filter(|(old, new)| old != new);
    let (from, to): (Vec<&String>, Vec<&String>) = moved.unzip();
    [from, to].map(|values| values.into_iter().cloned().collect())
}

/// The values that are not among others, or not as often.
fn missing(values: &[String], others: &[String]) -> Vec<String> {
    let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
    for other in others {
        *counts.entry(other).or_default() += 1;
    }
    let is_missing = |value: &&String| match counts.get_mut(*value) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    values.iter().filter(is_missing).cloned().collect()
}

/// The values of a manifest by key. Each entry of a list is a value of its own.
fn lines(manifest: &Manifest) -> Result<ManifestLines> {
    let mut all = ManifestLines::new();
    add_lines(&mut all, "", &without_nulls(serde_json::to_value(manifest)?));
    Ok(all)
}

fn add_lines(all: &mut ManifestLines, key: &str, value: &Value) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
                add_lines(all, &key, member);
            }
        }
        Value::Array(items) => {
            for item in items {
                all.entry(key.to_owned()).or_default().push(text(item));
            }
        }
        value => all.entry(key.to_owned()).or_default().push(text(value)),
    }
}

/// A value as people read it: a text as it is, anything else as JSON.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The same without members that are absent.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let present = members.into_iter().filter(|(_, member)| !member.is_null());
            Value::Object(present.map(|(name, member)| (name, without_nulls(member))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_nulls).collect()),
        value => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = r#"
        name = "notes"
        version = "1.0.0"
        title = "Notes"
        surfaces = ["tasks"]
        [[hosts]]
        host = "api.notes.example"
        inject = "default"
        [auth]
        kinds = ["oauth"]
        authorize_url = "https://notes.example/authorize"
        token_url = "https://notes.example/token"
        base_scopes = ["notes.read"]
        "#;

    fn replaced(from: &str, to: &str) -> Vec<[String; 3]> {
        assert!(OLD.contains(from), "{from}");
        let parse = |text: &str| Manifest::parse(text).expect("a manifest");
        let found = changes(Some(&parse(OLD)), &parse(&OLD.replacen(from, to, 1))).expect("both are JSON");
        found.into_iter().map(|change| [change.key, change.before, change.after]).collect()
    }

    #[test]
    fn every_line_that_differs_is_shown() {
        assert!(replaced("notes", "notes").is_empty());
        for (from, to, expected) in [
            ("1.0.0", "1.1.0", ["version", "1.0.0", "1.1.0"]),
            (
                "notes.example/token",
                "evil.example/token",
                ["auth.token_url", "https://notes.example/token", "https://evil.example/token"],
            ),
            ("[\"notes.read\"]", "[\"notes.read\", \"notes.full\"]", ["auth.base_scopes", "", "notes.full"]),
            ("[\"notes.read\"]", "[]", ["auth.base_scopes", "notes.read", ""]),
        ] {
            assert_eq!(replaced(from, to), [expected.map(str::to_owned)], "{to}");
        }
        let hosts = replaced("api.notes.example", "api.evil.example");
        let [[key, before, after]] = hosts.as_slice() else { panic!("one host is another: {hosts:?}") };
        assert_eq!(key, "hosts");
        assert!(before.contains("api.notes.example") && after.contains("api.evil.example"), "{after}");
        assert!(after.contains("\"inject\":\"default\"") && !after.contains("null"), "{after}");
    }

    #[test]
    fn another_order_and_another_number_are_changes() {
        let values = |all: &[&str]| all.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>();
        let cases: [[&[&str]; 4]; 3] = [
            [&["a", "b", "c"], &["b", "a", "c"], &["a", "b"], &["b", "a"]],
            [&["a"], &["a", "a"], &[], &["a"]],
            [&["a", "b"], &["a", "b"], &[], &[]],
        ];
        for [old, new, gone, come] in cases {
            let found = differences(&values(old), &values(new));
            assert_eq!(found, [values(gone), values(come)], "{old:?} {new:?}");
        }
    }

    #[test]
    fn without_an_old_manifest_every_line_is_shown() {
        let found = changes(None, &Manifest::parse(OLD).expect("a manifest")).expect("it is JSON");
        let shown = |key: &str| found.iter().filter(|change| change.key == key).count();
        assert!(found.iter().all(|change| change.before.is_empty()));
        assert_eq!(["name", "hosts", "auth.token_url", "auth.base_scopes"].map(shown), [1; 4]);
    }
}
