//! A message to write, and why it cannot be written.

use model::Instant;
use model::email::{EmailAddress, EmailHeader, Importance};

/// A message to write. Ids are without angle brackets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outgoing {
    /// The Message-ID (RFC 5322 3.6.4).
    pub message_id: String,
    /// The time that the Date field names.
    pub date: Instant,
    /// At least one. Where there are more and `sender` is none, the first one is the sender (RFC 5322 3.6.2).
    pub from: Vec<EmailAddress>,
    /// The mailbox that sends the message for the authors (Sender).
    pub sender: Option<EmailAddress>,
    /// The primary recipients (To).
    pub to: Vec<EmailAddress>,
    /// The recipients of copies (Cc).
    pub cc: Vec<EmailAddress>,
    /// The blind-copy recipients (Bcc).
    pub bcc: Vec<EmailAddress>,
    /// The addresses for replies (Reply-To).
    pub reply_to: Vec<EmailAddress>,
    /// The subject; none leaves the field out.
    pub subject: Option<String>,
    /// Message-IDs of the messages that this one answers (In-Reply-To).
    pub in_reply_to: Vec<String>,
    /// Message-IDs of the conversation, oldest first (References).
    pub references: Vec<String>,
    /// The plain text body.
    pub text: Option<String>,
    /// The HTML body.
    pub html: Option<String>,
    /// An iTIP message beside the bodies (RFC 6047).
    pub calendar: Option<CalendarPart>,
    /// The files, inline ones included.
    pub attachments: Vec<OutgoingFile>,
    /// `X-*`, `List-*` and `Auto-Submitted`; written in this order, repeated ones too.
    pub headers: Vec<EmailHeader>,
    /// The importance that the header names.
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
    /// The name that recipients see.
    pub filename: Option<String>,
    /// `application/octet-stream` where it is none. A `message/rfc822` must be one.
    pub content_type: Option<String>,
    /// The bytes of the file, without a transfer encoding.
    pub content: Vec<u8>,
    /// It belongs into the HTML, which names it by `cid:` and its content id.
    pub inline: bool,
    /// The Content-ID (RFC 2392), without angle brackets.
    pub content_id: Option<String>,
}

/// Why a message cannot be written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Invalid {
    /// Path of the field in the model's names: `to[0].email`.
    pub field: String,
    /// A sentence for people that says what is wrong with the field.
    pub message: &'static str,
}
