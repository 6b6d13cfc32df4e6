//! Changes of messages: flags, folders, labels; moves to the trash and deletions.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, Query, State as AxumState};
use axum::response::Response;
use serde::Deserialize;
use serde_json::Value;

use crate::mail::entries::{find, mailbox, receipt};
use crate::mail::types::{Entry, Flags, MAILBOX, Message, Purpose, Weight};
use crate::ops::Receipt;
use crate::patch::{few, read};
use crate::problem::Problem;
use crate::receipts::{Change, run};
use crate::record::Folder;
use crate::sandbox::Caller;

/// Maximum number of a message's folders, labels and keywords.
const MAX_PLACES: usize = 50;
const MAX_WORD: usize = 64;

/// Body of `PATCH …/messages/{message}`; omitted fields stay.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Patch {
    flags: FlagsPatch,
    weight: Option<Weight>,
    /// The complete list of its folders.
    folders: Option<Vec<String>>,
    add_labels: Vec<String>,
    remove_labels: Vec<String>,
    add_words: Vec<String>,
    remove_words: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct FlagsPatch {
    seen: Option<bool>,
    starred: Option<bool>,
    answered: Option<bool>,
    forwarded: Option<bool>,
}

/// Refuses a message whose folders or labels do not exist.
pub fn check_places(message: &Message, mailbox: &Folder<Entry>) -> Result<(), Problem> {
    let entry = |id: &String| mailbox.record(id).map(|(entry, _)| &**entry);
    if message.folders.is_empty() {
        return Err(Problem::field("folders", "a message lies in one folder at least"));
    }
    if let Some(id) = message.folders.iter().find(|id| entry(id).and_then(Entry::folder).is_none()) {
        return Err(Problem::field("folders", format!("there is no folder {id:?}")));
    }
    if let Some(id) = message.labels.iter().find(|id| entry(id).and_then(Entry::label).is_none()) {
        return Err(Problem::field("labels", format!("there is no label {id:?}")));
    }
    few("folders", message.folders.len(), MAX_PLACES)?;
    few("labels", message.labels.len(), MAX_PLACES)?;
    few("words", message.words.len(), MAX_PLACES)?;
    // A keyword as IMAP allows it (RFC 9051, `flag-keyword`), without commas, which separate them in query strings.
    let is_word = |word: &String| {
        let is_safe = |b: u8| b.is_ascii_graphic() && !b"(){%*\"\\],".contains(&b) && !b.is_ascii_uppercase();
        (1..=MAX_WORD).contains(&word.len()) && word.bytes().all(is_safe)
    };
    match message.words.iter().find(|word| !is_word(word)) {
        Some(word) => Err(Problem::field("words", format!("{word:?} cannot be a word"))),
        None => Ok(()),
    }
}

/// Adds missing entries, and removes others.
fn edit(list: &mut Vec<String>, add: &[String], remove: &[String]) {
    list.retain(|known| !remove.contains(known));
    for new in add {
        if !list.contains(new) {
            list.push(new.clone());
        }
    }
}

fn apply_patch(old: &Message, patch: Patch) -> Message {
    let flags = Flags {
        seen: patch.flags.seen.unwrap_or(old.flags.seen),
        starred: patch.flags.starred.unwrap_or(old.flags.starred),
        answered: patch.flags.answered.unwrap_or(old.flags.answered),
        forwarded: patch.flags.forwarded.unwrap_or(old.flags.forwarded),
        draft: old.flags.draft,
    };
    let mut message = Message { flags, weight: patch.weight.unwrap_or(old.weight), ..old.clone() };
    if let Some(folders) = &patch.folders {
        message.folders.clear();
        edit(&mut message.folders, folders, &[]);
    }
    edit(&mut message.labels, &patch.add_labels, &patch.remove_labels);
    edit(&mut message.words, &patch.add_words, &patch.remove_words);
    message
}

/// `PATCH …/messages/{message}`. A patch without effect makes no new version.
pub async fn update(
    (AxumState(sandbox), Extension(login)): Caller,
    Path(id): Path<String>,
    change: Change,
) -> Result<Response, Problem> {
    run(&sandbox, &login, change, |state, now_ms, body, change| {
        let mailbox = mailbox(state, &login.mail)?;
        let (old, seq) = find(mailbox, &id)?;
        change.check_etag(seq)?;
        let message = apply_patch(old, read(Value::Object(body.clone()))?);
        check_places(&message, mailbox)?;
        if message != *old {
            state.put(&login.mail, MAILBOX, now_ms, Arc::new(Entry::Message(Box::new(message))));
        }
        Ok(receipt(200, Some(id.clone())))
    })
    .await
}

/// The query string of a deletion.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MessageDeleteQuery {
    /// Not into the trash.
    forever: bool,
}

/// `DELETE …/messages/{message}`: into the trash, where it stays; with `forever=true` it is gone.
pub async fn delete(
    (AxumState(sandbox), Extension(login)): Caller,
    Path(id): Path<String>,
    Query(query): Query<MessageDeleteQuery>,
    change: Change,
) -> Result<Response, Problem> {
    run(&sandbox, &login, change, |state, now_ms, _, change| {
        let (message, seq) = find(mailbox(state, &login.mail)?, &id)?;
        change.check_etag(seq)?;
        if query.forever {
            state.remove::<Entry>(&login.mail, MAILBOX, now_ms, &id);
            return Ok(Receipt { dropped: vec![id.clone()], ..receipt(200, None) });
        }
        let trash = vec![Purpose::Trash.folder().to_owned()];
        let is_there = message.folders == trash;
        let message = Message { folders: trash, ..message.clone() };
        if !is_there {
            state.put(&login.mail, MAILBOX, now_ms, Arc::new(Entry::Message(Box::new(message))));
        }
        Ok(receipt(200, Some(id.clone())))
    })
    .await
}
