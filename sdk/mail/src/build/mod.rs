//! Messages to send: from the model to bytes (RFC 5322, RFC 2045 to 2047, RFC 2231).
//!
//! The same input gives the same bytes: it uses neither randomness nor the clock. All lines end with CRLF and have at most 998
//! bytes, and all bytes are ASCII, except in an address whose part before the `@` is not (RFC 6532).

mod fields;
mod outgoing;
mod parts;
mod validate;

use model::email::Importance;

use crate::build::fields::Header;
use crate::build::parts::Part;
use crate::check;

pub use crate::build::outgoing::{CalendarPart, Invalid, Outgoing, OutgoingFile};

/// Most Message-IDs that are written into one field: the first one and the last ones.
const REFERENCES: usize = 100;

/// A message that was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuiltMessage {
    /// The message without Bcc, for every recipient.
    pub bytes: Vec<u8>,
    /// The Bcc field with its line end; empty where there are none.
    bcc: String,
    /// The offset in `bytes` at which the Bcc field belongs.
    bcc_at: usize,
}

impl BuiltMessage {
    /// The message with Bcc, for the sender's copy.
    pub fn with_bcc(&self) -> Vec<u8> {
        let (before, after) = self.bytes.split_at(self.bcc_at.min(self.bytes.len()));
        [before, self.bcc.as_bytes(), after].concat()
    }
}

/// Writes a message. Text alone becomes `text/plain`, HTML alone `text/html`, both `multipart/alternative`; inline files with an HTML
/// `multipart/related`, other files `multipart/mixed`. An invitation is the last one of the alternatives (RFC 6047 section 2.4).
///
/// Fails with the first field that cannot be written; see `check` for what can. Ids in `in_reply_to` and `references` that cannot be
/// written are left out: other programs made them, and the caller cannot change them.
pub fn build(message: &Outgoing) -> Result<BuiltMessage, Invalid> {
    validate::message(message, check::email)?;
    write(message)
}

/// Writes a message that its author has not finished: its addresses may be anything that fits on a line. A text that is no address is
/// written so that programs read it as a name without an address, and `read` as the address that it was given as.
pub fn draft(message: &Outgoing) -> Result<BuiltMessage, Invalid> {
    validate::message(message, check::unfinished_email)?;
    write(message)
}

fn write(message: &Outgoing) -> Result<BuiltMessage, Invalid> {
    let date = fields::date(message.date)
        .ok_or(Invalid { field: "date".to_owned(), message: "is out of the years 1 to 9999" })?;
    let mut header = Header::default();
    header.raw("Date", &date);
    header.addresses("From", &message.from);
    let sender = message.sender.as_ref().or_else(|| message.from.first().filter(|_| message.from.len() > 1));
    header.addresses("Sender", sender.map(std::slice::from_ref).unwrap_or_default());
    header.addresses("Reply-To", &message.reply_to);
    header.addresses("To", &message.to);
    header.addresses("Cc", &message.cc);
    let bcc_at = header.len();
    header.ids("Message-ID", std::slice::from_ref(&message.message_id));
    header.ids("In-Reply-To", &writable(&message.in_reply_to));
    header.ids("References", &writable(&message.references));
    if let Some(subject) = message.subject.as_deref().filter(|subject| !subject.is_empty()) {
        header.text("Subject", subject);
    }
    if let Some((word, number)) = importance(message.importance) {
        header.raw("Importance", word);
        header.raw("X-Priority", number);
    }
    for field in &message.headers {
        header.caller_field(&field.name, &field.value);
    }
    header.raw("MIME-Version", "1.0");
    let mut bcc = Header::default();
    bcc.addresses("Bcc", &message.bcc);
    let mut text = header.into_text();
    Part::from_message(message).write(&mut text, &parts::boundary_base(&message.message_id));
    if !text.ends_with("\r\n") {
        text.push_str("\r\n");
    }
    Ok(BuiltMessage { bytes: text.into_bytes(), bcc: bcc.into_text(), bcc_at })
}

fn importance(importance: Importance) -> Option<(&'static str, &'static str)> {
    match importance {
        Importance::High => Some(("high", "1")),
        Importance::Low => Some(("low", "5")),
        Importance::Normal => None,
    }
}

/// The ids that can be written; of more than `REFERENCES` the first one and the last ones.
fn writable(ids: &[String]) -> Vec<String> {
    let mut kept: Vec<String> = ids.iter().filter(|id| check::message_id(id).is_ok()).cloned().collect();
    if kept.len() > REFERENCES {
        kept.drain(1..=kept.len() - REFERENCES);
    }
    kept
}
