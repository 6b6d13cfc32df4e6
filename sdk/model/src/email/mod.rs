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
    /// The id of its thread.
    pub thread_id: Option<String>,
    /// Message-ID without the angle brackets.
    pub internet_message_id: Option<String>,
    /// The Message-ID before the provider rewrote it on sending.
    pub original_internet_message_id: Option<String>,
    /// Message-IDs without the angle brackets.
    pub in_reply_to: Vec<String>,
    /// Message-IDs of the conversation, oldest first (RFC 5322).
    pub references: Vec<String>,
    /// Decoded, NFC.
    pub subject: Option<String>,
    /// The authors.
    pub from: Vec<EmailAddress>,
    /// The mailbox that sent the message for its authors (RFC 5322 Sender).
    pub sender: Option<EmailAddress>,
    /// The primary recipients.
    pub to: Vec<EmailAddress>,
    /// The recipients of copies.
    pub cc: Vec<EmailAddress>,
    /// The blind-copy recipients.
    pub bcc: Vec<EmailAddress>,
    /// The addresses for replies.
    pub reply_to: Vec<EmailAddress>,
    /// The server's internal date; lists are sorted by it.
    pub received_at: Instant,
    /// The Date header.
    pub sent_at: Option<Instant>,
    /// Plain text, at most 200 characters.
    pub snippet: String,
    /// Only with `fields=full`.
    pub body: Option<EmailBody>,
    /// Ids of its folders.
    pub folder_ids: Vec<String>,
    /// Ids of its labels.
    pub label_ids: Vec<String>,
    /// Whether it has not been read.
    pub unread: bool,
    /// Whether it is starred (flagged).
    pub starred: bool,
    /// Whether it is a draft.
    pub draft: bool,
    /// Whether it was answered.
    pub answered: bool,
    /// Whether it was forwarded.
    pub forwarded: bool,
    /// IMAP and JMAP keywords, lower case: `$junk`, `$phishing`.
    pub keywords: Vec<String>,
    /// The importance that the sender gave it.
    pub importance: Importance,
    /// Whether it has attachments, inline files not counted.
    pub has_attachments: bool,
    /// The files in the message.
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
    /// The tracking options; null: it is not tracked.
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
    /// The display name.
    pub name: Option<String>,
    /// The address.
    pub email: String,
}

/// The text of a message. A missing part is null: it is not derived from the other one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EmailBody {
    /// The plain text.
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

/// A header field of a message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EmailHeader {
    /// The field's name.
    pub name: String,
    /// The field's value, decoded, on one line.
    pub value: String,
}

/// The importance of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Importance {
    /// Low.
    Low,
    /// Normal.
    #[default]
    Normal,
    /// High.
    High,
}

/// The method of an iTIP message (RFC 5546).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum CalendarMethod {
    /// An invitation, or a change of it.
    #[default]
    Request,
    /// An attendee's answer.
    Reply,
    /// A cancellation.
    Cancel,
}

/// The tracking options of a sent message, and the record that it is tracked in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TrackingSettings {
    /// Set by the service.
    pub tracking_id: Option<String>,
    /// Whether opens are tracked.
    pub opens: bool,
    /// Whether clicks on links are tracked.
    pub links: bool,
    /// Whether replies are tracked.
    pub replies: bool,
    /// Echoed in events; at most 2,048 characters.
    pub label: Option<String>,
}

/// The delivery of a sent message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MessageDelivery {
    /// The state of the delivery.
    pub state: DeliveryState,
    /// The scheduled time of sending.
    pub send_at: Option<Instant>,
    /// Attempts to send it.
    pub attempts: i64,
    /// The state for each recipient.
    pub recipients: Vec<RecipientDelivery>,
    /// The reason why it was not sent. With `outcome_unknown` it may have been delivered: check before you send it again.
    pub error: Option<SendError>,
}

/// The state of a message's delivery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DeliveryState {
    /// It waits to be sent.
    #[default]
    Queued,
    /// It is being sent.
    Sending,
    /// The provider accepted it for all recipients.
    Sent,
    /// The provider accepted it for some recipients.
    PartiallyFailed,
    /// It was not sent, or the outcome is unknown.
    Failed,
    /// A report says that it did not arrive.
    Bounced,
    /// It was cancelled before it was sent.
    Cancelled,
}

/// The delivery to one recipient.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct RecipientDelivery {
    /// The recipient's address.
    pub email: String,
    /// The state of the delivery.
    pub status: RecipientStatus,
    /// The server's reply.
    pub smtp_reply: Option<String>,
    /// RFC 3463, such as `5.1.1`.
    pub enhanced_status: Option<String>,
    /// The time of the last change.
    pub at: Option<Instant>,
}

/// The state of the delivery to one recipient.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum RecipientStatus {
    /// The message waits to be sent.
    #[default]
    Queued,
    /// The provider accepted the message.
    Accepted,
    /// A report says that it arrived.
    Delivered,
    /// It was refused, or a report says that it did not arrive.
    Bounced,
    /// It is delayed.
    Deferred,
    /// The recipient reported it as spam.
    Complained,
}

/// Messages that answer each other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EmailThread {
    /// The subject of the conversation.
    pub subject: Option<String>,
    /// The beginning of a message, plain text, at most 200 characters.
    pub snippet: String,
    /// The people who wrote or received messages.
    pub participants: Vec<EmailAddress>,
    /// Oldest first, ties by id.
    pub message_ids: Vec<String>,
    /// Ids of the drafts.
    pub draft_ids: Vec<String>,
    /// Messages in the thread.
    pub message_count: i64,
    /// Unread messages in the thread.
    pub unread_count: i64,
    /// Whether a message is unread.
    pub unread: bool,
    /// Whether a message is starred.
    pub starred: bool,
    /// Whether a message has attachments.
    pub has_attachments: bool,
    /// Whether there are drafts.
    pub has_drafts: bool,
    /// Ids of the folders of its messages.
    pub folder_ids: Vec<String>,
    /// Ids of the labels of its messages.
    pub label_ids: Vec<String>,
    /// The time of the first message.
    pub earliest_message_at: Option<Instant>,
    /// The time of the latest message that was received.
    pub latest_received_at: Option<Instant>,
    /// The time of the latest message that was sent.
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
    /// The id, opaque.
    pub id: String,
    /// The id of the message.
    pub message_id: Option<String>,
    /// Decoded (RFC 2231) and without path separators or control characters.
    pub filename: Option<String>,
    /// The media type.
    pub content_type: String,
    /// Decoded bytes.
    pub size: Option<i64>,
    /// Bytes as they stand in the message.
    pub encoded_size: Option<i64>,
    /// Whether the HTML shows it, rather than a list of files.
    pub inline: bool,
    /// Content-ID without the angle brackets.
    pub content_id: Option<String>,
    /// The Content-Disposition (RFC 2183).
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

/// The disposition of a part (RFC 2183).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Disposition {
    /// A file beside the text.
    #[default]
    Attachment,
    /// A part that is shown in the text.
    Inline,
}
