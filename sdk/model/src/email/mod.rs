//! EmailMessage, EmailThread and Attachment; submodules have drafts, folders, sending and tracking. Names and meanings of fields follow
//! JMAP Mail (RFC 8621) where it has the concept. Ids of other resources (`threadId`, `folderIds`) are ours in the API, and the provider's
//! in a connector's answer.

pub mod draft;
pub mod folders;
#[cfg(feature = "schema")]
pub mod schema;
pub mod send;
mod send_error;
pub mod tracking;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Instant;
#[cfg(feature = "schema")]
use crate::bounds;
pub use crate::email::send_error::SendError;
#[cfg(feature = "schema")]
use crate::formats;
use crate::resource::{Body, Nothing, Resource};

/// A message in a mailbox.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EmailMessage {
    /// The id of the thread that the message belongs to; null while the message is in no thread.
    pub thread_id: Option<String>,
    /// The Message-ID header without angle brackets, such as `1c2f@mail.example.com`; null if the message has none.
    pub internet_message_id: Option<String>,
    /// The Message-ID that the message was sent with, if the provider replaced it; null if the provider kept it.
    pub original_internet_message_id: Option<String>,
    /// The Message-IDs in the In-Reply-To header, without angle brackets: the messages that this one answers.
    pub in_reply_to: Vec<String>,
    /// The Message-IDs in the References header, without angle brackets: the earlier messages of the conversation, oldest first (RFC
    /// 5322).
    pub references: Vec<String>,
    /// The subject, decoded and in Unicode normalization form C; null if the message has none.
    pub subject: Option<String>,
    /// The authors of the message (From header).
    pub from: Vec<EmailAddress>,
    /// The mailbox that sent the message for its authors (Sender header, RFC 5322); null if the header is absent.
    pub sender: Option<EmailAddress>,
    /// The primary recipients (To header).
    pub to: Vec<EmailAddress>,
    /// The recipients of copies (Cc header).
    pub cc: Vec<EmailAddress>,
    /// The recipients of blind copies (Bcc header). Messages from others rarely have any, because mail programs remove the header on
    /// sending.
    pub bcc: Vec<EmailAddress>,
    /// The addresses that replies go to (Reply-To header). If empty, replies go to `from`.
    pub reply_to: Vec<EmailAddress>,
    /// The time at which the mail server received or stored the message (its internal date). Lists are sorted by this time.
    pub received_at: Instant,
    /// The time of sending that the author's mail program wrote (Date header); null if the header is absent or unreadable.
    pub sent_at: Option<Instant>,
    /// The beginning of the message as plain text, at most 200 characters; empty if the message has no text.
    pub snippet: String,
    /// The text of the message; null unless the message is read with `fields=full`.
    pub body: Option<EmailBody>,
    /// The ids of the folders that hold the message; several only where the provider allows that.
    pub folder_ids: Vec<String>,
    /// The ids of the labels of the message; empty if the provider has no labels.
    pub label_ids: Vec<String>,
    /// Whether the message has not been read.
    pub unread: bool,
    /// Whether the message is starred (flagged).
    pub starred: bool,
    /// Whether the message is a draft.
    pub draft: bool,
    /// Whether the message was answered, through the API or with another mail program.
    pub answered: bool,
    /// Whether the message was forwarded, through the API or with another mail program.
    pub forwarded: bool,
    /// The IMAP and JMAP keywords of the message in lower case, such as `$junk` or `$phishing`. Keywords with a field of their own, such
    /// as `$seen`, are not listed.
    pub keywords: Vec<String>,
    /// The importance that the author gave the message.
    pub importance: Importance,
    /// Whether the message has attachments; inline files do not count.
    pub has_attachments: bool,
    /// The files in the message, inline files included, without their content.
    pub attachments: Vec<Attachment>,
    /// The size of the message as stored, in bytes.
    pub size: i64,
    /// The header fields in the order of the message, repeated ones included; empty unless the message is read with `fields=headers` or
    /// `fields=full`.
    pub headers: Vec<EmailHeader>,
    /// Whether the message is an automatic reply, such as an out-of-office notice (RFC 3834).
    pub auto_reply: bool,
    /// The value of the List-Unsubscribe header (RFC 2369); null if the message has none.
    pub list_unsubscribe: Option<String>,
    /// The method of the invitation in the message (iTIP, RFC 5546); null if the message has no invitation.
    pub calendar_method: Option<CalendarMethod>,
    /// The tracking of a message that was sent through the API; null if the message is not tracked.
    pub tracking: Option<TrackingSettings>,
    /// The delivery of a message that was sent through the API; null for all other messages.
    pub delivery: Option<MessageDelivery>,
}

