//! `/v1/events/stream`: events as they happen.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use harness::{Actor, TestServer};
use reqwest::Response;
use serde_json::{Value, json};
use service::app::App;
use service::retention;
use service::webhooks::events::EventRequest;
use service::webhooks::stream::EventStream;
use storage::key_revocations::{self, KeyWebhooks};
use storage::sql::query;
use tokio::time::timeout;

use crate::events::{DAY_MS, key_of, of_type, server, task, write};

/// The time limit of a test: far longer than events take.
const LIMIT: Duration = Duration::from_secs(60);

/// A block of a stream, between two empty lines.
#[derive(Debug, Default, PartialEq)]
struct Block {
    id: Option<i64>,
    event: String,
    data: String,
    retry: Option<i64>,
}

/// A stream that is being read.
pub struct Events {
    response: Response,
    unread: Vec<u8>,
}

/// The answer to a request for a stream. It is one host's, where there are two.
pub async fn answer(server: &TestServer, api: &Actor, query: &str, last_event_id: Option<i64>) -> Response {
    let client = harness::http_client().build().expect("an HTTP client");
    let asked = client.get(format!("http://{}/v1/events/stream{query}", server.address));
    let asked = asked.bearer_auth(api.key.as_deref().expect("a key"));
    let asked = match last_event_id {
        Some(id) => asked.header("last-event-id", id.to_string()),
        None => asked,
    };
    asked.send().await.expect("the service answers")
}

impl Events {
    pub async fn open(server: &TestServer, api: &Actor, query: &str, last_event_id: Option<i64>) -> Events {
        let response = answer(server, api, query, last_event_id).await;
        assert_eq!(response.status(), 200);
        Events { response, unread: Vec::new() }
    }

    /// The next block; none: the stream has ended.
    async fn block(&mut self) -> Option<Block> {
        loop {
            if let Some(end) = self.unread.windows(2).position(|two| two == b"\n\n") {
                let bytes: Vec<u8> = self.unread.drain(..end + 2).collect();
                return Some(parsed(std::str::from_utf8(&bytes).expect("UTF-8")));
            }
            let chunk = timeout(LIMIT, self.response.chunk()).await.expect("something in time");
            self.unread.extend_from_slice(&chunk.expect("the stream is readable")?);
        }
    }

    /// Returns the next event, without comments between events.
    pub async fn event(&mut self) -> Value {
        loop {
            let block = self.block().await.expect("an event, and not the end");
            if block.data.is_empty() {
                continue;
            }
            let event: Value = serde_json::from_str(&block.data).expect("JSON");
            assert_eq!((block.id, block.event.as_str()), (event["sequence"].as_i64(), type_of(&event)));
            return event;
        }
    }

    /// The ids of the resources of the next events.
    async fn resources(&mut self, count: usize) -> Vec<String> {
        let mut found = Vec::new();
        while found.len() < count {
            found.push(self.event().await["data"]["resourceId"].as_str().expect("an id").to_owned());
        }
        found
    }

    /// Returns all blocks until the stream ends.
    async fn rest(&mut self) -> Vec<Block> {
        let mut found = Vec::new();
        while let Some(block) = self.block().await {
            found.push(block);
        }
        found
    }
}

fn type_of(event: &Value) -> &str {
    event["type"].as_str().expect("a type")
}

fn parsed(text: &str) -> Block {
    let mut block = Block::default();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with(':')) {
        let (field, value) = line.split_once(": ").expect("a field with a value");
        match field {
            "id" => block.id = Some(value.parse().expect("a sequence")),
            "event" => block.event = value.to_owned(),
            "data" => block.data = value.to_owned(),
            "retry" => block.retry = Some(value.parse().expect("a time")),
            other => panic!("no stream has the field {other}"),
        }
    }
    block
}

#[tokio::test]
async fn a_stream_begins_with_what_comes_from_now_on() {
    let server = server().await;
    let api = server.client().await;
    let tenant = key_of(&server, &api).await.tenant;
    let before = write(&server.app, &tenant, vec![task("before")]).await;
    let mut stream = Events::open(&server, &api, "", None).await;
    let header = |name: &str| stream.response.headers()[name].to_str().expect("a text").to_owned();
    assert_eq!(header("content-type"), "text/event-stream");
    assert_eq!(header("cache-control"), "no-store");
    assert_eq!(header("x-accel-buffering"), "no");
    assert!(header("x-request-id").starts_with("req_"));
    // With this id a client comes back whose connection breaks before its first event.
    let first = stream.block().await.expect("the beginning");
    assert_eq!(first, Block { id: Some(before), retry: Some(1_000), ..Block::default() });
    write(&server.app, &tenant, vec![task("after")]).await;
    let event = stream.event().await;
    assert_eq!(event, api.all("/v1/events").await[1], "it is what the event log has");
    assert_eq!(event["data"]["resourceId"], "after");
}

