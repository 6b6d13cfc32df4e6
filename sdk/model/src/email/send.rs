//! The bodies that callers write: messages to send or to import, drafts, changes of a message.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Instant;
use crate::email::draft::ReplyMode;
use crate::email::{EmailAddress, EmailHeader, Importance, TrackingSettings};
use crate::resource::Metadata;

/// A message to send. At least one recipient over `to`, `cc` and `bcc`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["connectionId"])))]
pub struct SendMessage {
    /// The connection that sends the message.
    pub connection_id: String,
    /// The account's address where it is absent; else one of its aliases.
    pub from: Vec<EmailAddress>,
    /// The primary recipients.
    pub to: Vec<EmailAddress>,
    /// The recipients of copies.
    pub cc: Vec<EmailAddress>,
    /// The blind-copy recipients.
    pub bcc: Vec<EmailAddress>,
    /// The addresses for replies.
    pub reply_to: Vec<EmailAddress>,
    /// The subject.
    pub subject: Option<String>,
    /// The text.
    pub body: NewBody,
    /// At most 25 MiB together, decoded.
    pub attachments: Vec<NewAttachment>,
    /// In-Reply-To, References and the subject's prefix are made from it.
    pub reply_to_message_id: Option<String>,
    /// Recipients come from this body alone unless it is `replyAll`.
    pub reply_mode: Option<ReplyMode>,
    /// Only `X-*`, `List-*` and `Auto-Submitted`; no line breaks.
    pub headers: Vec<EmailHeader>,
    /// At most 90 days ahead, and not in the past; now where it is absent.
    pub send_at: Option<Instant>,
    /// The tracking options; null: it is not tracked.
    pub tracking: Option<TrackingSettings>,
    /// Keep a copy in the sent folder.
    pub save_to_sent: bool,
    /// Your own notes, never sent to a provider.
    pub metadata: Metadata,
}

impl Default for SendMessage {
    fn default() -> Self {
        SendMessage {
            connection_id: String::new(),
            from: Vec::new(),
            to: Vec::new(),
            cc: Vec::new(),
            bcc: Vec::new(),
            reply_to: Vec::new(),
            subject: None,
            body: NewBody::default(),
            attachments: Vec::new(),
            reply_to_message_id: None,
            reply_mode: None,
            headers: Vec::new(),
            send_at: None,
            tracking: None,
            save_to_sent: true,
            metadata: Metadata::new(),
        }
    }
}

/// The text to send: either part, or both as alternatives.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct NewBody {
    /// The plain text.
    pub text: Option<String>,
    /// The HTML.
    pub html: Option<String>,
}

/// A file to attach: its bytes, or one that is already in a message, or an upload.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct NewAttachment {
    /// The file's name.
    pub filename: Option<String>,
    /// The media type.
    pub content_type: Option<String>,
    /// The bytes in base64 (RFC 4648 section 4).
    pub content_base64: Option<String>,
    /// An attachment of another message.
    pub attachment_ref: Option<AttachmentRef>,
    /// The id of an upload.
    pub upload_id: Option<String>,
    /// Whether the HTML shows it, rather than a list of files.
    pub inline: bool,
    /// The Content-ID that `cid:` in the HTML refers to.
    pub content_id: Option<String>,
}

/// An attachment that is already in the mailbox.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AttachmentRef {
    /// The id of the message.
    pub message_id: String,
    /// The id of the attachment in it.
    pub attachment_id: String,
}

