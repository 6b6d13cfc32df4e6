//! `Context`: the data and the functions of the host that one call may use.

use std::cell::RefCell;

use model::wire::Connection;
use serde::Serialize;
use serde_json::Value;

use crate::error::{Failure, Outcome};
use crate::http::{Http, Request, Response};
use crate::tcp::{Line, TcpError};

/// The name in `extra` of the response for [`Context::note_wait`].
const WAIT_MS: &str = "wait-ms";
const BUCKET: &str = "bucket";

/// The level of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// A fault of the connector that made the call fail; its author has to act.
    Error,
    /// An unexpected condition that the connector handled.
    Warn,
    /// A normal event.
    Info,
    /// A detail for debugging.
    Debug,
}

impl Level {
    /// The name of the level in `wit/host.wit`.
    pub fn as_str(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warn => "warn",
            Level::Info => "info",
            Level::Debug => "debug",
        }
    }
}

/// The functions of the host: the component's imports in the sandbox, recorded answers in a test.
pub trait Host: Http {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    fn now_ms(&self) -> i64;

    /// Random bytes, at most 65,536.
    fn random_bytes(&self, len: u32) -> Vec<u8>;

    /// Writes a log line for the connector's author. Never log a token, an address or a body.
    fn log(&self, level: Level, message: &str, fields: &[(&str, String)]);

    /// At most `len` bytes of a blob of this call; none when there is no such blob.
    fn read_blob(&self, id: &str, offset: u64, len: u32) -> Option<Vec<u8>> {
        let _ = (id, offset, len);
        None
    }

    /// Stores a new blob and returns its id; none if the call's blob budget is used up.
    fn create_blob(&self, content: &[u8], content_type: Option<&str>) -> Option<String> {
        let _ = (content, content_type);
        None
    }

    /// Size in bytes of a blob of this call.
    fn blob_size(&self, id: &str) -> Option<u64> {
        let _ = id;
        None
    }

    /// Opens an authenticated connection to the server under this name in the settings. `protocol` as in `wit/tcp.wit`.
    fn open_line(&self, server: &str, protocol: &str) -> Result<Box<dyn Line>, TcpError> {
        let _ = (server, protocol);
        Err(TcpError::new("unavailable", "this host opens no connections to servers"))
    }

    /// Reports the progress of the call; returns once the host has stored it durably (`wit/tcp.wit`, `progress`).
    fn reached(&self, step: &str) {
        let _ = step;
    }
}

/// The context of one call: its connection, its cursor, and the functions of the host.
///
/// ```
/// use connector_sdk::http::Request;
/// use connector_sdk::{Context, Failure, Outcome};
///
/// fn calendar_names(context: &Context) -> Outcome<Vec<String>> {
///     let server = context.setting("serverUrl").ok_or_else(|| Failure::invalid("the server's address is missing"))?;
///     context.send_ok(Request::get(format!("{server}/calendars")), "listing calendars")?.json()
/// }
/// ```
pub struct Context<'a> {
    /// The host's data about the connection: its settings and the addresses that are "self".
    pub connection: Connection,
    /// A cursor that this connector returned earlier for the same operation.
    pub cursor: Option<String>,
    /// The key of a change, equal for repeated attempts; none for reads.
    pub idempotency_key: Option<String>,
    /// The time limit of the call, in milliseconds of wall-clock time from its start.
    pub deadline_ms: u32,
    /// The pairs in `extra` of the request.
    pub(crate) extra: Vec<(String, String)>,
    /// The pairs in `extra` of the response.
    response_extra: RefCell<Vec<(String, String)>>,
    host: &'a dyn Host,
}

impl<'a> Context<'a> {
    /// A context for a direct call of a surface's method, as tests make it.
    pub fn new(host: &'a dyn Host, connection: Connection) -> Self {
        Context {
            connection,
            cursor: None,
            idempotency_key: None,
            deadline_ms: 30_000,
            extra: Vec::new(),
            response_extra: RefCell::default(),
            host,
        }
    }

    /// Sets the cursor of the call.
    pub fn at(mut self, cursor: Option<String>) -> Self {
        self.cursor = cursor;
        self
    }

    /// Sets the idempotency key of the call.
    pub fn keyed(mut self, key: &str) -> Self {
        self.idempotency_key = Some(key.into());
        self
    }

    /// Adds a pair to `extra` of the request.
    pub fn with_extra(mut self, name: &str, value: &str) -> Self {
        self.extra.push((name.into(), value.into()));
        self
    }

