//! Validates values for header fields. Every written value is checked here first, so that no text can inject a field, part or recipient.
//! Ids are opaque: any text without line breaks and angle brackets is valid. `crate::foreign` repairs values from other people. Lone
//! surrogates cannot occur: Rust strings have none, and the JSON parser refuses their escapes.

use model::bounds::mail as bounds;

use crate::address;
use crate::read::limits::FILE_NAME_BYTES;

/// The maximum length of a caller's header value, in bytes, before it is encoded and folded.
pub const VALUE_BYTES: usize = bounds::MAX_HEADER_VALUE;

/// The maximum length of a word in such a value, in bytes: it cannot be folded, and a line has at most 998 bytes (RFC 5322 2.1.1).
pub const WORD_BYTES: usize = 900;

/// The maximum length of a display name, in bytes. Every name that can be read can be written.
pub const NAME_BYTES: usize = bounds::MAX_NAME;

/// The maximum length of a Message-ID or Content-ID, in bytes without the angle brackets, so that it fits on one line.
pub const ID_BYTES: usize = bounds::MAX_CONTENT_ID;

/// The maximum length of a field name, in bytes.
pub const FIELD_NAME_BYTES: usize = bounds::MAX_HEADER_NAME;

/// Prefixes that match the allowed patterns but are reserved: fields that the service itself writes, and those that make a message look
/// like a bounce.
const RESERVED: [&str; 2] = ["x-switchboard-", "x-failed-recipients"];

/// Checks a subject, or the value of another text field.
pub fn header_value(value: &str) -> Result<(), &'static str> {
    if value.len() > VALUE_BYTES {
        return Err("must have at most 8192 bytes");
    }
    one_line(value)
}

/// Checks the value of a field that callers name themselves. ASCII values are not encoded, so they need spaces at which they can be folded.
pub fn field_value(value: &str) -> Result<(), &'static str> {
    header_value(value)?;
    if value.is_ascii() && value.split(' ').any(|word| word.len() > WORD_BYTES) {
        return Err("must have a space at least every 900 bytes");
    }
    Ok(())
}

/// Checks the name of a field that callers may set: `X-*`, `List-*` or `Auto-Submitted`.
pub fn header_name(name: &str) -> Result<(), &'static str> {
    if name.is_empty() || name.len() > FIELD_NAME_BYTES {
        return Err("a header name has 1 to 64 characters");
    }
    if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_') {
        return Err("a header name has only letters, digits, - and _");
    }
    let lower = name.to_ascii_lowercase();
    if RESERVED.iter().any(|reserved| lower.starts_with(reserved)) {
        return Err("this header is set by the service alone");
    }
    let is_allowed =
        ["x-", "list-"].iter().any(|prefix| lower.len() > prefix.len() && lower.starts_with(prefix));
    if is_allowed || lower == "auto-submitted" {
        Ok(())
    } else {
        Err("only X-*, List-* and Auto-Submitted can be set")
    }
}

/// Checks the display name of an address.
pub fn display_name(name: &str) -> Result<(), &'static str> {
    if name.len() > NAME_BYTES {
        return Err("a name has at most 998 bytes");
    }
    one_line(name)
}

/// Checks the address of a sender or recipient.
pub fn email(email: &str) -> Result<(), &'static str> {
    address::check(email)
}

/// Checks an address in a draft: any text that fits on a line, because its author may not have finished typing it.
pub fn unfinished_email(email: &str) -> Result<(), &'static str> {
    if email.len() > bounds::MAX_NAME {
        return Err("an address in a draft has at most 998 bytes");
    }
    one_line(email)
}

/// Checks the file name of an attachment, which must not be a path.
pub fn file_name(name: &str) -> Result<(), &'static str> {
    if name.is_empty() || name.len() > FILE_NAME_BYTES {
        return Err("a file name has 1 to 255 bytes");
    }
    if name.contains(['/', '\\']) {
        return Err("a file name has no slashes");
    }
    one_line(name)
}

/// Checks a Message-ID without angle brackets. Many programs ignore the syntax of RFC 5322 3.6.4, and a reply must repeat the id exactly.
/// So only characters that would end the id or the line are refused, and encoded words (RFC 2047), which some servers decode anywhere.
pub fn message_id(id: &str) -> Result<(), &'static str> {
    if id.is_empty() || id.len() > ID_BYTES {
        return Err("an id has 1 to 900 bytes");
    }
    if !id.bytes().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'<' | b'>')) {
        return Err("an id has only printable ASCII characters, and neither < nor >");
    }
    if id.starts_with(' ') || id.ends_with(' ') {
        return Err("an id neither begins nor ends with a space");
    }
    if id.contains("=?") {
        return Err("an id has no encoded words");
    }
    Ok(())
}

/// Checks a Content-ID without angle brackets (RFC 2392).
pub fn content_id(id: &str) -> Result<(), &'static str> {
    message_id(id)
}

