//! Finds the files of a message and rewrites it as bytes: without some files, and with texts in another transfer encoding. A large message
//! is in memory only once, because its files are decoded in chunks.

use std::collections::HashSet;
use std::ops::Range;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::email::Attachment;

use crate::read::attachment::attachment;
use crate::read::decode::{BASE64, Transfer, is_base64};
use crate::read::entity::{Entity, entities};
use crate::read::{body, files};

/// The bytes that one line of base64 encodes: 76 characters (RFC 2045 section 6.8).
const LINE_BYTES: usize = 57;
/// The size of a decoded chunk, in bytes.
const STEP_BYTES: usize = 64 << 10;
/// The part that replaces the last file of a multipart, which must have a part (RFC 2046 section 5.1.1).
const EMPTY_PART: &[u8] = b"Content-Type: text/plain; charset=utf-8\r\n\r\n";

/// A file of a message, with the position of its bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct FilePart {
    /// The description of the file, as the message lists it. Its `size` is that of the decoded bytes.
    pub attachment: Attachment,
    /// The byte range of its content, still encoded.
    pub body: Range<usize>,
    /// Whether the message makes sense without the file: it is in a `multipart/mixed` or `multipart/related`, and not signed.
    pub can_be_left_out: bool,
    transfer: Transfer,
    index: usize,
}

/// Returns the files of a message in their order.
pub fn file_parts(raw: &[u8]) -> Vec<FilePart> {
    let entities = entities(raw);
    let chosen = body::choose(&entities);
    let part = |entity: &Entity| {
        let index = entities.iter().position(|one| std::ptr::eq(one, entity))?;
        let parent = entity.parent.and_then(|parent| entities.get(parent));
        let within = parent.map_or("", |parent| parent.kind.media_type.as_str());
        let content = raw.get(entity.body.clone()).unwrap_or_default();
        let mut attachment = attachment(raw, entity);
        if entity.kind.transfer == Transfer::Base64 {
            attachment.size = i64::try_from(base64_len(content)).ok();
        }
        Some(FilePart {
            attachment,
            body: entity.body.clone(),
            can_be_left_out: matches!(within, "multipart/mixed" | "multipart/related")
                && !is_signed(&entities, entity),
            transfer: entity.kind.transfer,
            index,
        })
    };
    files(&entities, &chosen).into_iter().filter_map(part).collect()
}

/// Returns the message with `fields` before its own header fields, without the files `left_out`, and with quoted-printable texts in base64.
/// Each of the new fields has its line end. Signed parts are unchanged.
pub fn rewritten(raw: &[u8], fields: &str, left_out: &[&FilePart]) -> Vec<u8> {
    let entities = entities(raw);
    let gone: HashSet<usize> = left_out.iter().map(|part| part.index).collect();
    let start = entities.first().map_or(0, |root| root.header.start);
    let mut message = fields.as_bytes().to_vec();
    let mut at = start;
    for (index, entity) in entities.iter().enumerate() {
        let is_gone = gone.contains(&index);
        if is_gone && !is_last_of_its_kind(&entities, &gone, index) {
            let from = line_before(raw, entity.header.start);
            message.extend_from_slice(raw.get(at..from).unwrap_or_default());
            at = after_line_end(raw, entity.body.end).max(at);
        } else if is_gone {
            message.extend_from_slice(raw.get(at..entity.header.start).unwrap_or_default());
            message.extend_from_slice(EMPTY_PART);
            at = entity.body.end.max(at);
        } else if is_quoted_text(entity) && !is_signed(&entities, entity) {
            message.extend_from_slice(raw.get(at..entity.header.start).unwrap_or_default());
            message.extend_from_slice(b"Content-Transfer-Encoding: base64\r\n");
            let header = raw.get(entity.header.clone()).unwrap_or_default();
            message.extend(without_field(header, "Content-Transfer-Encoding"));
            let body = raw.get(entity.body.clone()).unwrap_or_default();
            write_lines(&entity.kind.transfer.decode(body), &mut message);
            at = entity.body.end.max(at);
        }
    }
    message.extend_from_slice(raw.get(at..).unwrap_or_default());
    message
}

fn is_quoted_text(entity: &Entity) -> bool {
    entity.children.is_empty()
        && entity.kind.top() == "text"
        && entity.kind.transfer == Transfer::QuotedPrintable
}

/// Whether the part is within a multipart whose bytes are signed (RFC 1847 section 2.1).
fn is_signed(entities: &[Entity], entity: &Entity) -> bool {
    let mut parent = entity.parent.and_then(|parent| entities.get(parent));
    while let Some(around) = parent {
        if around.kind.media_type == "multipart/signed" {
            return true;
        }
        parent = around.parent.and_then(|parent| entities.get(parent));
    }
    false
}

/// Whether all parts of the multipart are left out and this is the last of them: it is replaced, because a multipart needs a part.
fn is_last_of_its_kind(entities: &[Entity], gone: &HashSet<usize>, index: usize) -> bool {
    let parent = entities.get(index).and_then(|entity| entity.parent).and_then(|parent| entities.get(parent));
    let Some(parent) = parent else { return true };
    parent.children.iter().all(|child| gone.contains(child)) && parent.children.last() == Some(&index)
}

