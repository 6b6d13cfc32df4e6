//! Names of the host's own for messages that no provider has.

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
    source_id.starts_with(crate::local_copy::mail::source_names::GONE)
}

/// What lists filter by.
pub fn flags(message: &EmailMessage) -> i64 {
    let bit = |is_set: bool, bit: i64| if is_set { bit } else { 0 };
    bit(message.unread, flag::UNREAD)
        | bit(message.starred, flag::STARRED)
        | bit(message.has_attachments, flag::HAS_ATTACHMENTS)
        | bit(message.draft, flag::DRAFT)
}

/// What the source of a message is called that lost its name to another.
pub(crate) const GONE: &str = "gone:";
