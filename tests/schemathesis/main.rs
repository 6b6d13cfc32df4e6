//! The API against its document: Schemathesis makes requests from `/openapi/clients.json` and compares each answer with it. Requests that the
//! document allows must succeed, those that it forbids must be refused, and answers must have the types that it states.
//!
//! `schemathesis.toml` says which operations take part, and `hooks.py` which refusals the document states in words. The interpreter comes
//! from `ORACLE_PYTHON` (a venv with tests/peers/oracle.txt). Without it the tests say that they did not run.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

use harness::TestServer;
use serde::Deserialize;
use serde_json::{Value, json};
use switchboard::api;
use switchboard::api::openapi::{self, Flavour};
use tempfile::TempDir;
use tokio::process::Command;
use tokio::time::timeout;

/// The longest time of a run, far more than any takes: it hangs then.
const LONGEST: Duration = Duration::from_secs(20 * 60);

/// Requests below which the run has not tried the whole API.
const MIN_REQUESTS: u64 = 10_000;

/// Differences between the document and the API that are known and still open, by the code of Schemathesis: ST108 is an answer against its
/// schema, ST201 a request that is taken against the document, and ST202 one that is refused although the document allows it.
const OPEN: [(&str, &[&str]); 3] = [
    ("ST108", &["PATCH /v1/scheduling/event-types/{eventTypeId}"]),
    (
        "ST201",
        &[
            "PATCH /v1/calendars/{calendarId}/events/{eventId}",
            "PATCH /v1/email/messages/{messageId}",
            "PATCH /v1/scheduling/event-types/{eventTypeId}",
            "POST /v1/calendars/{calendarId}/events",
        ],
    ),
    (
        "ST202",
        &[
            "PATCH /v1/calendars/{calendarId}/events/{eventId}",
            "PATCH /v1/contacts/{contactId}",
            "PATCH /v1/email/drafts/{draftId}",
            "PATCH /v1/scheduling/event-types/{eventTypeId}",
            "PATCH /v1/scheduling/schedules/{scheduleId}",
            "PATCH /v1/webhooks/{webhookId}",
            "POST /v1/api-keys",
            "POST /v1/calendars/availability/query",
            "POST /v1/calendars/{calendarId}/events",
            "POST /v1/connections",
            "POST /v1/scheduling/event-types",
            "POST /v1/scheduling/schedules",
            "POST /v1/webhooks",
        ],
    ),
];

/// Makes what the operations read and change.
const SEED: &str = include_str!("seed.json");

/// Values of the answer to a request of `seed.json`: name and JSON pointer. In paths and bodies `{name}` stands for a saved value.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    /// Method and path.
    call: String,
    #[serde(default)]
    body: Value,
    #[serde(default)]
    save: BTreeMap<String, String>,
}

/// A server whose sandbox has something of each kind, with the same ids and the same time in each run.
struct Stage {
    server: TestServer,
    /// The values of `schemathesis.toml`, by name.
    values: BTreeMap<String, String>,
}

impl Stage {
    async fn start() -> Stage {
        let server = TestServer::builder().repeatable().start().await;
        let api = server.client().await;
        let mut values = BTreeMap::new();
        let steps: Vec<Step> = serde_json::from_str(SEED).expect("steps");
        for step in steps {
            let (method, path) = step.call.split_once(' ').expect("a method and a path");
            let method = method.parse().expect("a method");
            let body = (!step.body.is_null()).then(|| filled_value(step.body, &values));
            let exchange = api.ask(method, filled(path, "{", &values), body).send().await;
            assert!(exchange.status < 300, "{exchange}");
            for (name, pointer) in step.save {
                let value = exchange.answer.pointer(&pointer).and_then(Value::as_str);
                let value = value.unwrap_or_else(|| panic!("no {pointer} in {exchange}"));
                values.insert(name, value.to_owned());
            }
            server.pull().await;
        }
        values.insert("key".to_owned(), api.key.clone().expect("a key"));
        Stage { server, values }
    }

