//! The members of requests that change an item.

use std::collections::{BTreeMap, BTreeSet};

use model::wire::Source;
use serde_json::{Value, json};

use crate::bench::{Bench, Outcome, Verdict, body, ensure};
use crate::cases::items::writing::with_times;
use crate::surface_bench::{Collection, ItemChange, ItemKind, supported};

/// Methods whose body has only the changes; a PUT replaces the whole item.
const PARTIAL: [&str; 2] = ["PATCH", "POST"];
/// Members that a request has whatever it changes: target names, versions, and the frames of RPC.
const OF_REQUEST: [&str; 12] = [
    "id",
    "etag",
    "version",
    "revision",
    "kind",
    "type",
    "object",
    "jsonrpc",
    "method",
    "operationname",
    "query",
    "using",
];

/// The members of JSON bodies, by their paths. Lists are values.
type Members = BTreeMap<Vec<String>, Value>;

/// `W9`: a change sends the fields that changed, and no others.
pub async fn unchanged_fields(bench: &mut Bench, kind: &ItemKind) -> Outcome {
    const HELP: &str = "send what `changed` names, and nothing else: a field that is sent along undoes what another client has just written there, and a null empties it";
    let collection = bench.collection(kind).await?;
    let source = bench.create_named(kind, &collection, "W9").await?;
    bench.interceptor.take_answers();
    let one = sent_members(bench, kind, &collection, &source, kind.name).await?;
    let other = sent_members(bench, kind, &collection, &source, kind.other).await?;
    if one.is_empty() || other.is_empty() {
        return Err(Verdict::NotApplicable("changes are not sent as JSON by PATCH or POST".to_owned()));
    }
    let answered = names(&bench.interceptor.take_answers());
    let etag = source.etag.as_deref().unwrap_or_default();
    let meant = [source.external_id.as_str(), collection.id.as_str(), etag];
    let in_both: Vec<String> = one
        .iter()
        .filter(|(path, value)| other.get(*path) == Some(*value))
        .filter(|(path, value)| is_field(path, value, &answered, &meant))
        .map(|(path, value)| format!("{}: {value}", path.join(".")))
        .collect();
    ensure(
        in_both.is_empty(),
        || format!("a change of {} and one of {} both send {}", kind.name, kind.other, in_both.join(", ")),
        HELP,
    )
}

/// The members of the requests that change this text field.
async fn sent_members(
    bench: &mut Bench,
    kind: &ItemKind,
    collection: &Collection,
    source: &Source,
    field: &str,
) -> Outcome<Members> {
    let before = body::<Value>(source).unwrap_or_default();
    let fields = json!({ (field): kind.label(&format!("W9-{field}")) });
    let change = ItemChange {
        source: Some(source.external_id.clone()),
        body: with_times(fields, &before),
        changed: vec![field.to_owned()],
        if_match: None,
    };
    bench.line.take_exchanges();
    let done = bench.try_write_item(kind, collection, change, &kind.key(&format!("W9-{field}"))).await;
    supported(done, kind.update_op)?;
    let mut members = Members::new();
    for exchange in bench.line.take_exchanges() {
        if PARTIAL.contains(&exchange.method.as_str())
            && let Ok(body) = serde_json::from_slice::<Value>(&exchange.body)
        {
            collect(&body, &mut Vec::new(), &mut members);
        }
    }
    Ok(members)
}

/// Adds the leaf members of a value.
fn collect(value: &Value, path: &mut Vec<String>, into: &mut Members) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                path.push(name.clone());
                collect(value, path, into);
                path.pop();
            }
        }
        value if !path.is_empty() => {
            into.insert(path.clone(), value.clone());
        }
        _ => {}
    }
}

/// The names of all members in these answers.
fn names(answers: &[Vec<u8>]) -> BTreeSet<String> {
    fn add(value: &Value, into: &mut BTreeSet<String>) {
        match value {
            Value::Object(members) => {
                for (name, value) in members {
                    into.insert(name.clone());
                    add(value, into);
                }
            }
            Value::Array(values) => values.iter().for_each(|value| add(value, into)),
            _ => {}
        }
    }
    let mut names = BTreeSet::new();
    let values = answers.iter().filter_map(|answer| serde_json::from_slice::<Value>(answer).ok());
    values.for_each(|value| add(&value, &mut names));
    names
}

/// Returns whether a member that two different changes send alike is a field of the item, and not a part of every request.
fn is_field(path: &[String], value: &Value, answered: &BTreeSet<String>, meant: &[&str]) -> bool {
    let name = path.last().map(String::as_str).unwrap_or_default();
    let is_of_request =
        OF_REQUEST.contains(&name.to_ascii_lowercase().as_str()) || name.starts_with(['@', '$', '_']);
    let is_meant = value.as_str().is_some_and(|text| !text.is_empty() && meant.contains(&text));
    let is_empty = value.is_null() || *value == json!("") || *value == json!([]);
    !is_of_request && !is_meant && (is_empty || answered.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_the_item_is_told_from_what_every_request_has() {
        let answered =
            names(&[br#"{"task":{"id":"1","title":"A","done":false,"tags":[{"color":1}]}}"#.to_vec()]);
        let mut members = Members::new();
        let body = json!({
            "id": "1", "etag": "5", "list": "L", "notifyUsers": false, "@type": "Task",
            "task": { "done": true, "deadline": null, "color": 2 },
        });
        collect(&body, &mut Vec::new(), &mut members);
        let fields: Vec<String> = members
            .iter()
            .filter(|(path, value)| is_field(path, value, &answered, &["1", "L"]))
            .map(|(path, _)| path.join("."))
            .collect();
        assert_eq!(fields, ["task.color", "task.deadline", "task.done"]);
    }
}
