//! The native side of the benchmark of first readings: a client that fetches every message of the inbox, as this connector does and with
//! its protocol code, and does nothing with them. `native_imap PORT USER PASSWORD`; prints how many there were and the seconds that it took.

use std::cell::RefCell;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use connector_imap::imap::commands::{Items, everything, uid_fetch};
use connector_imap::imap::session::Session;
use connector_imap::imap::structure;
use connector_imap::imap::uids::UidSet;
use connector_imap::imap::visit::{Access, Visit, fetched};
use connector_imap::{message, mime};
use connector_sdk::http::{Http, Request, Response, SendError};
use connector_sdk::tcp::{Line, TcpError, TcpSegment};
use connector_sdk::{Context, Host, Level};
use io_imap::types::fetch::MessageDataItemName;
use model::wire::Connection;

/// Messages of one command.
const PAGE: u64 = 200;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut next = |what: &str| arguments.next().unwrap_or_else(|| panic!("{what} is missing"));
    let (port, user, password) = (next("the port"), next("the user"), next("the password"));
    let port = port.parse().expect("a port");
    let server = Server(RefCell::new(Some(Socket::open(port, &user, &password))));
    let cx = Context::new(&server, Connection::default());
    let start = Instant::now();
    let count = read(&mut Session::open(&cx).expect("a session"));
    println!("{count} {}", start.elapsed().as_secs_f64());
}

/// Lists what there is, then reads it from new to old.
fn read(session: &mut Session) -> u64 {
    let mut left = UidSet::new();
    let list = vec![uid_fetch(everything(), Items::new([MessageDataItemName::InternalDate]), None)];
    let all = Visit::new("INBOX", Access::Read, list);
    let listed = session.visit(&[all], None, |_, _, _, response| {
        if let Some((uid, _)) = fetched(response) {
            left.insert(uid);
        }
    });
    listed.expect("the inbox is listed");
    let items = message::list_items(&session.capabilities);
    let (mut count, mut size) = (0, 0);
    while !left.is_empty() {
        let fetch = uid_fetch(&left.take_last(PAGE), items.clone(), None);
        let visit = Visit::new("INBOX", Access::Read, vec![fetch]);
        let done = session.visit(&[visit], None, |_, _, _, response| {
            let Some((_, fetched)) = fetched(response) else { return };
            let Some(header) = fetched.header() else { return };
            let mut message = mime::message(header, fetched.section("TEXT"));
            if let Some(value) = &fetched.structure {
                mime::fill(&mut message, &structure::read(value));
            }
            size += message.snippet.len() + message.attachments.len();
            count += 1;
        });
        done.expect("a page is read");
    }
    assert!(size > 0, "the messages are empty");
    count
}

/// A line to the server on this machine, logged in.
struct Socket {
    stream: TcpStream,
    capabilities: Vec<String>,
}

impl Socket {
    fn open(port: u16, user: &str, password: &str) -> Socket {
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("the server answers");
        stream.set_nodelay(true).expect("a socket");
        let mut socket = Socket { stream, capabilities: Vec::new() };
        socket.answer(None);
        socket.answer(Some(&format!("LOGIN {user} {password}")));
        let words = socket.answer(Some("CAPABILITY"));
        let words = words.lines().find_map(|line| line.strip_prefix("* CAPABILITY ")).unwrap_or_default();
        socket.capabilities = words.split(' ').map(|word| word.trim().to_owned()).collect();
        socket
    }

    /// Returns the server's responses to a command until its end; without a command, the greeting.
    fn answer(&mut self, command: Option<&str>) -> String {
        if let Some(command) = command {
            self.stream.write_all(format!("t {command}\r\n").as_bytes()).expect("the server listens");
        }
        let mut said = String::new();
        let mut buffer = [0; 4096];
        loop {
            let count = self.stream.read(&mut buffer).expect("the server answers");
            assert!(count > 0, "the server ended the line: {said}");
            said.push_str(&String::from_utf8_lossy(buffer.get(..count).unwrap_or_default()));
            let last = said.lines().last().unwrap_or_default();
            if said.ends_with('\n') && (command.is_none() || last.starts_with("t ")) {
                assert!(command.is_none() || last.starts_with("t OK"), "{last}");
                return said;
            }
        }
    }
}

impl Line for Socket {
    fn capabilities(&self) -> Vec<String> {
        self.capabilities.clone()
    }

    fn note(&self) -> Option<String> {
        None
    }

    fn read(&mut self, max: u32) -> Result<Vec<u8>, TcpError> {
        let mut buffer = vec![0; max as usize];
        let count = self.stream.read(&mut buffer).map_err(|e| TcpError::new("closed", e.to_string()))?;
        buffer.truncate(count);
        Ok(buffer)
    }

    fn write(&mut self, segments: Vec<TcpSegment>) -> Result<(), TcpError> {
        for segment in segments {
            let TcpSegment::Bytes(bytes) = segment else { continue };
            self.stream.write_all(&bytes).map_err(|e| TcpError::new("closed", e.to_string()))?;
        }
        Ok(())
    }
}

struct Server(RefCell<Option<Socket>>);

impl Http for Server {
    fn send(&self, _: Request) -> Result<Response, SendError> {
        Err(SendError::new("denied", "there is no HTTP here"))
    }
}

impl Host for Server {
    fn now_ms(&self) -> i64 {
        0
    }

    fn random_bytes(&self, len: u32) -> Vec<u8> {
        vec![0; len as usize]
    }

    fn log(&self, _: Level, _: &str, _: &[(&str, String)]) {}

    fn open_line(&self, _: &str, _: &str) -> Result<Box<dyn Line>, TcpError> {
        let socket = self.0.borrow_mut().take();
        socket
            .map(|socket| Box::new(socket) as Box<dyn Line>)
            .ok_or_else(|| TcpError::new("closed", "one line"))
    }
}
