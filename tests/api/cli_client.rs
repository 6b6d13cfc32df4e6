//! The commands that call a running server: `login`, `logout`, `api` and `trigger`; and what the program prints of itself.

use std::convert::Infallible;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Output, Stdio};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::any;
use futures::stream::{self, StreamExt};
use harness::TestServer;
use harness::receiver::Receiver;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::process::Command;

use crate::cli::{refused, run, switchboard};
use crate::test_mode::test_client;

/// Longest run of a command: far longer than it takes.
const LIMIT: Duration = Duration::from_secs(60);

/// A user with an empty configuration folder.
struct User {
    home: TempDir,
}

impl User {
    fn new() -> User {
        User { home: tempfile::tempdir().expect("a folder") }
    }

    fn profiles(&self) -> PathBuf {
        self.home.path().join("switchboard/profiles.toml")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::from(switchboard(arguments));
        command.env("XDG_CONFIG_HOME", self.home.path()).kill_on_drop(true);
        command
    }

    /// Runs a command, with this text on stdin.
    async fn run(&self, arguments: &[&str], stdin: &str) -> Output {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the command can be started");
        let mut input = child.stdin.take().expect("its input");
        // A command that ends early reads none of it.
        let _ = input.write_all(stdin.as_bytes()).await;
        drop(input);
        let ended = tokio::time::timeout(LIMIT, child.wait_with_output()).await;
        ended.expect("it ends in time").expect("an output")
    }

