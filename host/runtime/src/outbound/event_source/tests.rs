//! Event sources, good and bad: listening works or ends in a clear error, in bounded time and after a bounded number of bytes,
//! and nothing is sent to any other place.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures::future::join_all;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::*;
use crate::blobs::Blobs;
use crate::limits::Limits;
use crate::manifest::Manifest;
use crate::outbound::{
    Credentials, CredentialsError, Egress, HttpSettings, Meter, PaceRules, Policy, Rules, Secret,
};

/// More than a host may read of one stream, with all that the socket buffers on both sides contain.
const FAR_TOO_MUCH: usize = 64 << 20;
const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n\r\n";

/// A token, and another one after the first was refused.
#[derive(Default)]
struct Tokens {
    is_renewable: bool,
}

#[async_trait::async_trait]
impl Credentials for Tokens {
    async fn authorization(&self, _: &str) -> Result<Option<Secret>, CredentialsError> {
        Ok(Some(Secret::new("Bearer first-0123456789")))
    }

    async fn refreshed(&self, _: &str) -> Result<Option<Secret>, CredentialsError> {
        Ok(self.is_renewable.then(|| Secret::new("Bearer second-0123456789")))
    }
}

fn source() -> EventSource {
    let name = |name: &str| name.to_owned();
    let types = vec![name("Email"), name("Mailbox")];
    EventSource { url: name("eventSourceUrl"), account: name("accountId"), types }
}

fn settings(origin: &str) -> Map<String, Value> {
    let url = format!("{origin}/events?types={{types}}&close={{closeafter}}&ping={{ping}}{{more}}");
    let settings = json!({ "serverUrl": origin, "eventSourceUrl": url, "accountId": "a" });
    settings.as_object().cloned().unwrap_or_default()
}

fn egress(origin: &str, limits: &Limits, tokens: Tokens) -> CallEgress {
    let manifest = Manifest::parse(
        r#"
        name = "x"
        version = "1.0.0"
        title = "X"
        surfaces = ["email"]
        hosts_from_settings = ["serverUrl"]
        settings = [{ name = "serverUrl", description = "." }]
        "#,
    );
    let allow = vec!["127.0.0.0/8".parse().unwrap()];
    CallEgress {
        shared: Arc::new(Egress::new(HttpSettings::default(), Rules::of_tests(allow), limits).unwrap()),
        policy: Policy::new(Arc::new(manifest.unwrap()), &settings(origin), &[]),
        pacing: PaceRules::unlimited(Arc::new(|| 0)),
        credentials: Arc::new(tokens),
        tenant: "t".to_owned(),
        connection: "c".to_owned(),
        connector: "x".into(),
        blobs: Blobs::new(0),
        deadline: std::time::Instant::now() + Duration::from_secs(60),
        meter: Meter::default(),
        redactor: Default::default(),
        turns: tokio::sync::Semaphore::new(1),
    }
}

async fn listener() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    (listener, origin)
}

/// Accepts a request. Returns its head, and the socket for the answer.
async fn accept(listener: &TcpListener) -> (String, TcpStream) {
    let (socket, _) = listener.accept().await.unwrap();
    let (mut socket, mut head) = (BufReader::new(socket), String::new());
    while !head.ends_with("\r\n\r\n") {
        assert!(socket.read_line(&mut head).await.unwrap() > 0, "{head}");
    }
    (head, socket.into_inner())
}

/// Listens while `server` plays. Returns the result, the news and the result of `server`.
async fn listen<T>(
    (origin, limits): (&str, &Limits),
    tokens: Tokens,
    server: impl Future<Output = T>,
) -> (Result<(), Err>, Vec<News>, T) {
    let egress = egress(origin, limits, tokens);
    let told = Mutex::new(Vec::new());
    let tell = |news: News| told.lock().unwrap().push(news);
    let (source, settings) = (source(), settings(origin));
    let (ended, played) = tokio::join!(egress.listen_to_events(&source, &settings, &tell), server);
    (ended, told.into_inner().unwrap(), played)
}

/// A listener that must get no news.
fn nothing(news: News) {
    panic!("told: {news:?}");
}

fn state(account: &str, name: &str, state: &str) -> String {
    let change = json!({ "@type": "StateChange", "changed": { account: { name: state } } });
    format!("event: state\ndata: {change}\n\n")
}

