//! `record`, and tests that replay its recordings.

use crate::project::{Ended, Notes, built};

const RECORDED: &str = "lang = \"rust\"\n[test]\nprovider = \"recorded\"\n";

/// Returns a project with a copy of the component that is already built.
pub fn project() -> Notes {
    let notes = Notes::new("notes");
    let (from, to) = (built().folder().join("build/notes"), notes.folder().join("build/notes"));
    std::fs::create_dir_all(&to).unwrap();
    for file in ["connector.toml", "notes.wasm"] {
        std::fs::copy(from.join(file), to.join(file)).unwrap();
    }
    notes
}

fn record(notes: &Notes) -> Ended {
    notes.run(&["connector", "record", "--no-build"])
}

fn test(notes: &Notes) -> Ended {
    notes.run(&["connector", "test", "--no-build"])
}

/// Asserts that a command ended with this error and advice.
#[track_caller]
fn assert_fails(ended: &Ended, said: &str, help: &str) {
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""), "{}", ended.stderr);
    let error = ended.stderr.lines().find(|line| line.starts_with("error: ")).unwrap_or_default();
    assert!(error.contains(said), "{}", ended.stderr);
    assert!(ended.stderr.contains("help: ") && ended.stderr.contains(help), "{}", ended.stderr);
}

#[test]
fn replay_is_strict() {
    let notes = project();
    notes.write("project.toml", RECORDED);
    assert_fails(
        &test(&notes),
        "recordings/ has no answers for 48 of 48 cases",
        "switchboard connector record",
    );

    let recorded = record(&notes).ok();
    assert!(recorded.starts_with("recorded 48 cases, "), "{recorded}");
    assert!(recorded.ends_with(", 1 address replaced; replayed equal twice → recordings/\n"), "{recorded}");
    let (lifecycle, tasks) = (notes.read("recordings/lifecycle.jsonl"), notes.read("recordings/tasks.jsonl"));
    let all = format!("{lifecycle}{tasks}");
    for private in ["feed-key-", "Bearer", "@paper.test"] {
        assert!(!all.contains(private), "{private} is recorded");
    }
    assert!(
        lifecycle
            .starts_with("{\"at\":\"2026-01-01T00:00:00Z\",\"case\":\"D1\",\"connector\":\"notes@0.1.0\"")
    );

    let tested = test(&notes).ok();
    assert!(tested.contains("48 passed, 0 failed, 0 not applicable"), "{tested}");
    for case in ["X2", "P2,W7"] {
        notes.run(&["connector", "test", "--no-build", "--case", case]).ok();
    }
    assert!(
        record(&notes).ok() == recorded && notes.read("recordings/tasks.jsonl") == tasks,
        "runs are equal"
    );

    // The first is the request; the answer contains it too.
    notes.write("recordings/tasks.jsonl", &tasks.replacen("swkit-W4-first", "swkit-W4-other", 1));
    let changed = test(&notes);
    assert_eq!(changed.code, Some(3), "{}", changed.stderr);
    assert!(changed.stdout.contains("47 passed, 1 failed"), "{}", changed.stdout);
    assert!(
        changed.stdout.contains("is not in the recording of case W4; the closest recorded requests:"),
        "{}",
        changed.stdout
    );
    let difference = "in its body /title is \"swkit-W4-other\", not \"swkit-W4-first\"";
    assert!(changed.stdout.contains(difference), "{}", changed.stdout);

    let (before, case) = tasks.split_once("{\"at\":\"2026-01-01T23:00:00Z\",\"case\":\"W3\"").unwrap();
    let (_, after) = case.split_once("{\"at\"").unwrap();
    notes.write("recordings/tasks.jsonl", &format!("{before}{{\"at\"{after}"));
    assert_fails(&test(&notes), "recordings/ has no answers for 1 of 48 cases", "[test] provider = ");

    notes.write("recordings/tasks.jsonl", &format!("cut\n{tasks}"));
    assert_fails(&test(&notes), "recordings/tasks.jsonl, line 1: expected value", "connector record");

    notes.write("recordings/tasks.jsonl", &tasks);
    let other_seed = notes.run(&["connector", "test", "--no-build", "--seed", "7"]);
    assert_fails(&other_seed, "the recordings are of the seed 1, and not of 7", "connector record --seed 7");
}

/// A connector whose requests depend on an address: with the placeholder they differ.
#[test]
fn recording_that_differs_is_not_saved() {
    let notes = Notes::new("lengths");
    let text = notes.read("src/lib.rs");
    const READ: &str = "let me: Me = paper::read(context, &[\"me\"], &[], \"reading the account\")?;";
    assert_eq!(text.matches(READ).count(), 1);
    let again = "let length = me.email.as_deref().map_or(0, str::len).to_string();
        let me: Me = paper::read(context, &[\"me\"], &[(\"length\", length.as_str())], \"reading it again\")?;";
    notes.write("src/lib.rs", &text.replace(READ, &format!("{READ}\n{again}")));
    notes.run(&["connector", "build", "--dev"]).ok();
    let recorded = record(&notes);
    assert_fails(
        &recorded,
        "the recording was not saved, because it does not replay: case D1: ",
        "[record] keep = ",
    );
    assert!(recorded.stderr.contains("GET https://paper.test/v1/me?length="), "{}", recorded.stderr);
    assert!(!notes.folder().join("recordings").exists(), "nothing is written");

    notes.write(
        "project.toml",
        "lang = \"rust\"\n[test]\nprovider = \"recorded\"\n[record]\nkeep = [\"@paper.test\"]\n",
    );
    let recorded = record(&notes).ok();
    assert!(recorded.contains(", 0 addresses replaced; "), "{recorded}");
    test(&notes).ok();
}
