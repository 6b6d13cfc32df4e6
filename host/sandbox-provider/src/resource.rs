//! Folders of documents, and the documents in them: contacts and tasks, whose operations are the same.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::collections::Collection;
use crate::document::Document;
use crate::kind::Kind;
use crate::ops::{Op, Put, PutHead, Receipt};
use crate::problem::Problem;
use crate::receipts::etag;
use crate::record::{Account, Folder, Folders, Head, Record};
use crate::state::State;

/// A value that the state and the journal store.
pub trait StoredValue:
    Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static
{
}

impl<T: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static> StoredValue for T {}

/// The properties of a folder of documents, as the model has them.
pub trait FolderBody: StoredValue {
    /// The code of the refusal to delete the main folder.
    const MAIN: &'static str;

    /// The properties of a new folder, before the client's are applied.
    fn begin() -> Self;
    /// Whether it is the folder that an account always has.
    fn is_main(&self) -> bool;
    /// Whether the API refuses all changes in it.
    fn is_locked(&self) -> bool;
    /// The properties that `patch` makes of these, checked.
    fn patched(&self, patch: &Map<String, Value>) -> Result<Self, Problem>;
}

/// The body of a record: a resource of the model, and what the provider stores with it.
pub trait Resource: StoredValue {
    type Folder: FolderBody;
    const KIND: Kind;
    /// Whether a folder with records in it is deleted only when the client insists.
    const GUARDS_RECORDS: bool;

    fn folders(account: &Account) -> &Folders<Document<Self>>;
    fn folders_mut(account: &mut Account) -> &mut Folders<Document<Self>>;
    fn head_op(op: PutHead<Document<Self::Folder>>) -> Op;
    fn put_op(op: Put<Document<Self>>) -> Op;

    /// The body of a new record, before the client's fields are applied.
    fn begin(fields: &Map<String, Value>) -> Result<Self, Problem>;
    /// The body that `patch` makes of this one, checked.
    fn patched(&self, patch: &Map<String, Value>, now_ms: i64) -> Result<Self, Problem>;
    /// Refuses references to records that the folder does not have.
    fn check_references(&self, id: &str, folder: &Folder<Document<Self>>) -> Result<(), Problem>;
    /// Whether it is the provider's own, which clients cannot change.
    fn is_built_in(&self) -> bool {
        false
    }
    /// Deletes the record, and deletes or changes those that refer to it; the receipt names them.
    fn delete(state: &mut State, deletion: &Deletion<'_>) -> Result<Receipt, Problem>;
    /// The JSON of the body in this version of the record.
    fn show(&self, id: &str, folder: &Folder<Document<Self>>, seq: u64) -> Value;
    /// The JSON of the folder's properties, with its counts.
    fn show_folder(folder: &Folder<Document<Self>>) -> Value;
}

/// The record to delete.
pub struct Deletion<'a> {
    pub mail: &'a str,
    pub folder: &'a str,
    pub id: &'a str,
    pub now_ms: i64,
}

/// The JSON of a document: the members of its body and its own.
pub fn render<B>(document: &Document<B>, mut body: Value, seq: u64) -> Value {
    body["id"] = json!(document.id);
    body["etag"] = json!(etag(seq));
    body["createdAt"] = json!(document.created_at);
    body["updatedAt"] = json!(document.updated_at);
    body
}

impl<F: FolderBody> Head for Document<F> {
    fn id(&self) -> &str {
        &self.id
    }

    fn is_main(&self) -> bool {
        self.body.is_main()
    }

    fn is_locked(&self) -> bool {
        self.body.is_locked()
    }
}

impl<B: Resource> Record for Document<B> {
    type Head = Document<B::Folder>;
    const KIND: Kind = B::KIND;

    fn id(&self) -> &str {
        &self.id
    }

    fn folders(account: &Account) -> &Folders<Self> {
        B::folders(account)
    }

    fn folders_mut(account: &mut Account) -> &mut Folders<Self> {
        B::folders_mut(account)
    }

    fn head_op(op: PutHead<Self::Head>) -> Op {
        B::head_op(op)
    }

    fn put_op(op: Put<Self>) -> Op {
        B::put_op(op)
    }

    fn show(&self, folder: &Folder<Self>, _: &str, seq: u64) -> Value {
        render(self, self.body.show(&self.id, folder, seq), seq)
    }

    fn show_folder(folder: &Folder<Self>) -> Value {
        render(&folder.head, B::show_folder(folder), folder.seq)
    }
}

impl<B: Resource> Collection for Document<B> {
    fn begin(id: String, _: &Account, now: String) -> Self::Head {
        Document::new(&id, B::Folder::begin(), &now)
    }

    fn patched(base: &Self::Head, patch: &Map<String, Value>, now: &str) -> Result<Self::Head, Problem> {
        let body = base.body.patched(patch)?;
        Ok(Document { body, updated_at: now.to_owned(), ..base.clone() })
    }

    fn check_delete(folder: &Folder<Self>, is_forced: bool) -> Result<(), Problem> {
        let name = B::KIND.folder();
        if folder.head.is_main() {
            let message = format!("the main {name} cannot be deleted");
            return Err(Problem::conflict(B::Folder::MAIN, message));
        }
        if folder.head.is_locked() {
            return Err(Problem::forbidden("locked", format!("the {name} is read-only")));
        }
        if B::GUARDS_RECORDS && !is_forced && folder.live().next().is_some() {
            let message = format!("the {name} is not empty: add force=true to delete it so");
            return Err(Problem::conflict("notEmpty", message));
        }
        Ok(())
    }
}
