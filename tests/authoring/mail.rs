//! The conformance kit on the connectors for mail servers with real ones: JMAP with Cyrus, IMAP with Dovecot. Both send through Exim.

use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;

use reqwest::Client;
use serde_json::{Value, json};

use crate::bundled::{told, write_project};
use crate::project::{switchboard, target};

/// Accounts whose mailboxes no other test uses.
const USER: &str = "t20@cyrus.test";
const IMAP_USER: &str = "t20@example.test";
const PASSWORD: &str = "secret";

/// Cases that do not apply to JMAP, each with the reason in the report.
const NOT_APPLICABLE_TO_JMAP: [(&str, &str); 0] = [];

/// Cases that do not apply to IMAP: they inject faults into HTTP requests.
const NOT_APPLICABLE_TO_IMAP: [(&str, &str); 12] = [
    ("D2", "lifecycle.check sends no HTTP request"),
    ("email.W5", "messages.update sends no write by HTTP"),
    ("email.F2", NO_REQUESTS),
    ("email.F3", NO_REQUESTS),
    ("email.F4", NO_REQUESTS),
    ("email.F5", NO_REQUESTS),
    ("email.F6", NO_REQUESTS),
    ("email.F7", NO_REQUESTS),
    ("email.F8", NO_REQUESTS),
    ("email.F12", NO_REQUESTS),
    ("email.F13", NO_REQUESTS),
    ("email.S8", NO_REQUESTS),
];
const NO_REQUESTS: &str = "the connector sends no HTTP requests for messages";

/// The account at the server, as its JMAP session describes it.
struct Mailbox {
    client: Client,
    server_url: String,
    session: Value,
}

impl Mailbox {
    /// Opens the account; none if the server is not up.
    async fn open() -> Option<Mailbox> {
        let url = peer("CYRUS_URL")?;
        let server_url = url.trim_end_matches('/').to_owned();
        let client = harness::http_client().build().unwrap();
        let session = client.get(format!("{server_url}/jmap/")).basic_auth(USER, Some(PASSWORD));
        let session = session.send().await.unwrap().text().await.unwrap();
        let session = serde_json::from_str(&session).unwrap();
        Some(Mailbox { client, server_url, session })
    }

    /// The whole URL, or template of one, of this member of the session.
    fn url(&self, name: &str) -> String {
        let url = self.session[name].as_str().unwrap();
        if url.starts_with('/') { format!("{}{url}", self.server_url) } else { url.to_owned() }
    }

    fn account_id(&self) -> &str {
        self.session["primaryAccounts"]["urn:ietf:params:jmap:mail"].as_str().unwrap()
    }

    /// Calls a method, and returns the arguments of its response.
    async fn call(&self, method: &str, mut args: Value) -> Value {
        args["accountId"] = json!(self.account_id());
        let using = ["urn:ietf:params:jmap:core", "urn:ietf:params:jmap:mail"];
        let body = json!({ "using": using, "methodCalls": [[method, args, "c"]] }).to_string();
        let request = self.client.post(self.url("apiUrl")).basic_auth(USER, Some(PASSWORD));
        let request = request.header("content-type", "application/json").body(body);
        let answer = request.send().await.unwrap().text().await.unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["methodResponses"][0][0], method, "{answer}");
        answer["methodResponses"][0][1].clone()
    }

    /// Deletes the messages of earlier runs.
    async fn empty(&self) {
        loop {
            let found = self.call("Email/query", json!({ "limit": 500 })).await;
            if found["ids"].as_array().unwrap().is_empty() {
                break;
            }
            self.call("Email/set", json!({ "destroy": found["ids"] })).await;
        }
    }

    /// The lines below `[test]` of a project, with the settings that `lifecycle.check` finds.
    fn lines(&self) -> String {
        let server = &self.server_url;
        let (api, download, upload) = (self.url("apiUrl"), self.url("downloadUrl"), self.url("uploadUrl"));
        format!(
            "provider = {{ url = \"{server}\", username = \"{USER}\", password = \"{PASSWORD}\" }}\n\
             settings = {{ serverUrl = \"{server}\", apiUrl = \"{api}\", downloadUrl = \"{download}\", \
             uploadUrl = \"{upload}\", accountId = \"{}\", submission = true }}\n",
            self.account_id()
        )
    }
}

