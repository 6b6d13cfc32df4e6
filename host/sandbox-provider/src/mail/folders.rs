//! Mail folders and labels themselves: listed, created, changed and deleted in the same way.

use std::sync::Arc;

use axum::extract::{Path, State as AxumState};
use axum::http::StatusCode;
use axum::response::Response;
use axum::{Extension, Json};
use model::email::folders::{Folder as FolderProperties, FolderRights, Label, LabelColor};
use model::resource::Body;
use serde_json::{Value, json};

use crate::document::Document;
use crate::mail::entries::{mailbox, receipt};
use crate::mail::types::{Entry, MAILBOX};
use crate::ops::Receipt;
use crate::patch::{client_id, colour, merged, title};
use crate::problem::Problem;
use crate::receipts::{Change, exists, run, versioned};
use crate::record::{Folder, Record};
use crate::resource::StoredValue;
use crate::sandbox::Caller;
use crate::state::MAX_FOLDERS;
use crate::times::instant;

/// The rights in every folder; system folders can be neither renamed nor deleted.
pub const RIGHTS: FolderRights =
    FolderRights { read: true, add: true, remove: true, set_flags: true, rename: true, delete: true };

/// The properties of a folder or a label.
pub trait Container: StoredValue + Body + Default {
    /// In paths and answers.
    const MANY: &'static str;
    /// In messages.
    const ONE: &'static str;
    /// The members that clients cannot change.
    const OWN: &'static [&'static str];

    fn from_entry(entry: &Entry) -> Option<&Document<Self>>;
    fn make_entry(document: Document<Self>) -> Entry;
    /// The properties of a new one, before the client's are applied.
    fn begin() -> Self;
    /// Whether it is the provider's own, which clients cannot change.
    fn is_system(&self) -> bool;
    /// These properties, if the folder or label of this id can have them.
    fn checked(self, id: &str, mailbox: &Folder<Entry>) -> Result<Self, Problem>;
}

impl Container for FolderProperties {
    const MANY: &'static str = "folders";
    const ONE: &'static str = "folder";
    const OWN: &'static [&'static str] = &[
        "type",
        "path",
        "role",
        "totalCount",
        "unreadCount",
        "subscribed",
        "selectable",
        "rights",
        "system",
    ];

    fn from_entry(entry: &Entry) -> Option<&Document<Self>> {
        entry.folder()
    }

    fn make_entry(document: Document<Self>) -> Entry {
        Entry::Folder(document)
    }

    fn begin() -> Self {
        let (sort_order, rights) = (100, RIGHTS);
        FolderProperties { sort_order, rights, subscribed: true, selectable: true, ..Self::default() }
    }

    fn is_system(&self) -> bool {
        self.system
    }

    /// Refuses a parent that does not exist, or that is below the folder itself.
    fn checked(self, id: &str, mailbox: &Folder<Entry>) -> Result<Self, Problem> {
        title("name", &self.name)?;
        let mut above = self.parent_id.as_ref();
        while let Some(parent_id) = above {
            if parent_id == id {
                return Err(Problem::field("parentId", "a folder cannot lie in itself"));
            }
            let parent = mailbox.record(parent_id).and_then(|(entry, _)| entry.folder());
            let unknown = || Problem::field("parentId", format!("there is no folder {parent_id:?}"));
            above = parent.ok_or_else(unknown)?.body.parent_id.as_ref();
        }
        Ok(self)
    }
}

impl Container for Label {
    const MANY: &'static str = "labels";
    const ONE: &'static str = "label";
    const OWN: &'static [&'static str] = &["type", "system", "totalCount", "unreadCount"];

    fn from_entry(entry: &Entry) -> Option<&Document<Self>> {
        entry.label()
    }

    fn make_entry(document: Document<Self>) -> Entry {
        Entry::Label(document)
    }

    fn begin() -> Self {
        Label::default()
    }

    fn is_system(&self) -> bool {
        self.system
    }

    fn checked(mut self, _: &str, _: &Folder<Entry>) -> Result<Self, Problem> {
        title("name", &self.name)?;
        self.color = self.color.filter(|color| *color != LabelColor::default());
        if let Some(color) = &self.color {
            colour("color.background", color.background.as_ref())?;
            colour("color.text", color.text.as_ref())?;
        }
        Ok(self)
    }
}

/// Whether the entry is a folder directly in the one of this id.
fn is_child_of(entry: &Entry, id: &str) -> bool {
    entry.folder().is_some_and(|folder| folder.body.parent_id.as_deref() == Some(id))
}

/// The folders in the one of this id, at any depth: their paths name it.
fn below(id: &str, mailbox: &Folder<Entry>) -> Vec<Arc<Entry>> {
    let mut found: Vec<Arc<Entry>> = Vec::new();
    let mut above = vec![id];
    while let Some(id) = above.pop() {
        for entry in mailbox.live().filter(|entry| is_child_of(entry, id)) {
            above.push(entry.id());
            found.push(Arc::clone(entry));
        }
    }
    found
}

/// The messages without the label of this id. Fails for a folder that is not empty.
fn emptied(id: &str, mailbox: &Folder<Entry>) -> Result<Vec<Entry>, Problem> {
    let mut without = Vec::new();
    for entry in mailbox.live() {
        let has = |ids: &[String]| ids.iter().any(|one| one == id);
        if is_child_of(entry, id) || entry.message().is_some_and(|message| has(&message.body.folder_ids)) {
            return Err(Problem::conflict("notEmpty", "the folder is not empty"));
        }
        if let Some(message) = entry.message().filter(|message| has(&message.body.label_ids)) {
            let mut message = message.clone();
            message.body.label_ids.retain(|label| label != id);
            without.push(Entry::Message(Box::new(message)));
        }
    }
    Ok(without)
}

