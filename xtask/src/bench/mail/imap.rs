//! A minimal IMAP client that fills mailboxes: it sends commands while the answers to earlier ones arrive.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

/// A server that is silent for this long is gone.
const PATIENCE: Duration = Duration::from_secs(120);

/// A connection, logged in.
pub struct Imap {
    reader: BufReader<TcpStream>,
}

impl Imap {
    pub fn open(port: u16, user: &str, password: &str) -> Result<Imap> {
        let stream = TcpStream::connect(("127.0.0.1", port)).context("cannot connect to the IMAP server")?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut imap = Imap { reader: BufReader::new(stream) };
        imap.line()?;
        imap.run(&format!("LOGIN {user} {password}"))?;
        Ok(imap)
    }

    /// Runs a command that must succeed, and returns the answer before its end.
    pub fn run(&mut self, command: &str) -> Result<String> {
        self.reader.get_mut().write_all(format!("t {command}\r\n").as_bytes())?;
        let mut said = String::new();
        loop {
            let line = self.line()?;
            if line.starts_with("t ") {
                ensure!(line.starts_with("t OK"), "{command}: {line}");
                return Ok(said);
            }
            said += &line;
        }
    }

    /// Stores messages in the inbox, each with its date.
    pub fn append(&mut self, messages: impl Iterator<Item = (String, Vec<u8>)> + Send) -> Result<()> {
        let mut writer = self.reader.get_ref().try_clone()?;
        std::thread::scope(|scope| {
            let writing = scope.spawn(move || -> Result<()> {
                for (date, message) in messages {
                    let size = message.len();
                    writer.write_all(format!("t APPEND INBOX \"{date}\" {{{size}+}}\r\n").as_bytes())?;
                    writer.write_all(&message)?;
                    writer.write_all(b"\r\n")?;
                }
                writer.write_all(b"last NOOP\r\n")?;
                Ok(())
            });
            loop {
                let line = self.line()?;
                if line.starts_with("last ") {
                    break;
                }
                if line.starts_with("t ") && !line.starts_with("t OK") {
                    bail!("the server refused a message: {line}");
                }
            }
            writing.join().map_err(|_| anyhow::anyhow!("the writer panicked"))?
        })
    }

    fn line(&mut self) -> Result<String> {
        let mut line = Vec::new();
        let count = self.reader.read_until(b'\n', &mut line)?;
        ensure!(count > 0, "the IMAP server ended the line");
        Ok(String::from_utf8_lossy(&line).into_owned())
    }
}
