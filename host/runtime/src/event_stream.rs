//! Parser of server-sent events, as in WHATWG HTML, section 9.2.6, "Interpreting an event stream". Pure: it does no I/O, and the result
//! does not depend on how the bytes are split.

use std::error::Error;
use std::fmt;
use std::mem;

/// An item of a stream. Comments are dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    Event(Event),
    /// A new last event id without an event: a block with `id` and without `data`.
    LastEventId(String),
    /// The delay before reconnecting, ms.
    Retry(u64),
}

/// An event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The last `id` in the stream up to this event; empty if there was none.
    pub id: String,
    /// `message` if the stream gives no type.
    pub event_type: String,
    /// Lines of data, separated by line feeds.
    pub data: String,
}

/// The error for a line, or the data of one event, of more than this many bytes. Parsing cannot continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong(usize);

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a line of the stream, or the data of an event, has more than {} bytes", self.0)
    }
}

impl Error for TooLong {}

/// The state of the parser: at most a line and the data of an event.
#[derive(Debug)]
pub struct Parser {
    /// Maximum bytes of a line, and of the data of one event.
    max_bytes: usize,
    /// The beginning of an incomplete line.
    line: Vec<u8>,
    /// Whether the first line has ended, after which a byte order mark is not recognized.
    has_begun: bool,
    /// Whether the last byte was a carriage return, which ended a line: a line feed after it belongs to the same line end.
    is_after_return: bool,
    event_type: String,
    /// Each line of data with a line feed after it.
    data: String,
    last_event_id: String,
    /// Whether `last_event_id` was set since the last empty line.
    has_id: bool,
}

impl Parser {
    /// `max_bytes` limits a line, and the data of an event.
    pub fn new(max_bytes: usize) -> Parser {
        Parser {
            max_bytes,
            line: Vec::new(),
            has_begun: false,
            is_after_return: false,
            event_type: String::new(),
            data: String::new(),
            last_event_id: String::new(),
            has_id: false,
        }
    }