#[tokio::test]
async fn changes_of_the_accounts_mail_are_told() {
    let (listener, origin) = listener().await;
    let said = [
        ": hello\n\nevent: ping\ndata: {\"interval\":30}\n\n".to_owned(),
        state("b", "Email", "s1"),
        state("a", "Thread", "s1"),
        "data: {\"changed\":7}\n\ndata: no JSON\n\n".to_owned(),
        state("a", "Email", "s1"),
    ];
    let server = async {
        let (head, mut socket) = accept(&listener).await;
        socket.write_all(HEAD.as_bytes()).await.unwrap();
        for text in said {
            socket.write_all(text.as_bytes()).await.unwrap();
        }
        head
    };
    let (ended, told, head) = listen((&origin, &Limits::default()), Tokens::default(), server).await;
    assert!(ended.is_ok(), "the server ended it: {ended:?}");
    assert_eq!(told, [News::Listening, News::Changed], "of five events one is of the account's mail");
    let (first, rest) = head.split_once("\r\n").unwrap();
    assert_eq!(first, "GET /events?types=Email%2CMailbox&close=no&ping=30 HTTP/1.1");
    let rest = rest.to_lowercase();
    assert!(rest.contains("authorization: bearer first-0123456789\r\n"), "{rest}");
    assert!(rest.contains("accept: text/event-stream\r\n") && !rest.contains("accept-encoding"), "{rest}");
}

/// A change that comes right after another one is reported too, a second later.
#[tokio::test]
async fn nothing_that_comes_soon_after_is_lost() {
    let (listener, origin) = listener().await;
    let egress = egress(&origin, &Limits::default(), Tokens::default());
    let (told, count) = (tokio::sync::Notify::new(), AtomicUsize::new(0));
    let tell = |news: News| {
        if news == News::Changed && count.fetch_add(1, Ordering::Relaxed) == 1 {
            told.notify_one();
        }
    };
    let server = async {
        let (_, mut socket) = accept(&listener).await;
        let both = [HEAD.to_owned(), state("a", "Email", "s1"), state("a", "Mailbox", "s1")].concat();
        // The known state is no news.
        socket.write_all((both + &state("a", "Email", "s1")).as_bytes()).await.unwrap();
        told.notified().await;
    };
    let (source, settings) = (source(), settings(&origin));
    let (ended, ()) = tokio::join!(egress.listen_to_events(&source, &settings, &tell), server);
    assert!(ended.is_ok(), "{ended:?}");
    assert_eq!(count.into_inner(), 2);
}

#[test]
fn only_another_state_is_a_change() {
    let types = source().types;
    let mut states = States { account: "a", types: &types, known: HashMap::new() };
    let mut change = |changed: Value| states.change(json!({ "changed": changed }).to_string().as_bytes());
    assert!(change(json!({ "a": { "Email": "1", "Mailbox": "1" } })));
    assert!(!change(json!({ "a": { "Email": "1", "Thread": "2" }, "b": { "Email": "2" } })));
    assert!(change(json!({ "a": { "Email": "1", "Mailbox": "2" } })));
    assert!(!change(json!({})));
}

