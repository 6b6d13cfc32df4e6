//! A small blocking IMAP client, which plays another program that uses the mailbox.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A connection to a server, logged in.
pub struct Imap {
    reader: BufReader<TcpStream>,
}

/// A message as stored by the server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stored {
    pub folder: String,
    pub uid: u32,
    /// The Message-ID without angle brackets; empty if there is none.
    pub message_id: String,
    /// Flags in lower case, sorted, without `\recent`.
    pub flags: Vec<String>,
}

impl Imap {
    /// Logs in to a server on this machine.
    pub fn login(port: u16, user: &str, password: &str) -> Imap {
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("the IMAP server answers");
        stream.set_nodelay(true).expect("a socket");
        stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a socket");
        let mut imap = Imap { reader: BufReader::new(stream) };
        imap.line();
        imap.run(&format!("LOGIN {user} {password}"));
        imap
    }

    /// Returns a line of a response, with its literals.
    fn line(&mut self) -> String {
        let mut line = Vec::new();
        loop {
            let read = self.reader.read_until(b'\n', &mut line).expect("the IMAP server goes on");
            assert!(read > 0, "the IMAP server is gone after {}", String::from_utf8_lossy(&line));
            let Some(length) = literal(&line) else { break };
            let mut rest = vec![0; length];
            self.reader.read_exact(&mut rest).expect("a literal");
            line.extend(rest);
        }
        String::from_utf8_lossy(&line).trim_end().to_owned()
    }

    fn answer(&mut self) -> Result<Vec<String>, String> {
        let mut lines = Vec::new();
        loop {
            let line = self.line();
            if line.starts_with("t ") {
                return if line.starts_with("t OK") { Ok(lines) } else { Err(line) };
            }
            lines.push(line);
        }
    }

    /// Runs a command; returns the lines of the response, or the error text of a refusal.
    pub fn try_run(&mut self, command: &str) -> Result<Vec<String>, String> {
        self.reader.get_mut().write_all(format!("t {command}\r\n").as_bytes()).expect("it is written");
        self.answer()
    }

    /// Runs a command that must succeed.
    #[track_caller]
    pub fn run(&mut self, command: &str) -> Vec<String> {
        self.try_run(command).unwrap_or_else(|refusal| panic!("{command}: {refusal}"))
    }

    /// Stores a message. `flags` in IMAP syntax: `\Seen \Flagged`. `at`: the internal date, ms since 1970.
    pub fn append(&mut self, folder: &str, flags: &str, at: Option<i64>, raw: &str) {
        self.append_bytes(folder, flags, at, raw.as_bytes());
    }

    /// Stores a message that is not UTF-8.
    pub fn append_bytes(&mut self, folder: &str, flags: &str, at: Option<i64>, raw: &[u8]) {
        let date = at.map(|ms| {
            let at = jiff::Timestamp::from_millisecond(ms).expect("a time");
            format!("\"{}\" ", at.strftime("%d-%b-%Y %H:%M:%S +0000"))
        });
        let head =
            format!("t APPEND \"{folder}\" ({flags}) {}{{{}+}}\r\n", date.unwrap_or_default(), raw.len());
        let stream = self.reader.get_mut();
        stream.write_all(&[head.as_bytes(), raw, b"\r\n"].concat()).expect("it is written");
        self.answer().unwrap_or_else(|refusal| panic!("APPEND to {folder}: {refusal}"));
    }

    /// Returns the names of all selectable mailboxes.
    pub fn folders(&mut self) -> Vec<String> {
        let lines = self.run("LIST \"\" \"*\"");
        // A server may also report changes in the selected mailbox.
        let listed = lines.iter().filter(|line| line.starts_with("* LIST "));
        let listed = listed.filter(|line| !line.to_lowercase().contains("\\noselect"));
        listed
            .filter_map(|line| line.rsplit_once(' '))
            .map(|(_, name)| name.trim_matches('"').to_owned())
            .collect()
    }

