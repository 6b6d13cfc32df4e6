//! Tasks as other programs of the user's change them: without the checks of the API.

use serde_json::{Map, Value, json};

use crate::google::state::State;
use crate::google::task_lists::book::{DEFAULT_LIST, TaskBook, TaskListRecord, TaskRecord};
use crate::google::task_lists::render;
use crate::google::task_lists::tasks::{self, TaskChange};

impl State {
    /// The task lists of a user.
    pub fn task_book(&mut self, user: &str) -> &mut TaskBook {
        self.tasks.entry(user.to_owned()).or_default()
    }

    fn task_list(&mut self, user: &str) -> &mut TaskListRecord {
        let list = self.task_book(user).list_mut(DEFAULT_LIST);
        list.unwrap_or_else(|_| panic!("the default list cannot be deleted"))
    }

    /// Stores a task with these members at the end of a user's default list; `parent`, `assignmentInfo` and `isRepeating` count too.
    /// Returns its id.
    pub fn put_task(&mut self, user: &str, task: Value) -> String {
        let change = TaskChange::new(self);
        let mut members: Map<String, Value> = task.as_object().cloned().unwrap_or_default();
        let parent = members.remove("parent").and_then(|parent| parent.as_str().map(str::to_owned));
        let assignment = members.remove("assignmentInfo");
        let is_repeating = members.remove("isRepeating") == Some(Value::Bool(true));
        let id = format!("c2VlZFRhc2s{:08}", change.number);
        let record = TaskRecord {
            id: id.clone(),
            members,
            parent,
            is_deleted: false,
            is_hidden: false,
            is_repeating,
            assignment,
            updated_ms: change.at_ms,
            changed: change.number,
        };
        let list = self.task_list(user);
        let last = list.order.last().cloned();
        list.tasks.insert(id.clone(), record);
        list.place(&id, last.as_deref());
        id
    }

    /// Changes members of a task of the default list; null removes one.
    pub fn change_task(&mut self, user: &str, id: &str, change: Value) {
        let stamp = TaskChange::for_existing(self);
        let Ok(task) = self.task_list(user).task_mut(id) else { panic!("there is no task {id}") };
        for (name, value) in change.as_object().into_iter().flatten() {
            match value {
                Value::Null => task.members.remove(name),
                value => task.members.insert(name.clone(), value.clone()),
            };
        }
        stamp.mark(task);
    }

    /// Completes a task of the default list as Google's own apps do: it is hidden too.
    pub fn complete_task(&mut self, user: &str, id: &str) {
        let change = TaskChange::for_existing(self);
        let done = tasks::complete(self.task_list(user), id, change);
        assert!(done.is_ok(), "there is no task {id}");
    }

    /// Deletes a task of the default list.
    pub fn delete_task(&mut self, user: &str, id: &str) {
        let change = TaskChange::for_existing(self);
        tasks::remove(self.task_list(user), id, change);
    }

    /// A task of the default list as Google answers it; null where there is none.
    pub fn task(&mut self, user: &str, id: &str) -> Value {
        let list = self.task_list(user);
        list.task(id).map_or(Value::Null, |task| render::show_task(list, task))
    }

    /// Titles of the default list in their order, subtasks behind their parent with two spaces before them. Hidden tasks have no order.
    pub fn task_outline(&mut self, user: &str) -> Vec<String> {
        let list = self.task_list(user);
        let title = |id: &str| list.tasks.get(id).and_then(|task| task.text("title")).unwrap_or_default();
        let mut lines = Vec::new();
        for id in list.siblings(None) {
            lines.push(title(id).to_owned());
            lines.extend(list.siblings(Some(id)).into_iter().map(|below| format!("  {}", title(below))));
        }
        lines
    }
}

/// The routes below `/__control/tasks`, for tests in another process.
///
/// # Errors
/// There is no such route.
pub fn control(state: &mut State, method: &str, path: &[&str], body: &Value) -> Result<Value, String> {
    match (method, path) {
        ("POST", [user]) => Ok(json!({ "id": state.put_task(user, body.clone()) })),
        ("POST", [user, id, "complete"]) => {
            state.complete_task(user, id);
            Ok(json!({}))
        }
        ("GET", [user, "deleted-originals"]) => Ok(json!({ "ids": state.task_book(user).deleted_originals })),
        _ => Err("no such route".to_owned()),
    }
}
