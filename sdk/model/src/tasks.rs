//! TaskList, Task, ChecklistItem, TaskLink. Ids of other resources are ours in the API and the provider's in a connector's
//! answer.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Instant;
#[cfg(feature = "schema")]
use crate::bounds;
#[cfg(feature = "schema")]
use crate::formats;
use crate::resource::{Body, Nothing};

/// A list of tasks of a connected account.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TaskList {
    /// The name of the list.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = bounds::MAX_LABEL), regex(pattern = r"\S")))]
    pub name: String,
    /// The purpose of the list, decided by the provider; null if it has none. The default list cannot be deleted.
    pub role: Option<TaskListRole>,
    /// Whether the account owns the list. False: another person shares it with the account.
    pub is_owner: bool,
    /// Whether other people can see the list.
    pub is_shared: bool,
    /// Whether the account can read this list but not change it.
    pub read_only: bool,
    /// The color of the list as `#rrggbb`; null if it has none.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Color>"))]
    pub color: Option<String>,
    /// The position among the account's lists, lowest first; 0 if the provider has no order.
    pub sort_order: i64,
    /// The number of tasks in the list; null if it is unknown.
    pub task_count: Option<i64>,
    /// The number of tasks that are neither completed nor cancelled; null if it is unknown.
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
    /// The list that new tasks go to by default.
    #[default]
    Default,
    /// The list of flagged messages.
    Flagged,
}

/// A task. Setting `status` to `completed` sets `completedAt` to the present time; another status clears it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Task {
    /// The task list that holds the task, as in the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_list_id: Option<String>,
    /// The id of the task that this task is a subtask of, in the same list; null for a task at the top.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Id>"))]
    pub parent_id: Option<String>,
    /// The title of the task.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = bounds::MAX_LINE), regex(pattern = r"\S")))]
    pub title: String,
    /// The notes on the task, in the format that `notesFormat` names; null if there are none.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_TEXT)))]
    pub notes: Option<String>,
    /// The format of `notes`.
    pub notes_format: NotesFormat,
    /// The state of the task.
    pub status: TaskStatus,
    /// The priority of the task; null if it has none.
    pub priority: Option<TaskPriority>,
    /// The progress from 0 to 100 percent; null if it is unknown. Completing the task sets it to 100.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 100)))]
    pub percent_complete: Option<i64>,
    /// The day on which work on the task begins, `YYYY-MM-DD`, at the latest `dueDate`; null if there is none.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Date>"))]
    pub start_date: Option<String>,
    /// The day on which the task is due, `YYYY-MM-DD`; null if there is none.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Date>"))]
    pub due_date: Option<String>,
    /// The time of day at which the task is due, `HH:MM` in `timeZone`; null if it is due at any time of the day. It needs `dueDate`. A
    /// provider without due times drops it, with a warning.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::TimeOfDay>"))]
    pub due_time: Option<String>,
    /// The IANA time zone of `dueTime`, such as `Europe/Berlin`. Null: the time is the same in every zone, or there is none. A write of
    /// `dueTime` without it takes the time zone of the list.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::ZoneName>"))]
    pub time_zone: Option<String>,
    /// The time of completion, set when `status` becomes `completed`; null while the task is not completed.
    pub completed_at: Option<Instant>,
    /// The time of the reminder; null if there is none.
    pub reminder_at: Option<Instant>,
    /// The rules by which the task recurs, as RFC 5545 lines without DTSTART: at most one `RRULE:`, any number of `RDATE` and `EXDATE`.
    /// Empty for a task that does not recur.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<formats::RecurrenceLine>", length(max = bounds::MAX_RECURRENCE)))]
    pub recurrence: Vec<String>,
    /// The names of the task's categories.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::task::MAX_ENTRIES), inner(length(min = 1, max = bounds::MAX_LABEL), regex(pattern = r"\S"))))]
    pub categories: Vec<String>,
    /// The people to whom the task is assigned.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::task::MAX_ENTRIES)))]
    pub assignees: Vec<Assignee>,
    /// The position among the tasks of the list: positions are compared as text, lowest first. Null if the provider has no order.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_LABEL)))]
    pub position: Option<String>,
    /// Whether the task has attachments at the provider.
    pub has_attachments: bool,
    /// The checklist of the task, in order. It is changed under `/checklist-items`.
    pub checklist_items: Vec<ChecklistItem>,
    /// The links of the task to resources and web pages. They are changed under `/links`.
    pub links: Vec<TaskLink>,
    /// The address of the task in the provider's own web pages; null if it has none.
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
    /// Work on the task has not begun.
    #[default]
    NeedsAction,
    /// Work on the task has begun.
    InProgress,
    /// The task is completed.
    Completed,
    /// The task waits for other people.
    Waiting,
    /// The task is postponed.
    Deferred,
    /// The task is cancelled.
    Cancelled,
}

