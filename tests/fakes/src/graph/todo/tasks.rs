//! Tasks of a list: pages, single ones, writes, and the delta.

use serde_json::Value;

use crate::door::Reply;
use crate::graph::call::{GraphCall, PageSizes, json_reply};
use crate::graph::change_log::{self, ChangeEntry, removal};
use crate::graph::errors::{GraphError, GraphResult};
use crate::graph::facts;
use crate::graph::ids;
use crate::graph::item_filter::{self, ItemFilter};
use crate::graph::state::GraphState;
use crate::graph::todo::parts::{self, TaskPart};
use crate::graph::todo::store::{TodoStore, TodoTask, list_key};
use crate::graph::todo::task_body::{self, TaskContext};
use crate::graph::todo::task_json::{put_parts, task_value};
use crate::graph::todo::task_lists::delta_sizes;
use crate::graph::todo::{invalid, note, note_task, store, store_mut};

/// The number of the task that an id names, in this list.
///
/// # Errors
/// There is none: 400, 404.
pub fn find(store: &TodoStore, list: u64, id: &str) -> Result<u64, GraphError> {
    let number = number_of_key(&ids::parse_stable(id)?);
    let task = number.and_then(|number| store.tasks.get(&number)).filter(|task| task.list == list);
    task.map(|task| task.number).ok_or_else(GraphError::not_found)
}

fn number_of_key(key: &str) -> Option<u64> {
    key.strip_prefix("todo-task-")?.parse().ok()
}

/// `GET …/tasks`
pub fn list(store: &TodoStore, call: &GraphCall, list: u64) -> GraphResult {
    let names = facts::list("todo_members", "filterable");
    let filter = ItemFilter::parse(call.parameter("$filter"), &names)?;
    let mut tasks: Vec<Value> =
        store.in_list(list).map(task_value).filter(|task| filter.fits(task)).collect();
    item_filter::sort(&mut tasks, call.parameter("$orderby"), &names)?;
    let sizes = PageSizes {
        usual: facts::number("todo_pages", "tasks_usual"),
        most: facts::number("todo_pages", "most"),
    };
    let mut page = call.page("todo/lists('id')/tasks", tasks, sizes)?;
    for value in page["value"].as_array_mut().into_iter().flatten() {
        let number = find(store, list, value["id"].as_str().unwrap_or_default())?;
        if let (Some(task), Some(expand)) = (store.tasks.get(&number), call.parameter("$expand")) {
            put_parts(task, expand, value);
        }
    }
    Ok(json_reply(200, &page))
}

/// The answer with one task.
///
/// # Errors
/// There is none: 404.
pub fn entity(store: &TodoStore, call: &GraphCall, number: u64, status: u16) -> GraphResult {
    let task = store.tasks.get(&number).ok_or_else(GraphError::not_found)?;
    let mut body = call.select(task_value(task));
    body["@odata.context"] = call.context("todo/lists('id')/tasks/$entity").into();
    if let Some(expand) = call.parameter("$expand") {
        put_parts(task, expand, &mut body);
    }
    Ok(json_reply(status, &body))
}

/// The circumstances of a client's write.
fn client_context(state: &GraphState) -> TaskContext {
    TaskContext {
        now_ms: state.clock.now_ms(),
        zone: chrono_tz::UTC,
        takes_recurrence: state.traps.is_on("todo_recurrence_taken"),
    }
}

/// `POST …/tasks`
pub fn create(state: &mut GraphState, call: &GraphCall, list: u64) -> GraphResult {
    let how = client_context(state);
    let store_now = store_mut(state, call)?;
    let is_flagged = store_now.lists.get(&list).is_some_and(|list| list.well_known == "flaggedEmails");
    if is_flagged {
        return Err(invalid("Tasks cannot be created in the list flaggedEmails."));
    }
    let number = add(store_now, list, &call.body, how)?;
    note_task(state, &call.user, "created", number);
    entity(store(state, call)?, call, number, 201)
}

/// Stores a new task with the parts that its body has. Returns its number.
///
/// # Errors
/// To Do refuses a member: 400.
pub fn add(store: &mut TodoStore, list: u64, body: &Value, how: TaskContext) -> Result<u64, GraphError> {
    let number = store.add(list, how.now_ms, |task| task_body::write(task, body, how))?;
    for one in body["checklistItems"].as_array().into_iter().flatten() {
        parts::add(store, number, TaskPart::ChecklistItem, one, how.now_ms);
    }
    for one in body["linkedResources"].as_array().into_iter().flatten() {
        parts::add(store, number, TaskPart::LinkedResource, one, how.now_ms);
    }
    Ok(number)
}

/// `PATCH …/tasks/{id}`: the parts of a task have calls of their own.
pub fn patch(state: &mut GraphState, call: &GraphCall, number: u64) -> GraphResult {
    for name in ["attachments", "checklistItems", "linkedResources"] {
        if call.body.get(name).is_some() {
            return Err(invalid(&format!("{name} cannot be changed with the task.")));
        }
    }
    let how = client_context(state);
    edit(store_mut(state, call)?, number, &call.body, how)?;
    note_task(state, &call.user, "updated", number);
    entity(store(state, call)?, call, number, 200)
}

/// Changes a task.
///
/// # Errors
/// There is none, or To Do refuses a member: 400, 404.
pub fn edit(store: &mut TodoStore, number: u64, change: &Value, how: TaskContext) -> Result<(), GraphError> {
    let task = store.tasks.get_mut(&number).ok_or_else(GraphError::not_found)?;
    let mut written: TodoTask = task.clone();
    task_body::write(&mut written, change, how)?;
    *task = written;
    store.touch(number, how.now_ms);
    Ok(())
}

/// `DELETE …/tasks/{id}`
pub fn delete(state: &mut GraphState, call: &GraphCall, number: u64) -> GraphResult {
    let task = store_mut(state, call)?.remove(number).ok_or_else(GraphError::not_found)?;
    note(state, &call.user, "deleted", &task);
    Ok(Reply::new(204))
}

/// `GET …/tasks/delta`
pub fn delta(state: &mut GraphState, call: &GraphCall, list: u64) -> GraphResult {
    let is_expanded = state.traps.is_on("todo_delta_expands");
    if call.parameter("$expand").is_some() && !is_expanded {
        return Err(invalid("The query option '$expand' is not supported for change tracking."));
    }
    change_log::check_token(&mut state.traps, call)?;
    let page = store_mut(state, call)?.log.read_page(call, &list_key(list), delta_sizes())?;
    let store = store(state, call)?;
    let expand = page.query.expand.as_deref().filter(|_| is_expanded).unwrap_or_default();
    let shown = |entry: &ChangeEntry| match entry {
        ChangeEntry::Item(key) => {
            let task = store.tasks.get(&number_of_key(key)?)?;
            let mut value = task_value(task);
            put_parts(task, expand, &mut value);
            Some(value)
        }
        ChangeEntry::Removal { key, .. } => Some(removal("todoTask", &ids::stable(key))),
    };
    let items: Vec<Value> = page.entries.iter().filter_map(shown).collect();
    Ok(page.to_reply(call, "todo/lists('id')/tasks", items))
}
