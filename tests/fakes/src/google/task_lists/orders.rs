//! The order of tasks, and their parents.

use crate::google::call::{Call, MethodResult};
use crate::google::errors::ApiError;
use crate::google::state::State;
use crate::google::task_lists::book::{self, TaskListRecord};
use crate::google::task_lists::facts::TASKS;
use crate::google::task_lists::render;
use crate::google::task_lists::tasks::TaskChange;

/// Checks the place of a task: its parent, and the sibling before it.
///
/// # Errors
/// One of them is not in the list or hidden, the parent is a subtask, assigned or repeating, or the sibling has another parent: 400.
pub fn check_place(
    list: &TaskListRecord,
    parent: Option<&str>,
    previous: Option<&str>,
) -> Result<(), ApiError> {
    if let Some(parent) = parent {
        let task = list.tasks.get(parent).filter(|task| !task.is_deleted && !task.is_hidden);
        let can_be_parent =
            task.is_some_and(|task| task.parent.is_none() && task.assignment.is_none() && !task.is_repeating);
        if !can_be_parent || list.siblings(Some(parent)).len() >= TASKS.number("limits", "subtasks") {
            return Err(ApiError::invalid("Invalid parent task ID").at("parameter", "parent"));
        }
    }
    match previous {
        Some(previous) if !list.siblings(parent).contains(&previous) => {
            Err(ApiError::invalid("Invalid previous task ID").at("parameter", "previous"))
        }
        _ => Ok(()),
    }
}

/// `tasks.move`
pub fn move_task(state: &mut State, call: &Call) -> MethodResult {
    let bumps_siblings = !state.traps.is_on("siblings_stay");
    let change = TaskChange::for_existing(state);
    let book = book::of_caller(state, call);
    let (id, parent, previous) = (call.path("task"), call.parameter("parent"), call.parameter("previous"));
    let from = book.list(call.path("tasklist"))?.id.clone();
    let to = match call.parameter("destinationTasklist") {
        Some(to) => book.list(to)?.id.clone(),
        None => from.clone(),
    };
    let list = book.list_mut(&from)?;
    let is_parent = !list.siblings(Some(id)).is_empty();
    let task = list.task_mut(id)?;
    let is_fixed = task.assignment.is_some() || task.is_repeating;
    let is_hidden = task.is_completed() && task.is_hidden;
    if (task.is_repeating && from != to) || (is_fixed && parent.is_some()) {
        return Err(ApiError::invalid("Assigned and repeating tasks cannot be moved there."));
    }
    if is_hidden && (parent.is_some() || previous.is_some()) {
        return Err(ApiError::invalid("Hidden tasks can be moved to the first position alone."));
    }
    if parent == Some(id) || previous == Some(id) || (is_parent && parent.is_some()) {
        return Err(ApiError::invalid("Invalid parent task ID").at("parameter", "parent"));
    }
    check_place(book.list(&to)?, parent, previous)?;
    let list = book.list_mut(&from)?;
    let mut moved = list.task_mut(id)?.clone();
    if from != to {
        // Subtasks go along; the list that they leave has no trace of them.
        let below: Vec<String> = list.siblings(Some(id)).into_iter().map(str::to_owned).collect();
        let mut going = Vec::new();
        for gone in below.iter().map(String::as_str).chain([id]) {
            list.displace(gone);
            going.extend(list.tasks.remove(gone));
        }
        let list = book.list_mut(&to)?;
        for mut task in going.into_iter().filter(|task| task.id != id) {
            change.mark(&mut task);
            let last = list.order.last().cloned();
            list.place(&task.id, last.as_deref());
            list.tasks.insert(task.id.clone(), task);
        }
    }
    let list = book.list_mut(&to)?;
    moved.parent = parent.map(str::to_owned);
    change.mark(&mut moved);
    list.tasks.insert(id.to_owned(), moved);
    if !is_hidden {
        list.place(id, previous);
    }
    if bumps_siblings {
        let siblings: Vec<String> = list.siblings(parent).into_iter().map(str::to_owned).collect();
        for sibling in siblings {
            if let Some(task) = list.tasks.get_mut(&sibling) {
                task.updated_ms = change.at_ms;
            }
        }
    }
    Ok(Some(render::show_task(list, list.task(id)?)))
}
