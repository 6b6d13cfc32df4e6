//! The host's own source names, for messages that no provider has.

use model::email::EmailMessage;
use storage::mail::flag;

/// Prefix of messages that are being sent, or were sent without a copy.
pub const OUTGOING: &str = "outbox:";

/// Prefix of drafts that were sent.
pub const SENT: &str = "sent:";

/// Whether a message is being sent, or was sent without a copy: no provider has it.
pub fn is_outgoing(source_id: &str) -> bool {
    source_id.starts_with(OUTGOING)
}

/// Whether no provider has the message: it is outgoing, or a draft that was sent.
pub fn is_only_here(source_id: &str) -> bool {
    is_outgoing(source_id) || source_id.starts_with(SENT)
}

/// Whether an item lost its name at the provider to another one.
pub fn is_nameless(source_id: &str) -> bool {
    source_id.starts_with(crate::local_copy::mail::source_names::GONE)
}

/// Returns the flags that lists filter by.
pub fn flags(message: &EmailMessage) -> i64 {
    let bit = |is_set: bool, bit: i64| if is_set { bit } else { 0 };
    bit(message.unread, flag::UNREAD)
        | bit(message.starred, flag::STARRED)
        | bit(message.has_attachments, flag::HAS_ATTACHMENTS)
        | bit(message.draft, flag::DRAFT)
}

/// Prefix of messages that lost their names to others.
pub(crate) const GONE: &str = "gone:";
