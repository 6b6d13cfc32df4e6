//! Lists of tasks: all of them, single ones, changes of them, and their delta.

use serde_json::{Value, json};

use crate::door::Reply;
use crate::graph::call::{GraphCall, PageSizes, json_reply};
use crate::graph::change_log::{self, ChangeEntry, removal};
use crate::graph::errors::{GraphError, GraphResult};
use crate::graph::facts;
use crate::graph::ids;
use crate::graph::state::GraphState;
use crate::graph::todo::store::{LISTS, TodoList, TodoStore, list_key};
use crate::graph::todo::{invalid, note, store, store_mut};

/// The number of the list that an id names.
///
/// # Errors
/// There is none: 400, 404.
pub fn find(store: &TodoStore, id: &str) -> Result<u64, GraphError> {
    let key = ids::parse_stable(id)?;
    let number = key.strip_prefix("todo-list-").and_then(|text| text.parse::<u64>().ok());
    number.filter(|number| store.lists.contains_key(number)).ok_or_else(GraphError::not_found)
}

/// The pages of To Do's deltas.
pub fn delta_sizes() -> PageSizes {
    PageSizes {
        usual: facts::number("todo_pages", "delta_usual"),
        most: facts::number("todo_pages", "delta_most"),
    }
}

fn list_value(list: &TodoList) -> Value {
    json!({
        "@odata.etag": ids::etag(list.changed),
        "id": ids::stable(&list_key(list.number)),
        "displayName": list.name,
        "isOwner": list.is_owner,
        "isShared": list.is_shared,
        "wellknownListName": list.well_known,
    })
}

fn entity(store: &TodoStore, call: &GraphCall, number: u64, status: u16) -> GraphResult {
    let list = store.lists.get(&number).ok_or_else(GraphError::not_found)?;
    let mut body = call.select(list_value(list));
    body["@odata.context"] = call.context("todo/lists/$entity").into();
    Ok(json_reply(status, &body))
}

/// `GET /me/todo/lists`
pub fn list(store: &TodoStore, call: &GraphCall) -> GraphResult {
    let lists = store.lists.values().map(list_value).collect();
    let sizes = PageSizes {
        usual: facts::number("todo_pages", "lists_usual"),
        most: facts::number("todo_pages", "most"),
    };
    Ok(json_reply(200, &call.page("todo/lists", lists, sizes)?))
}

/// `GET /me/todo/lists/{id}`
pub fn get(store: &TodoStore, call: &GraphCall, number: u64) -> GraphResult {
    entity(store, call, number, 200)
}

fn name_of(call: &GraphCall) -> Result<&str, GraphError> {
    let name = call.body["displayName"].as_str().unwrap_or_default().trim();
    if name.is_empty() { Err(invalid("The list has no displayName.")) } else { Ok(name) }
}

/// `POST /me/todo/lists`
pub fn create(store: &mut TodoStore, call: &GraphCall) -> GraphResult {
    let name = name_of(call)?;
    let number = store.add_list(name, "none");
    entity(store, call, number, 201)
}

/// Refuses changes of the lists that each account has.
fn check_own(store: &TodoStore, number: u64) -> Result<(), GraphError> {
    let list = store.lists.get(&number).ok_or_else(GraphError::not_found)?;
    match list.well_known {
        "none" => Ok(()),
        name => Err(invalid(&format!("The list {name} cannot be changed."))),
    }
}

/// `PATCH /me/todo/lists/{id}`
pub fn rename(store: &mut TodoStore, call: &GraphCall, number: u64) -> GraphResult {
    check_own(store, number)?;
    store.rename_list(number, name_of(call)?);
    entity(store, call, number, 200)
}

/// `DELETE /me/todo/lists/{id}`
pub fn delete(state: &mut GraphState, call: &GraphCall, number: u64) -> GraphResult {
    check_own(store(state, call)?, number)?;
    for task in store_mut(state, call)?.remove_list(number) {
        note(state, &call.user, "deleted", &task);
    }
    Ok(Reply::new(204))
}

/// `GET /me/todo/lists/delta`
pub fn delta(state: &mut GraphState, call: &GraphCall) -> GraphResult {
    change_log::check_token(&mut state.traps, call)?;
    let page = store_mut(state, call)?.log.read_page(call, LISTS, delta_sizes())?;
    let store = store(state, call)?;
    let shown = |entry: &ChangeEntry| match entry {
        ChangeEntry::Item(key) => {
            let number = find(store, &ids::stable(key)).ok()?;
            store.lists.get(&number).map(list_value)
        }
        ChangeEntry::Removal { key, .. } => Some(removal("todoTaskList", &ids::stable(key))),
    };
    let items: Vec<Value> = page.entries.iter().filter_map(shown).collect();
    Ok(page.to_reply(call, "todo/lists", items))
}
