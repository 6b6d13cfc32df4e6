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

/// A step or a link of a task, to make, change or delete.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct PartWrite<T: Default> {
    /// External id of the task list.
    pub collection: String,
    /// External id of the task's source.
    pub source: String,
    /// The provider's id of the part; none on create.
    pub part: Option<String>,
    /// The whole part as it shall be; of no meaning on delete.
    pub body: T,
    /// Names (camelCase) of the fields that the caller changed; all given ones on create.
    pub changed: Vec<String>,
    /// The task's provider etag that the change is based on; a mismatch is failure "conflict".
    pub if_match: Option<String>,
}

/// The features of this account's provider, for the capabilities operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TasksFeatures {
    /// Lists can be created.
    pub create_list: bool,
    /// Lists can be changed.
    pub update_list: bool,
    /// Lists can be deleted.
    pub delete_list: bool,
    /// Tasks can have subtasks.
    pub subtasks: bool,
    /// Tasks can have a start date.
    pub start_date: bool,
    /// False: due dates are days.
    pub due_time: bool,
    /// Tasks can have a priority.
    pub priority: bool,
    /// Tasks can have `percentComplete`.
    pub percent_complete: bool,
    /// Tasks can recur.
    pub recurrence: bool,
    /// Tasks can have categories.
    pub categories: bool,
    /// Tasks can have assignees.
    pub assignees: bool,
    /// Tasks can have reminders.
    pub reminders: bool,
    /// The caller can decide the order of tasks.
    pub ordering: bool,
    /// Tasks can have steps.
    pub checklist_items: bool,
    /// Tasks can have links.
    pub links: bool,
    /// Whether the provider notifies of changes.
    pub push: bool,
    /// How changes are found: "syncToken", "deltaToken", "ctag", "scan".
    pub delta: String,
}
