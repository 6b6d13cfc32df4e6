//! Address books as folders of cards.

use serde_json::{Map, Value, json};

use crate::collections::Collection;
use crate::contacts::types::{Book, Card, CardKind};
use crate::contacts::write;
use crate::kind::Kind;
use crate::ops::{Op, Put, PutHead};
use crate::problem::Problem;
use crate::receipts::etag;
use crate::record::{Account, Folder, Folders, Head, Record};

impl Head for Book {
    fn id(&self) -> &str {
        &self.id
    }

    fn is_main(&self) -> bool {
        self.main
    }

    fn is_locked(&self) -> bool {
        self.locked
    }
}

impl Record for Card {
    type Head = Book;
    const KIND: Kind = Kind::Card;

    fn id(&self) -> &str {
        &self.id
    }

    fn folders(account: &Account) -> &Folders<Self> {
        &account.books
    }

    fn folders_mut(account: &mut Account) -> &mut Folders<Self> {
        &mut account.books
    }

    fn head_op(op: PutHead<Book>) -> Op {
        Op::Book(op)
    }

    fn put_op(op: Put<Self>) -> Op {
        Op::Card(op)
    }

    fn show(&self, folder: &Folder<Self>, _: &str, seq: u64) -> Value {
        let mut document = json!(self);
        if let Some(picture) = document["picture"].as_object_mut() {
            picture.remove("bytes");
        }
        document["etag"] = json!(etag(seq));
        document["book"] = json!(folder.head.id);
        document["locked"] = json!(folder.head.locked || self.built_in);
        document
    }

    fn show_folder(folder: &Folder<Self>) -> Value {
        let mut document = json!(folder.head);
        let may_write = !folder.head.locked;
        document["etag"] = json!(etag(folder.seq));
        document["persons"] = json!(folder.live().filter(|c| c.kind == CardKind::Person).count());
        document["may"] = json!({ "look": true, "edit": may_write, "remove": may_write });
        document
    }
}

impl Collection for Card {
    fn begin(id: String, _: &Account, now: String) -> Book {
        Book { id, created_at: now, ..Book::default() }
    }

    fn patched(base: &Book, patch: &Map<String, Value>, now: &str) -> Result<Book, Problem> {
        Ok(Book { updated_at: now.to_owned(), ..write::book(base, patch)? })
    }

    fn check_delete(folder: &Folder<Self>, is_forced: bool) -> Result<(), Problem> {
        if folder.head.main {
            return Err(Problem::conflict("mainBook", "the main book cannot be deleted"));
        }
        if folder.head.locked {
            return Err(Problem::forbidden("locked", "the book is read-only"));
        }
        if !is_forced && folder.live().next().is_some() {
            return Err(Problem::conflict(
                "notEmpty",
                "the book is not empty: add force=true to delete it so",
            ));
        }
        Ok(())
    }
}
