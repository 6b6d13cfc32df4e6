//! EmailMessage, EmailThread, Attachment; drafts, folders, sending and tracking beside. Field names and meaning follow JMAP Mail
//! (RFC 8621) where it has the notion. Ids of other resources (`threadId`, `folderIds`) are ours in the API and the provider's in a
//! connector's answer.

pub mod draft;
pub mod folders;
pub mod send;
mod send_error;
pub mod tracking;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Instant;
pub use crate::email::send_error::SendError;
use crate::resource::{Body, Nothing, Resource};

/// A message in a mailbox.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EmailMessage {
    pub thread_id: Option<String>,
    /// Message-ID without the angle brackets.
    pub internet_message_id: Option<String>,
    /// The Message-ID before the provider rewrote it on sending.
    pub original_internet_message_id: Option<String>,
    /// Message-IDs without the angle brackets.
    pub in_reply_to: Vec<String>,
    pub references: Vec<String>,
    /// Decoded, NFC.
    pub subject: Option<String>,
    pub from: Vec<EmailAddress>,
    pub sender: Option<EmailAddress>,
    pub to: Vec<EmailAddress>,
    pub cc: Vec<EmailAddress>,
    pub bcc: Vec<EmailAddress>,
    pub reply_to: Vec<EmailAddress>,
    /// The server's internal date; lists are sorted by it.
    pub received_at: Instant,
    /// The Date header.
    pub sent_at: Option<Instant>,
    /// Plain text, at most 200 characters.
    pub snippet: String,
    /// Only with `fields=full`.
    pub body: Option<EmailBody>,
    pub folder_ids: Vec<String>,
    pub label_ids: Vec<String>,
    pub unread: bool,
    pub starred: bool,
    pub draft: bool,
    pub answered: bool,
    pub forwarded: bool,
    /// IMAP and JMAP keywords, lower case: `$junk`, `$phishing`.
    pub keywords: Vec<String>,
    pub importance: Importance,
    pub has_attachments: bool,
    pub attachments: Vec<Attachment>,
    /// Bytes of the message as stored.
    pub size: i64,
    /// Only with `fields=headers` or `full`; in order, duplicates kept.
    pub headers: Vec<EmailHeader>,
    /// An automatic reply (RFC 3834).
    pub auto_reply: bool,
    /// The List-Unsubscribe header (RFC 2369).
    pub list_unsubscribe: Option<String>,
    /// The invitation in the message (RFC 5546).
    pub calendar_method: Option<CalendarMethod>,
    pub tracking: Option<TrackingSettings>,
    /// The state of delivery; only on messages that were sent through the API.
    pub delivery: Option<MessageDelivery>,
}

impl Body for EmailMessage {
    const NAME: &'static str = "EmailMessage";
    type Extra = Nothing;
    type Options = Nothing;
}

/// A mailbox address, best effort: mail in the wild may lack the `@`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EmailAddress {
    pub name: Option<String>,
    pub email: String,
}

/// The text of a message. A missing part is null: it is not derived from the other one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EmailBody {
    pub text: Option<String>,
    /// As the sender wrote it: untrusted.
    pub html: Option<String>,
    /// `html` without scripts, forms, frames and event handlers; remote images are held back. Never set by callers.
    pub safe_html: Option<String>,
    /// Charset that the parts had.
    pub charset: Option<String>,
    /// The text was cut at the size limit.
    pub truncated: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EmailHeader {
    pub name: String,
    pub value: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Importance {
    Low,
    #[default]
    Normal,
    High,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum CalendarMethod {
    #[default]
    Request,
    Reply,
    Cancel,
}

/// The tracking options of a sent message, and the record that it is tracked in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TrackingSettings {
    /// Set by the service.
    pub tracking_id: Option<String>,
    pub opens: bool,
    pub links: bool,
    pub replies: bool,
    /// Echoed in events; at most 2,048 characters.
    pub label: Option<String>,
}

/// The delivery of a sent message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MessageDelivery {
    pub state: DeliveryState,
    pub send_at: Option<Instant>,
    pub attempts: i64,
    pub recipients: Vec<RecipientDelivery>,
    /// The reason why it was not sent. With `outcome_unknown` it may have been delivered: check before you send it again.
    pub error: Option<SendError>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DeliveryState {
    #[default]
    Queued,
    Sending,
    Sent,
    PartiallyFailed,
    Failed,
    Bounced,
    Cancelled,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct RecipientDelivery {
    pub email: String,
    pub status: RecipientStatus,
    pub smtp_reply: Option<String>,
    /// RFC 3463, such as `5.1.1`.
    pub enhanced_status: Option<String>,
    pub at: Option<Instant>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum RecipientStatus {
    #[default]
    Queued,
    Accepted,
    Delivered,
    Bounced,
    Deferred,
    Complained,
}

/// Messages that answer each other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EmailThread {
    pub subject: Option<String>,
    pub snippet: String,
    pub participants: Vec<EmailAddress>,
    /// Oldest first, ties by id.
    pub message_ids: Vec<String>,
    pub draft_ids: Vec<String>,
    pub message_count: i64,
    pub unread_count: i64,
    pub unread: bool,
    pub starred: bool,
    pub has_attachments: bool,
    pub has_drafts: bool,
    pub folder_ids: Vec<String>,
    pub label_ids: Vec<String>,
    pub earliest_message_at: Option<Instant>,
    pub latest_received_at: Option<Instant>,
    pub latest_sent_at: Option<Instant>,
    /// Without body and headers.
    pub latest_message: Option<Box<Resource<EmailMessage>>>,
    /// The thread that this one was merged into; the old id keeps working.
    pub merged_into: Option<String>,
}

impl Body for EmailThread {
    const NAME: &'static str = "EmailThread";
    type Extra = Nothing;
    type Options = Nothing;
}

/// A file in a message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Attachment {
    pub id: String,
    pub message_id: Option<String>,
    /// Decoded (RFC 2231) and without path separators or control characters.
    pub filename: Option<String>,
    pub content_type: String,
    /// Decoded bytes.
    pub size: Option<i64>,
    /// Bytes as they stand in the message.
    pub encoded_size: Option<i64>,
    pub inline: bool,
    /// Content-ID without the angle brackets.
    pub content_id: Option<String>,
    pub disposition: Option<Disposition>,
    /// The file is a whole message (`message/rfc822`).
    pub is_message: bool,
    /// Lower-case hexadecimal.
    pub checksum_sha256: Option<String>,
    /// The path of the attachment's content in the API.
    pub download_url: Option<String>,
    /// The bytes; only when one attachment is read as JSON, up to 10 MiB.
    pub content_base64: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Disposition {
    #[default]
    Attachment,
    Inline,
}
