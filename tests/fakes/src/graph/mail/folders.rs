//! Folders: the tree, single folders by id or well-known name, and changes of them. Messages of a folder go to `messages`.

use serde_json::{Value, json};

use crate::door::Reply;
use crate::graph::call::{GraphCall, json_reply};
use crate::graph::errors::{GraphError, GraphResult};
use crate::graph::facts;
use crate::graph::ids;
use crate::graph::mail::message_json::property_ids;
use crate::graph::mail::store::{MailStore, MessageItem};
use crate::graph::mail::tree::{FolderNode, ROOT};
use crate::graph::mail::{action_parameter, delta, find_folder, messages, store_mut};
use crate::graph::state::GraphState;
use crate::graph::times::stamp;

/// Answers a call below `mailFolders`.
pub fn answer(state: &mut GraphState, call: &GraphCall, rest: &[&str]) -> GraphResult {
    let method = call.method.as_str();
    match (method, rest) {
        ("GET", []) => list(store_mut(state, call)?, call, ROOT),
        ("POST", []) => create(store_mut(state, call)?, call, ROOT),
        ("GET", ["delta"]) => delta::folders(state, call),
        (_, [id, below @ ..]) => {
            let key = find_folder(store_mut(state, call)?, id)?;
            match (method, below) {
                (_, ["messages", rest @ ..]) => messages::answer(state, call, Some(&key), rest),
                ("GET", ["childFolders"]) => list(store_mut(state, call)?, call, &key),
                ("POST", ["childFolders"]) => create(store_mut(state, call)?, call, &key),
                // A folder stands below its parent too; its own id finds it.
                (_, ["childFolders", rest @ ..]) => answer(state, call, rest),
                ("GET", []) => {
                    let store = store_mut(state, call)?;
                    Ok(json_reply(200, &entity(call, store, &key)?))
                }
                ("PATCH", []) => rename(store_mut(state, call)?, call, &key),
                ("POST", ["move"]) => move_into(store_mut(state, call)?, call, &key),
                ("DELETE", []) | ("POST", ["permanentDelete"]) => {
                    let now = state.clock.now_ms();
                    let store = store_mut(state, call)?;
                    check_own(store, &key, "ErrorDeleteDistinguishedFolder")?;
                    store.remove_folder(&key, now);
                    Ok(Reply::new(204))
                }
                _ => Err(GraphError::no_route(below.last().unwrap_or(&"mailFolders"))),
            }
        }
        _ => Err(GraphError::no_route("mailFolders")),
    }
}

/// A folder as it is answered.
pub fn folder_value(store: &MailStore, node: &FolderNode) -> Value {
    let inside: Vec<&MessageItem> = store.messages.values().filter(|item| item.folder == node.key).collect();
    let mut value = json!({
        "id": ids::stable(&node.key),
        "displayName": node.name,
        "parentFolderId": ids::stable(if node.parent.is_empty() { "folder-above" } else { &node.parent }),
        "childFolderCount": store.tree.children(&node.key).count(),
        "unreadItemCount": inside.iter().filter(|item| !item.is_read).count(),
        "totalItemCount": inside.len(),
        "sizeInBytes": inside.iter().map(|item| item.raw.len()).sum::<usize>(),
        "isHidden": node.is_hidden,
    });
    if node.is_search {
        value["@odata.type"] = "#microsoft.graph.mailSearchFolder".into();
        value["isSupported"] = true.into();
        value["includeNestedFolders"] = true.into();
        value["filterQuery"] = "isRead eq false".into();
    }
    value
}

/// A folder with what `$expand` asks for.
fn shown(call: &GraphCall, store: &MailStore, node: &FolderNode) -> Value {
    let mut value = call.select(folder_value(store, node));
    let expand = call.parameter("$expand").unwrap_or_default();
    if let Some(inside) = expand.strip_prefix("singleValueExtendedProperties(")
        && node.changed_ms > 0
        && let Some(id) = property_ids(inside).into_iter().find(|id| id.to_lowercase().ends_with("0x670a"))
    {
        let kind = id.split(' ').next().unwrap_or_default();
        let id = format!("{kind} 0x670a");
        value["singleValueExtendedProperties"] = json!([{ "id": id, "value": stamp(node.changed_ms) }]);
    }
    value
}

fn entity(call: &GraphCall, store: &MailStore, key: &str) -> Result<Value, GraphError> {
    let node = store.tree.nodes.get(key).ok_or_else(GraphError::not_found)?;
    let mut value = shown(call, store, node);
    value["@odata.context"] = call.context("mailFolders/$entity").into();
    Ok(value)
}

