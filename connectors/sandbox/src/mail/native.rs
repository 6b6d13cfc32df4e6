//! The provider's JSON of mail folders, labels and messages, as far as it is mapped.

use model::Instant;
use model::email::folders::FolderRole;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::native::{object, words};

/// One thing in a mailbox, by its `kind`.
#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Entry {
    Folder(Folder),
    Label(Label),
    Message(Box<Message>),
}

object! {
    Folder {
        id: String,
        etag: Option<String>,
        title: String,
        path: Vec<String>,
        parent: Option<String>,
        purpose: Option<Purpose>,
        rank: i64,
    }
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

impl From<Purpose> for FolderRole {
    fn from(purpose: Purpose) -> Self {
        match purpose {
            Purpose::Inbox => FolderRole::Inbox,
            Purpose::Archive => FolderRole::Archive,
            Purpose::Drafts => FolderRole::Drafts,
            Purpose::Sent => FolderRole::Sent,
            Purpose::Trash => FolderRole::Trash,
            Purpose::Junk => FolderRole::Junk,
        }
    }
}

object! {
    Label {
        id: String,
        etag: Option<String>,
        title: String,
        colour: Option<String>,
        text_colour: Option<String>,
        hidden: bool,
    }
}

object! {
    Message {
        id: String,
        etag: Option<String>,
        /// The message came after the token of the request; only in answers with changes.
        new: bool,
        thread: Option<String>,
        replaces: Option<String>,
        received_at: Instant,
        folders: Vec<String>,
        labels: Vec<String>,
        flags: Flags,
        words: Vec<String>,
        weight: Weight,
        message_id: Option<String>,
        in_reply_to: Vec<String>,
        references: Vec<String>,
        subject: Option<String>,
        from: Vec<Correspondent>,
        sender: Option<Correspondent>,
        to: Vec<Correspondent>,
        cc: Vec<Correspondent>,
        bcc: Vec<Correspondent>,
        reply_to: Vec<Correspondent>,
        sent_at: Option<Instant>,
        preview: String,
        files: Vec<File>,
        bytes: i64,
        automatic: bool,
        unsubscribe: Option<String>,
        invitation: Option<Invitation>,
        web_link: Option<String>,
        headers: Vec<Header>,
        text: Option<Text>,
    }
}

object! {
    Flags {
        seen: bool,
        starred: bool,
        answered: bool,
        forwarded: bool,
        draft: bool,
    }
}

words! {
    Weight = model::email::Importance {
        Usual = Normal,
        Minor = Low,
        Major = High,
    }
}

words! {
    Invitation = model::email::CalendarMethod {
        Request = Request,
        Reply = Reply,
        Cancel = Cancel,
    }
}

object! {
    Correspondent {
        mail: String,
        label: Option<String>,
    }
}

object! {
    File {
        part: String,
        name: Option<String>,
        media_type: String,
        bytes: i64,
        encoded_bytes: i64,
        inline: bool,
        disposition: Option<String>,
        cid: Option<String>,
        is_message: bool,
    }
}

object! {
    Header {
        name: String,
        value: String,
    }
}

object! {
    Text {
        plain: Option<String>,
        html: Option<String>,
        charset: Option<String>,
        cut: bool,
    }
}

/// A page of messages, or some of them, each read for itself.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Messages {
    pub messages: Vec<Box<RawValue>>,
    pub next_page_token: Option<String>,
}

/// All folders, or all labels.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Shelves {
    #[serde(alias = "labels")]
    pub folders: Vec<Box<RawValue>>,
}

/// Answer of sending.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct SendResponse {
    pub entry: Option<Box<RawValue>>,
    pub dropped: Vec<String>,
    pub outcomes: Vec<Told>,
}

object! {
    /// The provider's result for one recipient.
    Told {
        accepted: bool,
        reply: String,
    }
}
