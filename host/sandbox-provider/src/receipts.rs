//! Execution of every change: the idempotency key, the magic words, the change itself in one step with its stored result, and the
//! response: the folder, or the record with the other changes: `{"event", "others", "dropped"}`.

use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::header::{ETAG, IF_MATCH};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use model::wire::email::RecipientOutcome;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::auth::Login;
use crate::calendar::types::Event;
use crate::contacts::Card;
use crate::faults::{LoseAnswer, Magic, magic};
use crate::kind::Kind;
use crate::mail::types::{Entry, RecipientReply};
use crate::ops::Receipt;
use crate::patch::object;
use crate::problem::Problem;
use crate::record::Record;
use crate::sandbox::Sandbox;
use crate::state::State;
use crate::tasks::Todo;

/// How long a key is stored.
const KEY_MS: i64 = 24 * 3_600_000;
/// The fields with the name of a record, which may contain magic words.
const NAMES: &[&str] = &["title", "name", "displayName"];

/// The request of a write, with its conditions.
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
            Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "tooLarge", "the body is too large").into_response()
        })?;
        Ok(Change { method, uri, headers, body })
    }
}

impl Change {
    /// Refuses when `If-Match` names another version than the present one.
    pub fn check_etag(&self, seq: u64) -> Result<(), Problem> {
        let Some(given) = self.headers.get(IF_MATCH) else { return Ok(()) };
        let current = etag(seq);
        let given = given.to_str().unwrap_or_default();
        if given.split(',').any(|e| e.trim() == "*" || e.trim() == current) {
            return Ok(());
        }
        Err(Problem::stale(&current))
    }

    /// The body as it was received.
    pub fn body(&self) -> &Bytes {
        &self.body
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

/// The quoted version in `ETag`.
pub fn etag(seq: u64) -> String {
    format!("\"{seq}\"")
}

/// 409: the object to be created exists already, in this version.
pub fn exists(what: &str, id: &str, seq: u64) -> Problem {
    let exists = Problem::new(StatusCode::CONFLICT, "exists", format!("there is {what} {id:?} already"));
    Problem { etag: Some(etag(seq)), ..exists }
}

/// Runs a change whose body is JSON. `act` gets the state, the time and the parsed body; it decides first and changes then.
pub async fn run(
    sandbox: &Sandbox,
    login: &Login,
    change: Change,
    act: impl FnOnce(&mut State, i64, &Map<String, Value>, &Change) -> Result<Receipt, Problem>,
) -> Result<Response, Problem> {
    let body = object(&change.body)?;
    let word = NAMES.iter().find_map(|name| magic(name, body.get(*name)?.as_str()?));
    run_raw(sandbox, login, change, word, |state, now_ms, change| act(state, now_ms, &body, change)).await
}

/// The same for any body; `word` is the magic word in its name.
pub async fn run_raw(
    sandbox: &Sandbox,
    login: &Login,
    change: Change,
    word: Option<Magic>,
    act: impl FnOnce(&mut State, i64, &Change) -> Result<Receipt, Problem>,
) -> Result<Response, Problem> {
    let key = change.key()?;
    let mut loses_answer = false;
    match word {
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
                if !receipt.print.is_empty() && receipt.print != print {
                    let message = "the idempotency key was used for another request";
                    return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "keyReused", message));
                }
                return Ok((true, answer(state, &login.mail, receipt)));
            }
            if change.method != Method::DELETE && !state.has_room(&login.mail, 0) {
                return Err(Problem::full("the account is full: delete something first"));
            }
            let mut receipt = act(state, now_ms, &change)?;
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

/// The response with the present state of the changed object.
fn answer(state: &State, mail: &str, receipt: &Receipt) -> Response {
    let shown = match receipt.kind {
        Kind::Event => find_body::<Event>(state, mail, receipt),
        Kind::Card => find_body::<Card>(state, mail, receipt),
        Kind::Todo => find_body::<Todo>(state, mail, receipt),
        Kind::Mail => find_body::<Entry>(state, mail, receipt),
    };
    let status = StatusCode::from_u16(receipt.status).unwrap_or(StatusCode::OK);
    match shown {
        Some((body, seq)) if status != StatusCode::NO_CONTENT => versioned(status, body, seq),
        _ => status.into_response(),
    }
}

/// The body of an answer; none where the folder is gone.
fn find_body<R: Record>(state: &State, mail: &str, receipt: &Receipt) -> Option<(Value, Option<u64>)> {
    let folder = state.folder::<R>(mail, &receipt.folder)?;
    if receipt.is_folder {
        return Some((R::show_folder(folder), Some(folder.seq)));
    }
    let show = |id: &String| {
        let (record, slot) = folder.record(id)?;
        Some((record.show(folder, mail, slot.seq), slot.seq))
    };
    let record = receipt.record.as_ref().and_then(show);
    let others: Vec<Value> = receipt.others.iter().filter_map(show).map(|(other, _)| other).collect();
    let seq = record.as_ref().map(|(_, seq)| *seq);
    let mut body = json!({ "others": others, "dropped": receipt.dropped });
    body[R::KIND.record()] = json!(record.map(|(record, _)| record));
    if receipt.part.is_some() {
        body["part"] = json!(receipt.part);
    }
    if !receipt.outcomes.is_empty() {
        let outcomes: Vec<RecipientOutcome> = receipt.outcomes.iter().map(RecipientReply::outcome).collect();
        body["recipients"] = json!(outcomes);
    }
    Some((body, seq))
}

/// A response with the version of its object.
pub fn versioned(status: StatusCode, body: Value, seq: Option<u64>) -> Response {
    let mut answer = (status, Json(body)).into_response();
    if let Some(value) = seq.and_then(|seq| HeaderValue::try_from(etag(seq)).ok()) {
        answer.headers_mut().insert(ETAG, value);
    }
    answer
}