fn find<'a, C: Container>(mailbox: &'a Folder<Entry>, id: &str) -> Result<(&'a Document<C>, u64), Problem> {
    let found = mailbox.record(id).and_then(|(entry, slot)| Some((C::from_entry(entry)?, slot.seq)));
    found.ok_or_else(|| Problem::not_found(C::ONE, id))
}

fn check_system<C: Container>(body: &C) -> Result<(), Problem> {
    match body.is_system() {
        true => Err(Problem::forbidden("systemFolder", format!("the {} is the provider's own", C::ONE))),
        false => Ok(()),
    }
}

/// `GET /sandbox/v1/mail/folders` and `…/labels`: all of them.
pub async fn list<C: Container>(
    (AxumState(sandbox), Extension(login)): Caller,
) -> Result<Json<Value>, Problem> {
    let shown = sandbox
        .read(|state| {
            let mailbox = mailbox(state, &login.mail)?;
            let all = mailbox.order.values().filter_map(|id| mailbox.record(id));
            let mut all: Vec<_> = all.filter(|(entry, _)| C::from_entry(entry).is_some()).collect();
            all.sort_by_key(|(entry, slot)| {
                (entry.folder().map_or(0, |folder| folder.body.sort_order), slot.seq)
            });
            let shown = all.into_iter().map(|(entry, slot)| entry.show(mailbox, &login.mail, slot.seq));
            Ok(shown.collect::<Vec<_>>())
        })
        .await?;
    Ok(Json(json!({ C::MANY: shown })))
}

/// `GET …/folders/{folder}`
pub async fn get<C: Container>(
    (AxumState(sandbox), Extension(login)): Caller,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let (shown, seq) = sandbox
        .read(|state| {
            let mailbox = mailbox(state, &login.mail)?;
            let (document, seq) = find::<C>(mailbox, &id)?;
            Ok((C::make_entry(document.clone()).show(mailbox, &login.mail, seq), seq))
        })
        .await?;
    Ok(versioned(StatusCode::OK, shown, Some(seq)))
}

/// `POST …/folders`
pub async fn create<C: Container>(
    (AxumState(sandbox), Extension(login)): Caller,
    change: Change,
) -> Result<Response, Problem> {
    let fresh = sandbox.new_id()?;
    run(&sandbox, &login, change, |state, now_ms, fields, _| {
        let mailbox = mailbox(state, &login.mail)?;
        let id = client_id(fields)?.unwrap_or(fresh);
        if let Some((_, slot)) = mailbox.record(&id) {
            return Err(exists("an entry", &id, slot.seq));
        }
        if mailbox.live().filter(|entry| C::from_entry(entry).is_some()).count() >= MAX_FOLDERS {
            return Err(Problem::full(format!("a mailbox has at most {MAX_FOLDERS} {}", C::MANY)));
        }
        let body = merged(&C::begin(), fields, C::OWN)?.checked(&id, mailbox)?;
        let document = Document::new(&id, body, &instant(now_ms));
        state.put(&login.mail, MAILBOX, now_ms, Arc::new(C::make_entry(document)));
        Ok(receipt(201, Some(id)))
    })
    .await
}

/// `PATCH …/folders/{folder}`. A patch without effect makes no new version.
pub async fn update<C: Container>(
    (AxumState(sandbox), Extension(login)): Caller,
    Path(id): Path<String>,
    change: Change,
) -> Result<Response, Problem> {
    run(&sandbox, &login, change, |state, now_ms, patch, change| {
        let mailbox = mailbox(state, &login.mail)?;
        let (old, seq) = find::<C>(mailbox, &id)?;
        check_system(&old.body)?;
        change.check_etag(seq)?;
        let body = merged(&old.body, patch, C::OWN)?.checked(&id, mailbox)?;
        if body == old.body {
            return Ok(receipt(200, Some(id.clone())));
        }
        let document = Document { body, updated_at: instant(now_ms), ..old.clone() };
        let below = below(&id, mailbox);
        let others = below.iter().map(|entry| entry.id().to_owned()).collect();
        state.put(&login.mail, MAILBOX, now_ms, Arc::new(C::make_entry(document)));
        for entry in below {
            state.put(&login.mail, MAILBOX, now_ms, entry);
        }
        Ok(Receipt { others, ..receipt(200, Some(id.clone())) })
    })
    .await
}

/// `DELETE …/folders/{folder}`
pub async fn delete<C: Container>(
    (AxumState(sandbox), Extension(login)): Caller,
    Path(id): Path<String>,
    change: Change,
) -> Result<Response, Problem> {
    run(&sandbox, &login, change, |state, now_ms, _, change| {
        let mailbox = mailbox(state, &login.mail)?;
        let (document, seq) = find::<C>(mailbox, &id)?;
        check_system(&document.body)?;
        change.check_etag(seq)?;
        let changed = emptied(&id, mailbox)?;
        let others = changed.iter().map(|entry| entry.id().to_owned()).collect();
        for entry in changed {
            state.put(&login.mail, MAILBOX, now_ms, Arc::new(entry));
        }
        state.remove::<Entry>(&login.mail, MAILBOX, now_ms, &id);
        Ok(Receipt { others, ..receipt(200, None) })
    })
    .await
}