impl Body for EmailMessage {
    const NAME: &'static str = "EmailMessage";
    type Extra = Nothing;
    type Options = Nothing;
}

/// A mailbox address with its display name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EmailAddress {
    /// The display name, such as `Ada Lovelace`; null if there is none.
    pub name: Option<String>,
    /// The address, such as `ada@example.com`. In received mail it may be malformed, even without an `@`.
    pub email: String,
}

/// The text of a message, as plain text and as HTML. A part that the message does not have is null; it is not derived from the other one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EmailBody {
    /// The plain text; null if the message has none.
    pub text: Option<String>,
    /// The HTML as the sender wrote it; null if the message has none. It is untrusted: show `safeHtml` instead.
    pub html: Option<String>,
    /// The HTML without scripts, forms, frames and event handlers, and without remote images unless the message is read with
    /// `images=allow`. Set by the service; null if the message has no HTML.
    pub safe_html: Option<String>,
    /// The charset that the text declares, in lower case, such as `utf-8`; null if it declares none.
    pub charset: Option<String>,
    /// Whether `text` or `html` was cut, because it is longer than 2 MiB, or than 256 KiB in a list.
    pub truncated: bool,
}

/// A header field of a message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EmailHeader {
    /// The name of the field, such as `X-Case`. Requests can set `X-*`, `List-*` and `Auto-Submitted`.
    pub name: String,
    /// The value of the field on one line, decoded.
    pub value: String,
}

/// The importance of a message, as its author stated it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Importance {
    /// The message is less important than others.
    Low,
    /// The message has normal importance, or states none.
    #[default]
    Normal,
    /// The message is more important than others.
    High,
}

/// The method of an invitation (iTIP, RFC 5546).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum CalendarMethod {
    /// An invitation to an event, or a change of one.
    #[default]
    Request,
    /// An attendee's answer to an invitation.
    Reply,
    /// A cancellation of an event or of an invitation.
    Cancel,
}

/// The tracking of a sent message: the options that the sender chose, and the record that collects the results.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct TrackingSettings {
    /// The id of the tracking record (`GET /v1/email/tracking/{trackingId}`). Set by the service when the message is sent; null before.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Id>", extend("readOnly" = true)))]
    pub tracking_id: Option<String>,
    /// Whether opens are recorded, with an image in the HTML. A message without HTML has no opens.
    pub opens: bool,
    /// Whether clicks on links in the HTML are recorded.
    pub links: bool,
    /// Whether replies to the message are recorded. The mailbox must be synced for that (`POST /v1/email/sync/start`).
    pub replies: bool,
    /// A text of your own that the tracking record repeats, such as the name of a campaign; null for none.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::mail::MAX_TRACKING_LABEL)))]
    pub label: Option<String>,
}

/// The delivery of a message that was sent through the API.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MessageDelivery {
    /// The state of the delivery over all recipients.
    pub state: DeliveryState,
    /// The time that the message is scheduled for; null if it was sent at once.
    pub send_at: Option<Instant>,
    /// The number of attempts to send the message so far.
    pub attempts: i64,
    /// The delivery to each recipient in `to`, `cc` and `bcc`.
    pub recipients: Vec<RecipientDelivery>,
    /// The reason why the message was not sent; null if sending has not failed. With the code `outcome_unknown` it may have been
    /// delivered: check before you send it again.
    pub error: Option<SendError>,
}

/// The state of the delivery of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DeliveryState {
    /// The message waits to be sent.
    #[default]
    Queued,
    /// The message is being sent.
    Sending,
    /// The provider accepted the message for all recipients.
    Sent,
    /// The provider accepted the message for some recipients only, or it did not reach some of them.
    PartiallyFailed,
    /// The message was not sent, or it is unknown whether it was sent.
    Failed,
    /// Reports say that the message reached none of its recipients.
    Bounced,
    /// The message was cancelled before it was sent.
    Cancelled,
}

