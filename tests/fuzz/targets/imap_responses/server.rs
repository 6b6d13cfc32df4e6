//! A server that sends given data, whatever is asked of it, in odd pieces; at its end the connection is closed.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use connector_sdk::http::{Http, Request, Response, SendError};
use connector_sdk::tcp::{Line, TcpBlob, TcpError, TcpSegment};
use connector_sdk::{Host, Level};

/// The state that all connections of a run share.
struct State {
    words: Vec<u8>,
    at: usize,
    random: u64,
    capabilities: Vec<String>,
    notes: Vec<String>,
    blobs: Vec<Vec<u8>>,
}

/// The server, which is also the host's network.
pub struct Server(Rc<RefCell<State>>);

impl Server {
    /// A server that sends `words`, with `@ ` at the start of a line replaced by the tag of the first command that has no answer yet.
    /// `seed` decides the pieces.
    pub fn new(words: &[u8], seed: u8, capabilities: Vec<String>) -> Self {
        let (words, random) = (words.to_vec(), u64::from(seed));
        Server(Rc::new(RefCell::new(State {
            words,
            at: 0,
            random,
            capabilities,
            notes: Vec::new(),
            blobs: Vec::new(),
        })))
    }
}

impl State {
    /// SplitMix64.
    fn random(&mut self) -> usize {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.random ^ (self.random >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        usize::try_from((z ^ (z >> 27)) >> 40).unwrap_or(0)
    }

    fn blob(&self, id: &str) -> Option<&Vec<u8>> {
        self.blobs.get(id.strip_prefix("blob")?.parse::<usize>().ok()?)
    }

    fn new_blob(&mut self, content: Vec<u8>) -> String {
        self.blobs.push(content);
        format!("blob{}", self.blobs.len() - 1)
    }

    /// Returns the next data, at most this many bytes, with a tag in place of `@`.
    fn take(&mut self, max: usize, tags: &mut VecDeque<String>) -> Vec<u8> {
        let is_start = |at: usize| at == 0 || self.words.get(at - 1) == Some(&b'\n');
        let is_mark = |at: usize| is_start(at) && self.words.get(at..at + 2) == Some(b"@ ");
        if is_mark(self.at) {
            self.at += 1;
            return tags.pop_front().unwrap_or_else(|| "s0".to_owned()).into_bytes();
        }
        let end = self.at.saturating_add(max).min(self.words.len());
        let end = (self.at + 1..end).find(|at| is_mark(*at)).unwrap_or(end);
        let taken = self.words.get(self.at..end).unwrap_or_default().to_vec();
        self.at = end;
        taken
    }
}

struct FuzzedLine {
    state: Rc<RefCell<State>>,
    note: Option<String>,
    is_imap: bool,
    written: Vec<u8>,
    /// Tags of commands without an answer.
    tags: VecDeque<String>,
}

impl FuzzedLine {
    /// Takes whole commands off the written data. No data of a server or a user may have begun one.
    fn commands(&mut self) {
        while let Some(len) = self.command() {
            let line: Vec<u8> = self.written.drain(..len).collect();
            let tag: Vec<u8> = line.iter().copied().take_while(|byte| *byte != b' ').collect();
            let number = tag.strip_prefix(b"s").unwrap_or_default();
            let is_tag = !number.is_empty() && number.iter().all(u8::is_ascii_digit);
            assert!(is_tag, "no command of ours: {:?}", String::from_utf8_lossy(&line));
            self.tags.push_back(String::from_utf8_lossy(&tag).into_owned());
        }
    }

    /// Returns the length of the first command, if it is complete, with its literals.
    fn command(&self) -> Option<usize> {
        let mut at = 0;
        loop {
            let rest = self.written.get(at..)?;
            let end = rest.iter().position(|byte| *byte == b'\n')?;
            let line = rest.get(..end)?.strip_suffix(b"\r").expect("lines end with CRLF");
            assert!(!line.contains(&b'\r') && !line.contains(&0), "a line break or a NUL in a command");
            let text = String::from_utf8_lossy(line);
            let literal = text.strip_suffix('}').and_then(|text| text.rsplit_once('{'));
            let len = literal.and_then(|(_, len)| len.trim_end_matches('+').parse::<usize>().ok());
            at += end + 1;
            match len {
                Some(len) => at += len,
                None => return Some(at),
            }
        }
    }
}

impl Line for FuzzedLine {
    fn capabilities(&self) -> Vec<String> {
        self.state.borrow().capabilities.clone()
    }

