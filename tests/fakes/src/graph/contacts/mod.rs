//! Contacts: the tree of folders, contacts with their photos, and the deltas of both.

mod book;
mod contact_body;
mod contact_delta;
mod contact_folders;
mod contact_json;
mod photos;
mod seed;
mod writes;

use crate::door::Reply;
use crate::graph::call::{GraphCall, PageSizes, json_reply};
use crate::graph::contacts::book::{ContactItem, DEFAULT_FOLDER};
use crate::graph::errors::{GraphError, GraphResult};
use crate::graph::facts;
use crate::graph::ids;
use crate::graph::item_filter::{self, ItemFilter};
use crate::graph::state::GraphState;

pub use book::ContactStore;
pub use seed::control;

/// Answers a call whose path begins with `contacts` or `contactFolders`.
///
/// # Errors
/// The path is unknown, or the call is refused.
pub fn answer(state: &mut GraphState, call: &GraphCall) -> GraphResult {
    match call.segments().as_slice() {
        ["contacts", rest @ ..] => in_folder(state, call, None, rest),
        ["contactFolders", rest @ ..] => contact_folders::answer(state, call, rest),
        path => Err(GraphError::no_route(path.last().unwrap_or(&"contacts"))),
    }
}

/// Answers a call of the contacts of a folder; of the default folder where none is given, and then of a contact wherever it is.
fn in_folder(state: &mut GraphState, call: &GraphCall, folder: Option<&str>, rest: &[&str]) -> GraphResult {
    let key = folder.unwrap_or(DEFAULT_FOLDER);
    match (call.method.as_str(), rest) {
        ("GET", []) => list(store(state, call)?, call, key),
        ("POST", []) => writes::create(state, call, key),
        ("GET", ["delta"]) => contact_delta::contacts(state, call, key),
        ("GET", ["$count"]) => {
            let count = store(state, call)?.in_folder(key).count();
            Ok(Reply::new(200).header("content-type", "text/plain").body(count.to_string()))
        }
        (_, [id, rest @ ..]) => {
            let folder = folder.filter(|_| !state.traps.is_on("contact_found_elsewhere"));
            let number = find_contact(store(state, call)?, id, folder)?;
            with_contact(state, call, number, rest)
        }
        _ => Err(GraphError::no_route("contacts")),
    }
}

/// Answers a call of one contact.
fn with_contact(state: &mut GraphState, call: &GraphCall, number: u64, rest: &[&str]) -> GraphResult {
    match (call.method.as_str(), rest) {
        ("GET", []) => entity(store(state, call)?, call, number, 200),
        ("PATCH", []) => writes::patch(state, call, number),
        ("DELETE", []) | ("POST", ["permanentDelete"]) => writes::delete(state, call, number),
        (_, ["photo", rest @ ..]) => photos::answer(state, call, number, rest),
        _ => Err(GraphError::no_route(rest.first().copied().unwrap_or("contacts"))),
    }
}

/// The contacts of a call's account.
///
/// # Errors
/// The account has no mailbox: 404.
fn store<'s>(state: &'s GraphState, call: &GraphCall) -> Result<&'s ContactStore, GraphError> {
    state.contacts.get(&call.user).ok_or_else(GraphError::mailbox_not_enabled)
}

/// The same, to be changed.
///
/// # Errors
/// The account has no mailbox: 404.
fn store_mut<'s>(state: &'s mut GraphState, call: &GraphCall) -> Result<&'s mut ContactStore, GraphError> {
    state.contacts.get_mut(&call.user).ok_or_else(GraphError::mailbox_not_enabled)
}

/// The number of the contact that an id names, in this folder where one is given.
///
/// # Errors
/// There is none: 400, 404.
fn find_contact(store: &ContactStore, id: &str, folder: Option<&str>) -> Result<u64, GraphError> {
    let id = ids::parse_item(id)?;
    let item = store.find(&id.key).ok_or_else(GraphError::not_found)?;
    let is_there = id.is_at(item.place) && folder.is_none_or(|folder| folder == item.folder);
    if is_there { Ok(item.number) } else { Err(GraphError::not_found()) }
}

fn list(store: &ContactStore, call: &GraphCall, folder: &str) -> GraphResult {
    if call.parameter("$search").is_some() {
        return Err(GraphError::bad_request("The fake does not search contacts."));
    }
    let names = facts::list("contact_members", "filterable");
    let filter = ItemFilter::parse(call.parameter("$filter"), &names)?;
    let shown = |item: &ContactItem| contact_json::contact_value(call, item);
    let mut contacts: Vec<_> =
        store.in_folder(folder).map(shown).filter(|contact| filter.fits(contact)).collect();
    item_filter::sort(&mut contacts, call.parameter("$orderby"), &names)?;
    let sizes = PageSizes {
        usual: facts::number("contact_pages", "list_usual"),
        most: facts::number("contact_pages", "list_most"),
    };
    let mut page = call.page("contacts", contacts, sizes)?;
    for contact in page["value"].as_array_mut().into_iter().flatten() {
        let id = ids::parse_item(contact["id"].as_str().unwrap_or_default())?;
        if let Some(item) = store.find(&id.key) {
            contact_json::put_extended(call, item, contact);
        }
    }
    Ok(json_reply(200, &page))
}

/// The answer with one contact.
fn entity(store: &ContactStore, call: &GraphCall, number: u64, status: u16) -> GraphResult {
    let item = store.items.get(&number).ok_or_else(GraphError::not_found)?;
    let mut contact = call.select(contact_json::contact_value(call, item));
    contact["@odata.context"] = call.context("contacts/$entity").into();
    contact_json::put_extended(call, item, &mut contact);
    Ok(json_reply(status, &contact))
}

#[cfg(test)]
mod tests;
