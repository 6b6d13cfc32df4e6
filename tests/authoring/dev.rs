//! `dev`: a host that follows the author's changes.

use std::io::{BufRead, BufReader, Read};
use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use reqwest::Client;
use serde_json::Value;

use crate::project::{Notes, command};
use crate::providers::{Behaviour, FakeProvider, name_host};

/// The time limit of a build from scratch on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// A running `connector dev`, ended when this is dropped.
struct Dev {
    child: Child,
    lines: mpsc::Receiver<String>,
    /// All output until now.
    said: String,
    client: Client,
}

impl Dev {
    fn start(notes: &Notes, provider: SocketAddr) -> Dev {
        let provider = provider.to_string();
        let arguments = ["connector", "dev", "--listen", "127.0.0.1:0", "--provider-listen", &provider];
        let mut command = command(&notes.folder(), &arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (tell, lines) = mpsc::channel();
        pass_on(child.stdout.take().unwrap(), tell.clone());
        pass_on(child.stderr.take().unwrap(), tell);
        let client = Client::builder().no_proxy().build().unwrap();
        Dev { child, lines, said: String::new(), client }
    }

    /// Waits for a line with this text.
    fn line(&mut self, text: &str) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left);
            let line = line.unwrap_or_else(|_| panic!("no line with {text:?} in:\n{}", self.said));
            self.said.push_str(&line);
            self.said.push('\n');
            if line.contains(text) {
                return line;
            }
        }
    }

    /// Returns the address and key of the command that it shows.
    fn curl(&mut self) -> (String, String) {
        // The line may have come before an awaited line of the other stream.
        let known = self.said.lines().find(|line| line.contains("curl -H")).map(str::to_owned);
        let line = known.unwrap_or_else(|| self.line("curl -H"));
        let key = line.split("Bearer ").nth(1).and_then(|rest| rest.split('\'').next()).unwrap();
        (line.split_whitespace().last().unwrap().to_owned(), key.to_owned())
    }

    /// Sends a GET; returns its status and body.
    async fn get(&self, (url, key): &(String, String)) -> (u16, Value) {
        let answer = self.client.get(url).bearer_auth(key).send().await.unwrap();
        let status = answer.status().as_u16();
        (status, serde_json::from_str(&answer.text().await.unwrap()).unwrap())
    }
}

impl Drop for Dev {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn pass_on(from: impl Read + Send + 'static, tell: mpsc::Sender<String>) {
    thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            if tell.send(line).is_err() {
                return;
            }
        }
    });
}

fn replace(notes: &Notes, file: &str, from: &str, to: &str) {
    let text = notes.read(file);
    assert_eq!(text.matches(from).count(), 1, "{file} has this once: {from}");
    notes.write(file, &text.replace(from, to));
}

const SOURCE: &str = "    pub fn source(&self) -> Outcome<Source> {\n        let list = TaskList";

