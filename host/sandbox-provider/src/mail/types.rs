//! The provider's own JSON: mail folders, labels and messages. The names differ from Switchboard's model, as a real provider's do;
//! `connectors/sandbox` maps between the two. The journal stores the same structs, so a field added here is optional.

use serde::{Deserialize, Serialize};

/// The id of the mailbox: an account has one.
pub const MAILBOX: &str = "mailbox";

/// All mail of an account: its folders, labels and messages change in one order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Mailbox {
    pub id: String,
    pub created_at: String,
}

/// An entry of a mailbox. Ids are unique over all kinds: no message has the id of a folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Entry {
    Folder(MailFolder),
    Label(MailLabel),
    Message(Box<Message>),
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MailFolder {
    pub id: String,
    pub title: String,
    /// Id of the parent folder.
    pub parent: Option<String>,
    /// The provider's own folders have one; they cannot be changed or deleted.
    pub purpose: Option<Purpose>,
    /// Sorts the folders.
    pub rank: i64,
    pub created_at: String,
    pub updated_at: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Purpose {
    Inbox,
    Archive,
    Drafts,
    Sent,
    Trash,
    Junk,
}

impl Purpose {
    /// All of them; every account has one folder for each.
    pub const ALL: [Purpose; 6] =
        [Purpose::Inbox, Purpose::Archive, Purpose::Drafts, Purpose::Sent, Purpose::Trash, Purpose::Junk];

    /// The id of its folder.
    pub fn folder(self) -> &'static str {
        match self {
            Purpose::Inbox => "inbox",
            Purpose::Archive => "archive",
            Purpose::Drafts => "drafts",
            Purpose::Sent => "sent",
            Purpose::Trash => "trash",
            Purpose::Junk => "junk",
        }
    }

    /// Its title.
    pub fn title(self) -> &'static str {
        match self {
            Purpose::Inbox => "Inbox",
            Purpose::Archive => "Archive",
            Purpose::Drafts => "Drafts",
            Purpose::Sent => "Sent",
            Purpose::Trash => "Trash",
            Purpose::Junk => "Junk",
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MailLabel {
    pub id: String,
    pub title: String,
    /// `#rrggbb`, of the background.
    pub colour: Option<String>,
    /// `#rrggbb`.
    pub text_colour: Option<String>,
    pub hidden: bool,
    pub created_at: String,
    pub updated_at: String,
}

/// A message in a mailbox. Its bytes are stored separately under its id, and never change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Message {
    pub id: String,
    pub thread: String,
    /// The change that created it.
    pub born: u64,
    /// The draft that it replaces; that one is deleted.
    pub replaces: Option<String>,
    pub received_ms: i64,
    /// At least one.
    pub folders: Vec<String>,
    pub labels: Vec<String>,
    pub flags: Flags,
    /// Keywords, lower case.
    pub words: Vec<String>,
    pub weight: Weight,
    pub content: Content,
    /// Searchable text, lower case; not shown.
    pub search: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Flags {
    pub seen: bool,
    pub starred: bool,
    pub answered: bool,
    pub forwarded: bool,
    pub draft: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Weight {
    Minor,
    #[default]
    Usual,
    Major,
}

/// The content parsed from a message's bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Content {
    /// Without angle brackets, as all three.
    pub message_id: Option<String>,
    pub in_reply_to: Vec<String>,
    pub references: Vec<String>,
    pub subject: Option<String>,
    pub from: Vec<Correspondent>,
    pub sender: Option<Correspondent>,
    pub to: Vec<Correspondent>,
    pub cc: Vec<Correspondent>,
    pub bcc: Vec<Correspondent>,
    pub reply_to: Vec<Correspondent>,
    /// The Date header.
    pub sent_at: Option<String>,
    /// At most 200 characters of its text.
    pub preview: String,
    pub files: Vec<File>,
    /// Size of the whole message.
    pub bytes: usize,
    /// Whether it is an automatic response (RFC 3834). Not set for delivery reports, which have the same header.
    pub automatic: bool,
    /// The List-Unsubscribe header (RFC 2369).
    pub unsubscribe: Option<String>,
    /// The method of the invitation in it, lower case (RFC 5546).
    pub invitation: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Correspondent {
    pub mail: String,
    pub label: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct File {
    /// As its path names it.
    pub part: String,
    pub name: Option<String>,
    /// Such as `image/png`.
    pub media_type: String,
    /// Decoded.
    pub bytes: usize,
    /// The encoded size in the message.
    pub encoded_bytes: usize,
    /// The text shows it.
    pub inline: bool,
    /// The Content-Disposition, where there is one.
    pub disposition: Option<String>,
    /// Content-ID without angle brackets.
    pub cid: Option<String>,
    /// A whole message.
    pub is_message: bool,
}

/// The outcome of a sent message for one recipient.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Outcome {
    pub mail: String,
    pub accepted: bool,
    /// The reply of an SMTP server: code, enhanced status (RFC 3463), text.
    pub reply: String,
}
