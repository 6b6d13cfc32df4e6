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
    pub connection_id: String,
    /// The account's address where it is absent; else one of its aliases.
    pub from: Vec<EmailAddress>,
    pub to: Vec<EmailAddress>,
    pub cc: Vec<EmailAddress>,
    pub bcc: Vec<EmailAddress>,
    pub reply_to: Vec<EmailAddress>,
    pub subject: Option<String>,
    pub body: NewBody,
    /// At most 25 MiB together, decoded.
    pub attachments: Vec<NewAttachment>,
    /// In-Reply-To, References and the subject's prefix are made from it.
    pub reply_to_message_id: Option<String>,
    /// Recipients come from this body alone unless it is `replyAll`.
    pub reply_mode: Option<ReplyMode>,
    /// Only `X-*`, `List-*` and `Auto-Submitted`; no line breaks.
    pub headers: Vec<EmailHeader>,
    /// At most 90 days ahead; now where it is absent.
    pub send_at: Option<Instant>,
    pub tracking: Option<TrackingSettings>,
    /// Keep a copy in the sent folder.
    pub save_to_sent: bool,
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
    pub text: Option<String>,
    pub html: Option<String>,
}

/// A file to attach: its bytes, or one that is already in a message, or an upload.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct NewAttachment {
    pub filename: Option<String>,
    pub content_type: Option<String>,
    pub content_base64: Option<String>,
    pub attachment_ref: Option<AttachmentRef>,
    pub upload_id: Option<String>,
    pub inline: bool,
    /// The Content-ID that `cid:` in the HTML refers to.
    pub content_id: Option<String>,
}

/// An attachment that is already in the mailbox.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AttachmentRef {
    pub message_id: String,
    pub attachment_id: String,
}

/// A message to put into a folder without sending it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["connectionId"])))]
pub struct NewMessage {
    pub connection_id: String,
    /// The whole message (RFC 5322) in base64; the fields below are then ignored, except those for its folder, labels and state.
    pub raw_base64: Option<String>,
    pub from: Vec<EmailAddress>,
    pub to: Vec<EmailAddress>,
    pub cc: Vec<EmailAddress>,
    pub bcc: Vec<EmailAddress>,
    pub reply_to: Vec<EmailAddress>,
    pub subject: Option<String>,
    pub body: NewBody,
    pub attachments: Vec<NewAttachment>,
    pub headers: Vec<EmailHeader>,
    /// Now where it is absent.
    pub received_at: Option<Instant>,
    pub sent_at: Option<Instant>,
    /// The inbox where it is empty.
    pub folder_ids: Vec<String>,
    pub label_ids: Vec<String>,
    pub unread: bool,
    pub starred: bool,
    pub keywords: Vec<String>,
    pub metadata: Metadata,
}

/// Changes of a message: absent keeps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MessagePatch {
    pub unread: Option<bool>,
    pub starred: Option<bool>,
    pub answered: Option<bool>,
    /// Moves the message: all folders that it is to be in.
    pub folder_ids: Option<Vec<String>>,
    pub label_ids: Option<Vec<String>>,
    pub add_label_ids: Option<Vec<String>>,
    pub remove_label_ids: Option<Vec<String>>,
    pub add_keywords: Option<Vec<String>>,
    pub remove_keywords: Option<Vec<String>>,
    pub importance: Option<Importance>,
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
    pub connection_id: String,
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
    #[serde(flatten)]
    pub content: DraftContent,
}

/// Options for sending a draft.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SendDraft {
    /// Instead of the draft's own; at most 90 days ahead.
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
    pub from: Vec<EmailAddress>,
    pub to: Vec<EmailAddress>,
    pub cc: Vec<EmailAddress>,
    pub bcc: Vec<EmailAddress>,
    pub reply_to: Vec<EmailAddress>,
    pub subject: Option<String>,
    pub body: NewBody,
    pub attachments: Vec<NewAttachment>,
    pub reply_to_message_id: Option<String>,
    pub reply_mode: Option<ReplyMode>,
    pub headers: Vec<EmailHeader>,
    pub importance: Importance,
    pub send_at: Option<Instant>,
    pub tracking: Option<TrackingSettings>,
    pub metadata: Metadata,
}
