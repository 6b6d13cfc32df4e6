//! Texts of a message that the server gives raw, made fit to be shown.

use icu_normalizer::ComposingNormalizerBorrowed;
use model::email::EmailHeader;

/// In Unicode's normal form C.
pub fn nfc(text: &str) -> String {
    ComposingNormalizerBorrowed::new_nfc().normalize(text).into_owned()
}

/// The same on one line: encoded words can bring line breaks.
pub fn line(text: &str) -> String {
    nfc(&mail::foreign::one_line(text))
}

/// One text with its encoded words (RFC 2047) decoded. Servers decode names, and leave an address as it is, also where it is none.
pub fn words(text: &str) -> String {
    let field = decoded([("X-Text", text)].into_iter()).into_iter().next();
    field.map_or_else(|| text.to_owned(), |field| field.value)
}

/// The first bytes of a text, at most this many, and whole characters.
pub fn cut(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or(text)
}

/// The value of a header field on one line (RFC 5322 section 2.2.3), its encoded words left as they are.
pub fn unfold(raw: &str) -> String {
    raw.chars().filter(|c| !matches!(c, '\r' | '\n')).collect::<String>().trim().to_owned()
}

/// Names and raw values of header fields as a reader sees them: each on one line, encoded words (RFC 2047) decoded.
pub fn decoded<'a>(fields: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<EmailHeader> {
    // Neither a name nor a value can begin another field.
    let is_name =
        |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b':');
    let lines =
        fields.filter(|(name, _)| is_name(name)).map(|(name, raw)| format!("{name}: {}\r\n", unfold(raw)));
    let block: String = lines.collect();
    mail::read::raw_headers(block.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::{cut, decoded, line, unfold, words};

    #[test]
    fn header_fields_are_unfolded_and_decoded() {
        assert_eq!(unfold(" a,\r\n\tb "), "a,\tb");
        let value = |raw: &str| decoded([("X-A", raw), ("no name", raw)].into_iter()).remove(0).value;
        assert_eq!(value(" =?utf-8?q?Gr=C3=BC=C3=9Fe?= =?utf-8?b?IQ==?="), "Gr\u{fc}\u{df}e!");
        assert_eq!(value(" =?iso-8859-1?q?caf=E9?=\r\n <a@b>"), "caf\u{e9} <a@b>");
        assert_eq!(value(" 1 =? 2"), "1 =? 2");
        assert_eq!(value("a\r\nX-B: c"), "aX-B: c");
        assert_eq!(decoded([("X:A", "1"), ("X-A", ""), ("", "2")].into_iter()).len(), 1);
    }

    #[test]
    fn a_text_is_on_one_line() {
        assert_eq!(line("Cafe\u{301}\r\nBcc: x\u{2028}y"), "Caf\u{e9} Bcc: x y");
        assert_eq!(words("=?utf-8?b?bWlhLCByb3Nl?="), "mia, rose");
        assert_eq!(words("mia"), "mia");
    }

    #[test]
    fn texts_are_cut_at_characters() {
        assert_eq!(cut("a\u{e9}b", 2), "a");
        assert_eq!(cut("ab", 9), "ab");
    }
}
