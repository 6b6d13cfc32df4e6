//! What one request may cost in memory: three times its body at most, whatever is in it. The allocator of this program counts, so its
//! tests run one after the other.

use std::convert::Infallible;
use std::sync::LazyLock;

use axum::body::{Body, Bytes};
use futures::stream;
use harness::{Actor, TestServer};
use http_body_util::BodyExt;
use peak_alloc::PeakAlloc;
use serde_json::{Value, json};
use tokio::sync::Mutex;
use tower::ServiceExt;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Held by whoever measures.
static MEASURING: LazyLock<Mutex<()>> = LazyLock::new(Mutex::default);

/// What every request costs, however small: its answer, rows, statements.
const FIXED: usize = 4 << 20;
const CHUNK: usize = 64 << 10;

/// Sends a body piece by piece, and nothing else, to the service; the status and the most bytes that were held beside what was held
/// before. The body itself is one piece that is sent again and again, so that it counts once: where the service keeps it.
async fn peak(server: &TestServer, api: &Actor, path: &str, body: Parts) -> (u16, usize) {
    let router = switchboard::api::service(server.app.clone());
    let request = http::Request::post(path)
        .header("authorization", format!("Bearer {}", api.key.as_deref().expect("a key")))
        .header("content-type", "application/json")
        .header("content-length", body.len())
        .body(body.stream())
        .expect("a request");
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    let response = router.oneshot(request).await.expect("an answer");
    let status = response.status().as_u16();
    response.into_body().collect().await.expect("a whole answer");
    (status, ALLOCATOR.peak_usage().saturating_sub(before))
}

/// A body of a head, a piece that is repeated, and a tail.
struct Parts {
    head: Bytes,
    piece: Bytes,
    times: usize,
    tail: Bytes,
}

impl Parts {
    fn new(head: &str, fragment: &str, bytes: usize, tail: &str) -> Self {
        let piece = Bytes::from(fragment.repeat(CHUNK / fragment.len()));
        let times = bytes / piece.len();
        Parts { head: Bytes::from(head.to_owned()), times, piece, tail: Bytes::from(tail.to_owned()) }
    }

    fn len(&self) -> usize {
        self.head.len() + self.piece.len() * self.times + self.tail.len()
    }

    fn stream(self) -> Body {
        let Parts { head, piece, times, tail } = self;
        let pieces = (0..times).map(move |_| piece.clone());
        let all = std::iter::once(head).chain(pieces).chain([tail]);
        Body::from_stream(stream::iter(all.map(Ok::<_, Infallible>)))
    }
}

const MIB: usize = 1 << 20;

/// Bodies that are refused, at whatever size their operation takes.
#[tokio::test]
async fn a_bomb_costs_no_more_than_its_bytes() {
    let _one = MEASURING.lock().await;
    let server = TestServer::start().await;
    let api = server.client().await;
    let bombs = [
        ("a list of numbers", "{\"a\":[", "0,", "0]}"),
        ("a list of lists", "{\"a\":[", "[],", "0]}"),
        ("a list of objects", "{\"a\":[", "{\"k\":1},", "0]}"),
        ("nested lists", "{\"a\":", "[", "0"),
        ("nested objects", "", "{\"a\":", "0"),
        ("a text", "{\"a\":\"", "x", "\"}"),
        ("a text with escapes", "{\"a\":\"", "\\u00e9", "\"}"),
        (
            "an attachment that is no base64",
            "{\"connectionId\":\"c\",\"attachments\":[{\"contentBase64\":\"",
            "!",
            "\"}]}",
        ),
        ("one long name", "{\"", "k", "\":1}"),
        ("one name again and again", "{", "\"k\":1,", "\"k\":1}"),
        ("one long number", "{\"a\":", "1", "}"),
        ("white space", "", " ", "{}"),
        ("no JSON at all", "", "\u{0}", ""),
    ];
    for (path, bytes) in
        [("/v1/email/send", 38 * MIB), ("/v1/email/drafts", 38 * MIB), ("/v1/contacts", 2 * MIB - CHUNK)]
    {
        for (what, head, fragment, tail) in bombs {
            let body = Parts::new(head, fragment, bytes, tail);
            let len = body.len();
            let (status, peak) = peak(&server, &api, path, body).await;
            assert!((400..500).contains(&status), "{what} to {path}: {status}");
            assert!(peak <= 3 * len + FIXED, "{what} to {path}: {peak} bytes for a body of {len}");
        }
    }
}

/// What is right and as large as it may be costs no more.
#[tokio::test]
async fn a_message_with_large_files_costs_three_times_its_body() {
    let _one = MEASURING.lock().await;
    let server = TestServer::start().await;
    let api = server.client().await;
    let scopes = ["email.read", "email.write", "email.send"];
    let account = json!({ "provider": "sandbox", "scopes": scopes,
        "credentials": { "username": "alice@sandbox.test", "password": "sandbox" } });
    let connection = api.connect(account).await;
    let message = |more: Value| {
        let mut message = json!({ "connectionId": connection["id"], "to": [{ "email": "bob@sandbox.test" }], "subject": "x" });
        message.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        let text = message.to_string();
        text.strip_suffix('}').expect("an object").to_owned()
    };
    let bcc = json!({ "bcc": [{ "email": "carol@sandbox.test" }] });
    for (path, more, status) in [("/v1/email/send", json!({}), 202), ("/v1/email/send", bcc, 202)] {
        let head =
            format!("{},\"attachments\":[{{\"filename\":\"a.bin\",\"contentBase64\":\"", message(more));
        let body = Parts::new(&head, "AAAA", 32 * MIB, "\"}]}");
        let len = body.len();
        let (got, peak) = peak(&server, &api, path, body).await;
        assert_eq!(got, status, "{path}");
        assert!(peak <= 3 * len + FIXED, "{path}: {peak} bytes for a body of {len}");
    }
}
