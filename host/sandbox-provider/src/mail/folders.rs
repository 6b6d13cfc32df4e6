//! Mail folders and labels themselves: listed, created, changed and deleted in the same way.

use std::sync::Arc;

use axum::extract::{Path, State as AxumState};
use axum::http::StatusCode;
use axum::response::Response;
use axum::{Extension, Json};
use serde_json::{Map, Value, json};

use crate::mail::entries::{mailbox, receipt};
use crate::mail::types::{Entry, MailFolder, MailLabel};
use crate::ops::Receipt;
use crate::patch::{client_id, colour, patched, title};
use crate::problem::Problem;
use crate::receipts::{Change, exists, run, versioned};
use crate::record::{Folder, Record};
use crate::sandbox::Caller;
use crate::state::MAX_FOLDERS;
use crate::times::instant;

const FOLDER_FIELDS: &[&str] = &["title", "parent", "rank"];
const FOLDER_OWN: &[&str] =
    &["kind", "id", "etag", "purpose", "path", "total", "unread", "createdAt", "updatedAt"];
const LABEL_FIELDS: &[&str] = &["title", "colour", "textColour", "hidden"];
const LABEL_OWN: &[&str] = &["kind", "id", "etag", "total", "unread", "createdAt", "updatedAt"];

/// A folder or label that a client creates.
pub trait Shelf: Clone + PartialEq + Send + Sync + 'static {
    /// In paths and answers.
    const MANY: &'static str;
    /// In messages.
    const ONE: &'static str;

    fn of(entry: &Entry) -> Option<&Self>;
    fn entry(self) -> Entry;
    fn begin(id: String, now: String) -> Self;
    /// The folder or label after `patch`, checked.
    fn changed(&self, patch: &Map<String, Value>, mailbox: &Folder<Entry>) -> Result<Self, Problem>;
    fn stamped(self, now: String) -> Self;
    /// Fails if it cannot be changed or deleted.
    fn check_own(&self) -> Result<(), Problem>;
    /// The entries whose appearance changes with this one.
    fn below(&self, mailbox: &Folder<Entry>) -> Vec<Arc<Entry>>;
    /// Fails if it cannot be deleted now; else returns the messages that change with it.
    fn empty(&self, mailbox: &Folder<Entry>) -> Result<Vec<Entry>, Problem>;
}

impl Shelf for MailFolder {
    const MANY: &'static str = "folders";
    const ONE: &'static str = "folder";

    fn of(entry: &Entry) -> Option<&Self> {
        entry.folder()
    }

    fn entry(self) -> Entry {
        Entry::Folder(self)
    }

    fn begin(id: String, now: String) -> Self {
        MailFolder { id, rank: 100, created_at: now, ..MailFolder::default() }
    }

    fn changed(&self, patch: &Map<String, Value>, mailbox: &Folder<Entry>) -> Result<Self, Problem> {
        let folder: MailFolder = patched(self, patch, FOLDER_FIELDS, FOLDER_OWN)?;
        title("title", &folder.title)?;
        check_parent(&folder, mailbox)?;
        Ok(folder)
    }

    fn stamped(self, now: String) -> Self {
        MailFolder { updated_at: now, ..self }
    }

    fn check_own(&self) -> Result<(), Problem> {
        match self.purpose {
            Some(_) => Err(Problem::forbidden("systemFolder", "this folder is the provider's own")),
            None => Ok(()),
        }
    }

    /// Their paths name it.
    fn below(&self, mailbox: &Folder<Entry>) -> Vec<Arc<Entry>> {
        let folders: Vec<&Arc<Entry>> = mailbox.live().filter(|entry| entry.folder().is_some()).collect();
        let mut found: Vec<Arc<Entry>> = Vec::new();
        let mut above = vec![self.id.as_str()];
        while let Some(id) = above.pop() {
            let is_in =
                |entry: &&&Arc<Entry>| entry.folder().is_some_and(|f| f.parent.as_deref() == Some(id));
            for entry in folders.iter().filter(is_in) {
                above.push(entry.id());
                found.push(Arc::clone(entry));
            }
        }
        found
    }

