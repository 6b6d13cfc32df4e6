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
    pub status: DraftStatus,
    pub thread_id: Option<String>,
    /// Message-ID without the angle brackets.
    pub internet_message_id: Option<String>,
    /// The Message-ID before the provider rewrote it on sending.
    pub original_internet_message_id: Option<String>,
    /// Message-IDs without the angle brackets.
    pub in_reply_to: Vec<String>,
    pub references: Vec<String>,
    pub subject: Option<String>,
    pub from: Vec<EmailAddress>,
    pub sender: Option<EmailAddress>,
    pub to: Vec<EmailAddress>,
    pub cc: Vec<EmailAddress>,
    pub bcc: Vec<EmailAddress>,
    pub reply_to: Vec<EmailAddress>,
    pub sent_at: Option<Instant>,
    /// Plain text, at most 200 characters.
    pub snippet: String,
    pub body: Option<EmailBody>,
    pub folder_ids: Vec<String>,
    pub label_ids: Vec<String>,
    pub unread: bool,
    pub starred: bool,
    pub draft: bool,
    pub answered: bool,
    pub forwarded: bool,
    pub keywords: Vec<String>,
    pub importance: Importance,
    pub has_attachments: bool,
    pub attachments: Vec<Attachment>,
    /// Bytes of the message as stored.
    pub size: i64,
    pub headers: Vec<EmailHeader>,
    pub auto_reply: bool,
    pub list_unsubscribe: Option<String>,
    pub calendar_method: Option<CalendarMethod>,
    pub tracking: Option<TrackingSettings>,
    pub delivery: Option<MessageDelivery>,
    /// The scheduled time of sending; at most 90 days ahead.
    pub send_at: Option<Instant>,
    /// The message that the draft answers or forwards.
    pub reply_to_message_id: Option<String>,
    pub reply_mode: Option<ReplyMode>,
    /// The sent message.
    pub sent_message_id: Option<String>,
    pub send_error: Option<SendError>,
}

impl Body for Draft {
    const NAME: &'static str = "Draft";
    type Extra = Nothing;
    type Options = Nothing;
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum DraftStatus {
    #[default]
    Draft,
    Scheduled,
    Sending,
    Sent,
    Failed,
}

/// The kind of an answer, which decides its recipients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ReplyMode {
    #[default]
    Reply,
    ReplyAll,
    Forward,
}
