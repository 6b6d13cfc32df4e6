//! Large collections on real servers, behind a wire that counts requests and can be cut.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use harness::{Actor, TestServer};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::dav::{connect, put, servers};

/// Resources in the collection, and how many are read at a time.
const SIZE: usize = 230;
const PAGE: u32 = 25;

/// Counts of the traffic.
#[derive(Default)]
struct Seen {
    /// Listings from the beginning.
    listings: usize,
    multigets: usize,
    /// How often each resource was asked for and handed over.
    read: BTreeMap<String, usize>,
    /// Multigets that still come through; those behind them are cut in the middle of the answer.
    allowed: usize,
    /// Tokens that are yet to be refused.
    refusals: usize,
}

/// The fate of a request.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    Through,
    Cut,
    Refused,
}

struct Wire {
    origin: String,
    seen: Arc<Mutex<Seen>>,
}

impl Wire {
    async fn to(url: &str, allowed: usize) -> Wire {
        let seen = Arc::new(Mutex::new(Seen { allowed, ..Seen::default() }));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let origin = format!("http://{}/", listener.local_addr().expect("an address"));
        let client = harness::http_client().build().expect("an HTTP client");
        let (behind, shared) = (url.trim_end_matches('/').to_owned(), seen.clone());
        let through = async move |request: Request| pass(&client, &behind, &shared, request).await;
        let app = axum::Router::new().fallback(through);
        tokio::spawn(async move { axum::serve(listener, app).await.expect("the wire holds") });
        Wire { origin, seen }
    }

    fn seen<T>(&self, look: impl FnOnce(&mut Seen) -> T) -> T {
        look(&mut self.seen.lock().expect("nobody panicked with it"))
    }
}

fn note(seen: &Mutex<Seen>, text: &str) -> Fate {
    let mut seen = seen.lock().expect("nobody panicked with it");
    if text.contains("<D:sync-token></D:sync-token>") {
        seen.listings += 1;
    } else if text.contains("<D:sync-token>") && seen.refusals > 0 {
        seen.refusals -= 1;
        return Fate::Refused;
    }
    if !text.contains("-multiget") {
        return Fate::Through;
    }
    seen.multigets += 1;
    if seen.allowed == 0 {
        return Fate::Cut;
    }
    seen.allowed -= 1;
    for href in text.split("<D:href>").skip(1).filter_map(|rest| rest.split('<').next()) {
        *seen.read.entry(href.to_owned()).or_default() += 1;
    }
    Fate::Through
}

async fn pass(client: &reqwest::Client, behind: &str, seen: &Mutex<Seen>, request: Request) -> Response {
    let (mut head, body) = request.into_parts();
    for name in [header::HOST, header::CONTENT_LENGTH] {
        head.headers.remove(name);
    }
    let body: Bytes = axum::body::to_bytes(body, usize::MAX).await.expect("a body");
    let fate = note(seen, &String::from_utf8_lossy(&body));
    if fate == Fate::Refused {
        let text = "<d:error xmlns:d=\"DAV:\"><d:valid-sync-token/></d:error>";
        return (StatusCode::FORBIDDEN, [(header::CONTENT_TYPE, "application/xml")], text).into_response();
    }
    let url = format!("{behind}{}", head.uri.path_and_query().map_or("/", |p| p.as_str()));
    let asked = client.request(head.method, url).headers(head.headers).body(body);
    let answer = asked.send().await.expect("the server behind the wire answers");
    let (status, mut headers) = (answer.status(), answer.headers().clone());
    for name in [header::CONTENT_LENGTH, header::TRANSFER_ENCODING, header::CONNECTION] {
        headers.remove(name);
    }
    let content = answer.bytes().await.expect("a body");
    if fate == Fate::Through {
        return (status, headers, Body::from(content)).into_response();
    }
    let half = content.slice(..content.len() / 2);
    let pieces = [Ok(half), Err(std::io::Error::other("the wire is cut"))];
    (status, headers, Body::from_stream(futures::stream::iter(pieces))).into_response()
}

async fn server() -> TestServer {
    let loopback = vec!["127.0.0.0/8".parse().expect("a network")];
    let config = TestServer::builder().real_time().config(|c| {
        c.egress_allow = loopback;
        c.pull_page = PAGE;
    });
    config.start().await
}

/// Puts the event of this number there, with this title. Its UID names the calendar too: Cyrus refuses one that another calendar of the
/// account has.
async fn event(url: &str, user: &str, href: &str, (n, title): (usize, &str)) {
    let calendar = href.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let text = format!(
        "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//x//EN\nBEGIN:VEVENT\nUID:large-{n}-{calendar}\nDTSTAMP:20260101T000000Z\n\
         DTSTART:20270302T090000Z\nDTEND:20270302T100000Z\nSUMMARY:{title} {n}\nEND:VEVENT\nEND:VCALENDAR\n"
    );
    put(url, user, href, &format!("large-{n}.ics"), ("text/calendar; charset=utf-8", &text)).await;
}

