//! How every change of an event runs: the idempotency key, the magic words, the change itself in one step with its
//! remembered answer, and the answer: `{"event", "others", "dropped"}`.

use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::header::{ETAG, IF_MATCH};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::sandbox_provider::Sandbox;
use crate::sandbox_provider::auth::Login;
use crate::sandbox_provider::faults::{LoseAnswer, Magic, magic};
use crate::sandbox_provider::problem::Problem;
use crate::sandbox_provider::state::{Receipt, State};
use crate::sandbox_provider::write::{View, etag, object};

/// How long a key is remembered.
const KEY_MS: i64 = 24 * 3_600_000;

/// A write's request: what it asks for and on what condition.
pub struct Change {
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
}

impl<S: Send + Sync> FromRequest<S> for Change {
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        let (method, uri, headers) =
            (request.method().clone(), request.uri().clone(), request.headers().clone());
        let body = Bytes::from_request(request, state).await.map_err(|_| {
            Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "tooLarge", "a body is at most 1 MiB").into_response()
        })?;
        Ok(Change { method, uri, headers, body })
    }
}

impl Change {
    pub fn json(&self) -> Result<Map<String, Value>, Problem> {
        object(&self.body)
    }

    /// Refuses when `If-Match` names another version than the present one.
    pub fn check_etag(&self, seq: u64) -> Result<(), Problem> {
        check_etag(&self.headers, seq)
    }

    fn key(&self) -> Result<Option<String>, Problem> {
        let Some(value) = self.headers.get("idempotency-key") else { return Ok(None) };
        match value.to_str() {
            Ok(key) if (1..=255).contains(&key.len()) => Ok(Some(key.to_owned())),
            _ => Err(Problem::bad_request("the idempotency key must be 1 to 255 visible characters")),
        }
    }

    fn print(&self) -> String {
        let mut hash = Sha256::new();
        for part in [self.method.as_str().as_bytes(), self.uri.to_string().as_bytes(), &self.body] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        hex::encode(hash.finalize())
    }
}

/// Refuses when `If-Match` is there and names no present version.
pub fn check_etag(headers: &HeaderMap, seq: u64) -> Result<(), Problem> {
    let Some(given) = headers.get(IF_MATCH) else { return Ok(()) };
    let current = etag(seq);
    let given = given.to_str().unwrap_or_default();
    if given.split(',').any(|e| e.trim() == "*" || e.trim() == current) {
        return Ok(());
    }
    Err(Problem::stale(&current))
}

/// Runs a change of events. `act` gets the state, the time and the parsed body; it decides first and changes then.
pub async fn run(
    sandbox: &Sandbox,
    login: &Login,
    change: Change,
    act: impl FnOnce(&mut State, i64, &Map<String, Value>, &Change) -> Result<Receipt, Problem>,
) -> Result<Response, Problem> {
    let body = change.json()?;
    let key = change.key()?;
    let mut loses_answer = false;
    match body.get("subject").and_then(Value::as_str).and_then(magic) {
        Some(Magic::Refuse(problem)) => return Err(problem),
        Some(Magic::DelayMs(ms)) => tokio::time::sleep(Duration::from_millis(ms)).await,
        Some(Magic::LoseAnswer) => loses_answer = true,
        None => {}
    }
    let now_ms = sandbox.now_ms();
    let print = change.print();
    let (is_replay, mut answer) = sandbox
        .write(|state| {
            let account = state.account(&login.mail);
            let earlier =
                key.as_deref().and_then(|k| account?.receipt(k)).filter(|r| now_ms - r.at_ms < KEY_MS);
            if let Some(receipt) = earlier {
                if receipt.print != print {
                    let message = "the idempotency key was used for another request";
                    return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "keyReused", message));
                }
                return Ok((true, answer(state, &login.mail, receipt)));
            }
            if change.method != Method::DELETE && !state.has_room(&login.mail, 0) {
                return Err(Problem::full("the account is full: delete something first"));
            }
            let mut receipt = act(state, now_ms, &body, &change)?;
            let said = answer(state, &login.mail, &receipt);
            if let Some(key) = &key {
                (receipt.print, receipt.at_ms) = (print, now_ms);
                state.put_receipt(&login.mail, key, receipt);
            }
            Ok((false, said))
        })
        .await?;
    if loses_answer && !is_replay {
        answer.extensions_mut().insert(LoseAnswer);
    }
    Ok(answer)
}

/// The present state of what a change was about.
fn answer(state: &State, mail: &str, receipt: &Receipt) -> Response {
    let status = StatusCode::from_u16(receipt.status).unwrap_or(StatusCode::OK);
    let Some(folder) = state.folder(mail, &receipt.calendar) else { return status.into_response() };
    if status == StatusCode::NO_CONTENT {
        return status.into_response();
    }
    let show = |id: &String| {
        let (event, slot) = folder.event(id)?;
        Some((View { mail, calendar: &folder.calendar, seq: slot.seq }.event(event), slot.seq))
    };
    let event = receipt.event.as_ref().and_then(show);
    let others: Vec<Value> = receipt.others.iter().filter_map(show).map(|(e, _)| e).collect();
    let body =
        json!({ "event": event.as_ref().map(|(e, _)| e), "others": others, "dropped": receipt.dropped });
    let mut answer = (status, Json(body)).into_response();
    if let Some(value) = event.and_then(|(_, seq)| HeaderValue::try_from(etag(seq)).ok()) {
        answer.headers_mut().insert(ETAG, value);
    }
    answer
}
