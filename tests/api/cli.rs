//! The `switchboard` command, run as users run it: as a process, with its own data directory.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use reqwest::StatusCode;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The command with nothing of this process' settings, and without the profiles of the user who runs the tests.
pub fn switchboard(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_switchboard-under-test"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("SWITCHBOARD_") {
            command.env_remove(name);
        }
    }
    command.args(arguments).stdin(Stdio::null()).env("XDG_CONFIG_HOME", "/nowhere/at/all");
    command
}

pub fn run(arguments: &[&str]) -> Output {
    switchboard(arguments).output().expect("the command can be started")
}

/// Runs a command that succeeds, and returns its output as JSON.
pub fn printed(arguments: &[&str]) -> Value {
    let output = run(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON on stdout")
}

/// Exit code and stderr of a command that fails.
pub fn refused(command: &mut Command) -> (Option<i32>, String) {
    let output = command.output().expect("the command can be started");
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    (output.status.code(), String::from_utf8(output.stderr).expect("UTF-8"))
}

/// A server process on a data directory.
struct Server {
    child: Child,
    address: String,
    log: mpsc::Receiver<String>,
    dir: TempDir,
}

impl Server {
    fn start(arguments: &[&str]) -> Server {
        let dir = tempfile::tempdir().expect("a data directory");
        let mut command =
            switchboard(&["serve", "--listen", "127.0.0.1:0", "--log-format", "json", "--data-dir"]);
        command.arg(dir.path()).arg("--connectors").arg(dir.path()).args(arguments).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the server can be started");
        let stderr = child.stderr.take().expect("its log");
        let (tell, log) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                let _ = tell.send(line);
            }
        });
        let mut server = Server { child, address: String::new(), log, dir };
        let line = server.logged("listening on http://");
        let (_, rest) = line.split_once("http://").expect("an address");
        server.address = rest.split('"').next().expect("an end").to_owned();
        server
    }

    /// Waits for a log line that has this in it.
    fn logged(&self, text: &str) -> String {
        let end = Instant::now() + Duration::from_secs(30);
        while let Ok(line) = self.log.recv_timeout(end.saturating_duration_since(Instant::now())) {
            serde_json::from_str::<Value>(&line).expect("every log line is a JSON object");
            if line.contains(text) {
                return line;
            }
        }
        panic!("the server never logged {text:?}");
    }

    fn data_dir(&self) -> &str {
        self.dir.path().to_str().expect("a plain path")
    }

    fn key(&self) -> Value {
        printed(&["keys", "create", "--scopes", "all", "--json", "--data-dir", self.data_dir()])
    }

    async fn get(&self, path: &str, key: &str) -> StatusCode {
        let request = reqwest::Client::builder()
            .build()
            .expect("a client")
            .get(format!("http://{}{path}", self.address));
        request.bearer_auth(key).send().await.expect("an answer").status()
    }

    fn terminate(&self) {
        let killed = Command::new("kill").arg(self.child.id().to_string()).status().expect("kill exists");
        assert!(killed.success());
    }

    /// Waits for the end: exit code and time.
    fn ended(&mut self, limit: Duration) -> (Option<i32>, Duration) {
        let begun = Instant::now();
        while begun.elapsed() < limit {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return (status.code(), begun.elapsed());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("the server did not end in {limit:?}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A test that failed leaves no server behind; one that passed has ended it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Keys are made, listed and revoked beside a running server, which follows without a restart.
#[tokio::test(flavor = "multi_thread")]
async fn keys_come_and_go_beside_a_running_server() {
    let server = Server::start(&[]);
    let key = printed(&[
        "keys",
        "create",
        "--scopes",
        "calendar.read,connections.read",
        "--application",
        "Shop",
        "--name",
        "till",
        "--allowed-domain",
        "Shop.example.com",
        "--allowed-ip",
        "127.0.0.0/8",
        "--rate-limit",
        "50",
        "--expires-in",
        "30d",
        "--json",
        "--data-dir",
        server.data_dir(),
    ]);
    for (field, value) in [
        ("scopes", json!(["calendar.read", "connections.read"])),
        ("name", json!("till")),
        ("allowedDomains", json!(["shop.example.com"])),
        ("allowedIps", json!(["127.0.0.0/8"])),
        ("rateLimitPerMinute", json!(50)),
    ] {
        assert_eq!(key[field], value, "{field}");
    }
    let text = |field: &str| key[field].as_str().unwrap_or_else(|| panic!("{field} is no text")).to_owned();
    assert!(text("key").starts_with(&text("prefix")) && text("id").starts_with("key_"));
    assert!(text("applicationId").starts_with("app_") && text("organizationId").starts_with("org_"));
    assert!(text("expiresAt") > text("createdAt"));

    let key = server.key();
    let (id, secret) = (key["id"].as_str().expect("an id"), key["key"].as_str().expect("a key"));
    assert_eq!(server.get("/v1/connections", secret).await, StatusCode::OK);
    let listed = printed(&["keys", "list", "--json", "--data-dir", server.data_dir()]);
    let listed = listed.as_array().expect("an array");
    assert_eq!(listed.len(), 2);
    assert!(listed.iter().all(|k| k.get("key").is_none()), "a list shows no key");
    assert!(run(&["keys", "revoke", id, "--data-dir", server.data_dir()]).status.success());
    let revoked = Instant::now();
    while server.get("/v1/connections", secret).await == StatusCode::OK {
        assert!(revoked.elapsed() < Duration::from_secs(3), "a revoked key still works");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// A key is rotated beside a running server: the new secret works at once, and the one before until its overlap is over, or ended.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_rotated_beside_a_running_server() {
    let server = Server::start(&[]);
    let key = server.key();
    let id = key["id"].as_str().expect("an id");
    let rotate = |overlap| {
        ["keys", "rotate", id, "--overlap", overlap, "--json", "--data-dir", server.data_dir()]
            .map(str::to_owned)
    };
    let arguments = rotate("1h");
    let second = printed(&arguments.each_ref().map(String::as_str));
    assert_eq!(second["id"], key["id"]);
    assert!(second["previousExpiresAt"].as_str() > key["createdAt"].as_str(), "{second}");
    let secret = |key: &Value| key["key"].as_str().expect("a secret").to_owned();
    for one in [&key, &second] {
        assert_eq!(server.get("/v1/connections", &secret(one)).await, StatusCode::OK);
    }
    let again = rotate("1h");
    let (code, said) = refused(&mut switchboard(&again.each_ref().map(String::as_str)));
    assert_eq!(code, Some(1));
    assert!(said.contains("--overlap 0s"), "{said}");

    let last = rotate("0s");
    let third = printed(&last.each_ref().map(String::as_str));
    assert_eq!(server.get("/v1/connections", &secret(&third)).await, StatusCode::OK);
    let rotated = Instant::now();
    for ended in [&key, &second] {
        while server.get("/v1/connections", &secret(ended)).await == StatusCode::OK {
            assert!(rotated.elapsed() < Duration::from_secs(3), "a secret still works that was replaced");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// The first start makes a master key that only its owner can read, and says so.
#[test]
fn the_first_start_makes_a_master_key() {
    let server = Server::start(&[]);
    let key = server.dir.path().join("master.key");
    assert_eq!(std::fs::metadata(&key).expect("the key").permissions().mode() & 0o777, 0o600);
    let doctor =
        printed(&["doctor", "--json", "--data-dir", server.data_dir(), "--connectors", server.data_dir()]);
    assert_eq!(doctor["ok"], true, "{doctor}");
    std::fs::set_permissions(&key, PermissionsExt::from_mode(0o644)).expect("our own file");
    let doctor = run(&["doctor", "--data-dir", server.data_dir(), "--connectors", server.data_dir()]);
    assert_eq!(doctor.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&doctor.stdout).contains("chmod 600"));
}

/// SIGTERM: readiness goes first, the request in flight is answered, and the process ends with 0 in time.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_in_flight_outlives_sigterm() {
    let mut server = Server::start(&[]);
    let key = server.key();
    let body = json!({ "name": "second", "scopes": ["usage.read"] }).to_string();
    let (first, rest) = body.split_at(5);
    let mut slow = TcpStream::connect(&server.address).await.expect("a connection");
    let head = format!(
        "POST /v1/api-keys HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{first}",
        key["key"].as_str().expect("a key"),
        body.len()
    );
    slow.write_all(head.as_bytes()).await.expect("sent");
    assert_eq!(server.get("/readyz", "").await, StatusCode::OK);

    server.terminate();
    server.logged("stopping");
    assert_eq!(server.get("/readyz", "").await, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(server.get("/healthz", "").await, StatusCode::OK);
    let refused = Instant::now();
    while TcpStream::connect(&server.address).await.is_ok() {
        assert!(refused.elapsed() < Duration::from_secs(5), "connections are still taken");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    slow.write_all(rest.as_bytes()).await.expect("the connection is still there");
    let mut answer = String::new();
    slow.read_to_string(&mut answer).await.expect("an answer, and then the end of the connection");
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    let (code, _) = server.ended(Duration::from_secs(5));
    assert_eq!(code, Some(0));
    let listed = printed(&["keys", "list", "--json", "--data-dir", server.data_dir()]);
    assert_eq!(listed.as_array().map(Vec::len), Some(2), "what was acknowledged is there");
}

/// A request that never ends does not hold the process: 10 s after the signal it is over.
#[tokio::test(flavor = "multi_thread")]
async fn draining_ends_after_ten_seconds() {
    let mut server = Server::start(&[]);
    let key = server.key();
    let mut stuck = TcpStream::connect(&server.address).await.expect("a connection");
    let head = format!(
        "POST /v1/api-keys HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\ncontent-length: 100\r\n\r\n{{",
        key["key"].as_str().expect("a key")
    );
    stuck.write_all(head.as_bytes()).await.expect("sent");
    assert_eq!(server.get("/readyz", "").await, StatusCode::OK);
    server.terminate();
    let (code, took) = server.ended(Duration::from_secs(12));
    assert_eq!(code, Some(0));
    assert!(took <= Duration::from_secs(10), "{took:?}");
}

/// Two servers cannot share a SQLite database.
#[test]
fn a_second_server_on_the_same_data_is_refused() {
    let server = Server::start(&[]);
    let (code, said) =
        refused(&mut switchboard(&["serve", "--listen", "127.0.0.1:0", "--data-dir", server.data_dir()]));
    assert_eq!(code, Some(1));
    assert!(said.contains(&format!("process {}", server.child.id())), "{said}");
}

/// A flag goes before the environment, the environment before the file, the file before the default.
#[test]
fn settings_have_an_order() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("settings.toml");
    std::fs::write(&file, "data_dir = \"/from-file\"\nsandbox = true\n").expect("written");
    let list = |arguments: &[&str], variable: Option<&str>| {
        let mut command = switchboard(&["keys", "list"]);
        command.args(arguments).env("SWITCHBOARD_CONFIG", &file);
        if let Some(value) = variable {
            command.env("SWITCHBOARD_DATA_DIR", value);
        }
        let (code, said) = refused(&mut command);
        assert_eq!(code, Some(1));
        said
    };
    assert!(list(&[], None).contains("/from-file/switchboard.db"));
    assert!(list(&[], Some("/from-env")).contains("/from-env/switchboard.db"));
    assert!(list(&["--data-dir", "/from-flag"], Some("/from-env")).contains("/from-flag/switchboard.db"));

    std::fs::write(&file, "sandbox = true\nlistn = \"x\"\n").expect("written");
    let said = list(&[], None);
    assert!(said.contains("line 2: unknown field `listn`"), "{said}");
    let lines: Vec<&str> = said.trim_end().lines().collect();
    assert!(lines.len() == 2 && lines[1].starts_with("help: "), "the cause and the remedy: {said}");
}

/// A usage error ends with exit code 2, a failure with 1, its reason on a line and its remedy on the last one.
#[test]
fn failures_say_why() {
    let nowhere = "/nowhere/at/all";
    for (arguments, code, reason) in [
        (&["serve", "--listn", "x"][..], 2, "--listen"),
        (&["serve", "--egress-allow", "10.0.0.0/99"], 2, "neither an address nor a network"),
        (&["serve", "--listen", "localhost"], 2, "use localhost:8080"),
        (&["serve", "--metrics-listen", ":9090"], 2, "use 127.0.0.1:9090"),
        (&["serve", "--admin-listen", "http://localhost:8081"], 2, "without a scheme"),
        (&["serve", "--log-level", "loud"], 1, "log_level \"loud\" is not a log level"),
        (&["keys", "create"], 2, "--scopes"),
        (&["keys", "create", "--scopes", "calendar.red"], 1, "there is no scope \"calendar.red\""),
        (
            &["keys", "revoke", "key_1", "--data-dir", nowhere],
            1,
            "there is no database /nowhere/at/all/switchboard.db",
        ),
        (&["keys", "rotate", "key_1", "--overlap", "8d"], 1, "--overlap must be from 0s to 7d"),
        (&["serve", "--admin-url", "admin.example.com"], 1, "admin_url must begin with"),
        (&["migrate", "--check", "--data-dir", nowhere], 1, "there is no database"),
        (&["connectors", "install", nowhere], 1, "has no connector.toml"),
        (&["connectors", "rollback", "dav", "--data-dir", nowhere], 1, "no connector \"dav\" is installed"),
        (
            &["serve", "--connectors", nowhere, "--data-dir", nowhere],
            1,
            "there is no directory /nowhere/at/all",
        ),
        (&["serve", "--database-url", "mysql://x"], 1, "sqlite:// or postgres://"),
        (&["serve", "--config", nowhere], 1, "cannot read the settings in /nowhere/at/all"),
    ] {
        let dir = tempfile::tempdir().expect("a directory");
        let (got, said) = refused(switchboard(arguments).current_dir(dir.path()));
        assert_eq!(got, Some(code), "{arguments:?}: {said}");
        assert!(said.contains(reason), "{arguments:?}: {said}");
        if code == 1 {
            let lines: Vec<&str> = said.lines().collect();
            let [.., cause, help] = lines.as_slice() else { panic!("{arguments:?}: {said}") };
            assert!(cause.starts_with("error: ") && cause.contains(reason), "{arguments:?}: {said}");
            assert!(help.starts_with("help: "), "{arguments:?}: {said}");
        }
    }
}

/// A mistyped data directory stays what it is: only `serve`, `restore` and --init make an installation.
#[test]
fn commands_make_no_installation_unasked() {
    let dir = tempfile::tempdir().expect("a directory");
    let package = copy_of_sandbox_connector(dir.path(), "0.9.0");
    for command in [
        &["keys", "create", "--scopes", "all"][..],
        &["admin", "create", "ada@example.com", "--admin"],
        &["admin", "link"],
        &["apps", "create", "Shop"],
        &["migrate"],
        &["connector", "install", &package, "--replace-bundled"],
    ] {
        let place = dir.path().join(format!("typo/{}", command.join("-").replace('/', "-")));
        let place = ["--data-dir", place.to_str().expect("a plain path")];
        let output = run(&[command, &place[..]].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{command:?}: {said}");
        assert!(said.contains("\nhelp: ") && said.contains("add --init to create new ones"), "{said}");
        assert!(!dir.path().join("typo").exists(), "{command:?} makes nothing");
        if command[0] != "connector" {
            let made = run(&[command, &["--init"], &place[..]].concat());
            assert!(made.status.success(), "{command:?}: {}", String::from_utf8_lossy(&made.stderr));
            assert!(Path::new(place[1]).join("switchboard.db").exists(), "{command:?}");
            std::fs::remove_dir_all(dir.path().join("typo")).expect("our own folder");
        }
    }
}

/// A command in a data directory without the master key of the database makes no other one.
#[test]
fn a_lost_master_key_is_not_replaced() {
    let dir = tempfile::tempdir().expect("a data directory");
    let data = ["--data-dir", dir.path().to_str().expect("a plain path")];
    let create = ["keys", "create", "--scopes", "all"];
    assert!(run(&[&create[..], &["--init"], &data].concat()).status.success());
    let key = dir.path().join("master.key");
    std::fs::remove_file(&key).expect("our own file");
    let serve = ["serve", "--listen", "127.0.0.1:0"];
    for command in [&create[..], &["keys", "rotate", "key_1"], &["admin", "link"], &serve] {
        let (code, said) = refused(&mut switchboard(&[command, &data].concat()));
        assert!(code == Some(1) && said.contains("there is no") && said.contains("master.key"), "{said}");
        assert!(said.contains("help: name the server's --data-dir"), "{said}");
        assert!(!key.exists(), "{command:?}");
    }
}

/// Help in the words of users.
#[test]
fn help_says_what_a_command_does() {
    for (command, said) in [
        (&["keys"][..], "Create an API key. It is shown only once"),
        (&["jobs"], "Run a job now"),
        (&["jobs", "cancel", "--help"], "Cancel a queued job"),
        (&["jobs", "retry", "--help"], "switchboard jobs retry report:"),
    ] {
        let output = run(command);
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8(text).expect("UTF-8");
        assert!(text.contains(said), "{command:?}: {text}");
    }
}

/// The database's URL, which may hold a password, can come from a file, and help never shows it.
#[test]
fn secrets_come_from_files_and_are_not_shown() {
    let dir = tempfile::tempdir().expect("a directory");
    let secret = dir.path().join("url");
    let database = dir.path().join("elsewhere.db");
    std::fs::write(&secret, format!("sqlite://{}\n", database.display())).expect("written");
    let data_dir = dir.path().join("data");
    let create = switchboard(&["keys", "create", "--scopes", "all", "--init", "--json", "--data-dir"])
        .arg(&data_dir)
        .env("SWITCHBOARD_DATABASE_URL_FILE", &secret)
        .output()
        .expect("the command can be started");
    assert!(create.status.success(), "{}", String::from_utf8_lossy(&create.stderr));
    assert!(database.exists() && !data_dir.join("switchboard.db").exists());
    let help = switchboard(&["serve", "--help"])
        .env("SWITCHBOARD_DATABASE_URL", "postgres://u:hunter2@h/d")
        .output();
    assert!(!String::from_utf8_lossy(&help.expect("help").stdout).contains("hunter2"));
}

/// `openapi` prints the document of all operations, without a server and without a data directory.
#[test]
fn the_document_is_printed() {
    let document = printed(&["openapi", "--public-url", "https://api.example.com"]);
    assert_eq!((&document["openapi"], &document["info"]["version"]), (&json!("3.1.0"), &json!("1.0.0")));
    assert_eq!(document["servers"][0]["url"], "https://api.example.com");
    assert!(document["components"]["responses"]["NotUsed"].is_object());
    let for_clients = printed(&["openapi", "--for-clients"]);
    assert!(for_clients["components"]["responses"]["NotUsed"].is_null(), "clients need no unused statuses");
}

/// Connectors are installed, listed, rolled back and removed beside a running server, which follows.
#[tokio::test(flavor = "multi_thread")]
async fn connectors_come_and_go_beside_a_running_server() {
    let server = Server::start(&[]);
    let at = ["--json", "--data-dir", server.data_dir()];
    let command = |arguments: &[&str]| printed(&[arguments, &at[..]].concat());
    let package = copy_of_sandbox_connector(server.dir.path(), "0.9.0");
    // The name is that of a bundled connector.
    let unasked =
        switchboard(&["connectors", "install", &package]).args(at).output().expect("it can be started");
    assert_eq!(unasked.status.code(), Some(3), "{}", String::from_utf8_lossy(&unasked.stderr));
    assert!(String::from_utf8_lossy(&unasked.stderr).contains("help: choose another name"), "{unasked:?}");
    let installed = command(&["connectors", "install", &package, "--replace-bundled"]);
    assert_eq!((&installed["name"], &installed["version"]), (&json!("sandbox"), &json!("0.9.0")));
    server.logged("connector in service");
    let package = copy_of_sandbox_connector(server.dir.path(), "0.9.1");
    assert_eq!(command(&["connectors", "install", &package])["previous"][0]["version"], "0.9.0");
    assert_eq!(command(&["connectors", "rollback", "sandbox"])["version"], "0.9.0");
    let listed = command(&["connectors", "list"]);
    let found =
        listed.as_array().expect("an array").iter().find(|c| c["source"] == "installed").expect("ours");
    assert_eq!((&found["version"], &found["inService"]), (&json!("0.9.0"), &json!(true)));
    assert_eq!(command(&["connectors", "remove", "sandbox"])["removed"], true);
    server.logged("connector out of service");
}

/// The bundled connector under another version number.
fn copy_of_sandbox_connector(dir: &Path, version: &str) -> String {
    let (from, to) = (harness::bundle().join("sandbox"), dir.join(format!("package-{version}/sandbox")));
    std::fs::create_dir_all(&to).expect("a folder");
    let manifest =
        std::fs::read_to_string(from.join("connector.toml")).expect("`cargo xtask connectors` was run");
    let lines = manifest.lines().map(|line| match line.starts_with("version = ") {
        true => format!("version = \"{version}\""),
        false => line.to_owned(),
    });
    std::fs::write(to.join("connector.toml"), lines.collect::<Vec<_>>().join("\n")).expect("written");
    std::fs::copy(from.join("sandbox.wasm"), to.join("sandbox.wasm")).expect("copied");
    to.to_str().expect("a plain path").to_owned()
}

/// The Prometheus page, for holders of its token: requests by template, connectors, store; without any key, id or URL.
#[tokio::test(flavor = "multi_thread")]
async fn metrics_need_their_token() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("token");
    std::fs::write(&file, "let-me-see\n").expect("a file");
    let server = Server::start(&["--metrics-token-file", file.to_str().expect("a plain path")]);
    let key = server.key();
    let secret = key["key"].as_str().expect("a key");
    assert_eq!(server.get("/v1/connections/conn_unknown", secret).await, StatusCode::NOT_FOUND);
    for (token, status) in [("let-me-se", 401), (secret, 401), ("", 401), ("let-me-see", 200)] {
        assert_eq!(server.get("/metrics", token).await, status, "{token:?}");
    }
    let http = reqwest::Client::builder().build().expect("a client");
    let page = http.get(format!("http://{}/metrics", server.address)).bearer_auth("let-me-see");
    let page = page.send().await.expect("an answer").text().await.expect("text");
    for line in [
        "http_server_request_duration_seconds_count{http_route=\"/v1/connections/{connectionId}\",http_request_method=\"GET\",http_response_status_code=\"404\"} 1",
        "switchboard_store_up 1",
        "switchboard_store_queued_writes 0",
        "switchboard_store_connections_max{lane=\"writes\"} 1",
        "switchboard_store_connections_waiting{lane=\"writes\"} 0",
        "switchboard_jobs_takeovers_total 0",
        "# EOF",
    ] {
        assert!(page.contains(line), "{line} is not in\n{page}");
    }
    assert!(!page.contains("conn_unknown") && !page.contains("key_"), "{page}");
}

/// Without a token there are no metrics where the API is; they can have a place of their own.
#[tokio::test(flavor = "multi_thread")]
async fn metrics_have_a_place_of_their_own() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a free port");
    // The place by its name.
    let server = Server::start(&["--metrics-listen", &format!("localhost:{}", free.port())]);
    assert_eq!(server.get("/metrics", "").await, StatusCode::NOT_FOUND);
    let http = reqwest::Client::builder().build().expect("a client");
    let page = http.get(format!("http://{free}/metrics")).send().await.expect("an answer");
    assert!(page.text().await.expect("text").contains("switchboard_store_up 1"));
    let other = http.get(format!("http://{free}/v1/connections")).send().await.expect("an answer");
    assert_eq!(other.status(), StatusCode::NOT_FOUND, "nothing else is there");
}

/// A host whose master key is not the database's ends with an error before it stores anything: the two could not decrypt each other's
/// data.
#[test]
fn another_master_key_than_the_databases_is_refused() {
    let dir = tempfile::tempdir().expect("a data directory");
    let data = dir.path().to_str().expect("UTF-8");
    let create = ["keys", "create", "--scopes", "calendar.read", "--data-dir", data, "--json", "--init"];
    let first = printed(&create);
    assert_eq!(first["scopes"], json!(["calendar.read"]));
    std::fs::write(dir.path().join("master.key"), "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
        .expect("written");
    let (code, message) = refused(&mut switchboard(&create));
    assert_eq!(code, Some(1));
    assert!(message.contains("SWITCHBOARD_MASTER_KEY"), "{message}");
}
