//! Contacts that clients create, change and delete, and what subscriptions hear of it.

use crate::door::Reply;
use crate::graph::call::GraphCall;
use crate::graph::contacts::book::{ContactItem, DEFAULT_FOLDER};
use crate::graph::contacts::{contact_body, entity, store, store_mut};
use crate::graph::errors::{GraphError, GraphResult};
use crate::graph::ids;
use crate::graph::state::{GraphState, ItemChange};

/// The place of a contact that changed.
#[derive(Clone, Debug)]
pub struct ContactChange {
    folder: String,
    key: String,
    place: u64,
}

impl ContactChange {
    pub fn of(item: &ContactItem) -> ContactChange {
        ContactChange { folder: item.folder.clone(), key: item.key(), place: item.place }
    }
}

/// Tells subscriptions of a change: `created`, `updated` or `deleted`.
pub fn note(state: &mut GraphState, user: &str, kind: &str, change: &ContactChange) {
    let mut collections = vec![format!("contactFolders/{}/contacts", ids::stable(&change.folder))];
    if change.folder == DEFAULT_FOLDER {
        collections.push("contacts".to_owned());
        collections.push("contactFolders/contacts/contacts".to_owned());
    }
    let change = ItemChange {
        kind,
        collections: &collections,
        data_type: "#Microsoft.Graph.Contact",
        key: &change.key,
        place: change.place,
    };
    state.note_change(user, &change);
}

/// Tells subscriptions of a change of a contact that is there.
pub fn note_contact(state: &mut GraphState, user: &str, kind: &str, number: u64) {
    let item = state.contacts.get(user).and_then(|store| store.items.get(&number));
    if let Some(change) = item.map(ContactChange::of) {
        note(state, user, kind, &change);
    }
}

/// `POST …/contacts`
pub fn create(state: &mut GraphState, call: &GraphCall, folder: &str) -> GraphResult {
    let now = state.clock.now_ms();
    let number =
        store_mut(state, call)?.add(folder, now, |item| contact_body::write(item, &call.body, true))?;
    note_contact(state, &call.user, "created", number);
    entity(store(state, call)?, call, number, 201)
}

/// `PATCH …/contacts/{id}`
pub fn patch(state: &mut GraphState, call: &GraphCall, number: u64) -> GraphResult {
    check_version(state, call, number)?;
    let now = state.clock.now_ms();
    let store_now = store_mut(state, call)?;
    let item = store_now.items.get_mut(&number).ok_or_else(GraphError::not_found)?;
    let mut written = item.clone();
    contact_body::write(&mut written, &call.body, false)?;
    *item = written;
    store_now.touch(number, now);
    note_contact(state, &call.user, "updated", number);
    entity(store(state, call)?, call, number, 200)
}

/// `DELETE …/contacts/{id}`
pub fn delete(state: &mut GraphState, call: &GraphCall, number: u64) -> GraphResult {
    check_version(state, call, number)?;
    let item = store_mut(state, call)?.remove(number).ok_or_else(GraphError::not_found)?;
    note(state, &call.user, "deleted", &ContactChange::of(&item));
    Ok(Reply::new(204))
}

/// Checks If-Match.
fn check_version(state: &mut GraphState, call: &GraphCall, number: u64) -> Result<(), GraphError> {
    if call.header("if-match").is_some() && state.traps.fires("irresolvable_conflict") {
        return Err(GraphError::conflict());
    }
    let item = store(state, call)?.items.get(&number).ok_or_else(GraphError::not_found)?;
    call.check_if_match(&item.etag())
}
