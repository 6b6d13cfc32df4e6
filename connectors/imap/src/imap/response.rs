//! One response of a server (RFC 9051 section 7), as decoded by the crate imap-codec or by our own parser.
//!
//! Responses of real servers that the crate (imap-codec 2.0.0-alpha.10) refuses as a whole are parsed by `imap::value`:
//!
//! | refused | said by |
//! |---|---|
//! | `* 1 FETCH (… PREVIEW "Hello")` (RFC 8970), `* 1 FETCH (… EMAILID (M1))` (RFC 8474) | Dovecot, Cyrus |
//! | `* 1 FETCH (… BODYSTRUCTURE ("text" "plain" NIL …))` with a field too few, `FLAGS (\*)`, `INTERNALDATE "x"` | many |
//! | `* STATUS INBOX (MAILBOXID (F1))` (RFC 8474) | Cyrus |
//! | `* ESEARCH (TAG "s1") UID ALL 1:3` (RFC 4731) | both |
//! | `* LIST () "/" a ("CHILDINFO" ("SUBSCRIBED"))` (RFC 5258), `* LIST () "" a` | others |
//! | `* SEARCH  1 2` with a blank too many | others |
//! | a status without a text, or with other characters than ASCII or an odd bracket in it | others |
//!
//! One unknown item would lose the whole message, so FETCH is never given to the crate, which also takes more than twice as long for one
//! with a structure and a header (4.8 µs instead of 2.1 µs). Responses of the last row are repaired for the crate.

use io_imap::codec::ResponseCodec;
use io_imap::codec::decode::Decoder as _;
use io_imap::types::IntoStatic as _;
use io_imap::types::response::{
    Code, Data, Response as Decoded, Status as DecodedStatus, StatusBody, StatusKind,
};

use crate::imap::names;
use crate::imap::value::{self, Value};

/// A status, tagged or not: `A1 OK [APPENDUID 38505 3955] done`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    pub kind: StatusKind,
    /// The response code (section 7.1), if there is one.
    pub code: Option<Code<'static>>,
    pub text: String,
}

impl Status {
    /// Whether the command succeeded.
    pub fn is_ok(&self) -> bool {
        self.kind == StatusKind::Ok
    }

    /// Whether the status has a code of this name that the crate has no type for.
    pub fn has_other(&self, name: &str) -> bool {
        self.code.as_ref().is_some_and(|code| is_other(code, name))
    }
}

impl From<StatusBody<'_>> for Status {
    fn from(status: StatusBody<'_>) -> Self {
        // Undo the repair, if there was one.
        let text = names::decode(status.text.inner().trim().as_bytes());
        Status { kind: status.kind, code: status.code.map(|code| code.into_static()), text }
    }
}

/// Whether the code has this name and is one that the crate has no type for.
pub fn is_other(code: &Code<'_>, name: &str) -> bool {
    match code {
        Code::Other(other) => word(other.inner()).0.eq_ignore_ascii_case(name.as_bytes()),
        _ => false,
    }
}

