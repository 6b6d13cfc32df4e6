//! A scripted server: each command that is expected, with its answer. Its answers come in pieces of whatever
//! size, and every command that comes unexpected fails the test.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use connector_sdk::http::{Http, Request, Response, SendError};
use connector_sdk::tcp::{Line, TcpBlob, TcpError, TcpSegment};
use connector_sdk::{Context, Host, Level};
use model::wire::Connection;

use crate::blobs::Blobs;

/// The next step on a connection.
#[derive(Clone, Debug)]
pub enum Step {
    /// The command, without its tag, and the answer; `@` at the start of a line of it stands for the tag. Line breaks are `\n` in both.
    Answer(String, String),
    /// The server closes the connection.
    Close,
}

/// A command and its answer.
pub fn answer(command: &str, answer: &str) -> Step {
    Step::Answer(command.to_owned(), answer.to_owned())
}

/// A connection that will be opened: its protocol, the server's capabilities, the note it was kept with, and its steps.
type Planned = (String, Vec<String>, Option<String>, VecDeque<Step>);

/// Lines in the order in which they are opened, each with its capabilities and its steps.
#[derive(Default)]
pub struct Script {
    lines: RefCell<VecDeque<Planned>>,
    pub blobs: Rc<Blobs>,
    /// Notes of lines that were kept, and what the connector logged and reached.
    pub notes: Rc<RefCell<Vec<String>>>,
    pub log: RefCell<Vec<String>>,
    pub reached: Rc<RefCell<Vec<String>>>,
    seed: u64,
}

impl Script {
    /// Pieces of what the server says depend on the seed.
    pub fn new(seed: u64) -> Self {
        let mut script = Script::default();
        script.seed = seed;
        script
    }

    /// The next line that is opened.
    pub fn line(self, protocol: &str, capabilities: &str, steps: impl IntoIterator<Item = Step>) -> Self {
        self.kept_line(protocol, capabilities, None, steps)
    }

    /// The next line, one that was kept with this note.
    pub fn kept_line(
        self,
        protocol: &str,
        capabilities: &str,
        note: Option<&str>,
        steps: impl IntoIterator<Item = Step>,
    ) -> Self {
        let capabilities = capabilities.split(['\n', ';']).map(str::to_owned).collect();
        let line = (protocol.to_owned(), capabilities, note.map(str::to_owned), steps.into_iter().collect());
        self.lines.borrow_mut().push_back(line);
        self
    }

    pub fn cx(&self) -> Context<'_> {
        let username = Some("ann@example.test".to_owned());
        Context::new(self, Connection { username, ..Connection::default() })
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert!(self.lines.borrow().is_empty(), "a line that nobody opened");
        }
    }
}

struct ScriptedLine {
    protocol: String,
    capabilities: Vec<String>,
    note: Option<String>,
    steps: VecDeque<Step>,
    written: Vec<u8>,
    to_read: VecDeque<u8>,
    is_closed: bool,
    random: u64,
    blobs: Rc<Blobs>,
    notes: Rc<RefCell<Vec<String>>>,
}

/// A search for messages that are marked as deleted, where the test says nothing of any: there are none.
fn finds_nothing_marked(command: &str, next: Option<&Step>) -> bool {
    let command = command.trim_end();
    let is_said = matches!(next, Some(Step::Answer(expected, _)) if expected == command);
    let is_search = command.starts_with("UID SEARCH ");
    is_search && !is_said && (command.ends_with(" DELETED") || command.ends_with(" DELETED UNSEEN"))
}

impl ScriptedLine {
    /// Answers every whole command that was written.
    fn answer(&mut self) {
        loop {
            let Some((command, len)) = self.command() else {
                self.is_closed |= matches!(self.steps.front(), Some(Step::Close));
                return;
            };
            let (tag, text) = match self.protocol.as_str() {
                "imap" => command.split_once(' ').expect("a command has a tag"),
                _ => ("", command.as_str()),
            };
            if finds_nothing_marked(text, self.steps.front()) {
                self.to_read.extend(format!("{tag} OK done\r\n").as_bytes());
                self.written.drain(..len);
                continue;
            }
            if let Some(Step::Close) = self.steps.front() {
                self.is_closed = true;
                return;
            }
            let Some(Step::Answer(expected, said)) = self.steps.pop_front() else {
                panic!("unexpected: {text}");
            };
            assert_eq!(text.replace("\r\n", "\n").trim_end_matches('\n'), expected);
            self.written.drain(..len);
            let tagged = |line: &str| match line.strip_prefix("@ ") {
                Some(rest) => format!("{tag} {rest}"),
                None => line.to_owned(),
            };
            let said: String = said.split_inclusive('\n').map(tagged).collect();
            let said = said.replace('\n', "\r\n");
            self.to_read.extend(said.as_bytes());
        }
    }

