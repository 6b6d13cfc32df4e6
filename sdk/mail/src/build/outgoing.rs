//! A message to write, and why it cannot be written.

use model::Instant;
use model::email::{EmailAddress, EmailHeader, Importance};

/// A message to write. Ids are without angle brackets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outgoing {
    pub message_id: String,
    pub date: Instant,
    /// At least one. Where there are more and `sender` is none, the first one is the sender (RFC 5322 3.6.2).
    pub from: Vec<EmailAddress>,
    pub sender: Option<EmailAddress>,
    pub to: Vec<EmailAddress>,
    pub cc: Vec<EmailAddress>,
    pub bcc: Vec<EmailAddress>,
    pub reply_to: Vec<EmailAddress>,
    pub subject: Option<String>,
    pub in_reply_to: Vec<String>,
    pub references: Vec<String>,
    pub text: Option<String>,
    pub html: Option<String>,
    pub calendar: Option<CalendarPart>,
    pub attachments: Vec<OutgoingFile>,
    /// `X-*`, `List-*` and `Auto-Submitted`; written in this order, repeated ones too.
    pub headers: Vec<EmailHeader>,
    pub importance: Importance,
}

/// An iTIP message (RFC 5546) that calendars read beside the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalendarPart {
    /// Its `METHOD`: `REQUEST`, `CANCEL`.
    pub method: &'static str,
    /// The iCalendar object.
    pub text: String,
}

/// A file in a message to write.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OutgoingFile {
    pub filename: Option<String>,
    /// `application/octet-stream` where it is none. A `message/rfc822` must be one.
    pub content_type: Option<String>,
    pub content: Vec<u8>,
    /// It belongs into the HTML, which names it by `cid:` and its content id.
    pub inline: bool,
    pub content_id: Option<String>,
}

/// Why a message cannot be written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Invalid {
    /// Path of the field in the model's names: `to[0].email`.
    pub field: String,
    pub message: &'static str,
}