    /// The output of a command that succeeds.
    async fn printed(&self, arguments: &[&str], stdin: &str) -> String {
        let output = self.run(arguments, stdin).await;
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// The exit code of a command that fails, and its two lines on stderr.
    async fn failed(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let output = self.run(arguments, "").await;
        let said = text(&output.stderr);
        let lines: Vec<&str> = said.lines().collect();
        let is_error = lines.len() == 2 && lines[0].starts_with("error: ") && lines[1].starts_with("help: ");
        assert!(is_error && output.stdout.is_empty(), "{arguments:?}: {output:?}");
        (output.status.code(), said)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// The URL of a server with these routes.
async fn serve(routes: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move { axum::serve(listener, routes).await.expect("the server stays") });
    url
}

/// A login saves server and key for the commands after it, and a logout forgets them. The key is never shown.
#[tokio::test]
async fn a_login_is_for_the_commands_after_it() {
    let server = TestServer::start().await;
    let (url, user) = (format!("http://{}", server.address), User::new());
    let key = server.client().await.key.expect("a key");
    let refused = user.run(&["login", "--server", &url], "uc_live_wrong").await;
    assert_eq!(refused.status.code(), Some(1));
    let said = text(&refused.stderr);
    assert!(said.contains("401") && said.contains("\nhelp: ") && !said.contains("uc_live_wrong"), "{said}");
    assert!(!user.profiles().exists(), "a key that does not work is not saved");

    let said = user.printed(&["login", "--server", &url], &format!("{key}\n")).await;
    assert!(said.contains("logged in to") && !said.contains(&key), "{said}");
    let mode = std::fs::metadata(user.profiles()).expect("the profiles").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let listed = user.printed(&["api", "GET", "/v1/connections"], "").await;
    assert_eq!(serde_json::from_str::<Value>(&listed).expect("JSON")["data"], json!([]));
    assert!(listed.starts_with("{\n  \""), "JSON is indented: {listed}");
    let next = user.printed(&[], "").await;
    assert!(next.contains("profile default (works)") && next.contains("next: switchboard api GET"), "{next}");

    std::fs::set_permissions(user.profiles(), PermissionsExt::from_mode(0o644)).expect("our own file");
    let (code, said) = user.failed(&["api", "GET", "/v1/connections"]).await;
    assert_eq!(code, Some(1));
    assert!(said.contains("other users can read") && said.contains("help: run `chmod 600 "), "{said}");
    std::fs::set_permissions(user.profiles(), PermissionsExt::from_mode(0o600)).expect("our own file");

    user.printed(&["logout"], "").await;
    assert!(!std::fs::read_to_string(user.profiles()).expect("the profiles").contains(&key));
    let (code, said) = user.failed(&["api", "--server", &url, "GET", "/v1/connections"]).await;
    assert_eq!(code, Some(1));
    assert!(said.contains("there is no API key") && said.contains("switchboard login"), "{said}");
}

/// The key of a profile goes to the server of the profile, and to no other one.
#[tokio::test]
async fn a_key_is_not_sent_to_another_server() {
    let server = TestServer::start().await;
    let (url, user) = (format!("http://{}", server.address), User::new());
    let key = server.client().await.key.expect("a key");
    user.printed(&["login", "--server", &url, "--profile", "staging"], &key).await;
    let other = serve(Router::new().fallback(async || "reached")).await;
    let (code, said) =
        user.failed(&["api", "/v1/connections", "--profile", "staging", "--server", &other]).await;
    assert_eq!(code, Some(1));
    assert!(said.contains(&format!("the profile is for {url}/")), "{said}");
    let (code, said) = user.failed(&["api", "/v1/connections", "--profile", "production"]).await;
    assert_eq!(code, Some(1));
    assert!(said.contains("there is no profile \"production\""), "{said}");
}

/// Operations by path or by ID, with the fields of a body and with headers.
#[tokio::test]
async fn operations_are_called_with_fields_and_headers() {
    let server = TestServer::start().await;
    let (url, user, api) = (format!("http://{}", server.address), User::new(), server.client().await);
    let connection = api.connect_sandbox().await;
    user.printed(&["login", "--server", &url], api.key.as_deref().expect("a key")).await;
    let called = async |arguments: &[&str], stdin: &str| {
        let printed = user.printed(&[&["api"][..], arguments].concat(), stdin).await;
        serde_json::from_str::<Value>(&printed).expect("JSON")
    };
    let of_connection = format!("connectionId={}", connection["id"].as_str().expect("an id"));
    let fields = ["-f", of_connection.as_str(), "-f", "name=Plans", "-H", "Idempotency-Key: plans"];
    let made = called(&[&["POST", "/v1/calendars"][..], &fields].concat(), "").await;
    let again = called(&[&["POST", "/v1/calendars"][..], &fields].concat(), "").await;
    assert_eq!(made["id"], again["id"], "a repetition with the same key happens once");
    let id = made["id"].as_str().expect("an id");
    assert_eq!(called(&["calendars.get", id], "").await["name"], "Plans");

    let event = json!({ "connection_id": connection["id"], "title": "Lunch", "start": "2026-03-02T12:00:00Z",
                        "end": "2026-03-02T13:00:00Z" });
    let event = called(&["calendars.events.create", id, "--input", "-"], &event.to_string()).await;
    let event_id = event["id"].as_str().expect("an id");
    let etag = format!("If-Match: {}", event["etag"].as_str().expect("an etag"));
    let renamed = ["calendars.events.update", id, event_id, "-f", "title=Dinner", "-H", etag.as_str()];
    assert_eq!(called(&renamed, "").await["title"], "Dinner");
    let (code, said) = user.failed(&[&["api"][..], &renamed].concat()).await;
    assert_eq!(code, Some(1));
    assert!(said.contains("stale_etag") && said.contains("help: read it again"), "{said}");

    let (code, said) = user.failed(&["api", "POST", "/v1/calendars", "-f", &of_connection]).await;
    assert_eq!(code, Some(1));
    assert!(said.contains("missing_field, param name, request req_"), "{said}");
}

/// `--paginate` follows the cursors, and prints each item as a line.
#[tokio::test]
async fn pages_are_read_to_the_end() {
    let server = TestServer::start().await;
    let (url, user, api) = (format!("http://{}", server.address), User::new(), server.client().await);
    api.connect_sandbox().await;
    let all = api.all("/v1/calendars").await;
    assert!(all.len() > 1, "more than a page");
    let mut command =
        user.command(&["api", "--server", &url, "calendars.list", "-q", "limit=1", "--paginate"]);
    let output =
        command.env("SWITCHBOARD_API_KEY", api.key.expect("a key")).output().await.expect("an output");
    let lines = text(&output.stdout);
    let ids: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("a line of JSON")["id"].clone())
        .collect();
    assert_eq!(ids, all.iter().map(|calendar| calendar["id"].clone()).collect::<Vec<_>>());
}

/// 0 success, 1 refused, 2 wrong usage, 4 no server or a failing one.
#[tokio::test]
async fn exit_codes_say_whose_fault_it_is() {
    let user = User::new();
    let answers = Router::new()
        .route("/ready", any(async || "yes"))
        .route("/busy", any(async || (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, "7")], "busy")))
        .route("/gone", any(async || StatusCode::NOT_FOUND));
    let url = serve(answers).await;
    let free = TcpListener::bind("127.0.0.1:0").await.and_then(|l| l.local_addr()).expect("a free port");
    let nowhere = format!("http://{free}");
    for (server, request, code, reason) in [
        (&url, &["GET", "/busy"][..], 4, "help: try again in 7 s"),
        (&url, &["GET", "/gone"], 1, "the server answers 404"),
        (&nowhere, &["GET", "/ready"], 4, &*format!("the server {free} cannot be reached")),
        (&url, &["GET", "/ready", "-f", "a=b"], 2, "a GET request has no body"),
        (&url, &["calendars.remove"], 2, "there is no operation"),
        (&url, &["/v1/usage", "-H", "Authorization: Bearer uc_live_x"], 2, "switchboard login"),
    ] {
        let (got, said) = user.failed(&[&["api", "--server", server.as_str()][..], request].concat()).await;
        assert_eq!(got, Some(code), "{request:?}: {said}");
        assert!(said.contains(reason) && !said.contains("uc_live_x"), "{request:?}: {said}");
    }
    assert_eq!(user.printed(&["api", "--server", &url, "/ready"], "").await, "yes");
}

