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
mod identity;
pub mod list;
pub mod names;
pub mod own;
mod places;
pub mod prepare;
pub mod read;
pub mod search;
pub mod settle;
mod superseded;
pub mod threads;
pub mod write;

pub use differences::differences;
pub use places::{date_threads, put};
pub use prepare::{own_of, prepared};

use model::email::EmailMessage;
use storage::mail::flag;

/// What the sources of messages begin with that are on their way, or were sent without a copy.
pub const OUTGOING: &str = "outbox:";
/// The same of drafts that were sent.
pub const SENT: &str = "sent:";

/// Whether a message is on its way, or was sent without a copy: no provider has it.
pub fn is_outgoing(source_id: &str) -> bool {
    source_id.starts_with(OUTGOING)
}

/// The source of what no provider has: that, or a draft that was sent.
pub fn is_only_here(source_id: &str) -> bool {
    is_outgoing(source_id) || source_id.starts_with(SENT)
}

/// Whether an item lost its name at the provider to another one.
pub fn is_nameless(source_id: &str) -> bool {
    source_id.starts_with(identity::GONE)
}

/// What lists filter by.
pub fn flags(message: &EmailMessage) -> i64 {
    let bit = |is_set: bool, bit: i64| if is_set { bit } else { 0 };
    bit(message.unread, flag::UNREAD)
        | bit(message.starred, flag::STARRED)
        | bit(message.has_attachments, flag::HAS_ATTACHMENTS)
        | bit(message.draft, flag::DRAFT)
}
