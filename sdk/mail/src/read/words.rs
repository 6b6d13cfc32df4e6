//! Encoded words (RFC 2047) of a field. Those that follow each other are read as one: many senders split a text between the bytes of a
//! character, or of an escape, which can only be decoded when the words are together.
//!
//! Not by mail-parser's own reader: it decodes each word alone, gives a word up at the first odd byte, and takes what is around the words
//! for UTF-8. It gets the words from here, decoded and written in the one way in which nothing is left to read differently.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use memchr::memmem;

use crate::read::charset;
use crate::read::decode;
use crate::read::end::End;

/// Longest encoded word that is looked at, bytes. RFC 2047 2 says 75, some senders write a whole subject as one.
const WORD_BYTES: usize = 1_000;

/// The value with its words decoded. The text around them stays as it was; bytes that are not ASCII are guessed.
pub fn decoded(value: &[u8]) -> String {
    let mut text = String::with_capacity(value.len());
    each(value, |piece| match piece {
        WordPiece::Plain(plain) => text.push_str(&charset::guessed(Cow::Borrowed(plain), End::Whole)),
        WordPiece::Words(words) => text.push_str(&words),
    });
    text
}

/// The value as UTF-8, each run of words as one word of UTF-8 in base64.
pub fn rewritten(value: &[u8]) -> Vec<u8> {
    let mut whole = Vec::with_capacity(value.len());
    each(value, |piece| match piece {
        WordPiece::Plain(plain) => {
            whole.extend_from_slice(charset::guessed(Cow::Borrowed(plain), End::Whole).as_bytes());
        }
        WordPiece::Words(words) => whole.extend_from_slice(encoded(&words).as_bytes()),
    });
    whole
}

/// A text as one word, however long it is.
pub fn encoded(text: &str) -> String {
    format!("=?utf-8?b?{}?=", STANDARD.encode(text))
}

enum WordPiece<'a> {
    Plain(&'a [u8]),
    Words(String),
}

/// Takes the value apart.
fn each<'a>(value: &'a [u8], mut take: impl FnMut(WordPiece<'a>)) {
    let mut rest = value;
    let mut from = 0;
    while let Some(at) = rest.get(from..).and_then(|rest| memmem::find(rest, b"=?")) {
        let (plain, start) = rest.split_at(from + at);
        let Some(first) = word(start) else {
            from += at + 2;
            continue;
        };
        if !plain.is_empty() {
            take(WordPiece::Plain(plain));
        }
        let (words, after) = run(first, start);
        take(WordPiece::Words(words));
        rest = after;
        from = 0;
    }
    if !rest.is_empty() {
        take(WordPiece::Plain(rest));
    }
}

/// The words from the first one on with only white space between them, and the text after them. (A line end and no more
/// ends the field.)
fn run<'a>(first: Word<'a>, start: &'a [u8]) -> (String, &'a [u8]) {
    let mut text = String::new();
    let mut charset = first.charset;
    let mut bytes = first.bytes();
    let mut rest = start.get(first.len..).unwrap_or_default();
    while let Some(next) = word(rest.trim_ascii_start()) {
        if next.charset.eq_ignore_ascii_case(charset) {
            bytes.extend_from_slice(&next.bytes());
        } else {
            text.push_str(&in_charset(bytes, charset));
            (charset, bytes) = (next.charset, next.bytes());
        }
        rest = rest.trim_ascii_start().get(next.len..).unwrap_or_default();
    }
    text.push_str(&in_charset(bytes, charset));
    (text, rest)
}

/// Decodes a word of a field. A byte order mark at its beginning is kept: in a field it is a character.
fn in_charset(bytes: Vec<u8>, charset: &[u8]) -> String {
    let mark = if bytes.starts_with("\u{feff}".as_bytes()) { "\u{feff}" } else { "" };
    let text = charset::text(Cow::Owned(bytes), str::from_utf8(charset).ok(), End::Whole);
    format!("{mark}{text}")
}

/// One encoded word.
struct Word<'a> {
    /// Without the language of RFC 2231 5.
    charset: &'a [u8],
    is_base64: bool,
    content: &'a [u8],
    /// Length of the whole encoded word, bytes.
    len: usize,
}