    /// Consumes `input` up to the end of the next item, and returns the item; none once all of `input` is consumed. An event that is
    /// incomplete at the end of the stream is dropped.
    pub fn next_item(&mut self, input: &mut &[u8]) -> Result<Option<Item>, TooLong> {
        loop {
            let Some((first, after_first)) = input.split_first() else { return Ok(None) };
            if mem::take(&mut self.is_after_return) && *first == b'\n' {
                *input = after_first;
                continue;
            }
            let bytes = *input;
            let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.keep(bytes)?;
                *input = &[];
                return Ok(None);
            };
            let (text, rest) = bytes.split_at(end);
            self.keep(text)?;
            if let Some((ending, after)) = rest.split_first() {
                self.is_after_return = *ending == b'\r';
                *input = after;
            }
            let line = mem::take(&mut self.line);
            if let Some(item) = self.take(&line)? {
                return Ok(Some(item));
            }
        }
    }

    fn keep(&mut self, text: &[u8]) -> Result<(), TooLong> {
        if self.line.len() + text.len() > self.max_bytes {
            return Err(TooLong(self.max_bytes));
        }
        self.line.extend_from_slice(text);
        Ok(())
    }

    /// Processes a complete line, without its line end.
    fn take(&mut self, line: &[u8]) -> Result<Option<Item>, TooLong> {
        let text = String::from_utf8_lossy(line);
        let is_first = !mem::replace(&mut self.has_begun, true);
        let text = if is_first { text.strip_prefix('\u{feff}').unwrap_or(&text) } else { &*text };
        if text.is_empty() {
            return Ok(self.dispatch());
        }
        let (field, value) = text.split_once(':').unwrap_or((text, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event_type),
            "data" => {
                if self.data.len() + value.len() >= self.max_bytes {
                    return Err(TooLong(self.max_bytes));
                }
                self.data.push_str(value);
                self.data.push('\n');
            }
            "id" if !value.contains('\0') => {
                value.clone_into(&mut self.last_event_id);
                self.has_id = true;
            }
            // A number that is too large is ignored.
            "retry" if value.bytes().all(|byte| byte.is_ascii_digit()) => {
                return Ok(value.parse().ok().map(Item::Retry));
            }
            // Comments, which are lines without a field name, and unknown fields.
            _ => {}
        }
        Ok(None)
    }

    /// Ends a block of lines.
    fn dispatch(&mut self) -> Option<Item> {
        let (event_type, mut data) = (mem::take(&mut self.event_type), mem::take(&mut self.data));
        let has_id = mem::take(&mut self.has_id);
        let id = self.last_event_id.clone();
        // The line feed after the last line. Without data there is no event, whatever its type.
        if data.pop().is_none() {
            return has_id.then_some(Item::LastEventId(id));
        }
        let event_type = if event_type.is_empty() { "message".to_owned() } else { event_type };
        Some(Item::Event(Event { id, event_type, data }))
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    const NONE: [Item; 0] = [];
    const MAX_BYTES: usize = 1 << 20;
    const TOO_LONG: Result<(), TooLong> = Err(TooLong(MAX_BYTES));

    /// Returns the items of these pieces, and the final result.
    fn read<'b>(pieces: impl IntoIterator<Item = &'b [u8]>) -> (Vec<Item>, Result<(), TooLong>) {
        let (mut parser, mut items) = (Parser::new(MAX_BYTES), Vec::new());
        for mut piece in pieces {
            loop {
                match parser.next_item(&mut piece) {
                    Ok(Some(item)) => items.push(item),
                    Ok(None) => break,
                    Err(e) => return (items, Err(e)),
                }
            }
            assert!(piece.is_empty(), "all of it is taken");
        }
        (items, Ok(()))
    }

    fn items(text: &str) -> Vec<Item> {
        let (items, ended) = read([text.as_bytes()]);
        assert_eq!(ended, Ok(()));
        items
    }

    fn event(id: &str, event_type: &str, data: &str) -> Item {
        Item::Event(Event { id: id.into(), event_type: event_type.into(), data: data.into() })
    }

    #[test]
    fn a_stream_of_the_api_is_read() {
        let text = ": hello\n\nretry: 1000\n\nid: 7\nevent: task.created\ndata: {\"id\":\"ev_1\"}\n\n: still here\n\n\
                    id: 9\nevent: task.deleted\ndata: {\"id\":\"ev_2\"}\n\n";
        let expected = [
            Item::Retry(1_000),
            event("7", "task.created", "{\"id\":\"ev_1\"}"),
            event("9", "task.deleted", "{\"id\":\"ev_2\"}"),
        ];
        assert_eq!(items(text), expected);
    }

    /// The examples of the standard.
    #[test]
    fn the_examples_of_the_standard_are_read() {
        let stocks = "data: YHOO\ndata: +2\ndata: 10\n\n";
        assert_eq!(items(stocks), [event("", "message", "YHOO\n+2\n10")]);
        let four =
            ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n";
        // The third has no empty line after it; its second space would be part of the data.
        assert_eq!(items(four), [event("1", "message", "first event"), event("", "message", "second event")]);
        assert_eq!(
            items("data\n\ndata\ndata\n\ndata:"),
            [event("", "message", ""), event("", "message", "\n")]
        );
        let spaces = "data:test\n\ndata: test\n\n";
        assert_eq!(items(spaces), [event("", "message", "test"), event("", "message", "test")]);
    }

    #[test]
    fn every_end_of_a_line_is_one() {
        let expected = [event("1", "a", "x\ny"), event("2", "message", "z")];
        for end in ["\n", "\r", "\r\n"] {
            let lines = ["id: 1", "event: a", "data: x", "data: y", "", "id: 2", "data: z", "", ""];
            assert_eq!(items(&lines.join(end)), expected, "{end:?}");
        }
        assert_eq!(
            items("data: x\r\n\ndata: y\n\r\n"),
            [event("", "message", "x"), event("", "message", "y")]
        );
    }

    #[test]
    fn an_id_stays_until_the_next_one() {
        let text = "id: 1\n\ndata: x\n\nid: 2\ndata: y\n\nid: 3\0\ndata: z\n\n";
        let expected = [
            Item::LastEventId("1".into()),
            event("1", "message", "x"),
            event("2", "message", "y"),
            event("2", "message", "z"),
        ];
        assert_eq!(items(text), expected);
    }

    #[test]
    fn what_is_not_known_says_nothing() {
        assert_eq!(items("\u{feff}data: x\n\n"), [event("", "message", "x")]);
        assert_eq!(items("\n\u{feff}data: x\n\n"), NONE, "a byte order mark is at the beginning alone");
        assert_eq!(items("Data: x\ndata : x\n data: x\nevent: a\n\n"), NONE);
        assert_eq!(items("retry: 1s\nretry:\nretry: -1\nretry: 99999999999999999999999\n\n"), NONE);
        assert_eq!(
            items("event: a\n\ndata: x\n\n"),
            [event("", "message", "x")],
            "a type ends with its block"
        );
    }

    #[test]
    fn a_line_and_the_data_of_an_event_have_a_longest_length() {
        let long = vec![b'x'; MAX_BYTES];
        let (found, ended) = read([b"data: a\n\n:".as_slice(), long.as_slice()]);
        assert_eq!((found, ended), (vec![event("", "message", "a")], TOO_LONG));
        let line = [b"data: ".as_slice(), vec![b'x'; MAX_BYTES / 2].as_slice(), b"\n".as_slice()].concat();
        let (found, ended) = read([line.as_slice(), line.as_slice()]);
        assert_eq!((found, ended), (Vec::new(), TOO_LONG));
        let (found, ended) = read([line.as_slice(), b"\n".as_slice(), line.as_slice(), b"\n".as_slice()]);
        assert_eq!((found.len(), ended), (2, Ok(())));
    }

    /// The data of the events in `text`, whose lines and events have at most 20 bytes, read in pieces of `size` bytes.
    fn data(text: &[u8], size: usize) -> Result<Vec<String>, TooLong> {
        let (mut parser, mut found) = (Parser::new(20), Vec::new());
        for mut piece in text.chunks(size) {
            while let Some(item) = parser.next_item(&mut piece)? {
                if let Item::Event(event) = item {
                    found.push(event.data);
                }
            }
        }
        Ok(found)
    }

    #[test]
    fn events_are_read_however_they_are_cut() {
        let text = [
            &b"\xef\xbb\xbfdata: one\n\n: still here\n\nevent: state\r\nid: 7\r\n"[..],
            b"data:two\r\ndata:  more\r\n\r\ndata\r\rretry: 9\n\ndata: cut",
        ]
        .concat();
        for size in 1..=text.len() {
            assert_eq!(data(&text, size).unwrap(), ["one", "two\n more", ""], "{size}");
        }
    }

    #[test]
    fn a_line_and_an_event_have_an_end() {
        let too_long = Err(TooLong(20));
        assert_eq!(data(b"data: 12345678901234\n\n", 3).unwrap().len(), 1, "a line of 20 bytes");
        assert_eq!(data(b"data: 123456789012345\n\n", 3), too_long);
        assert_eq!(data(&[b'a'; 21], 1), too_long, "and no end of it");
        assert_eq!(data(b"data: 1234567\ndata: 1234567\n\n", 5).unwrap(), ["1234567\n1234567"]);
        assert_eq!(data(&b"data: 1234567\n".repeat(3), 5), too_long, "lines of one event");
        assert_eq!(data(&b": a comment of any length\n".repeat(3), 5), too_long, "comments too");
        assert!(data(&b": a comment\n".repeat(1_000), 5).unwrap().is_empty());
    }

    /// Texts with likely bad cuts.
    fn texts() -> impl Strategy<Value = Vec<u8>> {
        let word = select(vec![
            &b"data"[..],
            b"data:",
            b"data: {\"id\":\"ev_1\"}",
            b"id: 7",
            b"id",
            b"event: task.created",
            b"retry: 1000",
            b": comment",
            b":",
            b" ",
            b"\n",
            b"\n",
            b"\r",
            b"\r\n",
            b"\n\n",
            b"\r\n\r\n",
            b"\0",
            "\u{feff}".as_bytes(),
            "ü".as_bytes(),
            b"\xe2\x82",
            b"\xff",
        ]);
        vec(word, 0..40).prop_map(|words| words.concat())
    }

    proptest! {
        #[test]
        fn how_the_bytes_are_cut_makes_no_difference(bytes in texts(), cuts in vec(0_usize..200, 0..20)) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.sort_unstable();
            let mut pieces = Vec::new();
            let mut rest = bytes.as_slice();
            let mut at = 0;
            for cut in cuts {
                let (piece, after) = rest.split_at(cut - at);
                pieces.push(piece);
                (rest, at) = (after, cut);
            }
            pieces.push(rest);
            let whole = read([bytes.as_slice()]);
            prop_assert_eq!(read(pieces), whole.clone());
            prop_assert_eq!(read(bytes.chunks(1)), whole);
        }
    }
}