/// Checks a media type with its parameters, such as `text/calendar; method=REQUEST`. Multiparts are refused, and so are the parameters that
/// the message builder sets itself.
pub fn content_type(value: &str) -> Result<(), &'static str> {
    if value.len() > bounds::MAX_MEDIA_TYPE
        || !value.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic())
    {
        return Err("a content type has at most 900 visible ASCII characters");
    }
    let mut pieces = value.split(';').map(str::trim);
    let (top, sub) = pieces
        .next()
        .and_then(|name| name.split_once('/'))
        .ok_or("a content type has the form type/subtype")?;
    if !is_token(top) || !is_token(sub) {
        return Err("a content type has the form type/subtype");
    }
    if top.eq_ignore_ascii_case("multipart") {
        return Err("an attachment cannot be a multipart");
    }
    for piece in pieces {
        let (name, value) =
            piece.split_once('=').ok_or("a parameter of a content type has the form name=value")?;
        let inner = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
        let is_value = inner.map_or_else(|| is_token(value), |inner| !inner.contains(['"', '\\']));
        if !is_token(name) || !is_value {
            return Err("a parameter of a content type has the form name=value");
        }
        let lower = name.to_ascii_lowercase();
        if ["boundary", "name", "filename"].iter().any(|set| lower.starts_with(set)) {
            return Err("a content type cannot have a boundary or a file name");
        }
    }
    Ok(())
}

fn is_token(text: &str) -> bool {
    let is_char = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte);
    (1..=127).contains(&text.len()) && text.bytes().all(is_char)
}

/// Checks that a text has no line breaks, including those of Unicode, and no other control characters.
fn one_line(text: &str) -> Result<(), &'static str> {
    match text.chars().find(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')) {
        None => Ok(()),
        Some('\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}') => Err("must not have line breaks"),
        Some(_) => Err("must not have control characters"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ODD: [&str; 11] =
        ["\r", "\n", "\r\n", "\0", "\t", "\u{b}", "\u{1b}", "\u{7f}", "\u{85}", "\u{2028}", "\u{2029}"];

    #[test]
    fn characters_that_break_lines_go_nowhere() {
        for odd in ODD {
            let text = format!("a{odd}b");
            assert!(header_value(&text).is_err(), "{text:?}");
            assert!(display_name(&text).is_err(), "{text:?}");
            assert!(file_name(&text).is_err(), "{text:?}");
            assert!(message_id(&text).is_err(), "{text:?}");
            assert!(content_id(&text).is_err(), "{text:?}");
            assert!(content_type(&format!("a/{text}")).is_err(), "{text:?}");
            assert!(header_name(&format!("X-{text}")).is_err(), "{text:?}");
            assert!(email(&format!("{text}@x.example")).is_err(), "{text:?}");
            assert!(unfinished_email(&text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn callers_name_few_headers() {
        for name in ["X-Tag", "x-1", "List-Unsubscribe", "Auto-Submitted", "auto-submitted"] {
            assert_eq!(header_name(name), Ok(()), "{name}");
        }
        for name in [
            "",
            "X-",
            "List-",
            "Bcc",
            "From",
            "Content-Type",
            "X:",
            "X-A B",
            "X-Ä",
            "Auto-Submitted2",
            "X-Switchboard-Id",
            "x-failed-recipients",
            "Received",
            "DKIM-Signature",
        ] {
            assert!(header_name(name).is_err(), "{name}");
        }
        assert!(header_name(&format!("X-{}", "a".repeat(63))).is_err());
    }

    #[test]
    fn lengths_are_bounded() {
        assert_eq!(header_value(&"a".repeat(8192)), Ok(()));
        assert!(header_value(&"a".repeat(8193)).is_err());
        assert!(field_value(&"a".repeat(901)).is_err());
        assert_eq!(field_value(&"ab ".repeat(600)), Ok(()));
        assert!(display_name(&"a".repeat(999)).is_err());
        assert!(unfinished_email(&"a".repeat(999)).is_err());
        assert!(file_name(&"a".repeat(256)).is_err());
        assert!(message_id(&"a".repeat(901)).is_err());
    }

    #[test]
    fn content_types() {
        for value in [
            "text/plain",
            "text/calendar; method=REQUEST; charset=utf-8",
            "application/vnd.a+xml",
            "a/b; c=\"d e\"",
        ] {
            assert_eq!(content_type(value), Ok(()), "{value}");
        }
        for value in [
            "",
            "text",
            "text/",
            "/plain",
            "multipart/mixed",
            "Multipart/x; boundary=y",
            "a/b; boundary=c",
            "a/b; name=c",
            "a/b; NAME*0=c",
            "a/b; c",
            "a/b; c=",
            "a/b; c=\"",
            "a/b; c=\"d\"e\"",
            "a/b\r\nBcc: x",
            "a/b; c=ü",
            "a b/c",
            "a/b;",
        ] {
            assert!(content_type(value).is_err(), "{value}");
        }
    }

    #[test]
    fn ids_and_files() {
        for id in
            ["a.b+c@example.org", "2026.11@[192.0.2.7]", "urn:uuid:1@x", "\"x y\"@x", "a (1) b@x", "a,b;c\\d"]
        {
            assert_eq!(message_id(id), Ok(()), "{id}");
        }
        assert!(
            ["", "<a>", "a>b", "ü@x", " a", "a ", "=?utf-8?q?a?="].iter().all(|id| message_id(id).is_err())
        );
        assert_eq!(file_name("Übersicht (2).pdf"), Ok(()));
        assert!(["", "a/b", "a\\b"].iter().all(|name| file_name(name).is_err()));
    }
}
