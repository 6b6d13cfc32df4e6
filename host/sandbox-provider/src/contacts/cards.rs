//! Address books and cards as documents, and stored photos.

use std::sync::Arc;

use axum::extract::{Path, State as AxumState};
use axum::http::StatusCode;
use axum::{Extension, Json};
use model::contacts::{BookRights, Contact, ContactBook, ContactGroup, GroupKind};
use serde_json::{Map, Value, json};

use crate::contacts::{Book, Card, CardBody, check};
use crate::document::Document;
use crate::kind::Kind;
use crate::ops::{Op, Put, PutHead, Receipt};
use crate::problem::Problem;
use crate::record::{Account, Folder, Folders};
use crate::records::{RecordPath, receipt};
use crate::resource::{Deletion, FolderBody, Resource};
use crate::sandbox::Caller;
use crate::state::State;
use crate::store::{find, folder};
use crate::times::instant;

impl FolderBody for ContactBook {
    const MAIN: &'static str = "mainBook";

    fn begin() -> Self {
        ContactBook::default()
    }

    fn is_main(&self) -> bool {
        self.is_default
    }

    fn is_locked(&self) -> bool {
        self.read_only
    }

    fn patched(&self, patch: &Map<String, Value>) -> Result<Self, Problem> {
        check::book(self, patch)
    }
}

impl Resource for CardBody {
    type Folder = ContactBook;
    const KIND: Kind = Kind::Card;
    const GUARDS_RECORDS: bool = true;

    fn folders(account: &Account) -> &Folders<Card> {
        &account.books
    }

    fn folders_mut(account: &mut Account) -> &mut Folders<Card> {
        &mut account.books
    }

    fn head_op(op: PutHead<Book>) -> Op {
        Op::Book(op)
    }

    fn put_op(op: Put<Card>) -> Op {
        Op::Card(op)
    }

    fn begin(fields: &Map<String, Value>) -> Result<Self, Problem> {
        let kind = fields.get("type").filter(|kind| !kind.is_null());
        match kind.map(|kind| kind.as_str().unwrap_or_default()) {
            None | Some("contact") => Ok(CardBody::Contact(Box::default())),
            Some("contact_group") => Ok(CardBody::Group(ContactGroup::default())),
            Some(_) => Err(Problem::field("type", "type must be contact or contact_group")),
        }
    }

    fn patched(&self, patch: &Map<String, Value>, _: i64) -> Result<Self, Problem> {
        if patch.get("type").is_some_and(|kind| !kind.is_null() && kind != self.kind()) {
            return Err(Problem::field("type", "a contact stays a contact, and a group a group"));
        }
        Ok(match self {
            CardBody::Contact(contact) => CardBody::Contact(Box::new(check::contact(contact, patch)?)),
            CardBody::Group(group) => CardBody::Group(check::group(group, patch)?),
        })
    }

    /// Refuses members of a group that are not in the book, or are groups themselves.
    fn check_references(&self, _: &str, book: &Folder<Card>) -> Result<(), Problem> {
        let is_contact =
            |id: &String| book.record(id).is_some_and(|(c, _)| matches!(c.body, CardBody::Contact(_)));
        let members = self.members();
        match members.iter().position(|id| !is_contact(id)) {
            Some(at) => Err(Problem {
                field: Some(format!("contactIds[{at}]")),
                ..Problem::new(
                    StatusCode::BAD_REQUEST,
                    "notAMember",
                    format!("{:?} is no contact of this book", members[at]),
                )
            }),
            None => Ok(()),
        }
    }

    fn is_built_in(&self) -> bool {
        matches!(self, CardBody::Group(group) if group.kind == GroupKind::System)
    }

    /// Removes a contact from all groups.
    fn delete(state: &mut State, deletion: &Deletion<'_>) -> Result<Receipt, Problem> {
        let Deletion { mail, folder: book, id, now_ms } = *deletion;
        state.remove::<Card>(mail, book, now_ms, id);
        let has_it = |card: &&Arc<Card>| card.body.members().iter().any(|member| member == id);
        let groups: Vec<Arc<Card>> =
            folder::<Card>(state, mail, book)?.live().filter(has_it).cloned().collect();
        for group in &groups {
            let mut card = Document { updated_at: instant(now_ms), ..(**group).clone() };
            if let CardBody::Group(group) = &mut card.body {
                group.contact_ids.iter_mut().for_each(|ids| ids.retain(|member| member != id));
            }
            state.put(mail, book, now_ms, Arc::new(card));
        }
        let others = groups.iter().map(|group| group.id.clone()).collect();
        Ok(Receipt { others, ..receipt::<CardBody>(200, book, None) })
    }

    fn show(&self, _: &str, folder: &Folder<Card>, _: u64) -> Value {
        let mut shown = match self {
            CardBody::Contact(contact) => {
                let mut shown = json!(contact);
                if stored_photo(contact).is_some() {
                    shown["photo"]["url"] = Value::Null;
                }
                shown
            }
            CardBody::Group(group) => {
                let mut shown = json!(group);
                shown["memberCount"] = json!(self.members().len());
                shown["readOnly"] = json!(folder.head.body.read_only || self.is_built_in());
                shown
            }
        };
        shown["type"] = json!(self.kind());
        shown["bookId"] = json!(folder.head.id);
        shown
    }

    fn show_folder(folder: &Folder<Card>) -> Value {
        let book = &folder.head.body;
        let mut shown = json!(book);
        let contacts = folder.live().filter(|card| matches!(card.body, CardBody::Contact(_)));
        shown["contactCount"] = json!(contacts.count());
        shown["rights"] = json!(BookRights { read: true, write: !book.read_only, delete: !book.read_only });
        shown
    }
}

impl CardBody {
    /// The name of its type in JSON.
    fn kind(&self) -> &'static str {
        match self {
            CardBody::Contact(_) => "contact",
            CardBody::Group(_) => "contact_group",
        }
    }
}

/// The media type and the base64 of a photo that is stored in the record.
fn stored_photo(contact: &Contact) -> Option<(&str, &str)> {
    let data = contact.photo.as_ref()?.url.as_deref()?.strip_prefix("data:")?;
    data.split_once(";base64,")
}

/// `GET …/cards/{card}/picture`: a stored photo.
pub async fn picture(
    (AxumState(sandbox), Extension(login)): Caller,
    Path((book, id)): Path<RecordPath>,
) -> Result<Json<Value>, Problem> {
    let card = sandbox.read(|state| Ok(find(folder::<Card>(state, &login.mail, &book)?, &id)?.0)).await?;
    let CardBody::Contact(contact) = &card.body else { return Err(Problem::not_found("contact", &id)) };
    let stored = stored_photo(contact);
    let (media_type, bytes) = stored.ok_or_else(|| Problem::not_found("stored picture of card", &id))?;
    let etag = contact.photo.as_ref().and_then(|photo| photo.etag.as_ref());
    Ok(Json(json!({ "contentType": media_type, "contentBase64": bytes, "etag": etag })))
}
