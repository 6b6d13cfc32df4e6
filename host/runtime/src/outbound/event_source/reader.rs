//! Reads events out of a stream of bytes (Server-Sent Events, WHATWG HTML section 9.2.6), whose lines and events have a longest length.

/// A line, or the data of an event, was longer than it may be.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

/// The incomplete line and event that were read so far. Holds at most twice the longest event.
pub(super) struct Reader {
    longest: usize,
    line: Vec<u8>,
    /// The lines of data so far, each with a line feed.
    data: Vec<u8>,
    /// The last byte was a carriage return: a line feed after it does not end another line.
    is_after_return: bool,
    /// The first line may begin with a byte order mark.
    is_begun: bool,
}

impl Reader {
    /// `longest`: of a line and of the data of an event, bytes.
    pub(super) fn new(longest: usize) -> Self {
        Reader { longest, line: Vec::new(), data: Vec::new(), is_after_return: false, is_begun: false }
    }

    /// Reads received bytes. Calls `event` with the data of each event that they complete; events without data are ignored.
    pub(super) fn read(&mut self, piece: &[u8], mut event: impl FnMut(&[u8])) -> Result<(), TooLong> {
        for byte in piece {
            let is_second = std::mem::replace(&mut self.is_after_return, *byte == b'\r');
            match byte {
                b'\n' if is_second => {}
                b'\n' | b'\r' => self.end_line(&mut event)?,
                _ if self.line.len() >= self.longest => return Err(TooLong),
                _ => self.line.push(*byte),
            }
        }
        Ok(())
    }

    fn end_line(&mut self, event: &mut impl FnMut(&[u8])) -> Result<(), TooLong> {
        let read = std::mem::take(&mut self.line);
        let is_first = !std::mem::replace(&mut self.is_begun, true);
        let line = read.strip_prefix(b"\xef\xbb\xbf").filter(|_| is_first).unwrap_or(&read);
        if line.is_empty() {
            let data = std::mem::take(&mut self.data);
            if let Some(data) = data.strip_suffix(b"\n") {
                event(data);
            }
            return Ok(());
        }
        // A line without a colon is a field without a value; one that begins with a colon is a comment.
        let end = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (field, value) = line.split_at(end);
        if field == b"data" {
            let value = value.strip_prefix(b":").unwrap_or(value);
            let value = value.strip_prefix(b" ").unwrap_or(value);
            if self.data.len() + value.len() >= self.longest {
                return Err(TooLong);
            }
            self.data.extend_from_slice(value);
            self.data.push(b'\n');
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The data of the events in `text`, read in pieces of `size` bytes.
    fn read(text: &[u8], size: usize) -> Result<Vec<String>, TooLong> {
        let (mut reader, mut events) = (Reader::new(20), Vec::new());
        for piece in text.chunks(size) {
            reader.read(piece, |data| events.push(String::from_utf8_lossy(data).into_owned()))?;
        }
        Ok(events)
    }

    #[test]
    fn events_are_read_however_they_are_cut() {
        let text = [
            &b"\xef\xbb\xbfdata: one\n\n: still here\n\nevent: state\r\nid: 7\r\n"[..],
            b"data:two\r\ndata:  more\r\n\r\ndata\r\rretry: 9\n\ndata: cut",
        ]
        .concat();
        for size in 1..=text.len() {
            assert_eq!(read(&text, size).unwrap(), ["one", "two\n more", ""], "{size}");
        }
    }

    #[test]
    fn a_line_and_an_event_have_an_end() {
        assert_eq!(read(b"data: 12345678901234\n\n", 3).unwrap().len(), 1, "a line of 20 bytes");
        assert_eq!(read(b"data: 123456789012345\n\n", 3), Err(TooLong));
        assert_eq!(read(&[b'a'; 21], 1), Err(TooLong), "and no end of it");
        assert_eq!(read(b"data: 1234567\ndata: 1234567\n\n", 5).unwrap(), ["1234567\n1234567"]);
        assert_eq!(read(&b"data: 1234567\n".repeat(3), 5), Err(TooLong), "lines of one event");
        assert_eq!(read(&b": a comment of any length\n".repeat(3), 5), Err(TooLong), "comments too");
        assert!(read(&b": a comment\n".repeat(1_000), 5).unwrap().is_empty());
    }
}