/// An endless answer is written as it arrives, and a reader that stops (`| head`) ends the command quietly.
#[tokio::test]
async fn a_reader_that_stops_ends_the_command_quietly() {
    let endless = async || {
        let piece = Bytes::from(format!("[{}0],", "0,".repeat(10_000)));
        let pieces = stream::once(async { Bytes::from("[") }).chain(stream::repeat(piece));
        let body = Body::from_stream(pieces.map(Ok::<_, Infallible>));
        ([(header::CONTENT_TYPE, "application/json")], body).into_response()
    };
    let url = serve(Router::new().fallback(endless)).await;
    let mut command = User::new().command(&["api", "--server", &url, "/endless"]);
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command can be started");
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    for expected in ["[", "  [", "    0,"] {
        let line = tokio::time::timeout(LIMIT, lines.next_line()).await.expect("a line in time");
        assert_eq!(line.expect("UTF-8").as_deref(), Some(expected));
    }
    drop(lines);
    let output = tokio::time::timeout(LIMIT, child.wait_with_output()).await.expect("it ends in time");
    let output = output.expect("an output");
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""));
}

/// A triggered event reaches the webhooks that receive it, and the command shows what they answered.
#[tokio::test]
async fn an_event_is_triggered_and_its_deliveries_are_shown() {
    let loopback = "127.0.0.0/8".parse().expect("a network");
    let builder = TestServer::builder().config(|config| config.webhook_allow = vec![loopback]);
    let server = builder.start().await;
    let (url, user, api) = (format!("http://{}", server.address), User::new(), test_client(&server).await);
    let mut receiver = Receiver::start().await;
    user.printed(&["login", "--server", &url], api.key.as_deref().expect("a key")).await;
    let (code, said) = user.failed(&["trigger", "task.created"]).await;
    assert_eq!(code, Some(1));
    assert!(said.contains("no connection to the sandbox") && said.contains("-f provider=sandbox"), "{said}");

    let connection = api.connect_account("bob").await;
    for event_types in [["task.*"], ["contact.created"]] {
        let webhook = json!({ "url": receiver.url(), "eventTypes": event_types });
        api.post("/v1/webhooks", webhook).send().await.expect(201);
    }
    let triggered = user.printed(&["trigger", "task.created", "--json"], "");
    tokio::pin!(triggered);
    // The server delivers when its test says so, and reads the provider again once its clock has moved.
    let printed = loop {
        tokio::select! {
            printed = &mut triggered => break printed,
            () = server.deliver() => {
                server.clock.advance_ms(10);
                tokio::task::yield_now().await;
            }
        }
    };
    let shown: Value = serde_json::from_str(&printed).expect("JSON");
    let event = &shown["event"];
    assert_eq!((&event["type"], &event["connection_id"]), (&json!("task.created"), &json!(connection)));
    let received = receiver.next().await;
    assert_eq!(received.json()["id"], event["id"]);
    let deliveries = shown["deliveries"].as_array().expect("a list");
    assert_eq!(deliveries.len(), 1, "the other webhook does not receive it: {shown:#}");
    assert_eq!(deliveries[0]["delivery"]["status"], "delivered");
    assert_eq!(deliveries[0]["delivery"]["attempts"][0]["statusCode"], 204);
}

