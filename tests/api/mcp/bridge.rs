//! `switchboard mcp`: the bridge from stdin and stdout of a client to `/mcp`, and the settings that start it.

use std::process::Stdio;
use std::time::Duration;

use harness::TestServer;
use serde_json::{Value, json};
use tempfile::tempdir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::Command;
use tokio::time::timeout;

use crate::cli::switchboard;

/// Longest run of the bridge: far longer than it takes.
const LIMIT: Duration = Duration::from_secs(60);

/// A client starts the program, connects and calls a tool, a message a line. Each answer is a line with the id of its request, and the
/// program ends with its input.
#[tokio::test]
async fn a_client_speaks_to_the_server_by_stdin_and_stdout() {
    let server = TestServer::start().await;
    let key = server.client().await.key.expect("a key");
    let (url, home) = (format!("http://{}", server.address), tempdir().expect("a folder"));
    let mut command = Command::from(switchboard(&["mcp", "--server", &url]));
    command.env("XDG_CONFIG_HOME", home.path()).env("SWITCHBOARD_API_KEY", key).kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut bridge = command.spawn().expect("the command can be started");
    let mut input = bridge.stdin.take().expect("its input");
    let mut lines = BufReader::new(bridge.stdout.take().expect("its output")).lines();
    let mut exchange = async |message: String| {
        input.write_all(format!("{message}\n").as_bytes()).await.expect("the bridge reads");
        let line = timeout(LIMIT, lines.next_line()).await.expect("an answer in time");
        let line = line.expect("the bridge writes").expect("a line");
        serde_json::from_str::<Value>(&line).expect("an answer is JSON")
    };

    let hello = json!({
        "jsonrpc": "2.0",
        "id": "a",
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "desktop-client", "version": "1.0" },
        },
    });
    let hello = exchange(hello.to_string()).await;
    assert_eq!((&hello["id"], &hello["result"]["protocolVersion"]), (&json!("a"), &json!("2025-11-25")));
    // A notification has no answer: the next line is that of the call.
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let call = json!({
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": { "name": "list_connections", "arguments": {} },
    });
    let called = exchange(format!("{ready}\n{call}")).await;
    assert_eq!((&called["id"], &called["result"]["isError"]), (&json!(2), &json!(false)), "{called:#}");
    let wrong = exchange("hello".to_owned()).await;
    assert_eq!((&wrong["id"], &wrong["error"]["code"]), (&Value::Null, &json!(-32700)));
    drop(input);
    let ended = timeout(LIMIT, bridge.wait()).await.expect("it ends in time").expect("an exit code");
    assert!(ended.success(), "{ended}");
}

/// The entry for a client starts this program with the same server, and holds no key.
#[tokio::test]
async fn a_client_is_given_the_entry_that_starts_the_bridge() {
    let home = tempdir().expect("a folder");
    let arguments =
        ["mcp", "config", "--for", "cursor", "--server", "https://api.example.com", "--profile", "work"];
    let mut command = Command::from(switchboard(&arguments));
    command.env("XDG_CONFIG_HOME", home.path()).env("SWITCHBOARD_API_KEY", "uc_live_secret");
    let output = command.output().await.expect("the command runs");
    assert!(output.status.success(), "{output:?}");
    let printed = String::from_utf8(output.stdout).expect("UTF-8");
    let entry: Value = serde_json::from_str(&printed).expect("the entry is JSON");
    let server = &entry["mcpServers"]["switchboard"];
    assert_eq!(server["args"], json!(["mcp", "--server", "https://api.example.com/", "--profile", "work"]));
    assert!(
        server["command"].as_str().is_some_and(|path| path.starts_with('/')) && !printed.contains("secret")
    );
    assert!(String::from_utf8_lossy(&output.stderr).contains("mcp.json"));
}
