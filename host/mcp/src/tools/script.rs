//! An API for unit tests of tools: it answers as a script says, and keeps the requests.

use std::sync::Mutex;

use serde_json::Value;

use crate::api::{Answer, Api, Content, Request};
use crate::policy::{Policy, SendPolicy};
use crate::tool::Context;
use crate::untrusted::Fence;

/// An answer of the script: to requests with this method and path.
#[derive(Debug)]
struct ScriptedAnswer {
    method: &'static str,
    path: String,
    status: u16,
    body: Value,
}

/// Answers in the order in which they were added; the last one for a method and path stays.
#[derive(Debug, Default)]
pub struct Script {
    answers: Mutex<Vec<ScriptedAnswer>>,
    requests: Mutex<Vec<Request>>,
    now: i64,
    scopes: Vec<String>,
}

impl Script {
    pub fn new() -> Self {
        Script::default()
    }

    /// Adds an answer. The path is without the query.
    pub fn on(self, method: &'static str, path: &str, status: u16, body: Value) -> Self {
        let answer = ScriptedAnswer { method, path: path.to_owned(), status, body };
        self.answers.lock().unwrap().push(answer);
        self
    }

    /// Sets the time.
    pub fn at(mut self, now: i64) -> Self {
        self.now = now;
        self
    }

    /// The requests so far, such as `GET /v1/calendars?limit=200`.
    pub fn lines(&self) -> Vec<String> {
        let requests = self.requests.lock().unwrap();
        requests.iter().map(|request| format!("{} {}", request.method, request.target())).collect()
    }

    /// The last request.
    pub fn last(&self) -> Request {
        self.requests.lock().unwrap().last().cloned().expect("a request was sent")
    }
}

impl Api for Script {
    async fn call(&self, request: Request) -> Answer {
        let mut answers = self.answers.lock().unwrap();
        let fits =
            |answer: &ScriptedAnswer| answer.method == request.method.as_str() && answer.path == request.path;
        let at = answers.iter().position(fits).unwrap_or_else(|| panic!("no answer to {request:?}"));
        let is_last = answers.iter().filter(|answer| fits(answer)).count() == 1;
        let (status, body) = (answers[at].status, answers[at].body.clone());
        if !is_last {
            answers.remove(at);
        }
        self.requests.lock().unwrap().push(request);
        let body = if body.is_null() { Content::Empty } else { Content::Json(body) };
        Answer { status, etag: None, request_id: "req_1".into(), remedy: None, body }
    }

    async fn take_send(&self, _act: &str, _limit: u32) -> bool {
        true
    }

    fn seal(&self, text: &str) -> String {
        format!("sealed {text}")
    }

    fn open(&self, sealed: &str) -> Option<String> {
        sealed.strip_prefix("sealed ").map(str::to_owned)
    }

    fn now(&self) -> i64 {
        self.now
    }

    fn key_id(&self) -> &str {
        "key_1"
    }

    fn scopes(&self) -> &[String] {
        &self.scopes
    }
}

/// A policy that lets a tool write, and send nothing but plain answers to invitations.
pub fn quiet_policy() -> Policy {
    Policy { writes: true, send: SendPolicy::Drafts, per_hour: 20, ..Policy::default() }
}

/// The circumstances of a call with this policy, of a client that can ask nobody.
pub fn context<'a>(api: &'a Script, policy: &'a Policy) -> Context<'a, Script> {
    Context { api, policy, asked: None, can_ask: false, fence: Fence::new() }
}