    /// Runs Schemathesis on the server with a document, its URL or its file. Returns its output and its report.
    async fn check(&self, python: &str, document: &str, options: &[&str]) -> (Output, Value) {
        let folder = TempDir::new().expect("a folder");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemathesis");
        let settings = std::fs::read_to_string(source.join("schemathesis.toml")).expect("the settings");
        let settings = filled(&settings, "${", &self.values);
        std::fs::write(folder.path().join("schemathesis.toml"), settings).expect("the settings are written");
        std::fs::copy(source.join("hooks.py"), folder.path().join("hooks.py")).expect("the hooks are copied");
        let report = folder.path().join("report.json");
        let mut command = Command::new(python);
        command.args(["-B", "-m", "schemathesis.cli", "run", document, "--no-color", "--report", "json"]);
        command.arg("--report-json-path").arg(&report);
        command.args(["--url", &format!("http://{}", self.server.address)]).args(options);
        command.current_dir(folder.path()).stdin(Stdio::null()).kill_on_drop(true);
        let output =
            timeout(LONGEST, command.output()).await.expect("it ends in time").expect("Python starts");
        let report = std::fs::read_to_string(&report)
            .unwrap_or_else(|error| panic!("no report ({error}): {}", text(&output)));
        (output, serde_json::from_str(&report).expect("a report is JSON"))
    }
}

/// The text with saved values in place of their names between `open` and a closing brace.
fn filled(text: &str, open: &str, values: &BTreeMap<String, String>) -> String {
    values.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{open}{name}}}"), value))
}

/// The value with saved values in place of their names in each of its texts.
fn filled_value(value: Value, values: &BTreeMap<String, String>) -> Value {
    match value {
        Value::String(text) => Value::String(filled(&text, "{", values)),
        Value::Array(items) => items.into_iter().map(|item| filled_value(item, values)).collect(),
        Value::Object(members) => {
            let filled = members.into_iter().map(|(name, member)| (name, filled_value(member, values)));
            Value::Object(filled.collect())
        }
        other => other,
    }
}

/// The interpreter that has Schemathesis; none if it is not installed and not required.
fn python() -> Option<String> {
    let python = std::env::var("ORACLE_PYTHON").ok();
    if python.is_none() {
        assert_ne!(
            std::env::var("SWITCHBOARD_REQUIRE_PEERS").as_deref(),
            Ok("1"),
            "ORACLE_PYTHON is not set"
        );
        println!("NOT RUN: ORACLE_PYTHON is not set; `cargo xtask test` sets it");
    }
    python
}

/// Both streams of an output, which has the requests to repeat as commands of curl.
fn text(output: &Output) -> String {
    format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Every answer is one that the document declares, and every request is taken or refused as it says, but for what is open.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_api_does_what_its_document_says() {
    let Some(python) = python() else { return };
    let stage = Stage::start().await;
    let document = format!("http://{}/openapi/clients.json", stage.server.address);
    let (output, report) = stage.check(&python, &document, &[]).await;
    assert_eq!(report["errors"].as_array().map(Vec::len), Some(0), "{}", text(&output));
    let failures = report["failures"].as_array().expect("a list").iter().flat_map(|failure| {
        let operations = failure["operations"].as_array().into_iter().flatten();
        operations.map(|operation| (failure["code"].as_str(), operation.as_str().unwrap_or_default()))
    });
    let is_open = |code: Option<&str>, operation: &str| {
        OPEN.iter().any(|(open, operations)| code == Some(*open) && operations.contains(&operation))
    };
    let unknown: Vec<_> = failures.filter(|(code, operation)| !is_open(*code, operation)).collect();
    assert!(unknown.is_empty(), "{unknown:?}\n{}", text(&output));
    let requests = report["test_cases"]["generated"].as_u64().expect("a number");
    assert!(requests >= MIN_REQUESTS, "{requests} requests: {}", text(&output));
}

/// A document whose answers differ from those of the API fails, and the requests that show it are in the output.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fault_of_the_document_is_found() {
    let Some(python) = python() else { return };
    let stage = Stage::start().await;
    let mut document = openapi::print(&api::operations(), "", Flavour::Clients);
    let schemas = &mut document["components"]["schemas"];
    let required = schemas["Calendar"]["required"].as_array_mut().expect("the required fields of a calendar");
    required.push(json!("owner"));
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("openapi.json");
    std::fs::write(&file, document.to_string()).expect("the document is written");
    let options = ["--include-operation-id", "calendars.get", "--include-operation-id", "calendars.create"];
    let (output, report) = stage.check(&python, &file.to_string_lossy(), &options).await;
    let text = text(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("curl -X GET") && text.contains("curl -X POST"), "{text}");
    let failures = report["failures"].as_array().expect("a list").iter();
    let operations: Vec<&Value> =
        failures.flat_map(|f| f["operations"].as_array().into_iter().flatten()).collect();
    for operation in ["GET /v1/calendars/{calendarId}", "POST /v1/calendars"] {
        assert!(operations.contains(&&json!(operation)), "{operation} in {operations:?}: {text}");
    }
}
