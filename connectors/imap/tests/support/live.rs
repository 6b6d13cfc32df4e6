//! A way to real servers over plain TCP, which does what the host does before it hands out a line: greeting, EHLO, login. Lines that the
//! connector keeps are handed out again.

#![expect(clippy::string_slice, reason = "a test cuts texts that it knows: a panic is the report")]

use std::cell::{Cell, RefCell};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::rc::Rc;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use connector_imap::Imap;
use connector_sdk::http::{Http, Request, Response, SendError};
use connector_sdk::tcp::{Line, TcpBlob, TcpError, TcpSegment};
use connector_sdk::{Context, Host, Level, Lifecycle as _};
use model::wire::{Account, Connection};
use serde_json::json;

use crate::blobs::Blobs;

/// An IMAP server and one to send through.
#[derive(Clone, Debug)]
pub struct Server {
    pub name: &'static str,
    pub imap_port: u16,
    pub smtp_port: u16,
    /// Domain of its users, in addresses and (if `full`) in logins.
    pub domain: &'static str,
    pub full: bool,
}

/// Tests that use the same account run one after the other.
pub fn alone(user: &str) -> MutexGuard<'static, ()> {
    static ACCOUNTS: [Mutex<()>; 3] = [const { Mutex::new(()) }; 3];
    let at = usize::from(*user.as_bytes().last().unwrap()) % ACCOUNTS.len();
    ACCOUNTS[at].lock().unwrap_or_else(PoisonError::into_inner)
}

fn port(variable: &str) -> Option<u16> {
    std::env::var(variable).ok()?.parse().ok()
}

/// The servers that are up.
pub fn servers() -> Vec<Server> {
    let up = std::env::var("PEERS_UP").unwrap_or_default();
    let is_up = |name: &str| up.split([' ', ',']).any(|peer| peer == name);
    let all = [
        ("dovecot", "exim", "DOVECOT_IMAP_PORT", "DOVECOT_SUBMISSION_PORT", "example.test", true),
        ("cyrus", "exim", "CYRUS_IMAP_PORT", "EXIM_PORT", "cyrus.test", false),
    ];
    let found: Vec<Server> = all
        .into_iter()
        .filter(|(name, smtp, ..)| is_up(name) && is_up(smtp))
        .filter_map(|(name, _, imap, smtp, domain, full)| {
            Some(Server { name, imap_port: port(imap)?, smtp_port: port(smtp)?, domain, full })
        })
        .collect();
    if found.len() < all.len() {
        let required = std::env::var("SWITCHBOARD_REQUIRE_PEERS").is_ok_and(|value| value == "1");
        assert!(!required, "dovecot, cyrus and exim must be up for this test");
        eprintln!("not run against every server: only {} of {} are up", found.len(), all.len());
    }
    found
}

type Kept = (String, TcpStream, Vec<String>, String);

/// One account on one server.
pub struct Live {
    pub server: Server,
    pub user: String,
    /// The user who sends; Exim does not take Cyrus's users.
    smtp_user: String,
    pub blobs: Rc<Blobs>,
    kept: Rc<RefCell<Vec<Kept>>>,
    /// Connections that were opened again.
    pub opened: Cell<usize>,
    pub reached: RefCell<Vec<String>>,
    pub lines: RefCell<Vec<String>>,
    pub connection: Connection,
    pub account: Account,
}

impl Live {
    pub fn open(server: &Server, user: &str) -> Live {
        let address = format!("{user}@{}", server.domain);
        let login = if server.full { address.clone() } else { user.to_owned() };
        let mut connection = Connection { username: Some(login.clone()), ..Connection::default() };
        let place = |port: u16| json!({ "host": "127.0.0.1", "port": port, "tls": "none" });
        connection.settings.insert("imap".into(), place(server.imap_port));
        connection.settings.insert("smtp".into(), place(server.smtp_port));
        connection.settings.insert("email".into(), json!(address));
        let mut live = Live {
            server: server.clone(),
            user: login,
            smtp_user: format!("{user}@example.test"),
            blobs: Rc::default(),
            kept: Rc::default(),
            opened: Cell::new(0),
            reached: RefCell::default(),
            lines: RefCell::default(),
            connection,
            account: Account::default(),
        };
        let account = Imap::check(&live.cx()).unwrap();
        live.connection.settings.extend(account.settings.clone());
        live.connection.addresses = account.email.iter().cloned().collect();
        live.account = account;
        live
    }

    pub fn cx(&self) -> Context<'_> {
        Context::new(self, self.connection.clone())
    }

    /// Closes the kept lines, as servers do with those that are idle for long.
    pub fn close_kept(&self) {
        for (_, stream, ..) in self.kept.borrow().iter() {
            stream.shutdown(std::net::Shutdown::Both).unwrap();
        }
    }

    /// A line of the test's own, logged in.
    pub fn other_client(&self) -> Wire {
        Wire::imap(self.server.imap_port, &self.user).0
    }
}

/// A TCP stream, read by lines.
pub struct Wire {
    reader: BufReader<TcpStream>,
}

impl Wire {
    fn connect(port: u16) -> Wire {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Wire { reader: BufReader::with_capacity(1, stream) }
    }

    fn line(&mut self) -> String {
        let mut line = Vec::new();
        self.reader.read_until(b'\n', &mut line).unwrap();
        String::from_utf8_lossy(&line).trim_end().to_owned()
    }

    pub fn send(&mut self, text: &str) {
        self.reader.get_mut().write_all(text.as_bytes()).unwrap();
    }

    /// One IMAP command that must succeed; its answer.
    pub fn run(&mut self, command: &str) -> Vec<String> {
        self.run_maybe(command).unwrap_or_else(|refusal| panic!("{command}: {refusal}"))
    }