    /// The first command that was written, if all of it is there, and its length.
    fn command(&mut self) -> Option<(String, usize)> {
        let text = self.written.clone();
        let mut at = 0;
        loop {
            let end = at + text.get(at..)?.iter().position(|byte| *byte == b'\n')? + 1;
            let line = String::from_utf8_lossy(&text[at..end]).into_owned();
            let literal = line.trim_end().strip_suffix('}').and_then(|line| line.rsplit_once('{'));
            let literal = literal.filter(|_| self.protocol == "imap");
            let Some((_, len)) = literal else {
                return Some((String::from_utf8_lossy(&text[..end]).into_owned(), end));
            };
            let size: usize = len.trim_end_matches('+').parse().unwrap();
            if !len.ends_with('+') && end == text.len() {
                self.to_read.extend(b"+ go on\r\n");
            }
            at = end + size;
        }
    }

    /// SplitMix64.
    fn random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.random ^ (self.random >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB) >> 33
    }
}

impl Line for ScriptedLine {
    fn capabilities(&self) -> Vec<String> {
        self.capabilities.clone()
    }

    fn note(&self) -> Option<String> {
        self.note.clone()
    }

    fn read(&mut self, max: u32) -> Result<Vec<u8>, TcpError> {
        self.answer();
        if self.to_read.is_empty() {
            assert!(self.is_closed, "the connector waits for what never comes: {:?}", self.steps);
            return Err(TcpError::new("closed", "the server ended the line"));
        }
        let most = 1 + usize::try_from(self.random() % 40).unwrap();
        let count = most.min(max as usize).min(self.to_read.len());
        Ok(self.to_read.drain(..count).collect())
    }

    fn write(&mut self, segments: Vec<TcpSegment>) -> Result<(), TcpError> {
        self.written.extend(self.blobs.bytes(&segments));
        self.answer();
        Ok(())
    }

    fn read_to_blob(&mut self, head: &[u8], len: u64, decode: &str) -> Result<TcpBlob, TcpError> {
        let mut bytes = head.to_vec();
        for _ in 0..len {
            bytes.push(self.to_read.pop_front().expect("the literal is there"));
        }
        Ok(self.blobs.decoded(&bytes, decode))
    }

    fn keep(&mut self, note: &str) {
        assert!(self.to_read.is_empty(), "a line is kept with an answer under way");
        self.notes.borrow_mut().push(note.to_owned());
    }
}

impl Drop for ScriptedLine {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let left: Vec<&Step> = self.steps.iter().filter(|step| !matches!(step, Step::Close)).collect();
            assert!(left.is_empty(), "commands that never came: {left:?}");
        }
    }
}

impl Http for Script {
    fn send(&self, _: Request) -> Result<Response, SendError> {
        Err(SendError::new("denied", "there is no HTTP here"))
    }
}

impl Host for Script {
    fn now_ms(&self) -> i64 {
        1_772_323_200_000
    }

    fn random_bytes(&self, len: u32) -> Vec<u8> {
        vec![7; len as usize]
    }

    fn log(&self, _: Level, message: &str, fields: &[(&str, String)]) {
        self.log.borrow_mut().push(format!("{message} {fields:?}"));
    }

    fn read_blob(&self, id: &str, offset: u64, len: u32) -> Option<Vec<u8>> {
        self.blobs.read(id, offset, len)
    }

    fn create_blob(&self, content: &[u8], _: Option<&str>) -> Option<String> {
        Some(self.blobs.create(content))
    }

    fn blob_size(&self, id: &str) -> Option<u64> {
        self.blobs.content(id).map(|content| content.len() as u64)
    }

    fn open_line(&self, server: &str, protocol: &str) -> Result<Box<dyn Line>, TcpError> {
        assert_eq!(server, protocol);
        let next = self.lines.borrow_mut().pop_front();
        let (expected, capabilities, note, steps) = next.expect("no more lines are expected");
        if expected == "none" {
            return Err(TcpError::new("connect", "the server does not answer"));
        }
        assert_eq!(expected, protocol);
        Ok(Box::new(ScriptedLine {
            protocol: expected,
            capabilities,
            note,
            steps,
            written: Vec::new(),
            to_read: VecDeque::new(),
            is_closed: false,
            random: self.seed,
            blobs: Rc::clone(&self.blobs),
            notes: Rc::clone(&self.notes),
        }))
    }

    fn reached(&self, step: &str) {
        self.reached.borrow_mut().push(step.to_owned());
    }
}
