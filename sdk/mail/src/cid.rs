//! `cid:` links (RFC 2392): how a URL names the part of a message that has a Content-ID.

use std::borrow::Cow;

/// Returns the Content-ID that a link names, given what stands behind `cid:`: every percent escape is decoded (RFC 3986 2.1). What is no
/// escape stays as it is, and so does the whole where the decoded bytes are no UTF-8.
pub fn decoded(link: &str) -> Cow<'_, str> {
    if !link.contains('%') {
        return Cow::Borrowed(link);
    }
    let mut bytes = Vec::with_capacity(link.len());
    let mut rest = link.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        match parse_escape(rest) {
            Some(escaped) => {
                bytes.push(escaped);
                rest = rest.get(3..).unwrap_or_default();
            }
            None => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).map_or(Cow::Borrowed(link), Cow::Owned)
}

/// The byte that an escape at the beginning of the text stands for.
fn parse_escape(text: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = text else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some((digit(*high)? << 4) | digit(*low)?)
}

/// Returns a Content-ID as it is written behind `cid:`. No character of the result has a meaning in HTML or CSS.
pub fn encoded(id: &str) -> String {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let mut link = String::with_capacity(id.len());
    for byte in id.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~@!$*+=:".contains(&byte) {
            link.push(char::from(byte));
        } else {
            let digits = [byte >> 4, byte & 15].map(|half| DIGITS.get(usize::from(half)).copied());
            link.push('%');
            link.extend(digits.into_iter().flatten().map(char::from));
        }
    }
    link
}

#[cfg(test)]
mod tests {
    use super::{decoded, encoded};

    #[test]
    fn every_escape_is_decoded() {
        for (link, id) in [
            ("a@b", "a@b"),
            ("a%40b", "a@b"),
            ("%61%2eb%2Fc%25%20d", "a.b/c% d"),
            ("image%20(1)%40x", "image (1)@x"),
            ("%C3%BC@x", "\u{fc}@x"),
            ("100%", "100%"),
            ("%4", "%4"),
            ("%zz%4\u{fc}", "%zz%4\u{fc}"),
            ("%FF@x", "%FF@x"),
            ("", ""),
        ] {
            assert_eq!(decoded(link), id, "{link}");
        }
    }

    #[test]
    fn an_id_is_the_same_there_and_back() {
        assert_eq!(encoded("a.b-c@[192.0.2.7]"), "a.b-c@%5B192.0.2.7%5D");
        for id in ["", "a@b", "image (1)@x", "50%25@x", "\"x y\"@z", "\u{fc}&<>'\u{0}", "%"] {
            let link = encoded(id);
            assert!(link.bytes().all(|b| b.is_ascii_graphic() && !b"\"'<>&()\\".contains(&b)), "{link}");
            assert_eq!(decoded(&link), id);
        }
    }
}
