//! An authenticated connection to an IMAP server: sends commands, pipelined if possible, and reads responses until all are completed. The
//! connection may be kept from an earlier call: if the server has closed it since, the first use fails and a new one replaces it.

use std::rc::Rc;

use connector_sdk::tcp::{Line, TcpError, TcpSegment};
use connector_sdk::{Context, Failure, Level, Outcome, code};
use io_imap::types::response::{Code, Data, StatusKind};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::imap::all_mail::AllMail;
use crate::imap::capabilities::Capabilities;
use crate::imap::command::{Command, Piece};
use crate::imap::commands;
use crate::imap::input::{Input, Sink};
use crate::imap::response::{Response, Status, is_other};
use crate::imap::selected::SelectedMailbox;

/// The prefix of tags; a number follows.
const TAG: &str = "s";

/// The maximum number of pipelined commands, and of their bytes: what the server and the network can buffer.
const MAX_UNDER_WAY: usize = 64;
const MAX_UNDER_WAY_BYTES: usize = 16 << 10;

/// The maximum number of kept connections, one after the other, that may turn out to be closed.
const MAX_REOPENED: u32 = 4;

/// The state of a kept connection, stored with it. Its member names are short.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Note {
    /// Capabilities.
    c: Capabilities,
    /// The mailbox that is selected.
    s: Option<SelectedMailbox>,
    /// Whether QRESYNC or CONDSTORE is enabled.
    e: bool,
    /// Gmail's All Mail mailbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    g: Option<AllMail>,
    /// Whether Gmail's mailboxes were listed; if All Mail is missing then, the account hides it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    l: bool,
}

/// A connection with its known state.
pub struct Session<'a> {
    pub cx: &'a Context<'a>,
    line: Box<dyn Line>,
    input: Input,
    last_tag: u32,
    pub capabilities: Capabilities,
    /// The selected mailbox; none after a failed selection.
    pub selected: Option<SelectedMailbox>,
    /// Gmail's All Mail mailbox, once the mailboxes were listed; none if there is none.
    pub all_mail: Option<Rc<AllMail>>,
    /// Whether Gmail's mailboxes were listed, even if All Mail is not among them.
    pub knows_all_mail: bool,
    /// Whether QRESYNC (else CONDSTORE) is enabled.
    pub enabled: bool,
    /// Whether the connection was kept and has not answered in this call yet.
    unproven: bool,
    /// Whether an answer was not read to its end, so that the connection is unusable.
    broken: bool,
    /// The number of responses that could not be parsed.
    skipped: u32,
    /// The number of connections that replaced closed ones.
    reopened: u32,
}

