//! A JMAP server that pushes changes by its event source (RFC 8620 section 7.3): new mail is listed without any request. The server is
//! the test's own, with one folder.

use std::sync::{Arc, Mutex, PoisonError};

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use harness::{Actor, TestServer, Watcher};
use serde_json::{Value, json};
use tokio::sync::broadcast;

use crate::email::mailbox::{text, until};

/// The server.
#[derive(Clone)]
struct Server {
    /// Whether its session is true to its word.
    has_events: bool,
    /// How many messages there are.
    messages: Arc<Mutex<usize>>,
    /// The events of its streams.
    events: broadcast::Sender<String>,
}

impl Server {
    /// Starts the server, and returns it with its URL.
    async fn start(has_events: bool) -> (Server, String) {
        let server = Server { has_events, messages: Arc::default(), events: broadcast::channel(16).0 };
        let answer = async |State(server): State<Server>, uri: Uri, headers: HeaderMap, body: Bytes| {
            assert!(headers.contains_key("authorization"), "{uri}");
            server.answer(&uri, &body)
        };
        let router = axum::Router::new().fallback(answer).with_state(server.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}/", listener.local_addr().expect("an address"));
        tokio::spawn(async move { axum::serve(listener, router).await.expect("the provider runs") });
        (server, url)
    }

    fn count(&self) -> usize {
        *self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A message comes, and the server says so.
    fn deliver(&self) {
        *self.messages.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        let change =
            json!({ "@type": "StateChange", "changed": { "a": { "Email": self.count().to_string() } } });
        self.events.send(format!("event: state\ndata: {change}\n\n")).expect("somebody listens");
    }

    fn answer(&self, uri: &Uri, body: &[u8]) -> Response {
        match uri.path() {
            "/.well-known/jmap" => session().to_string().into_response(),
            "/api" => self.run(&serde_json::from_slice(body).expect("a request")).to_string().into_response(),
            "/events" if self.has_events => {
                let told = self.events.subscribe();
                let stream = futures::stream::unfold(told, |mut told| async move {
                    let event = told.recv().await.ok()?;
                    Some((Ok::<_, std::io::Error>(event), told))
                });
                ([("content-type", "text/event-stream")], Body::from_stream(stream)).into_response()
            }
            "/events" => StatusCode::NO_CONTENT.into_response(),
            _ => StatusCode::NOT_FOUND.into_response(),
        }
    }

    /// Runs the methods of a request, which refer to earlier results.
    fn run(&self, request: &Value) -> Value {
        let (state, mut since) = (self.count(), self.count());
        let mut responses = Vec::new();
        for call in request["methodCalls"].as_array().expect("calls") {
            let (method, args) = (call[0].as_str().expect("a method"), &call[1]);
            if let Some(known) = args["sinceState"].as_str().filter(|_| method == "Email/changes") {
                since = known.parse().expect("a state of this server");
            }
            let ids = |from: usize| (from + 1..=state).rev().map(|n| format!("e{n}")).collect::<Vec<_>>();
            let answer = match (method, args["#ids"]["path"].as_str()) {
                ("Email/query", _) => json!({ "ids": ids(0), "queryState": "q" }),
                ("Email/changes", _) => json!({ "oldState": since.to_string(), "newState": state.to_string(),
                    "hasMoreChanges": false, "created": ids(since), "updated": [], "destroyed": [] }),
                ("Email/get", path) => {
                    let ids = match path {
                        Some("/ids") => ids(0),
                        Some("/created") => ids(since),
                        _ => Vec::new(),
                    };
                    let list: Vec<Value> = ids.iter().map(|id| message(id)).collect();
                    json!({ "state": state.to_string(), "list": list })
                }
                ("Mailbox/changes", _) => {
                    json!({ "oldState": "m", "newState": "m", "hasMoreChanges": false })
                }
                ("Mailbox/get", _) => {
                    let all =
                        if args["ids"].is_null() && args["#ids"].is_null() { vec![inbox()] } else { vec![] };
                    json!({ "state": "m", "list": all })
                }
                _ => json!({ "list": [] }),
            };
            responses.push(json!([method, answer, call[2]]));
        }
        json!({ "methodResponses": responses, "sessionState": "0" })
    }
}

fn session() -> Value {
    let mail = json!({ "urn:ietf:params:jmap:mail": {} });
    json!({
        "username": "ann@jmap.test", "apiUrl": "/api", "downloadUrl": "/download/{blobId}", "uploadUrl": "/upload",
        "eventSourceUrl": "/events?types={types}&closeafter={closeafter}&ping={ping}",
        "capabilities": { "urn:ietf:params:jmap:core": {}, "urn:ietf:params:jmap:mail": {} },
        "accounts": { "a": { "name": "Ann", "isPersonal": true, "isReadOnly": false, "accountCapabilities": mail } },
        "primaryAccounts": { "urn:ietf:params:jmap:mail": "a" }, "state": "0",
    })
}

fn inbox() -> Value {
    json!({ "id": "inbox", "name": "Inbox", "parentId": null, "role": "inbox", "sortOrder": 1, "isSubscribed": true,
        "totalEmails": 0, "unreadEmails": 0, "totalThreads": 0, "unreadThreads": 0,
        "myRights": { "mayReadItems": true, "mayAddItems": true, "mayRemoveItems": true, "mayCreateChild": true,
            "mayDelete": false, "maySubmit": true, "maySetSeen": true, "maySetKeywords": true, "mayRename": false } })
}

fn message(id: &str) -> Value {
    let ann = json!([{ "name": "Ann", "email": "ann@jmap.test" }]);
    json!({ "id": id, "blobId": id, "threadId": id, "mailboxIds": { "inbox": true }, "keywords": {}, "size": 100,
        "receivedAt": "2026-03-01T09:00:00Z", "sentAt": "2026-03-01T09:00:00Z", "messageId": [format!("{id}@jmap.test")],
        "from": ann, "to": ann, "subject": "Pushed", "hasAttachment": false, "preview": "" })
}

/// A mailbox at such a server that is followed and was read.
struct World {
    service: TestServer,
    api: Actor,
    connection: String,
    server: Server,
}

impl World {
    async fn open(has_events: bool) -> World {
        let (server, url) = Server::start(has_events).await;
        let loopback = vec!["127.0.0.0/8".parse().expect("a network")];
        let service = TestServer::builder().config(|config| config.egress_allow = loopback).start().await;
        let api = service.client().await;
        let account = json!({ "provider": "jmap", "settings": { "serverUrl": url }, "scopes": ["email.read"],
            "credentials": { "username": "ann@jmap.test", "password": "secret" } });
        let connection = text(&api.connect(account).await["id"]);
        let start = json!({ "connectionId": connection });
        api.post("/v1/email/sync/start", start).send().await.expect(202);
        let world = World { service, api, connection, server };
        world.status_with("the first reading ends", |status| status["status"] == "caught_up").await;
        world
    }

