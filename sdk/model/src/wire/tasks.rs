//! Operations of the tasks surface.
//!
//! | verb | op | args | answer |
//! |---|---|---|---|
//! | fetch | `lists.list` | `ChangesRequest` | `Sources` of `TaskList`, `enumeration: true` |
//! | fetch | `tasks.get` | `SourceRef` | `Sources` (one) |
//! | fetch | `tasks.batchGet` | `SourcesGet` | `Sources` |
//! | fetch | `capabilities` | `{}` | `TasksFeatures` |
//! | mutate | `lists.create` `.update` | `CollectionWrite<TaskList>` | `Mutated` |
//! | mutate | `lists.delete` | `CollectionDelete` | `Mutated` |
//! | mutate | `tasks.create` `.update` | `ItemWrite<Task>` | `Mutated` |
//! | mutate | `tasks.delete` | `ItemDelete` | `Mutated` |
//! | mutate | `checklist.create` `.update` `.delete` | `PartWrite<ChecklistItem>` | `Mutated` |
//! | mutate | `links.create` `.delete` | `PartWrite<TaskLink>` | `Mutated` |
//! | changes | `tasks` | `ChangesRequest` | `Sources` of `Task` |
//!
//! A task's steps and links come inside the task, with the provider's ids; they are never written with the task.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A checklist item or a link of a task, to create, change or delete.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct PartWrite<T: Default> {
    /// The external id of the task list.
    pub collection: String,
    /// The external id of the task's source.
    pub source: String,
    /// The provider's id of the checklist item or link; null on a create.
    pub part: Option<String>,
    /// The whole checklist item or link after the change; the default value on a delete.
    pub body: T,
    /// The camelCase names of the fields that the caller changed; on a create, all fields that it set.
    pub changed: Vec<String>,
    /// The task's etag at the provider that the change is based on; null: any version. A mismatch is the failure `conflict`.
    pub if_match: Option<String>,
}

/// The task features of this account at its provider, for the capabilities operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TasksFeatures {
    /// Whether lists can be created.
    pub create_list: bool,
    /// Whether lists can be changed.
    pub update_list: bool,
    /// Whether lists can be deleted.
    pub delete_list: bool,
    /// Whether tasks can have subtasks.
    pub subtasks: bool,
    /// Whether tasks can have a start date.
    pub start_date: bool,
    /// Whether a due date can have a time of day. False: tasks are due on a day.
    pub due_time: bool,
    /// Whether tasks can have a priority.
    pub priority: bool,
    /// Whether tasks can have `percentComplete`.
    pub percent_complete: bool,
    /// Whether tasks can recur.
    pub recurrence: bool,
    /// Whether tasks can have categories.
    pub categories: bool,
    /// Whether tasks can have assignees.
    pub assignees: bool,
    /// Whether tasks can have reminders.
    pub reminders: bool,
    /// Whether the caller can decide the order of tasks.
    pub ordering: bool,
    /// Whether tasks can have checklist items.
    pub checklist_items: bool,
    /// Whether tasks can have links.
    pub links: bool,
    /// Whether the provider notifies the service of changes.
    pub push: bool,
    /// The way in which changes are found: `syncToken`, `deltaToken`, `ctag` or `scan`.
    pub delta: String,
}
