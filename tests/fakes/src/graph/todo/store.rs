//! The lists and tasks of one account, and what changed.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::graph::change_log::{ChangeItem, ChangeKind, ChangeLog};

/// The collection of all lists in the log of changes.
pub const LISTS: &str = "lists";

/// Everything of To Do in one account.
pub struct TodoStore {
    /// By number.
    pub lists: BTreeMap<u64, TodoList>,
    /// By number.
    pub tasks: BTreeMap<u64, TodoTask>,
    pub log: ChangeLog,
}

/// A list of tasks.
#[derive(Clone, Debug)]
pub struct TodoList {
    pub number: u64,
    pub name: String,
    /// `defaultList`, `flaggedEmails` or `none`.
    pub well_known: &'static str,
    pub is_owner: bool,
    pub is_shared: bool,
    /// The Windows name of the owner's zone, where the owner is another person.
    pub owner_zone: Option<String>,
    pub changed: u64,
}

/// A task with its parts.
#[derive(Clone, Debug)]
pub struct TodoTask {
    pub number: u64,
    /// The number of its list.
    pub list: u64,
    /// The members that a client can write, as they are answered; those without a value are missing.
    pub members: Map<String, Value>,
    /// Checklist items as they are answered.
    pub checklist: Vec<Value>,
    /// Linked resources as they are answered.
    pub links: Vec<Value>,
    pub attachments: Vec<TodoAttachment>,
    pub created_ms: i64,
    pub modified_ms: i64,
    pub body_modified_ms: i64,
    pub changed: u64,
}

/// A file of a task.
#[derive(Clone, Debug)]
pub struct TodoAttachment {
    pub id: String,
    pub name: String,
    pub content_type: String,
    pub bytes: Vec<u8>,
    pub added_ms: i64,
}

/// The key of a list, of which its id is made.
pub fn list_key(number: u64) -> String {
    format!("todo-list-{number}")
}

/// The key of a task, of which its id is made. `IdType` does not cover To Do: there is one id.
pub fn task_key(number: u64) -> String {
    format!("todo-task-{number}")
}

impl TodoTask {
    /// An empty task of a list.
    pub fn new(number: u64, list: u64, now_ms: i64) -> TodoTask {
        TodoTask {
            number,
            list,
            members: Map::new(),
            checklist: Vec::new(),
            links: Vec::new(),
            attachments: Vec::new(),
            created_ms: now_ms,
            modified_ms: now_ms,
            body_modified_ms: now_ms,
            changed: number,
        }
    }

    fn change_item(&self) -> ChangeItem {
        ChangeItem { collection: list_key(self.list), key: task_key(self.number), place: 1 }
    }
}

impl Default for TodoStore {
    fn default() -> Self {
        let mut store =
            TodoStore { lists: BTreeMap::new(), tasks: BTreeMap::new(), log: ChangeLog::default() };
        store.add_list("Tasks", "defaultList");
        store.add_list("Flagged Emails", "flaggedEmails");
        store
    }
}

impl TodoStore {
    /// Makes a list. Returns its number.
    pub fn add_list(&mut self, name: &str, well_known: &'static str) -> u64 {
        let number = self.log.next_change();
        let list = TodoList {
            number,
            name: name.to_owned(),
            well_known,
            is_owner: true,
            is_shared: false,
            owner_zone: None,
            changed: number,
        };
        self.lists.insert(number, list);
        self.record_list(ChangeKind::Arrival, number);
        number
    }

    /// Gives a list another name.
    pub fn rename_list(&mut self, number: u64, name: &str) {
        let changed = self.record_list(ChangeKind::Update, number);
        if let Some(list) = self.lists.get_mut(&number) {
            name.clone_into(&mut list.name);
            list.changed = changed;
        }
    }

    fn record_list(&mut self, kind: ChangeKind, number: u64) -> u64 {
        let item = ChangeItem { collection: LISTS.to_owned(), key: list_key(number), place: 1 };
        self.log.record(kind, item)
    }

    /// Removes a list. Returns the tasks that were in it.
    pub fn remove_list(&mut self, number: u64) -> Vec<TodoTask> {
        let tasks: Vec<u64> = self.in_list(number).map(|task| task.number).collect();
        let gone = tasks.into_iter().filter_map(|task| self.remove(task)).collect();
        if self.lists.remove(&number).is_some() {
            self.record_list(ChangeKind::Departure, number);
        }
        gone
    }

    /// The tasks of a list, the oldest first.
    pub fn in_list(&self, list: u64) -> impl Iterator<Item = &TodoTask> {
        self.tasks.values().filter(move |task| task.list == list)
    }

    /// Stores a new task. `write` fills it.
    ///
    /// # Errors
    /// Those of `write`.
    pub fn add<E>(
        &mut self,
        list: u64,
        now_ms: i64,
        write: impl FnOnce(&mut TodoTask) -> Result<(), E>,
    ) -> Result<u64, E> {
        let number = self.log.next_change();
        let mut task = TodoTask::new(number, list, now_ms);
        write(&mut task)?;
        task.changed = self.log.record(ChangeKind::Arrival, task.change_item());
        self.tasks.insert(number, task);
        Ok(number)
    }

    /// Records a change of a task. Each gives the task a later time, since clients compare nothing else: tasks have no etag for writes.
    pub fn touch(&mut self, number: u64, now_ms: i64) {
        let Some(task) = self.tasks.get_mut(&number) else { return };
        task.changed = self.log.record(ChangeKind::Update, task.change_item());
        task.modified_ms = now_ms.max(task.modified_ms + 1);
    }

    /// Removes a task.
    pub fn remove(&mut self, number: u64) -> Option<TodoTask> {
        let task = self.tasks.remove(&number)?;
        self.log.record(ChangeKind::Departure, task.change_item());
        Some(task)
    }
}
