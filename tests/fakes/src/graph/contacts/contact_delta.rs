//! Deltas: of the contacts of a folder, and of the tree of folders.

use serde_json::Value;

use crate::graph::call::{GraphCall, PageSizes};
use crate::graph::change_log::{self, ChangeEntry, removal};
use crate::graph::contacts::book::{DEFAULT_FOLDER, FOLDERS};
use crate::graph::contacts::contact_folders::folder_value;
use crate::graph::contacts::contact_json::contact_value;
use crate::graph::contacts::{store, store_mut};
use crate::graph::errors::{GraphError, GraphResult};
use crate::graph::facts;
use crate::graph::ids;
use crate::graph::state::GraphState;

fn sizes() -> PageSizes {
    PageSizes {
        usual: facts::number("contact_pages", "delta_usual"),
        most: facts::number("contact_pages", "delta_most"),
    }
}

/// `…/contacts/delta`: photos and extended properties are not in it.
pub fn contacts(state: &mut GraphState, call: &GraphCall, folder: &str) -> GraphResult {
    for name in ["$search", "$filter", "$skip", "$orderby", "$count"] {
        if call.parameter(name).is_some() {
            let message = format!("Change tracking does not support {name}.");
            return Err(GraphError::new(400, "ErrorInvalidUrlQuery", &message));
        }
    }
    change_log::check_token(&mut state.traps, call)?;
    let page = store_mut(state, call)?.log.read_page(call, folder, sizes())?;
    let store = store(state, call)?;
    let shown = |entry: &ChangeEntry| match entry {
        ChangeEntry::Item(key) => {
            let mut contact = contact_value(call, store.find(key)?);
            contact["@odata.type"] = "#microsoft.graph.contact".into();
            Some(contact)
        }
        ChangeEntry::Removal { key, place } => Some(removal("contact", &call.id_of(key, *place))),
    };
    let items: Vec<Value> = page.entries.iter().filter_map(shown).collect();
    Ok(page.to_reply(call, "contacts", items))
}

/// `contactFolders/delta`: all folders below the default one.
pub fn folders(state: &mut GraphState, call: &GraphCall) -> GraphResult {
    change_log::check_token(&mut state.traps, call)?;
    let is_first = call.parameter("$skiptoken").or_else(|| call.parameter("$deltatoken")).is_none();
    let has_default = is_first && state.traps.is_on("contact_default_in_delta");
    let page = store_mut(state, call)?.log.read_page(call, FOLDERS, sizes())?;
    let store = store(state, call)?;
    let shown = |entry: &ChangeEntry| match entry {
        ChangeEntry::Item(key) => Some(folder_value(store.folders.get(key)?)),
        ChangeEntry::Removal { key, place: _ } => Some(removal("contactFolder", &ids::stable(key))),
    };
    let mut items: Vec<Value> = Vec::new();
    if has_default {
        items.extend(store.folders.get(DEFAULT_FOLDER).map(folder_value));
    }
    items.extend(page.entries.iter().filter_map(shown));
    Ok(page.to_reply(call, "contactFolders", items))
}
