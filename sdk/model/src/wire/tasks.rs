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
    pub create_list: bool,
    pub update_list: bool,
    pub delete_list: bool,
    pub subtasks: bool,
    pub start_date: bool,
    /// False: due dates are days.
    pub due_time: bool,
    pub priority: bool,
    pub percent_complete: bool,
    pub recurrence: bool,
    pub categories: bool,
    pub assignees: bool,
    pub reminders: bool,
    /// The caller can decide the order of tasks.
    pub ordering: bool,
    pub checklist_items: bool,
    pub links: bool,
    pub push: bool,
    /// How changes are found: "syncToken", "deltaToken", "ctag", "scan".
    pub delta: String,
}
