//! Messages that a client puts into the mailbox: imported ones and drafts. The body is the message (RFC 5322), the other fields
//! are in the query string, lists with commas between their entries.

use std::sync::Arc;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::{Query, State as AxumState};
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::faults::{Magic, magic};
use crate::mail::entries::{find, mailbox, receipt};
use crate::mail::parse::{self, ParsedMessage};
use crate::mail::types::{Entry, Flags, MAILBOX, Message, Purpose};
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
pub fn checked(raw: &[u8], field: &str) -> Result<ParsedMessage, Problem> {
    if raw.len() > MAX_MESSAGE_BYTES {
        return Err(Problem::field(field, format!("a message has at most {MAX_MESSAGE_BYTES} bytes")));
    }
    parse::read(raw).ok_or_else(|| Problem::field(field, "this is no message: it must be RFC 5322"))
}

/// The magic word in its subject.
pub fn word(read: &ParsedMessage) -> Option<Magic> {
    magic("subject", read.content.subject.as_deref()?)
}

/// Stores a message with its bytes in an account's mailbox, in its thread.
pub fn store(state: &mut State, mail: &str, now_ms: i64, read: ParsedMessage, message: Message, raw: Bytes) {
    let copy = Copy { mail: mail.to_owned(), id: message.id.clone() };
    state.put_letter(vec![copy], raw);
    place(state, mail, now_ms, read, message);
}

/// The same for one whose bytes are stored already. The thread that it names counts if a message is in it.
pub fn place(state: &mut State, mail: &str, now_ms: i64, read: ParsedMessage, message: Message) {
    let Some(account) = state.account(mail) else { return };
    let is_in_it = |entry: &Arc<Entry>| entry.message().is_some_and(|one| one.thread == message.thread);
    let is_named =
        !message.thread.is_empty() && mailbox(state, mail).is_ok_and(|mailbox| mailbox.live().any(is_in_it));
    let thread = match is_named {
        true => message.thread.clone(),
        false => account.letters.thread(&read.content, &message.id),
    };
    let message = Message {
        thread,
        born: state.seq + 1,
        weight: read.weight,
        search: read.search,
        content: read.content,
        ..message
    };
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
    /// Flags among `seen`, `starred`, `answered`, `forwarded`, `draft`.
    flags: Option<String>,
    words: Option<String>,
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

fn flags(names: &[String]) -> Result<Flags, Problem> {
    let mut flags = Flags::default();
    for name in names {
        let flag = match name.as_str() {
            "seen" => &mut flags.seen,
            "starred" => &mut flags.starred,
            "answered" => &mut flags.answered,
            "forwarded" => &mut flags.forwarded,
            "draft" => &mut flags.draft,
            _ => return Err(Problem::field("flags", format!("there is no flag {name:?}"))),
        };
        *flag = true;
    }
    Ok(flags)
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
    let mut folders = split_list(query.folders.as_ref());
    if folders.is_empty() {
        folders.push(Purpose::Inbox.folder().to_owned());
    }
    let message = Message {
        folders,
        labels: split_list(query.labels.as_ref()),
        flags: flags(&split_list(query.flags.as_ref()))?,
        words: split_list(query.words.as_ref()),
        ..Message::default()
    };
    let word = word(&read);
    run_raw(&sandbox, &login, change, word, |state, now_ms, change| {
        let id = free_id(state, &login.mail, query.id.as_ref(), fresh)?;
        check_places(&message, mailbox(state, &login.mail)?)?;
        check_room(state, &login.mail)?;
        let message = Message { id: id.clone(), received_ms: received_ms.unwrap_or(now_ms), ..message };
        store(state, &login.mail, now_ms, read, message, change.body().clone());
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
        let mut message = Message {
            id: id.clone(),
            replaces: query.replaces.clone(),
            thread: query.thread.clone().unwrap_or_default(),
            received_ms: now_ms,
            folders: vec![Purpose::Drafts.folder().to_owned()],
            flags: Flags { seen: true, draft: true, ..Flags::default() },
            ..Message::default()
        };
        if let Some(replaced) = &query.replaces {
            let (old, seq) = find(mailbox(state, &login.mail)?, replaced)?;
            change.check_etag(seq)?;
            if !old.flags.draft {
                return Err(Problem::conflict("notADraft", "only a draft can be replaced"));
            }
            message.labels.clone_from(&old.labels);
            message.flags.starred = old.flags.starred;
        }
        check_room(state, &login.mail)?;
        store(state, &login.mail, now_ms, read, message, change.body().clone());
        let mut dropped = Vec::new();
        if let Some(replaced) = query.replaces {
            state.remove::<Entry>(&login.mail, MAILBOX, now_ms, &replaced);
            dropped.push(replaced);
        }
        Ok(Receipt { dropped, ..receipt(201, Some(id)) })
    })
    .await
}