/// The value of a variable of the peers; none if that peer is not up.
fn peer(name: &str) -> Option<String> {
    let value = std::env::var(name).ok();
    if value.is_none() {
        assert_ne!(std::env::var("SWITCHBOARD_REQUIRE_PEERS").as_deref(), Ok("1"), "{name} is not set");
        println!("NOT RUN: {name} is not set; `cargo xtask test` starts the peers");
    }
    value
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_jmap_connector_passes_on_a_real_server() {
    let Some(mailbox) = Mailbox::open().await else { return };
    mailbox.empty().await;
    let folder = target().join("kit-jmap");
    write_project(&folder, "jmap", &mailbox.lines());
    let report = run_cases(&folder).await;
    assert_passed(&report, &NOT_APPLICABLE_TO_JMAP);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_imap_connector_passes_on_a_real_server() {
    let (Some(imap), Some(smtp)) = (peer("DOVECOT_IMAP_PORT"), peer("EXIM_PORT")) else { return };
    ImapClient::login(&imap).empty();
    let folder = target().join("kit-imap");
    let server = |port: &str| format!("{{ host = \"127.0.0.1\", port = {port}, tls = \"none\" }}");
    let test = format!(
        "provider = {{ url = \"http://127.0.0.1:{imap}\", username = \"{IMAP_USER}\", password = \"{PASSWORD}\" }}\n\
         settings = {{ imap = {}, smtp = {} }}\n",
        server(&imap),
        server(&smtp)
    );
    write_project(&folder, "imap", &test);
    let report = run_cases(&folder).await;
    assert_passed(&report, &NOT_APPLICABLE_TO_IMAP);
}

/// Runs all cases of mail and those of every connector, and returns the report. Each run has a seed of its own: Cyrus remembers messages
/// by their bytes, deleted ones too.
async fn run_cases(folder: &Path) -> Value {
    let seed = RandomState::new().hash_one(0).to_string();
    let folder = folder.to_owned();
    let tested = tokio::task::spawn_blocking(move || {
        switchboard(&folder, &["connector", "test", "--no-build", "--json", "--seed", &seed])
    });
    tested.await.unwrap().json()
}

/// Asserts that no case failed, and that these ones, with their reasons, are not applicable.
fn assert_passed(report: &Value, not_applicable: &[(&str, &str)]) {
    let cases = report["cases"].as_array().unwrap();
    let failed = told(cases, "failed");
    assert!(failed.is_empty(), "{} of {} cases failed:\n{}", failed.len(), cases.len(), failed.join("\n"));
    let left_out = cases.iter().filter(|case| case["verdict"] == "notApplicable");
    let left_out: Vec<(&str, &str)> =
        left_out.filter_map(|case| Some((case["id"].as_str()?, case["said"].as_str()?))).collect();
    assert_eq!(left_out, not_applicable);
}

/// A client that empties the account of the IMAP server.
struct ImapClient {
    stream: BufReader<TcpStream>,
    commands: u32,
}

impl ImapClient {
    fn login(port: &str) -> ImapClient {
        let stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
        let mut client = ImapClient { stream: BufReader::new(stream), commands: 0 };
        client.read_line();
        client.run(&format!("LOGIN {IMAP_USER} {PASSWORD}")).unwrap();
        client
    }

    fn read_line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        assert!(!line.is_empty(), "the server has closed the connection");
        line.trim_end().to_owned()
    }

    /// Runs a command. Returns the lines before its result, or the result of one that failed.
    fn run(&mut self, command: &str) -> Result<Vec<String>, String> {
        self.commands += 1;
        let tag = format!("a{} ", self.commands);
        self.stream.get_mut().write_all(format!("{tag}{command}\r\n").as_bytes()).unwrap();
        let mut lines = Vec::new();
        loop {
            let line = self.read_line();
            match line.strip_prefix(&tag) {
                Some(result) if result.starts_with("OK") => return Ok(lines),
                Some(result) => return Err(format!("{command}: {result}")),
                None => lines.push(line),
            }
        }
    }

    /// Deletes all messages, and makes the usual folders.
    fn empty(&mut self) {
        for name in ["Archive", "Drafts", "Sent", "Trash"] {
            // The folder may exist.
            let _ = self.run(&format!("CREATE {name}"));
        }
        for line in self.run("LIST \"\" \"*\"").unwrap() {
            let name = line.rsplit_once(' ').unwrap().1.trim_matches('"').to_owned();
            self.run(&format!("SELECT \"{name}\"")).unwrap();
            let found = self.run("UID SEARCH ALL").unwrap();
            if found.iter().any(|line| line.starts_with("* SEARCH ")) {
                self.run("UID STORE 1:* +FLAGS.SILENT (\\Deleted)").unwrap();
                self.run("EXPUNGE").unwrap();
            }
        }
    }
}