/// The delivery of a message to one recipient.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct RecipientDelivery {
    /// The address of the recipient.
    pub email: String,
    /// The state of the delivery to this recipient.
    pub status: RecipientStatus,
    /// The reply of the mail server for this recipient, such as `550 5.1.1 no such user`; null if there is none.
    pub smtp_reply: Option<String>,
    /// The status code of the mail server (RFC 3463), such as `5.1.1`; null if the server gave none.
    pub enhanced_status: Option<String>,
    /// The time of the last change of `status`; null while the message waits to be sent.
    pub at: Option<Instant>,
}

/// The state of the delivery to one recipient.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum RecipientStatus {
    /// The message waits to be sent to this recipient.
    #[default]
    Queued,
    /// The provider accepted the message for this recipient.
    Accepted,
    /// A report says that the message reached the recipient's mailbox.
    Delivered,
    /// The server refused the message, or a report says that it did not arrive.
    Bounced,
    /// The delivery is delayed; the server or the service tries again.
    Deferred,
    /// The recipient reported the message as spam.
    Complained,
}

/// A conversation: messages that answer each other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EmailThread {
    /// The subject of the oldest message that has one; null if no message has a subject.
    pub subject: Option<String>,
    /// The beginning of the newest message as plain text, at most 200 characters.
    pub snippet: String,
    /// The people in From, To and Cc of the messages, each address once; at most 100.
    pub participants: Vec<EmailAddress>,
    /// The ids of the messages, oldest first; messages of the same time are in the order of their ids. Drafts are not included.
    pub message_ids: Vec<String>,
    /// The ids of the drafts in the thread, oldest first.
    pub draft_ids: Vec<String>,
    /// The number of messages in the thread, drafts not counted.
    pub message_count: i64,
    /// The number of unread messages in the thread, drafts not counted.
    pub unread_count: i64,
    /// Whether a message of the thread is unread.
    pub unread: bool,
    /// Whether a message of the thread is starred.
    pub starred: bool,
    /// Whether a message of the thread has attachments.
    pub has_attachments: bool,
    /// Whether the thread has drafts.
    pub has_drafts: bool,
    /// The ids of the folders that hold messages of the thread.
    pub folder_ids: Vec<String>,
    /// The ids of the labels of messages of the thread.
    pub label_ids: Vec<String>,
    /// The time of receipt of the oldest message.
    pub earliest_message_at: Option<Instant>,
    /// The time of receipt of the newest received message; null if none was received.
    pub latest_received_at: Option<Instant>,
    /// The time at which the newest message sent through the API was sent; null if there is none.
    pub latest_sent_at: Option<Instant>,
    /// The newest message, without its text and header fields.
    pub latest_message: Option<Box<Resource<EmailMessage>>>,
    /// The id of the thread that this one was merged into; null if it was not merged. A read by the old id keeps working.
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
    /// The id of the attachment, opaque, and unique within its message.
    pub id: String,
    /// The id of the message that has the attachment.
    pub message_id: Option<String>,
    /// The file name, decoded (RFC 2231), without path separators and control characters; null if the file has no name.
    pub filename: Option<String>,
    /// The media type, such as `application/pdf`.
    pub content_type: String,
    /// The size of the decoded content in bytes; null if the provider does not state it. Known for certain when the attachment is fetched
    /// as JSON.
    pub size: Option<i64>,
    /// The size of the content as it is encoded in the message, in bytes; null if unknown.
    pub encoded_size: Option<i64>,
    /// Whether the file is shown within the HTML text rather than listed as an attachment.
    pub inline: bool,
    /// The Content-ID without angle brackets, which `cid:` links in the HTML refer to; null if the file has none.
    pub content_id: Option<String>,
    /// The Content-Disposition of the file (RFC 2183); null if the message states none.
    pub disposition: Option<Disposition>,
    /// Whether the file is itself a message (`message/rfc822`).
    pub is_message: bool,
    /// The SHA-256 of the decoded content in lower-case hexadecimal; null unless the attachment is fetched as JSON.
    pub checksum_sha256: Option<String>,
    /// The path of the attachment in the API. Add `?format=raw` for the bytes of the file.
    pub download_url: Option<String>,
    /// The content in base64; null unless the attachment is fetched as JSON, which is possible up to 10 MiB.
    pub content_base64: Option<String>,
}

/// The place of a file in a message (RFC 2183).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Disposition {
    /// The file is listed beside the text.
    #[default]
    Attachment,
    /// The file is shown within the text.
    Inline,
}
