//! The clients in `sdk/clients`: their generated files belong to the document that this server prints. Needs neither Node nor Python.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;
use sha2::{Digest, Sha256};
use switchboard::api;
use switchboard::api::openapi::{self, Flavour};

/// The address in `clients.json`; `cargo xtask clients` has the same.
const ADDRESS: &str = "https://api.example.com";

/// The files that `cargo xtask clients` prints from `clients.json`.
const GENERATED: [&str; 5] = [
    "typescript/src/generated/resources.ts",
    "typescript/src/generated/types.ts",
    "python/src/switchboard/generated/resources.py",
    "python/src/switchboard/generated/async_resources.py",
    "python/src/switchboard/generated/types.py",
];

fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sdk/clients").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The members of two objects that differ, below `place`.
fn differences(place: &str, stored: &Value, printed: &Value) -> BTreeSet<String> {
    let members = |value: &Value| -> BTreeSet<String> {
        value.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
    };
    let names = members(stored).into_iter().chain(members(printed));
    names.filter(|name| stored.get(name) != printed.get(name)).map(|name| format!("{place} {name}")).collect()
}

/// `clients.json` is the document for clients, and has its keys in order.
#[test]
fn clients_json_is_the_document_of_this_server() {
    let stored: Value = serde_json::from_str(&read("clients.json")).unwrap();
    let printed = openapi::print(&api::operations(), ADDRESS, Flavour::Clients);
    let mut stale = differences("", &stored, &printed);
    stale.extend(differences("path", &stored["paths"], &printed["paths"]));
    stale.extend(differences("schema", &stored["components"]["schemas"], &printed["components"]["schemas"]));
    assert!(stale.is_empty(), "sdk/clients is stale, run `cargo xtask clients`: {stale:#?}");
    let paths: Vec<&String> = stored["paths"].as_object().unwrap().keys().collect();
    assert!(paths.is_sorted(), "the keys of clients.json are in order");
}

/// The first line of each generated file has the hash of the `clients.json` that it was made from.
#[test]
fn generated_files_belong_to_clients_json() {
    let hash = Sha256::digest(read("clients.json").as_bytes());
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    let wanted = format!("of clients.json sha256:{hash}");
    for name in GENERATED {
        let text = read(name);
        let first = text.lines().next().unwrap_or_default();
        let first = first.trim_start_matches(['/', '#']).trim_start();
        assert_eq!(first, wanted, "{name} is stale: run `cargo xtask clients`");
    }
}