    /// Returns all messages of a mailbox.
    pub fn messages(&mut self, folder: &str) -> Vec<Stored> {
        self.run(&format!("EXAMINE \"{folder}\""));
        let found = self.run("UID FETCH 1:* (UID FLAGS BODY.PEEK[HEADER.FIELDS (MESSAGE-ID)])");
        found
            .iter()
            .filter(|line| line.contains(" FETCH ") && line.contains("HEADER.FIELDS"))
            .map(|line| stored(folder, line))
            .collect()
    }

    /// Returns all messages of all mailboxes.
    pub fn all(&mut self) -> Vec<Stored> {
        self.folders().iter().flat_map(|folder| self.messages(folder)).collect()
    }

    /// Returns the messages with this Message-ID.
    pub fn find(&mut self, message_id: &str) -> Vec<Stored> {
        self.all().into_iter().filter(|stored| stored.message_id == message_id).collect()
    }

    /// Returns the bytes of a message.
    pub fn raw(&mut self, stored: &Stored) -> String {
        self.run(&format!("EXAMINE \"{}\"", stored.folder));
        let lines = self.run(&format!("UID FETCH {} BODY.PEEK[]", stored.uid));
        let line = lines.into_iter().find(|line| line.contains("BODY[]")).expect("the message");
        line.split_once("}\r\n").expect("a literal").1.trim_end_matches(')').to_owned()
    }

    /// Changes flags: `+FLAGS (\Seen)` and the like.
    pub fn store(&mut self, stored: &Stored, change: &str) {
        self.run(&format!("SELECT \"{}\"", stored.folder));
        self.run(&format!("UID STORE {} {change}", stored.uid));
    }

    pub fn r#move(&mut self, stored: &Stored, folder: &str) {
        self.run(&format!("SELECT \"{}\"", stored.folder));
        self.run(&format!("UID MOVE {} \"{folder}\"", stored.uid));
    }

    pub fn destroy(&mut self, stored: &Stored) {
        self.store(stored, "+FLAGS.SILENT (\\Deleted)");
        self.run(&format!("UID EXPUNGE {}", stored.uid));
    }

    /// Deletes a mailbox. Cyrus keeps deleted mailboxes under their name and the second: a second deletion of a name in one second gets
    /// another name first.
    fn drop_mailbox(&mut self, name: &str) {
        if self.try_run(&format!("DELETE \"{name}\"")).is_err() {
            static NUMBER: AtomicUsize = AtomicUsize::new(0);
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let other = format!("{name}-{}-{number}", std::process::id());
            self.run(&format!("RENAME \"{name}\" \"{other}\""));
            self.run(&format!("DELETE \"{other}\""));
        }
    }

    /// Deletes every message, and every mailbox that is not one of these.
    pub fn empty(&mut self, kept: &[&str]) {
        for folder in self.folders().iter().rev() {
            if !kept.contains(&folder.as_str()) {
                self.drop_mailbox(folder);
                continue;
            }
            self.run(&format!("SELECT \"{folder}\""));
            self.run("UID STORE 1:* +FLAGS.SILENT (\\Deleted)");
            self.run("EXPUNGE");
            self.run("UNSELECT");
        }
    }
}

/// Returns the length of the literal that a line announces at its end.
fn literal(line: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(line.strip_suffix(b"}\r\n")?.rsplit(|b| *b == b'{').next()?).ok()?;
    text.parse().ok()
}

fn stored(folder: &str, line: &str) -> Stored {
    let after = |mark: &str| line.split_once(mark).map(|(_, rest)| rest).unwrap_or_default();
    let uid = after("UID ").split([' ', ')']).next().and_then(|uid| uid.parse().ok());
    let flags = after("FLAGS (").split(')').next().unwrap_or_default();
    let mut flags: Vec<String> = flags.split(' ').filter(|f| !f.is_empty()).map(str::to_lowercase).collect();
    flags.retain(|flag| flag != "\\recent");
    flags.sort();
    let message_id = after("}\r\n").split_once('<').and_then(|(_, rest)| rest.split_once('>'));
    Stored {
        folder: folder.to_owned(),
        uid: uid.unwrap_or_else(|| panic!("no UID in {line}")),
        message_id: message_id.map(|(id, _)| id.to_owned()).unwrap_or_default(),
        flags,
    }
}
