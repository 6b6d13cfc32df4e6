//! Bytes of a part into text: transfer encodings (RFC 2045 6) and charsets. Damage is read over: what can be decoded is.

use std::borrow::Cow;

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use encoding_rs::{Encoding as Charset, UTF_8, WINDOWS_1252};
use mail_parser::decoders::charsets::map::charset_decoder;
use memchr::memmem;

use crate::read::quoted_printable;

/// Takes what senders write: padding or none, bits left over.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Where an HTML text without a charset in its Content-Type names it: within this many bytes.
const META_BYTES: usize = 1024;

/// How the bytes of a part were made fit for transport.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transfer {
    /// 7bit, 8bit, binary and whatever nobody knows.
    #[default]
    Identity,
    Base64,
    QuotedPrintable,
}

impl Transfer {
    /// Of the value of a Content-Transfer-Encoding field.
    pub fn named(name: &str) -> Transfer {
        match name.trim() {
            name if name.eq_ignore_ascii_case("base64") => Transfer::Base64,
            name if name.eq_ignore_ascii_case("quoted-printable") => Transfer::QuotedPrintable,
            _ => Transfer::Identity,
        }
    }

    /// The bytes as they were before.
    pub fn decode(self, body: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Transfer::Identity => Cow::Borrowed(body),
            Transfer::Base64 => Cow::Owned(base64(body)),
            Transfer::QuotedPrintable => Cow::Owned(quoted_printable::decode(body)),
        }
    }

    /// How many bytes `decode` gives, without making them where that can be avoided.
    pub fn decoded_len(self, body: &[u8]) -> usize {
        match self {
            Transfer::Identity => body.len(),
            Transfer::Base64 => body.iter().filter(|byte| is_base64(**byte)).count() * 3 / 4,
            Transfer::QuotedPrintable => self.decode(body).len(),
        }
    }
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/'
}

/// Characters that do not belong are left out (RFC 2045 6.8), and several encoded pieces may follow each other.
fn base64(body: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(body.len() / 4 * 3 + 3);
    let mut piece = Vec::with_capacity(body.len());
    for padded in body.split(|byte| *byte == b'=') {
        piece.clear();
        piece.extend(padded.iter().filter(|byte| is_base64(**byte)));
        if piece.len() % 4 == 1 {
            // Six bits are no byte: the text was cut.
            piece.pop();
        }
        // Only the alphabet's characters are left, so it cannot fail.
        let _ = BASE64.decode_vec(&piece, &mut decoded);
    }
    decoded
}

/// Bytes of a text in its charset. Line ends become `\n` (RFC 8621 4.1.4) and NUL, which no database stores, goes.
pub fn text(bytes: Cow<'_, [u8]>, charset: Option<&str>, is_html: bool) -> String {
    let text = match charset.map(str::trim).filter(|name| !name.is_empty()) {
        Some(name) => named_charset(bytes, name),
        None if is_html => match meta_charset(&bytes) {
            Some(charset) => charset.decode(&bytes).0.into_owned(),
            None => unnamed_charset(bytes),
        },
        None => unnamed_charset(bytes),
    };
    line_feeds(text)
}

/// ASCII and UTF-8 are told apart from the rest by looking: many senders name one and write the other.
fn named_charset(bytes: Cow<'_, [u8]>, name: &str) -> String {
    match Charset::for_label(name.as_bytes()) {
        Some(charset) if charset == UTF_8 => unnamed_charset(bytes),
        Some(charset) if charset == WINDOWS_1252 && is_ascii_name(name) => unnamed_charset(bytes),
        Some(charset) => charset.decode(&bytes).0.into_owned(),
        // UTF-7, IBM 850 and other names that browsers do not know.
        None => match charset_decoder(name.as_bytes()) {
            Some(decode) => decode(&bytes),
            None => unnamed_charset(bytes),
        },
    }
}

fn is_ascii_name(name: &str) -> bool {
    name.get(name.len().saturating_sub(5)..).is_some_and(|end| end.eq_ignore_ascii_case("ascii"))
}

/// UTF-8 if it is, or if only the last character was cut off; else windows-1252, in which every byte means something.
fn unnamed_charset(bytes: Cow<'_, [u8]>) -> String {
    match str::from_utf8(&bytes) {
        Err(error) if error.error_len().is_none() => {
            let whole = bytes.get(..error.valid_up_to()).unwrap_or_default();
            String::from_utf8_lossy(whole).into_owned()
        }
        Err(_) => WINDOWS_1252.decode_without_bom_handling(&bytes).0.into_owned(),
        Ok(text) => match text.strip_prefix('\u{feff}') {
            Some(text) => text.to_owned(),
            None => String::from_utf8(bytes.into_owned()).unwrap_or_default(),
        },
    }
}

/// What `<meta charset>` or `<meta http-equiv>` at the beginning says.
fn meta_charset(html: &[u8]) -> Option<&'static Charset> {
    let head = html.get(..META_BYTES).unwrap_or(html).to_ascii_lowercase();
    let start = memmem::find(&head, b"charset=")? + b"charset=".len();
    let rest = head.get(start..)?;
    let rest = rest.strip_prefix(b"\"").or_else(|| rest.strip_prefix(b"'")).unwrap_or(rest);
    let len = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"-_:.".contains(byte)).count();
    Charset::for_label(rest.get(..len)?).filter(|charset| *charset != UTF_8)
}

/// In place: no line gets longer.
fn line_feeds(text: String) -> String {
    let Some(first) = memchr::memchr2(b'\r', b'\0', text.as_bytes()) else { return text };
    let mut bytes = text.into_bytes();
    let mut to = first;
    let mut from = first;
    while let Some(byte) = bytes.get(from).copied() {
        let is_return = byte == b'\r';
        from += 1;
        if is_return && bytes.get(from) != Some(&b'\n') {
            // `to` is behind `from`, so there is a place.
            if let Some(place) = bytes.get_mut(to) {
                *place = b'\n';
            }
            to += 1;
        }
        let rest = bytes.get(from..).unwrap_or_default();
        let len = memchr::memchr2(b'\r', b'\0', rest).unwrap_or(rest.len());
        bytes.copy_within(from..from + len, to);
        from += len;
        to += len;
    }
    bytes.truncate(to);
    // Only whole ASCII characters were taken out or put in.
    String::from_utf8(bytes).unwrap_or_default()
}
