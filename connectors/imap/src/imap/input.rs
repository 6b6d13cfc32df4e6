//! The bytes that came from the server, cut into messages: lines with the literals that they announce.
//!
//! The crate's `Fragmentizer` does not serve: it waits for a literal after a status whose free text ends like an announcement
//! (`* OK try {12}`), and it holds every literal, where files go to blobs here.

use std::cell::Cell;

use connector_sdk::tcp::{Line, TcpBlob, TcpError};

use crate::imap::response::is_status;
use crate::imap::value::announced_literal;

/// The most bytes of one message in memory. Texts are requested in far smaller pieces, and files go to blobs.
const MAX_MESSAGE_BYTES: u64 = 24 << 20;

/// Bytes that are requested at a time.
const READ_BYTES: u32 = 256 << 10;

/// Takes a literal away from the message, to a blob.
pub struct Sink<'a> {
    /// The item at the end of the line, in upper case, before the announcement: `BODY[1.2]`.
    pub name: &'a str,
    /// As in `wit/tcp.wit`; may still change before the literal comes.
    pub decode: &'a Cell<&'static str>,
    /// The blob, once it was read.
    pub blob: Option<TcpBlob>,
}

/// Bytes that were read and not yet used.
#[derive(Default)]
pub struct Input {
    buffer: Vec<u8>,
    /// The offset of the next message.
    start: usize,
}

impl Input {
    /// Whether no bytes wait to be read.
    pub fn is_empty(&self) -> bool {
        self.start >= self.buffer.len()
    }

    /// The next whole message, from `start` to the end that is given. It stays in the buffer until the next call.
    pub fn message(
        &mut self,
        line: &mut dyn Line,
        own_tags: &str,
        mut sink: Option<&mut Sink<'_>>,
    ) -> Result<&[u8], TcpError> {
        self.compact();
        let start = self.start;
        let mut at = start;
        loop {
            let end = self.line_end(line, start, at)?;
            let text = self.buffer.get(at..end).unwrap_or_default();
            let literal =
                if at == start && is_status(text, Some(own_tags)) { None } else { announced_literal(text) };
            let Some((head, len)) = literal else {
                self.start = end;
                return Ok(self.buffer.get(start..end).unwrap_or_default());
            };
            if let Some(sink) = sink.as_deref_mut()
                && sink.blob.is_none()
                && is_named(text.get(..head).unwrap_or_default(), sink.name)
            {
                at = self.divert(line, (at + head, end), len, sink)?;
                continue;
            }
            if len.saturating_add((end - start) as u64) > MAX_MESSAGE_BYTES {
                return Err(too_large());
            }
            at = end.saturating_add(usize::try_from(len).map_err(|_| too_large())?);
            while self.buffer.len() < at {
                self.fill(line)?;
            }
        }
    }

    /// Drops used bytes before the next message, once it is worth the copying.
    fn compact(&mut self) {
        if self.is_empty() {
            self.buffer.clear();
            self.start = 0;
        } else if self.start > self.buffer.len() / 2 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
    }

    /// The end of the line that begins at `at`, its line break included.
    fn line_end(&mut self, line: &mut dyn Line, start: usize, at: usize) -> Result<usize, TcpError> {
        let mut seen = at;
        loop {
            let unseen = self.buffer.get(seen..).unwrap_or_default();
            if let Some(found) = unseen.iter().position(|byte| *byte == b'\n') {
                return Ok(seen + found + 1);
            }
            seen = self.buffer.len().max(at);
            if (seen - start) as u64 > MAX_MESSAGE_BYTES {
                return Err(too_large());
            }
            self.fill(line)?;
        }
    }

    fn fill(&mut self, line: &mut dyn Line) -> Result<(), TcpError> {
        let bytes = line.read(READ_BYTES)?;
        if bytes.is_empty() {
            return Err(TcpError::new("closed", "the server ended the session"));
        }
        self.buffer.extend_from_slice(&bytes);
        Ok(())
    }

    /// The literal of `len` bytes that follows `announcement` becomes a blob, and an empty string in the message. Returns where to
    /// read on.
    fn divert(
        &mut self,
        line: &mut dyn Line,
        announcement: (usize, usize),
        len: u64,
        sink: &mut Sink<'_>,
    ) -> Result<usize, TcpError> {
        let (from, end) = announcement;
        let here = self.buffer.len().saturating_sub(end);
        let taken = usize::try_from(len).unwrap_or(usize::MAX).min(here);
        let head = self.buffer.get(end..end + taken).unwrap_or_default().to_vec();
        sink.blob = Some(line.read_to_blob(&head, len - taken as u64, sink.decode.get())?);
        self.buffer.splice(from..end + taken, *b"\"\"");
        Ok(from + 2)
    }
}

fn is_named(text: &[u8], name: &str) -> bool {
    let text = text.strip_suffix(b" ").unwrap_or(text);
    let tail = text.len().checked_sub(name.len()).and_then(|from| text.get(from..));
    tail.is_some_and(|tail| tail.eq_ignore_ascii_case(name.as_bytes()))
}

fn too_large() -> TcpError {
    TcpError::new("too-large", "the server's answer is too large")
}
