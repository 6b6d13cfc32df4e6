//! Texts of a message that the server gives raw, made fit to be shown.

use icu_normalizer::ComposingNormalizerBorrowed;
use mail_parser::HeaderValue;
use mail_parser::parsers::MessageStream;

/// The most that a snippet has, in characters.
const SNIPPET: usize = 200;

/// The longest file name, in bytes: what file systems take.
const FILE_NAME: usize = 255;

/// In Unicode's normal form C.
pub fn nfc(text: &str) -> String {
    ComposingNormalizerBorrowed::new_nfc().normalize(text).into_owned()
}

/// The first bytes of a text, at most so many, and whole characters.
pub fn cut(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or(text)
}

/// One line, at most 200 characters.
pub fn snippet(preview: &str) -> String {
    let words: Vec<&str> =
        preview.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty()).collect();
    words.join(" ").chars().take(SNIPPET).collect()
}

/// The value of a header field on one line (RFC 5322 section 2.2.3), its encoded words left as they are.
pub fn unfolded(raw: &str) -> String {
    raw.chars().filter(|c| !matches!(c, '\r' | '\n')).collect::<String>().trim().to_owned()
}

/// The value of a header field as a reader sees it: on one line, encoded words (RFC 2047) decoded.
pub fn decoded(raw: &str) -> String {
    let line = unfolded(raw);
    if !line.contains("=?") {
        return line;
    }
    // The parser reads up to the end of a line.
    let field = format!("{line}\n");
    match MessageStream::new(field.as_bytes()).parse_unstructured() {
        HeaderValue::Text(text) => unfolded(&text),
        _ => line,
    }
}

/// A name that a file can have: no path, no control characters, at most 255 bytes.
pub fn file_name(name: &str) -> Option<String> {
    let kept = name.chars().filter(|c| !c.is_control() && !is_direction(*c));
    let name: String = kept.map(|c| if matches!(c, '/' | '\\') { '_' } else { c }).collect();
    let name = nfc(name.trim().trim_start_matches('.').trim());
    let name = match name.rsplit_once('.') {
        Some((stem, ending)) if name.len() > FILE_NAME && ending.len() < 16 => {
            format!("{}.{ending}", cut(stem, FILE_NAME - 1 - ending.len()))
        }
        _ => cut(&name, FILE_NAME).to_owned(),
    };
    Some(name).filter(|name| !name.is_empty())
}

/// Characters that turn the direction of writing: with them `exe.jpg` can be made to read `gpj.exe`.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::{cut, decoded, file_name, snippet, unfolded};

    #[test]
    fn header_fields_are_unfolded_and_decoded() {
        assert_eq!(unfolded(" a,\r\n\tb "), "a,\tb");
        assert_eq!(decoded(" =?utf-8?q?Gr=C3=BC=C3=9Fe?= =?utf-8?b?IQ==?="), "Gr\u{fc}\u{df}e!");
        assert_eq!(decoded(" =?iso-8859-1?q?caf=E9?= <a@b>"), "caf\u{e9} <a@b>");
        assert_eq!(decoded(" 1 =? 2"), "1 =? 2");
        assert_eq!(decoded("=?utf-8?q?a=0D=0Ab?="), "ab");
    }

    #[test]
    fn file_names_have_no_path() {
        assert_eq!(file_name("../../etc/passwd").as_deref(), Some("_.._etc_passwd"));
        assert_eq!(file_name("a\u{202e}gpj.exe\0").as_deref(), Some("agpj.exe"));
        assert_eq!(file_name(" .. "), None);
        let long = file_name(&format!("{}.pdf", "\u{e9}".repeat(300))).unwrap();
        assert!(long.len() <= 255 && long.ends_with("\u{e9}.pdf"), "{long}");
    }

    #[test]
    fn texts_are_cut_at_characters() {
        assert_eq!(cut("a\u{e9}b", 2), "a");
        assert_eq!(cut("ab", 9), "ab");
        assert_eq!(snippet(&"x ".repeat(300)).chars().count(), 200);
    }
}
