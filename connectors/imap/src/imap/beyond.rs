//! What is said as plain text, because the crate (imap-types 2.0.0-alpha.8, imap-codec 2.0.0-alpha.10) has no types for it.

use crate::imap::command::Command;
use crate::imap::commands;

/// A FETCH item of RFC 8474; the crate's `MessageDataItemName` ends with RFC 3516 and RFC 7162.
pub const EMAIL_ID: &str = "EMAILID";

/// A FETCH item of RFC 8970; as above.
pub const PREVIEW: &str = "PREVIEW";

/// LIST with return options (RFC 5258, RFC 5819, RFC 6154): the crate's `List` has a name and a pattern, and nothing else. `status` are
/// items of STATUS.
pub fn list_returning(special_use: bool, status: &str) -> Command {
    let special_use = if special_use { " SPECIAL-USE" } else { "" };
    commands::list(false).text(&format!(" RETURN (SUBSCRIBED{special_use} STATUS ({status}))"))
}

/// Items of STATUS with [`list_returning`].
pub fn counts(has_modseq: bool) -> &'static str {
    match has_modseq {
        true => "MESSAGES UNSEEN UIDNEXT UIDVALIDITY HIGHESTMODSEQ",
        false => "MESSAGES UNSEEN UIDNEXT UIDVALIDITY",
    }
}

/// STATUS of MAILBOXID (RFC 8474): the crate's `StatusDataItemName` does not have it.
pub fn status_mailbox_id(name: &str) -> Command {
    commands::status(name, Vec::new()).within(MAILBOX_ID)
}

/// The STATUS item of RFC 8474.
pub const MAILBOX_ID: &str = "MAILBOXID";

/// The UIDs of everything, of what is marked as deleted, and of what of it is unread: three commands whose answers are sets where the
/// server has ESEARCH (RFC 4731), for which the crate's `Search` has no return options.
pub fn uid_searches(as_sets: bool) -> [Command; 3] {
    let begin = if as_sets { "UID SEARCH RETURN (ALL)" } else { "UID SEARCH" };
    ["ALL", "DELETED", "DELETED UNSEEN"].map(|keys| Command::default().text(&format!("{begin} {keys}")))
}

/// Adds a search program that a user wrote, and that was checked: it may hold any extension's keys.
pub fn native_search(command: Command, program: &str) -> Command {
    command.text(&format!(" ({program})"))
}
