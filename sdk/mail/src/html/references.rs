//! Character references in HTML: resolving them, and the cost of writing them.

use std::borrow::Cow;

use mail_parser::decoders::html::add_html_token;

/// The references that the serializer writes.
const WRITTEN: [&str; 5] = ["&amp;", "&quot;", "&lt;", "&gt;", "&nbsp;"];

/// Longest reference that is resolved, bytes.
const REFERENCE_BYTES: usize = 32;

/// Returns the offsets of characters that the serializer writes as references, now or once a reference is resolved: `&`, and those that
/// begin like a no-break space in UTF-8.
pub fn escaped(text: &str) -> impl Iterator<Item = usize> {
    memchr::memchr2_iter(b'&', 0xC2, text.as_bytes())
}

/// The most references that a value is written with, times its length then: no more for a text that was written already, so that a text
/// that is shown once is shown again.
pub fn work(value: &str) -> usize {
    let (mut references, mut bytes) = (0_usize, value.len());
    for (at, byte) in value.bytes().enumerate() {
        let rest = || value.get(at..).unwrap_or_default();
        bytes += match byte {
            b'&' if WRITTEN.iter().any(|reference| rest().starts_with(reference)) => 0,
            b'&' | 0xC2 => 4,
            b'"' => 5,
            b'<' | b'>' => 3,
            _ => continue,
        };
        references += 1;
    }
    references.saturating_mul(bytes)
}

/// Pairs of characters of a style that may be written as references (`WRITTEN`, and the quotes of strings). In pairs, because a string that
/// is not closed is closed when it is written.
pub fn style_pairs(value: &str) -> usize {
    value.bytes().filter(|byte| matches!(byte, b'&' | b'<' | b'>' | 0xC2 | b'"' | b'\'')).count().div_ceil(2)
}

/// The value with its character references resolved: those by number, and named ones that end with a semicolon.
pub fn decoded(value: &str) -> Cow<'_, str> {
    if !value.contains('&') {
        return Cow::Borrowed(value);
    }
    let mut out = String::with_capacity(value.len());
    let mut rest = value;
    while let Some((before, reference)) = rest.find('&').and_then(|at| rest.split_at_checked(at)) {
        out.push_str(before);
        let name = reference.bytes().skip(1).take(REFERENCE_BYTES);
        let len = 1 + name.take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'#').count();
        let (name, after) = reference.split_at_checked(len).unwrap_or((reference, ""));
        if name.starts_with("&#") {
            let (number, after) = split_number(reference);
            add_html_token(&mut out, format!("{number};").as_bytes(), false);
            rest = after.strip_prefix(';').unwrap_or(after);
        } else if let Some(after) = after.strip_prefix(';') {
            add_html_token(&mut out, format!("{name};").as_bytes(), false);
            rest = after;
        } else {
            out.push_str(name);
            rest = after;
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// A reference by number without its semicolon, and what follows: it ends with the last digit.
fn split_number(reference: &str) -> (&str, &str) {
    let is_hex = reference.get(2..).is_some_and(|digits| digits.starts_with(['x', 'X']));
    let prefix = if is_hex { 3 } else { 2 };
    let digits = reference.bytes().skip(prefix).take(REFERENCE_BYTES);
    let count =
        digits.take_while(|b| if is_hex { b.is_ascii_hexdigit() } else { b.is_ascii_digit() }).count();
    reference.split_at_checked(prefix + count).unwrap_or((reference, ""))
}

#[cfg(test)]
mod tests {
    use super::decoded;

    #[test]
    fn references_are_resolved_as_browsers_do() {
        for (value, meant) in [
            ("plain", "plain"),
            ("a&amp;b&colon;c", "a&b:c"),
            ("&#100;&#x69;&#X73;play", "display"),
            ("&#100isplay&#58none", "display:none"),
            ("&#x3a none", ": none"),
            ("a&b", "a&b"),
            ("&", "&"),
            ("&;", "&;"),
            ("&#;", "&#;"),
            ("&#100isplay;", "display;"),
            ("&bogus;&é;", "&bogus;&é;"),
            ("&lt", "&lt"),
        ] {
            assert_eq!(decoded(value), meant, "{value}");
        }
        let many = "&#x64;".repeat(100_000);
        assert_eq!(decoded(&many).len(), 100_000);
    }
}
