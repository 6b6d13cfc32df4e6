//! UTF-7 (RFC 2152): `+`, base64 of UTF-16, and then `-` or another character that is not base64.

use crate::read::end::End;

/// The text. `+-` is a plus sign. A shift ends before the first character that is no base64, which stays unless it is `-`, and at the end.
/// An unfinished end of a shift becomes one U+FFFD, and so does each byte that is not ASCII; a plus sign that shifts nothing stands for
/// itself.
pub fn decode(bytes: &[u8], end: End) -> String {
    let mut text = String::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|byte| *byte == b'+' || !byte.is_ascii()) {
        let (plain, from) = rest.split_at(at);
        text.push_str(str::from_utf8(plain).unwrap_or_default());
        let after = from.get(1..).unwrap_or_default();
        if from.first() != Some(&b'+') {
            text.push(char::REPLACEMENT_CHARACTER);
            rest = after;
            continue;
        }
        let len = after.iter().position(|byte| sextet(*byte).is_none()).unwrap_or(after.len());
        let (shifted, next) = after.split_at(len);
        rest = next.strip_prefix(b"-").unwrap_or(next);
        match shifted {
            [] if after.is_empty() && end == End::Cut => {}
            [] => text.push('+'),
            shifted => shift(&mut text, shifted, next.is_empty() && end == End::Cut),
        }
    }
    text.push_str(str::from_utf8(rest).unwrap_or_default());
    text
}

/// Adds the characters between a plus sign and the end of the shift.
fn shift(text: &mut String, shifted: &[u8], is_cut: bool) {
    let (mut bits, mut count) = (0_u32, 0_u32);
    let units = shifted.iter().filter_map(|byte| sextet(*byte)).filter_map(|sextet| {
        bits = bits << 6 | sextet;
        count += 6;
        if count < 16 {
            return None;
        }
        count -= 16;
        let unit = bits >> count;
        bits &= (1 << count) - 1;
        u16::try_from(unit).ok()
    });
    let mut is_open = false;
    for unit in char::decode_utf16(units) {
        is_open = unit.as_ref().is_err_and(|error| (0xd800..0xdc00).contains(&error.unpaired_surrogate()));
        text.push(unit.unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    if is_cut {
        // The other half of the last character is elsewhere.
        if is_open {
            text.pop();
        }
    } else if count >= 6 || bits != 0 {
        text.push(char::REPLACEMENT_CHARACTER);
    }
}

fn sextet(byte: u8) -> Option<u32> {
    let value = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}

#[cfg(test)]
mod tests {
    use super::{End, decode};

    #[test]
    fn shifts_end_as_the_rfc_says() {
        for (text, expected) in [
            ("", ""),
            ("Hi Mom -+Jjo--!", "Hi Mom -\u{263a}-!"),
            ("+ZeVnLIqe-", "\u{65e5}\u{672c}\u{8a9e}"),
            ("A+ImIDkQ.", "A\u{2262}\u{391}."),
            ("Item 3 is +AKM-1.", "Item 3 is \u{a3}1."),
            ("1 +- 1 +-- +-+AOQ-", "1 + 1 +- +\u{e4}"),
            ("a+AOQ b+AOQ.c+AOQ&d", "a\u{e4} b\u{e4}.c\u{e4}&d"),
            ("&AOQ- & &-", "&AOQ- & &-"),
            ("line+AOQ\r\nline", "line\u{e4}\r\nline"),
            ("end+AOQ", "end\u{e4}"),
            ("end+AOT8", "end\u{e4}\u{fffd}"),
            ("half +AO- a", "half \u{fffd} a"),
            ("bits +AOR- a", "bits \u{e4}\u{fffd} a"),
            ("pair +2DzYPA- +2D3cAA-", "pair \u{fffd}\u{fffd} \u{1f400}"),
            ("alone +!", "alone +!"),
            ("last +", "last +"),
            ("8 \u{e4} bits", "8 \u{fffd}\u{fffd} bits"),
        ] {
            assert_eq!(decode(text.as_bytes(), End::Whole), expected, "{text:?}");
        }
        let whole = "x+AOQA5AD8-y";
        for cut in 0..whole.len() {
            let text = decode(whole.get(..cut).unwrap().as_bytes(), End::Cut);
            assert!("x\u{e4}\u{e4}\u{fc}y".starts_with(&text), "{cut}: {text}");
        }
        assert_eq!(decode(b"+2D3cAA", End::Cut), "\u{1f400}");
        assert_eq!(decode(b"a+2D3c", End::Cut), "a");
    }
}
