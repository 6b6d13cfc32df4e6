//! The operations as data, held against the contract's own table (`tests/contract/operations.json`).

use std::collections::{BTreeMap, BTreeSet};

use base::scopes;
use harness::TestServer;
use serde_json::Value;
use switchboard::api;
use switchboard::api::openapi;
use switchboard::api::operation::{ANY_KEY, Operation, Priority};

const CONTRACT: &str = include_str!("../../contract/operations.json");

fn line(o: &Operation) -> String {
    format!("{} {}", o.method, o.path)
}

/// Method, path and priority of every operation of the contract, and of no other.
#[test]
fn the_table_is_the_contracts() {
    let contract: Value = serde_json::from_str(CONTRACT).unwrap();
    let row = |o: &Value| {
        (format!("{} {}", o["method"].as_str().unwrap(), o["path"].as_str().unwrap()), o["priority"].clone())
    };
    let wanted: BTreeMap<String, Value> = contract.as_array().unwrap().iter().map(row).collect();
    let operations = api::operations();
    let in_contract = operations.iter().filter(|o| o.in_contract());
    let have: BTreeMap<String, Value> = in_contract.map(|o| (line(o), o.priority.label().into())).collect();
    assert_eq!(wanted.len(), 93);
    assert_eq!(have, wanted);
}

/// All operations of the contract are there.
#[test]
fn no_operation_answers_501() {
    let unbuilt: Vec<String> = api::operations().iter().filter(|o| !o.built).map(line).collect();
    assert!(unbuilt.is_empty(), "not built: {unbuilt:#?}");
}

/// Every operation says what it does, has an id of its own, and asks for a scope that exists.
#[test]
fn every_operation_is_described() {
    let operations = api::operations();
    let ids: BTreeSet<String> = operations.iter().map(Operation::id).collect();
    assert_eq!(ids.len(), operations.len(), "two operations have the same id");
    for o in &operations {
        assert!(!o.docs.summary.is_empty(), "{} has no summary", line(o));
        assert!(
            o.scope == ANY_KEY || scopes::is_scope(o.scope) || scopes::is_admin_scope(o.scope),
            "{} asks for {}, which is no scope",
            line(o),
            o.scope
        );
        let has_answer = o.docs.response.is_some() || o.docs.streams || o.status() == 204;
        assert!(has_answer, "{} says nothing of its answer", line(o));
    }
    let public: Vec<String> = operations.iter().filter(|o| o.public).map(line).collect();
    assert_eq!(
        public,
        [
            "GET /v1/auth/connectors/{provider}/callback",
            "POST /v1/providers/{provider}/notifications",
            "POST /v1/providers/{provider}/notifications/{name}",
        ],
        "only a browser that comes back, and a provider, has no key"
    );
}

/// The contract's words on the interface description: version, one API-key scheme, priority and responses on every operation.
#[test]
fn the_document_declares_what_the_contract_asks_for() {
    let operations = api::operations();
    let document = openapi::document(&operations, "https://api.example.org");
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["info"]["version"], "1.0.0");
    let schemes: Vec<_> = document["components"]["securitySchemes"].as_object().unwrap().keys().collect();
    assert_eq!(schemes, ["ServiceApiKey"]);
    assert_eq!(document["security"][0]["ServiceApiKey"], serde_json::json!([]));
    for o in &operations {
        let printed = &document["paths"][o.path][o.method.as_str().to_lowercase()];
        assert_eq!(printed["operationId"], o.id());
        for status in ["200", "201", "202", "204", "400", "401", "409", "429", "default"] {
            assert!(printed["responses"][status].is_object(), "{} does not declare {status}", line(o));
        }
        let label = printed.get("x-service-priority").and_then(Value::as_str);
        assert_eq!(label, o.priority.label(), "{}", line(o));
        assert!(label.is_some() || matches!(o.priority, Priority::Unlabelled | Priority::Additive));
    }
}

/// Every reference leads somewhere, and no type had to be numbered because two have one name.
#[test]
fn the_document_is_closed() {
    let document = openapi::document(&api::operations(), "https://api.example.org");
    let mut references = BTreeSet::new();
    collect_references(&document, &mut references);
    assert!(references.len() > 100);
    for reference in &references {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{reference} leads nowhere");
    }
    let schemas = document["components"]["schemas"].as_object().unwrap();
    // schemars numbers the second type of a name.
    let numbered: Vec<_> = schemas.keys().filter(|n| n.ends_with(|c: char| c.is_ascii_digit())).collect();
    assert!(numbered.is_empty(), "two types have one name: {numbered:?}");
}

fn collect_references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            found.extend(object.get("$ref").and_then(Value::as_str).map(str::to_owned));
            object.values().for_each(|v| collect_references(v, found));
        }
        Value::Array(items) => items.iter().for_each(|v| collect_references(v, found)),
        _ => {}
    }
}

/// The probe names the time zone database that every computation here uses, so that a stale one can be told from outside.
#[tokio::test]
async fn the_probe_tells_the_time_zone_database() {
    let server = TestServer::start().await;
    let health = server.anonymous().get("/healthz").send().await.expect(200);
    let release = health["timeZoneDatabase"].as_str().expect("a release");
    assert!(release.len() >= 5 && release.starts_with("20"), "{release} is a release such as 2026a");
}
