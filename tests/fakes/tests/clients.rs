//! Google's own Python client against the fake.

use std::process::Stdio;
use std::time::Duration;

use fakes::{Google, oracle};
use tokio::process::Command;

/// The script ends far sooner.
const LIMIT: Duration = Duration::from_secs(120);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_official_client_gets_what_google_answers() {
    let Some(google) = Google::start_or_skip().await else { return };
    let python = oracle::python().expect("the documents came with an interpreter");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/clients/google_calendar.py");
    let mut command = Command::new(python);
    command.arg(script).arg(google.url()).stdin(Stdio::null()).kill_on_drop(true);
    for proxy in ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
        command.env_remove(proxy);
    }
    let output = tokio::time::timeout(LIMIT, command.output()).await.expect("the script ends");
    let output = output.expect("the script starts");
    let (said, failed) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}{failed}");
    assert!(said.contains("checks of the official client passed"), "{said}{failed}");
}
