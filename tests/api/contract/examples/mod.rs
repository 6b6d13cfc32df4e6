//! The examples of the document: exchanges with a server, one of each operation, made by the walks in this folder and compared with
//! `host/src/api/openapi/examples` on every run.

mod stand_ins;
mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::{Value, json};
use switchboard::api;
use switchboard::api::openapi::examples;
use switchboard::api::operation::Operation;

use crate::contract::examples::walk::Walk;

/// Set in the environment, the examples are written instead of compared.
const UPDATE: &str = "UPDATE_EXAMPLES";

/// Operations without an example, and the reason.
const WITHOUT: [(&str, &str); 3] = [
    ("events.stream", "its answer is a stream"),
    ("providers.notifications", "providers call it, each in its own form"),
    ("providers.notificationsOfKind", "providers call it, each in its own form"),
];

/// Operations whose answer depends on the machine: only its fields are compared.
const OF_MACHINE: [&str; 1] = ["admin.health.get"];

/// The part of an exchange that is the same on every machine.
fn compared(id: &str, example: Option<&Value>) -> Option<Value> {
    let mut example = example?.clone();
    if OF_MACHINE.contains(&id) {
        let fields: Vec<&String> =
            example["response"].as_object().into_iter().flatten().map(|(name, _)| name).collect();
        example["response"] = json!(fields);
    }
    Some(example)
}

/// Walks a family's operations and compares its exchanges with the committed ones.
async fn check(family: &str) {
    let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let steps = tests.join(format!("api/contract/examples/{family}.json"));
    let steps = std::fs::read_to_string(steps).expect("the steps of the family");
    let walked = Walk::start().await.take(&steps).await;
    let path = tests.join(format!("../host/src/api/openapi/examples/{family}.json"));
    let walked = serde_json::to_value(&walked).expect("examples are JSON");
    if std::env::var_os(UPDATE).is_some() {
        let text = serde_json::to_string_pretty(&walked).expect("JSON");
        std::fs::write(&path, text + "\n").expect("the examples are written");
        return;
    }
    let committed = std::fs::read_to_string(&path).expect("the examples are committed");
    let committed: BTreeMap<String, Value> = serde_json::from_str(&committed).expect("JSON");
    let walked: BTreeMap<String, Value> = serde_json::from_value(walked).expect("an object");
    let ids: BTreeSet<&String> = committed.keys().chain(walked.keys()).collect();
    for id in ids {
        let (old, new) = (compared(id, committed.get(id)), compared(id, walked.get(id)));
        assert_eq!(old, new, "{id}: another exchange than {}; run with {UPDATE}=1 and look", path.display());
    }
}

/// The test of a family.
macro_rules! walks {
    ($($family:ident),*) => { $(
        #[tokio::test]
        async fn $family() {
            check(stringify!($family)).await;
        }
    )* };
}

walks!(accounts, admin, calendars, contacts, email, scheduling, tasks, webhooks);

/// Every operation has an example, but those with a reason.
#[test]
fn every_operation_has_an_example() {
    let shown: BTreeSet<String> = examples::all().map(|(id, _)| id.clone()).collect();
    let ids: BTreeSet<String> = api::operations().iter().map(Operation::id).collect();
    let missing: Vec<&String> = ids.difference(&shown).collect();
    let without: Vec<&str> = WITHOUT.iter().map(|(id, _)| *id).collect();
    assert_eq!(missing, without);
    assert_eq!(shown.difference(&ids).count(), 0, "examples of no operation");
}
