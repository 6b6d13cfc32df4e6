//! Changes of messages: flags, folders, labels; moves to the trash and deletions.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, Query, State as AxumState};
use axum::response::Response;
use model::email::{EmailMessage, Importance};
use serde::Deserialize;
use serde_json::Value;

use crate::mail::entries::{find, mailbox, receipt};
use crate::mail::types::{Entry, MAILBOX, Message, TRASH};
use crate::ops::Receipt;
use crate::patch::{few, read};
use crate::problem::Problem;
use crate::receipts::{Change, run};
use crate::record::Folder;
use crate::sandbox::Caller;

/// Maximum number of a message's folders, labels and keywords.
const MAX_PLACES: usize = 50;
const MAX_KEYWORD: usize = 64;

/// Body of `PATCH …/messages/{message}`: the members of the model's `MessageUpdate`; omitted ones stay.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Patch {
    unread: Option<bool>,
    starred: Option<bool>,
    answered: Option<bool>,
    forwarded: Option<bool>,
    importance: Option<Importance>,
    add_keywords: Vec<String>,
    remove_keywords: Vec<String>,
    /// The complete list of its folders.
    folders: Option<Vec<String>>,
    add_labels: Vec<String>,
    remove_labels: Vec<String>,
}

/// Refuses a message whose folders or labels do not exist.
pub fn check_places(message: &EmailMessage, mailbox: &Folder<Entry>) -> Result<(), Problem> {
    let (folders, labels, keywords) = (&message.folder_ids, &message.label_ids, &message.keywords);
    let entry = |id: &String| mailbox.record(id).map(|(entry, _)| &**entry);
    if folders.is_empty() {
        return Err(Problem::field("folders", "a message lies in one folder at least"));
    }
    if let Some(id) = folders.iter().find(|id| entry(id).and_then(Entry::folder).is_none()) {
        return Err(Problem::field("folders", format!("there is no folder {id:?}")));
    }
    if let Some(id) = labels.iter().find(|id| entry(id).and_then(Entry::label).is_none()) {
        return Err(Problem::field("labels", format!("there is no label {id:?}")));
    }
    few("folders", folders.len(), MAX_PLACES)?;
    few("labels", labels.len(), MAX_PLACES)?;
    few("keywords", keywords.len(), MAX_PLACES)?;
    // A keyword as IMAP allows it (RFC 9051, `flag-keyword`), without commas, which separate them in query strings.
    let is_keyword = |word: &String| {
        let is_safe = |b: u8| b.is_ascii_graphic() && !b"(){%*\"\\],".contains(&b) && !b.is_ascii_uppercase();
        (1..=MAX_KEYWORD).contains(&word.len()) && word.bytes().all(is_safe)
    };
    match keywords.iter().find(|word| !is_keyword(word)) {
        Some(word) => Err(Problem::field("keywords", format!("{word:?} cannot be a keyword"))),
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

fn apply_patch(old: &EmailMessage, patch: &Patch) -> EmailMessage {
    let mut body = EmailMessage {
        unread: patch.unread.unwrap_or(old.unread),
        starred: patch.starred.unwrap_or(old.starred),
        answered: patch.answered.unwrap_or(old.answered),
        forwarded: patch.forwarded.unwrap_or(old.forwarded),
        importance: patch.importance.unwrap_or(old.importance),
        ..old.clone()
    };
    if let Some(folders) = &patch.folders {
        body.folder_ids.clear();
        edit(&mut body.folder_ids, folders, &[]);
    }
    edit(&mut body.label_ids, &patch.add_labels, &patch.remove_labels);
    edit(&mut body.keywords, &patch.add_keywords, &patch.remove_keywords);
    body
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
        let message =
            Message { body: apply_patch(&old.body, &read(Value::Object(body.clone()))?), ..old.clone() };
        check_places(&message.body, mailbox)?;
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
        if message.body.folder_ids != [TRASH] {
            let mut message = message.clone();
            message.body.folder_ids = vec![TRASH.to_owned()];
            state.put(&login.mail, MAILBOX, now_ms, Arc::new(Entry::Message(Box::new(message))));
        }
        Ok(receipt(200, Some(id.clone())))
    })
    .await
}
