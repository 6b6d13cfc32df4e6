//! Decodes uuencode (POSIX `uuencode`, "historical algorithm"): lines with a length and characters of six bits each, between `begin` and
//! `end`.

/// The bytes at the beginning of a text that are searched for `begin`.
const BEFORE: usize = 64 << 10;

/// Decodes a text; returns it unchanged if there is no `begin` near its beginning, so that nothing is lost. Malformed lines are skipped,
/// and `end` may be missing: a truncated text is decoded as far as possible.
pub fn decode(text: &[u8]) -> Vec<u8> {
    let mut decoder = Decoder::default();
    let mut decoded = decoder.decode(text);
    decoded.extend(decoder.finish());
    decoded
}

/// A decoder of a text that arrives in chunks.
#[derive(Debug, Default)]
pub struct Decoder {
    place: Place,
    /// The bytes before `begin`, or an incomplete line.
    open: Vec<u8>,
    /// The number of bytes of `open` that are known to have no `begin`.
    looked: usize,
    /// The number of bytes received and decoded.
    read: usize,
    made: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Before,
    Within,
    After,
    /// The text is not uuencoded.
    Nowhere,
}

impl Decoder {
    /// Decodes a chunk as far as its lines are complete.
    pub fn decode(&mut self, piece: &[u8]) -> Vec<u8> {
        self.read += piece.len();
        let mut decoded = Vec::new();
        match self.place {
            Place::Nowhere => return piece.to_vec(),
            Place::After => return decoded,
            Place::Before | Place::Within => {}
        }
        let before = self.open.len();
        self.open.extend_from_slice(piece);
        let last = memchr::memrchr(b'\n', piece).map(|at| before + at + 1);
        if let Some(end) = last {
            if self.place == Place::Before {
                self.begin(end);
            }
            if self.place == Place::Within {
                self.lines(&mut decoded);
            }
        }
        if self.open.len() > BEFORE {
            match self.place {
                Place::Before => {
                    self.place = Place::Nowhere;
                    decoded.append(&mut self.open);
                }
                // A line of the encoding is never that long.
                _ => self.open.clear(),
            }
        }
        decoded
    }

    /// Decodes the rest after the last chunk.
    pub fn finish(mut self) -> Vec<u8> {
        self.open.push(b'\n');
        let mut decoded = Vec::new();
        if self.place == Place::Before {
            let end = self.open.len();
            self.begin(end);
        }
        match self.place {
            Place::Before => {
                self.open.pop();
                return self.open;
            }
            Place::Within => self.lines(&mut decoded),
            Place::After | Place::Nowhere => {}
        }
        decoded
    }

    /// Searches the lines before the position `end` for `begin`.
    fn begin(&mut self, end: usize) {
        let lines = self.open.get(self.looked..end.min(BEFORE)).unwrap_or_default();
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            self.looked += line.len();
            if is_begin(line.trim_ascii_end()) {
                self.place = Place::Within;
                self.open.drain(..self.looked);
                return;
            }
        }
    }

    /// Decodes the complete lines received so far.
    fn lines(&mut self, decoded: &mut Vec<u8>) {
        let Some(end) = memchr::memrchr(b'\n', &self.open) else { return };
        let rest = self.open.split_off(end + 1);
        let whole = std::mem::replace(&mut self.open, rest);
        decoded.reserve(whole.len() / 4 * 3);
        for line in whole.split(|byte| *byte == b'\n') {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line == b"end" {
                self.place = Place::After;
                self.open.clear();
                return;
            }
            // Mail servers strip trailing spaces, which encode zeros. They are restored, but a line is skipped once the output is longer
            // than the input.
            if self.made <= self.read {
                let before = decoded.len();
                decode_line(line, decoded);
                self.made += decoded.len() - before;
            }
        }
    }
}

/// Whether the line has the form `begin 644 name`.
fn is_begin(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"begin ") else { return false };
    let mode = rest.iter().take_while(|byte| matches!(byte, b'0'..=b'7')).count();
    (3..=4).contains(&mode) && matches!(rest.get(mode), None | Some(b' '))
}

