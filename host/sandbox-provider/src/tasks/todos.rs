//! Task lists and tasks as documents.

use std::collections::HashMap;

use axum::http::StatusCode;
use model::tasks::{Task, TaskList, TaskListRole, TaskStatus};
use serde_json::{Map, Value, json};

use crate::kind::Kind;
use crate::ops::{Op, Put, PutHead, Receipt};
use crate::problem::Problem;
use crate::receipts::etag;
use crate::record::{Account, Folder, Folders};
use crate::records::receipt;
use crate::resource::{Deletion, FolderBody, Resource};
use crate::state::State;
use crate::store::folder;
use crate::tasks::{List, Todo, check};

impl FolderBody for TaskList {
    const MAIN: &'static str = "mainList";

    fn begin() -> Self {
        TaskList { is_owner: true, ..TaskList::default() }
    }

    fn is_main(&self) -> bool {
        self.role == Some(TaskListRole::Default)
    }

    fn is_locked(&self) -> bool {
        self.read_only
    }

    fn patched(&self, patch: &Map<String, Value>) -> Result<Self, Problem> {
        check::list(self, patch)
    }
}

impl Resource for Task {
    type Folder = TaskList;
    const KIND: Kind = Kind::Todo;
    const GUARDS_RECORDS: bool = false;

    fn folders(account: &Account) -> &Folders<Todo> {
        &account.lists
    }

    fn folders_mut(account: &mut Account) -> &mut Folders<Todo> {
        &mut account.lists
    }

    fn head_op(op: PutHead<List>) -> Op {
        Op::List(op)
    }

    fn put_op(op: Put<Todo>) -> Op {
        Op::Todo(op)
    }

    fn begin(_: &Map<String, Value>) -> Result<Self, Problem> {
        Ok(Task::default())
    }

    fn patched(&self, patch: &Map<String, Value>, now_ms: i64) -> Result<Self, Problem> {
        check::task(self, patch, now_ms)
    }

    /// Refuses a parent that does not exist, or that is below the task itself.
    fn check_references(&self, id: &str, list: &Folder<Todo>) -> Result<(), Problem> {
        let refused = |message: String| Problem {
            field: Some("parentId".to_owned()),
            ..Problem::new(StatusCode::BAD_REQUEST, "notAParent", message)
        };
        let mut above = self.parent_id.as_ref();
        while let Some(parent) = above {
            if parent == id {
                return Err(refused("a todo cannot be below itself".to_owned()));
            }
            let found = list.record(parent);
            let (parent, _) =
                found.ok_or_else(|| refused(format!("there is no todo {parent:?} in this list")))?;
            above = parent.body.parent_id.as_ref();
        }
        Ok(())
    }

    /// Deletes everything below it, too.
    fn delete(state: &mut State, deletion: &Deletion<'_>) -> Result<Receipt, Problem> {
        let dropped = below(folder::<Todo>(state, deletion.mail, deletion.folder)?, deletion.id);
        for id in std::iter::once(deletion.id).chain(dropped.iter().map(String::as_str)) {
            state.remove::<Todo>(deletion.mail, deletion.folder, deletion.now_ms, id);
        }
        Ok(Receipt { dropped, ..receipt::<Task>(200, deletion.folder, None) })
    }

    fn show(&self, id: &str, folder: &Folder<Todo>, seq: u64) -> Value {
        let list = &folder.head.id;
        let mut shown = json!(self);
        shown["taskListId"] = json!(list);
        shown["webUrl"] = json!(format!("https://tasks.sandbox.test/{list}/{id}"));
        for item in shown["checklistItems"].as_array_mut().into_iter().flatten() {
            item["taskId"] = json!(id);
            item["etag"] = json!(etag(seq));
        }
        for link in shown["links"].as_array_mut().into_iter().flatten() {
            link["taskId"] = json!(id);
        }
        shown
    }

    fn show_folder(folder: &Folder<Todo>) -> Value {
        let is_open =
            |todo: &Todo| !matches!(todo.body.status, TaskStatus::Completed | TaskStatus::Cancelled);
        let mut shown = json!(folder.head.body);
        shown["taskCount"] = json!(folder.live().count());
        shown["openCount"] = json!(folder.live().filter(|todo| is_open(todo)).count());
        shown
    }
}

/// Children, their children, and so on.
fn below(list: &Folder<Todo>, id: &str) -> Vec<String> {
    let mut children: HashMap<&str, Vec<&str>> = HashMap::new();
    for todo in list.live() {
        if let Some(parent) = &todo.body.parent_id {
            children.entry(parent).or_default().push(&todo.id);
        }
    }
    let mut found: Vec<&str> = children.get(id).cloned().unwrap_or_default();
    let mut at = 0;
    while let Some(next) = found.get(at) {
        let more = children.get(next).cloned().unwrap_or_default();
        found.extend(more);
        at += 1;
    }
    found.into_iter().map(str::to_owned).collect()
}
