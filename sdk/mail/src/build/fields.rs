//! Header fields, encoded and folded. What comes here was checked: it has no line breaks or control characters.

use std::fmt::{self, Write as _};

use email_encoding::headers::writer::EmailWriter;
use email_encoding::headers::{quoted_string, rfc2047, rfc2231};
use jiff::fmt::rfc2822::DateTimePrinter;
use jiff::tz::TimeZone;
use model::Instant;
use model::email::EmailAddress;

use crate::address;

/// A word longer than this is encoded, so that it can be folded.
const PLAIN_WORD_BYTES: usize = 200;

/// A string takes all that is written to it.
const STRING: &str = "writing to a string cannot fail";

/// Fields in the order in which they are added.
#[derive(Default)]
pub struct Header {
    text: String,
}

impl Header {
    /// Bytes so far.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    pub fn into_text(self) -> String {
        self.text
    }

    /// A short value that needs no encoding.
    pub fn raw(&mut self, name: &str, value: &str) {
        self.field(name, |w| w.write_str(value));
    }

    /// A text (RFC 5322 3.2.5): encoded words (RFC 2047) where it is not plain.
    pub fn text(&mut self, name: &str, value: &str) {
        self.field(name, |w| {
            if is_plain(value) { w.folding().write_str(value) } else { rfc2047::encode(value, w) }
        });
    }

    /// The value of a field that the caller named: it stays as it is where it is ASCII, because it may have its own syntax.
    pub fn caller_field(&mut self, name: &str, value: &str) {
        self.field(name, |w| {
            if value.is_ascii() { w.folding().write_str(value) } else { rfc2047::encode(value, w) }
        });
    }

    /// Addresses with their names; nothing where there are none. One without address and name, as a draft can have, is left out.
    pub fn addresses(&mut self, name: &str, addresses: &[EmailAddress]) {
        let has_any =
            |address: &&EmailAddress| !address.email.trim().is_empty() || display_name(address).is_some();
        let written: Vec<&EmailAddress> = addresses.iter().filter(has_any).collect();
        if written.is_empty() {
            return;
        }
        self.field(name, |w| {
            for (index, address) in written.into_iter().enumerate() {
                if index > 0 {
                    w.write_char(',')?;
                    w.space();
                }
                mailbox(w, address)?;
            }
            Ok(())
        });
    }

    /// Message-IDs in their brackets; nothing where there are none.
    pub fn ids(&mut self, name: &str, ids: &[String]) {
        if ids.is_empty() {
            return;
        }
        self.field(name, |w| {
            for (index, id) in ids.iter().enumerate() {
                if index > 0 {
                    w.space();
                }
                // The line is not broken at a blank of the id: programs compare ids as they stand.
                let (head, rest) = id.split_at(id.find(' ').unwrap_or(id.len()));
                w.folding().write_str(&format!("<{head}"))?;
                w.write_str(&format!("{rest}>"))?;
            }
            Ok(())
        });
    }

    /// A value that a parameter with the file name follows (RFC 2183, RFC 2231).
    pub fn disposition(&mut self, kind: &str, filename: Option<&str>) {
        self.field("Content-Disposition", |w| {
            w.write_str(kind)?;
            let Some(filename) = filename else { return Ok(()) };
            w.write_char(';')?;
            w.space();
            rfc2231::encode("filename", filename, w)
        });
    }

    fn field(&mut self, name: &str, write: impl FnOnce(&mut EmailWriter<'_>) -> fmt::Result) {
        self.text.push_str(name);
        self.text.push_str(": ");
        {
            let mut writer = EmailWriter::new(&mut self.text, name.len() + 2, 0, false);
            write(&mut writer).expect(STRING);
        }
        self.text.push_str("\r\n");
    }
}

/// The name beside an address, if there is any.
fn display_name(address: &EmailAddress) -> Option<&str> {
    address.name.as_deref().map(str::trim).filter(|name| !name.is_empty())
}

/// A name, quoted or encoded as it needs.
fn phrase(w: &mut EmailWriter<'_>, name: &str) -> fmt::Result {
    if name.len() > PLAIN_WORD_BYTES { rfc2047::encode(name, w) } else { quoted_string::encode(name, w) }
}

fn mailbox(w: &mut EmailWriter<'_>, address: &EmailAddress) -> fmt::Result {
    if address::check(&address.email).is_err() {
        return write_unfinished(w, display_name(address), address.email.trim());
    }
    let email = address::wire(&address.email);
    match display_name(address) {
        Some(name) => {
            phrase(w, name)?;
            w.space();
            write!(w.folding(), "<{email}>")
        }
        // A quoted part looks like a name to many programs, unless it is in brackets.
        None if email.starts_with('"') => write!(w.folding(), "<{email}>"),
        None => w.folding().write_str(&email),
    }
}

/// Writes a draft's address that is none. It becomes an address where it could be the part before the `@`; else, with its name, a display
/// name without an address. Python's `email` fails on half an address such as `mia@`, and other readers drop what follows it.
fn write_unfinished(w: &mut EmailWriter<'_>, name: Option<&str>, email: &str) -> fmt::Result {
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/^_`{|}~".contains(&byte);
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(is_safe);
    let is_plain = email.len() <= PLAIN_WORD_BYTES && email.split('.').all(is_word);
    match name {
        Some(name) if email.is_empty() => phrase(w, name),
        Some(name) if is_plain => {
            phrase(w, name)?;
            w.space();
            w.folding().write_str(&format!("<{email}>"))
        }
        Some(name) => phrase(w, &format!("{name} <{email}>")),
        None if is_plain => w.folding().write_str(email),
        None => phrase(w, email),
    }
}

/// It reads the same when it is written as it is: ASCII, nothing that looks encoded, spaces that folding keeps.
fn is_plain(value: &str) -> bool {
    value.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && !value.contains("=?")
        && value.split(' ').all(|word| (1..=PLAIN_WORD_BYTES).contains(&word.len()))
}

/// RFC 5322 3.3, in UTC; none out of the years 1 to 9999.
pub fn date(instant: Instant) -> Option<String> {
    let zoned = instant.timestamp().to_zoned(TimeZone::UTC);
    if zoned.year() < 1 {
        return None;
    }
    DateTimePrinter::new().zoned_to_string(&zoned).ok()
}
