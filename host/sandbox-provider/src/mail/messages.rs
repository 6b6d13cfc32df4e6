//! Reading of messages: lists, newest first, single messages, their bytes and files; and the changes of the mailbox.

use axum::body::Bytes;
use axum::extract::{Path, Query, State as AxumState};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, ETAG};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mail::read::attachment;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::auth::Login;
use crate::mail::entries::{find, mailbox};
use crate::mail::parse;
use crate::mail::search::{Term, Test, query, words};
use crate::mail::types::{Entry, MAILBOX, Message};
use crate::patch::{few, object, read};
use crate::problem::Problem;
use crate::receipts::{etag, versioned};
use crate::record::Record;
use crate::sandbox::Caller;
use crate::state::State;
use crate::times::parse_instant;
use crate::walk::{Open, Tokens, from_now, pages};

const MAX_LIMIT: usize = 250;
const DEFAULT_LIMIT: usize = 100;

/// The query string of a list.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Listing {
    limit: Option<usize>,
    page_token: Option<String>,
    /// See `search`.
    q: Option<String>,
    /// Words that all must occur; operators of `q` have no meaning in it.
    text: Option<String>,
    folder: Option<String>,
    label: Option<String>,
    unread: Option<bool>,
    starred: Option<bool>,
    /// Received at this moment or later.
    after: Option<String>,
    before: Option<String>,
    message_id: Option<String>,
}

impl Listing {
    fn terms(&self) -> Result<Vec<Term>, Problem> {
        let mut terms = query(self.q.as_deref().unwrap_or_default())?;
        terms.extend(words(self.text.as_deref().unwrap_or_default())?);
        let ms = |text: &Option<String>, field| text.as_ref().map(|t| parse_instant(t, field)).transpose();
        let tests = [
            self.folder.clone().map(Test::In),
            self.label.clone().map(Test::Label),
            self.unread.map(Test::Unread),
            self.starred.map(Test::Starred),
            ms(&self.after, "after")?.map(Test::After),
            ms(&self.before, "before")?.map(Test::Before),
            self.message_id.clone().map(Test::MessageId),
        ];
        terms.extend(tests.into_iter().flatten().map(Term::from));
        Ok(terms)
    }
}

/// The position in a list, as its token carries it: a time and a message, so that messages which arrive or leave meanwhile do not
/// shift the next pages.
#[derive(Debug, Serialize, Deserialize)]
struct ListPosition {
    before: (i64, String),
    /// Fingerprint of the filters, which must stay the same.
    filters: String,
}

/// `GET /sandbox/v1/mail/messages`
pub async fn list(
    (AxumState(sandbox), Extension(login)): Caller,
    Query(listing): Query<Listing>,
) -> Result<Json<Value>, Problem> {
    let limit = listing.limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        return Err(Problem::field("limit", format!("limit must be 1 to {MAX_LIMIT}")));
    }
    let terms = listing.terms()?;
    let filters = hex::encode(&Sha256::digest(format!("{terms:?}"))[..6]);
    let before = match &listing.page_token {
        None => None,
        Some(token) => Some(place(token, &filters)?.before),
    };
    // The search runs without the lock.
    let mut found = sandbox
        .read(|state| {
            let all = mailbox(state, &login.mail)?.live().filter(|entry| {
                let message = entry.message();
                message.is_some_and(|m| {
                    before.as_ref().is_none_or(|place| (received_ms(m), &m.id) < (place.0, &place.1))
                })
            });
            Ok(all.cloned().collect::<Vec<_>>())
        })
        .await?;
    found.retain(|entry| entry.message().is_some_and(|message| terms.iter().all(|term| term.takes(message))));
    let key = |entry: &Entry| entry.message().map(|m| std::cmp::Reverse((received_ms(m), m.id.clone())));
    found.sort_by_cached_key(|entry| key(entry));
    let is_last = found.len() <= limit;
    found.truncate(limit);
    let last = found.last().and_then(|entry| entry.message()).filter(|_| !is_last);
    let token = last.map(|last| {
        let place = ListPosition { before: (received_ms(last), last.id.clone()), filters };
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(&place).unwrap_or_default())
    });
    let ids: Vec<&str> = found.iter().map(|entry| entry.id()).collect();
    let shown = sandbox.read(|state| Ok(render_messages(state, &login, &ids))).await?;
    Ok(Json(json!({ "messages": shown, "nextPageToken": token })))
}

fn received_ms(message: &Message) -> i64 {
    message.body.received_at.as_millis()
}

fn place(token: &str, filters: &str) -> Result<ListPosition, Problem> {
    let bytes = URL_SAFE_NO_PAD.decode(token).ok();
    let place: Option<ListPosition> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let place = place.ok_or_else(|| Problem::bad_request("pageToken was not made by this service"))?;
    match place.filters == filters {
        true => Ok(place),
        false => Err(Problem::bad_request("the token was made for other filters")),
    }
}