fn decode_line(line: &[u8], decoded: &mut Vec<u8>) {
    let Some((length, characters)) = line.split_first() else { return };
    if !line.iter().all(|byte| matches!(byte, b' '..=b'`')) {
        return;
    }
    let length = usize::from(bits(*length));
    let end = decoded.len() + length;
    let needed = length.div_ceil(3);
    let groups = characters.chunks(4).chain(std::iter::repeat(&[][..])).take(needed);
    for group in groups {
        let of = |at: usize| u32::from(group.get(at).map_or(0, |byte| bits(*byte)));
        let [_, bytes @ ..] = (of(0) << 18 | of(1) << 12 | of(2) << 6 | of(3)).to_be_bytes();
        decoded.extend_from_slice(&bytes);
    }
    decoded.truncate(end);
}

fn bits(byte: u8) -> u8 {
    byte.wrapping_sub(b' ') & 0x3f
}

#[cfg(test)]
mod tests {
    use super::{Decoder, decode};

    #[test]
    fn damage_is_read_over() {
        let whole = b"noise\r\nbegin 644 a.txt\r\n#0V%T\r\n`\r\nend\r\nmore\r\n";
        assert_eq!(decode(whole), b"Cat");
        assert_eq!(decode(b"begin 0644 a\n#0V%T\n"), b"Cat");
        assert_eq!(decode(b"begin 644 a\n#0V%T\nno line of it\n\n#0V%T\n \nend\n"), b"CatCat");
        assert_eq!(decode(b"begin 644 a\n%0V%T\nend\n"), b"Cat\0\0");
        assert_eq!(decode(b"begin 644 a\n#0V%T and more\nend\n"), b"");
        assert_eq!(decode(b"begin 644 a\n#0V%TX\nend\n"), b"Cat");
        assert_eq!(decode(b"begin 644 a"), b"");
        for none in [&b""[..], b"#0V%T\n", b"begin with this\n#0V%T\n", b"begin 64\n", b"begin 644a\n"] {
            assert_eq!(decode(none), none);
        }
    }

    #[test]
    fn pieces_make_the_same_as_the_whole() {
        let lines = b"#0V%T\r\n".repeat(50);
        let texts = [
            [&b"noise\r\nbegin 644 a\r\n"[..], &lines, b"`\r\nend\r\nafter\r\n"].concat(),
            [&b"begin 644 a\r\n"[..], &lines, b"#0V%T"].concat(),
            lines.clone(),
            b"no line end".to_vec(),
            b"begin 644".to_vec(),
            b"x\n".repeat(40_000),
        ];
        for text in texts {
            let whole = decode(&text);
            for len in [1, 2, 7, 100] {
                let mut decoder = Decoder::default();
                let mut decoded: Vec<u8> = text.chunks(len).flat_map(|piece| decoder.decode(piece)).collect();
                decoded.extend(decoder.finish());
                assert!(decoded == whole, "in pieces of {len}: {}", text.len());
            }
        }
    }

    #[test]
    fn spaces_that_were_lost_have_a_limit() {
        let text = [&b"begin 644 a\n"[..], &b"M\n".repeat(10_000)].concat();
        assert!(decode(&text).len() < text.len() + 100);
    }

    #[test]
    fn what_was_encoded_comes_back() {
        for fill in [b' ', b'`'] {
            let bytes: Vec<u8> = (0..10_000_u32).map(|n| (n * n / 7).to_le_bytes()[0]).collect();
            let mut text = b"begin 600 x\n".to_vec();
            let character = |six: u32| match u8::try_from(six & 0x3f).unwrap() {
                0 => fill,
                six => six + b' ',
            };
            for line in bytes.chunks(45) {
                text.push(character(u32::try_from(line.len()).unwrap()));
                for group in line.chunks(3) {
                    let of = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
                    let all = of(0) << 16 | of(1) << 8 | of(2);
                    text.extend([18, 12, 6, 0].map(|by| character(all >> by)));
                }
                text.push(b'\n');
            }
            text.extend(b"`\nend\n");
            assert_eq!(decode(&text), bytes);
        }
    }
}