/// A response, borrowed from the connection's buffer.
#[derive(Debug)]
pub enum Response<'a> {
    /// `+`: the literal may be sent.
    Continue,
    /// The end of the command with this tag.
    Done(String, Status),
    /// An untagged status.
    Status(Status),
    /// The server ends the session.
    Bye(Option<Code<'static>>),
    /// `* 23 EXISTS`, `* LIST …`, `* VANISHED …`.
    Data(Data<'a>),
    /// The text after `* 3 FETCH`.
    Fetch(&'a [u8]),
    /// A response that the crate does not parse: the name in upper case, and the rest.
    Other(String, &'a [u8]),
}

impl<'a> Response<'a> {
    /// Parses a response; none if the text is not one.
    pub fn read(message: &'a [u8]) -> Option<Self> {
        if message.first() == Some(&b'+') {
            return Some(Response::Continue);
        }
        if let Some(items) = fetch(message) {
            return Some(Response::Fetch(items));
        }
        if let Ok(([], decoded)) = ResponseCodec::default().decode(message) {
            return Some(Response::from(decoded));
        }
        if is_status(message, None) {
            let repaired = repair(message);
            let (_, decoded) = ResponseCodec::default().decode(&repaired).ok()?;
            return Some(Response::from(decoded.into_static()));
        }
        let (first, rest) = word(message);
        let (name, after) = word(rest);
        let name = std::str::from_utf8(name).ok().filter(|name| first == b"*" && !name.is_empty())?;
        Some(Response::Other(name.to_ascii_uppercase(), after))
    }

    /// The values of a response of this name that the crate does not parse; empty if they are malformed.
    pub fn other(&self, expected: &str) -> Option<Vec<Value<'a>>> {
        match self {
            Response::Other(name, rest) if name == expected => Some(value::read(rest).unwrap_or_default()),
            _ => None,
        }
    }

    /// The tag of the search that this response answers: `ESEARCH (TAG "s7") UID ALL 1:3` (RFC 4731 section 3.1).
    pub fn search_tag(&self) -> Option<String> {
        let values = self.other("ESEARCH")?;
        match values.first()?.list() {
            [name, tag] if name.is("TAG") => Some(tag.text()?.into_owned()),
            _ => None,
        }
    }
}

impl<'a> From<Decoded<'a>> for Response<'a> {
    fn from(decoded: Decoded<'a>) -> Self {
        match decoded {
            Decoded::CommandContinuationRequest(_) => Response::Continue,
            Decoded::Data(data) => Response::Data(data),
            Decoded::Status(DecodedStatus::Untagged(status)) => Response::Status(status.into()),
            Decoded::Status(DecodedStatus::Tagged(done)) => {
                Response::Done(done.tag.inner().to_owned(), done.body.into())
            }
            Decoded::Status(DecodedStatus::Bye(bye)) => {
                Response::Bye(bye.code.map(|code| code.into_static()))
            }
        }
    }
}

/// Returns the text after `* 3 FETCH`.
fn fetch(message: &[u8]) -> Option<&[u8]> {
    let (number, rest) = word(message.strip_prefix(b"* ")?);
    let (name, items) = word(rest);
    let is_fetch = name.eq_ignore_ascii_case(b"FETCH") || name.eq_ignore_ascii_case(b"UIDFETCH");
    (is_fetch && number.iter().all(u8::is_ascii_digit)).then_some(items)
}

/// Repairs a status for the crate: ASCII only, balanced brackets or none, and a text.
fn repair(message: &[u8]) -> Vec<u8> {
    let (first, rest) = word(message);
    let (kind, rest) = word(rest);
    let text = ascii(rest.trim_ascii());
    let text = match text.strip_prefix('[').map(|coded| coded.split_once(']').ok_or(coded)) {
        Some(Ok((code, text))) => format!("[{code}] {text}"),
        Some(Err(text)) => text.trim_start_matches('[').to_owned(),
        None => text,
    };
    [first, b" ", kind, b" ", text.as_bytes(), b"  \r\n"].concat()
}

/// Encodes non-ASCII characters as in mailbox names, so that they can be decoded again.
fn ascii(text: &[u8]) -> String {
    let (mut out, mut other) = (String::with_capacity(text.len()), String::new());
    for c in String::from_utf8_lossy(text).chars() {
        if c.is_ascii() {
            out.push_str(&names::encode(&std::mem::take(&mut other)));
            out.push(if c.is_ascii_control() { '?' } else { c });
        } else {
            other.push(c);
        }
    }
    out.push_str(&names::encode(&other));
    out
}

/// The first word and what follows it.
fn word(bytes: &[u8]) -> (&[u8], &[u8]) {
    let start = bytes.iter().take_while(|byte| matches!(byte, b' ' | b'\r' | b'\n')).count();
    let bytes = bytes.get(start..).unwrap_or_default();
    let len = bytes.iter().take_while(|byte| !matches!(byte, b' ' | b'\r' | b'\n')).count();
    bytes.split_at(len)
}

/// Whether this line begins a status, whose free text may end like the announcement of a literal but never has one.
pub fn is_status(line: &[u8], own_tags: Option<&str>) -> bool {
    let (first, rest) = word(line);
    let (second, _) = word(rest);
    let names = [&b"OK"[..], b"NO", b"BAD", b"BYE", b"PREAUTH"];
    first == b"+"
        || own_tags.is_some_and(|tags| first.starts_with(tags.as_bytes()))
        || names.iter().any(|name| name.eq_ignore_ascii_case(second))
}

#[cfg(test)]
mod tests {
    use io_imap::codec::ResponseCodec;
    use io_imap::codec::decode::Decoder as _;
    use io_imap::codec::fragmentizer::Fragmentizer;
    use io_imap::types::response::{Code, Data, StatusKind};
    use proptest::prelude::{any, proptest};

    use super::{Response, is_status};

    #[test]
    fn responses_are_told_apart() {
        let moved = Response::read(b"s7 OK [COPYUID 3 1:2 9:10] moved\r\n");
        let Some(Response::Done(tag, status)) = moved else { panic!("a tagged status") };
        assert_eq!((tag.as_str(), status.kind, status.text.as_str()), ("s7", StatusKind::Ok, "moved"));
        assert!(matches!(status.code, Some(Code::CopyUid { .. })));
        assert!(matches!(Response::read(b"+\r\n"), Some(Response::Continue)));
        assert!(matches!(Response::read(b"* 4 exists\r\n"), Some(Response::Data(Data::Exists(4)))));
        assert!(matches!(Response::read(b"* Search 1 2\r\n"), Some(Response::Data(Data::Search(..)))));
        assert!(matches!(Response::read(b"* 1 fetch (UID 7)\r\n"), Some(Response::Fetch(b" (UID 7)\r\n"))));
        for noise in ["", "\r\n", "*\r\n", "* \r\n", "hello there\r\n", "* 4\r\n", "* \u{fffd}\r\n* OK x"] {
            let read = Response::read(noise.as_bytes());
            assert!(matches!(read, None | Some(Response::Other(..))), "{noise:?}: {read:?}");
        }
    }

    #[test]
    fn a_status_is_read_whatever_its_text_is() {
        let cases = [
            "* no [ALERT]\r\n",
            "* NO [ALERT] kein \u{c4}rger\r\n",
            "* NO [ALERT] a\0b\n",
            "* NO [ALERT] \r\n",
        ];
        for line in cases {
            let Some(Response::Status(status)) = Response::read(line.as_bytes()) else { panic!("{line:?}") };
            assert_eq!((status.kind, status.code), (StatusKind::No, Some(Code::Alert)));
            assert!(["...", "", "kein \u{c4}rger", "a?b"].contains(&status.text.as_str()), "{}", status.text);
        }
        for line in [
            "s1 OK\r\n",
            "s1 OK {5}\r\n",
            "s1 OK [UIDNEXT 0] x\r\n",
            "s1 OK [x\r\n",
            "s1 OK [x]y\r\n",
            "s1 OK [\r\n",
            "s1 OK [\u{c4}] x\r\n",
        ] {
            let read = Response::read(line.as_bytes());
            assert!(
                matches!(read, Some(Response::Done(tag, status)) if tag == "s1" && status.is_ok()),
                "{line}"
            );
        }
        let Some(Response::Status(status)) = Response::read(b"* BAD [Expired now] x\r\n") else { panic!() };
        assert!(status.has_other("EXPIRED") && !status.has_other("NOW"));
    }

    #[test]
    fn a_name_may_be_utf8() {
        let read = Response::read("* LIST () \"/\" \"Entw\u{fc}rfe\"\r\n".as_bytes());
        let Some(Response::Data(Data::List { mailbox, .. })) = read else { panic!("{read:?}") };
        assert_eq!(crate::imap::names::mailbox_name(&mailbox), "Entw\u{fc}rfe");
    }

    /// Documents why there is a parser of our own beside the crate's.
    #[test]
    fn the_crate_refuses_what_servers_say() {
        let lines = [
            "* 1 FETCH (UID 1 PREVIEW \"Hello\")\r\n",
            "* 1 FETCH (UID 1 EMAILID (M1))\r\n",
            "* 1 FETCH (UID 1 BODYSTRUCTURE (\"text\" \"plain\" NIL NIL NIL \"7bit\"))\r\n",
            "* 1 FETCH (UID 1 FLAGS (\\*))\r\n",
            "* 1 FETCH (UID 1 INTERNALDATE \"x\")\r\n",
            "* STATUS INBOX (MAILBOXID (F1))\r\n",
            "* ESEARCH (TAG \"s1\") UID ALL 1:3\r\n",
            "* LIST () \"/\" a (\"CHILDINFO\" (\"SUBSCRIBED\"))\r\n",
            "* LIST () \"\" a\r\n",
            "* SEARCH  1 2\r\n",
            "* OK kein \u{c4}rger\r\n",
            "s1 OK\r\n",
        ];
        for line in lines {
            assert!(ResponseCodec::default().decode(line.as_bytes()).is_err(), "{line}");
        }
        let mut fragments = Fragmentizer::without_max_message_size();
        fragments.enqueue_bytes(b"* OK try {12}\r\n* 1 EXISTS\r\n");
        while fragments.progress().is_some() {}
        assert!(!fragments.is_message_complete(), "it waits for a literal");
    }

    proptest! {
        #[test]
        fn a_status_ends_its_command_whatever_its_text_is(kind in "(OK|NO|BAD)", text in "[\\[\\] \r\0-~é]{0,12}", noise in any::<Vec<u8>>()) {
            let message = [b"s1 ", kind.as_bytes(), b" ", text.as_bytes(), &noise].concat();
            let line = message.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let line = [line, b"\r\n"].concat();
            let read = Response::read(&line);
            assert!(matches!(&read, Some(Response::Done(tag, _)) if tag == "s1"), "{read:?}");
        }

        #[test]
        fn whatever_comes_is_read_or_passed_over(head in "(\\*|s1|\\+) (OK|[0-9]{1,3}|LIST|STATUS)?", noise in any::<Vec<u8>>()) {
            let message = [head.as_bytes(), &noise, b"\r\n"].concat();
            let read = Response::read(&message);
            assert!(!head.starts_with('+') || matches!(read, Some(Response::Continue)));
        }
    }

    #[test]
    fn the_text_of_a_status_announces_nothing() {
        assert!(is_status(b"* OK {5}\r\n", None));
        assert!(is_status(b"s12 NO {5}\r\n", Some("s")));
        assert!(is_status(b"+ {5}\r\n", None));
        assert!(!is_status(b"* 1 FETCH (BODY[] {5}\r\n", Some("s")));
    }
}
