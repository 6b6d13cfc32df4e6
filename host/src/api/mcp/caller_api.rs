//! The API in the name of the caller of `/mcp`: each request goes through the router of the operations, with the key, the address and the
//! origin of the caller.

use std::net::SocketAddr;
use std::sync::Mutex;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::ConnectInfo;
use axum::response::Response;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use mcp::api::{Answer, Api, CallRecord, Content, Request};
use serde_json::{Value, json};
use service::app::App;
use service::manage::assistant;
use storage::lane::Lane;
use tokio::sync::OwnedSemaphorePermit;
use tower::ServiceExt;

use crate::api::access::api_key::{Caller, X_API_KEY};
use crate::api::docs::remedies::remedy;
use crate::web::request_id::X_REQUEST_ID;

/// Headers of the caller's request that its tools' requests have too: the key, and everything by which allowlists judge.
const PASSED_ON: [HeaderName; 6] = [
    header::AUTHORIZATION,
    X_API_KEY,
    header::ORIGIN,
    header::REFERER,
    header::USER_AGENT,
    HeaderName::from_static("x-forwarded-for"),
];
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const PREFER: HeaderName = HeaderName::from_static("prefer");
/// Largest body of an answer that is read, in bytes: a message with its HTML, twice, and its text.
const MAX_ANSWER_BYTES: usize = 16 << 20;
/// Most requests of a call whose ids the log has.
const MAX_LOGGED_IDS: usize = 8;

/// The API for one request to `/mcp`.
pub struct CallerApi {
    app: App,
    operations: Router,
    caller: Caller,
    headers: HeaderMap,
    peer: Option<ConnectInfo<SocketAddr>>,
    /// The id of the request to `/mcp`.
    request_id: String,
    /// The ids of the first requests to the API.
    inner_ids: Mutex<Vec<String>>,
    /// The place among the concurrent requests of the key. A tool that runs on after its client has gone holds it until it ends.
    _permit: OwnedSemaphorePermit,
}

impl CallerApi {
    /// Returns the API for the caller of a request with this head.
    pub fn new(
        app: &App,
        operations: Router,
        caller: Caller,
        permit: OwnedSemaphorePermit,
        request_id: &str,
        head: &Parts,
    ) -> Self {
        let mut headers = HeaderMap::new();
        for name in PASSED_ON {
            for value in head.headers.get_all(&name) {
                headers.append(name.clone(), value.clone());
            }
        }
        CallerApi {
            app: app.clone(),
            operations,
            caller,
            headers,
            peer: head.extensions.get::<ConnectInfo<SocketAddr>>().copied(),
            request_id: request_id.to_owned(),
            inner_ids: Mutex::default(),
            _permit: permit,
        }
    }

    fn http_request(&self, request: Request) -> Result<axum::extract::Request, http::Error> {
        let mut builder = http::Request::builder().method(&request.method).uri(request.target());
        if let Some(key) = &request.idempotency_key {
            builder = builder.header(IDEMPOTENCY_KEY, key);
        }
        if let Some(etag) = &request.if_match {
            builder = builder.header(header::IF_MATCH, etag);
        }
        if request.strict {
            builder = builder.header(PREFER, HeaderValue::from_static("handling=strict"));
        }
        let body = match &request.body {
            Some(body) => {
                builder = builder.header(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
                Body::from(body.to_string())
            }
            None => Body::empty(),
        };
        let mut request = builder.body(body)?;
        request.headers_mut().extend(self.headers.clone());
        if let Some(peer) = self.peer {
            request.extensions_mut().insert(peer);
        }
        Ok(request)
    }

    fn lane(&self) -> Lane {
        Lane::requests().for_application(&self.caller.tenant().application_id)
    }
}

impl Api for CallerApi {
    async fn call(&self, request: Request) -> Answer {
        let request = match self.http_request(request) {
            Ok(request) => request,
            Err(e) => return failed("invalid_request", &format!("the request cannot be sent: {e}")),
        };
        let response = match self.operations.clone().oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        let answer = read(response).await;
        if let Ok(mut ids) = self.inner_ids.lock()
            && ids.len() < MAX_LOGGED_IDS
        {
            ids.push(answer.request_id.clone());
        }
        answer
    }

    async fn take_send(&self, act: &str, limit: u32) -> bool {
        let taken = self.lane().scope(assistant::take_send(&self.app, &self.caller.key, act, limit)).await;
        taken.unwrap_or_else(|e| {
            tracing::warn!(request_id = %self.request_id, error = %format!("{e:#}"), "a send could not be counted");
            false
        })
    }

    fn seal(&self, text: &str) -> String {
        // An empty text opens nothing.
        assistant::seal_state(&self.app, text).unwrap_or_default()
    }

    fn open(&self, sealed: &str) -> Option<String> {
        assistant::open_state(&self.app, sealed)
    }

    fn now(&self) -> i64 {
        self.app.now()
    }

    fn key_id(&self) -> &str {
        &self.caller.key.id
    }

    fn scopes(&self) -> &[String] {
        &self.caller.key.scopes
    }

    fn record(&self, call: &CallRecord<'_>) {
        let requests = self.inner_ids.lock().map(|ids| ids.join(" ")).unwrap_or_default();
        let (request_id, key) = (&self.request_id, &self.caller.key.id);
        let CallRecord { tool, outcome, bytes, client } = *call;
        tracing::info!(request_id, key, tool, status = outcome, bytes, client, requests, "mcp call");
        assistant::count_call(&self.app, &self.caller.key);
    }
}

async fn read(response: Response) -> Answer {
    let (head, body) = response.into_parts();
    let text = |name: HeaderName| head.headers.get(name).and_then(|value| value.to_str().ok());
    let (etag, request_id) = (text(header::ETAG), text(X_REQUEST_ID).unwrap_or_default());
    let Ok(bytes) = to_bytes(body, MAX_ANSWER_BYTES).await else {
        let message = format!("the answer is larger than the {MAX_ANSWER_BYTES} bytes that a tool reads");
        return Answer { request_id: request_id.to_owned(), ..failed("payload_too_large", &message) };
    };
    let media_type = text(header::CONTENT_TYPE).unwrap_or_default();
    // A file may be JSON too, and stays as it is.
    let is_file = head.headers.contains_key(header::CONTENT_DISPOSITION);
    let json = (!is_file && media_type.starts_with("application/json"))
        .then(|| serde_json::from_slice::<Value>(&bytes).ok())
        .flatten();
    let remedy = json.as_ref().and_then(|json| remedy(json["error"]["code"].as_str()?));
    let body = match json {
        Some(json) => Content::Json(json),
        None if bytes.is_empty() => Content::Empty,
        None => Content::Bytes { media_type: media_type.to_owned(), bytes },
    };
    Answer {
        status: head.status.as_u16(),
        etag: etag.map(str::to_owned),
        request_id: request_id.to_owned(),
        remedy: remedy.map(str::to_owned),
        body,
    }
}

/// An answer in place of one that there is not.
fn failed(code: &str, message: &str) -> Answer {
    Answer {
        status: StatusCode::BAD_GATEWAY.as_u16(),
        etag: None,
        request_id: String::new(),
        remedy: remedy(code).map(str::to_owned),
        body: Content::Json(json!({ "error": { "code": code, "message": message } })),
    }
}
