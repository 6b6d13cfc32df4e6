//! Limits on the memory of one request: three times its body at most, whatever is in it, and a small multiple of the largest response,
//! whatever is stored. The allocator of this program counts, so its tests run one after the other.

use std::convert::Infallible;
use std::sync::LazyLock;

use axum::body::{Body, Bytes};
use futures::stream;
use harness::stored::store_event;
use harness::{Actor, TestServer};
use http_body_util::BodyExt;
use model::Instant;
use model::calendar::{Event, EventType};
use peak_alloc::PeakAlloc;
use serde_json::{Value, json};
use tokio::sync::Mutex;
use tower::ServiceExt;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Locked during a measurement.
static MEASURING: LazyLock<Mutex<()>> = LazyLock::new(Mutex::default);

/// The fixed cost of every request, however small: its response, rows, statements.
const FIXED: usize = 4 << 20;
const CHUNK: usize = 64 << 10;

/// Sends a body piece by piece to the service; returns the status and the peak of additional memory. The body is one piece that is sent
/// repeatedly, so that it counts only where the service stores it.
async fn peak(server: &TestServer, api: &Actor, path: &str, body: Parts) -> (u16, usize) {
    let request = http::Request::post(path)
        .header("authorization", format!("Bearer {}", api.key.as_deref().expect("a key")))
        .header("content-type", "application/json")
        .header("content-length", body.len())
        .body(body.stream())
        .expect("a request");
    let (status, _, peak) = measure(server, request).await;
    (status, peak)
}

/// Returns the status of an answer, its length, and the peak memory for it.
async fn measure(server: &TestServer, request: http::Request<Body>) -> (u16, usize, usize) {
    let router = switchboard::api::service(server.app.clone());
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    let response = router.oneshot(request).await.expect("an answer");
    let status = response.status().as_u16();
    let answer = response.into_body().collect().await.expect("a whole answer").to_bytes();
    (status, answer.len(), ALLOCATOR.peak_usage().saturating_sub(before))
}

/// A request without a body, or with this one.
fn request(api: &Actor, method: http::Method, path: &str, body: &Value) -> http::Request<Body> {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    http::Request::builder()
        .method(method)
        .uri(path)
        .header("authorization", format!("Bearer {}", api.key.as_deref().expect("a key")))
        .header("content-type", "application/json")
        .body(Body::from(body))
        .expect("a request")
}

/// A body of a head, a repeated piece, and a tail.
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

/// Bodies that are refused, at any size that their operation allows.
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

/// A valid message of about the largest size that the sandbox takes (26 MiB with the line ends of base64) costs no more.
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
        let body = Parts::new(&head, "AAAA", 25 * MIB, "\"}]}");
        let len = body.len();
        let (got, peak) = peak(&server, &api, path, body).await;
        assert_eq!(got, status, "{path}");
        assert!(peak <= 3 * len + FIXED, "{path}: {peak} bytes for a body of {len}");
    }
}

/// Returns a connection, one of its calendars, and the id of an event in the calendar.
async fn calendar(api: &Actor) -> (String, String, String) {
    let id = |value: &Value| value["id"].as_str().expect("an id").to_owned();
    let connection = id(&api.connect_sandbox().await);
    let body = json!({ "connectionId": connection, "name": "Crowded", "timeZone": "UTC" });
    let calendar = id(&api.post("/v1/calendars", body).send().await.expect(201));
    let body = json!({ "title": "Dentist", "start": "2026-02-02T09:00:00Z", "end": "2026-02-02T10:00:00Z" });
    let path = format!("/v1/calendars/{calendar}/events");
    let appointment = id(&api.post(&path, body).send().await.expect(201));
    api.all(&path).await;
    (connection, calendar, appointment)
}

/// Returns an hourly series of ten minutes, from this minute after the first hour of 2 March 2026 on.
fn hourly(minute: i64, description: usize) -> Event {
    let start = "2026-03-02T00:00:00Z".parse::<Instant>().expect("an instant").as_millis() + minute * 60_000;
    Event {
        event_type: EventType::Series,
        title: Some("Pulse".to_owned()),
        description: Some("x".repeat(description)),
        start: Instant::from_millis(start),
        end: Instant::from_millis(start + 600_000),
        time_zone: "UTC".to_owned(),
        recurrence: vec!["RRULE:FREQ=HOURLY".to_owned()],
        busy: true,
        ..Event::default()
    }
}

/// Two hundred instances of a series would have a hundred megabytes: the cost is that of a page, twice while it is built, and of the
/// series itself.
#[tokio::test]
async fn a_page_of_long_instances_costs_what_a_page_may_have() {
    let _one = MEASURING.lock().await;
    let server = TestServer::start().await;
    let api = server.client().await;
    let (_, calendar, appointment) = calendar(&api).await;
    let description = 500_000;
    store_event(&server, &appointment, &hourly(0, description)).await;
    let range = "expand=true&limit=200&start=2026-03-02T00:00:00Z&end=2026-06-02T00:00:00Z";
    let path = format!("/v1/calendars/{calendar}/events?{range}");
    let (status, length, peak) =
        measure(&server, request(&api, http::Method::GET, &path, &Value::Null)).await;
    assert_eq!(status, 200);
    assert!((7 * description..=4 * MIB + 4_096).contains(&length), "{length} bytes");
    assert!(peak <= 2 * length + 12 * description + FIXED, "{peak} bytes for an answer of {length}");
}

/// A query with the same calendar fifty times: it is read and answered once.
#[tokio::test]
async fn busy_times_cost_no_more_where_their_calendar_is_named_again() {
    let _one = MEASURING.lock().await;
    let server = TestServer::start().await;
    let api = server.client().await;
    let (connection, calendar, appointment) = calendar(&api).await;
    for quarter in 0..4 {
        store_event(&server, &appointment, &hourly(15 * quarter, 0)).await;
    }
    let target = json!({ "connectionId": connection, "calendarIds": [calendar] });
    let query = |count: usize| {
        let targets = vec![target.clone(); count];
        let body =
            json!({ "start": "2026-03-02T00:00:00Z", "end": "2026-06-02T00:00:00Z", "targets": targets });
        request(&api, http::Method::POST, "/v1/calendars/freebusy/query", &body)
    };
    let (status, once, least) = measure(&server, query(1)).await;
    assert_eq!(status, 200);
    let (status, length, peak) = measure(&server, query(50)).await;
    assert_eq!(status, 200);
    assert!(length < once + 10_000, "{length} and {once} bytes");
    assert!(peak <= least + FIXED / 4, "{peak} bytes, and {least} where it is named once");
    assert!(peak <= 8 * length + FIXED, "{peak} bytes for an answer of {length}");
}
