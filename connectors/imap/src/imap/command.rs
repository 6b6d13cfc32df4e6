//! A command without its tag: text, strings that are quoted or sent as literals, and blobs.

use crate::imap::capabilities::Capabilities;
use crate::imap::names;

/// A piece of a command.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    Text(Vec<u8>),
    Literal(Vec<u8>),
    /// A blob of this call and its size.
    Blob(String, u64),
}

impl Piece {
    /// Bytes of a literal; none for text.
    pub fn literal_len(&self) -> Option<u64> {
        match self {
            Piece::Text(_) => None,
            Piece::Literal(bytes) => Some(bytes.len() as u64),
            Piece::Blob(_, size) => Some(*size),
        }
    }
}

/// A command to send.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Command {
    pieces: Vec<Piece>,
}

impl Command {
    /// A command that begins with this text, which must be safe: nothing of a user or a server.
    pub fn new(text: impl AsRef<str>) -> Self {
        Command::default().text(text)
    }

    /// Adds text that is safe.
    pub fn text(mut self, text: impl AsRef<str>) -> Self {
        let bytes = text.as_ref().as_bytes();
        match self.pieces.last_mut() {
            Some(Piece::Text(last)) => last.extend_from_slice(bytes),
            _ => self.pieces.push(Piece::Text(bytes.to_vec())),
        }
        self
    }

    /// Adds a string of whatever content, after a blank.
    pub fn string(self, value: &str) -> Self {
        // Quoted strings hold no line breaks and no 8-bit text, and servers' lines have an end (RFC 7162 section 4).
        let is_plain = value.len() <= 1000 && value.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        if is_plain {
            let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
            return self.text(format!(" \"{escaped}\""));
        }
        let mut command = self.text(" ");
        // No literal may hold a NUL (RFC 9051 section 9, `CHAR8`).
        command.pieces.push(Piece::Literal(value.bytes().filter(|byte| *byte != 0).collect()));
        command
    }

    /// Adds the name of a mailbox, after a blank.
    pub fn mailbox(self, name: &str) -> Self {
        self.string(&names::encode(name))
    }

    /// Adds a blob, after a blank.
    pub fn blob(self, id: &str, size: u64) -> Self {
        let mut command = self.text(" ");
        command.pieces.push(Piece::Blob(id.to_owned(), size));
        command
    }

    /// What it is made of, in order.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// It has a literal that the server wants to be asked for first.
    pub fn waits(&self, capabilities: &Capabilities) -> bool {
        let mut literals = self.pieces.iter().filter_map(Piece::literal_len);
        literals.any(|len| !capabilities.takes_literal(len))
    }
}

#[cfg(test)]
mod tests {
    use super::{Command, Piece};

    #[test]
    fn what_a_user_gives_never_ends_the_command() {
        let command = Command::new("SELECT").mailbox("a\"b\\c").string("x\r\nA1 DELETE y\0");
        let Piece::Text(text) = &command.pieces()[0] else { panic!("text first") };
        assert_eq!(text, b"SELECT \"a\\\"b\\\\c\" ");
        assert_eq!(command.pieces()[1], Piece::Literal(b"x\r\nA1 DELETE y".to_vec()));
    }
}