    fn note(&self) -> Option<String> {
        self.note.clone()
    }

    fn read(&mut self, max: u32) -> Result<Vec<u8>, TcpError> {
        let mut state = self.state.borrow_mut();
        let most = match state.random() {
            random if random % 4 == 0 => 1 + random / 4 % 3,
            random => 1 + random / 4 % 200,
        };
        let words = state.take(most.min(max as usize), &mut self.tags);
        if words.is_empty() { Err(TcpError::new("closed", "there is no more")) } else { Ok(words) }
    }

    fn write(&mut self, segments: Vec<TcpSegment>) -> Result<(), TcpError> {
        let state = self.state.borrow();
        for segment in segments {
            match segment {
                TcpSegment::Bytes(bytes) => self.written.extend(bytes),
                TcpSegment::Blob(id) | TcpSegment::BlobDotStuffed(id) => {
                    self.written.extend(state.blob(&id).expect("only blobs that exist are written"));
                }
            }
        }
        drop(state);
        if self.is_imap {
            self.commands();
        }
        Ok(())
    }

    fn read_to_blob(&mut self, head: &[u8], len: u64, decode: &str) -> Result<TcpBlob, TcpError> {
        let mut state = self.state.borrow_mut();
        let end = usize::try_from(len).ok().and_then(|len| state.at.checked_add(len));
        let end = end.filter(|end| *end <= state.words.len());
        let end = end.ok_or_else(|| TcpError::new("closed", "there is no more"))?;
        let mut bytes = head.to_vec();
        bytes.extend(state.words.get(state.at..end).unwrap_or_default());
        state.at = end;
        let header = format!("Content-Type: a/b\r\nContent-Transfer-Encoding: {decode}\r\n\r\n");
        let content = if decode == "raw" { bytes } else { mail::read::part(header.as_bytes(), &bytes).bytes };
        let size = content.len() as u64;
        Ok(TcpBlob { id: state.new_blob(content), size })
    }

    fn keep(&mut self, note: &str) {
        assert!(self.tags.is_empty() || !self.is_imap || note.len() > 1, "kept with a note");
        self.state.borrow_mut().notes.push(note.to_owned());
    }
}

impl Http for Server {
    fn send(&self, _: Request) -> Result<Response, SendError> {
        Err(SendError::new("denied", "there is no HTTP here"))
    }
}

impl Host for Server {
    fn now_ms(&self) -> i64 {
        1_772_323_200_000
    }

    fn random_bytes(&self, len: u32) -> Vec<u8> {
        vec![7; len as usize]
    }

    fn log(&self, _: Level, _: &str, _: &[(&str, String)]) {}

    fn read_blob(&self, id: &str, offset: u64, len: u32) -> Option<Vec<u8>> {
        let state = self.0.borrow();
        let rest = state.blob(id)?.get(usize::try_from(offset).ok()?..)?;
        Some(rest.get(..len as usize).unwrap_or(rest).to_vec())
    }

    fn create_blob(&self, content: &[u8], _: Option<&str>) -> Option<String> {
        Some(self.0.borrow_mut().new_blob(content.to_vec()))
    }

    fn blob_size(&self, id: &str) -> Option<u64> {
        self.0.borrow().blob(id).map(|content| content.len() as u64)
    }

    fn open_line(&self, _: &str, protocol: &str) -> Result<Box<dyn Line>, TcpError> {
        let note = self.0.borrow_mut().notes.pop();
        let state = Rc::clone(&self.0);
        let is_imap = protocol == "imap";
        Ok(Box::new(FuzzedLine { state, note, is_imap, written: Vec::new(), tags: VecDeque::new() }))
    }
}
