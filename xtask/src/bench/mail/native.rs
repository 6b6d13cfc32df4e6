//! A native client that sends a provider our recorded requests over a kept connection, and waits for each whole answer.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::bench::mail::provider::{Account, Protocol};
use crate::bench::mail::tap::Transmission;

/// A connection to the provider, and the requests that are repeated on it.
pub struct Native {
    stream: TcpStream,
    protocol: Protocol,
    asked: Vec<Vec<u8>>,
    buffer: Vec<u8>,
}

impl Native {
    /// Opens a client that repeats `asked`. `before` is our connection's earlier traffic, which has the selection of the mailbox.
    pub fn open(
        account: &Account,
        port: u16,
        before: &[Transmission],
        asked: &[Transmission],
    ) -> Result<Native> {
        let stream = TcpStream::connect(("127.0.0.1", port)).context("cannot connect to the provider")?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        let mut native =
            Native { stream, protocol: account.protocol, asked: Vec::new(), buffer: vec![0; 256 << 10] };
        if native.protocol == Protocol::Imap {
            native.line()?;
            native.ask(format!("s0 LOGIN {} {}\r\n", account.user, account.password).as_bytes())?;
            let selected = commands(before).rev().find_map(selection);
            if let Some(selection) = selected.filter(|command| command != "UNSELECT") {
                native.ask(format!("s0 {selection}\r\n").as_bytes())?;
            }
        }
        native.asked = commands(asked).map(<[u8]>::to_vec).collect();
        Ok(native)
    }

    /// Sends all requests once, and returns the time of the answers.
    pub fn run(&mut self) -> Result<Duration> {
        let start = Instant::now();
        for asked in std::mem::take(&mut self.asked) {
            self.ask(&asked)?;
            self.asked.push(asked);
        }
        Ok(start.elapsed())
    }

    fn ask(&mut self, bytes: &[u8]) -> Result<()> {
        self.stream.write_all(bytes)?;
        match self.protocol {
            Protocol::Imap => self.tagged(last_tag(bytes).context("no command was sent")?),
            Protocol::Jmap => self.response(),
        }
    }

    fn line(&mut self) -> Result<()> {
        let count = self.stream.read(&mut self.buffer)?;
        ensure!(count > 0, "the provider ended the line");
        Ok(())
    }

    /// Reads until the line that begins with the tag.
    fn tagged(&mut self, tag: &[u8]) -> Result<()> {
        let mut said = Vec::with_capacity(64 << 10);
        loop {
            self.more(&mut said)?;
            let Some(rest) = said.strip_suffix(b"\r\n") else { continue };
            let last = rest.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
            let Some(status) = last.strip_prefix(tag) else { continue };
            if status.starts_with(b" OK") {
                return Ok(());
            }
            bail!("the provider refused: {}", String::from_utf8_lossy(last));
        }
    }

    /// Reads one HTTP answer.
    fn response(&mut self) -> Result<()> {
        let mut said = Vec::with_capacity(64 << 10);
        let head = loop {
            self.more(&mut said)?;
            if let Some(end) = said.windows(4).position(|four| four == b"\r\n\r\n") {
                break end + 4;
            }
        };
        let text = String::from_utf8_lossy(said.get(..head).unwrap_or_default()).to_ascii_lowercase();
        ensure!(text.starts_with("http/1.1 200"), "the provider refused: {text}");
        let length = text.lines().find_map(|line| line.strip_prefix("content-length:"));
        let length: Option<usize> = length.map(|length| length.trim().parse()).transpose()?;
        let is_whole = |said: &[u8]| match length {
            Some(length) => said.len() >= head + length,
            None => said.ends_with(b"\r\n0\r\n\r\n"),
        };
        while !is_whole(&said) {
            self.more(&mut said)?;
        }
        Ok(())
    }

    fn more(&mut self, said: &mut Vec<u8>) -> Result<()> {
        let count = self.stream.read(&mut self.buffer)?;
        ensure!(count > 0, "the provider ended the line");
        said.extend_from_slice(self.buffer.get(..count).unwrap_or_default());
        Ok(())
    }
}

fn commands(said: &[Transmission]) -> impl DoubleEndedIterator<Item = &[u8]> {
    said.iter().filter_map(|said| match said {
        Transmission::Client(bytes) => Some(bytes.as_slice()),
        Transmission::Provider(_) => None,
    })
}

/// Returns the last command that selects a mailbox, or closes it, without its tag.
fn selection(commands: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(commands);
    let bare = |line: &str| line.split_once(' ').map(|(_, command)| command.to_owned());
    let mut lines = text.lines().rev().filter_map(bare);
    lines.find(|command| ["EXAMINE ", "SELECT ", "UNSELECT"].iter().any(|name| command.starts_with(name)))
}

/// The tag of the last command.
fn last_tag(commands: &[u8]) -> Option<&[u8]> {
    let line = commands.trim_ascii_end().rsplit(|byte| *byte == b'\n').next()?;
    let tag = line.split(|byte| *byte == b' ').next()?;
    let is_tag = tag.len() > 1 && tag.first() == Some(&b's') && tag.iter().skip(1).all(u8::is_ascii_digit);
    is_tag.then_some(tag)
}

#[cfg(test)]
mod tests {
    use super::{last_tag, selection};

    #[test]
    fn the_end_of_what_was_asked_is_known() {
        let commands = b"s1 EXAMINE \"INBOX\" (CONDSTORE)\r\ns2 UID FETCH 1 (UID)\r\n";
        assert_eq!(last_tag(commands), Some(&b"s2"[..]));
        assert_eq!(last_tag(b"LOGOUT\r\n"), None);
        assert_eq!(selection(commands).as_deref(), Some("EXAMINE \"INBOX\" (CONDSTORE)"));
        assert_eq!(selection(b"s1 SELECT INBOX\r\ns2 UNSELECT\r\ns3 NOOP\r\n").as_deref(), Some("UNSELECT"));
    }
}
