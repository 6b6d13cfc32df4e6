//! `switchboard listen`, run as a process: the events that it reads from a server's stream, and those that it forwards.

use std::collections::VecDeque;
use std::io;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::response::Response;
use futures::stream::{self, StreamExt};
use harness::receiver::Receiver;
use harness::{Actor, TestServer};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::net::TcpListener;
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::sync::mpsc;

use crate::cli::{refused, switchboard};

/// How long a test waits for a line or for the end of the process: far longer than it takes.
const LIMIT: Duration = Duration::from_secs(60);
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// An answer of the server: a stream that stays open or ends after this text, or a refusal.
enum Answer {
    Open(String),
    Ending(String),
    Refusal(u16, &'static str),
}

/// A server with scripted streams.
struct Streaming {
    url: String,
    asked: mpsc::UnboundedReceiver<(String, HeaderMap)>,
}

impl Streaming {
    /// Each request gets the next answer; after the last one, a stream in which nothing happens.
    async fn start(answers: impl IntoIterator<Item = Answer>) -> Streaming {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let script: Arc<Mutex<VecDeque<Answer>>> = Arc::new(Mutex::new(answers.into_iter().collect()));
        let (sender, asked) = mpsc::unbounded_channel();
        let answer = async move |request: Request| {
            // A test that has ended listens no more.
            let _ = sender.send((request.uri().to_string(), request.headers().clone()));
            let next = script.lock().expect("no test panics with it").pop_front();
            let (text, is_open) = match next.unwrap_or(Answer::Open(": nothing\n\n".to_owned())) {
                Answer::Open(text) => (text, true),
                Answer::Ending(text) => (text, false),
                Answer::Refusal(status, message) => {
                    let body = json!({ "error": { "message": message } }).to_string();
                    return Response::builder().status(status).body(Body::from(body)).expect("an answer");
                }
            };
            let piece = stream::iter([Ok::<_, io::Error>(Bytes::from(text))]);
            let body = match is_open {
                true => Body::from_stream(piece.chain(stream::pending())),
                false => Body::from_stream(piece),
            };
            Response::builder().header("content-type", "text/event-stream").body(body).expect("an answer")
        };
        let app = axum::Router::new().fallback(answer);
        tokio::spawn(async move { axum::serve(listener, app).await.expect("the server stays") });
        Streaming { url, asked }
    }

    /// The next request: its path with the query, and its headers.
    async fn asked(&mut self) -> (String, HeaderMap) {
        let asked = tokio::time::timeout(LIMIT, self.asked.recv()).await;
        asked.expect("a request arrives").expect("the server runs")
    }
}

/// The body of an event.
fn body(sequence: i64) -> String {
    json!({ "id": format!("ev_{sequence}"), "type": "task.created", "sequence": sequence, "data": {} })
        .to_string()
}

/// An event as the stream has it.
fn event(sequence: i64) -> String {
    format!("id: {sequence}\nevent: task.created\ndata: {}\n\n", body(sequence))
}

/// The running command.
struct Listening {
    child: Child,
    stdout: Lines<BufReader<ChildStdout>>,
    stderr: Lines<BufReader<ChildStderr>>,
}

impl Listening {
    fn start(server: &str, key: &str, arguments: &[&str]) -> Listening {
        let mut command = Command::from(switchboard(&["listen", "--server", server]));
        command.args(arguments).env("SWITCHBOARD_API_KEY", key).env("SECRET_OF_TEST", SECRET);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().expect("the command can be started");
        let stdout = BufReader::new(child.stdout.take().expect("its output")).lines();
        let stderr = BufReader::new(child.stderr.take().expect("its errors")).lines();
        Listening { child, stdout, stderr }
    }

    /// The next line on stdout.
    async fn line(&mut self) -> String {
        let line = tokio::time::timeout(LIMIT, self.stdout.next_line()).await.expect("a line in time");
        line.expect("UTF-8").expect("a line, and not the end")
    }

    /// The next line on stderr with this text in it.
    async fn said(&mut self, text: &str) -> String {
        loop {
            let line = tokio::time::timeout(LIMIT, self.stderr.next_line()).await.expect("a line in time");
            let line = line.expect("UTF-8").unwrap_or_else(|| panic!("it ended without {text:?}"));
            if line.contains(text) {
                return line;
            }
        }
    }

    /// Sends SIGINT, as Ctrl-C does.
    fn interrupt(&self) {
        let id = self.child.id().expect("it runs").to_string();
        let killed = std::process::Command::new("kill").args(["-INT", &id]).status();
        assert!(killed.expect("kill exists").success());
    }