impl Word<'_> {
    /// White space within a word is of the line that it was broken to.
    fn bytes(&self) -> Vec<u8> {
        if self.is_base64 {
            return decode::base64(self.content);
        }
        let mut bytes = Vec::with_capacity(self.content.len());
        let mut rest = self.content;
        while let Some((byte, after)) = rest.split_first() {
            rest = after;
            match (byte, hex(after)) {
                (b'_', _) => bytes.push(b' '),
                (b'=', Some(escaped)) => {
                    bytes.push(escaped);
                    rest = after.get(2..).unwrap_or_default();
                }
                (b'\r' | b'\n', _) => {}
                (byte, _) => bytes.push(*byte),
            }
        }
        bytes
    }
}

/// The byte that two digits stand for.
pub fn hex(text: &[u8]) -> Option<u8> {
    let digit = |at: usize| text.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    u8::try_from(digit(0)? << 4 | digit(1)?).ok()
}

/// The word that the text begins with. It has no other one in it, else its end was lost.
fn word(text: &[u8]) -> Option<Word<'_>> {
    let text = text.get(..WORD_BYTES).unwrap_or(text).strip_prefix(b"=?")?;
    let named = text.get(..memchr::memchr(b'?', text)?)?;
    let language = memchr::memchr(b'*', named).unwrap_or(named.len());
    let charset =
        named.get(..language).filter(|name| !name.is_empty() && name.iter().all(u8::is_ascii_graphic))?;
    let is_base64 = match text.get(named.len()..)? {
        [b'?', b'B' | b'b', b'?', ..] => true,
        [b'?', b'Q' | b'q', b'?', ..] => false,
        _ => return None,
    };
    let head = named.len() + 3;
    let content = text.get(head..)?;
    let content = content.get(..memmem::find(content, b"?=")?)?;
    let is_whole = memmem::find(content, b"=?").is_none();
    is_whole.then_some(Word { charset, is_base64, content, len: 2 + head + content.len() + 2 })
}

#[cfg(test)]
mod tests {
    use super::{decoded, rewritten};

    #[test]
    fn words_are_decoded() {
        for (value, expected) in [
            (&b"x =?utf-8?Q?=C3?=\r\n =?UTF-8?q?=BC?= y"[..], "x \u{fc} y"),
            (b"=?utf-8?q?=C3?= =?utf-8?b?vA?= =?utf-8*de?q?=C3=BC_b?=", "\u{fc}\u{fc} b"),
            (b"=?utf-8?q?a?= =?koi8-r?q?=C1?= b", "a\u{430} b"),
            (b"(=?utf-8?q?a?=)=?utf-8?q?b?=,c", "(a)b,c"),
            (b"=?utf-8?q?a b?=  =?utf-8?q?_c?= ", "a b c "),
            (b"=?utf-8?b?w7w?= =?utf-8?b?w7w=?=", "\u{fc}\u{fc}"),
            (b"=?utf-8?q?=FCa=zz=4?=", "\u{fffd}a=zz=4"),
            (b"=?iso-8859-1?q?\xfc=FC?= \xc3\xbc", "\u{fc}\u{fc} \u{fc}"),
            (b"=?utf-8?q?\xc3\xbc?= \xfc", "\u{fc} \u{fc}"),
            (b"=?shift_jis?q?\x83=41?= =?x-klingon?q?=C3=BC?=", "\u{30a2}\u{fc}"),
            (b"=?utf-8?q??= =?utf-8?b??=", ""),
            (b"=?utf-8?q?cut =?utf-8?q?a?=", "=?utf-8?q?cut a"),
            (b"=?=?=? =?utf-8?x?a?= =??q?a?=", "=?=?=? =?utf-8?x?a?= =??q?a?="),
        ] {
            assert_eq!(decoded(value), expected, "{}", value.escape_ascii());
        }
    }

    #[test]
    fn rewritten_words_say_the_same() {
        let value = b"\"=?utf-8?q?=C3?= =?utf-8?q?=BC?= \xfc\" <a@b>";
        let whole = rewritten(value);
        assert_eq!(String::from_utf8_lossy(&whole), "\"=?utf-8?b?w7w=?= \u{fc}\" <a@b>");
        assert_eq!(rewritten(&whole), whole);
    }
}
