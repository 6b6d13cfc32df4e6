//! The SDK as packages for others.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use toml::{Table, Value};

use crate::project::{Ended, target};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn manifest(path: &str) -> Table {
    std::fs::read_to_string(root().join(path)).unwrap().parse().unwrap()
}

/// `model` and `connector-sdk` have all files for publishing in their own folders.
#[test]
fn crates_package() {
    let mut cargo = Command::new("cargo");
    cargo.args(["package", "--no-verify", "--allow-dirty", "--offline", "--list", "-p", "connector-sdk"]);
    cargo.current_dir(root()).env("CARGO_TARGET_DIR", target().join("authoring"));
    let listed = Ended::of(cargo.output().unwrap()).ok();
    for file in ["src/lib.rs", "wit/connector.wit", "wit/http.wit", "wit/types.wit", "Cargo.toml"] {
        assert!(listed.lines().any(|line| line == file), "{file} is missing in:\n{listed}");
    }
    let mut cargo = Command::new("cargo");
    cargo.args([
        "package",
        "--no-verify",
        "--allow-dirty",
        "--offline",
        "-p",
        "model",
        "-p",
        "connector-sdk",
    ]);
    cargo.current_dir(root()).env("CARGO_TARGET_DIR", target().join("authoring"));
    let packed = Ended::of(cargo.output().unwrap());
    assert_eq!(packed.code, Some(0), "{}", packed.stderr);
}

/// The manifests in a project's `vendor/` have the dependencies of the crates in this workspace.
#[test]
fn vendored_manifests_are_those_of_the_workspace() {
    let workspace = manifest("Cargo.toml");
    let shared = workspace["workspace"]["dependencies"].as_table().unwrap();
    for (own, vendored) in [
        ("sdk/model/Cargo.toml", "sdk/templates/vendor/model.toml"),
        ("sdk/connector/Cargo.toml", "sdk/templates/vendor/connector-sdk.toml"),
    ] {
        let (own, vendored) = (manifest(own), manifest(vendored));
        assert_eq!(resolved(&own, shared), resolved(&vendored, &Table::new()), "{}", own["package"]["name"]);
        assert_eq!(
            own.get("features").map(ToString::to_string),
            vendored.get("features").map(ToString::to_string)
        );
        assert_eq!(own["package"]["description"], vendored["package"]["description"]);
        let version = &workspace["workspace"]["package"];
        for key in ["version", "edition", "rust-version", "license"] {
            assert_eq!(version[key], vendored["package"][key], "{key}");
        }
    }
}

/// Returns the dependencies with inherited values written out, and without paths, which differ.
fn resolved(manifest: &Table, shared: &Table) -> BTreeMap<String, Value> {
    let of_target = manifest.get("target").and_then(Value::as_table).into_iter().flatten();
    let of_target = of_target.filter_map(|(_, target)| target.get("dependencies"));
    let tables = manifest.get("dependencies").into_iter().chain(of_target).filter_map(Value::as_table);
    let entries = tables.flatten().map(|(name, own)| {
        let mut entry = table(own);
        if entry.remove("workspace").is_some() {
            let mut whole = table(&shared[name]);
            whole.extend(entry);
            entry = whole;
        }
        entry.remove("path");
        (name.clone(), Value::Table(entry))
    });
    entries.collect()
}

fn table(value: &Value) -> Table {
    match value {
        Value::Table(table) => table.clone(),
        version => Table::from_iter([("version".to_owned(), version.clone())]),
    }
}