/// A calendar with as many events, made behind the wire's back; the path of its events.
async fn calendar(api: &Actor, wire: &Wire, (url, user): (&str, &str)) -> String {
    let connection = connect(api, &wire.origin, user).await;
    let new = json!({ "connectionId": connection["id"], "name": "Large" });
    let calendar = api.post("/v1/calendars", new).send().await.expect(201);
    let href = calendar["externalId"].as_str().expect("an external id");
    for n in 0..SIZE {
        event(url, user, href, (n, "Event")).await;
    }
    format!("/v1/calendars/{}/events", calendar["id"].as_str().expect("an id"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_calendar_is_listed_once() {
    for (name, url) in servers() {
        let wire = Wire::to(&url, usize::MAX).await;
        let server = server().await;
        let api = server.client().await;
        let events = calendar(&api, &wire, (&url, "t01")).await;
        wire.seen(|seen| (seen.listings, seen.multigets) = (0, 0));
        assert_eq!(api.all(&events).await.len(), SIZE, "{name}");
        wire.seen(|seen| {
            assert_eq!(seen.listings, 1, "{name}");
            assert_eq!(seen.multigets, SIZE.div_ceil(PAGE as usize), "{name}");
            assert!(seen.read.values().all(|times| *times == 1), "{name}: nothing is read twice");
        });
        api.delete(events.trim_end_matches("/events")).send().await.expect(204);
    }
}

/// Records that were read before the wire was cut are not requested again, and unread ones are not taken for deleted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reading_that_is_broken_off_goes_on() {
    for (name, url) in servers() {
        let wire = Wire::to(&url, usize::MAX).await;
        let server = server().await;
        let api = server.client().await;
        let events = calendar(&api, &wire, (&url, "t01")).await;
        wire.seen(|seen| (seen.listings, seen.allowed) = (0, 3));
        let broken = api.get(&events).send().await;
        assert!(broken.status >= 500, "{name}: {broken}");
        wire.seen(|seen| seen.allowed = usize::MAX);
        assert_eq!(api.all(&events).await.len(), SIZE, "{name}");
        wire.seen(|seen| {
            assert_eq!(seen.listings, 1, "{name}: it goes on with the names that it has");
            assert_eq!(seen.read.len(), SIZE, "{name}");
            assert!(seen.read.values().all(|times| *times == 1), "{name}: nothing is read twice");
        });
        api.delete(events.trim_end_matches("/events")).send().await.expect(204);
    }
}

/// A token that the provider has forgotten costs a listing, and of the content only the changes; a reset reads everything.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_held_is_not_read_again_when_all_is_listed_anew() {
    for (name, url) in servers() {
        let wire = Wire::to(&url, usize::MAX).await;
        let server = server().await;
        let api = server.client().await;
        let events = calendar(&api, &wire, (&url, "t01")).await;
        let calendar = events.trim_end_matches("/events").to_owned();
        assert_eq!(api.all(&events).await.len(), SIZE, "{name}");
        let href = api.get(&calendar).send().await.expect(200)["externalId"].clone();
        let href = href.as_str().expect("an external id");
        for n in [3, SIZE - 1] {
            event(&url, "t01", href, (n, "Another")).await;
        }
        wire.seen(|seen| {
            seen.read.clear();
            (seen.listings, seen.refusals) = (0, 1);
        });
        let now = api.all(&events).await;
        assert_eq!(now.len(), SIZE, "{name}: nothing is taken for gone");
        let is_changed = |event: &&Value| event["title"].as_str().is_some_and(|t| t.starts_with("Another"));
        assert_eq!(now.iter().filter(is_changed).count(), 2, "{name}");
        wire.seen(|seen| {
            assert_eq!((seen.listings, seen.refusals), (1, 0), "{name}");
            assert_eq!(seen.read.len(), 2, "{name}: {:?}", seen.read);
            seen.read.clear();
        });
        api.post(format!("{calendar}/sync/reset"), json!({ "mode": "soft" })).send().await.expect(202);
        assert_eq!(api.all(&events).await.len(), SIZE, "{name}");
        wire.seen(|seen| assert_eq!(seen.read.len(), SIZE, "{name}: a reset reads everything"));
        api.delete(calendar).send().await.expect(204);
    }
}

/// Objects that are long only as JSON: their text is quotes. A page of them exceeds the limit of a connector's answer.
const HEAVY: usize = 26;

/// A batch that is too large for one response is read in halves: a few calls more, and no record is left out or quarantined.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_that_is_too_much_is_read_in_halves() {
    for (name, url) in servers() {
        let wire = Wire::to(&url, usize::MAX).await;
        let server = server().await;
        let api = server.client().await;
        let connection = connect(&api, &wire.origin, "t01").await;
        let new = json!({ "connectionId": connection["id"], "name": "Heavy" });
        let calendar = api.post("/v1/calendars", new).send().await.expect(201);
        let href = calendar["externalId"].as_str().expect("an external id");
        let path = format!("/v1/calendars/{}", calendar["id"].as_str().expect("an id"));
        let quotes = format!("{}\n ", "\"".repeat(60)).repeat(3_400);
        for n in 0..HEAVY {
            let text = format!(
                "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//x//EN\nBEGIN:VEVENT\nUID:heavy-{n}-{}\nDTSTAMP:20260101T000000Z\n\
                 DTSTART:20270302T090000Z\nDTEND:20270302T100000Z\nSUMMARY:Heavy {n}\nDESCRIPTION:{quotes}end\nEND:VEVENT\n\
                 END:VCALENDAR\n",
                path.trim_start_matches("/v1/calendars/")
            );
            put(&url, "t01", href, &format!("heavy-{n}.ics"), ("text/calendar; charset=utf-8", &text)).await;
        }
        wire.seen(|seen| seen.multigets = 0);
        let events = api.all(&format!("{path}/events?limit=10")).await;
        assert_eq!(events.len(), HEAVY, "{name}");
        let is_whole = |event: &Value| {
            let text = event["description"].as_str().unwrap_or_default();
            text.len() == 60 * 3_400 + 3 && text.ends_with("end")
        };
        assert!(events.iter().all(is_whole), "{name}");
        wire.seen(|seen| assert!(seen.multigets <= 10, "{name}: {}", seen.multigets));
        api.delete(path).send().await.expect(204);
    }
}
