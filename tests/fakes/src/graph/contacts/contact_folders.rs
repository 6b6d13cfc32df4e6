//! Folders of contacts: those below the default folder, single ones by id or by the name of the default one, and changes of them.

use serde_json::{Value, json};

use crate::door::Reply;
use crate::graph::call::{GraphCall, PageSizes, json_reply};
use crate::graph::contacts::book::{ContactFolder, ContactStore, DEFAULT_FOLDER};
use crate::graph::contacts::writes::{ContactChange, note};
use crate::graph::contacts::{contact_delta, in_folder, store, store_mut};
use crate::graph::errors::{GraphError, GraphResult};
use crate::graph::facts;
use crate::graph::ids;
use crate::graph::state::GraphState;

/// The name by which the default folder is known.
const DEFAULT_NAME: &str = "contacts";

/// Answers a call below `contactFolders`. The folders at the top are in the default folder, which no list has.
pub fn answer(state: &mut GraphState, call: &GraphCall, rest: &[&str]) -> GraphResult {
    let method = call.method.as_str();
    match (method, rest) {
        ("GET", []) => list(store(state, call)?, call, DEFAULT_FOLDER),
        ("POST", []) => create(store_mut(state, call)?, call, DEFAULT_FOLDER),
        ("GET", ["delta"]) => contact_delta::folders(state, call),
        (_, [id, below @ ..]) => {
            let key = find_folder(store(state, call)?, id)?;
            match (method, below) {
                (_, ["contacts", rest @ ..]) => in_folder(state, call, Some(&key), rest),
                ("GET", ["childFolders"]) => list(store(state, call)?, call, &key),
                ("POST", ["childFolders"]) => create(store_mut(state, call)?, call, &key),
                // A folder stands below its parent too; its own id finds it.
                (_, ["childFolders", rest @ ..]) => answer(state, call, rest),
                ("GET", []) => entity(store(state, call)?, call, &key, 200),
                ("PATCH", []) => rename(store_mut(state, call)?, call, &key),
                ("DELETE", []) | ("POST", ["permanentDelete"]) => delete(state, call, &key),
                _ => Err(GraphError::no_route(below.last().unwrap_or(&"contactFolders"))),
            }
        }
        _ => Err(GraphError::no_route("contactFolders")),
    }
}

/// The key of the folder that an id or the well-known name names.
///
/// # Errors
/// There is none: 400, 404.
pub fn find_folder(store: &ContactStore, id: &str) -> Result<String, GraphError> {
    if id.eq_ignore_ascii_case(DEFAULT_NAME) {
        return Ok(DEFAULT_FOLDER.to_owned());
    }
    let key = ids::parse_stable(id)?;
    if store.folders.contains_key(&key) { Ok(key) } else { Err(GraphError::not_found()) }
}

/// A folder as it is answered.
pub fn folder_value(folder: &ContactFolder) -> Value {
    let parent: &str = if folder.parent.is_empty() { "contact-folder-root" } else { &folder.parent };
    json!({
        "id": ids::stable(&folder.key),
        "parentFolderId": ids::stable(parent),
        "displayName": folder.name,
    })
}

fn list(store: &ContactStore, call: &GraphCall, parent: &str) -> GraphResult {
    let folders = store.children(parent).into_iter().map(folder_value).collect();
    let sizes = PageSizes {
        usual: facts::number("contact_pages", "folders_usual"),
        most: facts::number("contact_pages", "list_most"),
    };
    Ok(json_reply(200, &call.page("contactFolders", folders, sizes)?))
}

fn entity(store: &ContactStore, call: &GraphCall, key: &str, status: u16) -> GraphResult {
    let folder = store.folders.get(key).ok_or_else(GraphError::not_found)?;
    let mut body = call.select(folder_value(folder));
    body["@odata.context"] = call.context("contactFolders/$entity").into();
    Ok(json_reply(status, &body))
}

/// The name of a body, which no other folder beside it has.
fn checked_name(store: &ContactStore, call: &GraphCall, parent: &str) -> Result<String, GraphError> {
    let name = call.body["displayName"].as_str().unwrap_or_default().trim();
    if name.is_empty() {
        return Err(GraphError::new(400, "ErrorPropertyValidationFailure", "The folder has no displayName."));
    }
    match store.children(parent).into_iter().any(|folder| folder.name.eq_ignore_ascii_case(name)) {
        true => {
            Err(GraphError::new(409, "ErrorFolderExists", "A folder with the specified name already exists."))
        }
        false => Ok(name.to_owned()),
    }
}

fn create(store: &mut ContactStore, call: &GraphCall, parent: &str) -> GraphResult {
    let name = checked_name(store, call, parent)?;
    let key = store.add_folder(parent, &name);
    entity(store, call, &key, 201)
}

fn rename(store: &mut ContactStore, call: &GraphCall, key: &str) -> GraphResult {
    if key == DEFAULT_FOLDER {
        return Err(GraphError::access_denied());
    }
    let folder = store.folders.get(key).ok_or_else(GraphError::not_found)?;
    let is_same = call.body["displayName"] == folder.name.as_str();
    if !is_same {
        let name = checked_name(store, call, &folder.parent)?;
        store.rename_folder(key, &name);
    }
    entity(store, call, key, 200)
}

fn delete(state: &mut GraphState, call: &GraphCall, key: &str) -> GraphResult {
    if key == DEFAULT_FOLDER {
        let message = "Distinguished folders cannot be deleted.";
        return Err(GraphError::new(403, "ErrorDeleteDistinguishedFolder", message));
    }
    let gone = store_mut(state, call)?.remove_folder(key);
    for item in gone {
        note(state, &call.user, "deleted", &ContactChange::of(&item));
    }
    Ok(Reply::new(204))
}
