//! The store of a user's task lists.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::clock;
use crate::google::call::Call;
use crate::google::errors::ApiError;
use crate::google::state::State;

/// The id of the list that each account has.
pub const DEFAULT_LIST: &str = "MDAwMDAwMDAwMDAwMDAwMDAwMDA6MDow";

/// The task lists of a user.
pub struct TaskBook {
    /// In the order of their creation.
    pub lists: Vec<TaskListRecord>,
    /// The originals in documents and chat spaces that were deleted with their tasks.
    pub deleted_originals: Vec<String>,
}

/// A task list.
pub struct TaskListRecord {
    pub id: String,
    pub title: String,
    pub updated_ms: i64,
    pub changed: u64,
    pub tasks: BTreeMap<String, TaskRecord>,
    /// The ids of the tasks that have a place, in the order in which they stand beneath each parent.
    pub order: Vec<String>,
}

/// A task as it is stored.
#[derive(Clone)]
pub struct TaskRecord {
    pub id: String,
    /// `title`, `notes`, `status`, `due`, `completed`, `links`.
    pub members: Map<String, Value>,
    pub parent: Option<String>,
    pub is_deleted: bool,
    pub is_hidden: bool,
    /// It comes again: Google's API shows the current one alone.
    pub is_repeating: bool,
    /// `assignmentInfo` of a task from a document or a chat space.
    pub assignment: Option<Value>,
    pub updated_ms: i64,
    /// The number in the etag.
    pub changed: u64,
}

impl Default for TaskBook {
    fn default() -> Self {
        let list = TaskListRecord {
            id: DEFAULT_LIST.to_owned(),
            title: "My Tasks".to_owned(),
            updated_ms: clock::START_MS,
            changed: 0,
            tasks: BTreeMap::new(),
            order: Vec::new(),
        };
        TaskBook { lists: vec![list], deleted_originals: Vec::new() }
    }
}

impl TaskBook {
    /// The list with this id, or `@default`.
    ///
    /// # Errors
    /// There is none: 404.
    pub fn list(&self, id: &str) -> Result<&TaskListRecord, ApiError> {
        self.lists.iter().find(|list| is_called(list, id)).ok_or_else(no_list)
    }

    /// The same, to be changed.
    ///
    /// # Errors
    /// There is none: 404.
    pub fn list_mut(&mut self, id: &str) -> Result<&mut TaskListRecord, ApiError> {
        self.lists.iter_mut().find(|list| is_called(list, id)).ok_or_else(no_list)
    }
}

fn is_called(list: &TaskListRecord, id: &str) -> bool {
    list.id == id || (id == "@default" && list.id == DEFAULT_LIST)
}

fn no_list() -> ApiError {
    ApiError::new(404, "notFound", "Task list not found.")
}

fn no_task() -> ApiError {
    ApiError::new(404, "notFound", "Task not found.")
}

impl TaskListRecord {
    /// The task with this id, deleted ones too.
    ///
    /// # Errors
    /// There is none: 404.
    pub fn task(&self, id: &str) -> Result<&TaskRecord, ApiError> {
        self.tasks.get(id).ok_or_else(no_task)
    }

    /// The task with this id, to be changed.
    ///
    /// # Errors
    /// There is none, or it is deleted: 404.
    pub fn task_mut(&mut self, id: &str) -> Result<&mut TaskRecord, ApiError> {
        self.tasks.get_mut(id).filter(|task| !task.is_deleted).ok_or_else(no_task)
    }

    /// The ids of the tasks beneath a parent, in their order; those of the top level without one.
    pub fn siblings(&self, parent: Option<&str>) -> Vec<&str> {
        let is_sibling =
            |id: &&String| self.tasks.get(*id).is_some_and(|task| task.parent.as_deref() == parent);
        self.order.iter().filter(is_sibling).map(String::as_str).collect()
    }

    /// Puts a task behind a sibling, or before all others.
    pub fn place(&mut self, id: &str, previous: Option<&str>) {
        self.order.retain(|one| one != id);
        let behind = previous.and_then(|previous| self.order.iter().position(|one| one == previous));
        self.order.insert(behind.map_or(0, |at| at + 1), id.to_owned());
    }

    /// Takes a task out of the order.
    pub fn displace(&mut self, id: &str) {
        self.order.retain(|one| one != id);
    }
}

impl TaskRecord {
    /// A member as text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.members.get(name).and_then(Value::as_str)
    }

    pub fn is_completed(&self) -> bool {
        self.text("status") == Some("completed")
    }
}

/// The task lists of the user who calls.
pub fn of_caller<'s>(state: &'s mut State, call: &Call) -> &'s mut TaskBook {
    state.tasks.entry(call.user.clone()).or_default()
}
