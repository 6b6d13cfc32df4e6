//! Mail as the journal stores it: the model's resources, and what the provider adds.

use model::email::EmailMessage;
use model::email::folders::{Folder, FolderRole, Label};
use model::wire::email::RecipientOutcome;
use serde::{Deserialize, Serialize};

use crate::document::Document;

/// The id of the mailbox: an account has one.
pub const MAILBOX: &str = "mailbox";

/// The ids of system folders.
pub const INBOX: &str = "inbox";
pub const DRAFTS: &str = "drafts";
pub const SENT: &str = "sent";
pub const TRASH: &str = "trash";

/// The folders that every account has: role, id, name.
pub const SYSTEM_FOLDERS: [(FolderRole, &str, &str); 6] = [
    (FolderRole::Inbox, INBOX, "Inbox"),
    (FolderRole::Archive, "archive", "Archive"),
    (FolderRole::Drafts, DRAFTS, "Drafts"),
    (FolderRole::Sent, SENT, "Sent"),
    (FolderRole::Trash, TRASH, "Trash"),
    (FolderRole::Junk, "junk", "Junk"),
];

/// All mail of an account: its folders, labels and messages change in one order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Mailbox {
    pub id: String,
    pub created_at: String,
}

/// A folder of messages. Its path is added to an answer.
pub type MailFolder = Document<Folder>;
/// A label of messages.
pub type MailLabel = Document<Label>;

/// An entry of a mailbox. Ids are unique over all kinds: no message has the id of a folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Entry {
    Folder(MailFolder),
    Label(MailLabel),
    Message(Box<Message>),
}

impl Entry {
    /// The message that it is.
    pub fn message(&self) -> Option<&Message> {
        match self {
            Entry::Message(message) => Some(message),
            _ => None,
        }
    }

    /// The folder that it is.
    pub fn folder(&self) -> Option<&MailFolder> {
        match self {
            Entry::Folder(folder) => Some(folder),
            _ => None,
        }
    }

    /// The label that it is.
    pub fn label(&self) -> Option<&MailLabel> {
        match self {
            Entry::Label(label) => Some(label),
            _ => None,
        }
    }
}

/// A message in a mailbox. Its bytes are stored separately under its id, and never change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    pub id: String,
    /// The message without its text and headers.
    pub body: EmailMessage,
    /// The change that created it.
    pub born: u64,
    /// The draft that it replaces; that one is deleted.
    pub previous_id: Option<String>,
    /// Searchable text, lower case; not shown.
    pub search: String,
}

/// The server's reply to one recipient of a sent message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecipientReply {
    /// The address; older journals call it `mail`.
    #[serde(alias = "mail")]
    pub email: String,
    /// An SMTP reply: code, enhanced status (RFC 3463), text.
    pub reply: String,
}

impl RecipientReply {
    /// Whether the server accepted the message for the recipient.
    pub fn is_accepted(&self) -> bool {
        self.reply.starts_with('2')
    }

    /// The reply as the model has it.
    pub fn outcome(&self) -> RecipientOutcome {
        RecipientOutcome {
            email: self.email.clone(),
            accepted: self.is_accepted(),
            temporary: self.reply.starts_with('4'),
            reply: Some(self.reply.clone()),
            enhanced_status: self.reply.split(' ').nth(1).filter(is_status).map(str::to_owned),
        }
    }
}

/// Whether the word is an enhanced status code, such as `5.1.1`.
fn is_status(word: &&str) -> bool {
    word.split('.').count() == 3 && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

#[cfg(test)]
mod tests {
    use crate::mail::types::RecipientReply;

    #[test]
    fn replies() {
        let outcome = |reply: &str| {
            let email = "a@x.test".to_owned();
            RecipientReply { email, reply: reply.to_owned() }.outcome()
        };
        let later = outcome("451 4.3.0 try again later");
        assert_eq!((later.temporary, later.enhanced_status.as_deref()), (true, Some("4.3.0")));
        let never = outcome("550 no such user");
        assert_eq!((never.temporary, never.enhanced_status), (false, None));
    }
}
