//! Task lists.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::google::call::{Call, MethodResult};
use crate::google::errors::ApiError;
use crate::google::state::State;
use crate::google::task_lists::book::{self, DEFAULT_LIST, TaskListRecord};
use crate::google::task_lists::facts::TASKS;
use crate::google::task_lists::{render, task_pages};

/// The title in a request.
///
/// # Errors
/// It is missing or too long: 400.
fn title(body: &Value) -> Result<String, ApiError> {
    let title = body["title"].as_str().unwrap_or_default();
    match title.is_empty() || title.chars().count() > TASKS.number("limits", "title") {
        true => Err(ApiError::invalid("Invalid task list title")),
        false => Ok(title.to_owned()),
    }
}

/// `tasklists.list`
pub fn list(state: &mut State, call: &Call) -> MethodResult {
    let size = task_pages::page_size(call, "lists")?;
    let offset = task_pages::offset(call)?;
    let lists = &book::of_caller(state, call).lists;
    let shown: Vec<Value> = lists.iter().skip(offset).take(size).map(render::show_list).collect();
    let behind = offset.saturating_add(size);
    let mut body =
        json!({ "kind": "tasks#taskLists", "etag": render::etag(lists.len() as u64), "items": shown });
    if behind < lists.len() {
        body["nextPageToken"] = task_pages::token(behind).into();
    }
    Ok(Some(body))
}

/// `tasklists.get`
pub fn get(state: &mut State, call: &Call) -> MethodResult {
    let list = book::of_caller(state, call).list(call.path("tasklist"))?;
    Ok(Some(render::show_list(list)))
}

/// `tasklists.insert`
pub fn insert(state: &mut State, call: &Call) -> MethodResult {
    let title = title(&call.body)?;
    let (changed, updated_ms) = (state.next_change(), state.clock.now_ms());
    let book = book::of_caller(state, call);
    if book.lists.len() >= TASKS.number("limits", "lists") {
        return Err(ApiError::new(403, "quotaExceeded", "Quota Exceeded"));
    }
    let list = TaskListRecord {
        id: format!("ZmFrZUxpc3Q{changed:08}"),
        title,
        updated_ms,
        changed,
        tasks: BTreeMap::new(),
        order: Vec::new(),
    };
    let answer = render::show_list(&list);
    book.lists.push(list);
    Ok(Some(answer))
}

/// `tasklists.patch`
pub fn patch(state: &mut State, call: &Call) -> MethodResult {
    match call.body.get("title") {
        Some(_) => update(state, call),
        None => get(state, call),
    }
}

/// `tasklists.update`
pub fn update(state: &mut State, call: &Call) -> MethodResult {
    let title = title(&call.body)?;
    let (changed, updated_ms) = (state.next_change(), state.clock.now_ms());
    let ignores = state.traps.is_on("if_match_ignored");
    let list = book::of_caller(state, call).list_mut(call.path("tasklist"))?;
    check_etag(call, ignores, list.changed)?;
    list.title = title;
    list.changed = changed;
    list.updated_ms = updated_ms;
    Ok(Some(render::show_list(list)))
}

/// `tasklists.delete`
pub fn delete(state: &mut State, call: &Call) -> MethodResult {
    let ignores = state.traps.is_on("if_match_ignored");
    let book = book::of_caller(state, call);
    let list = book.list(call.path("tasklist"))?;
    check_etag(call, ignores, list.changed)?;
    if list.id == DEFAULT_LIST {
        return Err(ApiError::invalid("Invalid Value"));
    }
    let id = list.id.clone();
    let originals = list.tasks.values().filter(|task| task.assignment.is_some() && !task.is_deleted);
    let originals: Vec<String> = originals.map(|task| task.id.clone()).collect();
    book.deleted_originals.extend(originals);
    book.lists.retain(|list| list.id != id);
    Ok(None)
}

/// Checks `If-Match` against the number of the last change.
///
/// # Errors
/// It names another version, and is not ignored: 412.
pub fn check_etag(call: &Call, ignores: bool, changed: u64) -> Result<(), ApiError> {
    match call.if_match() {
        Some(wanted) if !ignores && wanted != "*" && wanted != render::etag(changed) => {
            Err(ApiError::condition_not_met())
        }
        _ => Ok(()),
    }
}