#[tokio::test]
async fn the_host_follows_what_the_author_writes() {
    let notes = Notes::new("followed");
    // A port that is free now, for both starts.
    let provider = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut dev = Dev::start(&notes, provider);
    dev.line("provider paper on http://127.0.0.1:");
    let connection = dev.line("==> connection conn_");
    let call = dev.curl();
    let (status, listed) = dev.get(&call).await;
    let has_inbox = listed["data"].as_array().into_iter().flatten().any(|list| list["name"] == "Inbox");
    assert!(status == 200 && has_inbox, "{listed:#}");
    dev.line("✓ tasks.fetch lists.list");

    // A change is in service at the next call, and the connector's log lines are shown.
    let start = Instant::now();
    replace(&notes, "src/paper.rs", SOURCE, &SOURCE.replace('{', "{\n        eprintln!(\"it was read\");"));
    let swapped = dev.line("is in service, 0 calls in flight on");
    println!("from a change to the swap: {:.1} s: {swapped}", start.elapsed().as_secs_f64());
    assert_eq!(dev.get(&call).await.0, 200);
    dev.line("it was read");

    // A failed build changes nothing.
    replace(&notes, "src/paper.rs", "\"it was read\"", "\"it was read");
    dev.line("build failed");
    dev.line("help: fix what cargo says above");
    assert_eq!(dev.get(&call).await.0, 200);

    // A panic is shown with the author's function, file and line.
    replace(
        &notes,
        "src/paper.rs",
        "eprintln!(\"it was read);",
        "let nobody: Option<u8> = None;\n        nobody.unwrap();",
    );
    dev.line("is in service, 0 calls in flight on");
    dev.get(&call).await;
    let line =
        1 + notes.read("src/paper.rs").lines().position(|line| line.contains("nobody.unwrap()")).unwrap();
    dev.line(&format!("at=src/paper.rs:{line}:"));
    dev.line("✗ tasks.fetch lists.list  panic");
    dev.line(&format!("source  src/paper.rs:{line}"));
    dev.line("list_lists  src/lib.rs:");

    // Data that clients have read stays valid after a restart.
    drop(dev);
    let mut dev = Dev::start(&notes, provider);
    assert_eq!(dev.line("==> connection conn_"), connection);
    assert_eq!(dev.curl().1, call.1);
}

const TYPED_SOURCE: &str = "export function listSource({ id, title, etag }: List): Source {\n";

#[tokio::test]
async fn a_connector_in_typescript_is_followed_too() {
    let notes = Notes::with_tools("typescript", "followed-typed");
    let provider = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut dev = Dev::start(&notes, provider);
    dev.line("==> connection conn_");
    let call = dev.curl();
    assert_eq!(dev.get(&call).await.0, 200);

    let start = Instant::now();
    let logging = format!("{TYPED_SOURCE}  console.log(\"it was read\");\n");
    replace(&notes, "src/paper.ts", TYPED_SOURCE, &logging);
    let swapped = dev.line("is in service, 0 calls in flight on");
    println!("from a change to the swap: {:.1} s: {swapped}", start.elapsed().as_secs_f64());
    assert_eq!(dev.get(&call).await.0, 200);
    dev.line("info  it was read");

    replace(&notes, "src/paper.ts", "console.log(\"it was read\")", "console.log(it.was.read)");
    dev.line("Cannot find name 'it'");
    dev.line("help: fix what tsc says above");
    assert_eq!(dev.get(&call).await.0, 200);

    let nobody = "(undefined as unknown as Source).items";
    replace(&notes, "src/paper.ts", "console.log(it.was.read)", nobody);
    dev.line("is in service, 0 calls in flight on");
    // A client gets the stored data: the connector could not be called.
    dev.get(&call).await;
    dev.line("error TypeError: ");
    let line = 1 + notes.read("src/paper.ts").lines().position(|line| line.contains(nobody)).unwrap();
    dev.line(&format!("at listSource (src/paper.ts:{line})"));
    dev.line("✗ tasks.fetch lists.list  internal");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fake_plays_the_hosts_of_the_manifest() {
    let provider = FakeProvider::start(Behaviour::default()).await;
    let notes = Notes::new("fixed-host");
    name_host(&notes, "connector.toml");
    let project = format!(
        "lang = \"rust\"\n[test]\nprovider = {{ url = \"{}\", token = \"paper-ann\" }}\nsettings = {{ serverUrl = \"https://api.paper.test\" }}\n",
        provider.url
    );
    notes.write("project.toml", &project);
    let paper = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut dev = Dev::start(&notes, paper);
    tokio::task::block_in_place(|| dev.line("==> connection conn_"));
    let call = tokio::task::block_in_place(|| dev.curl());
    let (status, listed) = dev.get(&call).await;
    assert!(status == 200 && !listed["data"].as_array().unwrap().is_empty(), "{listed:#}");
    let hosts = provider.hosts();
    assert!(hosts.len() > 1 && hosts.iter().all(|host| host == "api.paper.test"), "{hosts:?}");
}