    fn empty(&self, mailbox: &Folder<Entry>) -> Result<Vec<Entry>, Problem> {
        let holds = |entry: &Arc<Entry>| match &**entry {
            Entry::Folder(folder) => folder.parent.as_ref() == Some(&self.id),
            Entry::Message(message) => message.folders.contains(&self.id),
            Entry::Label(_) => false,
        };
        match mailbox.live().any(holds) {
            true => Err(Problem::conflict("notEmpty", "the folder is not empty")),
            false => Ok(Vec::new()),
        }
    }
}

/// Refuses a parent that does not exist, or that is below the folder itself.
fn check_parent(folder: &MailFolder, mailbox: &Folder<Entry>) -> Result<(), Problem> {
    let mut above = folder.parent.as_ref();
    while let Some(id) = above {
        if *id == folder.id {
            return Err(Problem::field("parent", "a folder cannot lie in itself"));
        }
        let parent = mailbox.record(id).and_then(|(entry, _)| entry.folder());
        let parent = parent.ok_or_else(|| Problem::field("parent", format!("there is no folder {id:?}")))?;
        above = parent.parent.as_ref();
    }
    Ok(())
}

impl Shelf for MailLabel {
    const MANY: &'static str = "labels";
    const ONE: &'static str = "label";

    fn of(entry: &Entry) -> Option<&Self> {
        entry.label()
    }

    fn entry(self) -> Entry {
        Entry::Label(self)
    }

    fn begin(id: String, now: String) -> Self {
        MailLabel { id, created_at: now, ..MailLabel::default() }
    }

    fn changed(&self, patch: &Map<String, Value>, _: &Folder<Entry>) -> Result<Self, Problem> {
        let label: MailLabel = patched(self, patch, LABEL_FIELDS, LABEL_OWN)?;
        title("title", &label.title)?;
        colour("colour", label.colour.as_ref())?;
        colour("textColour", label.text_colour.as_ref())?;
        Ok(label)
    }

    fn stamped(self, now: String) -> Self {
        MailLabel { updated_at: now, ..self }
    }

    fn check_own(&self) -> Result<(), Problem> {
        Ok(())
    }

    fn below(&self, _: &Folder<Entry>) -> Vec<Arc<Entry>> {
        Vec::new()
    }

    fn empty(&self, mailbox: &Folder<Entry>) -> Result<Vec<Entry>, Problem> {
        let labelled = mailbox.live().filter_map(|entry| entry.message());
        let labelled = labelled.filter(|message| message.labels.contains(&self.id));
        let bare = labelled.map(|message| {
            let mut message = message.clone();
            message.labels.retain(|label| *label != self.id);
            Entry::Message(Box::new(message))
        });
        Ok(bare.collect())
    }
}

fn find<'a, S: Shelf>(mailbox: &'a Folder<Entry>, id: &str) -> Result<(&'a S, u64), Problem> {
    let found = mailbox.record(id).and_then(|(entry, slot)| Some((S::of(entry)?, slot.seq)));
    found.ok_or_else(|| Problem::not_found(S::ONE, id))
}

/// `GET /sandbox/v1/mail/folders` and `…/labels`: all of them.
pub async fn list<S: Shelf>((AxumState(sandbox), Extension(login)): Caller) -> Result<Json<Value>, Problem> {
    let shown = sandbox
        .read(|state| {
            let mailbox = mailbox(state, &login.mail)?;
            let all = mailbox.order.values().filter_map(|id| mailbox.record(id));
            let mut all: Vec<_> = all.filter(|(entry, _)| S::of(entry).is_some()).collect();
            all.sort_by_key(|(entry, slot)| (entry.folder().map_or(0, |folder| folder.rank), slot.seq));
            let shown = all.into_iter().map(|(entry, slot)| entry.show(mailbox, &login.mail, slot.seq));
            Ok(shown.collect::<Vec<_>>())
        })
        .await?;
    Ok(Json(json!({ S::MANY: shown })))
}

