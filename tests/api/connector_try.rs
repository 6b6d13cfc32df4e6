//! `switchboard connector try`: an account that is connected to a running server is read beside it, and no more is shown than counts.

use std::process::Output;
use std::time::Duration;

use harness::TestServer;
use reqwest::Client;
use serde_json::{Value, json};

use crate::cli::run;
use crate::crash::{Stubborn, key};
use crate::kills::Process;

const ACCOUNT: &str = "alice@sandbox.test";
const SCOPES: [&str; 4] = ["calendar.read", "contacts.read", "tasks.read", "email.read"];

/// Runs the command on the data directory of a server, as an operator does beside it.
async fn try_account(process: &Process, arguments: &[&str]) -> Output {
    let data = process.data.path().to_str().expect("a plain path");
    let bundle = format!("{data}/bundle");
    let place = ["--data-dir", data, "--connectors", &bundle, "--egress-allow", "127.0.0.0/8"];
    let words: Vec<String> =
        ["connector", "try"].iter().chain(arguments).chain(&place).map(|word| (*word).to_owned()).collect();
    let work = tokio::task::spawn_blocking(move || {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        run(&words)
    });
    work.await.expect("no panic")
}

fn report(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
}

/// The steps of a kind of data.
fn steps<'r>(report: &'r Value, surface: &str) -> &'r [Value] {
    let surfaces = report["surfaces"].as_array().expect("kinds of data");
    let of = surfaces.iter().find(|of| of["surface"] == surface);
    of.unwrap_or_else(|| panic!("no {surface}: {report}"))["steps"].as_array().expect("steps")
}

fn step<'r>(steps: &'r [Value], name: &str) -> &'r Value {
    steps.iter().find(|step| step["step"] == name).unwrap_or_else(|| panic!("no step {name}: {steps:?}"))
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_account_is_read_beside_a_server() {
    let provider = TestServer::start().await;
    let http = Client::builder().no_proxy().timeout(Duration::from_secs(20)).build().expect("a client");
    let (mut process, api) = Process::start(None, &http).await;
    let api = Stubborn { key: key(process.data.path()), ..api };
    let place = format!("http://{}/sandbox", provider.address);
    let account = json!({
        "provider": "sandbox", "settings": { "serverUrl": place },
        "credentials": { "username": ACCOUNT, "password": "sandbox" }, "scopes": SCOPES,
    });
    let connection = api.until_answered("POST", "/v1/connections", &account, "connect").await;
    let id = connection["id"].as_str().expect("an id");

    let output = try_account(&process, &["sandbox", "--connection", id, "--json"]).await;
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let all = report(&output);
    assert_eq!(
        (&all["ok"], &all["connection"], &all["status"]),
        (&json!(true), &json!(id), &json!("active"))
    );
    assert_eq!((&all["scopes"]["granted"], &all["scopes"]["missing"]), (&json!(SCOPES), &json!([])));
    assert_eq!(step(steps(&all, "lifecycle"), "check")["outcome"], "ok");
    for (surface, op) in [("calendar", "calendars.list"), ("contacts", "books.list"), ("tasks", "lists.list")]
    {
        let steps = steps(&all, surface);
        let list = step(steps, "list");
        assert_eq!((&list["op"], &list["outcome"]), (&json!(op), &json!("ok")));
        assert!(list["result"]["records"].as_u64() > Some(0), "{list}");
        assert!(list["requests"].as_u64() > Some(0), "{list}");
        let page = step(steps, "page");
        assert_eq!((&page["collection"], &page["result"]["enumeration"]), (&json!(1), &json!(true)));
        assert_eq!(step(steps, "capabilities")["outcome"], "ok");
        assert!(steps.iter().any(|step| step["step"] == "get" && step["outcome"] == "ok"), "{steps:?}");
        assert_eq!(step(steps, "changes")["result"]["more"], json!(false));
    }
    let mail = steps(&all, "email");
    assert!(step(mail, "page")["result"]["items"]["email_folder"].as_u64() > Some(0), "{mail:?}");
    assert_eq!(step(mail, "get")["result"]["items"], json!({ "email_message": 1 }));
    let shown = String::from_utf8_lossy(&output.stdout).to_lowercase();
    assert!(!shown.contains("alice") && !shown.contains('@'), "{shown}");

    let (code, said) = refusal(try_account(&process, &["sandbox", "--connection", "conn_none"]).await);
    assert_eq!(code, Some(1));
    assert!(said.contains("there is no connection \"conn_none\"") && said.contains("help: "), "{said}");
    let (code, said) = refusal(try_account(&process, &["imap", "--connection", id]).await);
    assert_eq!(code, Some(1));
    assert!(said.contains("is of the connector sandbox, not of imap"), "{said}");
    assert!(said.contains(&format!("help: switchboard connector try sandbox --connection {id}")), "{said}");

    // The provider fails at calendars: the other kinds of data are still read.
    let fault = json!({ "status": 503, "pathPrefix": "/sandbox/v1/calendars", "times": 1000 });
    let request = http.post(format!("{place}/faults")).basic_auth(ACCOUNT, Some("sandbox"));
    let request = request.header("content-type", "application/json").body(fault.to_string());
    assert_eq!(request.send().await.expect("an answer").status(), 201);
    let output = try_account(&process, &["sandbox", "--connection", id, "--json"]).await;
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let all = report(&output);
    assert_eq!(all["ok"], false);
    let list = step(steps(&all, "calendar"), "list");
    let failure = &list["failure"];
    assert_eq!((&list["outcome"], &failure["code"]), (&json!("failed"), &json!("provider_unavailable")));
    assert_eq!(failure["providerStatus"], 503);
    assert_eq!(step(steps(&all, "tasks"), "list")["outcome"], "ok");
    let output = try_account(&process, &["sandbox", "--connection", id]).await;
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let message = failure["message"].as_str().expect("a message");
    let failed =
        format!("failed: calendar list: provider_unavailable: {message}\nhelp: check that the provider");
    assert!(text.contains(&failed), "{text}");
    process.kill();
}

/// Exit code and stderr of a command that prints no result.
fn refusal(output: Output) -> (Option<i32>, String) {
    assert!(output.stdout.is_empty(), "{output:?}");
    (output.status.code(), stderr(&output))
}
