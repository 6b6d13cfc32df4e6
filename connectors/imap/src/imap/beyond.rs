//! Commands as plain text, for which the crate (imap-types 2.0.0-alpha.8, imap-codec 2.0.0-alpha.10) has no types.

use crate::imap::all_mail::is_own;
use crate::imap::command::Command;
use crate::imap::commands;
use crate::imap::names;
use crate::imap::uids::UidSet;

/// A FETCH item of RFC 8474; the crate's `MessageDataItemName` ends with RFC 3516 and RFC 7162.
pub const EMAIL_ID: &str = "EMAILID";

/// A FETCH item of RFC 8970; as above.
pub const PREVIEW: &str = "PREVIEW";

/// A FETCH item of Gmail: the labels of a message.
pub const LABELS: &str = "X-GM-LABELS";

/// A FETCH item of Gmail: a number that the message has in every mailbox.
pub const GMAIL_MESSAGE_ID: &str = "X-GM-MSGID";

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

/// The UIDs of all messages, of those marked as deleted, and of the unread ones among these: three commands whose answers are sets where
/// the server has ESEARCH (RFC 4731), for which the crate's `Search` has no return options.
pub fn uid_searches(as_sets: bool) -> [Command; 3] {
    let begin = if as_sets { "UID SEARCH RETURN (ALL)" } else { "UID SEARCH" };
    ["ALL", "DELETED", "DELETED UNSEEN"].map(|keys| Command::default().text(&format!("{begin} {keys}")))
}

/// Adds a search program that a user wrote, and that was checked: it may hold any extension's keys.
pub fn native_search(command: Command, program: &str) -> Command {
    command.text(&format!(" ({program})"))
}

/// UID SEARCH of Gmail for a message by its number.
pub fn gmail_message(id: u64) -> Command {
    Command::default().text(&format!("UID SEARCH {GMAIL_MESSAGE_ID} {id}"))
}

/// Adds to a search that the message has this label of Gmail. Gmail's system labels are written in the terms of its search field.
pub fn with_label(command: Command, label: &str) -> Command {
    let words = match label {
        "\\Inbox" => "in:inbox",
        "\\Sent" => "in:sent",
        "\\Draft" => "in:drafts",
        "\\Starred" => "is:starred",
        "\\Important" => "is:important",
        name => return command.text(&format!(" {LABELS} {}", quote(name))),
    };
    command.text(&format!(" X-GM-RAW \"{words}\""))
}

/// UID STORE that gives a message these labels of Gmail, or takes them away.
pub fn store_labels(uids: &UidSet, adds: bool, labels: &[String]) -> Command {
    let written = |label: &String| if is_own(label) { label.clone() } else { quote(label) };
    let labels: Vec<String> = labels.iter().map(written).collect();
    let sign = if adds { '+' } else { '-' };
    Command::default().text(&format!("UID STORE {uids} {sign}{LABELS} ({})", labels.join(" ")))
}

/// A name of a label as a quoted string: mailbox names on the wire are printable ASCII.
fn quote(name: &str) -> String {
    format!("\"{}\"", names::encode(name).replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::{Command, store_labels, with_label};
    use crate::imap::command::Piece;
    use crate::imap::uids::UidSet;

    #[test]
    fn a_label_never_ends_its_command() {
        let text = |text: &str| [Piece::Text(text.as_bytes().to_vec())];
        let labels = ["\\Inbox", "a\"b\\c) (d", "\\x) (y", "Büro\r\n"].map(str::to_owned);
        let stored = store_labels(&UidSet::only(7), true, &labels);
        let expected =
            "UID STORE 7 +X-GM-LABELS (\\Inbox \"a\\\"b\\\\c) (d\" \"\\\\x) (y\" \"B&APw-ro&AA0ACg-\")";
        assert_eq!(stored.pieces(), text(expected));
        let search = with_label(Command::default().text("UID SEARCH ALL"), "R&D");
        assert_eq!(search.pieces(), text("UID SEARCH ALL X-GM-LABELS \"R&-D\""));
        let inbox = with_label(Command::default().text("UID SEARCH ALL"), "\\Inbox");
        assert_eq!(inbox.pieces(), text("UID SEARCH ALL X-GM-RAW \"in:inbox\""));
    }
}