/// `GET …/folders/{folder}`
pub async fn get<S: Shelf>(
    (AxumState(sandbox), Extension(login)): Caller,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let (shown, seq) = sandbox
        .read(|state| {
            let mailbox = mailbox(state, &login.mail)?;
            let (shelf, seq) = find::<S>(mailbox, &id)?;
            Ok((shelf.clone().entry().show(mailbox, &login.mail, seq), seq))
        })
        .await?;
    Ok(versioned(StatusCode::OK, shown, Some(seq)))
}

/// `POST …/folders`
pub async fn create<S: Shelf>(
    (AxumState(sandbox), Extension(login)): Caller,
    change: Change,
) -> Result<Response, Problem> {
    let fresh = sandbox.new_id()?;
    run(&sandbox, &login, change, |state, now_ms, body, _| {
        let mailbox = mailbox(state, &login.mail)?;
        let id = client_id(body)?.unwrap_or(fresh);
        if let Some((_, slot)) = mailbox.record(&id) {
            return Err(exists("an entry", &id, slot.seq));
        }
        if mailbox.live().filter(|entry| S::of(entry).is_some()).count() >= MAX_FOLDERS {
            return Err(Problem::full(format!("a mailbox has at most {MAX_FOLDERS} {}", S::MANY)));
        }
        let now = instant(now_ms);
        let shelf = S::begin(id.clone(), now.clone()).changed(body, mailbox)?.stamped(now);
        let mailbox = mailbox.head.id.clone();
        state.put(&login.mail, &mailbox, now_ms, Arc::new(shelf.entry()));
        Ok(receipt(201, Some(id)))
    })
    .await
}

/// `PATCH …/folders/{folder}`. A patch without effect makes no new version.
pub async fn update<S: Shelf>(
    (AxumState(sandbox), Extension(login)): Caller,
    Path(id): Path<String>,
    change: Change,
) -> Result<Response, Problem> {
    run(&sandbox, &login, change, |state, now_ms, body, change| {
        let mailbox = mailbox(state, &login.mail)?;
        let (old, seq) = find::<S>(mailbox, &id)?;
        old.check_own()?;
        change.check_etag(seq)?;
        let shelf = old.changed(body, mailbox)?;
        if shelf == *old {
            return Ok(receipt(200, Some(id.clone())));
        }
        let (below, mailbox) = (shelf.below(mailbox), mailbox.head.id.clone());
        let others = below.iter().map(|entry| entry.id().to_owned()).collect();
        state.put(&login.mail, &mailbox, now_ms, Arc::new(shelf.stamped(instant(now_ms)).entry()));
        for entry in below {
            state.put(&login.mail, &mailbox, now_ms, entry);
        }
        Ok(Receipt { others, ..receipt(200, Some(id.clone())) })
    })
    .await
}

/// `DELETE …/folders/{folder}`
pub async fn delete<S: Shelf>(
    (AxumState(sandbox), Extension(login)): Caller,
    Path(id): Path<String>,
    change: Change,
) -> Result<Response, Problem> {
    run(&sandbox, &login, change, |state, now_ms, _, change| {
        let mailbox = mailbox(state, &login.mail)?;
        let (shelf, seq) = find::<S>(mailbox, &id)?;
        shelf.check_own()?;
        change.check_etag(seq)?;
        let (touched, mailbox) = (shelf.empty(mailbox)?, mailbox.head.id.clone());
        let others = touched.iter().map(|entry| entry.id().to_owned()).collect();
        for entry in touched {
            state.put(&login.mail, &mailbox, now_ms, Arc::new(entry));
        }
        state.remove::<Entry>(&login.mail, &mailbox, now_ms, &id);
        Ok(Receipt { others, ..receipt(200, None) })
    })
    .await
}