/// Answers in place of a stream, and the resulting errors. None of these requests is retried at once.
#[tokio::test]
async fn an_answer_that_is_no_stream_has_a_reason() {
    let html = "200 OK\r\ncontent-type: text/html";
    let gzip = "200 OK\r\ncontent-type: text/event-stream\r\ncontent-encoding: gzip";
    for (answer, code) in [
        ("204 No Content", "unsupported"),
        ("403 Forbidden", "unsupported"),
        ("404 Not Found", "unsupported"),
        ("501 Not Implemented", "unsupported"),
        ("401 Unauthorized", "auth-expired"),
        ("429 Too Many Requests\r\nretry-after: 7", "rate-limited"),
        ("503 Service Unavailable\r\nretry-after: 7", "unavailable"),
        (html, "unavailable"),
        (gzip, "unavailable"),
    ] {
        let (listener, origin) = listener().await;
        let egress = egress(&origin, &Limits::default(), Tokens::default());
        let server = async {
            let (_, mut socket) = accept(&listener).await;
            let answer = format!("HTTP/1.1 {answer}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            socket.write_all(answer.as_bytes()).await.unwrap();
        };
        let (source, settings) = (source(), settings(&origin));
        let (ended, ()) = tokio::join!(egress.listen_to_events(&source, &settings, &nothing), server);
        assert_eq!(ended.unwrap_err().code, code, "{answer}");
        let waits = egress.meter.retry_after_ms(0).unwrap_or_default();
        assert_eq!(waits, if answer.contains("retry-after") { 7_000 } else { 0 }, "{answer}");
    }
}

#[tokio::test]
async fn a_token_that_has_expired_is_renewed_once() {
    let (listener, origin) = listener().await;
    let server = async {
        let refused = "HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        let (_, mut socket) = accept(&listener).await;
        socket.write_all(refused.as_bytes()).await.unwrap();
        let (head, mut socket) = accept(&listener).await;
        socket.write_all(HEAD.as_bytes()).await.unwrap();
        head
    };
    let tokens = Tokens { is_renewable: true };
    let (ended, told, head) = listen((&origin, &Limits::default()), tokens, server).await;
    assert!(ended.is_ok() && told == [News::Listening], "{ended:?}");
    assert!(head.contains("Bearer second-0123456789"), "{head}");
}

/// Credentials are sent only to the connection's own servers, whatever a server says about others.
#[tokio::test]
async fn no_redirect_is_followed_and_no_other_place_is_asked() {
    let (listener, origin) = listener().await;
    let (elsewhere, other) = self::listener().await;
    let seen = async { drop(elsewhere.accept().await) };
    let attempts = async {
        for status in ["301 Moved", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
            let server = async {
                let (_, mut socket) = accept(&listener).await;
                let answer = format!("HTTP/1.1 {status}\r\nlocation: {other}/\r\ncontent-length: 0\r\n\r\n");
                socket.write_all(answer.as_bytes()).await.unwrap();
            };
            let (ended, told, ()) = listen((&origin, &Limits::default()), Tokens::default(), server).await;
            assert_eq!(ended.unwrap_err().code, "unavailable", "{status}");
            assert!(told.is_empty(), "{status}");
        }
        // Nor where the session itself names such a server, or none at all.
        let egress = egress(&origin, &Limits::default(), Tokens::default());
        for (url, code) in
            [(json!(format!("{other}/e")), "denied"), (json!("{"), "invalid"), (json!(""), "unsupported")]
        {
            let mut settings = settings(&origin);
            settings.insert("eventSourceUrl".to_owned(), url);
            let ended = egress.listen_to_events(&source(), &settings, &nothing).await;
            assert_eq!(ended.unwrap_err().code, code);
        }
    };
    tokio::select! {
        () = attempts => {}
        () = seen => panic!("a client connected to the other server"),
    }
}

/// A fault of the server after it opened a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// Changes without end.
    Flood,
    /// One line without end.
    EndlessLine,
    /// One event without end.
    EndlessEvent,
    /// Comments without content, as fast as possible.
    Chatter,
    /// No data, not even a ping.
    Silence,
    /// A connection that breaks in the middle.
    Cut,
}

const FAULTS: [Fault; 6] =
    [Fault::Flood, Fault::EndlessLine, Fault::EndlessEvent, Fault::Chatter, Fault::Silence, Fault::Cut];

/// Returns how many bytes the server could send.
async fn misbehave(mut socket: TcpStream, fault: Fault) -> usize {
    let length = if fault == Fault::Cut { "content-length: 1000\r\n\r\n" } else { "\r\n" };
    socket.write_all(HEAD.replace("\r\n\r\n", "\r\n").as_bytes()).await.unwrap();
    socket.write_all(length.as_bytes()).await.unwrap();
    let mut written = 0;
    for n in 0.. {
        let piece = match fault {
            Fault::Flood => state("a", "Email", &n.to_string()).repeat(50).into_bytes(),
            Fault::EndlessLine => vec![b'a'; 4096],
            Fault::EndlessEvent => b"data: 0123456789\n".repeat(200),
            Fault::Chatter => b":\n".repeat(2_000),
            Fault::Silence => {
                // Held open until the client closes it.
                socket.read_to_end(&mut Vec::new()).await.unwrap_or(0);
                return written;
            }
            Fault::Cut => {
                socket.write_all(b"data: {").await.unwrap();
                return written;
            }
        };
        if written >= FAR_TOO_MUCH || socket.write_all(&piece).await.is_err() {
            break;
        }
        written += piece.len();
    }
    written
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_bad_stream_is_bounded() {
    let cases = FAULTS.map(async |fault| {
        let (listener, origin) = listener().await;
        let silence = if fault == Fault::Silence { 200 } else { 90_000 };
        let limits = Limits { event_silence_ms: silence, ..Limits::default() };
        let server = async { misbehave(accept(&listener).await.1, fault).await };
        (fault, listen((&origin, &limits), Tokens::default(), server).await)
    });
    for (fault, (ended, told, written)) in join_all(cases).await {
        let error = ended.expect_err(&format!("{fault:?}"));
        let code = match fault {
            Fault::Flood | Fault::EndlessLine | Fault::EndlessEvent | Fault::Chatter => "too-large",
            Fault::Silence => "timeout",
            Fault::Cut => "unavailable",
        };
        assert_eq!(error.code, code, "{fault:?}: {error:?}");
        assert!(!error.message.contains("0123456789") && error.message.len() < 300, "{error:?}");
        assert!(written < FAR_TOO_MUCH, "{fault:?}: {written} bytes");
        // However many events arrived, the mailbox is read at intervals only.
        assert!(told.len() < 100, "{fault:?}: told {} times", told.len());
    }
}
