//! Tasks: read, create, change, delete and clear them.

use serde_json::{Map, Value, json};

use crate::google::call::{Call, MethodResult};
use crate::google::errors::ApiError;
use crate::google::state::State;
use crate::google::task_lists::book::{self, TaskListRecord, TaskRecord};
use crate::google::task_lists::facts::TASKS;
use crate::google::task_lists::{lists, orders, render};
use crate::google::times;

/// The number and the time of a change of a task, and how its etag behaves.
#[derive(Clone, Copy)]
pub struct TaskChange {
    pub number: u64,
    pub at_ms: i64,
    /// The etag stays as it is.
    pub keeps_etag: bool,
}

impl TaskChange {
    /// A change that makes a task.
    pub fn new(state: &mut State) -> TaskChange {
        TaskChange { number: state.next_change(), at_ms: state.clock.now_ms(), keeps_etag: false }
    }

    /// A change of an existing task, which the trap lets keep its etag.
    pub fn for_existing(state: &mut State) -> TaskChange {
        let keeps_etag = state.traps.fires("task_etag_stays");
        TaskChange { keeps_etag, ..TaskChange::new(state) }
    }

    /// Marks a task as changed.
    pub fn mark(self, task: &mut TaskRecord) {
        task.updated_ms = self.at_ms;
        if !self.keeps_etag {
            task.changed = self.number;
        }
    }
}

/// `tasks.get`
pub fn get(state: &mut State, call: &Call) -> MethodResult {
    let list = book::of_caller(state, call).list(call.path("tasklist"))?;
    Ok(Some(render::show_task(list, list.task(call.path("task"))?)))
}

/// `tasks.insert`
pub fn insert(state: &mut State, call: &Call) -> MethodResult {
    let change = TaskChange::new(state);
    let list = book::of_caller(state, call).list_mut(call.path("tasklist"))?;
    let (parent, previous) = (call.parameter("parent"), call.parameter("previous"));
    orders::check_place(list, parent, previous)?;
    let mut task = TaskRecord {
        id: format!("ZmFrZVRhc2s{:08}", change.number),
        members: Map::new(),
        parent: parent.map(str::to_owned),
        is_deleted: false,
        is_hidden: false,
        is_repeating: false,
        assignment: None,
        updated_ms: change.at_ms,
        changed: change.number,
    };
    write(&mut task, &call.body, change)?;
    let id = task.id.clone();
    list.tasks.insert(id.clone(), task);
    list.place(&id, previous);
    Ok(Some(render::show_task(list, list.task(&id)?)))
}

/// Puts the members of a request over those of a task; null removes one.
fn write(task: &mut TaskRecord, body: &Value, change: TaskChange) -> Result<(), ApiError> {
    let text = |name: &str| body[name].as_str();
    for (name, limit) in [("title", "title"), ("notes", "notes")] {
        if text(name).is_some_and(|text| text.chars().count() > TASKS.number("limits", limit)) {
            return Err(ApiError::invalid(&format!("The {name} is too long.")));
        }
    }
    if text("notes").is_some_and(|notes| !notes.is_empty()) && task.assignment.is_some() {
        return Err(ApiError::invalid("Assigned tasks cannot have notes."));
    }
    if text("status").is_some_and(|status| !TASKS.has("values", "status", status)) {
        return Err(ApiError::invalid("Invalid task status"));
    }
    let mut members = task.members.clone();
    for (name, value) in body.as_object().into_iter().flatten() {
        match (name.as_str(), value) {
            ("due" | "completed", Value::String(text)) => {
                let invalid = || ApiError::invalid(&format!("Invalid value for: {name}"));
                let at = times::parse_instant(text, None).ok_or_else(invalid)?;
                // The day as it is written counts, whatever its offset.
                let day = text.get(..10).unwrap_or_default();
                let stored = if name == "due" {
                    format!("{day}T00:00:00.000Z")
                } else {
                    times::stamp(at.timestamp_millis())
                };
                members.insert(name.clone(), stored.into());
            }
            ("deleted", Value::Bool(true)) if task.assignment.is_none() => task.is_deleted = true,
            (name, _) if name == "deleted" || TASKS.has("values", "read_only", name) => {}
            (_, Value::Null) => {
                members.remove(name);
            }
            (_, value) => {
                members.insert(name.clone(), value.clone());
            }
        }
    }
    let is_completed = members.get("status").is_some_and(|status| status == "completed");
    if !is_completed {
        members.remove("completed");
        task.is_hidden = false;
    } else if !members.contains_key("completed") {
        members.insert("completed".to_owned(), times::stamp(change.at_ms).into());
    }
    task.members = members;
    change.mark(task);
    Ok(())
}