    /// Waits for the end: the exit code, and what stderr still had.
    async fn ended(mut self) -> (Option<i32>, String) {
        let ended = tokio::time::timeout(LIMIT, self.child.wait()).await.expect("it ends in time");
        let mut rest = String::new();
        while let Some(line) = self.stderr.next_line().await.expect("UTF-8") {
            rest.push_str(&line);
            rest.push('\n');
        }
        (ended.expect("a status").code(), rest)
    }
}

#[tokio::test]
async fn events_are_forwarded_in_order_and_signed_with_the_secret_that_is_shown() {
    let mut server = Streaming::start([Answer::Open([event(7), event(9)].concat())]).await;
    let mut receiver = Receiver::start().await;
    let filters = ["--events", "task.*,contact.created", "--connection", "conn_1", "--after", "5"];
    let forward = receiver.url();
    let arguments = [&["--forward-to", forward.as_str()][..], &filters[..]].concat();
    let mut listening = Listening::start(&server.url, "uc_live_test", &arguments);
    let said = listening.said("signed with ").await;
    let (_, secret) = said.split_once("signed with ").expect("a secret");
    for sequence in [7, 9] {
        let received = receiver.next().await;
        assert_eq!(received.body, body(sequence));
        assert_eq!(received.header("webhook-id"), format!("ev_{sequence}"));
        assert_eq!(received.header("webhook-attempt"), "1");
        assert_eq!(received.header("content-type"), "application/json");
        assert!(received.is_signed(secret));
        let line = listening.line().await;
        assert!(line.contains(&format!("  task.created  ev_{sequence}  204  ")), "{line}");
    }
    let (path, headers) = server.asked().await;
    let query = "type=task.*%2Ccontact.created&connection_id=conn_1&after_sequence=5";
    assert_eq!(path, format!("/v1/events/stream?{query}"));
    assert_eq!(headers["authorization"], "Bearer uc_live_test");
    listening.said("waiting for events").await;
    listening.interrupt();
    let (code, said) = listening.ended().await;
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("--after 9 goes on"), "{said}");
}

/// An event that was cut off in the middle comes again; one that was processed does not.
#[tokio::test]
async fn a_stream_that_breaks_off_goes_on_after_the_last_event_that_was_dealt_with() {
    let cut = "id: 11\nevent: task.created\ndata: {\"id\":\"ev_1";
    let first = Answer::Ending([event(7), event(9), cut.to_owned()].concat());
    let refusal = Answer::Refusal(503, "busy");
    let mut server = Streaming::start([first, refusal, Answer::Open(event(11))]).await;
    let mut listening = Listening::start(&server.url, "uc_live_test", &["--print-json"]);
    for sequence in [7, 9, 11] {
        assert_eq!(listening.line().await, body(sequence));
    }
    let (path, headers) = server.asked().await;
    assert_eq!((path.as_str(), headers.get("last-event-id")), ("/v1/events/stream", None));
    for _ in 0..2 {
        let (_, headers) = server.asked().await;
        assert_eq!(headers["last-event-id"], "9");
    }
    assert!(listening.said("503").await.contains("busy"));
}

#[tokio::test]
async fn an_event_is_posted_three_times_at_most() {
    let server = Streaming::start([Answer::Open([event(7), event(9), event(11)].concat())]).await;
    let mut receiver = Receiver::start().await;
    for status in [500, 302, 429, 410, 204] {
        receiver.answer(status, &[]);
    }
    let forward = receiver.url();
    let arguments = ["--forward-to", forward.as_str(), "--secret-env", "SECRET_OF_TEST"];
    let mut listening = Listening::start(&server.url, "uc_live_test", &arguments);
    for (sequence, attempt) in [(7, "1"), (7, "2"), (7, "3"), (9, "1"), (11, "1")] {
        let received = receiver.next().await;
        assert_eq!(
            (&received.body[..], received.header("webhook-attempt")),
            (body(sequence).as_bytes(), attempt)
        );
        assert!(received.is_signed(SECRET));
    }
    for (sequence, status, end) in [(7, 429, "given up after 3 tries"), (9, 410, "given up"), (11, 204, "ms")]
    {
        let line = listening.line().await;
        assert!(line.contains(&format!("  ev_{sequence}  {status}  ")) && line.ends_with(end), "{line}");
    }
    let shown = listening.said("signed with").await;
    assert!(!shown.contains("whsec_"), "a secret that was given is not shown: {shown}");
}

/// An event without an answer is not processed: a client that continues from the reported position gets it again.
#[tokio::test]
async fn an_event_under_way_does_not_count_at_the_end() {
    let server = Streaming::start([Answer::Open(format!("retry: 1000\nid: 6\n\n{}", event(7)))]).await;
    let mut receiver = Receiver::start().await;
    let _held = receiver.hold().await;
    let listening = Listening::start(&server.url, "uc_live_test", &["--forward-to", &receiver.url()]);
    receiver.next().await;
    listening.interrupt();
    let (code, said) = listening.ended().await;
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("--after 6 goes on"), "{said}");
}

