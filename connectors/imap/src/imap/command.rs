//! A command without its tag, as the crate writes it: text, literals, and blobs in the place of literals. How a literal is announced is
//! decided when the command goes out.

use io_imap::codec::CommandCodec;
use io_imap::codec::encode::{Encoder as _, Fragment};
use io_imap::types::command::{Command as Tagged, CommandBody};
use io_imap::types::core::Tag;

use crate::imap::capabilities::Capabilities;

/// The tag that the crate writes, and that is taken away again: tags are given when a command goes out.
const TAG: &str = "t";

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
    /// The command as the crate writes it.
    pub fn new(body: CommandBody<'_>) -> Self {
        let tagged = Tagged { tag: Tag::unvalidated(TAG), body };
        let mut pieces: Vec<Piece> = Vec::new();
        for fragment in CommandCodec::new().encode(&tagged) {
            match fragment {
                Fragment::Line { data } => pieces.push(Piece::Text(data)),
                Fragment::Literal { data, .. } => {
                    if let Some(Piece::Text(text)) = pieces.last_mut() {
                        let announced = text.iter().rposition(|byte| *byte == b'{');
                        text.truncate(announced.unwrap_or(text.len()));
                    }
                    pieces.push(Piece::Literal(data));
                }
            }
        }
        if let Some(Piece::Text(first)) = pieces.first_mut() {
            first.drain(..(TAG.len() + 1).min(first.len()));
        }
        if let Some(Piece::Text(last)) = pieces.last_mut() {
            last.truncate(last.trim_ascii_end().len());
        }
        Command { pieces }
    }

    /// Adds text that the crate cannot write; it must be safe (`imap::beyond`).
    pub(super) fn text(mut self, text: &str) -> Self {
        match self.pieces.last_mut() {
            Some(Piece::Text(last)) => last.extend_from_slice(text.as_bytes()),
            _ => self.pieces.push(Piece::Text(text.as_bytes().to_vec())),
        }
        self
    }

    /// Adds such text within the bracket that the command ends with.
    pub(super) fn within(mut self, text: &str) -> Self {
        if let Some(Piece::Text(last)) = self.pieces.last_mut()
            && last.last() == Some(&b')')
        {
            last.pop();
        }
        self.text(text).text(")")
    }

    /// A blob in the place of the last literal.
    pub fn blob(mut self, id: &str, size: u64) -> Self {
        let literal = self.pieces.iter_mut().rfind(|piece| piece.literal_len().is_some());
        if let Some(literal) = literal {
            *literal = Piece::Blob(id.to_owned(), size);
        }
        self
    }

    /// Returns the pieces of the command, in order.
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
    use io_imap::types::command::CommandBody;
    use io_imap::types::search::SearchKey;

    use super::{Command, Piece};
    use crate::imap::commands::{select, string, uid_search};

    fn text(text: &str) -> Piece {
        Piece::Text(text.as_bytes().to_vec())
    }

    #[test]
    fn what_a_user_gives_never_ends_the_command() {
        assert_eq!(select("a\"b\\c", None, true).pieces(), [text("EXAMINE \"a\\\"b\\\\c\"")]);
        let words = vec![SearchKey::Text(string("x\r\nA1 DELETE y\0")), SearchKey::Text(string("{5}"))];
        let literal = Piece::Literal(b"x\r\nA1 DELETE y".to_vec());
        assert_eq!(uid_search(words).pieces(), [text("UID SEARCH TEXT "), literal, text(" TEXT \"{5}\"")]);
    }

    #[test]
    fn what_the_crate_cannot_write_is_added() {
        let command = Command::new(CommandBody::Noop).text(" (a)").within(" b");
        assert_eq!(command.pieces(), [text("NOOP (a b)")]);
        let ends = uid_search(vec![SearchKey::Text(string("ü"))]);
        assert_eq!(ends.pieces().len(), 3);
        assert_eq!(ends.blob("b", 3).pieces()[1], Piece::Blob("b".into(), 3));
    }
}
