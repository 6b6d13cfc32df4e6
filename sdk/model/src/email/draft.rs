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

/// A message that is being written. Changing one needs its etag, because editors that save by themselves race.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Draft {
    /// The state of the draft.
    pub status: DraftStatus,
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
    /// The subject.
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
    /// The time of sending (Date header).
    pub sent_at: Option<Instant>,
    /// Plain text, at most 200 characters.
    pub snippet: String,
    /// The text.
    pub body: Option<EmailBody>,
    /// Ids of its folders.
    pub folder_ids: Vec<String>,
    /// Ids of its labels.
    pub label_ids: Vec<String>,
    /// Whether it has not been read.
    pub unread: bool,
    /// Whether it is starred (flagged).
    pub starred: bool,
    /// Whether it is a draft in the mailbox.
    pub draft: bool,
    /// Whether it was answered.
    pub answered: bool,
    /// Whether it was forwarded.
    pub forwarded: bool,
    /// IMAP and JMAP keywords, lower case.
    pub keywords: Vec<String>,
    /// The importance that the sender gave it.
    pub importance: Importance,
    /// Whether it has attachments, inline files not counted.
    pub has_attachments: bool,
    /// Its files.
    pub attachments: Vec<Attachment>,
    /// Bytes of the message as stored.
    pub size: i64,
    /// Header fields of the draft's own.
    pub headers: Vec<EmailHeader>,
    /// Whether it is an automatic reply (RFC 3834).
    pub auto_reply: bool,
    /// The List-Unsubscribe header (RFC 2369).
    pub list_unsubscribe: Option<String>,
    /// The invitation in the message (RFC 5546).
    pub calendar_method: Option<CalendarMethod>,
    /// The tracking options; null: it is not tracked.
    pub tracking: Option<TrackingSettings>,
    /// The state of delivery; null before the draft is sent.
    pub delivery: Option<MessageDelivery>,
    /// The scheduled time of sending; at most 90 days ahead.
    pub send_at: Option<Instant>,
    /// The message that the draft answers or forwards.
    pub reply_to_message_id: Option<String>,
    /// The kind of the answer.
    pub reply_mode: Option<ReplyMode>,
    /// The sent message.
    pub sent_message_id: Option<String>,
    /// The reason why it was not sent.
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
    /// It is being written.
    #[default]
    Draft,
    /// It is sent at `sendAt`.
    Scheduled,
    /// It is being sent.
    Sending,
    /// It was sent.
    Sent,
    /// It could not be sent.
    Failed,
}

/// The kind of an answer, which decides its recipients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ReplyMode {
    /// To the sender.
    #[default]
    Reply,
    /// To the sender and all recipients.
    ReplyAll,
    /// To other people.
    Forward,
}
