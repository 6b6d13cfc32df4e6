//! The notes of a request whose answer is ready: a line in the log of the process, and an entry in the request log of its application.

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::response::Response;
use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode, Uri, header};
use http_body::Body as _;
use service::app::App;
use service::app::request_log::bodies::{CapturedBodies, MAX_BODY_BYTES};
use service::app::request_log::{LoggedRequest, logged_path, logged_text};
use storage::api_keys::ApiKey;
use storage::request_log::RequestEntry;

use crate::api::request::body_recorder::{BodyRecorder, is_json};
use crate::api::response::facts::ResponseFacts;
use crate::web::error::{FailedCode, FailedParam};

/// The request, as its entry shows it.
pub struct RequestFacts<'a> {
    pub method: &'a Method,
    /// The template of the path; empty where no operation matched.
    pub route: &'a str,
    pub uri: &'a Uri,
    pub bytes_in: i64,
    /// Milliseconds until the answer was ready.
    pub ms: i64,
}

/// A recorder for the body of a request with this key, if its application keeps bodies.
pub fn recorder(app: &App, key: Option<&ApiKey>, at: i64) -> Option<BodyRecorder> {
    let application_id = &key?.tenant.application_id;
    app.request_log.keeps_bodies(application_id, at).then(BodyRecorder::default)
}

/// The bytes that a request's body has by its headers; 0 where they do not say it.
pub fn declared_bytes(request: &Request) -> i64 {
    let length = request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    length.and_then(|length| length.parse().ok()).map_or(0, |length: i64| length.max(0))
}

/// Notes a request, and returns its answer, of which a small body may have been copied.
pub async fn record_request(
    app: &App,
    seen: &ResponseFacts,
    facts: &RequestFacts<'_>,
    response: Response,
) -> Response {
    let status = response.status();
    write_line(seen, facts, status);
    let Some(key) = &seen.key else { return response };
    let is_query = facts.method.is_safe() || facts.route.ends_with("/query");
    // What is refused to save work costs no row each time, and pushes nothing out.
    let is_sample = status == StatusCode::TOO_MANY_REQUESTS || status.as_u16() < 400 && is_query;
    if !app.request_log.takes(&key.tenant.application_id, seen.started, is_sample) {
        return response;
    }
    let mut entry = entry(seen, key, facts, &response);
    let Some(recorder) = &seen.recorder else {
        app.request_log.add(&app.metrics, LoggedRequest { entry, bodies: None });
        return response;
    };
    let (response, answered) = copy_body(response).await;
    let bodies = CapturedBodies { request: recorder.take(), response: answered };
    if entry.bytes_in == 0 {
        entry.bytes_in = bodies.request.as_ref().map_or(0, |body| length(body.len()));
    }
    app.request_log.add(&app.metrics, LoggedRequest { entry, bodies: Some(bodies) });
    response
}

/// The request's line in the log. Reads that succeed are counted (`/metrics`); a line for each is for who asks for `debug`.
fn write_line(seen: &ResponseFacts, facts: &RequestFacts<'_>, status: StatusCode) {
    let (request_id, status) = (&seen.request_id, status.as_u16());
    let RequestFacts { method, route, ms, .. } = facts;
    let key = seen.caller.as_ref().map(|c| c.key.id.as_str());
    match (status, *method) {
        (500.., _) => tracing::warn!(request_id, %method, route, status, ms, key, "request"),
        (..400, &Method::GET | &Method::OPTIONS) => {
            tracing::debug!(request_id, %method, route, status, ms, key, "request");
        }
        _ => tracing::info!(request_id, %method, route, status, ms, key, "request"),
    }
}

fn entry(seen: &ResponseFacts, key: &ApiKey, facts: &RequestFacts<'_>, response: &Response) -> RequestEntry {
    let code = response.extensions().get::<FailedCode>();
    let param = response.extensions().get::<FailedParam>();
    RequestEntry {
        application_id: key.tenant.application_id.clone(),
        id: seen.request_id.clone(),
        key_id: key.budget_id().to_owned(),
        at: seen.started,
        method: logged_text(facts.method.as_str()),
        route: facts.route.to_owned(),
        path: logged_path(facts.uri.path()),
        status: i64::from(response.status().as_u16()),
        ms: facts.ms,
        ip: seen.ip.to_string(),
        error_code: code.map(|failed| failed.0.as_str().to_owned()),
        error_param: param.map(|failed| logged_text(&failed.0)),
        bytes_in: facts.bytes_in,
        bytes_out: i64::try_from(response.body().size_hint().lower()).unwrap_or(i64::MAX),
        has_bodies: false,
    }
}

/// A response with a copy of its body, if that is small and JSON.
async fn copy_body(response: Response) -> (Response, Option<Bytes>) {
    let most = u64::try_from(MAX_BODY_BYTES).unwrap_or(u64::MAX);
    let is_small = response.body().size_hint().exact().is_some_and(|bytes| (1..=most).contains(&bytes));
    if !is_small || !is_plain_json(response.headers()) {
        return (response, None);
    }
    let (parts, body) = response.into_parts();
    match to_bytes(body, MAX_BODY_BYTES).await {
        Ok(bytes) => (Response::from_parts(parts, Body::from(bytes.clone())), Some(bytes)),
        // It would have broken on its way, too.
        Err(_) => (Response::from_parts(parts, Body::empty()), None),
    }
}

fn is_plain_json(headers: &HeaderMap) -> bool {
    !headers.contains_key(header::CONTENT_ENCODING) && is_json(headers.get(header::CONTENT_TYPE))
}

fn length(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
