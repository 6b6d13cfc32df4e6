//! The API as tools see it: requests of the caller's own key, and their answers.

use std::fmt::Write;

use bytes::Bytes;
use http::Method;
use serde_json::Value;

/// A request to an operation of the API.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: Method,
    /// The path, percent-encoded: `/v1/calendars/cal_x/events`.
    pub path: String,
    /// The query's names and values, not encoded.
    pub query: Vec<(String, String)>,
    pub body: Option<Value>,
    /// The `Idempotency-Key` header. Writes without one are not repeatable.
    pub idempotency_key: Option<String>,
    /// The `If-Match` header.
    pub if_match: Option<String>,
    /// Whether unknown fields and parameters, and those that the provider cannot honour, are errors: `Prefer: handling=strict`.
    pub strict: bool,
}

impl Request {
    fn new(method: Method, path: String, body: Option<Value>) -> Self {
        Request {
            method,
            path,
            query: Vec::new(),
            body,
            idempotency_key: None,
            if_match: None,
            strict: false,
        }
    }

    /// Returns a GET of this path.
    pub fn get(path: impl Into<String>) -> Self {
        Request::new(Method::GET, path.into(), None)
    }

    /// Returns a POST of this body.
    pub fn post(path: impl Into<String>, body: Value) -> Self {
        Request::new(Method::POST, path.into(), Some(body))
    }

    /// Returns a PATCH of this body, a merge patch.
    pub fn patch(path: impl Into<String>, body: Value) -> Self {
        Request::new(Method::PATCH, path.into(), Some(body))
    }

    /// Returns a DELETE of this path.
    pub fn delete(path: impl Into<String>) -> Self {
        Request::new(Method::DELETE, path.into(), None)
    }

    /// Adds a parameter to the query.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl ToString) -> Self {
        self.query.push((name.to_owned(), value.to_string()));
        self
    }

    /// Adds a parameter to the query if it has a value.
    #[must_use]
    pub fn with_some(self, name: &str, value: Option<impl ToString>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// Sets the idempotency key.
    #[must_use]
    pub fn idempotent(mut self, key: impl Into<String>) -> Self {
        self.idempotency_key = Some(key.into());
        self
    }

    /// Sets the version that a change is for.
    #[must_use]
    pub fn if_match(mut self, etag: impl Into<String>) -> Self {
        self.if_match = Some(etag.into());
        self
    }

    /// Makes unknown fields, and those that the provider cannot honour, errors.
    #[must_use]
    pub fn strict(mut self) -> Self {
        self.strict = true;
        self
    }

    /// The path with its query, as the request line has it.
    pub fn target(&self) -> String {
        let mut target = self.path.clone();
        for (at, (name, value)) in self.query.iter().enumerate() {
            target.push(if at == 0 { '?' } else { '&' });
            target.push_str(&segment(name));
            target.push('=');
            target.push_str(&segment(value));
        }
        target
    }
}

/// Percent-encodes one segment of a path, or one value of a query.
pub fn segment(id: &str) -> String {
    let mut encoded = String::with_capacity(id.len());
    for byte in id.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'~' => encoded.push(char::from(byte)),
            // A dot within a name is common and harmless, but `.` and `..` alone are steps of a path.
            b'.' if !id.bytes().all(|byte| byte == b'.') => encoded.push('.'),
            // Writing to a string cannot fail.
            _ => _ = write!(encoded, "%{byte:02X}"),
        }
    }
    encoded
}

/// The answer to a request.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub etag: Option<String>,
    pub request_id: String,
    /// The remedy of the error's code as the documentation has it; none if the request succeeded.
    pub remedy: Option<String>,
    pub body: Content,
}

impl Answer {
    /// Whether the request succeeded.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// The body of an answer.
#[derive(Clone, Debug)]
pub enum Content {
    Json(Value),
    Bytes { media_type: String, bytes: Bytes },
    Empty,
}

/// A tool call that has ended, for the log.
#[derive(Clone, Copy, Debug)]
pub struct CallRecord<'a> {
    pub tool: &'a str,
    /// `ok`, `asked`, or the code of the error.
    pub outcome: &'a str,
    /// The size of the result in bytes.
    pub bytes: usize,
    /// The client's name and version as it states them; empty if it does not.
    pub client: &'a str,
}

/// The API in the caller's name. An implementation is made for one request to the MCP server.
pub trait Api: Send + Sync + 'static {
    /// Sends a request with the caller's key, as if the caller had sent it.
    fn call(&self, request: Request) -> impl Future<Output = Answer> + Send;

    /// Takes one of the sends and invitations that the key has in an hour, over all hosts. False when `limit` of them are used up. An act
    /// that took one before takes no other: `act` is its idempotency key.
    fn take_send(&self, act: &str, limit: u32) -> impl Future<Output = bool> + Send;

    /// Seals a text for 10 minutes, so that a client can carry it but neither read nor change it.
    fn seal(&self, text: &str) -> String;

    /// Opens a sealed text. None if it was changed, comes from elsewhere or is too old.
    fn open(&self, sealed: &str) -> Option<String>;

    /// The time in Unix ms.
    fn now(&self) -> i64;

    /// The id of the caller's key.
    fn key_id(&self) -> &str;

    /// The scopes of the caller's key.
    fn scopes(&self) -> &[String];

    /// Records a tool call that has ended.
    fn record(&self, _call: &CallRecord<'_>) {}
}

#[cfg(test)]
mod tests {
    use super::{Request, segment};

    #[test]
    fn a_segment_cannot_leave_its_place() {
        assert_eq!(segment("msg_1"), "msg_1");
        assert_eq!(segment("a.b"), "a.b");
        assert_eq!(segment(".."), "%2E%2E");
        assert_eq!(segment("../x?y#z"), "..%2Fx%3Fy%23z");
        assert_eq!(segment("ä 1"), "%C3%A4%201");
    }

    #[test]
    fn the_target_has_the_encoded_query() {
        let request = Request::get("/v1/email/messages").with("q", "a&b").with_some("limit", None::<u32>);
        assert_eq!(request.with("limit", 5).target(), "/v1/email/messages?q=a%26b&limit=5");
    }
}
