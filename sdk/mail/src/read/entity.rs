//! The parts of a message: where each begins and ends (RFC 2046 5.1), found in one pass over the lines that begin with `--`.
//!
//! mail-parser's own message reader is not used: it searches for each boundary to the end of the message, nests messages without limit and
//! decodes every attachment. Here the time is linear in the length of the message, attachments are not decoded, and parts have IMAP's
//! section numbers and exact byte ranges.

use std::ops::Range;

use mail_parser::ContentType;
use memchr::memmem;

use crate::read::decode::Transfer;
use crate::read::field::{Field, fields, last};
use crate::read::limits::{BOUNDARY_BYTES, DEPTH, PARTS};

/// One part of a message. The first part is the message itself.
#[derive(Debug)]
pub struct Entity {
    /// The index of the multipart that contains the part.
    pub parent: Option<usize>,
    /// IMAP's section number (RFC 3501 6.4.5); empty for a message that is a multipart.
    pub section: String,
    pub header: Range<usize>,
    pub body: Range<usize>,
    pub kind: ContentDescription,
    pub children: Vec<usize>,
}

/// The description of a part's content in its header fields.
#[derive(Debug, Default)]
pub struct ContentDescription {
    /// The media type in lower case, such as `text/plain`.
    pub media_type: String,
    pub content_type: Option<ContentType<'static>>,
    pub disposition: Option<ContentType<'static>>,
    pub content_id: Option<String>,
    pub transfer: Transfer,
}

impl ContentDescription {
    /// Reads the description from the fields of a part. `default` is the default media type in its multipart (RFC 2045 5.2, RFC 2046
    /// 5.1.5).
    pub fn new(fields: &[Field<'_>], default: &str) -> ContentDescription {
        let parameters = |name| last(fields, name).and_then(|field| field.parameters());
        let content_type = parameters("content-type");
        let media_type = match &content_type {
            Some(named) => match named.subtype() {
                Some(subtype) => format!("{}/{subtype}", named.ctype()),
                // `Content-Type: text` is from the time before MIME.
                None if named.ctype() == "text" => "text/plain".to_owned(),
                None => "application/octet-stream".to_owned(),
            },
            None => default.to_owned(),
        };
        ContentDescription {
            media_type,
            content_type,
            disposition: parameters("content-disposition"),
            content_id: last(fields, "content-id")
                .map(|field| bare_id(&field.raw()))
                .filter(|id| !id.is_empty()),
            transfer: last(fields, "content-transfer-encoding")
                .map(|field| Transfer::from_name(&field.raw()))
                .unwrap_or_default(),
        }
    }

    /// A parameter of Content-Type.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.content_type.as_ref()?.attribute(name)
    }

    pub fn is_multipart(&self) -> bool {
        self.media_type.starts_with("multipart/")
    }

    /// The top-level type: the text before the slash.
    pub fn top(&self) -> &str {
        self.media_type.split('/').next().unwrap_or_default()
    }
}

fn bare_id(id: &str) -> String {
    id.trim_matches(['<', '>', ' ']).to_owned()
}

/// Returns the parts of a message in their order.
pub fn entities(raw: &[u8]) -> Vec<Entity> {
    let mut scan = Scan { raw, entities: Vec::new(), open: Vec::new(), reading: None };
    // Empty lines before the header are skipped.
    let mut at = raw.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    let mut parent = None;
    while let Some(next) = scan.entity(at, parent) {
        let Some((start, level)) = scan.next_delimiter(next) else { break };
        parent = Some(level);
        at = start;
    }
    scan.close(0, raw.len());
    scan.entities
}

/// A multipart whose closing delimiter has not been read yet.
struct Open {
    entity: usize,
    boundary: Vec<u8>,
}

struct Scan<'a> {
    raw: &'a [u8],
    entities: Vec<Entity>,
    open: Vec<Open>,
    /// The part whose end has not been read yet.
    reading: Option<usize>,
}

