//! Google's own Python client against the fake.

use std::process::Stdio;
use std::time::Duration;

use fakes::{Google, oracle};
use tokio::process::Command;

/// A script ends far sooner.
const LIMIT: Duration = Duration::from_secs(120);

/// Runs a script of `clients` against a fresh fake.
async fn run(script: &str) {
    let Some(google) = Google::start_or_skip().await else { return };
    let python = oracle::python().expect("the documents came with an interpreter");
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/clients");
    let mut command = Command::new(python);
    command.arg(format!("{folder}/{script}")).arg(google.url()).stdin(Stdio::null()).kill_on_drop(true);
    for proxy in ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
        command.env_remove(proxy);
    }
    let output = tokio::time::timeout(LIMIT, command.output()).await.expect("the script ends");
    let output = output.expect("the script starts");
    let (said, failed) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}{failed}");
    assert!(said.contains("checks of the official client passed"), "{said}{failed}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_official_client_gets_what_google_answers() {
    run("google_calendar.py").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_official_client_reads_and_sends_mail() {
    run("google_mail.py").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_official_client_keeps_contacts_and_tasks() {
    run("google_people_tasks.py").await;
}
