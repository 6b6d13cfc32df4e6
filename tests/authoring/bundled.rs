//! The conformance kit on a connector that comes with the host: the one to the sandbox provider, which has every surface.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use tokio::net::TcpListener;

use crate::project::switchboard;

/// 2026-01-01T00:00:00Z: the provider's time, at which the kit's clock begins.
const NOW_MS: i64 = 1_767_225_600_000;
/// An account that is empty in the beginning.
const TOKEN: &str = "sandbox-kit";

/// Serves the sandbox provider on loopback until the test ends.
async fn provider() -> SocketAddr {
    let config = sandbox_provider::Config::new(Arc::new(|| NOW_MS));
    let router = sandbox_provider::router(sandbox_provider::Sandbox::new(config).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    tokio::spawn(async move { axum::serve(listener, service).await.unwrap() });
    // The first request makes the accounts, which takes longer than the kit waits for an answer.
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let first = client.get(format!("http://{address}/sandbox/v1/me")).bearer_auth(TOKEN).send().await;
    assert!(first.unwrap().status().is_success());
    address
}

/// A project whose component is built already: the bundled connector.
fn write_project(folder: &Path, provider: SocketAddr) {
    let bundled = harness::bundle().join("sandbox");
    assert!(bundled.is_dir(), "no connector in {}: run `cargo xtask connectors`", bundled.display());
    let built = folder.join("build/sandbox");
    fs::create_dir_all(&built).unwrap();
    fs::copy(bundled.join("sandbox.wasm"), built.join("sandbox.wasm")).unwrap();
    for to in [built.as_path(), folder] {
        fs::copy(bundled.join("connector.toml"), to.join("connector.toml")).unwrap();
    }
    let project = format!(
        "lang = \"rust\"\n\
         [test]\n\
         provider = {{ url = \"http://{provider}\", token = \"{TOKEN}\" }}\n\
         settings = {{ serverUrl = \"http://{provider}/sandbox\" }}\n"
    );
    fs::write(folder.join("project.toml"), project).unwrap();
}

/// One line for each case with this verdict.
fn told(cases: &[Value], verdict: &str) -> Vec<String> {
    let told = cases.iter().filter(|case| case["verdict"] == verdict);
    told.map(|case| format!("{}: {} {}", case["id"], case["said"], case["requests"])).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_sandbox_connector_passes() {
    let (provider, dir) = (provider().await, tempfile::tempdir().unwrap());
    write_project(dir.path(), provider);
    let folder = dir.path().to_owned();
    let tested = tokio::task::spawn_blocking(move || {
        switchboard(&folder, &["connector", "test", "--no-build", "--json"])
    });
    let tested = tested.await.unwrap();
    let report = tested.json();
    let cases = report["cases"].as_array().unwrap();
    println!("{}\nnot applicable:\n{}", tested.stderr, told(cases, "notApplicable").join("\n"));
    let failed = told(cases, "failed");
    assert!(failed.is_empty(), "{} of {} cases failed:\n{}", failed.len(), cases.len(), failed.join("\n"));
    for surface in ["calendar", "contacts"] {
        let passed = cases.iter().filter(|case| case["group"] == surface && case["verdict"] == "passed");
        assert!(passed.count() >= 18, "of {surface} too few cases say anything");
    }
}