    async fn status(&self) -> Value {
        self.api.get(format!("/v1/email/sync/status/{}", self.connection)).send().await.expect(200)
    }

    async fn status_with(&self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        until(what, async || Some(self.status().await).filter(|status| wanted(status))).await
    }

    /// Whether the account has push, as its capabilities say.
    async fn has_push(&self) -> Value {
        let path = format!("/v1/connections/{}/capabilities", self.connection);
        self.api.get(path).send().await.expect(200)["features"]["push"].clone()
    }
}

/// No client asks, and no time passes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_jmap_server_tells_of_new_mail() {
    let world = World::open(true).await;
    let before = world.status().await;
    assert_eq!(before["watch"]["status"], "expired", "{before:#}");
    let _watcher = Watcher::start(&world.service.app);
    world.status_with("the stream is open", |status| status["watch"]["status"] == "active").await;
    world.server.deliver();
    world
        .status_with("the message is read", |status| {
            status["latestSequence"].as_i64() > before["latestSequence"].as_i64()
                && status["watch"]["lastNotificationAt"] != Value::Null
        })
        .await;
    let path = format!("/v1/email/messages?connection_id={}&subject=Pushed", world.connection);
    assert_eq!(world.api.get(path).send().await.expect(200)["data"].as_array().map(Vec::len), Some(1));
    assert_eq!(world.has_push().await, json!(true));
}

/// Every session names an event source; its absence shows when a client connects. Then the mailbox is polled, and the service says so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_jmap_server_without_events_is_polled() {
    let world = World::open(false).await;
    assert_eq!(world.has_push().await, json!(true), "as the server has it");
    let _watcher = Watcher::start(&world.service.app);
    world.status_with("it was tried", |status| status["watch"]["status"] == "unsupported").await;
    assert_eq!(world.has_push().await, json!(false));
}
