//! Notifications of changes, by example: the provider posts to an address of this machine.

use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::http::HeaderMap;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::sandbox_provider::{Api, NOW_MS, WORK, lunch};

const WATCHES: &str = "/sandbox/v1/watches";

/// A receiver of notifications.
struct Receiver {
    listener: TcpListener,
    address: String,
}

impl Receiver {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/notifications", listener.local_addr().unwrap());
        Receiver { listener, address }
    }

    /// Takes the next notification: the values of its headers `x-sandbox-…`, by name.
    async fn next(&self) -> HeaderMap {
        let (mut stream, _) = self.listener.accept().await.unwrap();
        let mut text = String::new();
        while !text.ends_with("\r\n\r\n") {
            let mut bytes = [0; 1_024];
            let read = stream.read(&mut bytes).await.unwrap();
            assert!(read > 0, "{text}");
            text.push_str(std::str::from_utf8(&bytes[..read]).unwrap());
        }
        stream.write_all(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n").await.unwrap();
        assert!(text.starts_with("POST /notifications HTTP/1.1\r\n"), "{text}");
        let fields = text.lines().filter_map(|line| line.split_once(": "));
        let own = fields.filter(|(name, _)| name.starts_with("x-sandbox-"));
        own.map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    /// Takes the next notification, which is of this watch and says this.
    async fn expect(&self, watch: &str, state: &str) -> HeaderMap {
        let next = self.next().await;
        assert!(next["x-sandbox-channel"] == watch && next["x-sandbox-state"] == state, "{next:?}");
        next
    }

    async fn expect_none(&self) {
        let more = tokio::time::timeout(Duration::from_millis(100), self.listener.accept()).await;
        assert!(more.is_err(), "a notification that nobody expects");
    }
}

fn watch(id: &str, path: &str, receiver: &Receiver) -> Value {
    json!({ "id": id, "path": path, "address": receiver.address, "secret": "s3cret", "until": "2026-03-12T07:00:00Z" })
}

fn titled(id: &str) -> Value {
    let mut event = lunch();
    event["id"] = json!(id);
    event
}

/// The first notification says that the watch has begun, the others that something has changed. None says what.
#[tokio::test]
async fn a_change_is_told_to_those_who_watch() {
    let (api, receiver) = (Api::start(), Receiver::start().await);
    let made = api.post(WATCHES, watch("wat_1", "calendars/work/events", &receiver)).await.expect(201);
    assert_eq!(
        made,
        json!({
            "id": "wat_1",
            "path": "calendars/work/events",
            "address": receiver.address,
            "until": "2026-03-12T07:00:00.000Z",
        })
    );
    let first = receiver.expect("wat_1", "sync").await;
    assert_eq!(first["x-sandbox-token"], "s3cret");
    assert_eq!(first["x-sandbox-resource"], "calendars/work/events");
    assert_eq!(api.get(WATCHES).await.expect(200)["watches"], json!([made]));

    api.post(WORK, lunch()).await.expect(201);
    receiver.expect("wat_1", "exists").await;
    api.delete(&format!("{WORK}/lunch")).await.expect(204);
    receiver.expect("wat_1", "exists").await;

    // Another calendar, another account, and refusals.
    api.post("/sandbox/v1/calendars/personal/events", lunch()).await.expect(201);
    api.as_person("dora").post(WORK, lunch()).await.expect(201);
    let mut refused = titled("refused");
    refused["title"] = json!("[sandbox:forbidden]");
    api.post(WORK, refused).await.refused(403, "forbidden");
    receiver.expect_none().await;

    api.delete(&format!("{WATCHES}/wat_1?path=mail")).await.refused(404, "notFound");
    api.delete(&format!("{WATCHES}/wat_1?path=calendars%2Fwork%2Fevents")).await.expect(204);
    api.delete(&format!("{WATCHES}/wat_1")).await.refused(404, "notFound");
    api.post(WORK, titled("dinner")).await.expect(201);
    receiver.expect_none().await;
}

/// Mail, contacts, tasks, and the folders themselves are watched in the same way.
#[tokio::test]
async fn everything_that_lists_changes_can_be_watched() {
    let (api, receiver) = (Api::start(), Receiver::start().await);
    let paths = ["books/contacts/cards", "books", "lists", "mail", "calendars"];
    for path in paths {
        let id = path.replace('/', "-");
        api.post(WATCHES, watch(&id, path, &receiver)).await.expect(201);
        receiver.expect(&id, "sync").await;
    }
    api.post("/sandbox/v1/books", json!({ "id": "club", "name": "Club" })).await.expect(201);
    receiver.expect("books", "exists").await;
    api.post("/sandbox/v1/mail/labels", json!({ "id": "urgent", "name": "Urgent" })).await.expect(201);
    receiver.expect("mail", "exists").await;
    api.post("/sandbox/v1/lists", json!({ "id": "chores", "name": "Chores" })).await.expect(201);
    receiver.expect("lists", "exists").await;
    api.post(WATCHES, watch("chores", "lists/chores/todos", &receiver)).await.expect(201);
    receiver.expect("chores", "sync").await;
    api.post("/sandbox/v1/lists/chores/todos", json!({ "title": "Sweep" })).await.expect(201);
    receiver.expect("chores", "exists").await;
    api.delete("/sandbox/v1/lists/chores").await.expect(204);
    let mut last = [receiver.next().await, receiver.next().await].map(|told| {
        let text = |name: &str| told[name].to_str().unwrap().to_owned();
        (text("x-sandbox-channel"), text("x-sandbox-state"))
    });
    last.sort();
    let told = |watch: &str, state: &str| (watch.to_owned(), state.to_owned());
    assert_eq!(last, [told("chores", "not_exists"), told("lists", "exists")]);
}

/// A watch ends by itself, unless it is prolonged; seven days are the most.
#[tokio::test]
async fn a_watch_is_prolonged_or_ends() {
    let (api, receiver) = (Api::start(), Receiver::start().await);
    for id in ["short", "long"] {
        api.post(WATCHES, watch(id, "calendars/work/events", &receiver)).await.expect(201);
        receiver.expect(id, "sync").await;
    }
    let renew = format!("{WATCHES}/long/renew");
    let renewed = api.post(&renew, json!({ "until": "2027-01-01T00:00:00Z" })).await.expect(200);
    assert_eq!(renewed["until"], "2026-03-17T07:00:00.000Z");
    api.post(&renew, json!({ "until": "2026-03-10T07:00:00Z" })).await.refused(422, "invalidField");
    api.post(&renew, json!({ "address": "https://example.com/" })).await.refused(422, "invalidField");

    // Two days and an hour later.
    api.now_ms.store(NOW_MS + 49 * 3_600_000, Ordering::Relaxed);
    api.post(WORK, lunch()).await.expect(201);
    receiver.expect("long", "exists").await;
    receiver.expect_none().await;
    api.post(&format!("{WATCHES}/short/renew"), json!({})).await.refused(404, "notFound");
    let left = api.get(WATCHES).await.expect(200);
    assert_eq!(left["watches"].as_array().unwrap().len(), 1);
    // Its id is free again.
    let again = json!({ "id": "short", "path": "mail", "address": receiver.address, "secret": "other" });
    let made = api.post(WATCHES, again).await.expect(201);
    assert_eq!(made["until"], "2026-03-13T08:00:00.000Z");
}

/// A repeated request changes nothing; the same id for another watch is refused, and so are addresses that cannot be posted to.
#[tokio::test]
async fn what_cannot_be_watched_is_refused() {
    let (api, receiver) = (Api::start(), Receiver::start().await);
    let good = watch("wat_1", "mail", &receiver);
    api.post(WATCHES, good.clone()).await.expect(201);
    receiver.expect("wat_1", "sync").await;
    api.post(WATCHES, good.clone()).await.expect(200);
    receiver.expect_none().await;
    let with = |field: &str, value: Value| {
        let mut body = good.clone();
        body[field] = value;
        body
    };
    api.post(WATCHES, with("secret", json!("another"))).await.refused(409, "exists");
    for (field, value) in [
        ("id", json!("")),
        ("id", json!("a b")),
        ("secret", json!("a\r\nx: y")),
        ("path", json!("busy")),
        ("address", json!("https://example.com/")),
        ("address", json!("http://10.0.0.1/")),
        ("until", json!("tomorrow")),
        ("until", json!("2026-03-10T07:00:00Z")),
        ("colour", json!("red")),
    ] {
        let answer = api.post(WATCHES, with(field, value.clone())).await;
        assert!(
            answer.body["error"]["message"].as_str().unwrap().contains(field),
            "{field} {value}: {answer:?}"
        );
        answer.refused(422, "invalidField");
    }
    let nowhere = with("path", json!("calendars/nowhere/events"));
    api.post(WATCHES, with("id", json!("wat_2"))).await.expect(201);
    receiver.expect("wat_2", "sync").await;
    api.post(WATCHES, nowhere).await.refused(404, "notFound");
}

/// `pushLost`, `pushTwice` and `pushLateMs` apply to notifications only, one after the other.
#[tokio::test]
async fn notifications_go_wrong_on_demand() {
    let (api, receiver) = (Api::start(), Receiver::start().await);
    api.post(WATCHES, watch("wat_1", "calendars/work/events", &receiver)).await.expect(201);
    receiver.expect("wat_1", "sync").await;
    for fault in [
        json!({ "pushLost": true, "pathPrefix": WORK }),
        json!({ "pushTwice": true, "pathPrefix": WORK }),
        json!({ "pushLateMs": 10 }),
    ] {
        api.post("/sandbox/faults", fault).await.expect(201);
    }
    api.post(WORK, titled("lost")).await.expect(201);
    receiver.expect_none().await;
    api.post(WORK, titled("twice")).await.expect(201);
    receiver.expect("wat_1", "exists").await;
    receiver.expect("wat_1", "exists").await;
    api.post(WORK, titled("late")).await.expect(201);
    receiver.expect("wat_1", "exists").await;
    receiver.expect_none().await;
    assert_eq!(api.get("/sandbox/faults").await.expect(200)["faults"], json!([]));
    for bad in [json!({ "pushLost": true, "pushTwice": true }), json!({ "pushTwice": true, "status": 500 })] {
        api.post("/sandbox/faults", bad).await.refused(422, "invalidField");
    }
}

/// Watches outlive the process, and a reset of the account.
#[tokio::test]
async fn watches_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let receiver = Receiver::start().await;
    let api = Api::open(Some(dir.path()));
    api.post(WATCHES, watch("wat_1", "calendars/work/events", &receiver)).await.expect(201);
    receiver.expect("wat_1", "sync").await;
    drop(api);
    let api = Api::open(Some(dir.path()));
    api.post(WORK, lunch()).await.expect(201);
    receiver.expect("wat_1", "exists").await;
    api.post("/sandbox/reset", json!({})).await.expect(204);
    receiver.expect("wat_1", "exists").await;
}
