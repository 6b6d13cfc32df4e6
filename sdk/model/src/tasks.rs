//! TaskList, Task, ChecklistItem, TaskLink. Ids of other resources are ours in the API and the provider's in a connector's
//! answer.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Instant;
use crate::resource::{Body, Nothing};

/// A list of tasks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TaskList {
    pub name: String,
    /// The default list cannot be deleted.
    pub role: Option<TaskListRole>,
    pub is_owner: bool,
    pub is_shared: bool,
    pub read_only: bool,
    /// `#rrggbb`.
    pub color: Option<String>,
    pub sort_order: i64,
    pub task_count: Option<i64>,
    /// Tasks that are neither completed nor cancelled.
    pub open_count: Option<i64>,
}

impl Body for TaskList {
    const NAME: &'static str = "TaskList";
    const REQUIRED: &'static [&'static str] = &["connectionId", "name"];
    const READ_ONLY: &'static [&'static str] =
        &["role", "isOwner", "isShared", "readOnly", "taskCount", "openCount"];
    type Extra = Nothing;
    type Options = Nothing;
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum TaskListRole {
    #[default]
    Default,
    Flagged,
}

/// A task. Setting `status` to `completed` stamps `completedAt`, leaving it clears that.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Task {
    /// The list of the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_list_id: Option<String>,
    pub parent_id: Option<String>,
    /// 1 to 1,024 characters.
    pub title: String,
    pub notes: Option<String>,
    pub notes_format: NotesFormat,
    pub status: TaskStatus,
    pub priority: Option<TaskPriority>,
    /// 0 to 100.
    pub percent_complete: Option<i64>,
    /// `YYYY-MM-DD`.
    pub start_date: Option<String>,
    /// `YYYY-MM-DD`.
    pub due_date: Option<String>,
    /// `HH:MM` in `timeZone`. A provider without times drops it and says so in `warnings`.
    pub due_time: Option<String>,
    /// IANA name.
    pub time_zone: Option<String>,
    pub completed_at: Option<Instant>,
    pub reminder_at: Option<Instant>,
    /// RFC 5545 lines without DTSTART: at most one `RRULE:`, any `RDATE` and `EXDATE`.
    pub recurrence: Vec<String>,
    pub categories: Vec<String>,
    pub assignees: Vec<Assignee>,
    /// Sorts the list as text.
    pub position: Option<String>,
    pub has_attachments: bool,
    pub checklist_items: Vec<ChecklistItem>,
    pub links: Vec<TaskLink>,
    /// The task in the provider's own web pages.
    pub web_url: Option<String>,
}

impl Body for Task {
    const NAME: &'static str = "Task";
    const REQUIRED: &'static [&'static str] = &["title"];
    const READ_ONLY: &'static [&'static str] =
        &["taskListId", "completedAt", "hasAttachments", "checklistItems", "links", "webUrl"];
    type Extra = Nothing;
    type Options = Nothing;
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum NotesFormat {
    #[default]
    Text,
    Html,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum TaskStatus {
    #[default]
    NeedsAction,
    InProgress,
    Completed,
    Waiting,
    Deferred,
    Cancelled,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum TaskPriority {
    Low,
    #[default]
    Normal,
    High,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Assignee {
    pub email: Option<String>,
    pub name: Option<String>,
}

/// A step of a task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ChecklistItem {
    pub id: String,
    pub task_id: String,
    pub title: String,
    pub checked: bool,
    pub checked_at: Option<Instant>,
    /// Sorts the items as text.
    pub position: Option<String>,
    pub created_at: Instant,
    pub etag: String,
}

/// A step to add.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["title"])))]
pub struct NewChecklistItem {
    pub title: String,
    pub checked: bool,
    pub position: Option<String>,
}

/// Changes of a step: absent keeps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ChecklistItemPatch {
    pub title: Option<String>,
    pub checked: Option<bool>,
    pub position: Option<String>,
    /// The version that the change is based on, instead of `If-Match`.
    pub etag: Option<String>,
}

/// The subject of a task: a resource here, or a page elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TaskLink {
    pub id: String,
    pub task_id: String,
    pub url: Option<String>,
    pub title: Option<String>,
    pub application_name: Option<String>,
    pub external_id: Option<String>,
    pub resource_type: LinkedType,
    pub resource_id: Option<String>,
    pub created_at: Instant,
}

/// A link to add; one of `url` and `resourceId`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct NewTaskLink {
    pub url: Option<String>,
    pub title: Option<String>,
    pub application_name: Option<String>,
    pub resource_type: LinkedType,
    pub resource_id: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LinkedType {
    EmailMessage,
    CalendarEvent,
    Contact,
    #[default]
    Url,
}
