//! Google's JSON of task lists and tasks, the members that are read.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// A task list.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct TaskListEntry {
    pub id: String,
    pub etag: Option<String>,
    pub title: Option<String>,
    pub updated: Option<String>,
}

/// A page of task lists.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TaskListPage {
    pub items: Vec<TaskListEntry>,
    pub next_page_token: Option<String>,
}

/// A page of tasks, each read for itself.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TaskPage {
    pub items: Vec<Box<RawValue>>,
    pub next_page_token: Option<String>,
}

/// A task.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TaskRecord {
    pub id: String,
    pub etag: Option<String>,
    pub title: Option<String>,
    pub updated: Option<String>,
    pub parent: Option<String>,
    /// Sorts the tasks of one parent as text.
    pub position: Option<String>,
    pub notes: Option<String>,
    pub status: Option<String>,
    /// A day, with a time that says nothing.
    pub due: Option<String>,
    pub completed: Option<String>,
    pub deleted: bool,
    /// Completed, and cleared from the list.
    pub hidden: bool,
    pub links: Option<Value>,
    pub web_view_link: Option<String>,
    /// The document or the chat that the task was assigned in.
    pub assignment_info: Option<Value>,
}

impl TaskRecord {
    pub fn is_completed(&self) -> bool {
        self.status.as_deref() == Some("completed")
    }
}

/// The name of a task, its version, and whether the task is there.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct TaskHead {
    pub id: String,
    pub etag: Option<String>,
    pub updated: Option<String>,
    pub deleted: bool,
}
