//! `new`, `build`, `test`, `install`, and their errors.

use serde_json::{Value, json};

use crate::project::{built, switchboard};

#[test]
fn four_commands_in_an_empty_folder() {
    let notes = built();
    assert!(notes.said.starts_with("created notes/ (rust): 9 files, SDK 0.1.0 in vendor/"), "{}", notes.said);
    assert!(notes.folder().join("build/notes/notes.wasm").is_file());

    let tested = notes.run(&["connector", "test", "--no-build"]);
    assert_eq!(tested.code, Some(0), "{}\n{}", tested.stdout, tested.stderr);
    assert!(tested.stdout.contains("48 passed, 0 failed, 0 not applicable"), "{}", tested.stdout);
    assert!(tested.stderr.contains("==> install: compiled in"), "{}", tested.stderr);
    let report: Value = serde_json::from_str(&notes.read("build/report.json")).unwrap();
    assert_eq!((&report["connector"], &report["version"]), (&json!("notes"), &json!("0.1.0")));
    assert_eq!(report["capabilities"][0], json!({ "feature": "startDate", "claimed": false, "seen": false }));
    assert!(
        notes
            .read("build/report.xml")
            .starts_with("<testsuite name=\"notes 0.1.0\" tests=\"48\" failures=\"0\"")
    );
    assert_eq!(report["cases"].as_array().map(Vec::len), Some(48));

    let written = notes.run(&["connector", "wit"]).ok();
    assert!(written.lines().any(|path| path == "wit/world.wit"), "{written}");
    assert!(notes.read("wit/world.wit").contains("include switchboard:connector/tasks-connector@1.0.0;"));

    notes.run(&["connector", "install", "build/notes", "--init", "--data-dir", "data"]).ok();
    let listed = notes.run(&["connectors", "list", "--data-dir", "data", "--json"]);
    let found = listed.json();
    let own = found.as_array().into_iter().flatten().find(|connector| connector["name"] == "notes");
    assert_eq!(own.map(|own| (&own["source"], &own["inService"])), Some((&json!("installed"), &json!(true))));
}

#[test]
fn two_runs_of_the_kit_are_the_same() {
    let notes = built();
    let run = || {
        let mut report = notes.run(&["connector", "test", "--no-build", "--json", "--seed", "7"]).json();
        for case in report["cases"].as_array_mut().into_iter().flatten() {
            case["ms"].take();
        }
        report["ms"].take();
        report
    };
    assert_eq!(run(), run());
}

#[test]
fn what_cannot_be_done_is_told_with_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("taken")).unwrap();
    std::fs::write(dir.path().join("taken/file"), "mine").unwrap();
    for (arguments, said, help) in [
        (
            &["connector", "new", "My Notes", "--lang", "rust"][..],
            "\"My Notes\" cannot be a connector's name",
            "lower-case letters",
        ),
        (
            &["connector", "new", "notes", "--lang", "cobol"],
            "there is no template in \"cobol\"",
            "--lang rust",
        ),
        (
            &["connector", "new", "taken", "--lang", "rust"],
            "./taken is there already and is not empty",
            "choose another name",
        ),
        (&["connector", "test"], "there is no project.toml in .", "connector new NAME"),
        (&["connector", "install", "."], ". has no connector.toml", "build/NAME"),
    ] {
        let ended = switchboard(dir.path(), arguments);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""), "{arguments:?}");
        let mut lines = ended.stderr.lines();
        let error = lines.next().unwrap_or_default();
        assert!(error.starts_with(&format!("error: {said}")), "{}", ended.stderr);
        let advice = lines.next().unwrap_or_default();
        assert!(advice.starts_with("help: ") && advice.contains(help), "{}", ended.stderr);
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "nothing was made");
}

#[test]
fn a_case_that_does_not_exist_is_refused() {
    let ended = built().run(&["connector", "test", "--no-build", "--case", "Z9"]);
    assert_eq!(ended.code, Some(1));
    let listed = "error: there is no case \"Z9\"\nhelp: the cases for this connector are:\n  any connector: D1, D2, S1\n  tasks: D3, P1, P2";
    assert!(ended.stderr.contains(listed), "{}", ended.stderr);
    assert!(!ended.stderr.contains("calendar"), "only the surfaces of the manifest: {}", ended.stderr);
    let ended = built().run(&["connector", "test", "--no-build", "--case", "tasks.p1"]);
    assert!(
        ended.stderr.contains("\nhelp: did you mean P1? The cases for this connector are:\n"),
        "{}",
        ended.stderr
    );
}
