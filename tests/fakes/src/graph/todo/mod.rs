//! To Do: lists, tasks with their checklist items, linked resources and attachments, and the deltas of lists and tasks.

mod parts;
mod seed;
mod store;
mod task_body;
mod task_json;
mod task_lists;
mod tasks;

use crate::graph::call::GraphCall;
use crate::graph::errors::{GraphError, GraphResult};
use crate::graph::ids;
use crate::graph::state::{GraphState, ItemChange};
use crate::graph::todo::parts::TaskPart;
use crate::graph::todo::store::TodoTask;

pub use seed::control;
pub use store::TodoStore;

/// Answers a call whose path begins with `todo`.
///
/// # Errors
/// The path is unknown, or the call is refused.
pub fn answer(state: &mut GraphState, call: &GraphCall) -> GraphResult {
    match (call.method.as_str(), call.segments().as_slice()) {
        ("GET", ["todo", "lists"]) => task_lists::list(store(state, call)?, call),
        ("POST", ["todo", "lists"]) => task_lists::create(store_mut(state, call)?, call),
        ("GET", ["todo", "lists", "delta"]) => task_lists::delta(state, call),
        (_, ["todo", "lists", id, rest @ ..]) => {
            let list = task_lists::find(store(state, call)?, id)?;
            in_list(state, call, list, rest)
        }
        (_, path) => Err(GraphError::no_route(path.last().unwrap_or(&"todo"))),
    }
}

fn in_list(state: &mut GraphState, call: &GraphCall, list: u64, rest: &[&str]) -> GraphResult {
    match (call.method.as_str(), rest) {
        ("GET", []) => task_lists::get(store(state, call)?, call, list),
        ("PATCH", []) => task_lists::rename(store_mut(state, call)?, call, list),
        ("DELETE", []) => task_lists::delete(state, call, list),
        ("GET", ["tasks"]) => tasks::list(store(state, call)?, call, list),
        ("POST", ["tasks"]) => tasks::create(state, call, list),
        ("GET", ["tasks", "delta"]) => tasks::delta(state, call, list),
        (_, ["tasks", id, rest @ ..]) => {
            let task = tasks::find(store(state, call)?, list, id)?;
            with_task(state, call, task, rest)
        }
        _ => Err(GraphError::no_route(rest.last().unwrap_or(&"lists"))),
    }
}

fn with_task(state: &mut GraphState, call: &GraphCall, task: u64, rest: &[&str]) -> GraphResult {
    match (call.method.as_str(), rest) {
        ("GET", []) => tasks::entity(store(state, call)?, call, task, 200),
        ("PATCH", []) => tasks::patch(state, call, task),
        ("DELETE", []) => tasks::delete(state, call, task),
        (_, ["checklistItems", rest @ ..]) => parts::answer(state, call, task, TaskPart::ChecklistItem, rest),
        (_, ["linkedResources", rest @ ..]) => {
            parts::answer(state, call, task, TaskPart::LinkedResource, rest)
        }
        ("GET", ["attachments", rest @ ..]) => parts::attachments(store(state, call)?, call, task, rest),
        _ => Err(GraphError::no_route(rest.last().unwrap_or(&"tasks"))),
    }
}

/// The tasks of a call's account.
///
/// # Errors
/// The account has no mailbox: 404.
fn store<'s>(state: &'s GraphState, call: &GraphCall) -> Result<&'s TodoStore, GraphError> {
    state.todo.get(&call.user).ok_or_else(GraphError::mailbox_not_enabled)
}

/// The same, to be changed.
///
/// # Errors
/// The account has no mailbox: 404.
fn store_mut<'s>(state: &'s mut GraphState, call: &GraphCall) -> Result<&'s mut TodoStore, GraphError> {
    state.todo.get_mut(&call.user).ok_or_else(GraphError::mailbox_not_enabled)
}

/// An error in the spelling of To Do.
fn invalid(message: &str) -> GraphError {
    GraphError::new(400, "invalidRequest", message)
}

/// Tells subscriptions of a change of a task: `created`, `updated` or `deleted`.
fn note(state: &mut GraphState, user: &str, kind: &str, task: &TodoTask) {
    let collections = [format!("todo/lists/{}/tasks", ids::stable(&store::list_key(task.list)))];
    let key = store::task_key(task.number);
    let data_type = "#Microsoft.Graph.TodoTask";
    let change = ItemChange { kind, collections: &collections, data_type, key: &key, place: 1 };
    state.note_change(user, &change);
}

/// Tells subscriptions of a change of a task that is there.
fn note_task(state: &mut GraphState, user: &str, kind: &str, number: u64) {
    let task = state.todo.get(user).and_then(|store| store.tasks.get(&number)).cloned();
    if let Some(task) = task {
        note(state, user, kind, &task);
    }
}

#[cfg(test)]
mod tests;