    /// The value that the host gave under this name in `extra` of the request (`wit/types.wit`), the first one if there are several.
    /// An older host may not know the name.
    pub fn request_extra(&self, name: &str) -> Option<&str> {
        self.extra.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    /// Adds a pair to `extra` of the response. The host ignores unknown names, and accepts at most 32 pairs with 4 KiB in total; more is an
    /// error of the connector. A failure has no `extra`.
    pub fn add_response_extra(&self, name: &str, value: impl Into<String>) {
        self.response_extra.borrow_mut().push((name.into(), value.into()));
    }

    /// The pairs that were added to the response so far.
    pub fn response_extra(&self) -> Vec<(String, String)> {
        self.response_extra.borrow().clone()
    }

    /// The number of this attempt at a change: 1 on the first attempt, 2 or more when an earlier attempt under the same idempotency key
    /// may have reached the provider. A connector whose provider has no idempotency keys looks for the result of that attempt only then.
    /// Always 1 for reads, for the operations of `watch`, and with a host that does not count.
    pub fn attempt(&self) -> u32 {
        let attempt = self.request_extra("attempt").and_then(|value| value.parse::<u32>().ok());
        attempt.unwrap_or(1).max(1)
    }

    /// The time of the first attempt at this change, Unix milliseconds by the host's clock: no earlier attempt
    /// created a record that is older at the provider. The provider's clock may show a little less. None for reads, for the operations of
    /// `watch`, where the host does not know it, such as for messages to send, and with a host of an earlier version.
    pub fn first_attempt_ms(&self) -> Option<i64> {
        self.request_extra("first-attempt-ms")?.parse().ok()
    }

    /// Notes that the provider asks for a wait of this many milliseconds although this call succeeds, such as for parts of a batch that
    /// were refused inside a 200. The host makes no call that uses the bucket before the wait is over, at most an hour. `bucket`: one of
    /// `[limits]` in the manifest; none: the whole account. The longest of several waits is kept. A failure has a wait of its own,
    /// [`Failure::retry_after_ms`].
    pub fn note_wait(&self, ms: u32, bucket: Option<&str>) {
        let mut extra = self.response_extra.borrow_mut();
        let noted = extra.iter().find(|(name, _)| name == WAIT_MS).and_then(|(_, ms)| ms.parse::<u32>().ok());
        if noted.is_some_and(|noted| noted >= ms) {
            return;
        }
        extra.retain(|(name, _)| name != WAIT_MS && name != BUCKET);
        extra.push((WAIT_MS.into(), ms.to_string()));
        extra.extend(bucket.map(|bucket| (BUCKET.into(), bucket.into())));
    }

    /// Sends one request. Fails if there is no answer, but not for an error status.
    pub fn send(&self, request: Request) -> Outcome<Response> {
        self.host.send(request).map_err(Failure::from)
    }

    /// Sends several requests, at most `max_concurrent` at a time. Returns the results in the order of the requests.
    pub fn send_many(&self, requests: Vec<Request>, max_concurrent: u8) -> Vec<Outcome<Response>> {
        self.host.send_many(requests, max_concurrent).into_iter().map(|r| r.map_err(Failure::from)).collect()
    }

    /// Sends one request and fails for any status but 2xx. `doing` completes "the provider rejected ...".
    pub fn send_ok(&self, request: Request, doing: &str) -> Outcome<Response> {
        let response = self.send(request)?;
        if response.is_success() { Ok(response) } else { Err(self.failure(&response, doing)) }
    }

    /// Returns the failure for a response with an error status, see [`Failure::from_response`].
    pub fn failure(&self, response: &Response, doing: &str) -> Failure {
        Failure::from_response(response, doing, self.now_ms())
    }

    /// The time by the host's clock, in milliseconds since 1970-01-01T00:00:00Z.
    pub fn now_ms(&self) -> i64 {
        self.host.now_ms()
    }

    /// Random bytes from the host, at most 65,536.
    pub fn random_bytes(&self, len: u32) -> Vec<u8> {
        self.host.random_bytes(len)
    }

    /// Opens a connection to the server under this name in the settings, see [`Host::open_line`].
    pub fn open_line(&self, server: &str, protocol: &str) -> Outcome<Box<dyn Line>> {
        self.host.open_line(server, protocol).map_err(Failure::from)
    }

    /// Reports the progress of the call, see [`Host::reached`].
    pub fn reached(&self, step: &str) {
        self.host.reached(step);
    }

    /// The host, for functions that the context does not wrap.
    pub fn host(&self) -> &'a dyn Host {
        self.host
    }

    /// Writes a log line for the connector's author. Never log a token, an address or a body.
    pub fn log(&self, level: Level, message: &str, fields: &[(&str, String)]) {
        self.host.log(level, message, fields);
    }

    /// Whether the host has accepted this origin (`https://host[:port]`) for the account, after a `check` that returned it in
    /// `discoveredOrigins`. Requests to an accepted origin are sent with the connection's credentials.
    pub fn is_accepted(&self, origin: &str) -> bool {
        let origins = self.connection.settings.get("discoveredOrigins").and_then(Value::as_array);
        origins.into_iter().flatten().any(|accepted| accepted == origin)
    }

    /// The setting of this name, if it is a non-empty string.
    pub fn setting(&self, name: &str) -> Option<&str> {
        self.connection.settings.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
    }
}

/// A page of an answer.
///
/// ```
/// use connector_sdk::rest::cursor;
/// use connector_sdk::{Answer, Context, Outcome};
///
/// /// Three pages of numbers; the cursor is the number of the next page.
/// fn numbers(context: &Context) -> Outcome<Answer<Vec<u32>>> {
///     let page: u32 = context.cursor.as_deref().map_or(Ok(0), |text| cursor::read("v1", text))?;
///     let next = cursor::write("v1", &(page + 1))?;
///     Ok(Answer { body: vec![page], cursor: Some(next), more: page < 2 })
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Answer<T> {
    /// The operation's answer, serialized as JSON.
    pub body: T,
    /// The position of the next page, or of the next change.
    pub cursor: Option<String>,
    /// Whether there are more pages: the host calls again with `cursor` at once. False if caught up.
    pub more: bool,
}

impl<T: Serialize> Answer<T> {
    /// Returns an answer that is complete in one page.
    pub fn whole(body: T) -> Self {
        Answer { body, cursor: None, more: false }
    }
}
