//! One response of a server (RFC 9051 section 7): a status, data, or the request to go on.

use crate::imap::value::{self, Value};

/// What a server answers a command with, or says by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Ok,
    No,
    Bad,
    Bye,
    Preauth,
}

/// A status, tagged or not: `A1 OK [APPENDUID 38505 3955] done`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    pub kind: Kind,
    /// The response code (section 7.1) without its brackets, if there is one.
    pub code: Option<String>,
    pub text: String,
}

impl Status {
    /// The command succeeded.
    pub fn is_ok(&self) -> bool {
        self.kind == Kind::Ok
    }

    /// What follows the name of the response code, if the code has this name.
    pub fn code(&self, name: &str) -> Option<&str> {
        let code = self.code.as_deref()?;
        let (word, rest) = code.split_once(' ').unwrap_or((code, ""));
        word.eq_ignore_ascii_case(name).then_some(rest.trim())
    }

    /// The same as a number.
    pub fn number<N: std::str::FromStr>(&self, name: &str) -> Option<N> {
        self.code(name)?.parse().ok()
    }
}

/// One response; borrows from the line's buffer.
#[derive(Debug)]
pub enum Response<'a> {
    /// `+`: the literal may be sent.
    Continue,
    /// The end of the command with this tag.
    Done(&'a str, Status),
    /// An untagged status.
    Status(Status),
    /// `* 23 EXISTS`, `* 3 FETCH (…)`: the number, the name in upper case, and what follows.
    Numbered(u32, String, &'a [u8]),
    /// `* LIST …`, `* VANISHED …`: the name in upper case, and what follows.
    Data(String, &'a [u8]),
}

impl<'a> Response<'a> {
    /// None: it is no response.
    pub fn read(message: &'a [u8]) -> Option<Self> {
        if message.first() == Some(&b'+') {
            return Some(Response::Continue);
        }
        let (first, rest) = word(message);
        let first = std::str::from_utf8(first).ok().filter(|tag| !tag.is_empty())?;
        let (second, after) = word(rest);
        let name = std::str::from_utf8(second).ok()?;
        if first != "*" {
            return status(name, after).map(|status| Response::Done(first, status));
        }
        if let Some(status) = status(name, after) {
            return Some(Response::Status(status));
        }
        if let Ok(number) = name.parse() {
            let (third, values) = word(after);
            return Some(Response::Numbered(number, upper(third)?, values));
        }
        Some(Response::Data(upper(second)?, after))
    }

    /// The values of the data, where it is this; empty for a data that cannot be read.
    pub fn data(&self, expected: &str) -> Option<Vec<Value<'a>>> {
        match self {
            Response::Data(name, rest) if name == expected => Some(value::read(rest).unwrap_or_default()),
            _ => None,
        }
    }

    /// The items of a FETCH.
    pub fn fetch(&self) -> Option<Vec<Value<'a>>> {
        match self {
            Response::Numbered(_, name, rest) if name == "FETCH" || name == "UIDFETCH" => value::read(rest),
            _ => None,
        }
    }
}

fn upper(word: &[u8]) -> Option<String> {
    std::str::from_utf8(word).ok().filter(|word| !word.is_empty()).map(str::to_ascii_uppercase)
}

/// The first word and what follows it.
fn word(bytes: &[u8]) -> (&[u8], &[u8]) {
    let start = bytes.iter().take_while(|byte| matches!(byte, b' ' | b'\r' | b'\n')).count();
    let bytes = bytes.get(start..).unwrap_or_default();
    let len = bytes.iter().take_while(|byte| !matches!(byte, b' ' | b'\r' | b'\n')).count();
    bytes.split_at(len)
}

fn status(name: &str, rest: &[u8]) -> Option<Status> {
    let kinds = [
        ("OK", Kind::Ok),
        ("NO", Kind::No),
        ("BAD", Kind::Bad),
        ("BYE", Kind::Bye),
        ("PREAUTH", Kind::Preauth),
    ];
    let (_, kind) = kinds.into_iter().find(|(word, _)| word.eq_ignore_ascii_case(name))?;
    let text = String::from_utf8_lossy(rest);
    let text = text.trim();
    let coded = text.strip_prefix('[').and_then(|text| text.split_once(']'));
    let (code, text) = match coded {
        Some((code, text)) => (Some(code.trim().to_owned()), text.trim()),
        None => (None, text),
    };
    Some(Status { kind, code, text: text.to_owned() })
}

/// Whether this line begins a status. No literal is looked for in one: its text is free, and may end like an announcement.
pub fn is_status(line: &[u8], own_tags: &str) -> bool {
    let (first, rest) = word(line);
    let (second, _) = word(rest);
    let names = [&b"OK"[..], b"NO", b"BAD", b"BYE", b"PREAUTH"];
    first == b"+"
        || first.starts_with(own_tags.as_bytes())
        || names.iter().any(|name| name.eq_ignore_ascii_case(second))
}

#[cfg(test)]
mod tests {
    use super::{Kind, Response, is_status};

    #[test]
    fn responses_are_told_apart() {
        let Some(Response::Done("s7", status)) = Response::read(b"s7 OK [COPYUID 3 1:2 9:10] moved\r\n")
        else {
            panic!("a tagged status");
        };
        assert_eq!((status.kind, status.code("copyuid")), (Kind::Ok, Some("3 1:2 9:10")));
        assert_eq!(status.text, "moved");
        let Some(Response::Status(status)) = Response::read(b"* no [ALERT]\r\n") else { panic!("a status") };
        assert_eq!((status.kind, status.code("ALERT"), status.code("X")), (Kind::No, Some(""), None));
        assert!(matches!(Response::read(b"+\r\n"), Some(Response::Continue)));
        assert!(
            matches!(Response::read(b"* 4 exists\r\n"), Some(Response::Numbered(4, name, _)) if name == "EXISTS")
        );
        assert!(
            matches!(Response::read(b"* Search 1 2\r\n"), Some(Response::Data(name, b" 1 2\r\n")) if name == "SEARCH")
        );
        for noise in ["", "\r\n", "*\r\n", "* \r\n", "hello there\r\n", "* 4\r\n", "* \u{fffd}\r\n* OK x"] {
            let read = Response::read(noise.as_bytes());
            assert!(matches!(read, None | Some(Response::Data(..))), "{noise:?}: {read:?}");
        }
    }

    #[test]
    fn the_text_of_a_status_announces_nothing() {
        assert!(is_status(b"* OK {5}\r\n", "s"));
        assert!(is_status(b"s12 NO {5}\r\n", "s"));
        assert!(is_status(b"+ {5}\r\n", "s"));
        assert!(!is_status(b"* 1 FETCH (BODY[] {5}\r\n", "s"));
    }
}