impl Scan<'_> {
    /// Reads the header of the part that begins at `start`, and returns the position of its body; none at the maximum number of parts.
    fn entity(&mut self, start: usize, parent: Option<usize>) -> Option<usize> {
        if self.entities.len() >= PARTS {
            return None;
        }
        let body = self.end_of_header(start);
        let header = self.raw.get(start..body).unwrap_or_default();
        let default = match parent.and_then(|parent| self.entities.get(parent)) {
            Some(parent) if parent.kind.media_type == "multipart/digest" => "message/rfc822",
            _ => "text/plain",
        };
        let kind = ContentDescription::new(&fields(header), default);
        let index = self.entities.len();
        let section = self.section(parent, &kind);
        if kind.is_multipart()
            && self.open.len() < DEPTH
            && let Some(boundary) = kind.parameter("boundary")
            && (1..=BOUNDARY_BYTES).contains(&boundary.len())
        {
            self.open.push(Open { entity: index, boundary: boundary.trim_ascii_end().as_bytes().to_vec() });
        }
        if let Some(parent) = parent.and_then(|parent| self.entities.get_mut(parent)) {
            parent.children.push(index);
        }
        let children = Vec::new();
        self.entities.push(Entity { parent, section, header: start..body, body: body..body, kind, children });
        self.reading = Some(index);
        Some(body)
    }

    fn section(&self, parent: Option<usize>, kind: &ContentDescription) -> String {
        match parent.and_then(|parent| self.entities.get(parent)) {
            None if kind.is_multipart() => String::new(),
            None => "1".to_owned(),
            Some(parent) if parent.section.is_empty() => (parent.children.len() + 1).to_string(),
            Some(parent) => format!("{}.{}", parent.section, parent.children.len() + 1),
        }
    }

    /// The position after the empty line that ends a header. A delimiter also ends a header; the part then has no body.
    fn end_of_header(&self, start: usize) -> usize {
        let mut line_start = start;
        let rest = self.raw.get(start..).unwrap_or_default();
        for line_end in memchr::memchr_iter(b'\n', rest) {
            let next = start + line_end + 1;
            match self.raw.get(line_start..next).unwrap_or_default() {
                b"\n" | b"\r\n" => return next,
                line if line.starts_with(b"--") && self.find_delimiter(line).is_some() => return line_start,
                _ => line_start = next,
            }
        }
        self.raw.len()
    }

    /// Finds the next delimiter of an open multipart, starting at the beginning of a line. Returns the start of the part after it, and the
    /// multipart's index.
    fn next_delimiter(&mut self, from: usize) -> Option<(usize, usize)> {
        let raw = self.raw;
        let mut at = from;
        while !self.open.is_empty() {
            let line_start = self.line_with_dashes(at)?;
            let rest = raw.get(line_start..)?;
            let line = rest.get(..memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1))?;
            at = line_start + line.len();
            if let Some((level, is_last)) = self.find_delimiter(line) {
                self.close(level + 1, line_start);
                if !is_last {
                    return Some((at, self.open.get(level)?.entity));
                }
                self.close(level, at);
            }
        }
        None
    }

    fn line_with_dashes(&self, from: usize) -> Option<usize> {
        let rest = self.raw.get(from..)?;
        if rest.starts_with(b"--") {
            return Some(from);
        }
        memmem::find(rest, b"\n--").map(|at| from + at + 1)
    }

    /// Returns the level of the innermost open multipart of which this line is a delimiter, and whether it is the closing one.
    fn find_delimiter(&self, line: &[u8]) -> Option<(usize, bool)> {
        let line = line.trim_ascii_end().strip_prefix(b"--")?;
        let closing = line.strip_suffix(b"--");
        self.open.iter().enumerate().rev().find_map(|(level, open)| {
            let is_last = closing == Some(open.boundary.as_slice());
            (is_last || line == open.boundary).then_some((level, is_last))
        })
    }

    /// Ends the open multiparts from this level on, and the current part. The line end before a delimiter belongs to the delimiter.
    fn close(&mut self, level: usize, end: usize) {
        let content_end = match self.raw.get(..end).unwrap_or_default() {
            [.., b'\r', b'\n'] if end < self.raw.len() => end - 2,
            [.., b'\n'] if end < self.raw.len() => end - 1,
            _ => end,
        };
        let multiparts = self.open.drain(level.min(self.open.len())..).map(|open| open.entity);
        for index in multiparts.chain(self.reading.take()) {
            if let Some(entity) = self.entities.get_mut(index) {
                entity.body.end = content_end.max(entity.body.start);
            }
        }
    }
}
