//! The tools of events.

mod create;
mod delete;
mod fields;
mod people;
mod read;
mod respond;
mod search;
mod update;

pub use crate::tools::events::create::{CREATE_EVENT, create_event};
pub use crate::tools::events::delete::{DELETE_EVENT, delete_event};
pub use crate::tools::events::read::{READ_EVENT, read_event};
pub use crate::tools::events::respond::{RESPOND_TO_INVITATION, respond_to_invitation};
pub use crate::tools::events::search::{SEARCH_EVENTS, search_events};
pub use crate::tools::events::update::{UPDATE_EVENT, update_event};
