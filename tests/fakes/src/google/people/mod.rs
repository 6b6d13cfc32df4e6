//! The People API: a user's contacts, groups and other contacts.

mod book;
mod checks;
mod contacts;
mod errors;
pub mod facts;
mod feed;
mod groups;
mod lists;
mod masks;
mod photos;
mod render;
mod seed;

use crate::google::call::{Call, MethodResult};
use crate::google::errors::ApiError;
use crate::google::state::State;

pub use book::AddressBook;
pub use seed::control;

/// Carries out the method with this id of the discovery document, such as `people.people.connections.list`.
///
/// # Errors
/// As the method answers it; 501 for a method that the fake does not have.
pub fn dispatch(state: &mut State, id: &str, call: &Call) -> MethodResult {
    match id.strip_prefix("people.").unwrap_or_default() {
        "people.connections.list" => lists::list_connections(state, call),
        "otherContacts.list" => lists::list_others(state, call),
        "people.get" => contacts::get(state, call),
        "people.getBatchGet" => contacts::get_batch(state, call),
        "people.createContact" => contacts::create(state, call),
        "people.updateContact" => contacts::update(state, call),
        "people.deleteContact" => contacts::delete(state, call),
        "people.updateContactPhoto" => photos::update(state, call),
        "people.deleteContactPhoto" => photos::delete(state, call),
        "contactGroups.list" => groups::list(state, call),
        "contactGroups.get" => groups::get(state, call),
        "contactGroups.batchGet" => groups::get_batch(state, call),
        "contactGroups.create" => groups::create(state, call),
        "contactGroups.update" => groups::update(state, call),
        "contactGroups.delete" => groups::delete(state, call),
        "contactGroups.members.modify" => groups::modify_members(state, call),
        _ => Err(ApiError::new(501, "notImplemented", &format!("The fake has no {id}."))),
    }
}
