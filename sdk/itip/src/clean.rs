//! Sanitizes foreign text for use in a property, a parameter or an address.

/// The maximum length of a multi-line text, in characters: calendars show no more of a description.
const TEXT_CHARS: usize = 32_000;
/// The maximum length of a person's name, in characters.
const NAME_CHARS: usize = 256;

/// A multi-line text. Line ends become line feeds, which the writer escapes; control characters are removed.
pub fn lines(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace(['\r', '\u{85}', '\u{2028}', '\u{2029}'], "\n");
    text.chars().filter(|c| matches!(c, '\n' | '\t') || !c.is_control()).take(TEXT_CHARS).collect()
}

/// A name on one line, as a parameter value. Double quotes become apostrophes, because programs older than RFC 6868 cannot read them. None
/// if nothing is left.
pub fn name(name: &str) -> Option<String> {
    let is_space = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    let plain: String = name.chars().map(|c| if is_space(c) { ' ' } else { c }).collect();
    let words: Vec<&str> = plain.split_whitespace().collect();
    let short: String = words.join(" ").replace('"', "'").chars().take(NAME_CHARS).collect();
    (!short.is_empty()).then_some(short)
}

/// An address as a `mailto:` URI (RFC 6068). Every byte with a special meaning in a URI, a parameter or a property is percent-encoded.
pub fn mailto(email: &str) -> String {
    let mut uri = "mailto:".to_owned();
    for byte in email.trim().bytes() {
        match byte {
            b'@' | b'.' | b'-' | b'_' | b'~' | b'+' | b'!' | b'$' | b'\'' | b'*' => {
                uri.push(char::from(byte))
            }
            _ if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_on_its_line() {
        assert_eq!(name("Ada\r\nATTENDEE:mailto:x@y.z").as_deref(), Some("Ada ATTENDEE:mailto:x@y.z"));
        assert_eq!(name("\u{0}\u{2028} \"Ada\"\u{85}").as_deref(), Some("'Ada'"));
        assert_eq!(name(" \r\n "), None);
        assert_eq!(name(&"a".repeat(300)).map(|name| name.len()), Some(NAME_CHARS));
    }

    #[test]
    fn a_text_keeps_its_lines_and_no_other_control_characters() {
        assert_eq!(lines("a\r\nb\rc\u{2028}d\u{0}\u{7f}\te"), "a\nb\nc\nd\te");
    }

    #[test]
    fn an_address_is_a_uri() {
        assert_eq!(mailto("ada+b@example.org"), "mailto:ada+b@example.org");
        assert_eq!(mailto("\"a;b\r\n\"@x.test"), "mailto:%22a%3Bb%0D%0A%22@x.test");
        assert_eq!(mailto("a?cc=b&c%@x.test"), "mailto:a%3Fcc%3Db%26c%25@x.test");
        assert_eq!(mailto("\u{fc}@x.test"), "mailto:%C3%BC@x.test");
    }
}
