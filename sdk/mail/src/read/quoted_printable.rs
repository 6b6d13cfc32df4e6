//! The quoted-printable encoding (RFC 2045 6.7), tolerant of damage: text that is no escape stands for itself.
//!
//! Not by mail-parser's own reader: it gives up the whole text at the first `==`, and looks at every byte, where most of them need no look.

/// The bytes that the text stands for. Line ends stay as they are; white space before them, which is only of the transport, goes.
pub fn decode(text: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len());
    // The text up to here is intended: its white space stays.
    let mut meant = 0;
    let mut rest = text;
    while let Some(at) = memchr::memchr2(b'=', b'\n', rest) {
        let (plain, from) = rest.split_at(at);
        decoded.extend_from_slice(plain);
        let after = from.get(1..).unwrap_or_default();
        if from.first() == Some(&b'\n') {
            end_line(&mut decoded, meant);
            rest = after;
        } else if let Some(byte) = parse_escape(after) {
            decoded.push(byte);
            rest = after.get(2..).unwrap_or_default();
        } else if let Some(next) = soft_line_end(after) {
            rest = next;
        } else {
            decoded.push(b'=');
            rest = after;
        }
        meant = decoded.len();
    }
    decoded.extend_from_slice(rest);
    decoded
}

/// Ends the line that was decoded as it was ended, without the white space at its end.
fn end_line(decoded: &mut Vec<u8>, meant: usize) {
    let line = decoded.get(meant..).unwrap_or_default();
    let (line, end): (&[u8], &[u8]) = match line.strip_suffix(b"\r") {
        Some(line) => (line, b"\r\n"),
        None => (line, b"\n"),
    };
    let len = line.len() - line.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    decoded.truncate(meant + len);
    decoded.extend_from_slice(end);
}

fn parse_escape(after: &[u8]) -> Option<u8> {
    let digit = |at: usize| after.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    u8::try_from(digit(0)? << 4 | digit(1)?).ok()
}

/// Returns the text after a soft line break; none if `after` is no line end. The end of the text counts as one, also where it was cut
/// within an escape.
fn soft_line_end(after: &[u8]) -> Option<&[u8]> {
    let spaces = after.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let end = after.get(spaces..)?;
    let next = end.strip_prefix(b"\r\n").or_else(|| end.strip_prefix(b"\n"));
    let is_cut = matches!(end, b"" | b"\r") || matches!(after, [digit] if digit.is_ascii_hexdigit());
    next.or_else(|| is_cut.then_some(&[]))
}

#[cfg(test)]
mod tests {
    use mail_parser::parsers::MessageStream;
    use proptest::prelude::{ProptestConfig, any, prop};
    use proptest::{prop_assert_eq, proptest};

    use super::decode;

    #[test]
    fn damage_stands_for_itself() {
        for (text, expected) in [
            ("", ""),
            ("a=3Db=3dc", "a=b=c"),
            ("soft=\r\n end=\nof= \t\r\nlines=", "soft endoflines"),
            ("tail=\r", "tail"),
            (
                "white \t\r\nspace \ngoes=20\r\nunless it is meant",
                "white\r\nspace\ngoes \r\nunless it is meant",
            ),
            ("cr=0D\nlf=0A \n", "cr\r\nlf\n\n"),
            ("a == b =zz =4 = x =", "a == b =zz =4 = x "),
            ("cut=C3=4", "cut\u{fffd}"),
            ("lone \r return", "lone \r return"),
        ] {
            assert_eq!(String::from_utf8_lossy(&decode(text.as_bytes())), expected, "{text:?}");
        }
        assert_eq!(decode(b"\xff=FE"), b"\xff\xfe");
    }

    /// A sender's encoding, line by line.
    fn encode(lines: &[Vec<u8>]) -> Vec<u8> {
        let mut text = Vec::new();
        for line in lines {
            for (at, byte) in line.iter().enumerate() {
                let is_last = at + 1 == line.len();
                match byte {
                    b'=' | 0..=31 | 127.. => text.extend(format!("={byte:02X}").bytes()),
                    b' ' if is_last => text.extend(b"=20"),
                    byte => text.push(*byte),
                }
                if at % 60 == 59 {
                    text.extend(b"=\r\n");
                }
            }
            text.extend(b"\r\n");
        }
        text
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn what_was_encoded_comes_back(lines in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 0..8)) {
            let text = encode(&lines);
            let whole: Vec<u8> = lines.iter().flat_map(|line| line.iter().chain(b"\r\n")).copied().collect();
            prop_assert_eq!(&decode(&text), &whole);
            let theirs = MessageStream::new(&text).decode_quoted_printable_mime(b"").1;
            prop_assert_eq!(theirs.as_ref(), whole.as_slice());
        }

        #[test]
        fn nothing_grows(text in prop::collection::vec(prop::sample::select(b"=\r\n \tA4z\xff".as_slice()), 0..200)) {
            assert!(decode(&text).len() <= text.len());
        }
    }
}
