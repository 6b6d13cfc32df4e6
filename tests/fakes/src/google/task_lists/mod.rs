//! The Tasks API: a user's task lists and tasks.

mod book;
mod facts;
mod lists;
mod orders;
mod render;
mod seed;
mod task_pages;
mod tasks;

use crate::google::call::{Call, MethodResult};
use crate::google::errors::ApiError;
use crate::google::state::State;

pub use book::TaskBook;
pub use seed::control;

/// Carries out the method with this id of the discovery document, such as `tasks.tasks.insert`.
///
/// # Errors
/// As the method answers it; 501 for a method that the fake does not have.
pub fn dispatch(state: &mut State, id: &str, call: &Call) -> MethodResult {
    match id.strip_prefix("tasks.").unwrap_or_default() {
        "tasklists.list" => lists::list(state, call),
        "tasklists.get" => lists::get(state, call),
        "tasklists.insert" => lists::insert(state, call),
        "tasklists.patch" => lists::patch(state, call),
        "tasklists.update" => lists::update(state, call),
        "tasklists.delete" => lists::delete(state, call),
        "tasks.list" => task_pages::list(state, call),
        "tasks.get" => tasks::get(state, call),
        "tasks.insert" => tasks::insert(state, call),
        "tasks.patch" => tasks::patch(state, call),
        "tasks.update" => tasks::update(state, call),
        "tasks.delete" => tasks::delete(state, call),
        "tasks.clear" => tasks::clear(state, call),
        "tasks.move" => orders::move_task(state, call),
        _ => Err(ApiError::new(501, "notImplemented", &format!("The fake has no {id}."))),
    }
}
