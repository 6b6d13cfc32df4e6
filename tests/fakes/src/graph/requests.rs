//! The requests that the fake Graph got.

use bytes::Bytes;
use serde_json::{Value, json};

use crate::door::{self, Ask};
use crate::graph::call::is_json;
use crate::graph::{batch, is_api};
use crate::journal::RecordedRequest;

/// A request that the fake Graph got; the token is left out.
#[derive(Clone, Debug)]
pub struct GraphRequest {
    pub method: String,
    /// Percent-decoded.
    pub path: String,
    pub query: Vec<(String, String)>,
    pub headers: Vec<(String, String)>,
    /// The body of a call, where it is JSON.
    pub body: Option<Value>,
    /// The body of a call as it came.
    pub content: Bytes,
    /// The requests that a batch has in it.
    pub parts: Vec<GraphRequest>,
    /// The number of the request's round trip among those of its account; 0 without an account, and in parts.
    pub round_trip: u64,
    /// The host of upload sessions got it.
    pub is_upload: bool,
}

impl GraphRequest {
    pub(crate) fn new(ask: &Ask, is_upload: bool) -> GraphRequest {
        let headers = ask.headers.iter().filter(|(name, _)| *name != http::header::AUTHORIZATION);
        let headers = headers.map(|(name, value)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        });
        // Forms have secrets in them.
        let is_shown = is_upload || is_api(&ask.path);
        let is_json = is_shown && is_json(&ask.headers);
        let parts = match batch::is_batch(&ask.path) {
            true => batch::read(ask).unwrap_or_default(),
            false => Vec::new(),
        };
        GraphRequest {
            method: ask.method.clone(),
            path: ask.path.clone(),
            query: ask.query.clone(),
            headers: headers.collect(),
            body: is_json.then(|| serde_json::from_slice(&ask.body).ok()).flatten(),
            content: if is_shown { ask.body.clone() } else { Bytes::new() },
            parts: parts.iter().map(|part| GraphRequest::new(&part.ask, false)).collect(),
            round_trip: 0,
            is_upload,
        }
    }

    /// A parameter of the query.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        door::first_named(&self.query, name)
    }

    /// A header.
    pub fn header(&self, name: &str) -> Option<&str> {
        door::first_named(&self.headers, name)
    }
}

impl RecordedRequest for GraphRequest {
    fn to_value(&self) -> Value {
        json!({
            "method": self.method,
            "path": self.path,
            "query": self.query,
            "contentType": self.header("content-type"),
            "prefer": self.header("prefer"),
            "content": String::from_utf8_lossy(&self.content),
            "parts": self.parts.iter().map(GraphRequest::to_value).collect::<Vec<_>>(),
            "roundTrip": self.round_trip,
            "isUpload": self.is_upload,
        })
    }
}