#[tokio::test]
async fn a_refusal_that_stays_ends_it_with_the_reason() {
    let reset = "id: 6\n\nevent: sync_reset_required\ndata: {}\n\n".to_owned();
    for (answer, reason) in [
        (Answer::Refusal(401, "the API key is not known"), "the API key is not known"),
        (Answer::Refusal(403, "the scope events.read is missing"), "the scope events.read is missing"),
        (Answer::Refusal(404, "there is nothing here"), "--server must name a Switchboard server"),
        (Answer::Refusal(308, ""), "the server redirects"),
        (Answer::Refusal(409, "the events were removed"), "cannot go on from here: the events were removed"),
        (Answer::Refusal(200, ""), "there is no stream of events"),
        (Answer::Open(reset), "no longer kept"),
    ] {
        let server = Streaming::start([answer]).await;
        let listening = Listening::start(&server.url, "uc_live_test", &[]);
        let (code, said) = listening.ended().await;
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains(reason), "{reason:?} is not in {said:?}");
        assert!(!said.contains("uc_live_test"), "{said}");
    }
}

#[test]
fn what_cannot_be_begun_says_why() {
    let bad_secret = ["listen", "--forward-to", "http://127.0.0.1:9/", "--secret-env", "SECRET_OF_TEST"];
    for (arguments, code, reason) in [
        (&["listen"][..], 1, "SWITCHBOARD_API_KEY"),
        (&["listen", "--api-key-file", "/nowhere/at/all"], 1, "cannot read /nowhere/at/all"),
        (&["listen", "--server", "ftp://127.0.0.1"], 2, "must be http or https"),
        (&["listen", "--forward-to", "localhost:3000"], 2, "must be http or https"),
        (&["listen", "--after", "yesterday"], 2, "--after"),
    ] {
        let (got, said) = refused(&mut switchboard(arguments));
        assert_eq!(got, Some(code), "{arguments:?}: {said}");
        assert!(said.contains(reason), "{arguments:?}: {said}");
    }
    let mut command = switchboard(&bad_secret);
    command.env("SWITCHBOARD_API_KEY", "uc_live_test").env("SECRET_OF_TEST", "hunter2");
    let (code, said) = refused(&mut command);
    assert_eq!(code, Some(1));
    assert!(said.contains("must begin with \"whsec_\"") && !said.contains("hunter2"), "{said}");
}

/// A calendar of alice's with the connection that it is in.
async fn calendar(api: &Actor) -> (String, String) {
    let connection = api.connect_sandbox().await;
    let calendar = api.calendar(&connection, "Work").await;
    (connection["id"].as_str().expect("an id").to_owned(), calendar)
}

async fn create_event(api: &Actor, (connection, calendar): &(String, String), title: &str) -> Value {
    let body = json!({
        "connection_id": connection,
        "title": title,
        "start": "2026-03-02T09:00:00Z",
        "end": "2026-03-02T10:00:00Z",
    });
    api.post(format!("/v1/calendars/{calendar}/events"), body).send().await.expect(201)
}

#[tokio::test]
async fn what_is_forwarded_is_what_a_webhook_gets() {
    let loopback = "127.0.0.0/8".parse().expect("a network");
    let server = TestServer::builder().config(|config| config.webhook_allow = vec![loopback]).start().await;
    let (mut delivered, mut forwarded) = (Receiver::start().await, Receiver::start().await);
    let api = server.client().await;
    let place = calendar(&api).await;
    let subscription = json!({ "url": delivered.url(), "eventTypes": ["calendar.event.created"] });
    api.post("/v1/webhooks", subscription).send().await.expect(201);
    let (url, key, forward) =
        (format!("http://{}", server.address), api.key.clone().expect("a key"), forwarded.url());
    let mut listening = None;
    for title in ["before it listens", "while it listens"] {
        create_event(&api, &place, title).await;
        server.deliver().await;
        let expected = delivered.next().await;
        assert_eq!(expected.json()["data"]["resource"]["title"], title);
        listening.get_or_insert_with(|| {
            let to = ["--forward-to", forward.as_str(), "--after", "0"];
            let of = ["--events", "calendar.event.created", "--connection", place.0.as_str()];
            Listening::start(&url, &key, &[to, of].concat())
        });
        let received = forwarded.next().await;
        assert_eq!(received.body, expected.body);
        for name in ["webhook-id", "webhook-attempt", "content-type", "user-agent"] {
            assert_eq!(received.header(name), expected.header(name), "{name}");
        }
    }
}