fn list(store: &MailStore, call: &GraphCall, parent: &str) -> GraphResult {
    let with_hidden = call.parameter("includeHiddenFolders") == Some("true");
    let wanted = match call.parameter("$filter") {
        None => None,
        Some(filter) => {
            let name = filter.strip_prefix("displayName eq '").and_then(|rest| rest.strip_suffix('\''));
            let unknown =
                || GraphError::bad_request(&format!("The fake takes displayName eq alone, not '{filter}'."));
            Some(name.ok_or_else(unknown)?.replace("''", "'"))
        }
    };
    let mut nodes: Vec<&FolderNode> =
        store.tree.children(parent).filter(|node| store.tree.is_shown(node, with_hidden)).collect();
    nodes.retain(|node| wanted.as_ref().is_none_or(|name| node.name == *name));
    nodes.sort_by_key(|node| node.name.clone());
    let usual = facts::number("mail_pages", "folders_usual");
    let most = facts::number("mail_pages", "folders_most");
    let (top, skip) = (call.top(usual, most)?, call.skip()?);
    let all = nodes.len();
    let items = nodes.into_iter().skip(skip).take(top).map(|node| shown(call, store, node)).collect();
    let mut page = messages::collection(call, "mailFolders", items);
    if skip + top < all {
        page["@odata.nextLink"] = call.next_link(skip + top).into();
    }
    if call.parameter("$count") == Some("true") {
        page["@odata.count"] = all.into();
    }
    Ok(json_reply(200, &page))
}

/// The name that a request gives a folder.
///
/// # Errors
/// It is missing, or a folder of the parent has it: 400, 409.
fn given_name(store: &MailStore, call: &GraphCall, parent: &str) -> Result<String, GraphError> {
    let name = call.body["displayName"].as_str().filter(|name| !name.trim().is_empty());
    let name = name.ok_or_else(|| GraphError::bad_request("The property 'displayName' is required."))?;
    match store.tree.has_child(parent, name) {
        true => Err(exists()),
        false => Ok(name.to_owned()),
    }
}

fn exists() -> GraphError {
    GraphError::new(409, "ErrorFolderExists", "A folder with the specified name already exists.")
}

/// Checks that a folder is none of those that Exchange made.
///
/// # Errors
/// It is: 403.
fn check_own(store: &MailStore, key: &str, code: &str) -> Result<(), GraphError> {
    match store.tree.is_well_known(key) {
        true => Err(GraphError::new(403, code, "Distinguished folders cannot be moved, renamed or deleted.")),
        false => Ok(()),
    }
}

fn create(store: &mut MailStore, call: &GraphCall, parent: &str) -> GraphResult {
    let name = given_name(store, call, parent)?;
    let key = store.add_folder(parent, &name);
    if let Some(node) = store.tree.nodes.get_mut(&key) {
        node.is_hidden = call.body["isHidden"] == true;
    }
    Ok(json_reply(201, &entity(call, store, &key)?))
}

fn rename(store: &mut MailStore, call: &GraphCall, key: &str) -> GraphResult {
    check_own(store, key, "ErrorMoveDistinguishedFolder")?;
    let node = store.tree.nodes.get(key).ok_or_else(GraphError::not_found)?;
    let (parent, old) = (node.parent.clone(), node.name.clone());
    let is_same = call.body["displayName"].as_str().is_some_and(|name| name.eq_ignore_ascii_case(&old));
    let name = match is_same {
        true => call.body["displayName"].as_str().unwrap_or_default().to_owned(),
        false => given_name(store, call, &parent)?,
    };
    let changed = store.next_change();
    if let Some(node) = store.tree.nodes.get_mut(key) {
        node.name = name;
        node.changed = changed;
    }
    Ok(json_reply(200, &entity(call, store, key)?))
}

fn move_into(store: &mut MailStore, call: &GraphCall, key: &str) -> GraphResult {
    check_own(store, key, "ErrorMoveDistinguishedFolder")?;
    let parent = find_folder(store, action_parameter(call, "destinationId").as_str().unwrap_or_default())?;
    let name = store.tree.nodes.get(key).map(|node| node.name.clone()).unwrap_or_default();
    if store.tree.subtree(key).contains(&parent) {
        return Err(GraphError::new(400, "ErrorMoveCopyFailed", "A folder cannot be moved into itself."));
    }
    if store.tree.has_child(&parent, &name) {
        return Err(exists());
    }
    let changed = store.next_change();
    if let Some(node) = store.tree.nodes.get_mut(key) {
        node.parent = parent;
        node.changed = changed;
    }
    Ok(json_reply(201, &entity(call, store, key)?))
}
