//! Header fields (RFC 5322 2.2): where each one begins and ends, and its text. What the fields mean is in `header`.

use std::borrow::Cow;

use mail_parser::parsers::MessageStream;
use mail_parser::{ContentType, HeaderValue};
use memchr::memmem;

use crate::read::charset;
use crate::read::end::End;
use crate::read::limits::{HEADER_BYTES, HEADER_FIELDS, PARAMETER_BYTES};
use crate::read::{parameters, words};

/// A field as it stands in the message.
#[derive(Clone, Copy)]
pub struct Field<'a> {
    pub name: &'a str,
    /// All after the colon: folded, with the line end.
    pub value: &'a [u8],
}

/// The fields of a header block, in order. A line that is no field is skipped, and so are fields beyond the limits.
pub fn fields(block: &[u8]) -> Vec<Field<'_>> {
    let mut rest = block.get(..HEADER_BYTES).unwrap_or(block);
    let mut fields = Vec::new();
    while !rest.is_empty() && fields.len() < HEADER_FIELDS {
        let (line, after) = rest.split_at(end_of_field(rest));
        rest = after;
        if matches!(line.first(), Some(b'\r' | b'\n')) {
            break;
        }
        fields.extend(field(line));
    }
    fields
}

/// The last field of this name, as RFC 8621 4.1.3 chooses among several.
pub fn last<'a>(fields: &[Field<'a>], name: &str) -> Option<Field<'a>> {
    fields.iter().rev().find(|field| field.name.eq_ignore_ascii_case(name)).copied()
}

/// The end of the first line and of the lines that continue it.
fn end_of_field(block: &[u8]) -> usize {
    let mut end = 0;
    for line_end in memchr::memchr_iter(b'\n', block) {
        end = line_end + 1;
        if !matches!(block.get(end), Some(b' ' | b'\t')) {
            return end;
        }
    }
    if end < block.len() { block.len() } else { end }
}

fn field(line: &[u8]) -> Option<Field<'_>> {
    let colon = memchr::memchr(b':', line)?;
    let name = line.get(..colon)?.trim_ascii_end();
    let is_name = !name.is_empty() && name.iter().all(u8::is_ascii_graphic);
    let name = str::from_utf8(name).ok().filter(|_| is_name)?;
    Some(Field { name, value: line.get(colon + 1..)? })
}

impl Field<'_> {
    /// The value on one line, with its encoded words (RFC 2047) decoded.
    pub fn text(&self) -> String {
        if memmem::find(self.value, b"=?").is_none() {
            return self.raw();
        }
        clean(&words::decoded(self.value))
    }

    /// The value on one line, as it is.
    pub fn raw(&self) -> String {
        if let Some(simple) = self.simple() {
            return simple.to_owned();
        }
        match str::from_utf8(self.value) {
            Ok(value) => clean(value),
            Err(_) => clean(&charset::guessed(Cow::Borrowed(self.value), End::Whole)),
        }
    }

    /// Most values are one line of ASCII that needs no change.
    fn simple(&self) -> Option<&str> {
        let value = self.value.trim_ascii();
        // To the end without a look in between: that goes in steps of many bytes.
        let is_plain = value.iter().fold(true, |is, byte| is & matches!(byte, b' '..=b'~'));
        let pairs = value.iter().zip(value.iter().skip(1));
        let is_spaced = pairs.fold(false, |is, (a, b)| is | ((*a == b' ') & (*b == b' ')));
        str::from_utf8(value).ok().filter(|_| is_plain && !is_spaced)
    }

    /// The value as a media type or a disposition with its parameters, decoded (RFC 2231, RFC 2047). Type and names in lower case.
    pub fn parameters(&self) -> Option<ContentType<'static>> {
        let short = self.value.get(..PARAMETER_BYTES).unwrap_or(self.value);
        let joined = parameters::joined(short);
        let short = Field { name: self.name, value: joined.as_deref().unwrap_or(short) };
        let value = short.utf8();
        match MessageStream::new(&value).parse_content_type().into_owned() {
            HeaderValue::ContentType(value) => Some(value),
            _ => None,
        }
    }

    /// UTF-8 that ends with a line feed, which the parsers of values wait for, with encoded words that they can decode.
    pub fn utf8(&self) -> Cow<'_, [u8]> {
        let is_plain = self.value.is_ascii() && memmem::find(self.value, b"=?").is_none();
        let mut value = match is_plain {
            true => Cow::Borrowed(self.value),
            false => Cow::Owned(words::rewritten(self.value)),
        };
        if is_slow_to_decode(&value) {
            value.to_mut().iter_mut().filter(|byte| **byte == b'?').for_each(|byte| *byte = b'_');
        }
        if value.last() != Some(&b'\n') {
            value.to_mut().push(b'\n');
        }
        value
    }
}

/// Beginnings of encoded words that do not end are each read to the end of the field, which takes time with its square. No sender writes
/// such a field; it is then shown as it is, with its question marks replaced.
fn is_slow_to_decode(value: &[u8]) -> bool {
    let mut begins = memmem::find_iter(value, b"=?").peekable();
    if begins.peek().is_none() {
        return false;
    }
    let ends: Vec<usize> = memmem::find_iter(value, b"?=").collect();
    let allowed = 64 * value.len() + (64 << 10);
    let mut steps = 0;
    let mut next = 0;
    for begin in begins {
        while ends.get(next).is_some_and(|&end| end <= begin) {
            next += 1;
        }
        // A word reads over two ends at most: those in `=?=?q?=`.
        steps += ends.get(next + 2).copied().unwrap_or(value.len()) - begin;
        if steps > allowed {
            return true;
        }
    }
    false
}

/// On one line: runs of white space and control characters (which encoded words can bring) become one space, NUL goes.
pub fn clean(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    if text.is_ascii() {
        let words = text.as_bytes().split(|byte| *byte <= b' ' || *byte == 0x7f);
        let mut at = 0;
        for len in words.map(<[u8]>::len) {
            let word = text.get(at..at + len).unwrap_or_default();
            at += len + 1;
            add_word(&mut clean, word);
        }
        return clean;
    }
    for word in text.split(|c: char| c.is_control() || c == ' ' || c == '\u{2028}' || c == '\u{2029}') {
        add_word(&mut clean, word);
    }
    clean
}

fn add_word(line: &mut String, word: &str) {
    if word.is_empty() {
        return;
    }
    if !line.is_empty() {
        line.push(' ');
    }
    line.push_str(word);
}