#[tokio::test]
async fn a_stream_goes_on_after_last_event_id() {
    let server = server().await;
    let api = server.client().await;
    let tenant = key_of(&server, &api).await.tenant;
    let first = write(&server.app, &tenant, ["a", "b", "c"].map(task).to_vec()).await;
    let mut stream = Events::open(&server, &api, "?after_sequence=0", None).await;
    assert_eq!(stream.resources(3).await, ["a", "b", "c"]);
    drop(stream);
    write(&server.app, &tenant, vec![of_type("email.message.created", None), task("d")]).await;
    // As `EventSource` does, with the address of the first time.
    let mut stream = Events::open(&server, &api, "?after_sequence=0&type=task.*", Some(first + 1)).await;
    assert_eq!(stream.resources(2).await, ["c", "d"]);
}

/// A writer takes its number before the commit, and others commit meanwhile: no reader may skip the late one.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_late_commit_is_skipped() {
    const WRITERS: usize = 32;
    const EACH: usize = 20;
    let server = server().await;
    let api = server.client().await;
    let tenant = key_of(&server, &api).await.tenant;
    let mut stream = Events::open(&server, &api, "?after_sequence=0", None).await;
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let (app, tenant) = (server.app.clone(), tenant.clone());
            tokio::spawn(async move {
                for n in 0..EACH {
                    write(&app, &tenant, vec![task(&format!("{writer}-{n}"))]).await;
                }
            })
        })
        .collect();
    let paged = async {
        let (mut ids, mut position) = (Vec::new(), 0);
        while ids.len() < WRITERS * EACH {
            let path = format!("/v1/events?limit=20&after_sequence={position}");
            let page = api.get(path).send().await.expect(200);
            ids.extend(page["data"].as_array().expect("a list").iter().map(|event| event["id"].clone()));
            position = page["last_sequence"].as_i64().expect("a position");
        }
        ids
    };
    let streamed = async {
        let mut ids = Vec::new();
        while ids.len() < WRITERS * EACH {
            ids.push(stream.event().await["id"].clone());
        }
        ids
    };
    let read = timeout(LIMIT, async { tokio::join!(paged, streamed) }).await;
    let (paged, streamed) = read.expect("every event is read, by both");
    for writer in writers {
        writer.await.expect("a writer ends without a panic");
    }
    let logged: Vec<Value> = query("select id from log order by sequence")
        .fetch_all(server.app.db.reader(), |row| Ok(Value::from(row.get::<String>("id")?)))
        .await
        .expect("the log");
    assert_eq!(paged, logged);
    assert_eq!(streamed, logged);
}

/// A client that asks for rare events can resume at a position that is still kept.
#[tokio::test]
async fn a_quiet_stream_tells_how_far_the_log_was_read() {
    let server = server().await;
    let api = server.client().await;
    let tenant = key_of(&server, &api).await.tenant;
    let mut stream = Events::open(&server, &api, "?type=task.deleted", None).await;
    let sequence = write(&server.app, &tenant, vec![task("not asked for")]).await;
    loop {
        let block = stream.block().await.expect("a sign of life");
        assert!(block.data.is_empty(), "{block:?}");
        if block.id == Some(sequence) {
            return;
        }
    }
}

/// Events that a client does not take are not read ahead: a stream has one piece at a time, and a piece one event if events are large.
#[tokio::test]
async fn a_slow_reader_costs_no_memory() {
    const LARGE: usize = 200 << 10;
    let server = TestServer::start().await;
    let api = server.client().await;
    let key = Arc::new(key_of(&server, &api).await);
    let small = |count: usize| (0..count).map(|n| task(&format!("small {n}"))).collect::<Vec<_>>();
    // Enough that the next piece would have 16 events.
    write(&server.app, &key.tenant, small(31)).await;
    let large = json!({ "notes": "x".repeat(LARGE) }).to_string();
    for n in 0..40 {
        let mut note = task(&format!("{n}"));
        note.resource = Some(large.clone());
        write(&server.app, &key.tenant, vec![note]).await;
    }
    write(&server.app, &key.tenant, small(64)).await;
    let stream =
        EventStream::open(&server.app, key, &EventRequest::default(), Some(0)).await.expect("there is room");
    let mut pieces = Box::pin(stream.pieces());
    let mut counts = Vec::new();
    while counts.iter().sum::<usize>() < 135 {
        let Ok(piece) = pieces.next().await.expect("it goes on");
        assert!(piece.len() < 2 * LARGE, "{} bytes at once", piece.len());
        counts.push(piece.windows(6).filter(|six| *six == b"event:").count());
    }
    // The beginning has none, and large events come one by one; of small ones many come at once.
    assert_eq!(counts[..6], [0, 1, 2, 4, 8, 16], "{counts:?}");
    assert!(counts[6..46].iter().all(|count| *count == 1), "{counts:?}");
    assert!(counts.len() < 60, "{counts:?}");
}

