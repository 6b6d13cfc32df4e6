//! Files as programs write them, read through the API and compared field by field with what Python's `icalendar`, `vobject` and `email`
//! read; then changed through the API, with a report of all other changes in the stored object. `cargo xtask mirror DIR` does it with any
//! folder.

mod compare;
mod events_and_contacts;
mod meant;
mod messages;
mod oracle;
mod report;

use std::path::{Path, PathBuf};

use crate::report::Report;

/// Returns the address of a peer, or none if the peers are not up.
fn variable(name: &str) -> Option<String> {
    let value = std::env::var(name).ok();
    if value.is_none() {
        assert_ne!(std::env::var("SWITCHBOARD_REQUIRE_PEERS").as_deref(), Ok("1"), "{name} is not set");
        println!("NOT RUN: {name} is not set; `cargo xtask test` starts the peers");
    }
    value
}

/// The files below a folder that are calendars, cards or mail, in order of their names.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder that can be read") {
            let path = entry.expect("an entry").path();
            let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
            match ending.as_deref() {
                _ if path.is_dir() => open.push(path),
                Some("ics" | "vcf" | "eml") => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

/// Compares the test's own sample; with `SWITCHBOARD_MIRROR_DIR` a user's folder, whose differences are reported and never fail.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_api_says_is_what_is_stored() {
    let Some(python) = variable("ORACLE_PYTHON") else { return };
    let (Some(radicale), Some(imap), Some(smtp)) =
        (variable("RADICALE_URL"), variable("DOVECOT_IMAP_PORT"), variable("EXIM_PORT"))
    else {
        return;
    };
    let brought = std::env::var_os("SWITCHBOARD_MIRROR_DIR").map(PathBuf::from);
    let sample = || Path::new(env!("CARGO_MANIFEST_DIR")).join("mirror/sample");
    let files = files(&brought.clone().unwrap_or_else(sample));
    assert!(!files.is_empty(), "there is no .ics, .vcf or .eml file");
    let oracle = oracle::Oracle { python };
    let objects = oracle.split(&files);
    let mut report = Report::default();
    events_and_contacts::mirror(&oracle, &radicale, &objects, &mut report).await;
    let port = |text: &str| text.parse().expect("a port");
    messages::mirror(&oracle, port(&imap), port(&smtp), &objects, &mut report).await;
    println!("{report}");
    if brought.is_none() {
        assert_eq!(report.compared, objects.len(), "every object of the sample is compared");
        assert_eq!(report.unmeant(), 0, "{report}");
    }
}