/// The messages as they are now, without those that were deleted meanwhile.
fn render_messages(state: &State, login: &Login, ids: &[&str]) -> Vec<Value> {
    let Ok(mailbox) = mailbox(state, &login.mail) else { return Vec::new() };
    let found = ids.iter().filter_map(|id| mailbox.record(id));
    found.map(|(entry, slot)| entry.show(mailbox, &login.mail, slot.seq)).collect()
}

/// `GET /sandbox/v1/mail/changes`: without a token only the token for changes from now on. `new` in a message tells whether it
/// arrived or only changed.
pub async fn changes(
    (AxumState(sandbox), Extension(login)): Caller,
    Query(tokens): Query<Tokens>,
) -> Result<Json<Value>, Problem> {
    match (&tokens.page_token, &tokens.sync_token) {
        (None, None) => from_now::<Entry>(&sandbox, &login, MAILBOX).await,
        _ => pages::<Entry>(&sandbox, &login, MAILBOX, &tokens, &Open).await,
    }
}

/// Parts of a message that are shown besides those in lists.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Fields {
    headers: bool,
    body: bool,
    /// Most bytes of each text; longer ones are cut.
    max_body_bytes: Option<usize>,
}

impl Fields {
    /// The same with the fields parsed from the bytes.
    fn extended(self, mut shown: Value, raw: &[u8]) -> Value {
        if !self.headers && !self.body {
            return shown;
        }
        let (headers, body) = parse::whole(raw, self.max_body_bytes.unwrap_or(usize::MAX));
        if self.headers {
            shown["headers"] = json!(headers);
        }
        if self.body {
            shown["body"] = json!(body);
        }
        shown
    }
}

/// The message with its version and its bytes.
fn load_message(state: &State, login: &Login, id: &str) -> Result<(Value, u64, Bytes), Problem> {
    let mailbox = mailbox(state, &login.mail)?;
    let (_, seq) = find(mailbox, id)?;
    let account = state.account(&login.mail);
    let raw = account.and_then(|account| account.raw_messages.get(id)).cloned().unwrap_or_default();
    let shown = mailbox.record(id).map(|(entry, _)| entry.show(mailbox, &login.mail, seq));
    Ok((shown.unwrap_or_default(), seq, raw))
}

/// `GET …/messages/{message}`, with `headers=true` and `body=true` as far as its bytes contain them.
pub async fn get(
    (AxumState(sandbox), Extension(login)): Caller,
    Path(id): Path<String>,
    Query(fields): Query<Fields>,
) -> Result<Response, Problem> {
    let (shown, seq, raw) = sandbox.read(|state| load_message(state, &login, &id)).await?;
    let shown = sandbox.compute().run(&login.mail, raw.len(), || fields.extended(shown, &raw)).await;
    Ok(versioned(StatusCode::OK, shown, Some(seq)))
}

/// Several messages at once.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Batch {
    /// At most 250.
    ids: Vec<String>,
    #[serde(flatten)]
    fields: Fields,
}

/// `POST /sandbox/v1/mail/batch`: the existing messages, in the order of the ids.
pub async fn batch(
    (AxumState(sandbox), Extension(login)): Caller,
    body: Bytes,
) -> Result<Json<Value>, Problem> {
    let batch: Batch = read(Value::Object(object(&body)?))?;
    few("ids", batch.ids.len(), MAX_LIMIT)?;
    let found = sandbox
        .read(|state| {
            Ok(batch.ids.iter().filter_map(|id| load_message(state, &login, id).ok()).collect::<Vec<_>>())
        })
        .await?;
    let bytes = found.iter().map(|(_, _, raw)| raw.len()).sum();
    let all = || found.into_iter().map(|(shown, _, raw)| batch.fields.extended(shown, &raw)).collect();
    let shown: Vec<Value> = sandbox.compute().run(&login.mail, bytes, all).await;
    Ok(Json(json!({ "messages": shown })))
}

/// `GET …/messages/{message}/raw`: the bytes as they were received.
pub async fn raw(
    (AxumState(sandbox), Extension(login)): Caller,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let (_, seq, raw) = sandbox.read(|state| load_message(state, &login, &id)).await?;
    let mut answer = raw.into_response();
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("message/rfc822"));
    if let Ok(etag) = HeaderValue::try_from(etag(seq)) {
        answer.headers_mut().insert(ETAG, etag);
    }
    Ok(answer)
}

/// `GET …/messages/{message}/files/{part}`: decoded.
pub async fn file(
    (AxumState(sandbox), Extension(login)): Caller,
    Path((id, part)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let (_, _, raw) = sandbox.read(|state| load_message(state, &login, &id)).await?;
    let file = attachment(&raw, &part).ok_or_else(|| Problem::not_found("file", &part))?;
    let mut answer = file.bytes.into_response();
    let headers = answer.headers_mut();
    let fallback = HeaderValue::from_static("application/octet-stream");
    headers.insert(CONTENT_TYPE, HeaderValue::try_from(file.attachment.content_type).unwrap_or(fallback));
    // Never displayed by a browser: the content is not trusted.
    headers.insert(CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    Ok(answer)
}