/// The priority of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum TaskPriority {
    /// Low priority.
    Low,
    /// Normal priority.
    #[default]
    Normal,
    /// High priority.
    High,
}

/// A person to whom a task is assigned. It has an email address or a name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("x-rules" = ["email or name"])))]
pub struct Assignee {
    /// The person's email address; null if it is unknown.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Email>"))]
    pub email: Option<String>,
    /// The person's name; null if it is unknown.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_LABEL)))]
    pub name: Option<String>,
}

/// An item of a task's checklist.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ChecklistItem {
    /// The id of the checklist item.
    pub id: String,
    /// The id of the task that the item belongs to.
    pub task_id: String,
    /// The text of the item.
    pub title: String,
    /// Whether the item is checked off.
    pub checked: bool,
    /// The time at which the item was checked off; null if it is open or the time is unknown.
    pub checked_at: Option<Instant>,
    /// The position in the checklist: positions are compared as text, lowest first. Null if the provider has no order.
    pub position: Option<String>,
    /// The time at which the item was created, or first seen if the provider does not store it.
    pub created_at: Instant,
    /// The version of the item, with its quotes, as in the `ETag` header.
    pub etag: String,
}

/// A checklist item to add to a task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["title"])))]
pub struct NewChecklistItem {
    /// The text of the item.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = bounds::MAX_LINE), regex(pattern = r"\S")))]
    pub title: String,
    /// Whether the item is checked off; false if absent.
    pub checked: bool,
    /// The position in the checklist, compared as text with the positions of the other items; absent or null: the provider decides.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_LABEL)))]
    pub position: Option<String>,
}

/// Changes of a checklist item. A field that is absent or null stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ChecklistItemPatch {
    /// The text of the item.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = bounds::MAX_LINE), regex(pattern = r"\S")))]
    pub title: Option<String>,
    /// Whether the item is checked off.
    pub checked: Option<bool>,
    /// The position in the checklist, compared as text with the positions of the other items.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_LABEL)))]
    pub position: Option<String>,
    /// The version that the change is based on, instead of the header `If-Match`. An outdated one answers 409 `stale_etag`.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Etag>"))]
    pub etag: Option<String>,
}

/// A link of a task to a resource of this API or to a web page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TaskLink {
    /// The id of the link.
    pub id: String,
    /// The id of the task that the link belongs to.
    pub task_id: String,
    /// The address of the web page; null for a link to a resource.
    pub url: Option<String>,
    /// The title of the page or resource; null if it has none.
    pub title: Option<String>,
    /// The name of the application that the link opens; null if it is unknown.
    pub application_name: Option<String>,
    /// The provider's id of the page or resource; null if it has none.
    pub external_id: Option<String>,
    /// The type of the resource, or `url` for a web page.
    pub resource_type: LinkedType,
    /// The id of the resource; null for a web page.
    pub resource_id: Option<String>,
    /// The time at which the link was created, or first seen if the provider does not store it.
    pub created_at: Instant,
}

/// A link to add to a task, with exactly one of `url` and `resourceId`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("x-rules" = ["exactly one of url and resourceId", "resourceId with the resourceType that it names"])))]
pub struct NewTaskLink {
    /// The `http` or `https` address of a web page; absent or null for a link to a resource.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::WebUrl>"))]
    pub url: Option<String>,
    /// The title of the page or resource; absent or null if it has none.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_LINE)))]
    pub title: Option<String>,
    /// The name of the application that the link opens; absent or null if it is unknown.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::MAX_LABEL)))]
    pub application_name: Option<String>,
    /// The type of the resource that `resourceId` names. It is required with `resourceId`; without it, it stays `url`.
    pub resource_type: LinkedType,
    /// The id of an event or a contact that the key may read; absent or null for a web page.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Id>"))]
    pub resource_id: Option<String>,
}

/// The type of the resource that a task links to.
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
    /// A web page.
    #[default]
    Url,
}