/// The start of the line that ends before `at`: the delimiter line of the part whose header begins at `at`.
fn line_before(raw: &[u8], at: usize) -> usize {
    let before = raw.get(..at.saturating_sub(1)).unwrap_or_default();
    before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1)
}

/// The position after the line end at `at`, which belongs to the following delimiter.
fn after_line_end(raw: &[u8], at: usize) -> usize {
    match raw.get(at..).unwrap_or_default() {
        [b'\r', b'\n', ..] => at + 2,
        [b'\n', ..] => at + 1,
        _ => at,
    }
}

/// The header without the fields of this name.
fn without_field(header: &[u8], name: &str) -> Vec<u8> {
    let mut kept = Vec::with_capacity(header.len());
    let mut is_left_out = false;
    for line in header.split_inclusive(|byte| *byte == b'\n') {
        if !matches!(line.first(), Some(b' ' | b'\t')) {
            let is_named =
                line.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()));
            let rest = line.get(name.len()..).unwrap_or_default().trim_ascii_start();
            is_left_out = is_named && rest.first() == Some(&b':');
        }
        if !is_left_out {
            kept.extend_from_slice(line);
        }
    }
    kept
}

fn write_lines(bytes: &[u8], out: &mut Vec<u8>) {
    for (number, line) in bytes.chunks(LINE_BYTES).enumerate() {
        if number > 0 {
            out.extend_from_slice(b"\r\n");
        }
        out.extend_from_slice(STANDARD.encode(line).as_bytes());
    }
}

/// Returns the bytes in base64, on one line and with padding.
pub fn base64_text(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// The number of bytes that `FileContent` decodes from this base64.
fn base64_len(body: &[u8]) -> usize {
    let piece = |piece: &[u8]| {
        let count = piece.iter().filter(|byte| is_base64(**byte)).count();
        // A single left-over character has six bits: no byte.
        count / 4 * 3 + (count % 4).saturating_sub(1)
    };
    body.split(|byte| *byte == b'=').map(piece).sum()
}

/// Decodes the content of a file in chunks.
pub struct FileContent<'a> {
    rest: &'a [u8],
    is_base64: bool,
    /// Base64 characters that do not make a group of four yet.
    held: Vec<u8>,
    ready: Vec<u8>,
}