/// Without a server, or before anything is sent: the list of types, similar names, and the refusal of a live key.
#[tokio::test]
async fn only_test_keys_trigger_events_and_only_known_types() {
    let user = User::new();
    let listed = user.printed(&["trigger", "--list"], "").await;
    assert_eq!(listed.lines().count(), 4);
    assert!(listed.contains("email.message.created") && listed.contains("a message arrives"), "{listed}");
    let (code, said) = user.failed(&["trigger", "email.mesage.created"]).await;
    assert_eq!(code, Some(2));
    assert!(said.contains("did you mean email.message.created? The types are "), "{said}");

    let server = TestServer::start().await;
    let (url, live) = (format!("http://{}", server.address), server.client().await.key.expect("a key"));
    user.printed(&["login", "--server", &url], &live).await;
    let (code, said) = user.failed(&["trigger", "task.created"]).await;
    assert_eq!(code, Some(1));
    assert!(said.contains("this is a live key") && said.contains("switchboard apps create"), "{said}");
    assert!(!said.contains(&live), "{said}");
}

/// Completions and manual pages come from the definition of the command line.
#[test]
fn the_program_describes_itself() {
    for shell in ["bash", "zsh", "fish"] {
        let script = run(&["completions", shell]);
        assert!(script.status.success() && text(&script.stdout).contains("paginate"), "{shell}");
    }
    let dir = tempfile::tempdir().expect("a folder");
    let pages = dir.path().join("man1");
    assert!(run(&["man", pages.to_str().expect("a plain path")]).status.success());
    let page = std::fs::read_to_string(pages.join("switchboard-api.1")).expect("the page of a command");
    for part in [".SH NAME", "SWITCHBOARD_PROFILE", ".SH \"EXIT STATUS\"", "The server cannot be reached"] {
        assert!(page.contains(part), "{part} is not in\n{page}");
    }
    assert!(pages.join("switchboard.1").exists() && pages.join("switchboard-keys-create.1").exists());
}

/// Without a command the program says where you are, and what to do next.
#[test]
fn the_program_alone_says_what_is_next() {
    let dir = tempfile::tempdir().expect("a folder");
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a free port");
    let mut command = switchboard(&[]);
    command.current_dir(dir.path()).env("SWITCHBOARD_SERVER", format!("http://{free}"));
    let output = command.output().expect("the command can be started");
    let said = text(&output.stdout);
    assert!(output.status.success() && said.lines().count() <= 8, "{said}");
    for part in
        ["data (not found)", "(not reachable)", "next: switchboard serve --sandbox", "switchboard --help"]
    {
        assert!(said.contains(part), "{part} is not in\n{said}");
    }
    assert!(!dir.path().join("data").exists(), "it makes nothing");
    let (code, said) = refused(switchboard(&[]).env("SWITCHBOARD_SERVER", "localhost:8080"));
    assert_eq!(code, Some(1));
    assert!(said.starts_with("error: SWITCHBOARD_SERVER: ") && said.contains("\nhelp: "), "{said}");
}