    /// One IMAP command; its answer, or the refusal.
    pub fn run_maybe(&mut self, command: &str) -> Result<Vec<String>, String> {
        self.send(&format!("t {command}\r\n"));
        let mut lines = Vec::new();
        loop {
            let line = self.line();
            if line.starts_with("t ") {
                return if line.starts_with("t OK") { Ok(lines) } else { Err(line) };
            }
            assert!(!line.is_empty() || lines.len() < 10_000, "{command}: the server is gone");
            lines.push(line);
        }
    }

    /// Stores a message.
    pub fn append(&mut self, mailbox: &str, flags: &str, date: &str, message: &str) {
        let message = message.replace('\n', "\r\n");
        self.send(&format!(
            "t APPEND {mailbox} ({flags}) \"{date}\" {{{}+}}\r\n{message}\r\n",
            message.len()
        ));
        loop {
            let line = self.line();
            if line.starts_with("t ") {
                assert!(line.starts_with("t OK"), "{line}");
                return;
            }
        }
    }

    fn imap(port: u16, user: &str) -> (Wire, Vec<String>) {
        let mut wire = Wire::connect(port);
        wire.line();
        wire.run(&format!("LOGIN {user} secret"));
        let lines = wire.run("CAPABILITY");
        let words = lines.iter().find_map(|line| line.strip_prefix("* CAPABILITY ")).unwrap();
        let words = words.split(' ').map(str::to_owned).collect();
        (wire, words)
    }

    fn reply(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let line = self.line();
            let is_last = line.as_bytes().get(3) != Some(&b'-');
            lines.push(line);
            if is_last {
                return lines;
            }
        }
    }

    fn smtp(port: u16, user: &str) -> (Wire, Vec<String>) {
        let mut wire = Wire::connect(port);
        wire.reply();
        wire.send("EHLO test\r\n");
        let lines = wire.reply();
        let login = STANDARD.encode(format!("\0{user}\0secret"));
        wire.send(&format!("AUTH PLAIN {login}\r\n"));
        assert!(wire.reply()[0].starts_with("235"), "the login is refused");
        (wire, lines.iter().skip(1).map(|line| line[4..].to_owned()).collect())
    }
}

struct LiveLine {
    protocol: String,
    stream: TcpStream,
    capabilities: Vec<String>,
    note: Option<String>,
    blobs: Rc<Blobs>,
    kept: Rc<RefCell<Vec<Kept>>>,
}

fn io(error: std::io::Error) -> TcpError {
    let code = if error.kind() == std::io::ErrorKind::WouldBlock { "timeout" } else { "closed" };
    TcpError::new(code, error.to_string())
}

impl Line for LiveLine {
    fn capabilities(&self) -> Vec<String> {
        self.capabilities.clone()
    }

    fn note(&self) -> Option<String> {
        self.note.clone()
    }

    fn read(&mut self, max: u32) -> Result<Vec<u8>, TcpError> {
        let mut buffer = vec![0; max as usize];
        let count = self.stream.read(&mut buffer).map_err(io)?;
        buffer.truncate(count);
        if count == 0 { Err(TcpError::new("closed", "the server ended the line")) } else { Ok(buffer) }
    }

    fn write(&mut self, segments: Vec<TcpSegment>) -> Result<(), TcpError> {
        self.stream.write_all(&self.blobs.bytes(&segments)).map_err(io)
    }

    fn read_to_blob(&mut self, head: &[u8], len: u64, decode: &str) -> Result<TcpBlob, TcpError> {
        let mut bytes = head.to_vec();
        bytes.resize(head.len() + usize::try_from(len).unwrap(), 0);
        self.stream.read_exact(&mut bytes[head.len()..]).map_err(io)?;
        Ok(self.blobs.decoded(&bytes, decode))
    }

    fn keep(&mut self, note: &str) {
        let stream = self.stream.try_clone().unwrap();
        let kept = (self.protocol.clone(), stream, self.capabilities.clone(), note.to_owned());
        self.kept.borrow_mut().push(kept);
    }
}

impl Http for Live {
    fn send(&self, _: Request) -> Result<Response, SendError> {
        Err(SendError::new("denied", "there is no HTTP here"))
    }
}

impl Host for Live {
    fn now_ms(&self) -> i64 {
        1_772_323_200_000
    }

    fn random_bytes(&self, len: u32) -> Vec<u8> {
        vec![7; len as usize]
    }

    fn log(&self, level: Level, message: &str, _: &[(&str, String)]) {
        self.lines.borrow_mut().push(format!("{} {message}", level.as_str()));
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

    fn open_line(&self, _: &str, protocol: &str) -> Result<Box<dyn Line>, TcpError> {
        let mut kept = self.kept.borrow_mut();
        let at = kept.iter().position(|(known, ..)| known == protocol);
        let (stream, capabilities, note) = match at.map(|at| kept.remove(at)) {
            Some((_, stream, capabilities, note)) => (stream, capabilities, Some(note)),
            None => {
                self.opened.set(self.opened.get() + 1);
                let (wire, capabilities) = match protocol {
                    "imap" => Wire::imap(self.server.imap_port, &self.user),
                    _ => Wire::smtp(self.server.smtp_port, &self.smtp_user),
                };
                (wire.reader.into_inner(), capabilities, None)
            }
        };
        Ok(Box::new(LiveLine {
            protocol: protocol.to_owned(),
            stream,
            capabilities,
            note,
            blobs: Rc::clone(&self.blobs),
            kept: Rc::clone(&self.kept),
        }))
    }

    fn reached(&self, step: &str) {
        self.reached.borrow_mut().push(step.to_owned());
    }
}
