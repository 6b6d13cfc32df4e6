//! Task lists as folders of todos.

use serde_json::{Map, Value, json};

use crate::collections::Collection;
use crate::kind::Kind;
use crate::ops::{Op, Put, PutHead};
use crate::problem::Problem;
use crate::receipts::etag;
use crate::record::{Account, Folder, Folders, Head, Record};
use crate::tasks::types::{List, Todo, TodoState};
use crate::tasks::write;

impl Head for List {
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

impl Record for Todo {
    type Head = List;
    const KIND: Kind = Kind::Todo;

    fn id(&self) -> &str {
        &self.id
    }

    fn folders(account: &Account) -> &Folders<Self> {
        &account.lists
    }

    fn folders_mut(account: &mut Account) -> &mut Folders<Self> {
        &mut account.lists
    }

    fn head_op(op: PutHead<List>) -> Op {
        Op::List(op)
    }

    fn put_op(op: Put<Self>) -> Op {
        Op::Todo(op)
    }

    fn show(&self, folder: &Folder<Self>, _: &str, seq: u64) -> Value {
        let list = &folder.head.id;
        let mut document = json!(self);
        document["etag"] = json!(etag(seq));
        document["list"] = json!(list);
        document["webLink"] = json!(format!("https://tasks.sandbox.test/{list}/{}", self.id));
        document["locked"] = json!(folder.head.locked);
        document
    }

    fn show_folder(folder: &Folder<Self>) -> Value {
        let is_open = |todo: &Todo| !matches!(todo.state, TodoState::Done | TodoState::Dropped);
        let mut document = json!(folder.head);
        document["etag"] = json!(etag(folder.seq));
        document["todos"] = json!(folder.live().count());
        document["open"] = json!(folder.live().filter(|todo| is_open(todo)).count());
        document
    }
}

impl Collection for Todo {
    fn begin(id: String, _: &Account, now: String) -> List {
        List { id, mine: true, created_at: now, ..List::default() }
    }

    fn patched(base: &List, patch: &Map<String, Value>, now: &str) -> Result<List, Problem> {
        Ok(List { updated_at: now.to_owned(), ..write::list(base, patch)? })
    }

    fn check_delete(folder: &Folder<Self>, _: bool) -> Result<(), Problem> {
        if folder.head.main {
            return Err(Problem::conflict("mainList", "the main list cannot be deleted"));
        }
        if folder.head.locked {
            return Err(Problem::forbidden("locked", "the list is read-only"));
        }
        Ok(())
    }
}
