//! Bytes of a part without their transfer encoding (RFC 2045 6), and as text. Damage is tolerated: all readable bytes are decoded.

use std::borrow::Cow;

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use encoding_rs::{Encoding as Charset, UTF_8};
use memchr::memmem;

use crate::read::charset;
use crate::read::end::End;
use crate::read::{quoted_printable, uuencode};

/// Accepts base64 as senders write it: with or without padding, with bits left over.
pub const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Bytes at the beginning of an HTML text in which a charset is looked for, if its Content-Type has none.
const META_BYTES: usize = 1024;

/// Names that senders gave to one encoding.
const UUENCODE: [&str; 4] = ["x-uuencode", "uuencode", "x-uue", "uue"];

/// How the bytes of a part were made fit for transport.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transfer {
    /// 7bit, 8bit, binary and unknown encodings.
    #[default]
    Identity,
    Base64,
    QuotedPrintable,
    /// A non-standard encoding: `x-uuencode` (RFC 2045 6.3 leaves such names to private use).
    Uuencode,
}

impl Transfer {
    /// Parses the value of a Content-Transfer-Encoding field.
    pub fn from_name(name: &str) -> Transfer {
        match name.trim() {
            name if name.eq_ignore_ascii_case("base64") => Transfer::Base64,
            name if name.eq_ignore_ascii_case("quoted-printable") => Transfer::QuotedPrintable,
            name if UUENCODE.iter().any(|known| name.eq_ignore_ascii_case(known)) => Transfer::Uuencode,
            _ => Transfer::Identity,
        }
    }

    /// The name that the host decodes by; none where nothing is to be decoded.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Transfer::Identity => None,
            Transfer::Base64 => Some("base64"),
            Transfer::QuotedPrintable => Some("quoted-printable"),
            Transfer::Uuencode => Some("uuencode"),
        }
    }

    /// The bytes as they were before.
    pub fn decode(self, body: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Transfer::Identity => Cow::Borrowed(body),
            Transfer::Base64 => Cow::Owned(base64(body)),
            Transfer::QuotedPrintable => Cow::Owned(quoted_printable::decode(body)),
            Transfer::Uuencode => Cow::Owned(uuencode::decode(body)),
        }
    }

    /// How many bytes `decode` gives, without making them where that can be avoided.
    pub fn decoded_len(self, body: &[u8]) -> usize {
        match self {
            Transfer::Identity => body.len(),
            Transfer::Base64 => body.iter().filter(|byte| is_base64(**byte)).count() * 3 / 4,
            Transfer::QuotedPrintable | Transfer::Uuencode => self.decode(body).len(),
        }
    }
}

/// Whether the byte is a character of base64 (RFC 4648 section 4).
pub fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/'
}

/// Characters that do not belong are left out (RFC 2045 6.8), and several encoded pieces may follow each other.
pub fn base64(body: &[u8]) -> Vec<u8> {
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
pub fn text(bytes: Cow<'_, [u8]>, named: Option<&str>, is_html: bool, end: End) -> String {
    let named = named.map(str::trim).filter(|name| !name.is_empty());
    let meta = if named.is_none() && is_html { meta_charset(&bytes) } else { None };
    line_feeds(charset::text(bytes, named.or(meta.map(Charset::name)), end))
}

/// The charset that `<meta charset>` or `<meta http-equiv>` at the beginning declares.
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
