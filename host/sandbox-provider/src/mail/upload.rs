//! Messages that a client puts into the mailbox: imported ones and drafts. The body is the message (RFC 5322), the other fields
//! are in the query string, lists with commas between their entries.

use std::sync::Arc;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::{Query, State as AxumState};
use axum::response::Response;
use model::Instant;
use model::email::EmailMessage;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::faults::{Magic, magic};
use crate::mail::entries::{find, mailbox, receipt};
use crate::mail::parse;
use crate::mail::types::{DRAFTS, Entry, INBOX, MAILBOX, Message};
use crate::mail::write::check_places;
use crate::ops::{Copy, Receipt};
use crate::patch::client_id;
use crate::problem::Problem;
use crate::receipts::{Change, exists, run_raw};
use crate::sandbox::Caller;
use crate::state::{MAX_RECORDS_PER_ACCOUNT, State};
use crate::times::parse_instant;

/// The largest message.
pub const MAX_MESSAGE_BYTES: usize = 26 << 20;

/// Parses the message that a client sends; `field` names its place in the request.
pub fn checked(raw: &[u8], field: &str) -> Result<Message, Problem> {
    if raw.len() > MAX_MESSAGE_BYTES {
        return Err(Problem::field(field, format!("a message has at most {MAX_MESSAGE_BYTES} bytes")));
    }
    parse::read(raw).ok_or_else(|| Problem::field(field, "this is no message: it must be RFC 5322"))
}

/// The magic word in its subject.
pub fn word(message: &Message) -> Option<Magic> {
    magic("subject", message.body.subject.as_deref()?)
}

/// Stores a message with its bytes in an account's mailbox, in its thread.
pub fn store(state: &mut State, mail: &str, now_ms: i64, message: Message, raw: Bytes) {
    let copy = Copy { mail: mail.to_owned(), id: message.id.clone() };
    state.put_raw_message(vec![copy], raw);
    place(state, mail, now_ms, message);
}

/// The same for one whose bytes are stored already. The thread that it names counts if a message is in it.
pub fn place(state: &mut State, mail: &str, now_ms: i64, mut message: Message) {
    let Some(account) = state.account(mail) else { return };
    let thread = &message.body.thread_id;
    let is_in_it = |entry: &Arc<Entry>| entry.message().is_some_and(|one| one.body.thread_id == *thread);
    let is_named = thread.is_some() && mailbox(state, mail).is_ok_and(|mailbox| mailbox.live().any(is_in_it));
    if !is_named {
        message.body.thread_id = Some(account.raw_messages.thread_of(&message.body, &message.id));
    }
    message.born = state.seq + 1;
    state.put(mail, MAILBOX, now_ms, Arc::new(Entry::Message(Box::new(message))));
}

/// The id that the client requests, which must be unused and of the usual form.
pub fn free_id(state: &State, mail: &str, wanted: Option<&String>, fresh: String) -> Result<String, Problem> {
    let Some(id) = wanted else { return Ok(fresh) };
    let named: Map<String, Value> = [("id".to_owned(), Value::String(id.clone()))].into_iter().collect();
    let id = client_id(&named)?.unwrap_or(fresh);
    match mailbox(state, mail)?.record(&id) {
        Some((_, slot)) => Err(exists("an entry", &id, slot.seq)),
        None => Ok(id),
    }
}

/// Refuses a message that does not fit into the mailbox.
pub fn check_room(state: &State, mail: &str) -> Result<(), Problem> {
    match state.has_room(mail, 1) {
        true => Ok(()),
        false => Err(Problem::full(format!(
            "an account holds at most {MAX_RECORDS_PER_ACCOUNT} records, and so many bytes"
        ))),
    }
}

/// The query string of an import.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Import {
    id: Option<String>,
    /// None: the inbox.
    folders: Option<String>,
    labels: Option<String>,
    keywords: Option<String>,
    /// None: it is.
    unread: Option<bool>,
    starred: bool,
    answered: bool,
    forwarded: bool,
    draft: bool,
    /// None: now.
    received_at: Option<String>,
}

fn split_list(text: Option<&String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for entry in text.map_or("", String::as_str).split(',').filter(|entry| !entry.is_empty()) {
        if !all.iter().any(|known| known == entry) {
            all.push(entry.to_owned());
        }
    }
    all
}

/// `POST /sandbox/v1/mail/messages`
pub async fn import(
    (AxumState(sandbox), Extension(login)): Caller,
    Query(query): Query<Import>,
    change: Change,
) -> Result<Response, Problem> {
    let fresh = sandbox.new_id()?;
    let read = checked(change.body(), "body")?;
    let received_ms = query.received_at.as_ref().map(|at| parse_instant(at, "receivedAt")).transpose()?;
    let word = word(&read);
    let mut folder_ids = split_list(query.folders.as_ref());
    if folder_ids.is_empty() {
        folder_ids.push(INBOX.to_owned());
    }
    let body = EmailMessage {
        folder_ids,
        label_ids: split_list(query.labels.as_ref()),
        keywords: split_list(query.keywords.as_ref()),
        unread: query.unread.unwrap_or(true),
        starred: query.starred,
        answered: query.answered,
        forwarded: query.forwarded,
        draft: query.draft,
        ..read.body
    };
    let message = Message { body, ..read };
    run_raw(&sandbox, &login, change, word, |state, now_ms, change| {
        let id = free_id(state, &login.mail, query.id.as_ref(), fresh)?;
        check_places(&message.body, mailbox(state, &login.mail)?)?;
        check_room(state, &login.mail)?;
        let mut message = Message { id: id.clone(), ..message };
        message.body.received_at = Instant::from_millis(received_ms.unwrap_or(now_ms));
        store(state, &login.mail, now_ms, message, change.body().clone());
        Ok(receipt(201, Some(id)))
    })
    .await
}

/// The query string of a draft.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Draft {
    id: Option<String>,
    /// The draft that this one replaces; `If-Match` is for that one.
    replaces: Option<String>,
    /// None: derived from its headers.
    thread: Option<String>,
}

/// `POST /sandbox/v1/mail/drafts`: every version is a separate message.
pub async fn draft(
    (AxumState(sandbox), Extension(login)): Caller,
    Query(query): Query<Draft>,
    change: Change,
) -> Result<Response, Problem> {
    let fresh = sandbox.new_id()?;
    let read = checked(change.body(), "body")?;
    let word = word(&read);
    run_raw(&sandbox, &login, change, word, |state, now_ms, change| {
        let id = free_id(state, &login.mail, query.id.as_ref(), fresh)?;
        let mut body = EmailMessage {
            thread_id: query.thread.clone(),
            received_at: Instant::from_millis(now_ms),
            folder_ids: vec![DRAFTS.to_owned()],
            draft: true,
            ..read.body
        };
        if let Some(replaced) = &query.replaces {
            let (old, seq) = find(mailbox(state, &login.mail)?, replaced)?;
            change.check_etag(seq)?;
            if !old.body.draft {
                return Err(Problem::conflict("notADraft", "only a draft can be replaced"));
            }
            body.label_ids.clone_from(&old.body.label_ids);
            body.starred = old.body.starred;
        }
        check_room(state, &login.mail)?;
        let message = Message { id: id.clone(), body, previous_id: query.replaces.clone(), ..read };
        store(state, &login.mail, now_ms, message, change.body().clone());
        let mut dropped = Vec::new();
        if let Some(replaced) = query.replaces {
            state.remove::<Entry>(&login.mail, MAILBOX, now_ms, &replaced);
            dropped.push(replaced);
        }
        Ok(Receipt { dropped, ..receipt(201, Some(id)) })
    })
    .await
}
