//! `connector new --surface`: the template of each surface passes the kit, `connector check` and its own tests at once, in Rust and in
//! TypeScript.

use std::process::Command;

use serde_json::Value;

use crate::bundled::told;
use crate::project::{Ended, Notes};
use crate::tutorial::Shell;

/// The cases that do not apply: the template's provider has no series, guests, busy times, groups and pictures.
const CALENDAR: [&str; 6] = ["K2", "K3", "K4", "K6", "K9", "K10"];
const CONTACTS: [&str; 2] = ["B2", "B3"];

/// Builds the connector quickly, and runs the kit and `connector check`. `left_out` are the cases that do not apply.
fn passes(notes: &Notes, surface: &str, left_out: &[&str]) {
    notes.run(&["connector", "build", "--dev"]).ok();
    let tested = notes.run(&["connector", "test", "--no-build", "--json"]);
    let report = tested.json();
    let cases = report["cases"].as_array().unwrap();
    assert_eq!((tested.code, told(cases, "failed")), (Some(0), Vec::new()), "{}", tested.stderr);
    let others = cases.iter().filter(|case| case["verdict"] == "notApplicable");
    assert_eq!(others.map(|case| case["id"].as_str().unwrap()).collect::<Vec<_>>(), left_out);
    assert!(cases.len() > 40, "{} cases", cases.len());

    let checked = notes.run(&["connector", "check", "--json"]);
    assert_eq!(checked.code, Some(0), "{}\n{}", checked.stdout, checked.stderr);
    let exported = &checked.json()["surfaces"]["exported"];
    assert!(exported.as_array().is_some_and(|all| all.contains(&Value::from(surface))), "{exported}");
}

fn npm_test(notes: &Notes) {
    Ended::of(Command::new("npm").arg("test").current_dir(notes.folder()).output().unwrap()).ok();
}

fn cargo_test(notes: &Notes) {
    let root = tempfile::tempdir().unwrap();
    let mut shell = Shell::new(root.path());
    shell.folder = notes.folder();
    shell.run("cargo test --test mapping").ok();
}

#[test]
fn the_template_for_calendars_in_typescript_passes_the_kit() {
    let notes = Notes::for_surface("typescript", "calendar", "typed-calendar");
    passes(&notes, "calendar", &CALENDAR);
    npm_test(&notes);
}

#[test]
fn the_template_for_contacts_in_typescript_passes_the_kit() {
    let notes = Notes::for_surface("typescript", "contacts", "typed-contacts");
    passes(&notes, "contacts", &CONTACTS);
    npm_test(&notes);
}

#[test]
fn the_template_for_calendars_in_rust_passes_the_kit() {
    let notes = Notes::for_surface("rust", "calendar", "own-calendar");
    passes(&notes, "calendar", &CALENDAR);
    cargo_test(&notes);
}

#[test]
fn the_template_for_contacts_in_rust_passes_the_kit() {
    let notes = Notes::for_surface("rust", "contacts", "own-contacts");
    passes(&notes, "contacts", &CONTACTS);
    cargo_test(&notes);
}
