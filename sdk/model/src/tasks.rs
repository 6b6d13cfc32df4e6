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
    /// The name.
    pub name: String,
    /// The default list cannot be deleted.
    pub role: Option<TaskListRole>,
    /// Whether the account owns the list.
    pub is_owner: bool,
    /// Whether others can see the list.
    pub is_shared: bool,
    /// Whether the account cannot change it.
    pub read_only: bool,
    /// `#rrggbb`.
    pub color: Option<String>,
    /// Position among the lists.
    pub sort_order: i64,
    /// Tasks in the list; null if unknown.
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

/// The purpose of a task list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum TaskListRole {
    /// The list of new tasks.
    #[default]
    Default,
    /// Flagged mail.
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
    /// The id of the task that it is a part of.
    pub parent_id: Option<String>,
    /// 1 to 1,024 characters.
    pub title: String,
    /// Notes, as `notesFormat` says.
    pub notes: Option<String>,
    /// The format of `notes`.
    pub notes_format: NotesFormat,
    /// The state of the task.
    pub status: TaskStatus,
    /// The priority.
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
    /// The time of completion.
    pub completed_at: Option<Instant>,
    /// The time of the reminder.
    pub reminder_at: Option<Instant>,
    /// RFC 5545 lines without DTSTART: at most one `RRULE:`, any `RDATE` and `EXDATE`.
    pub recurrence: Vec<String>,
    /// Names of categories.
    pub categories: Vec<String>,
    /// The people who are to do it.
    pub assignees: Vec<Assignee>,
    /// Sorts the list as text.
    pub position: Option<String>,
    /// Whether it has attachments.
    pub has_attachments: bool,
    /// The steps.
    pub checklist_items: Vec<ChecklistItem>,
    /// Links to resources and pages.
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

/// The format of a task's notes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum NotesFormat {
    /// Plain text.
    #[default]
    Text,
    /// HTML.
    Html,
}

/// The state of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum TaskStatus {
    /// Not begun.
    #[default]
    NeedsAction,
    /// Begun.
    InProgress,
    /// Done.
    Completed,
    /// Waiting for others.
    Waiting,
    /// Put off.
    Deferred,
    /// Given up.
    Cancelled,
}

/// The priority of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum TaskPriority {
    /// Low.
    Low,
    /// Normal.
    #[default]
    Normal,
    /// High.
    High,
}

/// A person who is to do a task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Assignee {
    /// The email address.
    pub email: Option<String>,
    /// The name.
    pub name: Option<String>,
}

/// A step of a task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ChecklistItem {
    /// The step's id.
    pub id: String,
    /// The task's id.
    pub task_id: String,
    /// The text of the step.
    pub title: String,
    /// Whether the step is done.
    pub checked: bool,
    /// The time at which it was done.
    pub checked_at: Option<Instant>,
    /// Sorts the items as text.
    pub position: Option<String>,
    /// The time of creation.
    pub created_at: Instant,
    /// The version, with its quotes, as in the `ETag` header.
    pub etag: String,
}

/// A step to add.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["title"])))]
pub struct NewChecklistItem {
    /// The text of the step.
    pub title: String,
    /// Whether the step is done.
    pub checked: bool,
    /// The place in the order, compared as text.
    pub position: Option<String>,
}

/// Changes of a step: absent keeps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ChecklistItemPatch {
    /// The text of the step.
    pub title: Option<String>,
    /// Whether the step is done.
    pub checked: Option<bool>,
    /// The place in the order, compared as text.
    pub position: Option<String>,
    /// The version that the change is based on, instead of `If-Match`.
    pub etag: Option<String>,
}

/// The subject of a task: a resource here, or a page elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TaskLink {
    /// The link's id.
    pub id: String,
    /// The task's id.
    pub task_id: String,
    /// The address of a page.
    pub url: Option<String>,
    /// The title of the page or resource.
    pub title: Option<String>,
    /// The name of the application that the link leads to.
    pub application_name: Option<String>,
    /// The provider's id of the link's subject.
    pub external_id: Option<String>,
    /// The type of the resource, or `url`.
    pub resource_type: LinkedType,
    /// The id of the resource.
    pub resource_id: Option<String>,
    /// The time of creation.
    pub created_at: Instant,
}

/// A link to add; one of `url` and `resourceId`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct NewTaskLink {
    /// The address of a page.
    pub url: Option<String>,
    /// The title of the page or resource.
    pub title: Option<String>,
    /// The name of the application that the link leads to.
    pub application_name: Option<String>,
    /// The type of the resource, or `url`.
    pub resource_type: LinkedType,
    /// The id of the resource.
    pub resource_id: Option<String>,
}

/// The type of a link's subject.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LinkedType {
    /// A message.
    EmailMessage,
    /// An event.
    CalendarEvent,
    /// A contact.
    Contact,
    /// A page.
    #[default]
    Url,
}
