//! Mail. Messages and drafts are items of a connection; `prepare` reads what connectors tell of them, `differences` finds out what that
//! changes here, `names` turns the provider's folders into ours, `threads` says which messages belong together. `list` and `read`
//! answer, `write` changes and deletes.

pub mod answer;
pub mod append;
pub mod attachments;
pub mod bodies;
pub mod compose;
pub mod conversations;
mod differences;
mod draft_input;
pub mod drafts;
pub mod filter;
pub mod folders;
pub mod list;
pub mod names;
pub mod own;
mod places;
pub mod prepare;
pub mod read;
pub mod search;
pub mod settle;
pub mod threads;
pub mod write;

pub use differences::{OUTGOING, differences, is_outgoing};
pub use places::put;
pub use prepare::prepared;

use model::email::EmailMessage;

use crate::storage::mail::flag;

/// What lists filter by.
pub fn flags(message: &EmailMessage) -> i64 {
    let bit = |is_set: bool, bit: i64| if is_set { bit } else { 0 };
    bit(message.unread, flag::UNREAD)
        | bit(message.starred, flag::STARRED)
        | bit(message.has_attachments, flag::HAS_ATTACHMENTS)
        | bit(message.draft, flag::DRAFT)
}