/// `tasks.patch`
pub fn patch(state: &mut State, call: &Call) -> MethodResult {
    change(state, call, false)
}

/// `tasks.update`
pub fn update(state: &mut State, call: &Call) -> MethodResult {
    match call.body["id"].as_str() == Some(call.path("task")) {
        true => change(state, call, true),
        false => Err(ApiError::invalid("Invalid task ID")),
    }
}

fn change(state: &mut State, call: &Call, replaces: bool) -> MethodResult {
    let ignores = state.traps.is_on("if_match_ignored");
    let change = TaskChange::for_existing(state);
    let list = book::of_caller(state, call).list_mut(call.path("tasklist"))?;
    let id = call.path("task");
    let task = list.task_mut(id)?;
    lists::check_etag(call, ignores, task.changed)?;
    let mut written = task.clone();
    if replaces {
        written.members.retain(|name, _| name == "links");
    }
    write(&mut written, &call.body, change)?;
    let is_back = task.is_hidden && !written.is_hidden;
    let is_deleted = written.is_deleted;
    *task = written;
    if is_back {
        list.place(id, None);
    }
    if is_deleted {
        list.displace(id);
    }
    Ok(Some(render::show_task(list, list.task(id)?)))
}

/// `tasks.delete`
pub fn delete(state: &mut State, call: &Call) -> MethodResult {
    let ignores = state.traps.is_on("if_match_ignored");
    let change = TaskChange::for_existing(state);
    let book = book::of_caller(state, call);
    let list = book.list_mut(call.path("tasklist"))?;
    let task = list.task_mut(call.path("task"))?;
    lists::check_etag(call, ignores, task.changed)?;
    let original = task.assignment.is_some().then(|| task.id.clone());
    remove(list, call.path("task"), change);
    // The task in the document or the chat space goes too.
    book.deleted_originals.extend(original);
    Ok(None)
}

/// Makes tombstones of a task and of the tasks beneath it, which have none beneath them.
pub fn remove(list: &mut TaskListRecord, id: &str, change: TaskChange) {
    let below: Vec<String> = list.siblings(Some(id)).into_iter().map(str::to_owned).collect();
    for gone in below.iter().map(String::as_str).chain([id]) {
        list.displace(gone);
        if let Some(task) = list.tasks.get_mut(gone) {
            task.is_deleted = true;
            change.mark(task);
        }
    }
}

/// `tasks.clear`
pub fn clear(state: &mut State, call: &Call) -> MethodResult {
    let change = TaskChange::for_existing(state);
    let list = book::of_caller(state, call).list_mut(call.path("tasklist"))?;
    let completed =
        list.tasks.values().filter(|task| task.is_completed() && !task.is_deleted && !task.is_hidden);
    let completed: Vec<String> = completed.map(|task| task.id.clone()).collect();
    for id in completed {
        hide(list, &id, change);
    }
    Ok(None)
}

/// Hides a completed task, as Google's own apps do: it has no place any more.
pub fn hide(list: &mut TaskListRecord, id: &str, change: TaskChange) {
    list.displace(id);
    if let Some(task) = list.tasks.get_mut(id) {
        task.is_hidden = true;
        change.mark(task);
    }
}

/// Completes a task as Google's own apps do.
pub fn complete(list: &mut TaskListRecord, id: &str, change: TaskChange) -> Result<(), ApiError> {
    write(list.task_mut(id)?, &json!({ "status": "completed" }), change)?;
    hide(list, id, change);
    Ok(())
}