/// A stream whose client is so slow that the log no longer has the next event says so, and ends.
#[tokio::test]
async fn a_stream_that_is_overtaken_is_told() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let key = Arc::new(key_of(&server, &api).await);
    write(&server.app, &key.tenant, (0..150).map(|n| task(&format!("{n}"))).collect()).await;
    let stream = EventStream::open(&server.app, key.clone(), &EventRequest::default(), Some(0)).await;
    let mut pieces = Box::pin(stream.expect("there is room").pieces());
    for _ in 0..3 {
        pieces.next().await.expect("it goes on").expect("a piece");
    }
    server.clock.advance_ms(31 * DAY_MS);
    write(&server.app, &key.tenant, vec![task("new")]).await;
    retention::clean(&server.app).await.expect("a clean-up");
    let rest: Vec<_> = pieces.collect().await;
    let texts: Vec<String> =
        rest.into_iter().map(|Ok(piece)| String::from_utf8_lossy(&piece).into_owned()).collect();
    assert_eq!(texts.len(), 1, "nothing comes after the gap: {texts:?}");
    let block = parsed(&texts[0]);
    assert_eq!(block.event, "sync_reset_required");
    let data: Value = serde_json::from_str(&block.data).expect("JSON");
    assert_eq!(data["code"], "sync_reset_required");
}

/// A restored database repeats numbers that streams have sent: a client that continued would miss events.
#[tokio::test]
async fn a_stream_ends_when_the_database_was_put_back() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let key = Arc::new(key_of(&server, &api).await);
    write(&server.app, &key.tenant, ["a", "b"].map(task).to_vec()).await;
    let stream =
        EventStream::open(&server.app, key, &EventRequest::default(), None).await.expect("there is room");
    let mut pieces = Box::pin(stream.pieces());
    pieces.next().await.expect("the beginning").expect("a piece");
    let put_back = "update applications set last_sequence = last_sequence - 1";
    let written: anyhow::Result<u64> =
        server.app.db.write(move |tx| Box::pin(async move { query(put_back).execute(tx).await })).await;
    assert_eq!(written.expect("a statement"), 1);
    let Ok(piece) = pieces.next().await.expect("it says so");
    assert_eq!(parsed(&String::from_utf8_lossy(&piece)).event, "sync_reset_required");
    assert!(pieces.next().await.is_none(), "it ends");
}

#[tokio::test]
async fn the_eleventh_stream_is_refused() {
    let server = server().await;
    let (api, other) = (server.client().await, server.client().await);
    let mut open = Vec::new();
    for _ in 0..10 {
        open.push(Events::open(&server, &api, "", None).await);
    }
    let refused = answer(&server, &api, "", None).await;
    assert_eq!(refused.status(), 429);
    assert!(refused.headers().contains_key("retry-after"));
    let error: Value = serde_json::from_slice(&refused.bytes().await.expect("a body")).expect("JSON");
    assert_eq!(error["error"]["code"], "rate_limited");
    // Another key has its own streams.
    let mut of_other = Events::open(&server, &other, "", None).await;
    assert!(of_other.block().await.is_some());
    // A stream that its client has left makes room for another one.
    open.pop();
    let accepted = async { while answer(&server, &api, "", None).await.status() != 200 {} };
    timeout(LIMIT, accepted).await.expect("there is room again");
}

#[tokio::test]
async fn a_host_has_room_for_so_many_streams() {
    let server = TestServer::builder().config(|config| config.event_streams.of_host = 1).start().await;
    let (api, other) = (server.client().await, server.client().await);
    let mut stream = Events::open(&server, &api, "", None).await;
    assert_eq!(answer(&server, &other, "", None).await.status(), 429);
    assert!(stream.block().await.is_some(), "the first one goes on");
}

