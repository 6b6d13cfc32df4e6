//! Escapes in URLs (RFC 3986, section 2.1).

/// A segment of a path without its escapes.
pub fn decoded(segment: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), segment.as_bytes());
    while let Some((first, tail)) = rest.split_first() {
        let escaped = tail.get(..2).filter(|_| *first == b'%').and_then(|digits| hex::decode(digits).ok());
        bytes.push(escaped.as_ref().map_or(*first, |byte| byte[0]));
        rest = if escaped.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A text as a segment of a path: everything but the unreserved characters is escaped.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push('%');
            escaped.push_str(&hex::encode_upper([byte]));
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_goes_both_ways() {
        assert_eq!(escaped("ü @/"), "%C3%BC%20%40%2F");
        for text in ["", "a-b_c.d~e", "ü @/", "100%"] {
            assert_eq!(decoded(&escaped(text)), text);
        }
        assert_eq!(decoded("100%zz%4"), "100%zz%4");
    }
}