/// A message to put into a folder without sending it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["connectionId"])))]
pub struct NewMessage {
    /// The connection whose mailbox gets the message.
    pub connection_id: String,
    /// The whole message (RFC 5322) in base64; the fields below are then ignored, except those for its folder, labels and state.
    pub raw_base64: Option<String>,
    /// The authors.
    pub from: Vec<EmailAddress>,
    /// The primary recipients.
    pub to: Vec<EmailAddress>,
    /// The recipients of copies.
    pub cc: Vec<EmailAddress>,
    /// The blind-copy recipients.
    pub bcc: Vec<EmailAddress>,
    /// The addresses for replies.
    pub reply_to: Vec<EmailAddress>,
    /// The subject.
    pub subject: Option<String>,
    /// The text.
    pub body: NewBody,
    /// Its files.
    pub attachments: Vec<NewAttachment>,
    /// Header fields, in order.
    pub headers: Vec<EmailHeader>,
    /// Now where it is absent.
    pub received_at: Option<Instant>,
    /// The time of sending (Date header).
    pub sent_at: Option<Instant>,
    /// The inbox where it is empty.
    pub folder_ids: Vec<String>,
    /// Ids of its labels.
    pub label_ids: Vec<String>,
    /// Whether it has not been read.
    pub unread: bool,
    /// Whether it is starred (flagged).
    pub starred: bool,
    /// IMAP and JMAP keywords, lower case.
    pub keywords: Vec<String>,
    /// Your own notes, never sent to a provider.
    pub metadata: Metadata,
}

/// Changes of a message: absent keeps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MessagePatch {
    /// Whether it has not been read.
    pub unread: Option<bool>,
    /// Whether it is starred (flagged).
    pub starred: Option<bool>,
    /// Whether it was answered.
    pub answered: Option<bool>,
    /// Moves the message: all folders that it is to be in.
    pub folder_ids: Option<Vec<String>>,
    /// All labels that it is to have.
    pub label_ids: Option<Vec<String>>,
    /// Labels to add.
    pub add_label_ids: Option<Vec<String>>,
    /// Labels to remove.
    pub remove_label_ids: Option<Vec<String>>,
    /// Keywords to add, lower case.
    pub add_keywords: Option<Vec<String>>,
    /// Keywords to remove, lower case.
    pub remove_keywords: Option<Vec<String>>,
    /// The importance that the sender gave it.
    pub importance: Option<Importance>,
    /// Your own notes, never sent to a provider.
    pub metadata: Option<Metadata>,
    /// The version that the change is based on, instead of `If-Match`.
    pub etag: Option<String>,
}

/// A draft to write; everything but the connection can come later.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["connectionId"])))]
pub struct NewDraft {
    /// The connection's id.
    pub connection_id: String,
    /// The draft's content.
    #[serde(flatten)]
    pub content: DraftContent,
}

/// Changes of a draft: absent keeps, `null` clears, lists are replaced whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct DraftPatch {
    /// The version that the change is based on; needed here unless `If-Match` is sent.
    pub etag: Option<String>,
    /// The draft's content.
    #[serde(flatten)]
    pub content: DraftContent,
}

/// Options for sending a draft.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SendDraft {
    /// Instead of the draft's own; at most 90 days ahead, and not in the past.
    pub send_at: Option<Instant>,
    /// Keep a copy in the sent folder; true where it is absent.
    pub save_to_sent: Option<bool>,
    /// The version that is to be sent, instead of `If-Match`.
    pub etag: Option<String>,
}

/// The fields of a draft that its author writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct DraftContent {
    /// The authors.
    pub from: Vec<EmailAddress>,
    /// The primary recipients.
    pub to: Vec<EmailAddress>,
    /// The recipients of copies.
    pub cc: Vec<EmailAddress>,
    /// The blind-copy recipients.
    pub bcc: Vec<EmailAddress>,
    /// The addresses for replies.
    pub reply_to: Vec<EmailAddress>,
    /// The subject.
    pub subject: Option<String>,
    /// The text.
    pub body: NewBody,
    /// Its files.
    pub attachments: Vec<NewAttachment>,
    /// The message that is answered or forwarded.
    pub reply_to_message_id: Option<String>,
    /// The kind of the answer.
    pub reply_mode: Option<ReplyMode>,
    /// Header fields, in order.
    pub headers: Vec<EmailHeader>,
    /// The importance that the sender gave it.
    pub importance: Importance,
    /// The scheduled time of sending.
    pub send_at: Option<Instant>,
    /// The tracking options; null: it is not tracked.
    pub tracking: Option<TrackingSettings>,
    /// Your own notes, never sent to a provider.
    pub metadata: Metadata,
}