/// An application can make any number of keys, and others need streams too.
#[tokio::test]
async fn an_application_has_room_for_so_many_streams() {
    let server = TestServer::builder().config(|config| config.event_streams.of_application = 1).start().await;
    let (api, second_key) = (server.client().await, server.client().await);
    let other = server.key("other", |_| ()).await;
    let mut stream = Events::open(&server, &api, "", None).await;
    assert_eq!(answer(&server, &second_key, "", None).await.status(), 429);
    assert!(Events::open(&server, &other, "", None).await.block().await.is_some());
    assert!(stream.block().await.is_some(), "the first one goes on");
}

#[tokio::test]
async fn a_revoked_key_ends_its_stream() {
    let server = server().await;
    let api = server.client().await;
    let body = json!({ "name": "reader", "scopes": ["events.read", "tasks.read"] });
    let made = api.post("/v1/api-keys", body).send().await.expect(201);
    let mut reader = api.clone();
    reader.key = made["key"].as_str().map(str::to_owned);
    let mut stream = Events::open(&server, &reader, "", None).await;
    let mut other = Events::open(&server, &api, "", None).await;
    let path = format!("/v1/api-keys/{}", made["id"].as_str().expect("an id"));
    api.delete(path).send().await.expect(204);
    assert!(stream.rest().await.iter().all(|block| block.data.is_empty()), "it ends without an event");
    let tenant = key_of(&server, &api).await.tenant;
    write(&server.app, &tenant, vec![task("later")]).await;
    assert_eq!(other.resources(1).await, ["later"], "the stream of another key goes on");
}

/// A server whose streams neither poll the log nor send keep-alives by themselves.
async fn quiet_server() -> TestServer {
    TestServer::builder()
        .config(|config| {
            config.event_streams.look_every = LIMIT * 60;
            config.event_streams.beat_every = LIMIT * 60;
        })
        .start()
        .await
}

/// Revokes a key as the command line does, which notifies no host.
async fn revoke_unseen(app: &App, key_id: String) {
    let now = app.now();
    let revoked: anyhow::Result<bool> = app
        .db
        .write(move |tx| {
            Box::pin(async move { key_revocations::revoke_any(tx, &key_id, KeyWebhooks::PassOn, now).await })
        })
        .await;
    assert!(revoked.expect("a write"));
}

/// A revocation by another process, or another host, is noticed without any notification or log entry.
#[tokio::test]
async fn a_stream_ends_with_its_key_though_nothing_happens() {
    let server = quiet_server().await;
    let (api, revoked) = (server.client().await, server.client().await);
    let mut streams = Vec::new();
    for _ in 0..2 {
        streams.push(Events::open(&server, &revoked, "", None).await);
    }
    let mut other = Events::open(&server, &api, "", None).await;
    let (key_id, beside) = (key_of(&server, &revoked).await.id, server.beside().await);
    revoke_unseen(beside.as_ref().map_or(&server.app, |host| &host.app), key_id).await;
    for stream in &mut streams {
        assert!(stream.rest().await.iter().all(|block| block.data.is_empty()), "it ends without an event");
    }
    // A host may believe for a second that a key works.
    server.clock.advance_ms(1_000);
    assert_eq!(answer(&server, &revoked, "", None).await.status(), 401, "and no other one is opened");
    let tenant = key_of(&server, &api).await.tenant;
    write(&server.app, &tenant, vec![task("later")]).await;
    assert_eq!(other.resources(1).await, ["later"], "the stream of another key goes on");
}

/// A stream ends with the secret that opened it: at once after a rotation without an overlap, else with the overlap. Streams of the new
/// secret go on.
#[tokio::test]
async fn a_stream_ends_with_its_secret() {
    let server = quiet_server().await;
    let api = server.client().await;
    let id = key_of(&server, &api).await.id;
    let rotated = async |by: &Actor, overlap_s: i64| {
        let body = json!({ "overlapSeconds": overlap_s });
        let new = by.post(format!("/v1/api-keys/{id}/rotate"), body).send().await.expect(200);
        let mut actor = server.anonymous();
        actor.key = new["key"].as_str().map(str::to_owned);
        actor
    };
    let mut of_first = Events::open(&server, &api, "", None).await;
    let second = rotated(&api, 60).await;
    // Within the overlap the secret before opens streams too.
    let mut of_overlap = Events::open(&server, &api, "", None).await;
    let mut of_second = Events::open(&server, &second, "", None).await;
    for stream in [&mut of_first, &mut of_overlap, &mut of_second] {
        stream.block().await.expect("the beginning");
    }
    server.clock.advance_ms(60_000);
    for stream in [&mut of_first, &mut of_overlap] {
        assert!(stream.rest().await.iter().all(|block| block.data.is_empty()), "it ends without an event");
    }
    let third = rotated(&second, 0).await;
    let mut of_third = Events::open(&server, &third, "", None).await;
    assert!(of_second.rest().await.iter().all(|block| block.data.is_empty()), "it ends at once");
    let tenant = key_of(&server, &third).await.tenant;
    write(&server.app, &tenant, vec![task("later")]).await;
    assert_eq!(of_third.resources(1).await, ["later"], "the stream of the present secret goes on");
}

