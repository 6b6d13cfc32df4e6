//! Draft: a message that is being written, with the fields of a message except `receivedAt`.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Instant;
use crate::email::{
    Attachment, CalendarMethod, EmailAddress, EmailBody, EmailHeader, Importance, MessageDelivery, SendError,
    TrackingSettings,
};
use crate::resource::{Body, Nothing};

/// A message that is being written, in the drafts folder of the account. Changing a draft needs its etag, because mail programs save
/// drafts by themselves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Draft {
    /// The state of the draft. Set by the service.
    pub status: DraftStatus,
    /// The id of the thread that the draft belongs to; null while the draft is in no thread.
    pub thread_id: Option<String>,
    /// The Message-ID header of this version of the draft, without angle brackets; null if it has none.
    pub internet_message_id: Option<String>,
    /// The Message-ID that the message was sent with, if the provider replaced it; null for a draft that was not sent.
    pub original_internet_message_id: Option<String>,
    /// The Message-IDs in the In-Reply-To header, without angle brackets: the messages that the draft answers.
    pub in_reply_to: Vec<String>,
    /// The Message-IDs in the References header, without angle brackets: the earlier messages of the conversation, oldest first (RFC
    /// 5322).
    pub references: Vec<String>,
    /// The subject; null if the draft has none.
    pub subject: Option<String>,
    /// The authors (From header). A draft that is created without any has the account's address.
    pub from: Vec<EmailAddress>,
    /// The mailbox that sends the message for its authors (Sender header, RFC 5322); null if the header is absent.
    pub sender: Option<EmailAddress>,
    /// The primary recipients (To header).
    pub to: Vec<EmailAddress>,
    /// The recipients of copies (Cc header).
    pub cc: Vec<EmailAddress>,
    /// The recipients of blind copies (Bcc header), which the other recipients do not see.
    pub bcc: Vec<EmailAddress>,
    /// The addresses that replies go to (Reply-To header). If empty, replies go to `from`.
    pub reply_to: Vec<EmailAddress>,
    /// The time in the Date header, at which this version of the draft was written; null if the header is absent or unreadable.
    pub sent_at: Option<Instant>,
    /// The beginning of the draft as plain text, at most 200 characters; empty if the draft has no text.
    pub snippet: String,
    /// The text of the draft; null in lists, and after the draft was sent.
    pub body: Option<EmailBody>,
    /// The ids of the folders that hold the draft.
    pub folder_ids: Vec<String>,
    /// The ids of the labels of the draft; empty if the provider has no labels.
    pub label_ids: Vec<String>,
    /// Whether the draft is marked as unread.
    pub unread: bool,
    /// Whether the draft is starred (flagged).
    pub starred: bool,
    /// Whether the mailbox marks the message as a draft.
    pub draft: bool,
    /// Whether the message was answered; false for a draft.
    pub answered: bool,
    /// Whether the message was forwarded; false for a draft.
    pub forwarded: bool,
    /// The IMAP and JMAP keywords of the draft in lower case. Keywords with a field of their own, such as `$draft`, are not listed.
    pub keywords: Vec<String>,
    /// The importance that the author gives the message.
    pub importance: Importance,
    /// Whether the draft has attachments; inline files do not count.
    pub has_attachments: bool,
    /// The files in the draft, inline files included, without their content.
    pub attachments: Vec<Attachment>,
    /// The size of the draft as stored, in bytes.
    pub size: i64,
    /// The header fields in the order of the message; empty in lists, and after the draft was sent.
    pub headers: Vec<EmailHeader>,
    /// Whether the message is marked as an automatic reply (RFC 3834).
    pub auto_reply: bool,
    /// The value of the List-Unsubscribe header (RFC 2369); null if the draft has none.
    pub list_unsubscribe: Option<String>,
    /// The method of the invitation in the draft (iTIP, RFC 5546); null if the draft has no invitation.
    pub calendar_method: Option<CalendarMethod>,
    /// The tracking options that the message is sent with; null if it is not tracked.
    pub tracking: Option<TrackingSettings>,
    /// The delivery of the message; null for a draft. Read the message with the id `sentMessageId` instead.
    pub delivery: Option<MessageDelivery>,
    /// The time that the message is scheduled for when the draft is sent, at most 90 days ahead; null to send it at once.
    pub send_at: Option<Instant>,
    /// The id of the message that the draft answers or forwards; null if it is a new message.
    pub reply_to_message_id: Option<String>,
    /// The kind of answer. Null for a new message; with `replyToMessageId`, null means a reply.
    pub reply_mode: Option<ReplyMode>,
    /// The id of the message that the draft became when it was sent; null before.
    pub sent_message_id: Option<String>,
    /// The reason why the draft could not be sent; null if sending has not failed.
    pub send_error: Option<SendError>,
}

impl Body for Draft {
    const NAME: &'static str = "Draft";
    type Extra = Nothing;
    type Options = Nothing;
}

/// The state of a draft.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum DraftStatus {
    /// The draft is being written.
    #[default]
    Draft,
    /// The message is sent at `sendAt`. Delete the message with the id `sentMessageId` to cancel that.
    Scheduled,
    /// The message is being sent.
    Sending,
    /// The message was sent.
    Sent,
    /// The message could not be sent; `sendError` has the reason. The draft can be changed and sent again.
    Failed,
}

/// The kind of answer, which decides the recipients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ReplyMode {
    /// A reply. Its recipients are those of the request.
    #[default]
    Reply,
    /// A reply to all: the authors and recipients of the original are added to those of the request.
    ReplyAll,
    /// A forward. The text and files of the original are appended; its recipients are those of the request.
    Forward,
}