/// The receiver of responses: gets the number of the command that is being answered, and the response.
pub type Taker<'t> = &'t mut dyn FnMut(usize, &Response<'_>);

impl<'a> Session<'a> {
    /// Takes a kept connection, or opens a new one.
    pub fn open(cx: &'a Context<'a>) -> Outcome<Self> {
        let mut session = Session {
            cx,
            line: cx.open_line("imap", "imap")?,
            input: Input::default(),
            last_tag: 0,
            capabilities: Capabilities::default(),
            selected: None,
            all_mail: None,
            knows_all_mail: false,
            enabled: false,
            unproven: false,
            broken: false,
            skipped: 0,
            reopened: 0,
        };
        session.begin()?;
        Ok(session)
    }

    /// Restores the state of a kept connection; reads the capabilities of a new one.
    fn begin(&mut self) -> Outcome<()> {
        (self.input, self.broken) = (Input::default(), false);
        let note = self.line.note();
        self.unproven = note.is_some();
        let note = note.and_then(|note| serde_json::from_str::<Note>(&note).ok());
        match note.filter(|note| !note.c.is_empty()) {
            Some(note) => {
                (self.capabilities, self.selected, self.enabled) = (note.c, note.s, note.e);
                self.all_mail = note.g.map(Rc::new).or(self.all_mail.take());
                self.knows_all_mail |= note.l;
                Ok(())
            }
            None => {
                (self.selected, self.enabled) = (None, false);
                self.ask_capabilities()
            }
        }
    }

    fn ask_capabilities(&mut self) -> Outcome<()> {
        self.capabilities = Capabilities::new(self.line.capabilities());
        if self.capabilities.is_empty() {
            let mut found = Vec::new();
            self.exchange(&[commands::capability()], None, &mut |_, response| {
                if let Response::Data(Data::Capability(words)) = response {
                    found.extend(words.as_ref().iter().map(ToString::to_string));
                }
            })
            .map_err(Failure::from)?;
            self.capabilities = Capabilities::new(found);
        }
        Ok(())
    }

    /// Sends commands that do not depend on the selected mailbox, and waits for all of them. `take` gets every response except the tagged
    /// status of each command; those are returned in order.
    pub fn run(
        &mut self,
        commands: &[Command],
        mut take: impl FnMut(usize, &Response<'_>),
    ) -> Outcome<Vec<Status>> {
        loop {
            match self.exchange(commands, None, &mut take) {
                Err(lost) if self.can_reopen(&lost) => self.reopen()?,
                result => return Ok(result?),
            }
        }
    }

    /// The command that unselects the mailbox; none if none is selected or the server has no such command.
    pub fn unselect(&mut self) -> Outcome<Option<Command>> {
        if self.selected.is_none() {
            return Ok(None);
        }
        if self.capabilities.has_in_rev2("UNSELECT") {
            self.selected = None;
            return Ok(Some(commands::unselect()));
        }
        // The next best: NOOP makes the server check the mailbox.
        self.run(&[commands::noop()], |_, _| {})?;
        Ok(None)
    }

    /// Ensures that the connection is open before a command that must not be sent twice.
    pub fn prove(&mut self) -> Outcome<()> {
        if self.unproven {
            self.run(&[commands::noop()], |_, _| {})?;
        }
        Ok(())
    }

    /// Whether the connection was a kept one that turned out to be closed before it answered anything.
    pub fn can_reopen(&self, lost: &TcpError) -> bool {
        self.unproven && lost.code == "closed" && self.reopened < MAX_REOPENED
    }

    /// Opens another connection in place of a closed one.
    pub fn reopen(&mut self) -> Outcome<()> {
        self.reopened += 1;
        self.line = self.cx.open_line("imap", "imap")?;
        self.begin()
    }

    /// Sends the commands and reads until all are completed. A literal that `sink` names is stored in a blob.
    pub fn exchange(
        &mut self,
        commands: &[Command],
        mut sink: Option<&mut Sink<'_>>,
        take: Taker<'_>,
    ) -> Result<Vec<Status>, TcpError> {
        // Until everything is read, an error leaves the connection in the middle of an answer.
        let was_broken = std::mem::replace(&mut self.broken, true);
        let mut statuses = Vec::with_capacity(commands.len());
        let mut next = 0;
        while let Some(command) = commands.get(next) {
            if command.waits(&self.capabilities) {
                statuses.push(self.exchange_stepwise(command, next, take)?);
                next += 1;
                continue;
            }
            let (count, bytes) = self.batch(commands.get(next..).unwrap_or_default());
            let first = self.last_tag.wrapping_add(1);
            self.last_tag = self.last_tag.wrapping_add(u32::try_from(count).unwrap_or(0));
            self.line.write(bytes)?;
            let tags = (0..count).map(|at| first.wrapping_add(u32::try_from(at).unwrap_or(0)));
            let tags: Vec<String> = tags.map(|tag| format!("{TAG}{tag}")).collect();
            statuses.extend(self.until_done(&tags, next, sink.as_deref_mut(), take)?);
            next += count;
        }
        self.broken = was_broken;
        Ok(statuses)
    }

    /// The number of commands to send together, and their bytes with tags.
    fn batch(&self, commands: &[Command]) -> (usize, Vec<TcpSegment>) {
        let mut out = Vec::new();
        let mut text = Vec::new();
        let mut count = 0;
        for command in commands.iter().take(MAX_UNDER_WAY) {
            if count > 0 && (text.len() > MAX_UNDER_WAY_BYTES || command.waits(&self.capabilities)) {
                break;
            }
            count += 1;
            let tag = self.last_tag.wrapping_add(u32::try_from(count).unwrap_or(0));
            text.extend_from_slice(format!("{TAG}{tag} ").as_bytes());
            for piece in command.pieces() {
                if let Some(len) = piece.literal_len() {
                    text.extend_from_slice(format!("{{{len}+}}\r\n").as_bytes());
                }
                match piece {
                    Piece::Text(bytes) | Piece::Literal(bytes) => text.extend_from_slice(bytes),
                    Piece::Blob(id, _) => {
                        out.push(TcpSegment::Bytes(std::mem::take(&mut text)));
                        out.push(TcpSegment::Blob(id.clone()));
                    }
                }
            }
            text.extend_from_slice(b"\r\n");
        }
        out.push(TcpSegment::Bytes(text));
        (count, out)
    }

    /// Sends a command with synchronizing literals (RFC 9051 section 4.3).
    fn exchange_stepwise(
        &mut self,
        command: &Command,
        at: usize,
        take: Taker<'_>,
    ) -> Result<Status, TcpError> {
        self.last_tag = self.last_tag.wrapping_add(1);
        let tag = format!("{TAG}{}", self.last_tag);
        let mut text = format!("{tag} ").into_bytes();
        // A literal is sent together with the text that follows it.
        let mut out = Vec::new();
        for piece in command.pieces() {
            let Some(len) = piece.literal_len() else {
                if let Piece::Text(bytes) = piece {
                    text.extend_from_slice(bytes);
                }
                continue;
            };
            text.extend_from_slice(format!("{{{len}}}\r\n").as_bytes());
            out.push(TcpSegment::Bytes(std::mem::take(&mut text)));
            self.line.write(std::mem::take(&mut out))?;
            if let Some(refusal) = self.until_asked(&tag, at, take)? {
                return Ok(refusal);
            }
            match piece {
                Piece::Text(bytes) | Piece::Literal(bytes) => text.extend_from_slice(bytes),
                Piece::Blob(id, _) => out.push(TcpSegment::Blob(id.clone())),
            }
        }
        text.extend_from_slice(b"\r\n");
        out.push(TcpSegment::Bytes(text));
        self.line.write(out)?;
        let done = self.until_done(&[tag], at, None, take)?;
        done.into_iter().next().ok_or_else(|| TcpError::new("unavailable", "the server did not answer"))
    }

    /// Reads until the server requests the literal; returns the status if it refuses instead.
    fn until_asked(&mut self, tag: &str, at: usize, take: Taker<'_>) -> Result<Option<Status>, TcpError> {
        let wanted = tag;
        loop {
            let message = self.input.message(&mut *self.line, TAG, None)?;
            match Response::read(message) {
                Some(Response::Continue) => return Ok(None),
                Some(Response::Done(tag, status)) if tag == wanted => return Ok(Some(status)),
                Some(Response::Bye(code)) => return Err(bye(code.as_ref())),
                Some(response) => take(at, &response),
                None => self.skipped += 1,
            }
            self.unproven = false;
        }
    }

    /// Reads until all of these commands are completed. A server may complete independent commands in another order (RFC 9051 section 5.5).
    /// An untagged response belongs to the first command that is not completed, unless it names its tag: Dovecot completes pipelined
    /// searches only when all of them are done.
    fn until_done(
        &mut self,
        tags: &[String],
        first: usize,
        mut sink: Option<&mut Sink<'_>>,
        take: Taker<'_>,
    ) -> Result<Vec<Status>, TcpError> {
        let mut done: Vec<Option<Status>> = vec![None; tags.len()];
        let mut at = 0;
        while at < tags.len() {
            let message = self.input.message(&mut *self.line, TAG, sink.as_deref_mut())?;
            match Response::read(message) {
                Some(Response::Done(tag, status)) => {
                    if let Some(found) = tags.iter().position(|known| *known == tag) {
                        done[found] = Some(status);
                    }
                    at = done.iter().position(Option::is_none).unwrap_or(tags.len());
                }
                Some(Response::Bye(code)) => return Err(bye(code.as_ref())),
                Some(Response::Continue) => {}
                Some(response) => {
                    let named = response.search_tag().and_then(|tag| tags.iter().position(|t| *t == tag));
                    take(first + named.unwrap_or(at), &response);
                }
                None => self.skipped += 1,
            }
            self.unproven = false;
        }
        Ok(done.into_iter().flatten().collect())
    }
}

fn bye(code: Option<&Code<'_>>) -> TcpError {
    let is_unavailable = code.is_some_and(|code| is_other(code, "UNAVAILABLE"));
    let code = if is_unavailable { "unavailable" } else { "closed" };
    TcpError::new(code, "the server ended the session")
}

impl Drop for Session<'_> {
    /// Keeps the connection for a later call, even if this one failed, unless an answer was not read to its end.
    fn drop(&mut self) {
        if self.skipped > 0 {
            let count = self.skipped.to_string();
            self.cx.log(Level::Warn, "responses that cannot be read", &[("count", count)]);
        }
        if !self.broken && self.input.is_empty() {
            let capabilities = std::mem::take(&mut self.capabilities);
            let all_mail = self.all_mail.as_deref().cloned();
            let selected = self.selected.take();
            let note =
                Note { c: capabilities, s: selected, e: self.enabled, g: all_mail, l: self.knows_all_mail };
            self.line.keep(&json!(note).to_string());
        }
    }
}

/// Returns the failure for a refusal (RFC 5530 response codes). The server's text is for the log alone.
pub fn refused(status: &Status, doing: &str) -> Failure {
    let named = |name: &str| status.has_other(name);
    let is = |code: &Code<'_>| status.code.as_ref() == Some(code);
    let (code, what) = match status.kind {
        _ if named("AUTHENTICATIONFAILED") || named("AUTHORIZATIONFAILED") || named("EXPIRED") => {
            (code::AUTH_EXPIRED, "did not accept the credentials for")
        }
        _ if named("NOPERM") => (code::FORBIDDEN, "does not allow"),
        _ if named("NONEXISTENT") || is(&Code::TryCreate) => (code::NOT_FOUND, "has nothing there for"),
        _ if named("ALREADYEXISTS") => (code::ALREADY_EXISTS, "already has that for"),
        _ if named("INUSE") || named("UNAVAILABLE") || named("SERVERBUG") => (code::UNAVAILABLE, "failed at"),
        _ if named("LIMIT") || is(&Code::OverQuota) || is(&Code::TooBig) => {
            (code::INVALID, "has no room for")
        }
        StatusKind::Bad => (code::INVALID, "does not understand"),
        _ => (code::INVALID, "refused"),
    };
    let name = match &status.code {
        Some(Code::Other(other)) => Some(String::from_utf8_lossy(other.inner())),
        Some(Code::OverQuota) => Some("OVERQUOTA".into()),
        Some(Code::TooBig) => Some("TOOBIG".into()),
        Some(Code::TryCreate) => Some("TRYCREATE".into()),
        _ => None,
    };
    let detail = json!({ "status": status.text, "code": name });
    Failure::new(code, format!("the IMAP server {what} {doing}")).with_detail(detail)
}