/// An access token ends by itself, and with its key.
#[tokio::test]
async fn a_stream_ends_with_its_access_token() {
    let server = quiet_server().await;
    let api = server.client().await;
    for ends_by_itself in [true, false] {
        let body = json!({ "grant_type": "client_credentials", "scope": "events.read", "expires_in": 60 });
        let parent = server.client().await;
        let made = parent.post("/v1/oauth/token", body).send().await.expect(200);
        let mut reader = server.anonymous();
        reader.key = made["access_token"].as_str().map(str::to_owned);
        let mut stream = Events::open(&server, &reader, "", None).await;
        stream.block().await.expect("the beginning");
        match ends_by_itself {
            true => server.clock.advance_ms(60_000),
            false => revoke_unseen(&server.app, key_of(&server, &parent).await.id).await,
        }
        assert!(stream.rest().await.iter().all(|block| block.data.is_empty()));
    }
    let mut lasting = Events::open(&server, &api, "", None).await;
    assert!(lasting.block().await.is_some());
}

/// A host that is asked to end does not wait for streams: their clients continue at another host.
#[tokio::test]
async fn a_drain_ends_streams() {
    // Only the drain can end it.
    let server = TestServer::start().await;
    let api = server.client().await;
    let mut streams = Vec::new();
    for _ in 0..3 {
        let mut stream = Events::open(&server, &api, "", None).await;
        stream.block().await.expect("the beginning");
        streams.push(stream);
    }
    server.app.start_draining(tokio::time::Instant::now() + Duration::from_secs(10));
    let again = Block { retry: Some(1_000), ..Block::default() };
    for mut stream in streams {
        assert_eq!(stream.rest().await.last(), Some(&again));
    }
    // A stream that is opened during the drain is ended the same way, and clients reconnect by themselves.
    let rest = Events::open(&server, &api, "", None).await.rest().await;
    assert_eq!((rest.len(), rest.last()), (2, Some(&again)));
}

#[tokio::test]
async fn a_stream_ends_after_its_time() {
    let longest = Duration::from_millis(50);
    let server = TestServer::builder().config(|config| config.event_streams.longest = longest).start().await;
    let api = server.client().await;
    let rest = Events::open(&server, &api, "", None).await.rest().await;
    assert_eq!(rest.last(), Some(&Block { retry: Some(1_000), ..Block::default() }));
}

#[tokio::test]
async fn a_stream_that_makes_no_sense_is_refused() {
    let server = server().await;
    let api = server.client().await;
    for (query, status, code, param) in [
        ("?type=nothing", 400_u16, "invalid_parameter", json!("type")),
        ("?after_sequence=x", 400, "invalid_parameter", json!("after_sequence")),
        ("?after_sequence=1000000", 409, "sync_reset_required", Value::Null),
        ("?connection_id=conn_none", 404, "not_found", Value::Null),
        ("?type=task.*&type=email.*", 400, "invalid_parameter", json!("type")),
    ] {
        let answer = answer(&server, &api, query, None).await;
        assert_eq!(answer.status(), status, "{query}");
        let body: Value = serde_json::from_slice(&answer.bytes().await.expect("a body")).expect("JSON");
        assert_eq!((&body["error"]["code"], &body["error"]["param"]), (&json!(code), &param), "{query}");
    }
    assert_eq!(answer(&server, &api, "", Some(-1)).await.status(), 400);
    let weak = server.client_with(&["tasks.read"]).await;
    assert_eq!(answer(&server, &weak, "", None).await.status(), 403);
    let reader = server.client_with(&["events.read", "tasks.read"]).await;
    assert_eq!(answer(&server, &reader, "?type=email.*", None).await.status(), 403);
}