impl<'a> FileContent<'a> {
    /// The content of a file of this message.
    pub fn new(raw: &'a [u8], part: &FilePart) -> FileContent<'a> {
        let body = raw.get(part.body.clone()).unwrap_or_default();
        let (rest, ready) = match part.transfer {
            Transfer::Identity | Transfer::Base64 => (body, Vec::new()),
            other => (body.get(..0).unwrap_or_default(), other.decode(body).into_owned()),
        };
        FileContent { rest, is_base64: part.transfer == Transfer::Base64, held: Vec::new(), ready }
    }

    /// Returns the next `count` bytes, fewer at the end, and none after it.
    pub fn next_bytes(&mut self, count: usize) -> Vec<u8> {
        self.ready.reserve(count.saturating_sub(self.ready.len()).min(self.rest.len()));
        while self.ready.len() < count && !self.rest.is_empty() {
            let (step, rest) = self.rest.split_at(self.rest.len().min(STEP_BYTES));
            self.rest = rest;
            match self.is_base64 {
                true => self.decode(step),
                false => self.ready.extend_from_slice(step),
            }
        }
        if self.rest.is_empty() {
            self.end_piece();
        }
        let rest = self.ready.split_off(self.ready.len().min(count));
        std::mem::replace(&mut self.ready, rest)
    }

    fn decode(&mut self, step: &[u8]) {
        for (number, piece) in step.split(|byte| *byte == b'=').enumerate() {
            if number > 0 {
                self.end_piece();
            }
            self.held.extend(piece.iter().filter(|byte| is_base64(**byte)));
            let rest = self.held.split_off(self.held.len() / 4 * 4);
            // This cannot fail: `held` has only characters of the alphabet.
            let _ = BASE64.decode_vec(&self.held, &mut self.ready);
            self.held = rest;
        }
    }

    /// Decodes the rest of a padded base64 section.
    fn end_piece(&mut self) {
        if self.held.len() % 4 == 1 {
            self.held.pop();
        }
        let _ = BASE64.decode_vec(&self.held, &mut self.ready);
        self.held.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::message;

    const LETTER: &str = "From: a@x.test\r\nSubject: Files\r\nMIME-Version: 1.0\r\n\
        Content-Type: multipart/mixed; boundary=m\r\n\r\n--m\r\nContent-Type: text/plain; charset=utf-8\r\n\
        Content-Transfer-Encoding:\r\n quoted-printable\r\nX-Part: 1\r\n\r\nGr=C3=BC=C3=9Fe=\r\n!\r\n--m\r\n\
        Content-Type: text/csv; name=a.csv\r\nContent-Disposition: attachment; filename=a.csv\r\n\
        Content-Transfer-Encoding: base64\r\n\r\nMDEyMzQ1\r\nNjc4OQ==\r\n--m\r\nContent-Type: message/rfc822\r\n\r\n\
        Subject: In it\r\n\r\nHello\r\n--m--\r\n";

    #[test]
    fn files_are_found_and_decoded_piece_by_piece() {
        let raw = LETTER.as_bytes();
        let parts = file_parts(raw);
        let names: Vec<&str> = parts.iter().map(|part| part.attachment.content_type.as_str()).collect();
        assert_eq!(names, ["text/csv", "message/rfc822"]);
        assert_eq!((parts[0].attachment.size, parts[0].can_be_left_out), (Some(10), true));
        for count in [1, 3, 4, 100] {
            let mut content = FileContent::new(raw, &parts[0]);
            let mut whole = Vec::new();
            loop {
                let piece = content.next_bytes(count);
                if piece.is_empty() {
                    break;
                }
                assert!(piece.len() <= count);
                whole.extend(piece);
            }
            assert_eq!(whole, b"0123456789", "{count}");
        }
        assert_eq!(FileContent::new(raw, &parts[1]).next_bytes(7), b"Subject");
    }

    #[test]
    fn a_piece_is_as_long_as_was_asked() {
        let bytes: Vec<u8> = (0..300_000_u32).map(|number| number.to_le_bytes()[1]).collect();
        let mut text = b"Content-Transfer-Encoding: base64\r\nContent-Type: application/x\r\n\r\n".to_vec();
        write_lines(&bytes, &mut text);
        let parts = file_parts(&text);
        assert_eq!(parts[0].attachment.size, Some(300_000));
        assert!(!parts[0].can_be_left_out);
        let mut content = FileContent::new(&text, &parts[0]);
        let pieces: Vec<Vec<u8>> = (0..4).map(|_| content.next_bytes(131_072)).collect();
        assert_eq!(pieces.iter().map(Vec::len).collect::<Vec<_>>(), [131_072, 131_072, 37_856, 0]);
        assert_eq!(pieces.concat(), bytes);
    }

    #[test]
    fn quoted_texts_become_base64() {
        let written = rewritten(LETTER.as_bytes(), "Bcc: b@x.test\r\n", &[]);
        let text = String::from_utf8(written.clone()).unwrap();
        assert!(text.starts_with("Bcc: b@x.test\r\nFrom: a@x.test\r\n"), "{text}");
        assert!(
            !text.contains("quoted-printable") && text.contains("X-Part: 1\r\n\r\nR3LDvMOfZSE=\r\n--m\r\n")
        );
        let (before, after) = (message(LETTER.as_bytes()).unwrap(), message(&written).unwrap());
        assert_eq!(
            (before.text, before.message.attachments.len()),
            (after.text, after.message.attachments.len())
        );
    }

    #[test]
    fn files_are_left_out() {
        let raw = LETTER.as_bytes();
        let parts = file_parts(raw);
        let without = |left_out: &[&FilePart]| message(&rewritten(raw, "", left_out)).unwrap();
        let one = without(&[&parts[0]]);
        assert_eq!((one.text.as_deref(), one.message.attachments.len()), (Some("Gr\u{fc}\u{df}e!"), 1));
        let none = without(&[&parts[0], &parts[1]]);
        assert_eq!((none.text.as_deref(), none.message.attachments.len()), (Some("Gr\u{fc}\u{df}e!"), 0));
    }

    /// Changing the encoding of a signed part would break its signature.
    #[test]
    fn what_is_signed_stays_as_it_is() {
        let raw = b"Content-Type: multipart/signed; boundary=s\r\n\r\n--s\r\nContent-Type: multipart/mixed; boundary=m\r\n\r\n\
            --m\r\nContent-Type: text/plain\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n=C3=BC\r\n\
            --m\r\nContent-Type: application/x\r\n\r\nabc\r\n--m--\r\n\
            --s\r\nContent-Type: application/pgp-signature\r\n\r\nabc\r\n--s--\r\n";
        let written = rewritten(raw, "Bcc: b@x.test\r\n", &[]);
        assert_eq!(written, [b"Bcc: b@x.test\r\n".as_slice(), raw.as_slice()].concat());
        assert!(file_parts(raw).iter().all(|part| !part.can_be_left_out));
    }

    /// A multipart must have at least one part.
    #[test]
    fn the_last_part_is_replaced() {
        let raw = b"Content-Type: multipart/mixed; boundary=m\r\n\r\n--m\r\nContent-Type: application/x\r\n\r\nabc\r\n\
            --m\r\nContent-Type: application/y\r\n\r\nabc\r\n--m--\r\n";
        let parts = file_parts(raw);
        let written = rewritten(raw, "", &parts.iter().collect::<Vec<_>>());
        let text = String::from_utf8(written).unwrap();
        let expected = "Content-Type: multipart/mixed; boundary=m\r\n\r\n--m\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n\
            \r\n--m--\r\n";
        assert_eq!(text, expected);
    }
}
